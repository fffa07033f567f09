// Compiling a dropped model (dropped_model.h): its files are written to a folder of their own, which is gone when the scene
// is made, so that loaders find meshes and included files as they always do.
#include "dropped_model.h"

#ifdef KN_HAVE_MJCF

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "knuckle/io.h"
#include "options.h"
#include "temp_folder.h"

#define MAX_NAME 200

typedef struct Part {
	char name[MAX_NAME];
	const char* bytes;
	size_t size;
} Part;

static knStatus refuse(knError* error, const char* element, const char* sentence) {
	return knError_Set(error, KN_BAD_DATA, element, "%s", sentence);
}

// "arm.xml", "assets/hand.stl": pieces between slashes that are not empty and do not begin with a dot.
static bool isName(const char* name) {
	for (const char* piece = name;; ++piece) {
		size_t length = strcspn(piece, "/");
		if (length == 0 || piece[0] == '.' || strcspn(piece, "\\") < length) {
			return false;
		}
		piece += length;
		if (*piece == '\0') {
			return true;
		}
	}
}

// The next file of the body; false with an error where it is not whole.
static bool readPart(const char** at, const char* end, Part* part, knError* error) {
	const char* line = memchr(*at, '\n', (size_t)(end - *at));
	const char* second = line != NULL ? memchr(line + 1, '\n', (size_t)(end - line - 1)) : NULL;
	size_t length = line != NULL ? (size_t)(line - *at) : 0;
	if (second == NULL || length >= MAX_NAME || memchr(*at, '\0', (size_t)(second - *at)) != NULL) {
		refuse(error, "the dropped files", "they did not arrive as a list of names and contents");
		return false;
	}
	memcpy(part->name, *at, length);
	part->name[length] = '\0';
	char* past;
	unsigned long long size = strtoull(line + 1, &past, 10);
	if (past != second || size > (unsigned long long)(end - second - 1)) {
		refuse(error, part->name, "it did not arrive whole");
		return false;
	}
	if (!isName(part->name)) {
		refuse(error, part->name, "a file's name may not lead out of the model's folder");
		return false;
	}
	part->bytes = second + 1;
	part->size = (size_t)size;
	*at = part->bytes + part->size;
	return true;
}

static knStatus writePart(const cliTempFolder* folder, const Part* part, knError* error) {
	char path[sizeof(folder->path) + MAX_NAME + 2];
	snprintf(path, sizeof(path), "%s/%s", folder->path, part->name);
	for (char* slash = strchr(path + strlen(folder->path) + 1, '/'); slash != NULL;
		 slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700); // what is wrong shows when the file is written
		*slash = '/';
	}
	FILE* file = fopen(path, "wb");
	bool done = file != NULL && fwrite(part->bytes, 1, part->size, file) == part->size;
	if (file != NULL && fclose(file) != 0) {
		done = false;
	}
	return done ? KN_OK : knError_Set(error, KN_IO, part->name, "it could not be written to '%s'", path);
}

static knScene* load(const char* path, knError* error) {
	if (cliHasExtension(path, ".urdf")) {
		const knUrdfOptions options = { 0 };
		return knUrdf_Load(path, &options, NULL, error);
	}
	const knMjcfOptions options = { .looks = true };
	return knMjcf_Load(path, &options, NULL, error);
}

// Messages name files as they were dropped, not where they stood for a moment.
static void forgetFolder(char* text, const char* folder) {
	size_t length = strlen(folder) + 1;
	for (char* at = strstr(text, folder); at != NULL; at = strstr(at, folder)) {
		size_t rest = strlen(at);
		memmove(at, at + (rest < length ? rest : length), rest < length ? 1 : rest - length + 1);
	}
}

static knStatus compileIn(const cliTempFolder* folder, const char* body, size_t size, void** scene,
						  size_t* sceneSize, knError* error) {
	const char *at = body, *end = body + size;
	char model[sizeof(folder->path) + MAX_NAME + 2] = "";
	while (at < end) {
		Part part;
		if (!readPart(&at, end, &part, error) || writePart(folder, &part, error) != KN_OK) {
			return error->status;
		}
		if (model[0] == '\0') {
			snprintf(model, sizeof(model), "%s/%s", folder->path, part.name);
		}
	}
	if (model[0] == '\0') {
		return refuse(error, "the dropped files", "there are none");
	}
	knScene* loaded = load(model, error);
	knStatus status = loaded != NULL ? knScene_ToBytes(loaded, NULL, scene, sceneSize, error) : error->status;
	knScene_Destroy(loaded);
	return status;
}

knStatus cliDroppedModel_Compile(const char* body, size_t size, void** scene, size_t* sceneSize,
								 knError* error) {
	cliTempFolder folder;
	if (!cliTempFolder_Make(&folder)) {
		return knError_Set(error, KN_IO, "the dropped files", "there is no place to write them to");
	}
	char path[sizeof(folder.path)];
	snprintf(path, sizeof(path), "%s", folder.path);
	knStatus status = compileIn(&folder, body, size, scene, sceneSize, error);
	cliTempFolder_Remove(&folder);
	if (status != KN_OK) {
		forgetFolder(error->file, path);
		forgetFolder(error->element, path);
		forgetFolder(error->message, path);
	}
	return status;
}

#else

knStatus cliDroppedModel_Compile(const char* body, size_t size, void** scene, size_t* sceneSize,
								 knError* error) {
	(void)body, (void)size, (void)scene, (void)sceneSize;
	return knError_Set(error, KN_UNSUPPORTED, "the dropped files",
					   "this build reads no models; install libexpat1-dev, then configure and build again");
}

#endif
