// Compiles tendons, couplings and actuators: ids become dense indices, driven axes become drives.
//
// What an axis moves is taken from the initial pose: the inertia about (or mass along) the axis of all that hangs on it, plus
// armature. Only limits of tendons and couplings use it: their springs shall be as stiff as the bodies are heavy.
#include <string.h>

#include "core/arena.h"
#include "core/sort.h"
#include "model/model_internal.h"
#include "model/scene_internal.h"

void knModelControl_Count(knModelControl* control, const knScene* scene) {
	*control = (knModelControl){ .actuatorCount = scene->actuators.count,
								 .tendonCount = scene->tendons.count,
								 .couplingCount = scene->couplings.count };
	control->driveCapacity = scene->actuators.count + 2 * scene->couplings.count;
	for (int i = 0; i < scene->tendons.count; ++i) {
		control->tendonPartCount += scene->tendons.items[i].partCount;
		control->driveCapacity += scene->tendons.items[i].spatial ? 0 : scene->tendons.items[i].partCount;
	}
}

void knModelControl_CountDrag(knModelControl* control, const knScene* scene, int bodyCount) {
	control->mediumDensity = scene->def.mediumDensity;
	control->mediumViscosity = scene->def.mediumViscosity;
	control->dragCount = control->mediumDensity > 0.0 || control->mediumViscosity > 0.0 ? bodyCount : 0;
}

void knModelControl_LayOut(knModelControl* c, knBlockLayout* carver, int jointCount) {
	c->actuators = knBlockLayout_Take(carver, (uint64_t)c->actuatorCount, sizeof(knModelActuator));
	c->tendons = knBlockLayout_Take(carver, (uint64_t)c->tendonCount, sizeof(knModelTendon));
	c->tendonParts = knBlockLayout_Take(carver, (uint64_t)c->tendonPartCount, sizeof(knModelTendonPart));
	c->couplings = knBlockLayout_Take(carver, (uint64_t)c->couplingCount, sizeof(knModelCoupling));
	c->drives = knBlockLayout_Take(carver, (uint64_t)c->driveCapacity, sizeof(knModelDrive));
	c->drag = knBlockLayout_Take(carver, (uint64_t)c->dragCount, sizeof(knModelDrag));
	// without drives no joint is looked up
	const bool driven = c->driveCapacity > 0;
	c->jointDrive = knBlockLayout_Take(carver, driven ? (uint64_t)jointCount : 0, sizeof(int));
}

// --- drives ----------------------------------------------------------------------------------------------

// Parent of each body by the joints of the tree, -1: none; of several joints to a body the first counts.
static void findParents(const knModel* model, int* parent) {
	for (int b = 0; b < model->bodyCount; ++b) {
		parent[b] = -1;
	}
	for (int j = 0; j < model->jointCount; ++j) {
		const knJoint* joint = &model->joints[j];
		if (!joint->loop && parent[joint->child] < 0 && joint->child != 0) {
			parent[joint->child] = joint->parent;
		}
	}
}

// Steps from a body to its root; beyond the number of bodies: a loop of joints that nobody called one.
static int depthOf(const int* parent, int body, int most) {
	int depth = 0;
	for (; parent[body] >= 0 && depth < most; ++depth) {
		body = parent[body];
	}
	return depth;
}

static void addTo(knMassProps* sum, const knMassProps* part) {
	*sum = sum->mass > 0.0 ? (part->mass > 0.0 ? knMassProps_Add(sum, part) : *sum) : *part;
}

// Mass, centre and inertia of each body with all that hangs on it, in world axes, in the initial pose: leaves first.
static bool sumSubtrees(const knModel* model, knArena* scratch, knMassProps* whole) {
	const int count = model->bodyCount;
	int* parent = KN_SCRATCH(scratch, int, count);
	knKeyed* order = KN_SCRATCH(scratch, knKeyed, count);
	if (parent == NULL || order == NULL) {
		return false;
	}
	findParents(model, parent);
	for (int b = 0; b < count; ++b) {
		const knFrame pose = model->initialPose[b];
		whole[b] = (knMassProps){ model->mass[b], pose.p, knRotateTensor(pose.q, &model->inertiaLocal[b]) };
		order[b] = (knKeyed){ (uint64_t)(count - depthOf(parent, b, count)), b };
	}
	if (!knSort_Keys(order, count, scratch)) {
		return false;
	}
	for (int i = 0; i < count; ++i) {
		const int b = (int)order[i].value;
		if (parent[b] > 0) {
			addTo(&whole[parent[b]], &whole[b]);
		}
	}
	return true;
}

