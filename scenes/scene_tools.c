// The scene builder and the live twins of stacks (scene_tools.h).
#include "scene_tools.h"

#include <stdio.h>
#include <string.h>

// --- the builder -------------------------------------------------------------------------------------------

static bool hasStepper(const char* name) {
	for (int i = 0; knStepper_Name(i) != NULL; ++i) {
		if (strcmp(knStepper_Name(i), name) == 0) {
			return true;
		}
	}
	return false;
}

// The first of a space-separated list that this build has, else the first.
static void chooseStepper(const char* list, char* word, size_t capacity) {
	for (const char* next = list; *next != '\0';) {
		size_t length = strcspn(next, " ");
		snprintf(word, capacity, "%.*s", (int)length, next);
		if (hasStepper(word)) {
			return;
		}
		next += length + strspn(next + length, " ");
	}
	snprintf(word, capacity, "%.*s", (int)strcspn(list, " "), list);
}

knSceneBuilder knSceneBuilder_Begin(const knSceneArgs* args, knError* error) {
	char stepper[32];
	chooseStepper(args->entry->steppers, stepper, sizeof(stepper));
	knSceneDef def = knSceneDef_Default();
	def.name = args->entry->name;
	def.dt = args->entry->dt;
	def.stepper = stepper;

	knSceneBuilder builder = { .args = args, .error = error, .random = args->seed };
	builder.scene = knScene_Create(&def, NULL, error);
	return builder;
}

knScene* knSceneBuilder_End(knSceneBuilder* builder) {
	knScene* scene = builder->scene;
	builder->scene = NULL;
	return scene;
}

void knSceneBuilder_Require(knSceneBuilder* builder, bool ok) {
	if (!ok && builder->scene != NULL) {
		knScene_Destroy(builder->scene);
		builder->scene = NULL;
	}
}

static knBodyId addBody(knSceneBuilder* builder, const knBodyDef* def) {
	if (builder->scene == NULL) {
		return KN_WORLD_BODY;
	}
	knBodyId body = knScene_AddBody(builder->scene, def, builder->error);
	knSceneBuilder_Require(builder, !KN_ID_IS_NULL(body));
	return body;
}

void knSceneBuilder_Ground(knSceneBuilder* builder, double reach) {
	knShapeDef shape = knShapeDef_Default();
	shape.name = "ground"; // its colour is the page's
	if (builder->args->twin != 5) {
		if (builder->scene != NULL) {
			knShapeId id = knScene_AddPlane(builder->scene, builder->ground, &shape, builder->error);
			knSceneBuilder_Require(builder, !KN_ID_IS_NULL(id));
		}
		return;
	}

	// a plane may not move, so a block does
	knBodyDef body = knBodyDef_Default();
	body.name = "ground";
	body.kind = KN_BODY_KINEMATIC;
	body.frame.p = knV3(0.0, 0.0, -1.0);
	body.color = KN_COLOR_GROUND;
	builder->ground = addBody(builder, &body);
	if (builder->scene != NULL) {
		knVec3 half = knV3(reach, reach, 1.0);
		knShapeId id = knScene_AddBox(builder->scene, builder->ground, half, &shape, builder->error);
		knSceneBuilder_Require(builder, !KN_ID_IS_NULL(id));
	}
}

void knSceneBuilder_Fixture(knSceneBuilder* builder, const char* name, knFrame frame, knVec3 halfExtents) {
	if (builder->scene == NULL) {
		return;
	}
	knShapeDef shape = knShapeDef_Default();
	shape.name = name;
	shape.color = KN_COLOR_GROUND;
	shape.frame = frame;
	if (!KN_ID_IS_NULL(builder->ground)) {
		// the moving ground of twin 5 has its frame elsewhere
		shape.frame = knInvMulF(knScene_GetBody(builder->scene, builder->ground)->frame, frame);
	}
	knShapeId id = knScene_AddBox(builder->scene, builder->ground, halfExtents, &shape, builder->error);
	knSceneBuilder_Require(builder, !KN_ID_IS_NULL(id));
}

