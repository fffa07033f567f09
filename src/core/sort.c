// Stable sorts.
//
// Keys: radix sort, lowest byte first, one pass for each byte that differs somewhere; all histograms are
// counted in one sweep. Anything else: merge sort from runs of one upwards, no recursion. Both give the only
// stable order there is, so results do not depend on the method.
#include "core/sort.h"

#include <string.h>

enum { KEY_BYTES = 8, DIGITS = 256, SMALL_COUNT = 32 };

static int digitOf(uint64_t key, int byte) {
	return (int)(key >> (8 * byte)) & (DIGITS - 1);
}

static void insertionSort(knKeyed* items, int count) {
	for (int i = 1; i < count; ++i) {
		knKeyed item = items[i];
		int at = i;
		for (; at > 0 && items[at - 1].key > item.key; --at) {
			items[at] = items[at - 1];
		}
		items[at] = item;
	}
}

bool knSort_Keys(knKeyed* items, int count, knArena* scratch) {
	// a short list is not worth counting 2048 buckets
	if (count <= SMALL_COUNT) {
		insertionSort(items, count);
		return true;
	}

	int(*histogram)[DIGITS] = knArena_TakeZero(scratch, sizeof(int[KEY_BYTES][DIGITS]));
	knKeyed* other = KN_SCRATCH(scratch, knKeyed, count);
	if (histogram == NULL || other == NULL) {
		return false;
	}
	for (int i = 0; i < count; ++i) {
		for (int byte = 0; byte < KEY_BYTES; ++byte) {
			histogram[byte][digitOf(items[i].key, byte)] += 1;
		}
	}

	knKeyed* from = items;
	knKeyed* to = other;
	for (int byte = 0; byte < KEY_BYTES; ++byte) {
		int* offsets = histogram[byte];
		if (offsets[digitOf(items[0].key, byte)] == count) {
			continue;
		}
		// counts become the place of each digit's first item
		int place = 0;
		for (int digit = 0; digit < DIGITS; ++digit) {
			int here = offsets[digit];
			offsets[digit] = place;
			place += here;
		}
		for (int i = 0; i < count; ++i) {
			to[offsets[digitOf(from[i].key, byte)]++] = from[i];
		}
		knKeyed* swap = from;
		from = to;
		to = swap;
	}
	if (from != items) {
		memcpy(items, from, (size_t)count * sizeof *items);
	}
	return true;
}

typedef struct MergeOrder {
	size_t itemSize;
	knLessFn* less;
	void* context;
} MergeOrder;

// Merges from[begin, middle) and from[middle, end) into to[begin, end); of equals, the left one goes first.
static void mergeRuns(const MergeOrder* order, const char* from, char* to, size_t begin, size_t middle,
					  size_t end) {
	size_t size = order->itemSize;
	size_t left = begin, right = middle;
	for (size_t at = begin; at < end; ++at) {
		bool takeRight = left == middle || (right < end && order->less(from + right * size,
																	   from + left * size, order->context));
		memcpy(to + at * size, from + (takeRight ? right++ : left++) * size, size);
	}
}

bool knSort_Merge(void* items, int count, size_t itemSize, knLessFn* less, void* context, knArena* scratch) {
	if (count < 2) {
		return true;
	}
	size_t n = (size_t)count;
	if (itemSize > SIZE_MAX / n) {
		return false;
	}
	char* from = items;
	char* to = knArena_Take(scratch, n * itemSize);
	if (to == NULL) {
		return false;
	}

	MergeOrder order = { itemSize, less, context };
	for (size_t run = 1; run < n; run *= 2) {
		for (size_t begin = 0; begin < n; begin += 2 * run) {
			size_t middle = begin + run < n ? begin + run : n;
			size_t end = begin + 2 * run < n ? begin + 2 * run : n;
			mergeRuns(&order, from, to, begin, middle, end);
		}
		char* swap = from;
		from = to;
		to = swap;
	}
	if (from != (char*)items) {
		memcpy(items, from, n * itemSize);
	}
	return true;
}
