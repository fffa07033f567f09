// Geoms: sizes and frames, materials, filters; and the masses of bodies.
//
// MuJoCo lets two geoms touch if (contype1 & conaffinity2) || (contype2 & conaffinity1); knFilter asks for both sides
// to agree. So every distinct (contype, conaffinity) becomes a category of its own, and its mask holds the categories
// that MuJoCo's rule lets it touch; the rule is symmetric, so both sides always agree.
//
// Mass of a body: its <inertial>, else the sum of its geoms (`mass`, else density times volume), as inertiafromgeom
// says; parts welded to it are added.
#include "mjcf.h"
#include "model/scene_internal.h"

enum { MAX_CLASSES = 64, FIRST_HIDDEN_GROUP = 3 };

static bool failGeom(knMjcf* reader, const knMjcfGeom* geom, const char* sentence) {
	return knMjcf_Fail(reader, &geom->element, "geom", KN_BAD_DATA, "%s", sentence);
}

// --- sizes -----------------------------------------------------------------------------------------------

// `fromto` replaces place, direction and length; as in MuJoCo the geom's z axis points from the second point to the
// first, and a box or an ellipsoid is as deep as it is wide.
static bool applyFromTo(knMjcf* reader, const knMjcfGeom* geom, knFrame* frame, double size[3]) {
	const bool round = geom->type == KN_MJCF_CAPSULE || geom->type == KN_MJCF_CYLINDER;
	if (!round && geom->type != KN_MJCF_BOX && geom->type != KN_MJCF_ELLIPSOID) {
		return failGeom(reader, geom, "fromto is for capsules, cylinders, boxes and ellipsoids");
	}
	if (knLengthSquared(geom->element.pos) > 0.0) {
		return failGeom(reader, geom, "it has pos and fromto; give one of them");
	}
	knVec3 from = knV3(geom->fromto[0], geom->fromto[1], geom->fromto[2]);
	knVec3 to = knV3(geom->fromto[3], geom->fromto[4], geom->fromto[5]);
	knVec3 along = knSub(from, to);
	double length = knLength(along);
	if (!(length > 1e-12) || !knIsFinite(length)) {
		return failGeom(reader, geom, "the two points of fromto are too close");
	}
	frame->p = knScale(0.5, knAdd(from, to));
	frame->q = knQuat_Between(knV3(0.0, 0.0, 1.0), knScale(1.0 / length, along));
	if (round) {
		size[1] = 0.5 * length;
	} else {
		size[1] = size[0];
		size[2] = 0.5 * length;
	}
	return true;
}

static bool planSize(knMjcf* reader, const knMjcfGeom* geom, knFrame* frame, double size[3]) {
	static const int needed[] = { 1, 2, 3, 0, 2, 3 };
	const bool fromto = knMjcf_Given(&geom->element, KN_MJCF_GEOM_FROMTO);
	const int need = fromto ? 1 : needed[geom->type];
	if (geom->sizeCount < need) {
		return knMjcf_Fail(reader, &geom->element, "geom", KN_BAD_DATA, "size has %d numbers; a %s needs %d",
						   geom->sizeCount, knMjcfGeomWords[geom->type], need);
	}
	for (int i = 0; i < 3; ++i) {
		size[i] = i < geom->sizeCount ? geom->size[i] : 0.0;
		if (i < need && !(size[i] > 0.0)) {
			return knMjcf_Fail(reader, &geom->element, "geom", KN_BAD_DATA, "size is %g; it must be positive",
							   size[i]);
		}
	}
	frame->p = geom->element.pos;
	return knMjcf_Orientation(reader, &geom->element, "geom", &frame->q) &&
		   (!fromto || applyFromTo(reader, geom, frame, size));
}

