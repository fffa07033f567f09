// From links and joints to a scene.
//
// Links that fixed joints join are one body: its mass is their sum, its frame that of the link nearest the root. A root is
// fixed to the world if it is called "world", if it has no mass, or if the options say so; else it is free. All joints start at
// zero, or at the limit nearest to zero; one that mimics starts where it belongs.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "urdf.h"

// --- the tree --------------------------------------------------------------------------------------------

// Breadth first from the roots; links that are not reached lie on a cycle.
static bool orderLinks(knUrdf* reader) {
	const int count = reader->links.count;
	knArena* arena = &reader->tree.arena;
	int* first = KN_SCRATCH(arena, int, count);
	int* next = KN_SCRATCH(arena, int, count);
	reader->order = KN_SCRATCH(arena, int, count);
	if (first == NULL || next == NULL || reader->order == NULL) {
		return knUrdf_NoMemory(reader);
	}
	int done = 0;
	for (int i = 0; i < count; ++i) {
		first[i] = -1;
	}
	for (int i = count - 1; i >= 0; --i) {
		const int joint = reader->links.items[i].parentJoint;
		if (joint >= 0) {
			const int parent = reader->joints.items[joint].parent;
			next[i] = first[parent];
			first[parent] = i;
		}
	}
	for (int i = 0; i < count; ++i) {
		if (reader->links.items[i].parentJoint < 0) {
			reader->order[done++] = i;
		}
	}
	for (int head = 0; head < done; ++head) {
		for (int child = first[reader->order[head]]; child >= 0; child = next[child]) {
			reader->order[done++] = child;
		}
	}
	for (int i = 0; done < count && i < count; ++i) {
		bool reached = false;
		for (int k = 0; k < done && !reached; ++k) {
			reached = reader->order[k] == i;
		}
		if (!reached) {
			return knUrdf_Fail(
				reader, reader->links.items[i].node, KN_BAD_DATA,
				"it hangs on itself: the joints form a cycle (a loop is closed by <loop_joint>)");
		}
	}
	return true;
}

// Where a joint starts.
static double startOf(const knUrdf* reader, const knUrdfJoint* joint) {
	double q = 0.0;
	if (joint->mimics != NULL) {
		const int master = knNameTable_Get(&reader->jointNames, joint->mimics);
		const knUrdfJoint* other = master >= 0 ? &reader->joints.items[master] : NULL;
		const double at = other != NULL && other->limited ? knClamp(0.0, other->lower, other->upper) : 0.0;
		q = joint->offset + joint->multiplier * at;
	}
	return joint->limited ? knClamp(q, joint->lower, joint->upper) : q;
}

static knFrame motionOf(const knUrdf* reader, const knUrdfJoint* joint) {
	const double q = startOf(reader, joint);
	if (joint->type == KN_URDF_REVOLUTE || joint->type == KN_URDF_CONTINUOUS) {
		return knMakeFrame(knV3(0.0, 0.0, 0.0), knQuat_FromAxisAngle(joint->axis, q));
	}
	return joint->type == KN_URDF_PRISMATIC ? knMakeFrame(knScale(q, joint->axis), knIdentityF().q)
											: knIdentityF();
}

static void placeLinks(knUrdf* reader) {
	for (int k = 0; k < reader->links.count; ++k) {
		const int index = reader->order[k];
		knUrdfLink* link = &reader->links.items[index];
		link->owner = index;
		link->weld = link->world = knIdentityF();
		if (link->parentJoint < 0) {
			continue;
		}
		const knUrdfJoint* joint = &reader->joints.items[link->parentJoint];
		const knUrdfLink* parent = &reader->links.items[joint->parent];
		const knFrame local = knMulF(joint->origin, motionOf(reader, joint));
		link->world = knMulF(parent->world, local);
		if (joint->type == KN_URDF_FIXED) {
			link->owner = parent->owner;
			link->weld = knMulF(parent->weld, local);
		}
	}
}

static void sumMasses(knUrdf* reader) {
	for (int k = 0; k < reader->links.count; ++k) {
		const knUrdfLink* link = &reader->links.items[reader->order[k]];
		knUrdfLink* owner = &reader->links.items[link->owner];
		if (link->hasInertial) {
			const knMassProps own =
				link == owner ? link->mass : knMassProps_Transform(&link->mass, link->weld);
			owner->sum = owner->sum.mass > 0.0 ? knMassProps_Add(&owner->sum, &own) : own;
		}
	}
}

// --- bodies ----------------------------------------------------------------------------------------------

static bool hasCollisions(knUrdf* reader, int owner) {
	for (int i = 0; i < reader->links.count; ++i) {
		if (reader->links.items[i].owner == owner &&
			knXml_Child(&reader->tree, reader->links.items[i].node, "collision") >= 0) {
			return true;
		}
	}
	return false;
}

