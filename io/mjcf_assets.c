// Meshes: from files or inline numbers, read when a geom first needs them.
//
// Mass, as MuJoCo counts it. exact: the signed tetrahedra between the origin and the triangles. legacy (its default): the
// same with the tetrahedra's apex in the middle of the surface and all volumes positive, which counts parts of a nonconvex
// solid twice and does not ask for a closed surface. convex: of the hull. shell: of the surface, one unit of mass an area.
//
//   tetrahedron (c, p0, p1, p2)    V = det(p0 - c, p1 - c, p2 - c)/6
//   centre of mass                 c + (a + b + d)/4          a, b, d: the corners seen from c
//   second moments about c         V/20 sum over pairs (i <= j) of products
#include "mjcf.h"

#include <string.h>

static bool failMesh(knMjcf* reader, const knMjcfMesh* mesh, const char* sentence) {
	return knMjcf_Fail(reader, &mesh->element, "mesh", KN_BAD_DATA, "%s", sentence);
}

// --- reading -----------------------------------------------------------------------------------------------

// Inline vertices and faces.
static bool readInline(knMjcf* reader, const knMjcfMesh* mesh, knMjcfMeshData* data) {
	const knMjcfNumbers* vertex = &mesh->vertex;
	const knMjcfNumbers* face = &mesh->face;
	if (vertex->count < 12 || vertex->count % 3 != 0 || face->count % 3 != 0) {
		return failMesh(reader, mesh,
						"it needs three numbers for each of at least four vertices, and for each face");
	}
	data->vertexCount = vertex->count / 3;
	data->triangleCount = face->count / 3;
	data->vertices = KN_SCRATCH(&reader->arena, knVec3, data->vertexCount);
	data->triangles = KN_SCRATCH(&reader->arena, knTriangle, data->triangleCount);
	if (data->vertices == NULL || data->triangles == NULL) {
		return knMjcf_NoMemory(reader);
	}
	for (int i = 0; i < data->vertexCount; ++i) {
		const double* v = &vertex->items[3 * i];
		data->vertices[i] = knV3(v[0], v[1], v[2]);
	}
	for (int i = 0; i < face->count; ++i) {
		if (!(face->items[i] >= 0.0 && face->items[i] < data->vertexCount)) {
			return failMesh(reader, mesh, "a face names a vertex that there is not");
		}
	}
	for (int i = 0; i < data->triangleCount; ++i) {
		const double* f = &face->items[3 * i];
		data->triangles[i] = (knTriangle){ (int)f[0], (int)f[1], (int)f[2] };
	}
	return true;
}

const char* knMjcf_BaseName(const char* path) {
	const char* slash = strrchr(path, '/');
	return slash != NULL ? slash + 1 : path;
}

static bool readFile(knMjcf* reader, const knMjcfMesh* mesh, knMjcfMeshData* data) {
	const knMjcfCompiler* compiler = knMjcf_Compiler(reader, &mesh->element);
	const char* folder = compiler->meshFolder != NULL ? compiler->meshFolder : compiler->assetFolder;
	const char* path = knMjcf_Path(reader, &mesh->element, "mesh", folder,
								   compiler->stripPath ? knMjcf_BaseName(mesh->file) : mesh->file);
	if (path == NULL) {
		return false;
	}
	knMeshFile file;
	knError cause = { .status = KN_OK };
	if (knMeshFile_Load(path, &reader->allocator, &file, &cause) != KN_OK) {
		return knMjcf_Fail(reader, &mesh->element, "mesh", cause.status, "file '%.80s': %.120s", path,
						   cause.message);
	}
	data->vertexCount = file.vertexCount;
	data->triangleCount = file.triangleCount;
	data->vertices = KN_SCRATCH(&reader->arena, knVec3, file.vertexCount);
	data->triangles = KN_SCRATCH(&reader->arena, knTriangle, file.triangleCount);
	const bool ok = data->vertices != NULL && data->triangles != NULL;
	if (ok) {
		memcpy(data->vertices, file.vertices, (size_t)file.vertexCount * sizeof(knVec3));
		memcpy(data->triangles, file.triangles, (size_t)file.triangleCount * sizeof(knTriangle));
	}
	knMeshFile_Free(&file);
	return ok || knMjcf_NoMemory(reader);
}

