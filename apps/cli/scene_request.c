// Finding, building and adjusting the scene that the command line asks for (scene_request.h).
//
// A --set name is looked up among the scene's parameters, then the values that every scene takes (gravity, friction,
// restitution), then the stepper settings. All are checked before anything is built.
#include "scene_request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/text.h"
#include "options.h"

#define MAX_NAMES 64
#define FILE_TIME 5.0 // s, of a file that is run without --time

// What every scene takes besides its own parameters; negative or unset: left as built.
typedef struct CommonValues {
	bool hasGravity;
	knVec3 gravity;
	double friction, restitution;
	bool file; // not of the catalogue
} CommonValues;

cliSceneRequest cliSceneRequest_Default(void) {
	cliSceneRequest request = { .time = -1.0, .steps = -1, .threads = 1 };
	return request;
}

bool cliSceneRequest_AddSet(cliSceneRequest* request, const char* text) {
	const char* equals = strchr(text, '=');
	if (equals == NULL || equals == text || equals[1] == '\0') {
		cliFail(CLI_USAGE, "--set needs name=value, not '%s'", text);
		return false;
	}
	if (request->setCount == CLI_MAX_SETS) {
		cliFail(CLI_USAGE, "more than %d times --set", CLI_MAX_SETS);
		return false;
	}
	request->sets[request->setCount++] = text;
	return true;
}

bool cliSceneRequest_SetOption(cliSceneRequest* request, const char* name, const char* value) {
	int64_t whole = 0;
	if (strcmp(name, "--stepper") == 0) {
		request->stepper = value;
		return cliCheckStepper(value);
	}
	if (strcmp(name, "--dt") == 0) {
		return cliParseNumber(name, value, 1e-12, 1e6, "a positive number of seconds", &request->dt);
	}
	if (strcmp(name, "--time") == 0) {
		return cliParseNumber(name, value, 0.0, 1e300, "a number of seconds from 0 up", &request->time);
	}
	if (strcmp(name, "--steps") == 0) {
		return cliParseWhole(name, value, 0.0, CLI_MAX_STEPS, &request->steps);
	}
	if (strcmp(name, "--threads") == 0) {
		bool good = cliParseWhole(name, value, 1.0, CLI_MAX_THREADS, &whole);
		request->threads = (int)whole;
		return good;
	}
	if (strcmp(name, "--seed") == 0) {
		request->seed = value;
		return cliParseWhole(name, value, 0.0, CLI_MAX_SEED, &whole);
	}
	if (strcmp(name, "--set") == 0) {
		return cliSceneRequest_AddSet(request, value);
	}
	if (strcmp(name, "--lenient") == 0) {
		request->lenient = true;
		return true;
	}
	request->keyframe = value;
	return true;
}

// --- one --set -------------------------------------------------------------------------------------------------

static bool parseVector(const char* text, knVec3* vector) {
	char copy[128];
	double numbers[3];
	if (strlen(text) >= sizeof(copy)) {
		return false;
	}
	snprintf(copy, sizeof(copy), "%s", text);
	char* part = copy;
	for (int i = 0; i < 3; ++i) {
		char* comma = strchr(part, ',');
		if ((comma == NULL) != (i == 2)) {
			return false;
		}
		if (comma != NULL) {
			*comma = '\0';
		}
		if (!knText_ParseDouble(part, &numbers[i])) {
			return false;
		}
		part = comma != NULL ? comma + 1 : part;
	}
	*vector = knV3(numbers[0], numbers[1], numbers[2]);
	return true;
}