void knSceneBuilder_Bar(knSceneBuilder* builder, const char* name, knVec3 at, knVec3 along, double radius,
						double halfLength) {
	knGeom* geom = knGeom_Cylinder(radius, halfLength, NULL, builder->error);
	knSceneBuilder_Require(builder, geom != NULL);
	if (builder->scene != NULL) {
		knShapeDef shape = knShapeDef_Default();
		shape.name = name;
		shape.color = KN_COLOR_GROUND;
		shape.frame = knMakeFrame(at, knQuat_Between(knV3(0.0, 0.0, 1.0), along));
		knShapeId id = knScene_AddShape(builder->scene, KN_WORLD_BODY, geom, &shape, builder->error);
		knSceneBuilder_Require(builder, !KN_ID_IS_NULL(id));
	}
	if (geom != NULL) {
		knGeom_Release(geom);
	}
}

#define WALL_HALF_THICKNESS 0.25

void knSceneBuilder_Walls(knSceneBuilder* builder, double insideX, double insideY, double height) {
	for (int side = 0; side < 4; ++side) {
		static const char* const names[] = { "wall_west", "wall_east", "wall_south", "wall_north" };
		double sign = side % 2 == 0 ? -1.0 : 1.0;
		knVec3 place = side < 2 ? knV3(sign * (insideX + WALL_HALF_THICKNESS), 0.0, 0.5 * height)
								: knV3(0.0, sign * (insideY + WALL_HALF_THICKNESS), 0.5 * height);
		// the walls in y also fill the corners
		knVec3 half = side < 2 ? knV3(WALL_HALF_THICKNESS, insideY, 0.5 * height)
							   : knV3(insideX + 2.0 * WALL_HALF_THICKNESS, WALL_HALF_THICKNESS, 0.5 * height);
		knSceneBuilder_Fixture(builder, names[side], knMakeFrame(place, knIdentityQ()), half);
	}
}

static knBodyDef bodyAt(const char* name, knFrame frame, uint32_t color) {
	knBodyDef def = knBodyDef_Default();
	def.name = name;
	def.frame = frame;
	def.color = color;
	return def;
}

knBodyId knSceneBuilder_Box(knSceneBuilder* builder, const char* name, knFrame frame, knVec3 halfExtents,
							uint32_t color) {
	knBodyDef def = bodyAt(name, frame, color);
	knBodyId body = addBody(builder, &def);
	if (builder->scene != NULL) {
		knShapeDef shape = knShapeDef_Default();
		knShapeId id = knScene_AddBox(builder->scene, body, halfExtents, &shape, builder->error);
		knSceneBuilder_Require(builder, !KN_ID_IS_NULL(id));
	}
	return body;
}

knBodyId knSceneBuilder_Ball(knSceneBuilder* builder, const char* name, knVec3 center, double radius,
							 double density, uint32_t color) {
	knBodyDef def = bodyAt(name, knMakeFrame(center, knIdentityQ()), color);
	knBodyId body = addBody(builder, &def);
	if (builder->scene != NULL) {
		knShapeDef shape = knShapeDef_Default();
		shape.density = density;
		knShapeId id = knScene_AddSphere(builder->scene, body, radius, &shape, builder->error);
		knSceneBuilder_Require(builder, !KN_ID_IS_NULL(id));
	}
	return body;
}

knBodyId knSceneBuilder_Rod(knSceneBuilder* builder, const char* name, knVec3 from, knVec3 to, double radius,
							double mass, uint32_t color) {
	knVec3 along = knNormalize(knSub(to, from));
	knVec3 middle = knScale(0.5, knAdd(from, to));
	knBodyDef def = bodyAt(name, knMakeFrame(middle, knQuat_Between(knV3(0.0, 0.0, 1.0), along)), color);
	knBodyId body = addBody(builder, &def);
	if (builder->scene == NULL) {
		return body;
	}
	double halfLength = 0.5 * knDistance(from, to) - radius;
	knGeom* geom = knGeom_Capsule(radius, halfLength, NULL, builder->error);
	if (geom == NULL) {
		knSceneBuilder_Require(builder, false);
		return KN_WORLD_BODY;
	}
	knShapeDef shape = knShapeDef_Default();
	shape.density = mass / knGeom_MassProps(geom, 1.0).mass;
	knShapeId id = knScene_AddShape(builder->scene, body, geom, &shape, builder->error);
	knGeom_Release(geom);
	knSceneBuilder_Require(builder, !KN_ID_IS_NULL(id));
	return body;
}