static knBodyKind kindOf(const knUrdf* reader, const knUrdfLink* link) {
	if (link->parentJoint >= 0) {
		return KN_BODY_DYNAMIC;
	}
	const knUrdfBase base = reader->options->base;
	const bool fixed = base == KN_URDF_BASE_FIXED || (base == KN_URDF_BASE_AUTO && !(link->sum.mass > 0.0));
	return fixed ? KN_BODY_FIXED : KN_BODY_DYNAMIC;
}

static bool addBody(knUrdf* reader, int index) {
	knUrdfLink* link = &reader->links.items[index];
	// the world is there already
	if (link->owner != index || (link->parentJoint < 0 && strcmp(link->name, "world") == 0)) {
		return true;
	}
	knBodyDef def = knBodyDef_Default();
	def.name = link->name;
	def.kind = kindOf(reader, link);
	def.frame = link->world;
	def.hasMass = link->sum.mass > 0.0;
	def.mass = link->sum;
	if (def.kind == KN_BODY_DYNAMIC && !def.hasMass) {
		if (!hasCollisions(reader, index)) {
			return knUrdf_Fail(reader, link->node, KN_BAD_DATA,
							   "it moves but has no mass; give it an <inertial>, or make its joint fixed");
		}
		knUrdf_Note(reader, link->node, KN_LOAD_APPROXIMATE,
					"link '%.40s' has no mass; its collisions weigh 1000 kg/m3", link->name);
	}
	knError cause = { .status = KN_OK };
	link->body = knScene_AddBody(reader->scene, &def, &cause);
	return !KN_ID_IS_NULL(link->body) || knUrdf_FailFrom(reader, link->node, &cause);
}

// --- joints ----------------------------------------------------------------------------------------------

static knJointKind jointKind(knUrdfJointType type) {
	static const knJointKind kinds[KN_URDF_JOINT_TYPES] = { KN_JOINT_HINGE, KN_JOINT_HINGE, KN_JOINT_SLIDER,
															KN_JOINT_FIXED, KN_JOINT_FREE,  KN_JOINT_PLANAR,
															KN_JOINT_BALL };
	return kinds[type];
}

static knJointDef makeJoint(const knUrdf* reader, const knUrdfJoint* joint) {
	const knUrdfLink* parent = &reader->links.items[joint->parent];
	const knUrdfLink* child = &reader->links.items[joint->child];
	knJointDef def = knJointDef_Default(jointKind(joint->type));
	def.name = joint->name;
	def.loop = joint->loop;
	def.parent = reader->links.items[parent->owner].body;
	def.child = reader->links.items[child->owner].body;

	// a planar joint turns about z, others turn or slide about x
	const knVec3 main = joint->type == KN_URDF_PLANAR ? knV3(0.0, 0.0, 1.0) : knV3(1.0, 0.0, 0.0);
	const knFrame turn = knMakeFrame(knV3(0.0, 0.0, 0.0), knQuat_Between(main, joint->axis));
	def.frameParent = knMulF(knMulF(parent->weld, joint->origin), turn);
	def.frameChild = knMulF(joint->loop ? knMulF(child->weld, joint->origin2) : child->weld, turn);
	const int axes = joint->type == KN_URDF_PLANAR ? 3 : joint->type == KN_URDF_BALL ? 3 : 1;
	for (int k = 0; k < axes && joint->type != KN_URDF_FIXED && joint->type != KN_URDF_FLOATING; ++k) {
		knJointAxis* axis = &def.axis[k];
		axis->limited = joint->limited;
		axis->lower = joint->lower;
		axis->upper = joint->upper;
		axis->damping = joint->damping;
		axis->friction = joint->friction;
		axis->driveLimited = joint->effort > 0.0;
		axis->driveLower = -joint->effort;
		axis->driveUpper = joint->effort;
	}
	return def;
}

static bool addJoint(knUrdf* reader, knUrdfJoint* joint) {
	if (joint->type == KN_URDF_FIXED && !joint->loop) {
		return true;
	}
	const knJointDef def = makeJoint(reader, joint);
	const knBodyDef* parent = knScene_GetBody(reader->scene, def.parent);
	const bool fixedParent = parent == NULL || parent->kind == KN_BODY_FIXED;
	if (joint->type == KN_URDF_FLOATING && fixedParent) {
		return true; // a body without a joint is free
	}
	knError cause = { .status = KN_OK };
	joint->id = knScene_AddJoint(reader->scene, &def, &cause);
	return !KN_ID_IS_NULL(joint->id) || knUrdf_FailFrom(reader, joint->node, &cause);
}

