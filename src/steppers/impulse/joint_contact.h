// Joints and the contacts that press on them, solved together: joint_contact.c.
#pragma once

#include "steppers/impulse/impulse_step.h"

typedef struct knJointContacts knJointContacts;

// For the dynamics phase, after the joints settled once; needs step->islands. NULL if no contact has to do with a joint.
// False: no memory.
bool knJointContacts_Begin(knImpulseStep* step, knJointContacts** contacts);
// One round, after a sweep over the contacts, of the islands in which a rate of a joint or of a point that pushes is wrong
// by more than `good` (m/s); false: there is none left.
bool knJointContacts_Round(knJointContacts* contacts, double good);
// Push-out of the points that are solved with joints, for the targets that knContactPush_Run found; of heaps only where one is above
// `good`.
void knJointContacts_Push(knJointContacts* contacts, double good);
