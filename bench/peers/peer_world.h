// A world that another engine steps: the scene, its script and all measures are ours, the motion is the peer's. What the
// script did since the last step (bodies added, moved, pushed) is brought in, the peer steps, and poses, velocities and
// contacts with their impulses are brought back. Only the peer's own work is timed.
//
// Engines: "ode" and "bullet", each with its defaults, or with ":best" as it holds piles best.
// Not supported, and refused by name: meshes and all other shapes than spheres, capsules, boxes and planes; joints other than
// ball, hinge and fixed, with limits, motors, springs or friction; kinematic bodies, damping, rolling friction.
#pragma once

#include "knuckle/world.h"

typedef struct knPeerWorld knPeerWorld;

// True if it is the name of a peer, whether or not this build has it.
bool knPeer_IsName(const char* name);
// KN_UNSUPPORTED, and how to get it, if this build does not have it.
knStatus knPeer_Check(const char* name, knError* error);

// Takes over a world of any stepper, which stays the caller's and must outlive it. KN_UNSUPPORTED when the engine is
// missing or the scene is beyond it.
knPeerWorld* knPeerWorld_Open(const char* name, bool best, knWorld* world, knError* error);
void knPeerWorld_Close(knPeerWorld* peer);
// As knWorld_Step does it.
knStatus knPeerWorld_Step(knPeerWorld* peer, double dt, knError* error);
// The engine and its version.
const char* knPeerWorld_Title(const knPeerWorld* peer);
