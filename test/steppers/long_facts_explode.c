// All facts of facts_explode.c, the slow ones too, with two threads.
#define FACTS_LONG 1
#include "facts_explode.c" // NOLINT(bugprone-suspicious-include)