// KN_BAD_ARGUMENT: none of these.
static knStatus setCommon(CommonValues* values, const char* name, const char* text, knError* error) {
	if (strcmp(name, "gravity") == 0) {
		values->hasGravity = parseVector(text, &values->gravity);
		return values->hasGravity
				   ? KN_OK
				   : knError_Set(error, KN_BAD_DATA, NULL,
								 "gravity must be three numbers x,y,z in m/s2, not '%.60s'", text);
	}
	if (strcmp(name, "friction") == 0) {
		bool good = knText_ParseDouble(text, &values->friction) && values->friction >= 0.0;
		return good ? KN_OK
					: knError_Set(error, KN_BAD_DATA, NULL,
								  "friction must be a number from 0 up, not '%.60s'", text);
	}
	if (strcmp(name, "restitution") == 0) {
		bool good = knText_ParseDouble(text, &values->restitution) && values->restitution >= 0.0 &&
					values->restitution <= 1.0;
		return good ? KN_OK
					: knError_Set(error, KN_BAD_DATA, NULL,
								  "restitution must be a number from 0 to 1, not '%.60s'", text);
	}
	if (strcmp(name, "meshes") == 0 && values->file) {
		bool good = strcmp(text, "hull") == 0 || strcmp(text, "exact") == 0;
		return good
				   ? KN_OK
				   : knError_Set(error, KN_BAD_DATA, NULL, "meshes must be hull or exact, not '%.60s'", text);
	}
	return KN_BAD_ARGUMENT;
}

#ifdef KN_HAVE_MJCF
// How the meshes of a file collide: the last --set meshes=... that was given.
static knMeshUse meshUse(const cliSceneRequest* request) {
	knMeshUse use = KN_MESHES_USUAL;
	for (int i = 0; i < request->setCount; ++i) {
		use = strcmp(request->sets[i], "meshes=hull") == 0 ? KN_MESHES_HULL : use;
		use = strcmp(request->sets[i], "meshes=exact") == 0 ? KN_MESHES_EXACT : use;
	}
	return use;
}
#endif

static int listNames(const cliScene* scene, const char** names) {
	int count = 0;
	if (scene->entry != NULL) {
		for (int i = 0; i < KN_SCENE_MAX_PARAMS && scene->entry->params[i].name != NULL; ++i) {
			names[count++] = scene->entry->params[i].name;
		}
		names[count++] = "small";
		names[count++] = "seed";
		if (scene->entry->twins) {
			names[count++] = "twin";
		}
	}
	names[count++] = "gravity";
	names[count++] = "friction";
	names[count++] = "restitution";
	if (scene->entry == NULL) {
		names[count++] = "meshes";
	}
	for (int i = 0; knSettings_Name(i) != NULL && count < MAX_NAMES; ++i) {
		names[count++] = knSettings_Name(i);
	}
	return count;
}

static int refuseName(const cliScene* scene, const cliSceneRequest* request, const char* name) {
	const char* names[MAX_NAMES];
	int count = listNames(scene, names);
	char list[1024] = "";
	size_t length = 0;
	for (int i = 0; i < count && length < sizeof(list); ++i) {
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s", i > 0 ? ", " : "", names[i]);
	}
	const char* closest = knText_Closest(name, names, count);
	char hint[96] = "";
	if (closest != NULL) {
		snprintf(hint, sizeof(hint), "did you mean '%s'? ", closest);
	}
	return cliFail(CLI_USAGE, "'%s' has no parameter '%s'; %sit takes %s", request->source, name, hint, list);
}

// Into the scene's parameters, the common values, or (checked here, applied once the scene stands) its settings.
static int readSets(cliScene* scene, const cliSceneRequest* request, CommonValues* common) {
	knSettings scratch = knSettings_Default();
	for (int i = 0; i < request->setCount; ++i) {
		char name[64];
		const char* equals = strchr(request->sets[i], '=');
		snprintf(name, sizeof(name), "%.*s", (int)(equals - request->sets[i]), request->sets[i]);
		knError error = { 0 };
		knStatus status;
		if (scene->entry != NULL && knSceneArgs_Has(&scene->args, name)) {
			status = knSceneArgs_Set(&scene->args, name, equals + 1, &error);
		} else {
			status = setCommon(common, name, equals + 1, &error);
			if (status == KN_BAD_ARGUMENT) {
				status = knSettings_Set(&scratch, name, equals + 1, &error);
			}
		}
		if (status == KN_BAD_ARGUMENT) {
			return refuseName(scene, request, name);
		}
		if (status != KN_OK) {
			return cliFailWith(CLI_USAGE, &error);
		}
	}
	return CLI_DONE;
}