// What turns about or slides along the axis, in the initial pose.
static double axisMass(const knModel* model, const knMassProps* whole, int index, int axis) {
	const knJoint* joint = &model->joints[index];
	const int body = model->bodyKind[joint->child] == KN_BODY_DYNAMIC ? joint->child : joint->parent;
	const knFrame frame =
		knMulF(model->initialPose[body], body == joint->child ? joint->frameChild : joint->frameParent);
	double q[KN_JOINT_MAX_Q];
	knTwist S[6];
	knJoint_NeutralCoordinates(joint, q);
	knJointOps_Get(joint->kind)->subspace(joint, q, S);
	const knVec3 turn = knRotate(frame.q, S[axis].ang);
	const knVec3 slide =
		knAdd(knRotate(frame.q, S[axis].lin), knCross(turn, knSub(whole[body].center, frame.p)));
	return joint->axis[axis].armature + knDot(turn, knMulMV(&whole[body].inertia, turn)) +
		   whole[body].mass * knLengthSquared(slide);
}

// Marks axes first (one byte of bits a joint), then numbers them in order.
typedef struct Marks {
	knModel* model;
	uint8_t* bits;      // [jointCount]
	knMassProps* whole; // [bodyCount]
} Marks;

static void mark(const Marks* marks, knJointId joint, int axis) {
	marks->bits[knModel_JointIndex(marks->model, joint)] |= (uint8_t)(1u << axis);
}

static void numberDrives(const Marks* marks) {
	knModel* model = marks->model;
	knModelControl* control = &model->control;
	for (int j = 0; control->driveCapacity > 0 && j < model->jointCount; ++j) {
		control->jointDrive[j] = marks->bits[j] != 0 ? control->driveCount : -1;
		for (int i = 0; i < 6; ++i) {
			if ((marks->bits[j] >> i & 1) != 0) {
				control->drives[control->driveCount++] =
					(knModelDrive){ .joint = j, .axis = i, .mass = axisMass(model, marks->whole, j, i) };
			}
		}
	}
}

static int driveOf(const knModel* model, knJointId joint, int axis) {
	const knModelControl* control = &model->control;
	const int j = knModel_JointIndex(model, joint);
	int drive = control->jointDrive[j];
	while (control->drives[drive].axis != axis) {
		++drive;
	}
	return drive;
}

static bool makeDrives(knModel* model, const knScene* scene, knArena* scratch) {
	Marks marks = { .model = model,
					.bits = KN_SCRATCH_ZERO(scratch, uint8_t, model->jointCount),
					.whole = KN_SCRATCH(scratch, knMassProps, model->bodyCount) };
	if (marks.bits == NULL || marks.whole == NULL || !sumSubtrees(model, scratch, marks.whole)) {
		return false;
	}
	for (int i = 0; i < scene->actuators.count; ++i) {
		if (scene->actuators.items[i].driven == KN_DRIVEN_JOINT) {
			mark(&marks, scene->actuators.items[i].joint, scene->actuators.items[i].axis);
		}
	}
	for (int i = 0; i < scene->tendons.count; ++i) {
		const knTendonDef* tendon = &scene->tendons.items[i];
		for (int k = 0; k < tendon->partCount && !tendon->spatial; ++k) {
			mark(&marks, tendon->parts[k].joint, tendon->parts[k].axis);
		}
	}
	for (int i = 0; i < scene->couplings.count; ++i) {
		const knCouplingDef* coupling = &scene->couplings.items[i];
		mark(&marks, coupling->joint1, coupling->axis1);
		if (!KN_ID_IS_NULL(coupling->joint2)) {
			mark(&marks, coupling->joint2, coupling->axis2);
		}
	}
	numberDrives(&marks);
	return true;
}

// --- things ----------------------------------------------------------------------------------------------

