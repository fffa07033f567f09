// Control: actuators, tendons, couplings and probes of a scene, and how a running world is steered by them.
//
// An actuator pushes a joint's axis, a tendon or a point of a body with a force that is affine in the length l of what it
// drives and in its rate,
//
//   f = (gain0 + gain1 l + gain2 l') u + bias0 + bias1 l + bias2 l'        clamped to the force range
//
// u being the control, or the activation that follows it. l = gear q for a joint, gear times its length for a tendon; the
// axis feels gear f. So a position servo is gain {kp}, bias {0, -kp, -kv}. What resists (bias1, bias2 < 0) is taken
// implicitly, so that stiff servos are stable at any time step (docs/control.md).
#pragma once

#include "knuckle/scene.h"
#include "knuckle/world.h"

KN_BEGIN_C

// --- tendons ---------------------------------------------------------------------------------------------

// A fixed tendon's part is a joint's axis with a weight: l = sum of weight q. A spatial tendon's part is a point of a body;
// it runs straight from point to point. A part with `pulley` > 0 is no point: what follows it begins anew, and counts
// divided by `pulley`.
typedef struct knTendonPart {
	knJointId joint;
	int axis;
	double weight;
	knBodyId body; // null: the world
	knVec3 point;  // in the body frame
	double pulley;
} knTendonPart;

typedef struct knTendonDef {
	const char* name; // unique among tendons; NULL: "tendon7"
	bool spatial;
	const knTendonPart* parts;
	int partCount;
	double stiffness, damping;   // N/m (or what a fixed tendon's weights make of it), N s/m
	double restLower, restUpper; // no spring force between them
	bool limited;
	double lower, upper; // of the length
} knTendonDef;

KN_API knTendonDef knTendonDef_Default(void);

// --- couplings -------------------------------------------------------------------------------------------

// Holds q1 - ref1 = c0 + c1 x + c2 x^2 + c3 x^3 + c4 x^4, x = q2 - ref2 (without a second joint: x = 0), by a stiff,
// critically damped spring in the joint axes, taken implicitly.
typedef struct knCouplingDef {
	const char* name; // unique among couplings; NULL: "coupling7"
	knJointId joint1, joint2;
	int axis1, axis2;
	double ref1, ref2;
	double coefficients[5];
	double timeConstant; // s, in which an error fades; never less than two steps. 0.02
	bool enabled;        // true
} knCouplingDef;

KN_API knCouplingDef knCouplingDef_Default(void);

// --- actuators -------------------------------------------------------------------------------------------

typedef enum knDriven {
	KN_DRIVEN_JOINT,  // an axis of a joint
	KN_DRIVEN_TENDON, // a tendon
	KN_DRIVEN_POINT,  // a point of a body: l = 0, the wrench is gear f in the axes of `frame`
} knDriven;

// How the u of the force law follows the control c.
typedef enum knActivation {
	KN_ACTIVATION_NONE,       // u = c
	KN_ACTIVATION_INTEGRATOR, // u' = c
	KN_ACTIVATION_FILTER,     // u' = (c - u)/timeConstant, an explicit step
	KN_ACTIVATION_EXACT,      // the same, exactly for a control that is constant during a step
	// u' = (c - u)/t, c and u within 0 and 1; t = timeConstant (1 + 3u)/2 while u rises, 2 fallConstant/(1 + 3u) while it falls;
	// `blend` > 0: from the one to the other while c - u grows by that much about 0
	KN_ACTIVATION_MUSCLE,
} knActivation;

// The law of a muscle, which pulls: its lengths are in units of its optimal length L0, which follows from the shortest and the
// longest l that it can have and where these lie in those units. See src/model/muscle.c.
typedef struct knMuscle {
	double shortest, longest;       // of l
	double rangeLeast, rangeMost;   // the same two in units of L0: 0.75, 1.05
	double force;                   // greatest active force of a muscle at rest, N
	double lengthLeast, lengthMost; // it has no active force beyond: 0.5, 1.6
	double speed;                   // fastest shortening, L0/s: 1.5
	double passive; // passive force at half the way from 1 to lengthMost, doubled; in units of `force`: 1.3
	double lengthening; // greatest active force while it is lengthened, in units of `force`: 1.2
} knMuscle;

typedef struct knActuatorDef {
	const char* name; // unique among actuators; NULL: "actuator7"
	knDriven driven;
	knJointId joint;
	int axis;
	int tendon; // index in the scene
	knBodyId body;
	knFrame frame;  // in the body frame
	double gear[6]; // joints and tendons: the first; points: force, torque. {1}
	double gain[3], bias[3];
	bool isMuscle; // the law is that of `muscle`, not of gain and bias
	knMuscle muscle;
	bool controlLimited, forceLimited, activationLimited;
	double controlRange[2], forceRange[2], activationRange[2];
	knActivation activation;
	double timeConstant; // s
	double fallConstant, blend;
	double control; // at the start
	double start;   // activation at the start
} knActuatorDef;

