// All facts of facts_accuracy.c, the slow ones too, with two threads.
#define FACTS_LONG 1
#include "facts_accuracy.c" // NOLINT(bugprone-suspicious-include)
