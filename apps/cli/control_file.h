// --control FILE.csv: values for actuators over time. The first line names them, after "time"; each further line holds a time
// in seconds and their values from then on, until the next line. Actuators that are not named keep what the scene gives them.
#pragma once

#include "cli.h"
#include "core/array.h"
#include "knuckle/control.h"

typedef struct cliControl {
	KN_ARRAY(int) actuators; // one a column
	KN_ARRAY(double) values; // row by row, time first
	int next;                // the first row that has not come yet
} cliControl;

// Returns an exit status after a complaint; CLI_DONE: call cliControl_Close.
int cliControl_Open(cliControl* control, const char* path, const knScene* scene);
void cliControl_Close(cliControl* control);
// Sets what holds from the world's present time on.
void cliControl_Apply(cliControl* control, knWorld* world);