// Whether the stepper that runs, or one of those that are compared, reads the setting.
static knStatus checkRead(const knSceneDef* def, const cliSceneRequest* request, const char* name,
						  knError* error) {
	if (request->compared == NULL) {
		const char* stepper = request->stepper != NULL ? request->stepper : def->stepper;
		return knSettings_CheckRead(name, stepper, def->settings.scheme, error);
	}
	knStatus status = KN_OK;
	for (int i = 0; i < request->comparedCount; ++i) {
		char stepper[32];
		const char* colon = strchr(request->compared[i], ':');
		snprintf(stepper, sizeof(stepper), "%.*s", (int)strcspn(request->compared[i], ":"),
				 request->compared[i]);
		bool paper = colon != NULL && strcmp(colon, ":paper") == 0;
		status = knSettings_CheckRead(name, stepper, paper ? KN_SCHEME_PAPER : def->settings.scheme, error);
		if (status == KN_OK) {
			return KN_OK;
		}
	}
	return status;
}

// The name of a --set and its value; NULL when the scene has a parameter of this name, which then took it.
static const char* settingOf(const cliScene* scene, const char* set, char* name, size_t capacity) {
	const char* equals = strchr(set, '=');
	snprintf(name, capacity, "%.*s", (int)(equals - set), set);
	return scene->entry != NULL && knSceneArgs_Has(&scene->args, name) ? NULL : equals + 1;
}

// All were parsed by readSets; gravity and the like are no settings and pass by.
static int applySettings(const cliScene* scene, const cliSceneRequest* request) {
	knSceneDef* def = knScene_Def(scene->scene);
	char name[64];
	for (int i = 0; i < request->setCount; ++i) {
		const char* value = settingOf(scene, request->sets[i], name, sizeof(name));
		if (value != NULL) {
			(void)knSettings_Set(&def->settings, name, value, NULL);
		}
	}
	// the scheme stands now, wherever on the line it was
	for (int i = 0; i < request->setCount; ++i) {
		knError error = { 0 };
		if (settingOf(scene, request->sets[i], name, sizeof(name)) != NULL &&
			checkRead(def, request, name, &error) == KN_UNSUPPORTED) {
			return cliFailWith(CLI_USAGE, &error);
		}
	}
	return CLI_DONE;
}

static void applyCommon(knScene* scene, const CommonValues* values) {
	if (values->hasGravity) {
		knScene_Def(scene)->gravity = values->gravity;
	}
	for (int i = 0; i < knScene_ShapeSlots(scene); ++i) {
		knShapeId shape = knScene_ShapeAt(scene, i);
		if (KN_ID_IS_NULL(shape)) {
			continue;
		}
		knShapeDef* def = knScene_EditShape(scene, shape);
		// ice, and stops that must not rub, stay frictionless
		bool smooth = def->friction == 0.0 && KN_ID_IS_NULL(knScene_GetShapeBody(scene, shape));
		def->friction = values->friction >= 0.0 && !smooth ? values->friction : def->friction;
		def->restitution = values->restitution >= 0.0 ? values->restitution : def->restitution;
	}
}

// --- source ------------------------------------------------------------------------------------------------------

static bool looksLikeFile(const char* source) {
	return strchr(source, '/') != NULL || strchr(source, '.') != NULL;
}

#ifdef KN_HAVE_MJCF
// What was left out line by line, the rest in numbers.
static void summarizeReport(const cliScene* scene, const cliSceneRequest* request) {
	const knLoadReport* report = &scene->report;
	const int rough = knLoadReport_Count(report, KN_LOAD_APPROXIMATE);
	const int notes = knLoadReport_Count(report, KN_LOAD_NOTE);
	for (int i = 0; i < report->count; ++i) {
		if (report->severities[i] == KN_LOAD_OMITTED) {
			fprintf(stderr, "knuckle: warning: %s:%s\n", request->source, report->lines[i]);
		}
	}
	if (rough > 0) {
		fprintf(stderr,
				"knuckle: %s: %d kind%s of things followed only roughly, %d that change%s no motion; "
				"'knuckle info' lists them\n",
				request->source, rough, rough == 1 ? "" : "s", notes, notes == 1 ? "s" : "");
	} else if (notes > 0) {
		fprintf(stderr,
				"knuckle: %s: %d kind%s of things not followed, which change%s no motion; "
				"'knuckle info' lists them\n",
				request->source, notes, notes == 1 ? "" : "s", notes == 1 ? "s" : "");
	}
}
#endif