static bool hasOneAxis(const knUrdfJoint* joint) {
	return joint->type == KN_URDF_REVOLUTE || joint->type == KN_URDF_CONTINUOUS ||
		   joint->type == KN_URDF_PRISMATIC;
}

static bool addMimic(knUrdf* reader, const knUrdfJoint* joint) {
	if (joint->mimics == NULL) {
		return true;
	}
	const int node = knXml_Child(&reader->tree, joint->node, "mimic");
	const int master = knNameTable_Get(&reader->jointNames, joint->mimics);
	if (master < 0) {
		return knUrdf_Fail(reader, node, KN_BAD_DATA, "there is no joint '%.60s'", joint->mimics);
	}
	const knUrdfJoint* other = &reader->joints.items[master];
	if (!hasOneAxis(joint) || !hasOneAxis(other) || other == joint) {
		return knUrdf_Fail(reader, node, KN_BAD_DATA,
						   "only a revolute, continuous or prismatic joint can follow another one");
	}
	knCouplingDef def = knCouplingDef_Default();
	def.joint1 = joint->id;
	def.joint2 = other->id;
	def.coefficients[0] = joint->offset;
	def.coefficients[1] = joint->multiplier;
	knError cause = { .status = KN_OK };
	return knScene_AddCoupling(reader->scene, &def, &cause) >= 0 || knUrdf_FailFrom(reader, node, &cause);
}

// A transmission drives its joints by efforts: an actuator each, whose control is N m or N at the joint.
static bool addTransmission(knUrdf* reader, int node) {
	const char* name = knXml_Get(&reader->tree, node, "name");
	for (int child = knXml_Child(&reader->tree, node, "joint"); child >= 0;
		 child = knXml_Next(&reader->tree, child)) {
		const char* jointName = knXml_Get(&reader->tree, child, "name");
		const int index = jointName != NULL ? knNameTable_Get(&reader->jointNames, jointName) : -1;
		if (index < 0) {
			return knUrdf_Fail(reader, child, KN_BAD_DATA, "there is no joint '%.60s'",
							   jointName != NULL ? jointName : "");
		}
		const knUrdfJoint* joint = &reader->joints.items[index];
		if (!hasOneAxis(joint) || KN_ID_IS_NULL(joint->id)) {
			knUrdf_Note(reader, node, KN_LOAD_NOTE, "<transmission> of joint '%.40s' ignored", jointName);
			continue;
		}
		char text[96];
		snprintf(text, sizeof text, "%.60s", name != NULL ? name : jointName);
		if (knScene_FindActuator(reader->scene, text) >= 0) {
			snprintf(text, sizeof text, "%.40s.%.40s", name != NULL ? name : "transmission", jointName);
		}
		knActuatorDef def = knActuatorDef_Default();
		def.name = text;
		def.joint = joint->id;
		knError cause = { .status = KN_OK };
		if (knScene_AddActuator(reader->scene, &def, &cause) < 0) {
			return knUrdf_FailFrom(reader, node, &cause);
		}
		knUrdf_Note(reader, node, KN_LOAD_NOTE,
					"<transmission> drives its joint by an effort; reductions are not applied");
	}
	return !reader->failed;
}

// --- what nobody asked for -------------------------------------------------------------------------------

static void noteRest(knUrdf* reader) {
	knXmlTree* tree = &reader->tree;
	(void)knXml_Get(tree, 0, "version");
	tree->nodes.items[0].asked = true;
	for (int i = 0; i < tree->nodes.count; ++i) {
		const knXmlNode* node = &tree->nodes.items[i];
		if (!node->asked) {
			const bool first = node->parent < 0 || tree->nodes.items[node->parent].asked;
			const char* above = node->parent >= 0 ? tree->nodes.items[node->parent].tag : "";
			if (first && strcmp(above, "transmission") != 0 && strcmp(above, "joint") != 0) {
				knUrdf_Note(reader, i, KN_LOAD_NOTE, "<%.60s> ignored", node->tag);
			} else if (first && strcmp(above, "joint") == 0) {
				knUrdf_Note(reader, i, KN_LOAD_NOTE, "<joint> <%.60s> ignored", node->tag);
			}
			continue;
		}
		for (int a = 0; a < node->attributeCount; ++a) {
			const knXmlAttribute* attribute = &tree->attributes.items[node->firstAttribute + a];
			if (!attribute->asked && strncmp(attribute->name, "xmlns", 5) != 0) {
				knUrdf_Note(reader, i, KN_LOAD_NOTE, "<%.40s> %.40s ignored", node->tag, attribute->name);
			}
		}
	}
}

