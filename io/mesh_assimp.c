// Meshes in formats that assimp knows (PLY, DAE, glTF, 3DS, ...): all meshes of the file in the pose that its node tree
// gives them, as one mesh. What comes back is checked like a file's own words.
//
// The node tree is walked with an own stack. Axes are as the file's numbers are: what a format says about "up" is not
// applied, as other readers of robot files do, except where assimp's importer has done it already in the root node.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include "mesh_file.h"

enum { NODES_MOST = 1 << 20 };

typedef struct Pending {
	const struct aiNode* node;
	struct aiMatrix4x4 parent; // of its parent in the world
} Pending;

static knVec3 transformed(const struct aiMatrix4x4* m, struct aiVector3D v, double w) {
	return knV3((double)m->a1 * v.x + (double)m->a2 * v.y + (double)m->a3 * v.z + w * m->a4,
				(double)m->b1 * v.x + (double)m->b2 * v.y + (double)m->b3 * v.z + w * m->b4,
				(double)m->c1 * v.x + (double)m->c2 * v.y + (double)m->c3 * v.z + w * m->c4);
}

static uint32_t colorOf(const struct aiMaterial* material) {
	struct aiColor4D c;
	if (aiGetMaterialColor(material, AI_MATKEY_COLOR_DIFFUSE, &c) != aiReturn_SUCCESS) {
		return 0;
	}
	uint32_t color = 0;
	const float rgb[3] = { c.r, c.g, c.b };
	for (int i = 0; i < 3; ++i) {
		color = color << 8 | (uint32_t)(255.0 * knClamp((double)rgb[i], 0.0, 1.0) + 0.5);
	}
	return color != 0 ? color : 0x010101;
}

static int materialOf(knMeshReader* reader, const struct aiScene* scene, const struct aiMesh* mesh) {
	if (mesh->mMaterialIndex >= scene->mNumMaterials) {
		return -1;
	}
	const struct aiMaterial* material = scene->mMaterials[mesh->mMaterialIndex];
	struct aiString text;
	if (aiGetMaterialString(material, AI_MATKEY_NAME, &text) != aiReturn_SUCCESS) {
		return -1;
	}
	const int index = knMeshReader_Material(reader, text.data);
	if (index >= 0) {
		reader->materials.items[index].color = colorOf(material);
	}
	return index;
}

// A mesh with triangles; those of points and lines are left to `addMesh` to skip.
static bool addFaces(knMeshReader* reader, const struct aiMesh* mesh, int first, int material) {
	for (unsigned f = 0; f < mesh->mNumFaces; ++f) {
		const struct aiFace* face = &mesh->mFaces[f];
		if (face->mNumIndices != 3) {
			continue;
		}
		int corner[3];
		for (int k = 0; k < 3; ++k) {
			if (face->mIndices[k] >= mesh->mNumVertices) {
				return knMeshReader_Fail(reader, KN_BAD_DATA, "face %u names vertex %u of %u", f,
										 face->mIndices[k], mesh->mNumVertices);
			}
			corner[k] = first + (int)face->mIndices[k];
		}
		const knTriangle triangle = { corner[0], corner[1], corner[2] };
		if (!knMeshReader_CheckCount(reader, "triangles", (uint64_t)reader->triangles.count + 1)) {
			return false;
		}
		if (!KN_ARRAY_PUSH(&reader->allocator, &reader->triangles, triangle) ||
			!KN_ARRAY_PUSH(&reader->allocator, &reader->triangleMaterial, material)) {
			return knMeshReader_NoMemory(reader);
		}
	}
	return true;
}

