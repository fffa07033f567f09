// Layer forces: do the contacts of a pile carry what lies above them?
//
// Bodies belong to the layer in which they were authored, layer = floor(z / height); the ground is layer -1. A contact
// between layers a < b crosses the cuts a+1 .. b, where cut k separates layers below k from k and above. In equilibrium
// the impulses that cross cut k in a time T sum to T |g| m_k, with m_k the mass above; the ratio of the two is 1. The
// buffer holds the sums, then the masses, one each per cut; memory[0] is when summing began, memory[1] the time of the
// last step.
#include "scene_tools.h"

static int layerOf(const knScene* scene, knBodyId body, double height, int layerCount) {
	if (KN_ID_IS_NULL(body)) {
		return -1;
	}
	const knBodyDef* def = knScene_GetBody(scene, body);
	if (def->kind != KN_BODY_DYNAMIC) {
		return -1;
	}
	double layer = floor(def->frame.p.z / height);
	return (int)knClamp(layer, 0.0, layerCount - 1.0);
}

static int countLayers(const knScene* scene, double height) {
	double top = 0.0;
	for (int i = 0; i < knScene_BodySlots(scene); ++i) {
		knBodyId body = knScene_BodyAt(scene, i);
		if (!KN_ID_IS_NULL(body)) {
			top = knMax(top, knScene_GetBody(scene, body)->frame.p.z);
		}
	}
	return (int)floor(top / height) + 1;
}

// masses[k]: the mass in layer k and above
static void sumMasses(const knModel* model, double height, int layerCount, double* masses) {
	const knScene* scene = knModel_Scene(model);
	for (int i = 0; i < knModel_BodyCount(model); ++i) {
		knBodyId body = knModel_BodyAt(model, i);
		int layer = layerOf(scene, body, height, layerCount);
		if (layer >= 0) {
			masses[layer] += knModel_BodyMass(model, body).mass;
		}
	}
	for (int k = layerCount - 2; k >= 0; --k) {
		masses[k] += masses[k + 1];
	}
}

static void addImpulses(knWorld* world, double height, int layerCount, knVec3 up, double* sums) {
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	int count;
	const knContact* contacts = knWorld_Contacts(world, &count);
	for (int i = 0; i < count; ++i) {
		int a = layerOf(scene, contacts[i].bodyA, height, layerCount);
		int b = layerOf(scene, contacts[i].bodyB, height, layerCount);
		double impulse = knDot(up, contacts[i].impulse); // on B
		for (int k = a + 1; k <= b; ++k) {
			sums[k] += impulse;
		}
		for (int k = b + 1; k <= a; ++k) {
			sums[k] -= impulse;
		}
	}
}

void knLayerForces_Observe(knWorld* world, const knSceneArgs* args, double layerHeight,
						   knSceneChecks* checks) {
	const knModel* model = knWorld_Model(world);
	double gravity = knLength(knWorld_Gravity(world));
	bool first = checks->buffer == NULL;
	int layers = first ? countLayers(knModel_Scene(model), layerHeight) : checks->bufferCount / 2;
	double* sums = knSceneChecks_Buffer(checks, 2 * layers);
	if (sums == NULL || gravity == 0.0) {
		return;
	}
	double* masses = sums + layers;
	if (first) {
		sumMasses(model, layerHeight, layers, masses);
	}

	// summing begins with the last second of the run
	double now = knWorld_Time(world);
	double before = checks->memory[1];
	checks->memory[1] = now;
	double dt = knScene_GetDef(knModel_Scene(model))->dt;
	if (now <= before || before < args->time - 1.0 - 0.5 * dt) {
		checks->memory[0] = now;
		return;
	}
	addImpulses(world, layerHeight, layers, knScale(-1.0 / gravity, knWorld_Gravity(world)), sums);

	double lowest = 0.0, highest = 0.0;
	for (int k = 0; k < layers; ++k) {
		double ratio = masses[k] > 0.0 ? sums[k] / ((now - checks->memory[0]) * gravity * masses[k]) : 1.0;
		lowest = k == 0 ? ratio : knMin(lowest, ratio);
		highest = k == 0 ? ratio : knMax(highest, ratio);
	}
	knSceneChecks_Set(checks, "layer_force_min", lowest);
	knSceneChecks_Set(checks, "layer_force_max", highest);
}
