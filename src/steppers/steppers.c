// The table of steppers. Adding one: its folder with step_*.c, an extern line in stepper_ops.h, a line here.

#include "steppers/stepper_ops.h"

#include <string.h>

static const knStepperOps* const steppers[] = {
	&knVelocityStepper,
	&knImpulseStepper,
	&knReducedStepper,
	&knAdaptiveStepper,
};

const knStepperOps* knStepperOps_At(int index) {
	int count = (int)(sizeof(steppers) / sizeof(steppers[0]));
	return index >= 0 && index < count ? steppers[index] : NULL;
}

const knStepperOps* knStepperOps_Find(const char* name) {
	for (int i = 0; name != NULL && knStepperOps_At(i) != NULL; ++i) {
		if (strcmp(knStepperOps_At(i)->name, name) == 0) {
			return knStepperOps_At(i);
		}
	}
	return NULL;
}

const char* knStepper_Name(int index) {
	const knStepperOps* ops = knStepperOps_At(index);
	return ops != NULL ? ops->name : NULL;
}

const char* knStepper_Help(const char* name) {
	const knStepperOps* ops = knStepperOps_Find(name);
	return ops != NULL ? ops->help : NULL;
}
