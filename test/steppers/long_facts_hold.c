// All facts of facts_hold.c, the slow ones too, with two threads.
#define FACTS_LONG 1
#include "facts_hold.c" // NOLINT(bugprone-suspicious-include)
