// The slow facts of facts_heaps.c, with two threads.
#define FACTS_LONG 1
#include "facts_heaps.c" // NOLINT(bugprone-suspicious-include)
