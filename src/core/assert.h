// KN_ASSERT states what must hold at a border. Debug builds stop there; release builds do not look.
#pragma once

#ifdef NDEBUG
#define KN_ASSERT(condition) ((void)sizeof(condition))
#else
#include <assert.h>
#define KN_ASSERT(condition) assert(condition)
#endif