// A primitive that stands for a mesh: as large as it, where it is.
static bool planFitted(knMjcf* reader, const knMjcfGeom* geom, knFrame* frame, double size[3]) {
	if (geom->type == KN_MJCF_PLANE) {
		return failGeom(reader, geom, "a plane cannot be fitted to a mesh");
	}
	knMjcfMesh* mesh = knMjcf_FindMesh(reader, &geom->element, geom->mesh);
	knFrame fitted;
	if (mesh == NULL || !knMjcf_FitMesh(reader, geom, mesh, size, &fitted)) {
		return false;
	}
	frame->p = geom->element.pos;
	if (!knMjcf_Orientation(reader, &geom->element, "geom", &frame->q)) {
		return false;
	}
	*frame = knMulF(*frame, fitted);
	return true;
}

static knGeom* makeGeom(const knMjcf* reader, int type, const double size[3], knError* error) {
	switch (type) {
	case KN_MJCF_SPHERE:
		return knGeom_Sphere(size[0], &reader->allocator, error);
	case KN_MJCF_CAPSULE:
		// one fitted to a mesh may have no length
		return size[1] == 0.0 ? knGeom_Sphere(size[0], &reader->allocator, error)
							  : knGeom_Capsule(size[0], size[1], &reader->allocator, error);
	case KN_MJCF_BOX:
		return knGeom_Box(knV3(size[0], size[1], size[2]), &reader->allocator, error);
	case KN_MJCF_CYLINDER:
		return knGeom_Cylinder(size[0], size[1], &reader->allocator, error);
	case KN_MJCF_ELLIPSOID:
		return knGeom_Ellipsoid(knV3(size[0], size[1], size[2]), &reader->allocator, error);
	default:
		return knGeom_Plane(&reader->allocator, error);
	}
}

// --- materials -------------------------------------------------------------------------------------------

// A frictionless geom (condim 1) has friction 0; only with condim 6 does MuJoCo use the rolling coefficient.
static bool planMaterial(knMjcf* reader, const knMjcfGeom* geom, knMjcfShape* shape) {
	knShapeDef* def = &shape->def;
	if (geom->condim != 1 && geom->condim != 3 && geom->condim != 4 && geom->condim != 6) {
		return knMjcf_Fail(reader, &geom->element, "geom", KN_BAD_DATA,
						   "condim is %d; it must be 1, 3, 4 or 6", geom->condim);
	}
	if (geom->condim > 3) {
		knMjcf_Note(reader, &geom->element, "<geom> condim %d: torsional friction ignored", geom->condim);
	}
	def->friction = geom->condim == 1 ? 0.0 : geom->friction[0];
	def->rollingFriction = geom->condim == 6 ? (geom->frictionCount == 3 ? geom->friction[2] : 0.0001) : 0.0;
	const int material =
		geom->material != NULL ? knNameTable_Get(&reader->materialNames, geom->material) : -1;
	if (geom->material != NULL && material < 0) {
		knMjcf_Note(reader, &geom->element, "<geom> material '%.60s' is not in the file", geom->material);
	}
	if (knMjcf_Given(&geom->element, KN_MJCF_GEOM_RGBA)) {
		def->color = knMjcf_Color(geom->rgba, geom->rgbaCount);
	} else if (material >= 0 && reader->materials.items[material].rgbaCount >= 3) {
		def->color =
			knMjcf_Color(reader->materials.items[material].rgba, reader->materials.items[material].rgbaCount);
	}
	shape->material = material;

	// a shape's density is positive; one that weighs nothing says so by its mass
	shape->mass = knMjcf_Given(&geom->element, KN_MJCF_GEOM_MASS) ? geom->mass : -1.0;
	if (knMjcf_Given(&geom->element, KN_MJCF_GEOM_MASS) && geom->mass < 0.0) {
		return knMjcf_Fail(reader, &geom->element, "geom", KN_BAD_DATA, "mass is %g; it must not be negative",
						   geom->mass);
	}
	if (geom->density < 0.0) {
		return knMjcf_Fail(reader, &geom->element, "geom", KN_BAD_DATA,
						   "density is %g; it must not be negative", geom->density);
	}
	if (geom->density > 0.0) {
		def->density = geom->density;
	} else if (shape->mass < 0.0) {
		shape->mass = 0.0;
	}
	return !reader->failed;
}