// MuJoCo: the mesh moves into the frame refpos, refquat, then it is scaled; mirrored triangles turn round.
static bool placeMesh(knMjcf* reader, const knMjcfMesh* mesh, knMjcfMeshData* data) {
	knQuat q;
	const knVec3 s = mesh->scale;
	if (!knMjcf_UnitQuat(mesh->refQuat, &q)) {
		return failMesh(reader, mesh, "its refquat has no length");
	}
	if (!(s.x * s.y * s.z != 0.0)) {
		return failMesh(reader, mesh, "a scale of it is zero");
	}
	for (int i = 0; i < data->vertexCount; ++i) {
		const knVec3 v = knInvRotate(q, knSub(data->vertices[i], mesh->refPos));
		data->vertices[i] = knV3(v.x * s.x, v.y * s.y, v.z * s.z);
	}
	for (int i = 0; i < data->triangleCount && s.x * s.y * s.z < 0.0; ++i) {
		const int b = data->triangles[i].b;
		data->triangles[i].b = data->triangles[i].c;
		data->triangles[i].c = b;
	}
	return true;
}

static bool readMesh(knMjcf* reader, knMjcfMesh* mesh) {
	knMjcfMeshData* data = KN_SCRATCH_ZERO(&reader->arena, knMjcfMeshData, 1);
	if (data == NULL) {
		return knMjcf_NoMemory(reader);
	}
	if (mesh->file == NULL && mesh->vertex.count == 0) {
		return failMesh(reader, mesh, "it has neither file nor vertex");
	}
	const bool ok = mesh->file != NULL ? readFile(reader, mesh, data) : readInline(reader, mesh, data);
	if (!ok || !placeMesh(reader, mesh, data)) {
		return false;
	}
	mesh->data = data;
	return true;
}

knMjcfMesh* knMjcf_FindMesh(knMjcf* reader, const knMjcfElement* element, const char* name) {
	const int index = name != NULL ? knNameTable_Get(&reader->meshNames, name) : -1;
	if (index < 0) {
		const char* suggestion = name == NULL
									 ? ""
									 : knMjcf_SuggestElement(reader, name, reader->meshes.items,
															 reader->meshes.count, sizeof(knMjcfMesh));
		knMjcf_Fail(reader, element, "geom", KN_BAD_DATA, "there is no mesh named '%.60s'%s",
					name != NULL ? name : "", suggestion);
		return NULL;
	}
	knMjcfMesh* mesh = &reader->meshes.items[index];
	return mesh->data != NULL || readMesh(reader, mesh) ? mesh : NULL;
}

knGeom* knMjcf_MeshHull(knMjcf* reader, const knMjcfElement* element, knMjcfMesh* mesh) {
	knMjcfMeshData* data = mesh->data;
	if (data->hull == NULL) {
		knError cause = { .status = KN_OK };
		// the hull of the hull's own corners: what a written file holds gives the same triangles again
		knGeom* first = knGeom_Hull(data->vertices, data->vertexCount, &reader->allocator, &cause);
		if (first != NULL) {
			int count;
			const knVec3* points = knGeom_Vertices(first, &count);
			data->hull = knGeom_Hull(points, count, &reader->allocator, &cause);
			knGeom_Release(first);
		}
		if (data->hull == NULL) {
			knMjcf_Fail(reader, element, "geom", cause.status, "mesh '%.60s': %.150s", mesh->element.name,
						cause.message);
			return NULL;
		}
	}
	knGeom_Retain(data->hull);
	return data->hull;
}

knGeom* knMjcf_MeshSolid(knMjcf* reader, const knMjcfElement* element, knMjcfMesh* mesh) {
	knMjcfMeshData* data = mesh->data;
	if (!reader->exactMeshes || data->open || data->triangleCount == 0) {
		return knMjcf_MeshHull(reader, element, mesh);
	}
	if (data->solid == NULL) {
		knMeshDef def = knMeshDef_Default();
		knError cause = { .status = KN_OK };
		def.vertices = data->vertices;
		def.vertexCount = data->vertexCount;
		def.triangles = data->triangles;
		def.triangleCount = data->triangleCount;
		data->solid = knGeom_Mesh(&def, &reader->allocator, &cause);
		if (data->solid == NULL && cause.status == KN_NO_MEMORY) {
			knMjcf_NoMemory(reader);
			return NULL;
		}
	}
	if (data->solid == NULL) {
		data->open = true;
		knMjcf_Approximate(reader, element, "<geom> mesh '%.60s' is not closed; its hull collides",
						   mesh->element.name);
		return knMjcf_MeshHull(reader, element, mesh);
	}
	knGeom_Retain(data->solid);
	return data->solid;
}

