// knuckle info: what is in a scene or file, for people (the beginnings of long lists) or as JSON (all of it).
#include <stdio.h>
#include <string.h>

#include "info.h"
#include "knuckle/control.h"
#include "options.h"

#define SHOWN 12 // lines of a list in the text form

enum { TREE_SHOWN = 200, TREE_DEPTH = 40 };

enum { OPTION_JSON }; // the others are the scene request's

static const cliOption options[] = {
	{ "--json", NULL, "as JSON, complete (docs/cli.md lists the keys)" },
	{ "--set", "NAME=VALUE", "scene parameter, as for 'run'" },
	{ "--seed", "N", "seed of random scenes (1)" },
	{ "--keyframe", "NAME", "start from this keyframe of an MJCF file" },
	{ "--lenient", NULL, "take what is understood of a file, even if it will move otherwise" },
	{ NULL, NULL, NULL },
};

// --- text ----------------------------------------------------------------------------------------------------

static void printRest(int total) {
	if (total > SHOWN) {
		printf("  ... and %d more (--json lists all)\n", total - SHOWN);
	}
}

static void printBodies(const cliInfo* info) {
	int count = knModel_BodyCount(info->model);
	printf("%d bodies\n", count);
	for (int i = 0; i < count && i < SHOWN; ++i) {
		knBodyId body = knModel_BodyAt(info->model, i);
		knVec3 place = knWorld_BodyCenter(info->world, body);
		printf("  %-20s %-9s %12.6g kg at (%.4g, %.4g, %.4g)\n", cliBodyName(info->authored, body),
			   cliBodyKindName(knScene_GetBody(info->authored, body)->kind),
			   knModel_BodyMass(info->model, body).mass, place.x, place.y, place.z);
	}
	printRest(count);
}

static void printShapes(const cliInfo* info) {
	int count = knScene_ShapeSlots(info->authored);
	printf("%d shapes\n", count);
	for (int i = 0; i < count && i < SHOWN; ++i) {
		knShapeId shape = knScene_ShapeAt(info->authored, i);
		if (KN_ID_IS_NULL(shape)) {
			continue;
		}
		const knGeom* geom = knScene_GetShapeGeom(info->authored, shape);
		knVec3 size = knGeom_Size(geom);
		const knShapeDef* def = knScene_GetShape(info->authored, shape);
		printf("  %-20s %-9s size (%.4g, %.4g, %.4g), friction %.3g, restitution %.3g\n",
			   cliBodyName(info->authored, knScene_GetShapeBody(info->authored, shape)),
			   knGeomKind_Name(knGeom_Kind(geom)), size.x, size.y, size.z, def->friction, def->restitution);
	}
	printRest(count);
}

// The joint that holds a body from its parent: the first enabled one that closes no loop; -1: none.
static int holdingJoint(const cliInfo* info, knBodyId body) {
	for (int i = 0; i < knModel_JointCount(info->model); ++i) {
		const knJointDef* def = knScene_GetJoint(info->authored, knModel_JointAt(info->model, i));
		if (KN_ID_EQUALS(def->child, body) && def->enabled && !def->loop) {
			return i;
		}
	}
	return -1;
}

static int depthOf(const cliInfo* info, knBodyId body) {
	int depth = 0;
	for (int joint = holdingJoint(info, body); joint >= 0 && depth < TREE_DEPTH; ++depth) {
		const knBodyId parent = knScene_GetJoint(info->authored, knModel_JointAt(info->model, joint))->parent;
		joint = KN_ID_IS_NULL(parent) ? -1 : holdingJoint(info, parent);
	}
	return depth;
}

