// The slow facts of facts_accuracy.c, with two threads.
#define FACTS_LONG 1
#include "facts_accuracy.c" // NOLINT(bugprone-suspicious-include)
