// <replicate>: what stands in it is kept as it is read, and then read once for each copy, in a frame of its own and with a
// suffix to every name (mjcf_read.c).
//
// Copy i is turned by i times `euler` and stands one `offset`, along the axes of the copy before, further than that. Its
// suffix is `sep` and i, with as many digits as `count` has; of nested ones the inner suffix comes first. All as in MuJoCo.
#include "mjcf.h"

#include <stdio.h>
#include <string.h>

#include "core/text.h"

// elements that a file may ask for by repetition
enum { MAX_REPLICATED = 2000000, MAX_COUNTED_DEPTH = 17 };

bool knMjcf_Record(knMjcf* reader, knMjcfEvents* events, const char* tag, const char** attributes) {
	knMjcfEvent event = { .line = reader->line, .column = reader->column };
	if (tag != NULL) {
		int count = 0;
		while (attributes[count] != NULL) {
			++count;
		}
		const char** copy = KN_SCRATCH_ZERO(&reader->arena, const char*, count + 1);
		event.tag = knMjcf_CopyText(reader, tag);
		event.attributes = copy;
		if (copy == NULL || event.tag == NULL) {
			return knMjcf_NoMemory(reader);
		}
		for (int i = 0; i < count; ++i) {
			copy[i] = knMjcf_CopyText(reader, attributes[i]);
			if (copy[i] == NULL) {
				return false;
			}
		}
	}
	return KN_ARRAY_PUSH(&reader->allocator, events, event) || knMjcf_NoMemory(reader);
}

static bool readThree(knMjcf* reader, const char* what, const char* text, double numbers[3]) {
	char bad[32];
	return knMjcf_ParseNumbers(text, numbers, 3, bad) == 3 ||
		   knMjcf_Fail(reader, NULL, "replicate", KN_BAD_DATA, "%s must be three numbers", what);
}

bool knMjcf_ReadReplicate(knMjcf* reader, const char** attributes, knMjcfReplicate* replicate) {
	*replicate = (knMjcfReplicate){ .separator = "" };
	for (int i = 0; attributes[i] != NULL; i += 2) {
		const char *name = attributes[i], *value = attributes[i + 1];
		double offset[3];
		if (strcmp(name, "count") == 0) {
			if (!knText_ParseInt(value, &replicate->count)) {
				return knMjcf_Fail(reader, NULL, "replicate", KN_BAD_DATA, "count '%.40s' is not an integer",
								   value);
			}
		} else if (strcmp(name, "sep") == 0) {
			replicate->separator = knMjcf_CopyText(reader, value);
		} else if (strcmp(name, "childclass") == 0) {
			replicate->childClass = knMjcf_CopyText(reader, value);
		} else if (strcmp(name, "euler") == 0) {
			if (!readThree(reader, "euler", value, replicate->euler)) {
				return false;
			}
		} else if (strcmp(name, "offset") == 0) {
			if (!readThree(reader, "offset", value, offset)) {
				return false;
			}
			replicate->offset = knV3(offset[0], offset[1], offset[2]);
		} else {
			knMjcf_Omit(reader, NULL, "<replicate> %.60s is not understood", name);
		}
	}
	return !reader->failed &&
		   (replicate->count > 0 || knMjcf_Fail(reader, NULL, "replicate", KN_BAD_DATA,
												"count must be positive, and was %d", replicate->count));
}

static int countOf(const char** attributes) {
	int count = 0;
	for (int i = 0; attributes[i] != NULL; i += 2) {
		if (strcmp(attributes[i], "count") == 0 && !knText_ParseInt(attributes[i + 1], &count)) {
			count = 0;
		}
	}
	return count > 0 ? count : 1; // what is none is refused when it is read
}

bool knMjcf_CountReplicas(knMjcf* reader, const knMjcfReplicate* replicate, const knMjcfEvents* events) {
	// how often what stands at each depth is read: depths of <replicate> only
	double times[MAX_COUNTED_DEPTH] = { replicate->count }, sum = reader->replicated + replicate->count;
	int depth = 0, plain = 0; // plain: other elements that are open in the innermost <replicate>
	int open[MAX_COUNTED_DEPTH] = { 0 };
	for (int i = 0; i < events->count && sum <= MAX_REPLICATED; ++i) {
		const knMjcfEvent* event = &events->items[i];
		const bool inner = event->tag != NULL && strcmp(event->tag, "replicate") == 0;
		if (event->tag == NULL && plain > 0) {
			plain -= 1;
		} else if (event->tag == NULL) {
			depth -= depth > 0 ? 1 : 0;
			plain = open[depth];
		} else if (inner && depth + 1 < MAX_COUNTED_DEPTH) {
			open[depth++] = plain;
			plain = 0;
			times[depth] = times[depth - 1] * countOf(event->attributes);
			sum += times[depth];
		} else {
			plain += 1;
			sum += times[depth];
		}
	}
	reader->replicated = sum < MAX_REPLICATED ? (int)sum : MAX_REPLICATED;
	return sum <= MAX_REPLICATED || knMjcf_Fail(reader, NULL, "replicate", KN_LIMIT,
												"it repeats more than %d elements", MAX_REPLICATED);
}

bool knMjcf_BeginReplica(knMjcf* reader, knMjcfReplicate* replicate, int i, knMjcfLevel* level) {
	knMjcfFrame frame = { .element = { .line = reader->line,
									   .column = reader->column,
									   .file = reader->fileIndex,
									   .compiler = reader->compilerIndex,
									   .frame = level->frame,
									   .given = KN_MJCF_BIT(KN_MJCF_POS) | KN_MJCF_BIT(KN_MJCF_EULER),
									   .pos = replicate->at },
						  .childClass = replicate->childClass };
	for (int k = 0; k < 3; ++k) {
		frame.element.orientation[k] = i * replicate->euler[k];
	}
	knQuat turn;
	if (!knMjcf_Orientation(reader, &frame.element, "replicate", &turn)) {
		return false;
	}
	replicate->at = knAdd(replicate->at, knRotate(turn, replicate->offset));
	level->frame = reader->frames.count;

	// the suffix, before that of what is around it
	char digits[16], own[16];
	const int width = snprintf(digits, sizeof digits, "%d", replicate->count);
	snprintf(own, sizeof own, "%0*d", width, i);
	const char* outer = replicate->outer != NULL ? replicate->outer : "";
	const size_t size = strlen(replicate->separator) + strlen(own) + strlen(outer) + 1;
	char* suffix = knArena_Take(&reader->arena, size);
	if (suffix == NULL) {
		return knMjcf_NoMemory(reader);
	}
	snprintf(suffix, size, "%s%s%s", replicate->separator, own, outer);
	reader->suffix = suffix;
	return KN_ARRAY_PUSH(&reader->allocator, &reader->frames, frame) || knMjcf_NoMemory(reader);
}