// Bodies below what holds them, in the order of the file: parents come first there.
static void printTree(const cliInfo* info) {
	const int count = knModel_BodyCount(info->model);
	if (knModel_JointCount(info->model) == 0 || count > TREE_SHOWN) {
		return;
	}
	printf("tree\n");
	for (int i = 0; i < count; ++i) {
		const knBodyId body = knModel_BodyAt(info->model, i);
		const int held = holdingJoint(info, body);
		printf("  %*s%s", 2 * depthOf(info, body), "", cliBodyName(info->authored, body));
		if (held >= 0) {
			const knJointDef* def = knScene_GetJoint(info->authored, knModel_JointAt(info->model, held));
			printf("  (%s '%s' on %s)", knJointKind_Name(def->kind), def->name,
				   cliBodyName(info->authored, def->parent));
		}
		printf("\n");
	}
}

static void printJoints(const cliInfo* info) {
	int count = knModel_JointCount(info->model);
	printf("%d joints\n", count);
	for (int i = 0; i < count && i < SHOWN; ++i) {
		knJointId joint = knModel_JointAt(info->model, i);
		const knJointDef* def = knScene_GetJoint(info->authored, joint);
		printf("  %-20s %-9s %s - %s%s\n", def->name, knJointKind_Name(def->kind),
			   cliBodyName(info->authored, def->parent), cliBodyName(info->authored, def->child),
			   def->enabled ? "" : " (disabled)");
	}
	printRest(count);
}

static const char* drivenName(const knScene* scene, const knActuatorDef* def) {
	if (def->driven == KN_DRIVEN_JOINT) {
		return knScene_GetJoint(scene, def->joint)->name;
	}
	return def->driven == KN_DRIVEN_TENDON ? knScene_GetTendon(scene, def->tendon)->name
										   : cliBodyName(scene, def->body);
}

static void printControl(const cliInfo* info) {
	static const char* const driven[] = { "joint", "tendon", "point of" };
	const knScene* scene = info->authored;
	int count = knScene_ActuatorCount(scene);
	printf("%d actuators\n", count);
	for (int i = 0; i < count && i < SHOWN; ++i) {
		const knActuatorDef* def = knScene_GetActuator(scene, i);
		printf("  %-20s %s '%s', gear %.4g", def->name, driven[def->driven], drivenName(scene, def),
			   def->gear[0]);
		if (def->isMuscle) {
			printf(", muscle of %.4g N, lengths %.4g to %.4g", def->muscle.force, def->muscle.shortest,
				   def->muscle.longest);
		} else {
			printf(", gain %.4g, bias (%.4g, %.4g, %.4g)", def->gain[0], def->bias[0], def->bias[1],
				   def->bias[2]);
		}
		if (def->controlLimited) {
			printf(", control %.4g to %.4g", def->controlRange[0], def->controlRange[1]);
		}
		if (def->forceLimited) {
			printf(", force %.4g to %.4g", def->forceRange[0], def->forceRange[1]);
		}
		printf("\n");
	}
	printRest(count);
	count = knScene_TendonCount(scene);
	printf("%d tendons, %d couplings of joints\n", count, knScene_CouplingCount(scene));
	for (int i = 0; i < count && i < SHOWN; ++i) {
		const knTendonDef* def = knScene_GetTendon(scene, i);
		printf("  %-20s %-9s %d parts, length %.6g\n", def->name, def->spatial ? "spatial" : "fixed",
			   def->partCount, knWorld_TendonLength(info->world, i, NULL));
	}
	printRest(count);
	count = knScene_ProbeCount(scene);
	printf("%d sensors\n", count);
	for (int i = 0; i < count && i < SHOWN; ++i) {
		const knProbeDef* def = knScene_GetProbe(scene, i);
		printf("  %-20s %s\n", def->name, knProbeKind_Name(def->kind));
	}
	printRest(count);
}

// Which steppers take the model as it is, and why others do not.
static void printSteppers(const cliInfo* info) {
	printf("steppers\n");
	for (int i = 0; knStepper_Name(i) != NULL; ++i) {
		char why[CLI_REFUSAL];
		printf("  %-20s %s\n", knStepper_Name(i), cliInfo_Takes(info, i, why) ? "runs it" : why);
	}
}

