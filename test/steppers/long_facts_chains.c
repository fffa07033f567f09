// The slow facts of facts_chains.c, with two threads.
#define FACTS_LONG 1
#include "facts_chains.c" // NOLINT(bugprone-suspicious-include)