knBodyId knSceneBuilder_Body(knSceneBuilder* builder, const knBodyDef* def, const knGeom* geom) {
	knBodyId body = addBody(builder, def);
	if (builder->scene != NULL) {
		knShapeDef shape = knShapeDef_Default();
		knShapeId id = knScene_AddShape(builder->scene, body, geom, &shape, builder->error);
		knSceneBuilder_Require(builder, !KN_ID_IS_NULL(id));
	}
	return body;
}

knShapeDef* knSceneBuilder_LastShape(knSceneBuilder* builder) {
	if (builder->scene == NULL) {
		return NULL;
	}
	int slot = knScene_ShapeSlots(builder->scene) - 1;
	return knScene_EditShape(builder->scene, knScene_ShapeAt(builder->scene, slot));
}

knJointId knSceneBuilder_Joint(knSceneBuilder* builder, knJointDef* def, knBodyId parent, knBodyId child,
							   knVec3 anchor, knVec3 axis) {
	knJointId joint = { 0, 0 };
	if (builder->scene == NULL) {
		return joint;
	}
	if (knJointDef_At(def, builder->scene, parent, child, anchor, axis, builder->error) == KN_OK) {
		joint = knScene_AddJoint(builder->scene, def, builder->error);
	}
	knSceneBuilder_Require(builder, !KN_ID_IS_NULL(joint));
	return joint;
}

// --- random numbers (splitmix64) -----------------------------------------------------------------------------

double knSceneBuilder_Uniform(knSceneBuilder* builder, double lower, double upper) {
	uint64_t z = (builder->random += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return lower + (upper - lower) * ((double)(z >> 11) * 0x1p-53);
}

uint32_t knSceneBuilder_Shade(knSceneBuilder* builder, uint32_t color) {
	double light = knSceneBuilder_Uniform(builder, 0.85, 1.15);
	uint32_t shaded = 0;
	for (int shift = 0; shift <= 16; shift += 8) {
		double channel = knMin(255.0, light * (double)((color >> shift) & 0xff));
		shaded |= (uint32_t)channel << shift;
	}
	return shaded;
}

// --- live twins ------------------------------------------------------------------------------------------------

int knTwin_ShiftedLayers(int layerCount) {
	return layerCount >= 3 ? layerCount / 3 : 1;
}

knVec3 knTwin_Offset(const knSceneArgs* args, int layer, int layerCount, knVec3 shift, bool chosen) {
	if (args->twin == 3 && chosen) {
		return knV3(0.0, 0.0, 0.001);
	}
	if (args->twin == 4 && layer >= layerCount - knTwin_ShiftedLayers(layerCount)) {
		return shift;
	}
	return knZero3();
}

static void removeGround(knWorld* world, const knScene* scene) {
	for (int i = 0; i < knScene_ShapeSlots(scene); ++i) {
		knShapeId shape = knScene_ShapeAt(scene, i);
		if (!KN_ID_IS_NULL(knScene_GetShapeBody(scene, shape))) {
			return;
		}
		knWorld_SetShapeEnabled(world, shape, false);
	}
}

void knTwin_Script(knWorld* world, const knSceneArgs* args) {
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	double time = knWorld_Time(world), dt = knScene_GetDef(scene)->dt;
	if (args->twin == 2 && time > 1.0 - 0.5 * dt) {
		removeGround(world, scene);
	}
	if (args->twin == 5) {
		// the velocity at the end of the step, as semi-implicit integration has it
		knVec3 velocity = knV3(0.0, 0.0, 2.0 * (time + dt));
		knWorld_SetBodyVelocity(world, knScene_FindBody(scene, "ground"), velocity, knZero3());
	}
}

// --- scripts ---------------------------------------------------------------------------------------------------

static double stepOf(const knWorld* world) {
	return knScene_GetDef(knModel_Scene(knWorld_Model(world)))->dt;
}

bool knScript_Due(const knWorld* world, double time) {
	double early = time - knWorld_Time(world), half = 0.5 * stepOf(world);
	return early <= half && early > -half;
}

knBodyId knScript_Find(const knWorld* world, const char* name) {
	return knScene_FindBody(knModel_Scene(knWorld_Model(world)), name);
}

bool knScript_Appears(const knWorld* world, const char* name, double time) {
	return knWorld_Time(world) > time - 0.5 * stepOf(world) && KN_ID_IS_NULL(knScript_Find(world, name));
}

void knScript_AddBody(knWorld* world, const knBodyDef* def, knGeom* geom, double density) {
	if (geom == NULL) {
		return;
	}
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	const knShapeDef* like = knScene_GetShape(scene, knScene_ShapeAt(scene, 0));
	knPart part = { .geom = geom, .def = knShapeDef_Default() };
	part.def.density = density;
	part.def.friction = like->friction;
	part.def.restitution = like->restitution;
	(void)knWorld_AddBody(world, def, &part, 1, NULL);
	knGeom_Release(geom);
}

// --- facts -----------------------------------------------------------------------------------------------------

bool knObserve_LastSecond(const knWorld* world, const knSceneArgs* args) {
	return knWorld_Time(world) > args->time - 1.0 - 0.5 * stepOf(world);
}

void knSceneChecks_Once(knSceneChecks* checks, const char* name, double value) {
	for (int i = 0; i < checks->count; ++i) {
		if (strcmp(checks->names[i], name) == 0) {
			return;
		}
	}
	knSceneChecks_Set(checks, name, value);
}

void knSceneChecks_Max(knSceneChecks* checks, const char* name, double value) {
	for (int i = 0; i < checks->count; ++i) {
		if (strcmp(checks->names[i], name) == 0) {
			value = knMax(value, checks->values[i]);
		}
	}
	knSceneChecks_Set(checks, name, value);
}

static bool isDynamic(const knScene* scene, knBodyId body) {
	return !KN_ID_IS_NULL(body) && knScene_GetBody(scene, body)->kind == KN_BODY_DYNAMIC;
}

void knFirstContact_Observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	(void)args;
	int begun = 0;
	(void)knWorld_BeginEvents(world, &begun);
	if (begun > 0) {
		knSceneChecks_Once(checks, "first_contact", knWorld_Time(world));
	}
}