static void compileTendon(knModel* model, const knTendonDef* def, int index, int first) {
	knModelTendon* tendon = &model->control.tendons[index];
	tendon->spatial = def->spatial;
	tendon->limited = def->limited;
	tendon->first = first;
	tendon->count = def->partCount;
	tendon->stiffness = def->stiffness;
	tendon->damping = def->damping;
	tendon->restLower = def->restLower;
	tendon->restUpper = def->restUpper;
	tendon->lower = def->lower;
	tendon->upper = def->upper;
	for (int i = 0; i < def->partCount; ++i) {
		const knTendonPart* from = &def->parts[i];
		knModelTendonPart* to = &model->control.tendonParts[first + i];
		to->drive = def->spatial ? -1 : driveOf(model, from->joint, from->axis);
		to->weight = from->weight;
		to->body = def->spatial ? knModel_BodyIndex(model, from->body) : 0;
		to->point = knSub(from->point, model->centerLocal[to->body]);
		to->pulley = from->pulley;
	}
}

static void compileActuator(knModel* model, const knActuatorDef* def, knModelActuator* to) {
	to->driven = def->driven;
	to->drive = def->driven == KN_DRIVEN_JOINT ? driveOf(model, def->joint, def->axis) : -1;
	if (to->drive >= 0) {
		model->control.drives[to->drive].actuators += 1;
	}
	to->tendon = def->driven == KN_DRIVEN_TENDON ? def->tendon : -1;
	to->body = def->driven == KN_DRIVEN_POINT ? knModel_BodyIndex(model, def->body) : 0;
	to->frame = def->frame;
	to->frame.p = knSub(def->frame.p, model->centerLocal[to->body]);
	memcpy(to->gear, def->gear, sizeof to->gear);
	memcpy(to->gain, def->gain, sizeof to->gain);
	memcpy(to->bias, def->bias, sizeof to->bias);
	to->isMuscle = def->isMuscle;
	to->muscle = def->muscle;
	memcpy(to->controlRange, def->controlRange, sizeof to->controlRange);
	memcpy(to->forceRange, def->forceRange, sizeof to->forceRange);
	memcpy(to->activationRange, def->activationRange, sizeof to->activationRange);
	to->controlLimited = def->controlLimited;
	to->forceLimited = def->forceLimited;
	to->activationLimited = def->activationLimited;
	to->activation = def->activation;
	to->timeConstant = def->timeConstant;
	to->fallConstant = def->fallConstant;
	to->blend = def->blend;
	to->control = def->control;
	to->start = def->start;
}

static void compileCoupling(const knModel* model, const knCouplingDef* def, knModelCoupling* to) {
	to->drive1 = driveOf(model, def->joint1, def->axis1);
	to->drive2 = KN_ID_IS_NULL(def->joint2) ? -1 : driveOf(model, def->joint2, def->axis2);
	to->ref1 = def->ref1;
	to->ref2 = def->ref2;
	memcpy(to->coefficients, def->coefficients, sizeof to->coefficients);
	to->timeConstant = def->timeConstant;
	to->enabled = def->enabled;
}

// A box with sides a, b, c has moments m/12 (b^2 + c^2) and so on.
static void compileDrag(const knModel* model, int body) {
	knModelDrag* drag = &model->control.drag[body];
	knVec3 m = knZero3();
	drag->axes = knIdentityQ();
	if (model->bodyKind[body] != KN_BODY_DYNAMIC) {
		return;
	}
	drag->axes = knDiagonalize33(&model->inertiaLocal[body], &m);
	const double k = 6.0 * model->invMass[body];
	drag->sides = knV3(sqrt(knMax(k * (m.y + m.z - m.x), 0.0)), sqrt(knMax(k * (m.x + m.z - m.y), 0.0)),
					   sqrt(knMax(k * (m.x + m.y - m.z), 0.0)));
}

bool knModelControl_Compile(knModel* model, const knScene* scene) {
	for (int b = 0; b < model->control.dragCount; ++b) {
		compileDrag(model, b);
	}
	knArena scratch;
	knArena_Init(&scratch, &model->allocator);
	const bool made = model->control.driveCapacity == 0 || makeDrives(model, scene, &scratch);
	knArena_Free(&scratch);
	if (!made) {
		return false;
	}
	int first = 0;
	for (int i = 0; i < scene->tendons.count; ++i) {
		compileTendon(model, &scene->tendons.items[i], i, first);
		first += scene->tendons.items[i].partCount;
	}
	for (int i = 0; i < scene->couplings.count; ++i) {
		compileCoupling(model, &scene->couplings.items[i], &model->control.couplings[i]);
	}
	for (int i = 0; i < scene->actuators.count; ++i) {
		compileActuator(model, &scene->actuators.items[i], &model->control.actuators[i]);
	}
	return true;
}