// The models that come with the tool stand in share/knuckle/models of its installation; of a tool that was only built, in the
// source folder, two above it.
static bool findModel(const char* source, char* path, size_t capacity) {
	static const char* const places[] = { "../share/knuckle/models", "../../models" };
	char tool[768];
	const ssize_t length = readlink("/proc/self/exe", tool, sizeof(tool) - 1);
	if (length <= 0) {
		return false;
	}
	tool[length] = '\0';
	*(strrchr(tool, '/') != NULL ? strrchr(tool, '/') : tool) = '\0';
	const char* name = strrchr(source, '/') != NULL ? strrchr(source, '/') + 1 : source;
	// by its name alone, or as in "models/car"
	if (name != source && strncmp(source, "models/", 7) != 0) {
		return false;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); ++i) {
		const char* ending = cliHasExtension(name, ".xml") ? "" : ".xml";
		snprintf(path, capacity, "%s/%s/%.200s%s", tool, places[i], name, ending);
		if (access(path, R_OK) == 0) {
			return true;
		}
	}
	return false;
}

// A set whose animated nodes move by themselves.
static int loadSet(cliScene* scene, const cliSceneRequest* request) {
#ifdef KN_HAVE_MJCF
	knError error = { 0 };
	scene->scene = knSet_Load(request->source, NULL, &scene->motion, &scene->report, &error);
	if (scene->scene == NULL) {
		return cliFailWith(CLI_BAD_INPUT, &error);
	}
	if (!request->ownReport) {
		summarizeReport(scene, request);
	}
	return CLI_DONE;
#else
	(void)scene;
	return cliFail(CLI_BAD_INPUT,
				   "cannot read '%s': this build reads no scene files; install libexpat1-dev, then "
				   "configure and build again",
				   request->source);
#endif
}

static int loadFile(cliScene* scene, const cliSceneRequest* given) {
	cliSceneRequest found = *given;
	const cliSceneRequest* request = &found;
	char path[1280];
	if (access(given->source, F_OK) != 0 && findModel(given->source, path, sizeof(path))) {
		found.source = path;
	}
	if (cliHasExtension(request->source, ".knt")) {
		return cliFail(CLI_BAD_INPUT,
					   "'%s' is a recording, not a scene; 'knuckle convert' turns it into .csv",
					   request->source);
	}
	if (cliHasExtension(request->source, ".glb") || cliHasExtension(request->source, ".gltf")) {
		return loadSet(scene, request);
	}
	const bool urdf = cliHasExtension(request->source, ".urdf");
	if (!urdf && !cliHasExtension(request->source, ".xml")) {
		return cliFail(CLI_BAD_INPUT,
					   "cannot read '%s': scene files are MJCF (.xml), URDF (.urdf) or glTF sets (.glb)",
					   request->source);
	}
	if (urdf && request->keyframe != NULL) {
		return cliFail(CLI_USAGE, "--keyframe is for MJCF files; a URDF file has no keyframes");
	}
#ifdef KN_HAVE_MJCF
	knError error = { 0 };
	if (urdf) {
		const knUrdfOptions options = { .meshes = meshUse(request) };
		scene->scene = knUrdf_Load(request->source, &options, &scene->report, &error);
	} else {
		knMjcfOptions options = { .keyframe = request->keyframe,
								  .lenient = request->lenient,
								  .looks = request->looks,
								  .meshes = meshUse(request) };
		scene->scene = knMjcf_Load(request->source, &options, &scene->report, &error);
	}
	if (scene->scene == NULL) {
		return cliFailWith(CLI_BAD_INPUT, &error);
	}
	if (!request->ownReport) {
		summarizeReport(scene, request);
	}
	return CLI_DONE;
#else
	(void)scene;
	return cliFail(
		CLI_BAD_INPUT,
		"cannot read '%s': this build has no MJCF; install libexpat1-dev, then configure and build again",
		request->source);
#endif
}

