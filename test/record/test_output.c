// Output files: a staged file appears whole or not at all; every failure is KN_IO with the path and the
// reason.
#include "record_test.h"

#include "record/output.h"

static void stagedFileAppearsWhenFinished(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knTestPath path = testPath("a.csv"), part = testPath("a.csv.part");
	knOutput output;
	assert_ok(knOutput_Open(&output, path.text, KN_OUTPUT_STAGED, &allocator, NULL));
	assert_ok(knOutput_Write(&output, "hello", 5, NULL));
	assert_ok(knOutput_Flush(&output, NULL));
	assert_false(testExists(path.text));
	assert_true(testExists(part.text));
	assert_ok(knOutput_Finish(&output, NULL));
	assert_false(testExists(part.text));
	knTestFile file = testRead(path.text);
	assert_int_equal(file.size, 5);
	assert_memory_equal(file.bytes, "hello", 5);
	free(file.bytes);
	remove(path.text);
	assert_int_equal(memory.live, 0);
}

static void abandonedStagedFileLeavesTheOldOne(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.csv");
	testWrite(path.text, "old", 3);
	knOutput output;
	assert_ok(knOutput_Open(&output, path.text, KN_OUTPUT_STAGED, &allocator, NULL));
	assert_ok(knOutput_Write(&output, "new!", 4, NULL));
	knOutput_Abandon(&output);
	assert_int_equal(testFolderCount(), 1);
	knTestFile file = testRead(path.text);
	assert_string_equal((char*)file.bytes, "old");
	free(file.bytes);
	remove(path.text);
}

static void fileInPlaceIsThereAtOnce(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.knt");
	knOutput output;
	assert_ok(knOutput_Open(&output, path.text, KN_OUTPUT_IN_PLACE, &allocator, NULL));
	assert_ok(knOutput_Write(&output, "frame", 5, NULL));
	assert_ok(knOutput_Flush(&output, NULL));
	knTestFile file = testRead(path.text);
	assert_string_equal((char*)file.bytes, "frame");
	free(file.bytes);
	knOutput_Abandon(&output);
	assert_true(testExists(path.text));

	assert_ok(knOutput_Open(&output, path.text, KN_OUTPUT_IN_PLACE, &allocator, NULL));
	knOutput_Discard(&output);
	assert_int_equal(testFolderCount(), 0);
}

static void refuse(const char* path, knOutputMode mode, int reason) {
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knOutput output;
	knError error = { 0 };
	assert_int_equal(knOutput_Open(&output, path, mode, &allocator, &error), KN_IO);
	assert_int_equal(error.status, KN_IO);
	assert_string_equal(error.file, path);
	assert_non_null(strstr(error.message, strerror(reason)));
	assert_int_equal(memory.live, 0);
}

static void unwritablePathsAreRefusedAtOpen(void** state) {
	(void)state;
	knTestPath missing = testPath("nowhere/a.csv"), folder = testPath("folder.csv");
	assert_int_equal(mkdir(folder.text, 0700), 0);
	for (int mode = KN_OUTPUT_STAGED; mode <= KN_OUTPUT_IN_PLACE; ++mode) {
		refuse(missing.text, (knOutputMode)mode, ENOENT);
		refuse(folder.text, (knOutputMode)mode, EISDIR);
	}
	rmdir(folder.text);
	assert_int_equal(testFolderCount(), 0);
}

// Root may write everything, so a test that runs as root becomes somebody else for a moment.
static void readOnlyTargetIsRefusedAtOpen(void** state) {
	(void)state;
	knTestPath path = testPath("a.csv");
	testWrite(path.text, "old", 3);
	chmod(path.text, 0444);
	bool root = geteuid() == 0;
	if (root) {
		chmod(testFolder, 0777);
		assert_int_equal(seteuid(65534), 0);
	}
	refuse(path.text, KN_OUTPUT_STAGED, EACCES);
	refuse(path.text, KN_OUTPUT_IN_PLACE, EACCES);
	if (root) {
		assert_int_equal(seteuid(0), 0);
	}
	remove(path.text);
	assert_int_equal(testFolderCount(), 0);
}