// --- fingerprint -----------------------------------------------------------------------------------------

static uint64_t hashNumbers(uint64_t h, const double* numbers, int count) {
	for (int i = 0; i < count; ++i) {
		h = knHash_Double(h, numbers[i]);
	}
	return h;
}

static uint64_t hashIntegers(uint64_t h, const int* integers, int count) {
	for (int i = 0; i < count; ++i) {
		const int64_t value = integers[i];
		h = knHash_Bytes(h, &value, sizeof value);
	}
	return h;
}

// Nothing for actuators that are none, which hash as they did before there were muscles.
static uint64_t hashMuscle(uint64_t h, const knModelActuator* a) {
	if (!a->isMuscle && a->activation != KN_ACTIVATION_MUSCLE) {
		return h;
	}
	const knMuscle* m = &a->muscle;
	const double numbers[] = { a->isMuscle ? 1.0 : 0.0,
							   m->shortest,
							   m->longest,
							   m->rangeLeast,
							   m->rangeMost,
							   m->force,
							   m->lengthLeast,
							   m->lengthMost,
							   m->speed,
							   m->passive,
							   m->lengthening,
							   a->fallConstant,
							   a->blend };
	return hashNumbers(h, numbers, 13);
}

static uint64_t hashActuator(uint64_t h, const knModelActuator* a) {
	const int integers[] = {
		(int)a->driven,       a->drive,          a->tendon, a->body, a->controlLimited, a->forceLimited,
		a->activationLimited, (int)a->activation
	};
	const double numbers[] = { a->frame.p.x, a->frame.p.y, a->frame.p.z, a->frame.q.w,    a->frame.q.x,
							   a->frame.q.y, a->frame.q.z, a->control,   a->timeConstant, a->start };
	h = hashIntegers(h, integers, 8);
	h = hashNumbers(h, numbers, 10);
	h = hashNumbers(h, a->gear, 6);
	h = hashNumbers(h, a->gain, 3);
	h = hashNumbers(h, a->bias, 3);
	h = hashNumbers(h, a->controlRange, 2);
	h = hashNumbers(h, a->forceRange, 2);
	return hashMuscle(hashNumbers(h, a->activationRange, 2), a);
}

uint64_t knModelControl_Hash(uint64_t h, const knModelControl* control) {
	if (control->driveCapacity + control->actuatorCount + control->tendonCount + control->dragCount == 0) {
		return h; // as a model was hashed before there was control
	}
	h = knHash_Double(knHash_Double(h, control->mediumDensity), control->mediumViscosity);
	for (int i = 0; i < control->tendonCount; ++i) {
		const knModelTendon* t = &control->tendons[i];
		const int integers[] = { t->spatial, t->limited, t->first, t->count };
		const double numbers[] = { t->stiffness, t->damping, t->restLower, t->restUpper, t->lower, t->upper };
		h = hashNumbers(hashIntegers(h, integers, 4), numbers, 6);
	}
	for (int i = 0; i < control->tendonPartCount; ++i) {
		const knModelTendonPart* p = &control->tendonParts[i];
		const int integers[] = { p->drive, p->body };
		const double numbers[] = { p->weight, p->point.x, p->point.y, p->point.z, p->pulley };
		h = hashNumbers(hashIntegers(h, integers, 2), numbers, 5);
	}
	for (int i = 0; i < control->couplingCount; ++i) {
		const knModelCoupling* c = &control->couplings[i];
		const int integers[] = { c->drive1, c->drive2, c->enabled };
		const double numbers[] = { c->ref1, c->ref2, c->timeConstant };
		h = hashNumbers(hashNumbers(hashIntegers(h, integers, 3), numbers, 3), c->coefficients, 5);
	}
	for (int i = 0; i < control->actuatorCount; ++i) {
		h = hashActuator(h, &control->actuators[i]);
	}
	for (int i = 0; i < control->driveCount; ++i) {
		const int integers[] = { control->drives[i].joint, control->drives[i].axis };
		h = hashIntegers(h, integers, 2);
	}
	return h;
}