static int findSource(cliScene* scene, const cliSceneRequest* request) {
	knError error = { 0 };
	scene->entry = knCatalogue_Find(request->source, &error);
	if (scene->entry != NULL) {
		scene->args = knSceneArgs_Default(scene->entry);
		if (request->keyframe != NULL) {
			return cliFail(CLI_USAGE, "--keyframe is for MJCF files; the scene '%s' has no keyframes",
						   request->source);
		}
		return CLI_DONE;
	}
	char path[1280];
	if (!looksLikeFile(request->source) && !findModel(request->source, path, sizeof(path))) {
		return cliFailWith(CLI_USAGE, &error);
	}
	return loadFile(scene, request);
}

// --- the plan ----------------------------------------------------------------------------------------------------

static int planSteps(cliScene* scene, const cliSceneRequest* request) {
	double suggested = scene->entry != NULL ? scene->entry->dt : knScene_Def(scene->scene)->dt;
	scene->dt = request->dt > 0.0 ? request->dt : suggested;
	double time = request->time >= 0.0   ? request->time
				  : scene->entry != NULL ? scene->entry->time
										 : FILE_TIME;
	double steps = request->steps >= 0 ? (double)request->steps : floor(time / scene->dt + 0.5);
	if (!(steps <= CLI_MAX_STEPS)) {
		return cliFail(CLI_USAGE, "%g s in steps of %g s are more than the %.0f steps that a run may have",
					   time, scene->dt, CLI_MAX_STEPS);
	}
	scene->steps = (int64_t)steps;
	scene->args.time = steps * scene->dt;
	return CLI_DONE;
}

// Of a scene that was found: its parameters, its building, its settings.
static int finishScene(cliScene* scene, const cliSceneRequest* request) {
	CommonValues common = { .friction = -1.0, .restitution = -1.0, .file = scene->entry == NULL };
	knError error = { 0 };
	int status = planSteps(scene, request);
	if (status == CLI_DONE) {
		status = readSets(scene, request, &common);
	}
	if (status == CLI_DONE && scene->entry != NULL && request->seed != NULL &&
		knSceneArgs_Set(&scene->args, "seed", request->seed, &error) != KN_OK) {
		status = cliFailWith(CLI_USAGE, &error);
	}
	if (status == CLI_DONE && scene->entry != NULL) {
		scene->scene = knSceneArgs_Build(&scene->args, &error);
		status = scene->scene != NULL ? CLI_DONE : cliFailWith(cliStatusOf(&error), &error);
	}
	if (status != CLI_DONE) {
		return status;
	}
	knScene_Def(scene->scene)->dt = scene->dt;
	applyCommon(scene->scene, &common);
	return applySettings(scene, request);
}

int cliScene_Open(cliScene* scene, const cliSceneRequest* request) {
	memset(scene, 0, sizeof(*scene));
	int status = findSource(scene, request);
	if (status == CLI_DONE) {
		status = finishScene(scene, request);
	}
	if (status != CLI_DONE) {
		cliScene_Close(scene);
	}
	return status;
}

int cliScene_Adopt(cliScene* scene, knScene* given, const cliSceneRequest* request) {
	memset(scene, 0, sizeof(*scene));
	scene->scene = given;
	int status = finishScene(scene, request);
	if (status != CLI_DONE) {
		cliScene_Close(scene);
	}
	return status;
}

void cliScene_Close(cliScene* scene) {
	knScene_Destroy(scene->scene);
	scene->scene = NULL;
#ifdef KN_HAVE_MJCF
	knLoadReport_Free(&scene->report);
	knSetMotion_Free(scene->motion);
#endif
	scene->motion = NULL;
}

bool cliCheckStepper(const char* name) {
	const char* names[16];
	int count = 0;
	char list[128] = "";
	for (; count < 16 && knStepper_Name(count) != NULL; ++count) {
		names[count] = knStepper_Name(count);
		if (strcmp(name, names[count]) == 0) {
			return true;
		}
		size_t length = strlen(list);
		snprintf(list + length, sizeof(list) - length, "%s%s", count > 0 ? ", " : "", names[count]);
	}
	const char* closest = knText_Closest(name, names, count);
	if (closest != NULL) {
		cliFail(CLI_USAGE, "unknown stepper '%s'; did you mean '%s'?", name, closest);
	} else {
		cliFail(CLI_USAGE, "unknown stepper '%s'; this version has: %s", name, list);
	}
	return false;
}