// --- geoms -----------------------------------------------------------------------------------------------

static bool usesInertial(const knMjcf* reader, int body) {
	const knMjcfBody* at = &reader->bodies.items[body];
	return at->inertial >= 0 &&
		   knMjcf_Compiler(reader, &at->element)->inertiaFromGeom != KN_MJCF_INERTIA_TRUE;
}

// True if the geom's own mass counts towards its body's.
static bool weighs(const knMjcf* reader, const knMjcfGeom* geom) {
	const knMjcfCompiler* compiler = knMjcf_Compiler(reader, &geom->element);
	const bool inGroup =
		geom->group >= compiler->inertiaGroups[0] && geom->group <= compiler->inertiaGroups[1];
	return geom->body > 0 && inGroup && !usesInertial(reader, geom->body) &&
		   compiler->inertiaFromGeom != KN_MJCF_INERTIA_FALSE;
}

static bool touches(const knMjcfGeom* geom) {
	return geom->contype != 0 || geom->conaffinity != 0 || geom->paired;
}

// True if the body that the geom belongs to would weigh less without it.
static bool counts(const knMjcf* reader, const knMjcfGeom* geom) {
	const bool heavy =
		knMjcf_Given(&geom->element, KN_MJCF_GEOM_MASS) ? geom->mass > 0.0 : geom->density > 0.0;
	return reader->nodes[geom->body].kind == KN_BODY_DYNAMIC && heavy && weighs(reader, geom);
}

// A geom of a kind that is not understood may be left out only if nothing would be different: it touches nothing and
// weighs nothing.
static bool skipOther(knMjcf* reader, const knMjcfGeom* geom) {
	if (touches(geom) || counts(reader, geom)) {
		return knMjcf_Omit(reader, &geom->element, "<geom> of type %s that %s left out",
						   knMjcfGeomWords[geom->type], touches(geom) ? "collides" : "gives its body mass");
	}
	knMjcf_Note(reader, &geom->element, "<geom> of type %s that only shows ignored",
				knMjcfGeomWords[geom->type]);
	return !reader->failed;
}

// A mesh collides as its hull and weighs what MuJoCo says it does; one that does neither only shows.
static bool planMesh(knMjcf* reader, const knMjcfGeom* geom, knMjcfShape* shape, knFrame frame) {
	if (!touches(geom) && !counts(reader, geom)) {
		if (!reader->looks) {
			knMjcf_Note(reader, &geom->element, "<geom> of type mesh that only shows is not shown");
			return !reader->failed;
		}
		shape->geom = knMjcf_MeshSurface(reader, geom);
		shape->def.frame = frame;
		shape->def.role = KN_SHAPE_LOOKS;
		return !reader->failed;
	}
	if (geom->shell) {
		knMjcf_Approximate(reader, &geom->element, "<geom> shellinertia: counted as solid");
	}
	knMjcfMesh* mesh = knMjcf_FindMesh(reader, &geom->element, geom->mesh);
	if (mesh == NULL) {
		return false;
	}
	if (mesh->collides != KN_MJCF_MESH_HULL) {
		// weighs what its geometry does
		shape->geom = knMjcf_MeshAsItIs(reader, &geom->element, mesh);
		shape->def.frame = frame;
		return shape->geom != NULL;
	}
	const bool asHull =
		knMjcf_Given(&mesh->element, KN_MJCF_MESH_INERTIA) && mesh->inertia == KN_MJCF_MESH_CONVEX;
	if (!asHull && counts(reader, geom) &&
		(shape->unit = knMjcf_MeshMass(reader, &geom->element, mesh)) == NULL) {
		return false;
	}
	shape->geom = touches(geom) ? knMjcf_MeshSolid(reader, &geom->element, mesh)
								: knMjcf_MeshHull(reader, &geom->element, mesh);
	shape->def.frame = frame;
	if (shape->geom != NULL && !touches(geom)) {
		shape->weightOnly = true;
	}
	return shape->geom != NULL;
}