void cliInfo_Print(const cliInfo* info) {
	const knSceneDef* def = knScene_GetDef(info->authored);
	printf("%s: stepper %s, dt %g s, gravity (%g, %g, %g), %s%d degrees of freedom\n", info->source,
		   knWorld_StepperName(info->world), def->dt, def->gravity.x, def->gravity.y, def->gravity.z,
		   info->loops.count > 0 ? "at least " : "", knModel_DofCount(info->model));
	printBodies(info);
	printShapes(info);
	printJoints(info);
	printTree(info);
	printf("%d joints close loops\n", info->loops.count);
	for (int i = 0; i < info->loops.count && i < SHOWN; ++i) {
		printf("  %s\n", knScene_GetJoint(info->authored, info->loops.items[i])->name);
	}
	printRest(info->loops.count);
	printControl(info);
	printSteppers(info);
	for (int i = 0; i < info->scene->report.count; ++i) {
		static const char* const severities[] = { "note", "roughly", "left out" };
		printf("%s: %s\n", severities[info->scene->report.severities[i]], info->scene->report.lines[i]);
	}
	for (int i = 0; i < info->warnings.count; ++i) {
		printf("warning: %s\n", info->warnings.items[i]);
	}
}

// --- the command -----------------------------------------------------------------------------------------------

typedef struct InfoOptions {
	cliSceneRequest request;
	bool json;
} InfoOptions;

static bool setOption(InfoOptions* info, int option, const char* value) {
	if (option == OPTION_JSON) {
		info->json = true;
		return true;
	}
	return cliSceneRequest_SetOption(&info->request, options[option].name, value);
}

static int showInfo(const InfoOptions* asked, cliInfo* info) {
	cliInfo_Gather(info);
	if (info->failed) {
		return cliFail(CLI_FAILED, "out of memory");
	}
	if (!asked->json) {
		cliInfo_Print(info);
		return CLI_DONE;
	}
	knAllocator allocator = knAllocator_Default();
	knJson json;
	knJson_Init(&json, &allocator);
	cliInfo_WriteJson(info, &json);
	int status = CLI_DONE;
	if (json.failed) {
		status = cliFail(CLI_FAILED, "out of memory");
	} else {
		fputs(json.text, stdout);
	}
	knJson_Free(&json);
	return status;
}

static int infoCommand(const cliCommand* command, int argc, char** argv) {
	cliReader reader = cliReader_Begin(command, argc, argv);
	InfoOptions asked = { .request = cliSceneRequest_Default() };
	asked.request.ownReport = true;
	const char* value;
	int option;
	while ((option = cliReader_Next(&reader, &value)) != CLI_END) {
		if (option == CLI_HELPED) {
			return CLI_DONE;
		}
		if (option == CLI_OPERAND && asked.request.source == NULL) {
			asked.request.source = value;
		} else if (option == CLI_OPERAND) {
			return cliFail(CLI_USAGE, "one scene at a time: '%s' or '%s'?", asked.request.source, value);
		} else if (option == CLI_REFUSED || !setOption(&asked, option, value)) {
			return CLI_USAGE;
		}
	}
	if (asked.request.source == NULL) {
		return cliFail(CLI_USAGE, "about what? 'knuckle info SCENE|FILE'; 'knuckle scenes' lists the scenes");
	}
	cliScene scene;
	int status = cliScene_Open(&scene, &asked.request);
	if (status != CLI_DONE) {
		return status;
	}
	cliWorld world;
	status = cliWorld_Open(&world, scene.scene, NULL, 1);
	if (status == CLI_DONE) {
		cliInfo info = { .source = asked.request.source,
						 .scene = &scene,
						 .authored = knModel_Scene(world.model),
						 .model = world.model,
						 .world = world.world };
		status = showInfo(&asked, &info);
		cliInfo_Free(&info);
		cliWorld_Close(&world);
	}
	cliScene_Close(&scene);
	return status;
}

const cliCommand cliInfoCommand = {
	.name = "info",
	.operands = "SCENE|FILE",
	.summary = "tell what is in a scene: bodies, masses, shapes, joints, loops, warnings",
	.options = options,
	.run = infoCommand,
};
