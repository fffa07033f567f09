// Every scene of the catalogue as trees in joint coordinates: each dynamic body once, each enabled joint once, and
// the initial state as it was; forward dynamics and its inverse agree on all of them.
#include "scene_test.h"

static int enabledJoints(const knModel* model) {
	const knScene* scene = knModel_Scene(model);
	int count = 0;
	for (int j = 0; j < knModel_JointCount(model); ++j) {
		const knJointDef* def = knScene_GetJoint(scene, knModel_JointAt(model, j));
		const knBodyDef* parent = KN_ID_IS_NULL(def->parent) ? NULL : knScene_GetBody(scene, def->parent);
		const knBodyDef* child = KN_ID_IS_NULL(def->child) ? NULL : knScene_GetBody(scene, def->child);
		bool moves = (parent != NULL && parent->kind == KN_BODY_DYNAMIC) ||
					 (child != NULL && child->kind == KN_BODY_DYNAMIC);
		count += def->enabled && moves ? 1 : 0;
	}
	return count;
}

static int dynamicBodies(const knModel* model) {
	int count = 0;
	for (int b = 0; b < knModel_BodyCount(model); ++b) {
		count +=
			knScene_GetBody(knModel_Scene(model), knModel_BodyAt(model, b))->kind == KN_BODY_DYNAMIC ? 1 : 0;
	}
	return count;
}

static double* numbers(int count) {
	double* result = calloc((size_t)count + 1, sizeof(double));
	assert_non_null(result);
	return result;
}

// Where the tree puts its bodies, against where the scene has them.
static double farthest(const knLinkage* linkage, const knModel* model, const knTreeWork* work) {
	double most = 0.0;
	for (int i = 0; i < linkage->linkCount; ++i) {
		knFrame mine = knTree_LinkFrame(linkage->tree, work, i);
		knFrame his = knScene_GetBody(knModel_Scene(model), linkage->bodies[i])->frame;
		most = fmax(most, knDistance(mine.p, his.p));
	}
	return most;
}

static void checkLinkage(const knLinkage* linkage, const knModel* model, const char* name) {
	int nv = knTree_VelocityCount(linkage->tree);
	double *q = numbers(knTree_CoordinateCount(linkage->tree)), *v = numbers(nv), *qdd = numbers(nv),
		   *tau = numbers(nv);
	knTreeWork* work = knTreeWork_Create(linkage->tree, NULL, NULL);
	assert_non_null(work);
	knLinkage_InitialState(linkage, model, work, q, v);
	knTree_Kinematics(linkage->tree, work, q, v);
	double off = farthest(linkage, model, work);
	// the short loop starts with open joints: its gaps add up along the tree
	if (!(off < (strcmp(name, "short-loop") == 0 ? 0.02 : 1e-6))) {
		fail_msg("%s: a body is %g m from where the scene has it", name, off);
	}
	knTree_ForwardDynamics(linkage->tree, work, q, v, NULL, NULL, knV3(0.0, 0.0, -9.81), qdd);
	knTree_InverseDynamics(linkage->tree, work, q, v, qdd, NULL, knV3(0.0, 0.0, -9.81), tau);
	knTree_Kinematics(linkage->tree, work, q, v);
	double weight = 0.0;
	for (int i = 0; i < linkage->linkCount; ++i) {
		weight += 9.81 * knModel_BodyMass(model, linkage->bodies[i]).mass;
	}
	for (int k = 0; k < nv; ++k) {
		assert_true(fabs(tau[k]) < 1e-8 * (1.0 + weight));
	}
	knTreeWork_Destroy(work);
	free(q);
	free(v);
	free(qdd);
	free(tau);
}

static void scenes_become_trees(void** state) {
	(void)state;
	int trees = 0, loops = 0;
	for (int s = 0; s < knCatalogue_Count(); ++s) {
		const knSceneEntry* entry = knCatalogue_At(s);
		knError error = { 0 };
		knSceneArgs args = knSceneArgs_Default(entry);
		assert_ok(knSceneArgs_Set(&args, "small", "1", &error));
		knScene* scene = knSceneArgs_Build(&args, &error);
		assert_non_null(scene);
		knModel* model = knModel_Create(scene, &error);
		assert_non_null(model);
		knLinkageSet* set = knLinkageSet_Create(model, NULL, &error);
		if (set == NULL) {
			fail_msg("%s: %s", entry->name, error.message);
		}
		int links = 0, held = 0;
		for (int i = 0; i < knLinkageSet_Count(set); ++i) {
			const knLinkage* linkage = knLinkageSet_At(set, i);
			for (int k = 0; k < linkage->linkCount; ++k) {
				int at, link;
				assert_true(knLinkageSet_Find(set, linkage->bodies[k], &at, &link));
				assert_true(at == i && link == k);
				held += KN_ID_IS_NULL(linkage->joints[k]) ? 0 : 1;
			}
			links += linkage->linkCount;
			held += linkage->loopCount;
			loops += linkage->loopCount;
			checkLinkage(linkage, model, entry->name);
		}
		assert_int_equal(links, dynamicBodies(model));
		assert_int_equal(held, enabledJoints(model));
		trees += knLinkageSet_Count(set);
		knLinkageSet_Destroy(set);
		knModel_Release(model);
		knScene_Destroy(scene);
	}
	print_message("%d trees, %d loop joints\n", trees, loops);
	assert_true(trees > 300 && loops > 50);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scenes_become_trees),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
