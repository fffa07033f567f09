// Visuals and collisions of links: sizes, materials, mesh files.
//
// A collision mesh collides as itself if it is closed: by its hull where it is convex (the same solid, cheaper), else with a
// signed distance field. One that is open has no inside; its hull collides instead, and the report says so.
//
// Mesh files are named by package://NAME/PATH (searched upwards from the URDF file: NAME/PATH below each folder, and PATH
// in the folder called NAME), model:// likewise, or by a path relative to the URDF file. They must lie below a
// folder that holds the URDF file's folder; absolute paths are refused.
#include <stdio.h>
#include <string.h>

#include <sys/stat.h>

#include "mesh_file.h"
#include "urdf.h"

enum { PATH_MOST = 1024, LEVELS = 8 };

// --- where mesh files are --------------------------------------------------------------------------------

static bool exists(const char* path) {
	struct stat status;
	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

// "a/b/urdf/" -> "a/b/", "" -> "../", "../" -> "../../"; with a slash at the end.
static bool folderAbove(char* folder, size_t capacity) {
	size_t length = strlen(folder);
	const bool climbs =
		length == 0 || (length >= 3 && strcmp(folder + length - 3, "../") == 0) || strcmp(folder, "./") == 0;
	if (climbs) {
		if (length + 4 > capacity) {
			return false;
		}
		strcpy(folder + length, "../");
		return true;
	}
	if (strcmp(folder, "/") == 0) {
		return false;
	}
	do {
		length -= 1;
	} while (length > 0 && folder[length - 1] != '/');
	folder[length] = '\0';
	return true;
}

// The name of a folder "a/b/" is "b".
static bool isCalled(const char* folder, const char* name, size_t nameLength) {
	size_t end = strlen(folder);
	end -= end > 0 ? 1 : 0;
	size_t begin = end;
	while (begin > 0 && folder[begin - 1] != '/') {
		--begin;
	}
	return end - begin == nameLength && strncmp(folder + begin, name, nameLength) == 0;
}

static bool findPackaged(const char* base, const char* uri, char* path) {
	const char* slash = strchr(uri, '/');
	const char* rest = slash != NULL ? slash + 1 : uri;
	const size_t nameLength = slash != NULL ? (size_t)(slash - uri) : 0;
	char folder[PATH_MOST];
	snprintf(folder, sizeof folder, "%s", base);
	for (int level = 0; level < LEVELS; ++level) {
		snprintf(path, PATH_MOST, "%.500s%.500s", folder, uri);
		if (exists(path)) {
			return true;
		}
		snprintf(path, PATH_MOST, "%.500s%.500s", folder, rest);
		if ((level < 2 || isCalled(folder, uri, nameLength)) && exists(path)) {
			return true;
		}
		if (!folderAbove(folder, sizeof folder)) {
			break;
		}
	}
	return false;
}

// True if ".." of `path` never leads more than `allowed` folders up.
static bool staysBelow(const char* path, int allowed) {
	int depth = 0;
	while (*path != '\0') {
		const char* slash = strchr(path, '/');
		const size_t length = slash != NULL ? (size_t)(slash - path) : strlen(path);
		if (length == 2 && path[0] == '.' && path[1] == '.') {
			depth -= 1;
		} else if (length > 0 && !(length == 1 && path[0] == '.')) {
			depth += 1;
		}
		if (depth < -allowed) {
			return false;
		}
		path += length + (slash != NULL ? 1 : 0);
	}
	return true;
}

// False without an error: there is no such file.
static bool findMesh(knUrdf* reader, int node, const char* uri, char path[PATH_MOST]) {
	char base[PATH_MOST];
	const char* slash = strrchr(reader->file, '/');
	snprintf(base, sizeof base, "%.*s", slash != NULL ? (int)(slash - reader->file) + 1 : 0, reader->file);
	const char* const schemes[] = { "package://", "model://" };
	for (int i = 0; i < 2; ++i) {
		const size_t length = strlen(schemes[i]);
		if (strncmp(uri, schemes[i], length) == 0) {
			if (!staysBelow(uri + length, 0)) {
				return knUrdf_Fail(reader, node, KN_BAD_DATA, "'%.100s' leads out of its package", uri);
			}
			return findPackaged(base, uri + length, path);
		}
	}
	if (strncmp(uri, "file://", 7) == 0 || uri[0] == '/') {
		return knUrdf_Fail(reader, node, KN_BAD_DATA,
						   "'%.100s' is an absolute path; give one relative to the URDF file or package://",
						   uri);
	}
	if (!staysBelow(uri, 2)) {
		return knUrdf_Fail(reader, node, KN_BAD_DATA,
						   "'%.100s' leads more than two folders up from the URDF file", uri);
	}
	snprintf(path, PATH_MOST, "%.500s%.500s", base, uri);
	return exists(path);
}

// --- meshes ----------------------------------------------------------------------------------------------

static knGeom* solidGeom(knUrdf* reader, int node, const knMeshFile* file, const char* uri) {
	knError cause = { .status = KN_OK };
	bool open;
	knGeom* geom = knMeshFile_Solid(file, reader->options->meshes, &reader->allocator, &open, &cause);
	if (geom == NULL) {
		knUrdf_FailFrom(reader, node, &cause);
		return NULL;
	}
	if (open) {
		knUrdf_Note(reader, node, KN_LOAD_APPROXIMATE,
					reader->options->meshes == KN_MESHES_HULL
						? "mesh '%.60s' collides as its convex hull"
						: "mesh '%.60s' is not closed; its convex hull collides",
					uri);
	}
	return geom;
}

static knGeom* looksGeom(knUrdf* reader, int node, const knMeshFile* file, const char* uri) {
	knMeshDef def = knMeshFile_MeshDef(file);
	def.solid = false;
	knGeom* mesh = knGeom_Mesh(&def, &reader->allocator, NULL);
	if (mesh == NULL) {
		knUrdf_Note(reader, node, KN_LOAD_NOTE, "mesh '%.60s' cannot be drawn", uri);
	}
	return mesh;
}

static knGeom* loadMesh(knUrdf* reader, int node, const char* uri, const char* path, const double scale[3],
						bool looks) {
	knMeshFile file;
	knError cause = { .status = KN_OK };
	if (knMeshFile_Load(path, &reader->allocator, &file, &cause) != KN_OK) {
		if (looks && cause.status != KN_NO_MEMORY) {
			knUrdf_Note(reader, node, KN_LOAD_NOTE, "mesh '%.60s' cannot be read, so it is not drawn", uri);
		} else {
			knUrdf_FailFrom(reader, node, &cause);
		}
		return NULL;
	}
	knMeshFile_Transform(&file, knV3(scale[0], scale[1], scale[2]), knIdentityF());
	knGeom* geom = looks ? looksGeom(reader, node, &file, uri) : solidGeom(reader, node, &file, uri);
	knMeshFile_Free(&file);
	return geom;
}

// The same file in the same size and use is read once.
static knGeom* meshGeom(knUrdf* reader, int node, bool looks) {
	const char* uri = knXml_Get(&reader->tree, node, "filename");
	double scale[3] = { 1.0, 1.0, 1.0 };
	char path[PATH_MOST], key[PATH_MOST + 128];
	if (uri == NULL) {
		knUrdf_Fail(reader, node, KN_BAD_DATA, "it needs the attribute 'filename'");
		return NULL;
	}
	if (!knUrdf_Numbers(reader, node, "scale", 3, false, scale)) {
		return NULL;
	}
	if (scale[0] * scale[1] * scale[2] == 0.0) {
		knUrdf_Fail(reader, node, KN_BAD_DATA, "scale is zero");
		return NULL;
	}
	if (reader->fromMemory || !findMesh(reader, node, uri, path)) {
		if (looks && !reader->failed) {
			knUrdf_Note(reader, node, KN_LOAD_NOTE, "mesh '%.60s' not found, so it is not drawn", uri);
		} else {
			knUrdf_Fail(reader, node, KN_IO, "there is no mesh file '%.200s'", uri);
		}
		return NULL;
	}
	snprintf(key, sizeof key, "%d %.17g %.17g %.17g %s", looks, scale[0], scale[1], scale[2], path);
	const int known = knNameTable_Get(&reader->meshNames, key);
	if (known >= 0) {
		knGeom_Retain(reader->meshes.items[known].geom);
		return reader->meshes.items[known].geom;
	}
	const knUrdfMesh mesh = { loadMesh(reader, node, uri, path, scale, looks) };
	if (mesh.geom == NULL) {
		return NULL;
	}
	if (!KN_ARRAY_PUSH(&reader->allocator, &reader->meshes, mesh)) {
		knGeom_Release(mesh.geom);
		knUrdf_NoMemory(reader);
		return NULL;
	}
	if (!knNameTable_Set(&reader->meshNames, key, reader->meshes.count - 1)) {
		knUrdf_NoMemory(reader);
		return NULL;
	}
	knGeom_Retain(mesh.geom);
	return mesh.geom;
}

// --- geometry --------------------------------------------------------------------------------------------

knGeom* knUrdf_Geometry(knUrdf* reader, int node, bool looks) {
	const knAllocator* allocator = &reader->allocator;
	double size[3] = { 0.0 };
	knError cause = { .status = KN_OK };
	knGeom* geom = NULL;
	int child;
	if ((child = knXml_Child(&reader->tree, node, "box")) >= 0) {
		if (knUrdf_Numbers(reader, child, "size", 3, true, size)) {
			geom = knGeom_Box(knScale(0.5, knV3(size[0], size[1], size[2])), allocator, &cause);
		}
	} else if ((child = knXml_Child(&reader->tree, node, "sphere")) >= 0) {
		if (knUrdf_Numbers(reader, child, "radius", 1, true, size)) {
			geom = knGeom_Sphere(size[0], allocator, &cause);
		}
	} else if ((child = knXml_Child(&reader->tree, node, "cylinder")) >= 0 ||
			   (child = knXml_Child(&reader->tree, node, "capsule")) >= 0) {
		if (knUrdf_Numbers(reader, child, "radius", 1, true, &size[0]) &&
			knUrdf_Numbers(reader, child, "length", 1, true, &size[1])) {
			const bool round = strcmp(reader->tree.nodes.items[child].tag, "capsule") == 0;
			geom = round ? knGeom_Capsule(size[0], 0.5 * size[1], allocator, &cause)
						 : knGeom_Cylinder(size[0], 0.5 * size[1], allocator, &cause);
		}
	} else if ((child = knXml_Child(&reader->tree, node, "mesh")) >= 0) {
		return meshGeom(reader, child, looks);
	} else {
		knUrdf_Fail(reader, node, KN_BAD_DATA, "it needs a box, sphere, cylinder, capsule or mesh");
	}
	if (geom == NULL && !reader->failed) {
		knUrdf_FailFrom(reader, child, &cause);
	}
	return geom;
}

// --- shapes ----------------------------------------------------------------------------------------------

static bool materialColor(knUrdf* reader, int visual, uint32_t* color) {
	*color = 0;
	const int material = knXml_Child(&reader->tree, visual, "material");
	if (material < 0) {
		return true;
	}
	const char* name = knXml_Get(&reader->tree, material, "name");
	if (!knUrdf_Color(reader, material, color)) {
		return false;
	}
	if (*color == 0 && name != NULL) {
		const int known = knNameTable_Get(&reader->materials, name);
		*color = known > 0 ? (uint32_t)known : 0;
	}
	return true;
}

static bool addShape(knUrdf* reader, const knUrdfLink* link, int node, knShapeRole role) {
	const knUrdfLink* owner = &reader->links.items[link->owner];
	const bool looks = role == KN_SHAPE_LOOKS;
	const int geometry = knXml_Child(&reader->tree, node, "geometry");
	knShapeDef def = knShapeDef_Default();
	def.role = role;
	def.name = knXml_Get(&reader->tree, node, "name");
	knFrame frame;
	if (geometry < 0) {
		return knUrdf_Fail(reader, node, KN_BAD_DATA, "it needs a <geometry>");
	}
	if (!knUrdf_Origin(reader, node, &frame) || !materialColor(reader, node, &def.color)) {
		return false;
	}
	def.frame = link->owner == (int)(link - reader->links.items) ? frame : knMulF(link->weld, frame);
	knGeom* geom = knUrdf_Geometry(reader, geometry, looks);
	if (geom == NULL) {
		return !reader->failed;
	}
	knError cause = { .status = KN_OK };
	const knShapeId shape = knScene_AddShape(reader->scene, owner->body, geom, &def, &cause);
	knGeom_Release(geom);
	return !KN_ID_IS_NULL(shape) || knUrdf_FailFrom(reader, node, &cause);
}

static bool addAll(knUrdf* reader, const knUrdfLink* link, const char* tag, knShapeRole role) {
	for (int node = knXml_Child(&reader->tree, link->node, tag); node >= 0;
		 node = knXml_Next(&reader->tree, node)) {
		if (!addShape(reader, link, node, role)) {
			return false;
		}
	}
	return true;
}

bool knUrdf_AddShapes(knUrdf* reader) {
	for (int i = 0; i < reader->links.count; ++i) {
		const knUrdfLink* link = &reader->links.items[i];
		// a link without visuals shows what collides
		const bool shown = knXml_Child(&reader->tree, link->node, "visual") >= 0;
		if (!addAll(reader, link, "visual", KN_SHAPE_LOOKS) ||
			!addAll(reader, link, "collision", shown ? KN_SHAPE_HIDDEN : KN_SHAPE_WHOLE)) {
			return false;
		}
	}
	return true;
}