knGeom* knMjcf_MeshAsItIs(knMjcf* reader, const knMjcfElement* element, knMjcfMesh* mesh) {
	knMjcfMeshData* data = mesh->data;
	if (data->solid == NULL) {
		knMeshDef def = knMeshDef_Default();
		knError cause = { .status = KN_OK };
		def.vertices = data->vertices;
		def.vertexCount = data->vertexCount;
		def.triangles = data->triangles;
		def.triangleCount = data->triangleCount;
		def.solid = mesh->collides == KN_MJCF_MESH_SOLID;
		def.tolerance = mesh->tolerance;
		data->solid = knGeom_Mesh(&def, &reader->allocator, &cause);
		if (data->solid == NULL) {
			knMjcf_Fail(reader, element, "geom", cause.status, "mesh '%.60s': %.150s", mesh->element.name,
						cause.message);
			return NULL;
		}
	}
	knGeom_Retain(data->solid);
	return data->solid;
}

// What only shows is no reason to refuse a model: a mesh that cannot be read is noted.
static knMjcfMesh* findVisual(knMjcf* reader, const knMjcfGeom* geom) {
	knMjcfMesh* mesh = knMjcf_FindMesh(reader, &geom->element, geom->mesh);
	if (mesh == NULL && reader->error.status != KN_NO_MEMORY) {
		reader->failed = false;
		reader->error = (knError){ .status = KN_OK };
		knMjcf_Note(reader, &geom->element, "<geom> mesh '%.60s' cannot be read, and is not shown",
					geom->mesh != NULL ? geom->mesh : "");
	}
	return mesh;
}

knGeom* knMjcf_MeshSurface(knMjcf* reader, const knMjcfGeom* geom) {
	const knMjcfMesh* mesh = findVisual(reader, geom);
	if (mesh == NULL) {
		return NULL;
	}
	knMjcfMeshData* data = mesh->data;
	if (data->surface == NULL && data->triangleCount > 0) {
		knMeshDef def = knMeshDef_Default();
		knError cause = { .status = KN_OK };
		def.solid = false;
		def.vertices = data->vertices;
		def.vertexCount = data->vertexCount;
		def.triangles = data->triangles;
		def.triangleCount = data->triangleCount;
		data->surface = knGeom_Mesh(&def, &reader->allocator, &cause);
		if (data->surface == NULL && cause.status == KN_NO_MEMORY) {
			knMjcf_NoMemory(reader);
			return NULL;
		}
	}
	if (data->surface == NULL) {
		knMjcf_Note(reader, &geom->element, "<geom> mesh '%.60s' is no surface, and is not shown",
					geom->mesh);
		return NULL;
	}
	knGeom_Retain(data->surface);
	return data->surface;
}

void knMjcf_FreeMeshes(knMjcf* reader) {
	for (int i = 0; i < reader->meshes.count; ++i) {
		const knMjcfMeshData* data = reader->meshes.items[i].data;
		if (data != NULL && data->hull != NULL) {
			knGeom_Release(data->hull);
		}
		if (data != NULL && data->surface != NULL) {
			knGeom_Release(data->surface);
		}
		if (data != NULL && data->solid != NULL) {
			knGeom_Release(data->solid);
		}
	}
}

// --- masses ------------------------------------------------------------------------------------------------

// Sums of volume, of volume times place, and of second moments about the origin.
typedef struct Moments {
	double volume;
	knVec3 first;
	double second[6]; // xx yy zz xy xz yz
} Moments;

static void addProducts(double second[6], double weight, knVec3 a, knVec3 b) {
	second[0] += weight * 2.0 * a.x * b.x;
	second[1] += weight * 2.0 * a.y * b.y;
	second[2] += weight * 2.0 * a.z * b.z;
	second[3] += weight * (a.x * b.y + a.y * b.x);
	second[4] += weight * (a.x * b.z + a.z * b.x);
	second[5] += weight * (a.y * b.z + a.z * b.y);
}