bool knUrdf_Build(knUrdf* reader) {
	knSceneDef def = knSceneDef_Default();
	def.name = knXml_Get(&reader->tree, 0, "name");
	// joints move in joint coordinates, as in files of MJCF
	for (int i = 0; i < reader->joints.count; ++i) {
		const knUrdfJointType type = reader->joints.items[i].type;
		if (type != KN_URDF_FIXED && type != KN_URDF_FLOATING) {
			def.stepper = "reduced";
		}
	}
	reader->scene = knScene_Create(&def, &reader->allocator, &reader->error);
	if (reader->scene == NULL) {
		const knError cause = reader->error;
		return knUrdf_FailFrom(reader, 0, &cause);
	}
	if (!orderLinks(reader)) {
		return false;
	}
	placeLinks(reader);
	sumMasses(reader);
	for (int k = 0; k < reader->links.count; ++k) {
		if (!addBody(reader, reader->order[k])) {
			return false;
		}
	}
	if (!knUrdf_AddShapes(reader)) {
		return false;
	}
	for (int i = 0; i < reader->joints.count; ++i) {
		if (!addJoint(reader, &reader->joints.items[i])) {
			return false;
		}
	}
	for (int i = 0; i < reader->joints.count; ++i) {
		if (!addMimic(reader, &reader->joints.items[i])) {
			return false;
		}
	}
	for (int node = knXml_Child(&reader->tree, 0, "transmission"); node >= 0;
		 node = knXml_Next(&reader->tree, node)) {
		if (!addTransmission(reader, node)) {
			return false;
		}
	}
	noteRest(reader);
	return !reader->failed;
}

// --- the reader's life -----------------------------------------------------------------------------------

static void freeReader(knUrdf* reader) {
	for (int i = 0; i < reader->meshes.count; ++i) {
		knGeom_Release(reader->meshes.items[i].geom);
	}
	KN_ARRAY_FREE(&reader->allocator, &reader->meshes);
	KN_ARRAY_FREE(&reader->allocator, &reader->links);
	KN_ARRAY_FREE(&reader->allocator, &reader->joints);
	knNameTable_Free(&reader->linkNames);
	knNameTable_Free(&reader->jointNames);
	knNameTable_Free(&reader->materials);
	knNameTable_Free(&reader->meshNames);
	knImportReport_Free(&reader->report);
	knXmlTree_Free(&reader->tree);
}

static knScene* load(FILE* file, const char* text, size_t size, const char* name,
					 const knUrdfOptions* options, knLoadReport* report, knError* error) {
	const knUrdfOptions plain = { 0 };
	const knAllocator standard = knAllocator_Default();
	const knAllocator* allocator =
		options != NULL && options->allocator != NULL ? options->allocator : &standard;
	knUrdf reader = { .allocator = *allocator,
					  .options = options != NULL ? options : &plain,
					  .file = name,
					  .fromMemory = file == NULL };
	knImportReport_Init(&reader.report, allocator);
	knNameTable_Init(&reader.linkNames, allocator);
	knNameTable_Init(&reader.jointNames, allocator);
	knNameTable_Init(&reader.materials, allocator);
	knNameTable_Init(&reader.meshNames, allocator);
	bool ok = knXmlTree_Read(&reader.tree, file, text, size, name, allocator, &reader.error) == KN_OK &&
			  knUrdf_ReadElements(&reader) && knUrdf_Build(&reader);
	if (ok && !knImportReport_Take(&reader.report, report)) {
		ok = knUrdf_NoMemory(&reader);
	}
	knScene* scene = reader.scene;
	if (!ok) {
		knScene_Destroy(scene);
		scene = NULL;
		if (error != NULL) {
			*error = reader.error;
		}
	}
	freeReader(&reader);
	return scene;
}

knScene* knUrdf_Load(const char* path, const knUrdfOptions* options, knLoadReport* report, knError* error) {
	if (report != NULL) {
		*report = (knLoadReport){ 0 };
	}
	if (path == NULL) {
		knError_Set(error, KN_BAD_ARGUMENT, "knUrdf_Load", "no path was given");
		return NULL;
	}
	FILE* file = fopen(path, "rb");
	if (file == NULL) {
		const char* why = strerror(errno);
		knError_Set(error, KN_IO, "", "cannot open the file: %s", why);
		if (error != NULL) {
			snprintf(error->file, sizeof error->file, "%s", path);
		}
		return NULL;
	}
	knScene* scene = load(file, NULL, 0, path, options, report, error);
	fclose(file);
	return scene;
}

knScene* knUrdf_LoadMemory(const char* text, size_t size, const char* name, const knUrdfOptions* options,
						   knLoadReport* report, knError* error) {
	if (report != NULL) {
		*report = (knLoadReport){ 0 };
	}
	if (text == NULL) {
		knError_Set(error, KN_BAD_ARGUMENT, "knUrdf_LoadMemory", "no text was given");
		return NULL;
	}
	return load(NULL, text, size, name != NULL ? name : "memory", options, report, error);
}