void knRest_Observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	if (!knObserve_LastSecond(world, args)) {
		return;
	}
	const knModel* model = knWorld_Model(world);
	const knScene* scene = knModel_Scene(model);
	double speed = 0.0, spin = 0.0;
	for (int i = 0; i < knModel_BodyCount(model); ++i) {
		knBodyId body = knModel_BodyAt(model, i);
		if (knScene_GetBody(scene, body)->kind == KN_BODY_DYNAMIC) {
			speed = knMax(speed, knLength(knWorld_BodyVelocity(world, body)));
			spin = knMax(spin, knLength(knWorld_BodyAngularVelocity(world, body)));
		}
	}
	knSceneChecks_Max(checks, "rest_speed", speed);
	knSceneChecks_Max(checks, "rest_spin", spin);
}

void knSupport_Observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	if (!knObserve_LastSecond(world, args)) {
		return;
	}
	const knModel* model = knWorld_Model(world);
	const knScene* scene = knModel_Scene(model);
	double weight = 0.0, push = 0.0, *sums = &checks->memory[14]; // of the shares, and how many there are
	for (int i = 0; i < knModel_BodyCount(model); ++i) {
		knBodyId body = knModel_BodyAt(model, i);
		if (knScene_GetBody(scene, body)->kind == KN_BODY_DYNAMIC) {
			weight -= knModel_BodyMass(model, body).mass * knWorld_Gravity(world).z;
		}
	}
	int count = 0;
	const knContact* contacts = knWorld_Contacts(world, &count);
	for (int i = 0; i < count; ++i) {
		// between two dynamic bodies the two halves cancel
		bool onB = isDynamic(scene, contacts[i].bodyB), onA = isDynamic(scene, contacts[i].bodyA);
		push += ((onB ? 1.0 : 0.0) - (onA ? 1.0 : 0.0)) * contacts[i].impulse.z;
	}
	if (weight > 0.0) {
		sums[0] += push / (stepOf(world) * weight);
		sums[1] += 1.0;
		knSceneChecks_Set(checks, "support", sums[0] / sums[1]);
	}
}

void knPile_Observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	const knModel* model = knWorld_Model(world);
	int outside = 0;
	for (int i = 0; i < knModel_BodyCount(model); ++i) {
		outside += knWorld_BodyCenter(world, knModel_BodyAt(model, i)).z < 0.0;
	}
	knSceneChecks_Set(checks, "outside", outside);
	knRest_Observe(world, args, checks);
}