// A height field holds up what stands on it; it belongs to what does not move.
static bool planHfield(knMjcf* reader, const knMjcfGeom* geom, knMjcfShape* shape) {
	const knMjcfNode* node = &reader->nodes[geom->body];
	knFrame frame = { .p = geom->element.pos };
	if (node->kind == KN_BODY_DYNAMIC) {
		return skipOther(reader, geom);
	}
	if (!knMjcf_Orientation(reader, &geom->element, "geom", &frame.q)) {
		return false;
	}
	shape->geom = knMjcf_Hfield(reader, geom);
	shape->def.frame = node->owner == geom->body ? frame : knMulF(node->weld, frame);
	return shape->geom != NULL;
}

static bool planShape(knMjcf* reader, int index) {
	const knMjcfGeom* geom = &reader->geoms.items[index];
	knMjcfShape* shape = &reader->shapes[index];
	const knMjcfNode* node = &reader->nodes[geom->body];
	shape->def = knShapeDef_Default();
	shape->def.name = geom->element.name;
	// MuJoCo's viewers show groups 0 to 2: robots keep what collides in others
	shape->def.role = reader->looks && geom->group >= FIRST_HIDDEN_GROUP ? KN_SHAPE_HIDDEN : KN_SHAPE_WHOLE;
	shape->node = node->owner;
	shape->source = index;
	if (geom->type >= KN_MJCF_FIRST_OTHER_GEOM) {
		return skipOther(reader, geom);
	}
	if (geom->type == KN_MJCF_PLANE && node->kind == KN_BODY_DYNAMIC) {
		return failGeom(reader, geom, "a plane is infinite; it cannot belong to a body that moves");
	}

	knFrame frame = knIdentityF();
	double size[3];
	if (!planMaterial(reader, geom, shape)) {
		return false;
	}
	if (geom->type == KN_MJCF_HFIELD) {
		return planHfield(reader, geom, shape);
	}
	if (geom->type == KN_MJCF_MESH) {
		frame.p = geom->element.pos;
		return knMjcf_Orientation(reader, &geom->element, "geom", &frame.q) &&
			   planMesh(reader, geom, shape, node->owner == geom->body ? frame : knMulF(node->weld, frame));
	}
	if (geom->mesh != NULL ? !planFitted(reader, geom, &frame, size)
						   : !planSize(reader, geom, &frame, size)) {
		return false;
	}
	shape->def.frame = node->owner == geom->body ? frame : knMulF(node->weld, frame);
	knError cause = { .status = KN_OK };
	shape->geom = makeGeom(reader, geom->type, size, &cause);
	return shape->geom != NULL || knMjcf_FailFrom(reader, &geom->element, &cause);
}

// --- filters ---------------------------------------------------------------------------------------------

static bool mayTouch(const knMjcfGeom* a, const knMjcfGeom* b) {
	return (a->contype & b->conaffinity) != 0 || (b->contype & a->conaffinity) != 0;
}

static bool arePaired(const knMjcf* reader, int a, int b) {
	for (int i = 0; i < reader->pairs.count; ++i) {
		const knMjcfPair* pair = &reader->pairs.items[i];
		if ((pair->first == a && pair->second == b) || (pair->first == b && pair->second == a)) {
			return true;
		}
	}
	return false;
}

// Two geoms that may touch the same others.
static bool alike(const knMjcf* reader, int a, int b) {
	const knMjcfGeom *x = &reader->geoms.items[a], *y = &reader->geoms.items[b];
	if (x->contype != y->contype || x->conaffinity != y->conaffinity || x->paired != y->paired) {
		return false;
	}
	for (int i = 0; x->paired && i < reader->geoms.count; ++i) {
		if (reader->geoms.items[i].paired && arePaired(reader, a, i) != arePaired(reader, b, i)) {
			return false;
		}
	}
	return !x->paired || !arePaired(reader, a, b);
}

