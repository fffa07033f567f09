// A 64-bit hash of bytes.
//
// Bytes are taken eight at a time as little-endian words (the last word padded with zeros), whatever the
// machine; each word is multiplied, rotated and folded into the state, and the size enters at the end, so
// that padding cannot collide. Only 64-bit products: WebAssembly has no wider ones.
#include "core/hash.h"

#include <string.h>

// odd constants with about half their bits set, from the digits of the golden ratio and of sqrt(3)
#define MULTIPLY_WORD UINT64_C(0x9e3779b97f4a7c15)
#define MULTIPLY_STATE UINT64_C(0xbb67ae8584caa73b)

static uint64_t rotate(uint64_t x, int bits) {
	return (x << bits) | (x >> (64 - bits));
}

static uint64_t readWord(const unsigned char* bytes) {
	uint64_t word = 0;
	for (int i = 0; i < 8; ++i) {
		word |= (uint64_t)bytes[i] << (8 * i);
	}
	return word;
}

static uint64_t fold(uint64_t state, uint64_t word) {
	word *= MULTIPLY_WORD;
	word = rotate(word, 29) * MULTIPLY_STATE;
	return rotate(state ^ word, 27) * MULTIPLY_WORD + MULTIPLY_STATE;
}

uint64_t knHash_Word(uint64_t word) {
	// alternate shifts (high bits reach low ones) and odd products (low bits reach high ones); invertible
	word ^= word >> 32;
	word *= MULTIPLY_WORD;
	word ^= word >> 29;
	word *= MULTIPLY_STATE;
	word ^= word >> 32;
	return word;
}

uint64_t knHash_Bytes(uint64_t seed, const void* bytes, size_t size) {
	const unsigned char* at = bytes;
	uint64_t state = seed ^ MULTIPLY_STATE;
	size_t left = size;
	for (; left >= 8; left -= 8, at += 8) {
		state = fold(state, readWord(at));
	}
	if (left > 0) {
		unsigned char last[8] = { 0 };
		memcpy(last, at, left);
		state = fold(state, readWord(last));
	}
	return knHash_Word(fold(state, (uint64_t)size));
}

uint64_t knHash_Double(uint64_t seed, double value) {
	// one pattern for both zeros, and one for every NaN: which NaN an operation gives differs between
	// machines
	uint64_t bits = UINT64_C(0x7ff8000000000000);
	if (value == value) {
		value += 0.0;
		memcpy(&bits, &value, sizeof bits);
	}
	return knHash_Word(fold(seed, bits));
}