static bool addMesh(knMeshReader* reader, const struct aiScene* scene, const struct aiMesh* mesh,
					const struct aiMatrix4x4* world) {
	const int first = reader->vertices.count;
	if (!knMeshReader_CheckCount(reader, "vertices", (uint64_t)first + mesh->mNumVertices)) {
		return false;
	}
	for (unsigned i = 0; i < mesh->mNumVertices; ++i) {
		const knVec3 v = transformed(world, mesh->mVertices[i], 1.0);
		if (!knIsFinite3(v)) {
			return knMeshReader_Fail(reader, KN_BAD_DATA, "vertex %u is not finite", i);
		}
		if (!KN_ARRAY_PUSH(&reader->allocator, &reader->vertices, v)) {
			return knMeshReader_NoMemory(reader);
		}
	}
	const int material = materialOf(reader, scene, mesh);
	return reader->error.status == KN_OK && addFaces(reader, mesh, first, material);
}

static bool walk(knMeshReader* reader, const struct aiScene* scene) {
	KN_ARRAY(Pending) stack = { 0 };
	Pending root = { .node = scene->mRootNode };
	aiIdentityMatrix4(&root.parent);
	bool ok = KN_ARRAY_PUSH(&reader->allocator, &stack, root) || knMeshReader_NoMemory(reader);
	int visited = 0;
	while (ok && stack.count > 0) {
		const Pending item = stack.items[--stack.count];
		struct aiMatrix4x4 world = item.parent;
		aiMultiplyMatrix4(&world, &item.node->mTransformation);
		for (unsigned i = 0; ok && i < item.node->mNumMeshes; ++i) {
			const unsigned index = item.node->mMeshes[i];
			ok = index >= scene->mNumMeshes || addMesh(reader, scene, scene->mMeshes[index], &world);
		}
		if (ok && ++visited > NODES_MOST) {
			ok = knMeshReader_Fail(reader, KN_LIMIT, "the file has more than %d nodes", NODES_MOST);
		}
		for (unsigned i = item.node->mNumChildren; ok && i > 0; --i) {
			const Pending child = { item.node->mChildren[i - 1], world };
			ok = KN_ARRAY_PUSH(&reader->allocator, &stack, child) || knMeshReader_NoMemory(reader);
		}
	}
	KN_ARRAY_FREE(&reader->allocator, &stack);
	return ok;
}

// assimp takes the memory that the head of a .glb asks for before it looks for the bytes.
bool knGlb_IsWhole(const char* name, const void* bytes, uint64_t size) {
	const char* dot = strrchr(name, '.');
	const unsigned char* b = bytes;
	if (dot == NULL || strcasecmp(dot, ".glb") != 0) {
		return true;
	}
	return size >= 12 &&
		   ((uint32_t)b[8] | (uint32_t)b[9] << 8 | (uint32_t)b[10] << 16 | (uint32_t)b[11] << 24) <= size;
}

bool knMeshAssimp_Read(knMeshReader* reader) {
	const char* dot = strrchr(reader->name, '.');
	const char* ending = dot != NULL ? dot + 1 : "";
	if (aiIsExtensionSupported(dot != NULL ? dot : "") != AI_TRUE) {
		return knMeshReader_Fail(reader, KN_UNSUPPORTED, "a mesh in '.%.20s' is not understood", ending);
	}
	if (!knGlb_IsWhole(reader->name, reader->bytes, reader->size)) {
		return knMeshReader_Fail(reader, KN_BAD_DATA, "the file is shorter than its first 12 bytes say");
	}
	const unsigned flags = aiProcess_Triangulate | aiProcess_JoinIdenticalVertices | aiProcess_SortByPType;
	struct aiPropertyStore* store = aiCreatePropertyStore();
	aiSetImportPropertyInteger(store, AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, 1);
	// by its name, so that a .gltf finds the files beside it
	const struct aiScene* scene =
		reader->fromMemory ? aiImportFileFromMemoryWithProperties(reader->bytes, (unsigned)reader->size,
																  flags, ending, store)
						   : aiImportFileExWithProperties(reader->name, flags, NULL, store);
	aiReleasePropertyStore(store);
	if (scene == NULL || scene->mRootNode == NULL) {
		aiReleaseImport(scene);
		return knMeshReader_Fail(reader, KN_BAD_DATA, "%.300s", aiGetErrorString());
	}
	const bool ok = walk(reader, scene);
	aiReleaseImport(scene);
	return ok;
}