static bool planFilters(knMjcf* reader) {
	// the distinct classes, in the order in which they appear, each by its first geom
	int classes[MAX_CLASSES], count = 0;
	for (int i = 0; i < reader->geoms.count; ++i) {
		int class = 0;
		while (class < count && !alike(reader, classes[class], i)) {
			++class;
		}
		if (class == count && count == MAX_CLASSES) {
			return knMjcf_Fail(
				reader, &reader->geoms.items[i].element, "geom", KN_LIMIT,
				"there are more than %d different pairs of contype and conaffinity, or sets of "
				"partners by <pair>",
				MAX_CLASSES);
		}
		if (class == count) {
			classes[count++] = i;
		}
		reader->shapes[i].def.filter.category = UINT64_C(1) << class;
	}

	// bits of classes that do not exist stay set, so that plain files get the default filter
	for (int i = 0; i < reader->geoms.count; ++i) {
		uint64_t mask = UINT64_MAX;
		for (int class = 0; class < count; ++class) {
			const bool meet = mayTouch(&reader->geoms.items[i], &reader->geoms.items[classes[class]]) ||
							  (reader->geoms.items[i].paired && arePaired(reader, i, classes[class]));
			mask &= meet ? UINT64_MAX : ~(UINT64_C(1) << class);
		}
		reader->shapes[i].def.filter.mask = mask;
	}
	return true;
}

// A pair's own friction is that of both geoms; MuJoCo would use it between these two only.
static bool planPairs(knMjcf* reader) {
	for (int i = 0; i < reader->pairs.count; ++i) {
		knMjcfPair* pair = &reader->pairs.items[i];
		const char* names[2] = { pair->geom1, pair->geom2 };
		int found[2];
		for (int k = 0; k < 2; ++k) {
			found[k] = names[k] != NULL ? knNameTable_Get(&reader->geomNames, names[k]) : -1;
			if (found[k] < 0) {
				return knMjcf_Fail(reader, &pair->element, "pair", KN_BAD_DATA,
								   "there is no geom named '%.60s'", names[k] != NULL ? names[k] : "");
			}
			knMjcfGeom* geom = &reader->geoms.items[found[k]];
			geom->paired = true;
			if (knMjcf_Given(&pair->element, KN_MJCF_OWN + 2)) {
				geom->friction[0] = pair->friction[0];
				knMjcf_Approximate(reader, &pair->element,
								   "<pair> friction used for all contacts of its geoms");
			}
		}
		pair->first = found[0];
		pair->second = found[1];
		const int condim = pair->condim;
		if (found[0] == found[1] || (condim != 1 && condim != 3 && condim != 4 && condim != 6)) {
			return knMjcf_Fail(reader, &pair->element, "pair", KN_BAD_DATA,
							   found[0] == found[1] ? "it names one geom twice"
													: "condim must be 1, 3, 4 or 6");
		}
	}
	return !reader->failed;
}

// What collides is hidden only where something else shows the body.
static bool showUncovered(knMjcf* reader) {
	bool* covered = KN_SCRATCH_ZERO(&reader->arena, bool, reader->bodies.count);
	if (covered == NULL) {
		return knMjcf_NoMemory(reader);
	}
	for (int i = 0; i < reader->geoms.count; ++i) {
		const knMjcfShape* shape = &reader->shapes[i];
		covered[shape->node] =
			covered[shape->node] || (shape->geom != NULL && shape->def.role != KN_SHAPE_HIDDEN);
	}
	for (int i = 0; i < reader->geoms.count; ++i) {
		knShapeDef* def = &reader->shapes[i].def;
		def->role =
			def->role == KN_SHAPE_HIDDEN && !covered[reader->shapes[i].node] ? KN_SHAPE_WHOLE : def->role;
	}
	return true;
}

