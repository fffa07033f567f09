// Probes over time (sensor_file.h).
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sensor_file.h"

// Quoted as RFC 4180 says, if it must be.
static void putName(FILE* file, const char* name, const char* suffix) {
	const bool quoted = strpbrk(name, ",\"\r\n") != NULL;
	fputs(quoted ? ",\"" : ",", file);
	for (const char* c = name; *c != '\0'; ++c) {
		// a quote within quotes is doubled
		if (*c == '"') {
			fputc('"', file);
		}
		fputc(*c, file);
	}
	fprintf(file, "%s%s", suffix, quoted ? "\"" : "");
}

int cliSensors_Open(cliSensors* sensors, const char* path, const knScene* scene) {
	*sensors = (cliSensors){ .path = path, .count = knScene_ProbeCount(scene) };
	if (sensors->count == 0) {
		return cliFail(CLI_USAGE, "--sensors: the scene has none");
	}
	sensors->file = fopen(path, "wb");
	if (sensors->file == NULL) {
		return cliFail(CLI_BAD_INPUT, "cannot write '%s': %s", path, strerror(errno));
	}
	fputs("time", sensors->file);
	for (int i = 0; i < sensors->count; ++i) {
		const knProbeDef* def = knScene_GetProbe(scene, i);
		const int size = knProbeKind_Size(def->kind);
		for (int k = 0; k < size; ++k) {
			char suffix[16] = "";
			if (size > 1) {
				snprintf(suffix, sizeof suffix, ".%d", k);
			}
			putName(sensors->file, def->name, suffix);
		}
	}
	fputc('\n', sensors->file);
	return CLI_DONE;
}

void cliSensors_Write(knWorld* world, int64_t step, void* context) {
	(void)step;
	cliSensors* sensors = context;
	fprintf(sensors->file, "%.17g", knWorld_Time(world));
	for (int i = 0; i < sensors->count; ++i) {
		double values[4];
		const int size = knWorld_ReadProbe(world, i, values);
		for (int k = 0; k < size; ++k) {
			fprintf(sensors->file, ",%.17g", values[k]);
		}
	}
	sensors->failed = fputc('\n', sensors->file) == EOF || sensors->failed;
}

int cliSensors_Close(cliSensors* sensors) {
	if (sensors->file == NULL) {
		return CLI_DONE;
	}
	const bool failed = ferror(sensors->file) != 0 || sensors->failed;
	const bool closed = fclose(sensors->file) == 0;
	sensors->file = NULL;
	return !failed && closed ? CLI_DONE : cliFail(CLI_BAD_INPUT, "cannot write '%s'", sensors->path);
}
