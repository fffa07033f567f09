// Nodes, meshes and the first animation of a file that assimp reads, copied as they are; animated_set.c makes a scene of them.
#include <stdio.h>
#include <string.h>

#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include "mesh_file.h"
#include "set_file.h"

typedef struct Pending {
	const struct aiNode* node;
	int parent;
} Pending;

static knVec3 vectorOf(struct aiVector3D v) {
	return knV3((double)v.x, (double)v.y, (double)v.z);
}

static bool keepMesh(knSetReader* reader, const struct aiScene* scene, unsigned index, int node) {
	const struct aiMesh* mesh = scene->mMeshes[index];
	knSetMesh out = { .node = node,
					  .firstVertex = reader->vertices.count,
					  .vertexCount = (int)mesh->mNumVertices,
					  .firstTriangle = reader->triangles.count };
	struct aiColor4D c;
	if (mesh->mMaterialIndex < scene->mNumMaterials &&
		aiGetMaterialColor(scene->mMaterials[mesh->mMaterialIndex], AI_MATKEY_COLOR_DIFFUSE, &c) ==
			aiReturn_SUCCESS) {
		const float rgb[3] = { c.r, c.g, c.b };
		for (int i = 0; i < 3; ++i) {
			out.color = out.color << 8 | (uint32_t)(255.0 * knClamp((double)rgb[i], 0.0, 1.0) + 0.5);
		}
		out.color = out.color != 0 ? out.color : 0x010101;
	}
	if ((uint64_t)reader->vertices.count + mesh->mNumVertices > KN_SET_KEYS_MAX) {
		return knSetReader_Fail(reader, KN_LIMIT, "the file has more than %d vertices", KN_SET_KEYS_MAX);
	}
	for (unsigned i = 0; i < mesh->mNumVertices; ++i) {
		const knVec3 v = vectorOf(mesh->mVertices[i]);
		if (!knIsFinite3(v)) {
			return knSetReader_Fail(reader, KN_BAD_DATA, "a vertex of mesh %u is not finite", index);
		}
		if (!KN_ARRAY_PUSH(&reader->allocator, &reader->vertices, v)) {
			return knSetReader_NoMemory(reader);
		}
	}
	for (unsigned f = 0; f < mesh->mNumFaces; ++f) {
		const struct aiFace* face = &mesh->mFaces[f];
		if (face->mNumIndices != 3) {
			continue;
		}
		const unsigned* at = face->mIndices;
		if (at[0] >= mesh->mNumVertices || at[1] >= mesh->mNumVertices || at[2] >= mesh->mNumVertices) {
			return knSetReader_Fail(reader, KN_BAD_DATA, "face %u of mesh %u names no vertex", f, index);
		}
		const knTriangle triangle = { (int)at[0], (int)at[1], (int)at[2] };
		if (!KN_ARRAY_PUSH(&reader->allocator, &reader->triangles, triangle)) {
			return knSetReader_NoMemory(reader);
		}
	}
	out.triangleCount = reader->triangles.count - out.firstTriangle;
	return KN_ARRAY_PUSH(&reader->allocator, &reader->meshes, out) || knSetReader_NoMemory(reader);
}

static bool keepNode(knSetReader* reader, const Pending* item, int* index) {
	struct aiVector3D scale, position;
	struct aiQuaternion rotation;
	aiDecomposeMatrix(&item->node->mTransformation, &scale, &rotation, &position);
	knSetNode node = { .parent = item->parent,
					   .position = vectorOf(position),
					   .scale = vectorOf(scale),
					   .rotation = knQ((double)rotation.w, (double)rotation.x, (double)rotation.y,
									   (double)rotation.z),
					   .mover = -1 };
	*index = reader->motion->nodes.count;
	if (*index >= KN_SET_NODES_MAX) {
		return knSetReader_Fail(reader, KN_LIMIT, "the file has more than %d nodes", KN_SET_NODES_MAX);
	}
	node.name = knCopyString(&reader->allocator, item->node->mName.data);
	if (node.name == NULL || !KN_ARRAY_PUSH(&reader->allocator, &reader->motion->nodes, node)) {
		knFreeString(&reader->allocator, (char*)node.name);
		return knSetReader_NoMemory(reader);
	}
	return true;
}

