// The hash: each input bit reaches each output bit about half of the time, nothing near collides, and the
// value depends on content alone.
#include "support/kn_test.h"

#include "core/hash.h"
#include "core/sort.h"

static int bitsSet(uint64_t x) {
	int count = 0;
	for (; x != 0; x &= x - 1) {
		++count;
	}
	return count;
}

// Mean share of output bits that change with one input bit; each single output bit must take part too.
static void checkAvalanche(const uint64_t* changes, int count) {
	int ofBit[64] = { 0 };
	double total = 0.0;
	for (int i = 0; i < count; ++i) {
		total += bitsSet(changes[i]);
		for (int b = 0; b < 64; ++b) {
			ofBit[b] += changes[i] >> b & 1;
		}
	}
	// six standard deviations of a fair coin
	assert_near(total / (64.0 * count), 0.5, 3.0 / sqrt(64.0 * count));
	for (int b = 0; b < 64; ++b) {
		assert_near((double)ofBit[b] / count, 0.5, 3.0 / sqrt((double)count));
	}
}

static void avalanche_of_words(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	static uint64_t changes[4000];
	for (int bit = 0; bit < 64; ++bit) {
		for (int i = 0; i < 4000; ++i) {
			uint64_t word = testNext(&random);
			changes[i] = knHash_Word(word) ^ knHash_Word(word ^ UINT64_C(1) << bit);
		}
		checkAvalanche(changes, 4000);
	}
}

static void avalanche_of_bytes(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	static uint64_t changes[4000];
	for (int bit = 0; bit < 21 * 8; bit += 5) {
		for (int i = 0; i < 4000; ++i) {
			unsigned char bytes[21];
			for (int k = 0; k < 21; ++k) {
				bytes[k] = (unsigned char)testNext(&random);
			}
			uint64_t before = knHash_Bytes(KN_HASH_SEED, bytes, sizeof bytes);
			bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
			changes[i] = before ^ knHash_Bytes(KN_HASH_SEED, bytes, sizeof bytes);
		}
		checkAvalanche(changes, 4000);
	}
}

static void no_collisions_among_similar_inputs(void** state) {
	(void)state;
	enum { COUNT = 60000 };
	knAllocator allocator = knAllocator_Default();
	knArena scratch;
	knArena_Init(&scratch, &allocator);
	knKeyed* items = KN_SCRATCH(&scratch, knKeyed, COUNT);
	int count = 0;
	// zeros of each length; one byte set at each place; pairs of small numbers; pairs of doubles
	unsigned char bytes[64] = { 0 };
	for (int size = 0; size <= 64; ++size) {
		items[count++].key = knHash_Bytes(1, bytes, (size_t)size);
	}
	for (int at = 0; at < 64; ++at) {
		for (int value = 1; value < 256; ++value) {
			bytes[at] = (unsigned char)value;
			items[count++].key = knHash_Bytes(1, bytes, sizeof bytes);
			bytes[at] = 0;
		}
	}
	for (int a = 0; a < 100; ++a) {
		for (int b = 0; b < 100; ++b) {
			uint64_t pair[2] = { (uint64_t)a, (uint64_t)b };
			items[count++].key = knHash_Bytes(3, pair, sizeof pair);
			items[count++].key = knHash_Double(knHash_Double(2, 0.01 * a), 0.01 * b);
			items[count++].key = knHash_Word((uint64_t)a << 32 | (uint64_t)b);
		}
	}
	assert_true(count <= COUNT);
	assert_true(knSort_Keys(items, count, &scratch));
	for (int i = 1; i < count; ++i) {
		assert_true(items[i - 1].key != items[i].key);
	}
	knArena_Free(&scratch);
}

static void depends_on_content_alone(void** state) {
	(void)state;
	unsigned char buffer[64];
	uint64_t first = 0;
	for (int offset = 0; offset < 16; ++offset) {
		memset(buffer, offset, sizeof buffer);
		memcpy(buffer + offset, "the same thirty-one characters", 31);
		uint64_t hash = knHash_Bytes(7, buffer + offset, 31);
		first = offset == 0 ? hash : first;
		assert_true(hash == first);
	}
	assert_true(knHash_Bytes(7, buffer, 8) != knHash_Bytes(8, buffer, 8));
	assert_true(knHash_Bytes(7, NULL, 0) == knHash_Bytes(7, buffer, 0));
}

static void doubles_by_value(void** state) {
	(void)state;
	assert_true(knHash_Double(1, 0.0) == knHash_Double(1, -0.0));
	assert_true(knHash_Double(1, NAN) == knHash_Double(1, -NAN));
	assert_true(knHash_Double(1, 1.0) != knHash_Double(1, -1.0));
	assert_true(knHash_Double(1, 1.0) != knHash_Double(1, nextafter(1.0, 2.0)));
	assert_true(knHash_Double(1, 1.0) != knHash_Double(2, 1.0));
	assert_true(knHash_Double(1, INFINITY) != knHash_Double(1, NAN));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(avalanche_of_words),
		cmocka_unit_test(avalanche_of_bytes),
		cmocka_unit_test(no_collisions_among_similar_inputs),
		cmocka_unit_test(depends_on_content_alone),
		cmocka_unit_test(doubles_by_value),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