static void fullDiskIsReportedAndNothingIsLeft(void** state) {
	(void)state;
	if (!testExists("/dev/full")) {
		skip();
	}
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.csv"), part = testPath("a.csv.part");
	assert_int_equal(symlink("/dev/full", part.text), 0);
	knOutput output;
	knError error = { 0 };
	assert_ok(knOutput_Open(&output, path.text, KN_OUTPUT_STAGED, &allocator, &error));
	assert_ok(knOutput_Write(&output, "lost", 4, &error));
	assert_int_equal(knOutput_Flush(&output, &error), KN_IO);
	assert_string_equal(error.file, path.text);
	assert_non_null(strstr(error.message, strerror(ENOSPC)));

	// nothing may follow a gap, and the first reason stays
	error = (knError){ 0 };
	assert_int_equal(knOutput_Write(&output, "more", 4, &error), KN_IO);
	assert_non_null(strstr(error.message, strerror(ENOSPC)));
	assert_int_equal(knOutput_Finish(&output, &error), KN_IO);
	assert_int_equal(testFolderCount(), 0);
}

static void errorOfTheLastBytesShowsWhenFinishing(void** state) {
	(void)state;
	if (!testExists("/dev/full")) {
		skip();
	}
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.csv"), part = testPath("a.csv.part");
	assert_int_equal(symlink("/dev/full", part.text), 0);
	knOutput output;
	knError error = { 0 };
	assert_ok(knOutput_Open(&output, path.text, KN_OUTPUT_STAGED, &allocator, &error));
	assert_ok(knOutput_Write(&output, "lost", 4, &error));
	assert_int_equal(knOutput_Finish(&output, &error), KN_IO);
	assert_non_null(strstr(error.message, strerror(ENOSPC)));
	assert_int_equal(testFolderCount(), 0);
}

// A device cannot be renamed over and must not be removed.
static void devicesAreWrittenInPlace(void** state) {
	(void)state;
	if (!testExists("/dev/full")) {
		skip();
	}
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.csv");
	assert_int_equal(symlink("/dev/full", path.text), 0);
	knOutput output;
	assert_ok(knOutput_Open(&output, path.text, KN_OUTPUT_STAGED, &allocator, NULL));
	assert_int_equal(testFolderCount(), 1);
	assert_ok(knOutput_Write(&output, "lost", 4, NULL));
	assert_int_equal(knOutput_Flush(&output, NULL), KN_IO);
	knOutput_Discard(&output);
	assert_true(testExists(path.text));
	remove(path.text);
}

static void openSurvivesAFailingAllocator(void** state) {
	(void)state;
	knTestPath path = testPath("a.csv");
	for (int failAfter = 0;; ++failAfter) {
		knTestMemory memory;
		knAllocator allocator = testAllocator(&memory);
		memory.failAfter = failAfter;
		knOutput output;
		knStatus status = knOutput_Open(&output, path.text, KN_OUTPUT_STAGED, &allocator, NULL);
		if (status == KN_OK) {
			assert_true(failAfter > 0);
			knOutput_Abandon(&output);
			assert_int_equal(memory.live, 0);
			break;
		}
		assert_int_equal(status, KN_NO_MEMORY);
		assert_int_equal(memory.live, 0);
		assert_int_equal(testFolderCount(), 0);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stagedFileAppearsWhenFinished),
		cmocka_unit_test(abandonedStagedFileLeavesTheOldOne),
		cmocka_unit_test(fileInPlaceIsThereAtOnce),
		cmocka_unit_test(unwritablePathsAreRefusedAtOpen),
		cmocka_unit_test(readOnlyTargetIsRefusedAtOpen),
		cmocka_unit_test(fullDiskIsReportedAndNothingIsLeft),
		cmocka_unit_test(errorOfTheLastBytesShowsWhenFinishing),
		cmocka_unit_test(devicesAreWrittenInPlace),
		cmocka_unit_test(openSurvivesAFailingAllocator),
	};
	return cmocka_run_group_tests(tests, testFolderMake, testFolderRemove);
}