static void addTetrahedron(Moments* sums, const knVec3 p[3], double volume) {
	const knVec3 whole = knAdd(p[0], knAdd(p[1], p[2]));
	sums->volume += volume;
	sums->first = knMulAdd(sums->first, 0.25 * volume, whole);
	// V/20 (s s^T + sum p p^T), s the sum of the corners; addProducts counts each product twice
	addProducts(sums->second, volume / 40.0, whole, whole);
	for (int i = 0; i < 3; ++i) {
		addProducts(sums->second, volume / 40.0, p[i], p[i]);
	}
}

static void addTriangle(Moments* sums, const knVec3 p[3], double area) {
	const knVec3 whole = knAdd(p[0], knAdd(p[1], p[2]));
	sums->volume += area;
	sums->first = knMulAdd(sums->first, area / 3.0, whole);
	// A/12 (s s^T + sum p p^T)
	addProducts(sums->second, area / 24.0, whole, whole);
	for (int i = 0; i < 3; ++i) {
		addProducts(sums->second, area / 24.0, p[i], p[i]);
	}
}

static void corners(const knMjcfMeshData* data, int t, knVec3 apex, knVec3 p[3]) {
	p[0] = knSub(data->vertices[data->triangles[t].a], apex);
	p[1] = knSub(data->vertices[data->triangles[t].b], apex);
	p[2] = knSub(data->vertices[data->triangles[t].c], apex);
}

static double areaOf(const knVec3 p[3]) {
	return 0.5 * knLength(knCross(knSub(p[1], p[0]), knSub(p[2], p[0])));
}

// The middle of the surface.
static knVec3 surfaceCenter(const knMjcfMeshData* data) {
	knVec3 sum = knZero3();
	double area = 0.0;
	for (int t = 0; t < data->triangleCount; ++t) {
		knVec3 p[3];
		corners(data, t, knZero3(), p);
		const double own = areaOf(p);
		sum = knMulAdd(sum, own / 3.0, knAdd(p[0], knAdd(p[1], p[2])));
		area += own;
	}
	return area > 0.0 ? knScale(1.0 / area, sum) : knZero3();
}

static knMassProps propsOf(const Moments* sums, knVec3 apex) {
	knMassProps props = { .mass = sums->volume, .center = knZero3() };
	const knVec3 c = knScale(1.0 / sums->volume, sums->first);
	double m[6];
	memcpy(m, sums->second, sizeof m);
	addProducts(m, -0.5 * sums->volume, c, c);
	props.center = knAdd(apex, c);
	props.inertia = knMakeMat33(knV3(m[1] + m[2], -m[3], -m[4]), knV3(-m[3], m[0] + m[2], -m[5]),
								knV3(-m[4], -m[5], m[0] + m[1]));
	return props;
}

static bool weighHull(knMjcf* reader, const knMjcfElement* element, knMjcfMesh* mesh) {
	knGeom* hull = knMjcf_MeshHull(reader, element, mesh);
	if (hull == NULL) {
		return false;
	}
	mesh->data->unit = knGeom_MassProps(hull, 1.0);
	knGeom_Release(hull);
	return true;
}

const knMassProps* knMjcf_MeshMass(knMjcf* reader, const knMjcfElement* element, knMjcfMesh* mesh) {
	knMjcfMeshData* data = mesh->data;
	if (data->weighed) {
		return &data->unit;
	}
	const bool chosen = knMjcf_Given(&mesh->element, KN_MJCF_MESH_INERTIA);
	const bool exact = chosen ? mesh->inertia == KN_MJCF_MESH_EXACT
							  : knMjcf_Compiler(reader, &mesh->element)->exactInertia != 0;
	// points alone have a hull and nothing else
	if ((chosen && mesh->inertia == KN_MJCF_MESH_CONVEX) || data->triangleCount == 0) {
		data->weighed = weighHull(reader, element, mesh);
		return data->weighed ? &data->unit : NULL;
	}
	Moments sums = { .volume = 0.0 };
	const knVec3 apex = exact ? knZero3() : surfaceCenter(data);
	for (int t = 0; t < data->triangleCount; ++t) {
		knVec3 p[3];
		corners(data, t, apex, p);
		if (chosen && mesh->inertia == KN_MJCF_MESH_SHELL) {
			addTriangle(&sums, p, areaOf(p));
		} else {
			const double volume = knDot(p[0], knCross(p[1], p[2])) / 6.0;
			addTetrahedron(&sums, p, exact ? volume : knAbs(volume));
		}
	}
	if (!(sums.volume > 0.0)) {
		knMjcf_Fail(reader, element, "geom", KN_BAD_DATA, "mesh '%.60s' has no volume to weigh",
					mesh->element.name);
		return NULL;
	}
	data->unit = propsOf(&sums, apex);
	data->weighed = true;
	return &data->unit;
}