KN_API knActuatorDef knActuatorDef_Default(void);

// --- probes ----------------------------------------------------------------------------------------------

// What a probe reads; numbers in brackets. Frames are those of the probe's body and `frame`, seen from the world.
typedef enum knProbeKind {
	KN_PROBE_JOINT_POSITION,    // (1) of an axis
	KN_PROBE_JOINT_VELOCITY,    // (1)
	KN_PROBE_JOINT_FORCE,       // (1) of all actuators of the axis, N m or N
	KN_PROBE_TENDON_POSITION,   // (1) length
	KN_PROBE_TENDON_VELOCITY,   // (1)
	KN_PROBE_ACTUATOR_POSITION, // (1) length of what it drives
	KN_PROBE_ACTUATOR_VELOCITY, // (1)
	KN_PROBE_ACTUATOR_FORCE,    // (1)
	KN_PROBE_FRAME_POSITION,    // (3) m
	KN_PROBE_FRAME_ROTATION,    // (4) quaternion w, x, y, z
	KN_PROBE_FRAME_X,           // (3) its x axis
	KN_PROBE_FRAME_Y,
	KN_PROBE_FRAME_Z,
	KN_PROBE_FRAME_VELOCITY,         // (3) m/s, world axes
	KN_PROBE_FRAME_ANGULAR_VELOCITY, // (3) rad/s, world axes
	KN_PROBE_GYRO,                   // (3) angular velocity in the frame's axes
	KN_PROBE_VELOCIMETER,            // (3) velocity in the frame's axes
	KN_PROBE_ACCELEROMETER, // (3) mean acceleration of the last step less gravity, in the frame's axes
	KN_PROBE_FORCE,  // (3) N that the body's joint passes to it, at the frame's origin, in the frame's axes
	KN_PROBE_TORQUE, // (3) N m likewise
	KN_PROBE_TOUCH,  // (1) N, sum of the contacts' normal forces on the body
	KN_PROBE_CLOCK,  // (1) s
	KN_PROBE_KIND_COUNT,
} knProbeKind;

KN_API const char* knProbeKind_Name(knProbeKind kind);
KN_API int knProbeKind_Size(knProbeKind kind);

typedef struct knProbeDef {
	const char* name; // unique among probes; NULL: "probe7"
	knProbeKind kind;
	knJointId joint; // joint, force and torque probes
	int axis;
	int index; // of the actuator or tendon
	knBodyId body;
	knFrame frame; // in the body frame
} knProbeDef;

KN_API knProbeDef knProbeDef_Default(knProbeKind kind);

// --- in a scene ------------------------------------------------------------------------------------------

// Each returns the new thing's index, -1 after a refusal. Removing a body or joint removes what refers to it.
KN_API int knScene_AddTendon(knScene* scene, const knTendonDef* def, knError* error);
KN_API int knScene_AddCoupling(knScene* scene, const knCouplingDef* def, knError* error);
KN_API int knScene_AddActuator(knScene* scene, const knActuatorDef* def, knError* error);
KN_API int knScene_AddProbe(knScene* scene, const knProbeDef* def, knError* error);
KN_API int knScene_TendonCount(const knScene* scene);
KN_API int knScene_CouplingCount(const knScene* scene);
KN_API int knScene_ActuatorCount(const knScene* scene);
KN_API int knScene_ProbeCount(const knScene* scene);
// NULL beyond the count. Valid until the scene's next change.
KN_API const knTendonDef* knScene_GetTendon(const knScene* scene, int index);
KN_API const knCouplingDef* knScene_GetCoupling(const knScene* scene, int index);
KN_API const knActuatorDef* knScene_GetActuator(const knScene* scene, int index);
KN_API const knProbeDef* knScene_GetProbe(const knScene* scene, int index);
// -1 if there is none of that name.
KN_API int knScene_FindTendon(const knScene* scene, const char* name);
KN_API int knScene_FindCoupling(const knScene* scene, const char* name);
KN_API int knScene_FindActuator(const knScene* scene, const char* name);
KN_API int knScene_FindProbe(const knScene* scene, const char* name);

// --- in a world ------------------------------------------------------------------------------------------

// The control of an actuator, from the next step on; it is part of the state. Clamped to its range when it is used.
KN_API knStatus knWorld_SetControl(knWorld* world, int actuator, double control);
KN_API double knWorld_Control(const knWorld* world, int actuator);
KN_API double knWorld_Activation(const knWorld* world, int actuator);
// The force law at the present state, clamped (N, N m, or what its gear makes of it).
KN_API double knWorld_ActuatorForce(const knWorld* world, int actuator);
// Length and rate of what a tendon or an actuator spans.
KN_API double knWorld_TendonLength(const knWorld* world, int tendon, double* rate);
// Reads a probe; returns how many numbers there are.
KN_API int knWorld_ReadProbe(knWorld* world, int probe, double values[4]);

KN_END_C
