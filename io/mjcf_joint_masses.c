// Inertias that joints move in the reference pose: what a servo's dampratio and a joint's springdamper are measured by.
//
//   M(i, j) = S_i . (momentum of all that hangs on the outer of the two, moving by S_j)     + armature on the diagonal
//   springdamper (t, d):   m = 1/(M^-1)(i, i),   stiffness = m/(t d)^2,   damping = 2 m/t   (MuJoCo's, at qpos0)
#include "core/dense.h"
#include "mjcf.h"

#define MOST_FREEDOMS 1000 // of which the whole matrix is made

static knMassProps worldMass(const knMjcfNode* node) {
	knMassProps props = node->mass;
	props.center = knPoint(node->reference, props.center);
	props.inertia = knRotateTensor(node->reference.q, &props.inertia);
	return props;
}

// What hangs on each body, itself with it, in the world; NULL when out of memory. Children come after their parents.
static knMassProps* hangingMasses(knMjcf* reader) {
	const int count = reader->bodies.count;
	knMassProps* whole = KN_SCRATCH_ZERO(&reader->arena, knMassProps, count);
	if (whole == NULL) {
		knMjcf_NoMemory(reader);
		return NULL;
	}
	for (int b = count - 1; b > 0; --b) {
		const knMjcfNode* node = &reader->nodes[b];
		if (node->owner == b && node->mass.mass > 0.0) {
			const knMassProps own = worldMass(node);
			whole[b] = whole[b].mass > 0.0 ? knMassProps_Add(&whole[b], &own) : own;
		}
		const int parent = reader->bodies.items[b].parent;
		if (whole[b].mass > 0.0) {
			whole[parent] = whole[parent].mass > 0.0 ? knMassProps_Add(&whole[parent], &whole[b]) : whole[b];
		}
	}
	return whole;
}

bool knMjcf_JointMasses(knMjcf* reader, double* masses) {
	const knMassProps* whole = hangingMasses(reader);
	if (whole == NULL) {
		return false;
	}
	for (int i = 0; i < reader->joints.count; ++i) {
		const knMjcfJoint* joint = &reader->joints.items[i];
		const knFrame body = reader->nodes[joint->body].reference;
		const knMassProps* m = &whole[joint->body];
		const knVec3 axis = knRotate(body.q, joint->axis);
		const knVec3 arm = knCross(axis, knSub(m->center, knPoint(body, joint->element.pos)));
		masses[i] =
			joint->armature + (joint->type == KN_MJCF_SLIDE
								   ? m->mass
								   : knDot(axis, knMulMV(&m->inertia, axis)) + m->mass * knDot(arm, arm));
	}
	return true;
}

// --- springdamper --------------------------------------------------------------------------------------------

// A degree of freedom: the motion it gives to what hangs on its body, taken at the world's origin.
typedef struct Freedom {
	int joint, body;
	knTwist motion;
} Freedom;

static knTwist turnAbout(knVec3 axis, knVec3 point) {
	return knMakeTwist(axis, knCross(point, axis));
}

static int listFreedoms(const knMjcf* reader, Freedom* freedoms) {
	int count = 0;
	for (int i = 0; i < reader->joints.count; ++i) {
		const knMjcfJoint* joint = &reader->joints.items[i];
		const knFrame body = reader->nodes[joint->body].reference;
		const knVec3 axis = knRotate(body.q, joint->axis), anchor = knPoint(body, joint->element.pos);
		const knVec3 axes[3] = { knRotate(body.q, knV3(1.0, 0.0, 0.0)), knRotate(body.q, knV3(0.0, 1.0, 0.0)),
								 knRotate(body.q, knV3(0.0, 0.0, 1.0)) };
		Freedom freedom = { .joint = i, .body = joint->body };
		for (int k = 0; k < knMjcf_JointNv(joint); ++k) {
			if (joint->type == KN_MJCF_SLIDE) {
				freedom.motion = knMakeTwist(knZero3(), axis);
			} else if (joint->type == KN_MJCF_HINGE) {
				freedom.motion = turnAbout(axis, anchor);
			} else if (joint->type == KN_MJCF_FREE && k < 3) {
				freedom.motion = knMakeTwist(knZero3(), axes[k]);
			} else {
				freedom.motion = turnAbout(axes[k % 3], joint->type == KN_MJCF_FREE ? body.p : anchor);
			}
			freedoms[count++] = freedom;
		}
	}
	return count;
}

