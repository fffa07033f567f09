// The table of benchmark suites.
#include "bench.h"

#include <string.h>

extern const knBenchSuite knLcpBench;
extern const knBenchSuite knVspBench, knVspCurvesBench, knVspTimesBench;
extern const knBenchSuite knArticulationBench, knArticulationErrorsBench, knArticulationTimesBench;
extern const knBenchSuite knCollideBench;
extern const knBenchSuite knBroadBench;
extern const knBenchSuite knFieldBench;
extern const knBenchSuite knDynamicsBench;
extern const knBenchSuite knAdaptiveBench;

static const knBenchSuite* const suites[] = {
	&knLcpBench,
	&knVspBench,
	&knVspCurvesBench,
	&knVspTimesBench,
	&knArticulationBench,
	&knArticulationErrorsBench,
	&knArticulationTimesBench,
	&knCollideBench,
	&knBroadBench,
	&knFieldBench,
	&knDynamicsBench,
	&knAdaptiveBench,
	NULL, // ends the table
};

const knBenchSuite* knBenchSuite_At(int index) {
	return suites[index];
}

const knBenchSuite* knBenchSuite_Find(const char* name) {
	for (int i = 0; suites[i] != NULL; ++i) {
		if (strcmp(suites[i]->name, name) == 0) {
			return suites[i];
		}
	}
	return NULL;
}