bool knMjcf_PlanShapes(knMjcf* reader) {
	reader->shapes = KN_SCRATCH_ZERO(&reader->arena, knMjcfShape, reader->geoms.count);
	if (reader->shapes == NULL) {
		return knMjcf_NoMemory(reader);
	}
	if (!planPairs(reader)) {
		return false;
	}
	for (int i = 0; i < reader->geoms.count; ++i) {
		if (!planShape(reader, i)) {
			return false;
		}
	}
	return showUncovered(reader) && planFilters(reader);
}

// --- masses ----------------------------------------------------------------------------------------------

static bool inertialProps(knMjcf* reader, const knMjcfInertial* inertial, knMassProps* props) {
	const knMjcfElement* element = &inertial->element;
	const bool full = knMjcf_Given(element, KN_MJCF_INERTIAL_FULL);
	const bool diagonal = knMjcf_Given(element, KN_MJCF_INERTIAL_DIAGONAL);
	const bool turned = (element->given & KN_MJCF_ORIENTATION_BITS) != 0;
	if (!knMjcf_Given(element, KN_MJCF_INERTIAL_MASS) || full == diagonal) {
		return knMjcf_Fail(reader, element, "inertial", KN_BAD_DATA,
						   "it needs mass, and one of diaginertia and fullinertia");
	}
	if (full && turned) {
		return knMjcf_Fail(reader, element, "inertial", KN_BAD_DATA,
						   "fullinertia is in the body's axes; it takes no orientation");
	}
	const double* f = inertial->full;
	props->mass = inertial->mass;
	props->center = element->pos;
	props->inertia = full
						 ? knMakeMat33(knV3(f[0], f[3], f[4]), knV3(f[3], f[1], f[5]), knV3(f[4], f[5], f[2]))
						 : knDiagonal33(inertial->diagonal.x, inertial->diagonal.y, inertial->diagonal.z);
	knQuat rotation;
	if (!knMjcf_Orientation(reader, element, "inertial", &rotation)) {
		return false;
	}
	if (turned) {
		props->inertia = knRotateTensor(rotation, &props->inertia);
	}
	return true;
}

static void addMass(knMjcfNode* owner, const knMassProps* props) {
	owner->mass = owner->mass.mass > 0.0 ? knMassProps_Add(&owner->mass, props) : *props;
}

static bool addInertials(knMjcf* reader) {
	for (int b = 1; b < reader->bodies.count; ++b) {
		if (!usesInertial(reader, b)) {
			continue;
		}
		const knMjcfNode* node = &reader->nodes[b];
		knMassProps props;
		if (!inertialProps(reader, &reader->inertials.items[reader->bodies.items[b].inertial], &props)) {
			return false;
		}
		if (node->owner != b) {
			props = knMassProps_Transform(&props, node->weld);
		}
		addMass(&reader->nodes[node->owner], &props);
		reader->nodes[node->owner].massGiven = true;
	}
	return true;
}

static void addGeomMass(knMjcf* reader, const knMjcfShape* shape) {
	knMjcfNode* owner = &reader->nodes[shape->node];
	const knMjcfGeom* geom = &reader->geoms.items[shape->source];
	if (shape->geom == NULL || shape->def.sensor || shape->def.role == KN_SHAPE_LOOKS ||
		knGeom_Kind(shape->geom) == KN_GEOM_PLANE) {
		return;
	}
	if (!weighs(reader, geom) || shape->mass == 0.0) {
		owner->massGiven = true;
		return;
	}
	const double density = shape->mass > 0.0 ? 1.0 : shape->def.density;
	knMassProps props = knGeom_MassProps(shape->geom, density);
	if (shape->unit != NULL) {
		props = *shape->unit;
		props.mass *= density;
		props.inertia = knScaleM(density, &props.inertia);
		owner->massGiven = true;
	}
	if (shape->mass > 0.0) {
		props.inertia = knScaleM(shape->mass / props.mass, &props.inertia);
		props.mass = shape->mass;
		owner->massGiven = true;
	}
	props = knMassProps_Transform(&props, shape->def.frame);
	addMass(owner, &props);
}

