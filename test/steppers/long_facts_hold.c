// The slow facts of facts_hold.c, with two threads.
#define FACTS_LONG 1
#include "facts_hold.c" // NOLINT(bugprone-suspicious-include)
