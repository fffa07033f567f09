// The slow facts of facts_lose.c, with two threads.
#define FACTS_LONG 1
#include "facts_lose.c" // NOLINT(bugprone-suspicious-include)
