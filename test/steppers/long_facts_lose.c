// All facts of facts_lose.c, the slow ones too, with two threads.
#define FACTS_LONG 1
#include "facts_lose.c" // NOLINT(bugprone-suspicious-include)