// boundmass and boundinertia: at least; balanceinertia: moments that no solid has become their mean; settotalmass: all
// masses in one ratio.
static void boundMasses(knMjcf* reader) {
	double total = 0.0;
	for (int b = 1; b < reader->bodies.count; ++b) {
		knMjcfNode* node = &reader->nodes[b];
		const knMjcfCompiler* compiler = knMjcf_Compiler(reader, &reader->bodies.items[b].element);
		if (node->owner != b || node->kind != KN_BODY_DYNAMIC) {
			continue;
		}
		if (compiler->boundMass > 0.0 || compiler->boundInertia > 0.0 || compiler->balanceInertia) {
			knVec3 m;
			knQuat axes = knDiagonalize33(&node->mass.inertia, &m);
			node->mass.mass = knMax(node->mass.mass, compiler->boundMass);
			m = knMax3(m, knV3(compiler->boundInertia, compiler->boundInertia, compiler->boundInertia));
			const bool impossible = m.x + m.y < m.z || m.x + m.z < m.y || m.y + m.z < m.x;
			if (compiler->balanceInertia && impossible) {
				m.x = m.y = m.z = (m.x + m.y + m.z) / 3.0;
			}
			const knMat33 diagonal = knDiagonal33(m.x, m.y, m.z);
			node->mass.inertia = knRotateTensor(axes, &diagonal);
			node->massGiven = true;
		}
		total += node->mass.mass;
	}
	const double wanted = reader->compilers.items[0].totalMass;
	for (int b = 1; b < reader->bodies.count && wanted > 0.0 && total > 0.0; ++b) {
		knMjcfNode* node = &reader->nodes[b];
		node->mass.mass *= wanted / total;
		node->mass.inertia = knScaleM(wanted / total, &node->mass.inertia);
		node->massGiven = true;
	}
}

// A mesh that weighs and touches nothing has done its part; where looks are wanted it is shown as it is.
static bool showWeights(knMjcf* reader) {
	for (int i = 0; i < reader->geoms.count && reader->looks; ++i) {
		knMjcfShape* shape = &reader->shapes[i];
		if (shape->weightOnly) {
			knGeom_Release(shape->geom);
			shape->geom = knMjcf_MeshSurface(reader, &reader->geoms.items[i]);
			shape->def.role = KN_SHAPE_LOOKS;
			shape->weightOnly = false;
		}
	}
	return !reader->failed;
}

bool knMjcf_PlanMasses(knMjcf* reader) {
	if (!addInertials(reader)) {
		return false;
	}
	for (int i = 0; i < reader->geoms.count; ++i) {
		if (reader->geoms.items[i].body > 0) {
			addGeomMass(reader, &reader->shapes[i]);
		}
	}
	boundMasses(reader);
	knMjcf_WeighSplit(reader);
	for (int b = 1; b < reader->bodies.count; ++b) {
		const knMjcfNode* node = &reader->nodes[b];
		if (node->owner == b && node->kind == KN_BODY_DYNAMIC && !(node->mass.mass > 0.0)) {
			return knMjcf_Fail(reader, &reader->bodies.items[b].element, "body", KN_BAD_DATA,
							   "it moves but its mass is %g; give it a geom with a density or an <inertial>",
							   node->mass.mass);
		}
		knError cause = { .status = KN_OK };
		if (node->owner == b && node->kind == KN_BODY_DYNAMIC &&
			knSceneCheck_Mass(&node->mass, "body", &cause) != KN_OK) {
			return knMjcf_Fail(reader, &reader->bodies.items[b].element, "body", cause.status, "%s",
							   cause.message);
		}
	}
	return showWeights(reader);
}
