// .knt recordings. Those of a running world are written in place: a chunk goes to the system whole and at
// once, so that whatever happens to the process, the file reads back up to the last frame.
//
// A new cast is written when the bodies or shapes changed, just before the first frame that needs it; meshes, pictures and
// looks just before the first cast that needs them.
#include "record/knt.h"
#include "record/output.h"

typedef struct Knt {
	knAllocator allocator;
	knOutput output;
	knBytes bytes;         // of the chunk being written
	int castIndex;         // of the last cast seen
	uint64_t castChecksum; // of the last cast written
	int meshCount;         // meshes written
	int pictureCount;      // pictures written
	int lookCount;         // looks written
	uint64_t frameCount;
} Knt;

static void freeKnt(Knt* knt) {
	knAllocator allocator = knt->allocator;
	KN_ARRAY_FREE(&allocator, &knt->bytes);
	knFree(&allocator, knt, sizeof(Knt));
}

static knStatus outOfMemory(const Knt* knt, knError* error) {
	return knFileError(error, KN_NO_MEMORY, knt->output.path, "out of memory");
}

static knStatus writeBytes(Knt* knt, knError* error) {
	knStatus status = knOutput_Write(&knt->output, knt->bytes.items, (size_t)knt->bytes.count, error);
	knt->bytes.count = 0;
	return status == KN_OK ? knOutput_Flush(&knt->output, error) : status;
}

// Appends the chunks of the cast's meshes, pictures and looks that are not in the file.
static bool putNewShared(Knt* knt, const knSceneSnapshot* cast) {
	bool ok = true;
	for (int m = knt->meshCount; m < cast->meshCount && ok; ++m) {
		ok = knKnt_PutMesh(&knt->bytes, &cast->meshes[m], &knt->allocator);
	}
	const knLookList* looks = cast->looks;
	for (int p = knt->pictureCount; looks != NULL && p < looks->pictures.count && ok; ++p) {
		ok = knKnt_PutPicture(&knt->bytes, &looks->pictures.items[p], &knt->allocator);
	}
	for (int k = knt->lookCount; looks != NULL && k < looks->items.count && ok; ++k) {
		ok = knKnt_PutLook(&knt->bytes, &looks->items.items[k], &knt->allocator);
	}
	return ok;
}

static void countShared(Knt* knt, const knSceneSnapshot* cast) {
	const knLookList* looks = cast->looks;
	knt->meshCount = cast->meshCount > knt->meshCount ? cast->meshCount : knt->meshCount;
	knt->pictureCount = looks != NULL ? looks->pictures.count : knt->pictureCount;
	knt->lookCount = looks != NULL ? looks->items.count : knt->lookCount;
}

// Appends the cast's chunk and those of its new meshes and looks, unless it says the same as the last one written.
static bool putCastIfNew(Knt* knt, const knSceneSnapshot* cast, uint64_t* checksum) {
	if (!putNewShared(knt, cast)) {
		return false;
	}
	int start = knt->bytes.count;
	if (!knKnt_PutCast(&knt->bytes, cast, &knt->allocator)) {
		return false;
	}
	*checksum = knKnt_GetChunk(knt->bytes.items + start).checksum;
	if (*checksum == knt->castChecksum) {
		knt->bytes.count = start;
	}
	return true;
}

static knStatus writeHeader(Knt* knt, const knSceneSnapshot* cast, knError* error) {
	uint8_t header[KN_KNT_HEADER_SIZE];
	knKnt_PutHeader(header);
	uint64_t checksum;
	if (!putCastIfNew(knt, cast, &checksum)) {
		return outOfMemory(knt, error);
	}
	knt->castChecksum = checksum;
	countShared(knt, cast);
	knStatus status = knOutput_Write(&knt->output, header, sizeof(header), error);
	return status == KN_OK ? writeBytes(knt, error) : status;
}

static void* kntOpen(const char* path, knOutputMode mode, const knSceneSnapshot* cast,
					 const knAllocator* allocator, knError* error) {
	Knt* knt = knAllocZero(allocator, sizeof(Knt));
	if (knt == NULL) {
		knFileError(error, KN_NO_MEMORY, path, "out of memory");
		return NULL;
	}
	knt->allocator = *allocator;
	if (knOutput_Open(&knt->output, path, mode, allocator, error) != KN_OK) {
		freeKnt(knt);
		return NULL;
	}
	if (writeHeader(knt, cast, error) != KN_OK) {
		knOutput_Discard(&knt->output);
		freeKnt(knt);
		return NULL;
	}
	return knt;
}

static knStatus kntWrite(void* self, const knCastFrame* frame, knError* error) {
	Knt* knt = self;
	uint64_t checksum = knt->castChecksum;
	knt->bytes.count = 0;
	if (frame->castIndex != knt->castIndex && !putCastIfNew(knt, frame->cast, &checksum)) {
		return outOfMemory(knt, error);
	}
	if (!knKnt_PutFrame(&knt->bytes, frame, &knt->allocator)) {
		return outOfMemory(knt, error);
	}
	knStatus status = writeBytes(knt, error);
	if (status == KN_OK) {
		knt->castIndex = frame->castIndex;
		knt->castChecksum = checksum;
		countShared(knt, frame->cast);
		knt->frameCount += 1;
	}
	return status;
}

static knStatus kntClose(void* self, knError* error) {
	Knt* knt = self;
	knt->bytes.count = 0;
	knStatus status = knKnt_PutEnd(&knt->bytes, knt->frameCount, &knt->allocator) ? writeBytes(knt, error)
																				  : outOfMemory(knt, error);
	if (status == KN_OK) {
		status = knOutput_Finish(&knt->output, error);
	} else {
		knOutput_Abandon(&knt->output);
	}
	freeKnt(knt);
	return status;
}

static void kntAbandon(void* self) {
	Knt* knt = self;
	knOutput_Abandon(&knt->output);
	freeKnt(knt);
}

const knWriterOps knKntWriter = { ".knt", KN_OUTPUT_IN_PLACE, kntOpen, kntWrite, kntClose, kntAbandon };