// --- primitives fitted to a mesh ---------------------------------------------------------------------------

// Half extents of the box with this mass and these moments of inertia.
static knVec3 inertiaBox(double mass, knVec3 moments) {
	const double x = moments.x, y = moments.y, z = moments.z, k = 6.0 / mass;
	return knV3(0.5 * sqrt(knMax(k * (y + z - x), 0.0)), 0.5 * sqrt(knMax(k * (x + z - y), 0.0)),
				0.5 * sqrt(knMax(k * (x + y - z), 0.0)));
}

// Box about the vertices in the axes of `frame`, whose origin moves to its middle.
static knVec3 vertexBox(const knMjcfMeshData* data, knFrame* frame) {
	knAabb box = { knV3(INFINITY, INFINITY, INFINITY), knV3(-INFINITY, -INFINITY, -INFINITY) };
	for (int i = 0; i < data->vertexCount; ++i) {
		const knVec3 p = knInvRotate(frame->q, knSub(data->vertices[i], frame->p));
		box.lower = knMin3(box.lower, p);
		box.upper = knMax3(box.upper, p);
	}
	frame->p = knPoint(*frame, knScale(0.5, knAdd(box.lower, box.upper)));
	return knScale(0.5, knSub(box.upper, box.lower));
}

// The principal axes with the largest moment along x, the smallest along z: the solid is longest along z.
static knQuat principalAxes(const knMat33* inertia, knVec3* moments) {
	knQuat q = knDiagonalize33(inertia, moments);
	double m[3] = { moments->x, moments->y, moments->z };
	int order[3] = { 0, 1, 2 };
	for (int i = 0; i < 2; ++i) {
		for (int k = 0; k < 2 - i; ++k) {
			if (m[order[k]] < m[order[k + 1]]) {
				const int swap = order[k];
				order[k] = order[k + 1];
				order[k + 1] = swap;
			}
		}
	}
	knVec3 axes[3];
	for (int i = 0; i < 3; ++i) {
		axes[i] = knZero3();
		knSetComponent(&axes[i], order[i], 1.0);
		axes[i] = knRotate(q, axes[i]);
	}
	*moments = knV3(m[order[0]], m[order[1]], m[order[2]]);
	return knMjcf_QuatFromXZ(axes[0], axes[2]);
}

bool knMjcf_FitMesh(knMjcf* reader, const knMjcfGeom* geom, knMjcfMesh* mesh, double size[3],
					knFrame* frame) {
	const knMassProps* props = knMjcf_MeshMass(reader, &geom->element, mesh);
	if (props == NULL) {
		return false;
	}
	knVec3 moments;
	frame->p = props->center;
	frame->q = principalAxes(&props->inertia, &moments);
	const bool byBox = knMjcf_Compiler(reader, &geom->element)->fitBox != 0;
	const knVec3 box = byBox ? vertexBox(mesh->data, frame) : inertiaBox(props->mass, moments);
	double s[3] = { box.x, box.y, box.z };
	if (geom->type == KN_MJCF_SPHERE) {
		s[0] = byBox ? knMax(box.x, knMax(box.y, box.z)) : (box.x + box.y + box.z) / 3.0;
	} else if (geom->type == KN_MJCF_CAPSULE) {
		s[0] = byBox ? knMax(box.x, box.y) : 0.5 * (box.x + box.y);
		s[1] = knMax(byBox ? box.z - s[0] : box.z - 0.5 * s[0], 0.0);
	} else if (geom->type == KN_MJCF_CYLINDER) {
		s[0] = byBox ? knMax(box.x, box.y) : 0.5 * (box.x + box.y);
		s[1] = box.z;
	}
	for (int i = 0; i < 3; ++i) {
		size[i] = geom->fitScale * s[i];
	}
	return true;
}