static bool hangsOn(const knMjcf* reader, int body, int above) {
	while (body > above) {
		body = reader->bodies.items[body].parent;
	}
	return body == above;
}

// Linear and angular momentum about the world's origin, against a motion.
static double momentumAlong(const knMassProps* mass, knTwist moving, knTwist along) {
	const knVec3 p = knScale(mass->mass, knAdd(moving.lin, knCross(moving.ang, mass->center)));
	const knVec3 L = knAdd(knMulMV(&mass->inertia, moving.ang), knCross(mass->center, p));
	return knDot(along.ang, L) + knDot(along.lin, p);
}

static void fillMatrix(const knMjcf* reader, const Freedom* freedoms, int count, const knMassProps* whole,
					   double* M) {
	for (int i = 0; i < count; ++i) {
		for (int j = 0; j <= i; ++j) {
			const Freedom *outer = freedoms[i].body > freedoms[j].body ? &freedoms[i] : &freedoms[j],
						  *inner = outer == &freedoms[i] ? &freedoms[j] : &freedoms[i];
			const bool joined = hangsOn(reader, outer->body, inner->body);
			M[i * count + j] = M[j * count + i] =
				joined ? momentumAlong(&whole[outer->body], inner->motion, outer->motion) : 0.0;
		}
		M[i * count + i] += reader->joints.items[freedoms[i].joint].armature;
	}
}

static bool wants(const knMjcfJoint* joint) {
	return joint->springDamper[0] > 0.0 && joint->springDamper[1] > 0.0;
}

// `column`: room for a solution.
static void applyTo(knMjcf* reader, const Freedom* freedoms, int count, const double* factors,
					double* column) {
	for (int i = 0; i < count;) {
		knMjcfJoint* joint = &reader->joints.items[freedoms[i].joint];
		const int nv = knMjcf_JointNv(joint);
		double mobility = 0.0;
		for (int k = i; k < i + nv && wants(joint); ++k) {
			for (int n = 0; n < count; ++n) {
				column[n] = n == k ? 1.0 : 0.0;
			}
			knDense_SolveLdl(factors, count, column);
			mobility += column[k] / nv;
		}
		if (mobility > 0.0) {
			const double time = joint->springDamper[0], ratio = joint->springDamper[1];
			joint->stiffness = 1.0 / (mobility * time * time * ratio * ratio);
			joint->damping = 2.0 / (mobility * time);
		}
		i += nv;
	}
}

bool knMjcf_ApplySpringDampers(knMjcf* reader) {
	int count = 0, wanted = 0;
	const knMjcfElement* first = NULL;
	for (int i = 0; i < reader->joints.count; ++i) {
		const knMjcfJoint* joint = &reader->joints.items[i];
		count += knMjcf_JointNv(joint);
		wanted += wants(joint) ? 1 : 0;
		first = first == NULL && wants(joint) ? &joint->element : first;
	}
	if (wanted == 0) {
		return true;
	}
	if (count > MOST_FREEDOMS) {
		return knMjcf_Omit(reader, first, "<joint> springdamper left out: there are more than %d freedoms",
						   MOST_FREEDOMS);
	}
	const knMassProps* whole = hangingMasses(reader);
	Freedom* freedoms = KN_SCRATCH(&reader->arena, Freedom, count);
	double* M = KN_SCRATCH(&reader->arena, double, count*(count + 1));
	if (whole == NULL || freedoms == NULL || M == NULL) {
		return knMjcf_NoMemory(reader);
	}
	listFreedoms(reader, freedoms);
	fillMatrix(reader, freedoms, count, whole, M);
	if (!knDense_FactorLdl(M, count)) {
		return knMjcf_Fail(reader, first, "joint", KN_BAD_DATA,
						   "the inertias that its springdamper is measured by are singular");
	}
	applyTo(reader, freedoms, count, M, M + (size_t)count * (size_t)count);
	return true;
}
