// The slow facts of facts_explode.c, with two threads.
#define FACTS_LONG 1
#include "facts_explode.c" // NOLINT(bugprone-suspicious-include)