static bool walk(knSetReader* reader, const struct aiScene* scene) {
	KN_ARRAY(Pending) stack = { 0 };
	const Pending root = { scene->mRootNode, -1 };
	bool ok = KN_ARRAY_PUSH(&reader->allocator, &stack, root) || knSetReader_NoMemory(reader);
	while (ok && stack.count > 0) {
		const Pending item = stack.items[--stack.count];
		int index = -1;
		ok = keepNode(reader, &item, &index);
		for (unsigned i = 0; ok && i < item.node->mNumMeshes; ++i) {
			ok = item.node->mMeshes[i] >= scene->mNumMeshes ||
				 keepMesh(reader, scene, item.node->mMeshes[i], index);
		}
		for (unsigned i = item.node->mNumChildren; ok && i > 0; --i) {
			const Pending child = { item.node->mChildren[i - 1], index };
			ok = KN_ARRAY_PUSH(&reader->allocator, &stack, child) || knSetReader_NoMemory(reader);
		}
	}
	KN_ARRAY_FREE(&reader->allocator, &stack);
	return ok;
}

// --- keys ----------------------------------------------------------------------------------------------------

static bool pushKey(knSetReader* reader, double time, const double value[4]) {
	const knSetKey key = { time, { value[0], value[1], value[2], value[3] } };
	if (!knIsFinite(time + value[0] + value[1] + value[2] + value[3])) {
		return knSetReader_Fail(
			reader, KN_BAD_DATA,
			"a key of the animation is not finite (assimp reads no rotations kept as integers)");
	}
	if (reader->motion->keys.count >= KN_SET_KEYS_MAX) {
		return knSetReader_Fail(reader, KN_LIMIT, "the animation has more than %d keys", KN_SET_KEYS_MAX);
	}
	return KN_ARRAY_PUSH(&reader->allocator, &reader->motion->keys, key) || knSetReader_NoMemory(reader);
}

static bool keepVectors(knSetReader* reader, const struct aiVectorKey* keys, unsigned count, double tick,
						knSetTrack* track) {
	*track = (knSetTrack){ reader->motion->keys.count, (int)count };
	for (unsigned i = 0; i < count; ++i) {
		const struct aiVector3D v = keys[i].mValue;
		const double value[4] = { (double)v.x, (double)v.y, (double)v.z, 0.0 };
		if (!pushKey(reader, keys[i].mTime * tick, value)) {
			return false;
		}
	}
	return true;
}

static bool keepRotations(knSetReader* reader, const struct aiQuatKey* keys, unsigned count, double tick,
						  knSetTrack* track) {
	*track = (knSetTrack){ reader->motion->keys.count, (int)count };
	for (unsigned i = 0; i < count; ++i) {
		const struct aiQuaternion q = keys[i].mValue;
		const double value[4] = { (double)q.w, (double)q.x, (double)q.y, (double)q.z };
		if (!pushKey(reader, keys[i].mTime * tick, value)) {
			return false;
		}
	}
	return true;
}

static bool keepAnimation(knSetReader* reader, const struct aiAnimation* animation) {
	const double tick = animation->mTicksPerSecond > 0.0 ? 1.0 / animation->mTicksPerSecond : 1.0;
	for (unsigned c = 0; c < animation->mNumChannels; ++c) {
		const struct aiNodeAnim* channel = animation->mChannels[c];
		for (int i = 0; i < reader->motion->nodes.count; ++i) {
			knSetNode* node = &reader->motion->nodes.items[i];
			if (strcmp(node->name, channel->mNodeName.data) != 0) {
				continue;
			}
			node->animated = true;
			if (!keepVectors(reader, channel->mPositionKeys, channel->mNumPositionKeys, tick,
							 &node->positions) ||
				!keepRotations(reader, channel->mRotationKeys, channel->mNumRotationKeys, tick,
							   &node->rotations) ||
				!keepVectors(reader, channel->mScalingKeys, channel->mNumScalingKeys, tick, &node->scales)) {
				return false;
			}
			break;
		}
	}
	return true;
}

static bool isWhole(const char* path) {
	unsigned char head[12] = { 0 };
	FILE* file = fopen(path, "rb");
	if (file == NULL) {
		return true; // assimp says why
	}
	const size_t got = fread(head, 1, sizeof head, file);
	const long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : (long)got;
	fclose(file);
	return knGlb_IsWhole(path, head, got < sizeof head || size < 0 ? got : (uint64_t)size);
}

bool knSetAssimp_Read(knSetReader* reader) {
	if (!isWhole(reader->name)) {
		return knSetReader_Fail(reader, KN_BAD_DATA, "the file is shorter than its first 12 bytes say");
	}
	const unsigned flags = aiProcess_Triangulate | aiProcess_JoinIdenticalVertices | aiProcess_SortByPType;
	const struct aiScene* scene = aiImportFile(reader->name, flags);
	if (scene == NULL || scene->mRootNode == NULL) {
		aiReleaseImport(scene);
		return knSetReader_Fail(reader, KN_BAD_DATA, "%.300s", aiGetErrorString());
	}
	bool ok = walk(reader, scene);
	if (ok && scene->mNumAnimations > 0) {
		ok = keepAnimation(reader, scene->mAnimations[0]);
	}
	aiReleaseImport(scene);
	return ok;
}
