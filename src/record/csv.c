// CSV recordings: one row per frame and body (without the world body), by the contract of docs/formats.md.
//
// Numbers have 17 significant digits, enough to read back the same bits, and a decimal point whatever the
// locale. Names are quoted as RFC 4180 says, if they must be.
#include "record/output.h"
#include "record/writer.h"

#include <stdio.h>
#include <string.h>

static const char HEADER[] = "time,body,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n";

#define NUMBER_SIZE 40 // "-1.2345678901234567e-308", with room for a decimal point of several bytes
#define STATE_NUMBERS 13

typedef struct Csv {
	knAllocator allocator;
	knOutput output;
} Csv;

// Appends the number and returns the new end. `printf` writes the locale's decimal point: the only bytes that
// are neither digit, sign nor letter, and they become one '.'.
static char* putNumber(char* end, double value) {
	char text[NUMBER_SIZE];
	int length = snprintf(text, sizeof(text), "%.17g", value);
	bool inPoint = false;
	for (int k = 0; k < length && k < NUMBER_SIZE - 1; ++k) {
		char c = text[k];
		bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+';
		if (plain) {
			*end++ = c;
		} else if (!inPoint) {
			*end++ = '.';
		}
		inPoint = !plain;
	}
	return end;
}

static knStatus writeName(knOutput* output, const char* name, knError* error) {
	if (strpbrk(name, ",\"\r\n") == NULL) {
		return knOutput_Write(output, name, strlen(name), error);
	}
	knStatus status = knOutput_Write(output, "\"", 1, error);
	for (const char* c = name; *c != '\0' && status == KN_OK; ++c) {
		// a quote within quotes is doubled
		status = *c == '"' ? knOutput_Write(output, "\"\"", 2, error) : knOutput_Write(output, c, 1, error);
	}
	return status == KN_OK ? knOutput_Write(output, "\"", 1, error) : status;
}

static knStatus writeRow(knOutput* output, const char* time, const char* name, const knBodyState* body,
						 knError* error) {
	const double numbers[STATE_NUMBERS] = {
		body->position.x,        body->position.y, body->position.z,        body->rotation.w,
		body->rotation.x,        body->rotation.y, body->rotation.z,        body->velocity.x,
		body->velocity.y,        body->velocity.z, body->angularVelocity.x, body->angularVelocity.y,
		body->angularVelocity.z,
	};
	char text[STATE_NUMBERS * NUMBER_SIZE];
	char* end = text;
	for (int k = 0; k < STATE_NUMBERS; ++k) {
		*end++ = ',';
		end = putNumber(end, numbers[k]);
	}
	*end++ = '\n';

	knStatus status = knOutput_Write(output, time, strlen(time), error);
	if (status == KN_OK) {
		status = writeName(output, name, error);
	}
	return status == KN_OK ? knOutput_Write(output, text, (size_t)(end - text), error) : status;
}

static void* csvOpen(const char* path, knOutputMode mode, const knSceneSnapshot* cast,
					 const knAllocator* allocator, knError* error) {
	(void)cast;
	Csv* csv = knAllocZero(allocator, sizeof(Csv));
	if (csv == NULL) {
		knFileError(error, KN_NO_MEMORY, path, "out of memory");
		return NULL;
	}
	csv->allocator = *allocator;
	if (knOutput_Open(&csv->output, path, mode, allocator, error) != KN_OK) {
		knFree(allocator, csv, sizeof(Csv));
		return NULL;
	}
	if (knOutput_Write(&csv->output, HEADER, sizeof(HEADER) - 1, error) != KN_OK ||
		knOutput_Flush(&csv->output, error) != KN_OK) {
		knOutput_Discard(&csv->output);
		knFree(allocator, csv, sizeof(Csv));
		return NULL;
	}
	return csv;
}

static knStatus csvWrite(void* self, const knCastFrame* frame, knError* error) {
	Csv* csv = self;
	char time[NUMBER_SIZE + 2];
	char* end = putNumber(time, frame->time);
	*end++ = ',';
	*end = '\0';
	knStatus status = KN_OK;
	for (int b = 0; b < frame->cast->bodyCount && status == KN_OK; ++b) {
		status = writeRow(&csv->output, time, frame->cast->bodies[b].name, &frame->bodies[b], error);
	}
	return status;
}

static knStatus csvClose(void* self, knError* error) {
	Csv* csv = self;
	knAllocator allocator = csv->allocator;
	knStatus status = knOutput_Finish(&csv->output, error);
	knFree(&allocator, csv, sizeof(Csv));
	return status;
}

static void csvAbandon(void* self) {
	Csv* csv = self;
	knAllocator allocator = csv->allocator;
	knOutput_Abandon(&csv->output);
	knFree(&allocator, csv, sizeof(Csv));
}

const knWriterOps knCsvWriter = { ".csv", KN_OUTPUT_STAGED, csvOpen, csvWrite, csvClose, csvAbandon };
