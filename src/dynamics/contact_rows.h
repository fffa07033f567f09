// Contacts as rows: one normal and two friction rows a point (and two more where bodies resist rolling),
// warm-started from what the same features carried in the step before.
#pragma once

#include "core/arena.h"
#include "dynamics/row_input.h"
#include "dynamics/step_contact.h"

// What a contact carried, kept in the stepper's part of the state and sorted by the first three fields.
typedef struct knContactMemory {
	int32_t shapeA, shapeB;
	uint64_t feature;
	double normal;   // N s
	knVec3 friction; // N s on B, world axes: tangents may turn between steps
	knVec3 place;    // of the point on the pair's anchor body, from its centre in its axes
} knContactMemory;

// The contacts of a step, in the arena.
typedef struct knContactRows {
	knStepContact* contacts; // sorted by (shapeA, shapeB, feature); impulses by knContactRows_Collect
	int* row;                // [count] offset of its first row, -1: none (sensor, nothing can move)
	int* remembered;         // [count] index into the memory, -1: new
	int count;
	int solidCount; // contacts that have rows
	int rowCount;
} knContactRows;

// Lists the contacts, counts rows and finds each contact's memory. False when the arena has no memory.
bool knContactRows_List(knContactRows* list, const knRowInput* input, const knContactSet* set,
						const knContactMemory* memory, int memoryCount, knArena* arena);
// Fills rows [firstRow, firstRow + rowCount), which must exist.
void knContactRows_Fill(const knContactRows* list, const knRowInput* input, const knContactMemory* memory,
						int firstRow, knRows* rows);
// After the solve, before bodies move: writes the contacts' impulses and, for the next step, one memory a
// solid contact; returns how many.
int knContactRows_Collect(knContactRows* list, const knRowInput* input, const knRows* rows, int firstRow,
						  knContactMemory* memory);
