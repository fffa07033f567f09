// A 64-bit hash of bytes, the same on every platform of the same byte order (little endian). Used for state
// hashes, checksums and tables; not for security.
#pragma once

#include "knuckle/base.h"

#define KN_HASH_SEED UINT64_C(0x6b6e75636b6c65)

uint64_t knHash_Bytes(uint64_t seed, const void* bytes, size_t size);
// One 64-bit word, well mixed.
uint64_t knHash_Word(uint64_t word);
// A double by value: -0.0 counts as 0.0.
uint64_t knHash_Double(uint64_t seed, double value);
