// knuckle dynamics: forward and inverse dynamics, mass matrix, poses and energies of an articulated model in JSON, in
// the file's own order of coordinates.
#include <stdio.h>
#include <stdlib.h>

#include "core/json.h"
#include "options.h"
#include "output_file.h"

static const cliOption options[] = {
	{ "--json", "FILE|-", "where the results go (standard output)" },
	{ NULL, NULL, NULL },
};

#ifdef KN_HAVE_TREE_JSON

#include "knuckle/io.h"

#define MAX_VELOCITIES 5000 // of which a mass matrix is printed

typedef struct Dynamics {
	knTreeFile file;
	knTreeWork* work;
	double *bias, *qdd, *qddForced, *H, *ordered;
	knTwist* forces; // world axes
} Dynamics;

static bool openDynamics(Dynamics* d) {
	knError error = { 0 };
	size_t nv = (size_t)d->file.nv + 1, n = (size_t)d->file.linkCount;
	d->work = knTreeWork_Create(d->file.tree, NULL, &error);
	d->bias = calloc(nv, sizeof(double));
	d->qdd = calloc(nv, sizeof(double));
	d->qddForced = calloc(nv, sizeof(double));
	d->H = calloc(nv * nv, sizeof(double));
	d->ordered = calloc(nv * nv, sizeof(double));
	d->forces = calloc(n, sizeof(knTwist));
	return d->work != NULL && d->bias != NULL && d->qdd != NULL && d->qddForced != NULL && d->H != NULL &&
		   d->ordered != NULL && d->forces != NULL;
}

static void closeDynamics(Dynamics* d) {
	knTreeWork_Destroy(d->work);
	free(d->bias);
	free(d->qdd);
	free(d->qddForced);
	free(d->H);
	free(d->ordered);
	free(d->forces);
	knTreeFile_Free(&d->file);
}

static void compute(Dynamics* d) {
	const knTreeFile* file = &d->file;
	knTree_MassMatrix(file->tree, d->work, file->q, d->H);
	knTree_InverseDynamics(file->tree, d->work, file->q, file->v, NULL, NULL, file->gravity, d->bias);
	knTree_ForwardDynamics(file->tree, d->work, file->q, file->v, file->tau, NULL, file->gravity, d->qdd);
	knTree_Kinematics(file->tree, d->work, file->q, file->v);
	for (int i = 0; i < file->linkCount; ++i) {
		knQuat q = knTree_LinkFrame(file->tree, d->work, i).q;
		d->forces[i] = (knTwist){ knRotate(q, file->forces[i].ang), knRotate(q, file->forces[i].lin) };
	}
	knTree_ForwardDynamics(file->tree, d->work, file->q, file->v, file->tau, d->forces, file->gravity,
						   d->qddForced);
	knTree_Kinematics(file->tree, d->work, file->q, file->v);
}

// --- writing ---------------------------------------------------------------------------------------------------

static void writeNumbers(knJson* json, const char* key, const double* values, int count) {
	knJson_BeginArray(json, key);
	for (int i = 0; i < count; ++i) {
		knJson_Number(json, NULL, values[i]);
	}
	knJson_EndArray(json);
}

static void writeVelocities(knJson* json, const char* key, Dynamics* d, const double* values) {
	for (int i = 0; i < d->file.nv; ++i) {
		d->ordered[d->file.fileVelocity[i]] = values[i];
	}
	writeNumbers(json, key, d->ordered, d->file.nv);
}

static void writeVec(knJson* json, knVec3 v) {
	knJson_Number(json, NULL, v.x);
	knJson_Number(json, NULL, v.y);
	knJson_Number(json, NULL, v.z);
}

static void writeLinks(knJson* json, const Dynamics* d) {
	const knTreeFile* file = &d->file;
	knJson_BeginArray(json, "link_world_pose_R9_p3");
	for (int i = 0; i < file->linkCount; ++i) {
		knFrame frame = knTree_LinkFrame(file->tree, d->work, i);
		knMat33 R = knQuat_ToMat33(frame.q), rows = knTranspose33(&R);
		writeVec(json, rows.cx);
		writeVec(json, rows.cy);
		writeVec(json, rows.cz);
		writeVec(json, frame.p);
	}
	knJson_EndArray(json);
	knJson_BeginArray(json, "link_spatial_velocity_link_frame_lin3_ang3");
	for (int i = 0; i < file->linkCount; ++i) {
		knTwist velocity = knTree_LinkVelocity(file->tree, d->work, i);
		knQuat q = knTree_LinkFrame(file->tree, d->work, i).q;
		writeVec(json, knInvRotate(q, velocity.lin));
		writeVec(json, knInvRotate(q, velocity.ang));
	}
	knJson_EndArray(json);
}

static void writeResults(knJson* json, Dynamics* d) {
	const knTreeFile* file = &d->file;
	int nv = file->nv;
	knJson_BeginObject(json, NULL);
	knJson_Integer(json, "nlinks", file->linkCount);
	knJson_Integer(json, "nq", file->nq);
	knJson_Integer(json, "nv", nv);
	writeVelocities(json, "qdd_nofext", d, d->qdd);
	writeVelocities(json, "qdd_fext", d, d->qddForced);
	writeVelocities(json, "bias_C", d, d->bias);
	for (int i = 0; i < nv; ++i) {
		for (int j = 0; j < nv; ++j) {
			d->ordered[file->fileVelocity[i] * nv + file->fileVelocity[j]] = d->H[i * nv + j];
		}
	}
	writeNumbers(json, "H_rowmajor", d->ordered, nv * nv);
	writeLinks(json, d);
	knJson_Number(json, "kinetic_energy", knTree_KineticEnergy(file->tree, d->work));
	knJson_Number(json, "potential_energy", knTree_PotentialEnergy(file->tree, d->work, file->gravity));
	knJson_EndObject(json);
}

static int output(const knJson* json, const char* path) {
	if (json->failed) {
		return cliFail(CLI_FAILED, "out of memory");
	}
	if (path == NULL) {
		puts(json->text);
		return CLI_DONE;
	}
	cliOutputFile out;
	if (!cliCanWrite(path) || !cliOutputFile_Open(&out, path)) {
		return CLI_BAD_INPUT;
	}
	fprintf(out.stream, "%s\n", json->text);
	return cliOutputFile_Commit(&out) ? CLI_DONE : CLI_BAD_INPUT;
}

static bool allFinite(const double* values, int count) {
	bool finite = true;
	for (int i = 0; i < count; ++i) {
		finite = finite && knIsFinite(values[i]);
	}
	return finite;
}

static bool isFinite(const Dynamics* d) {
	int nv = d->file.nv;
	return allFinite(d->bias, nv) && allFinite(d->qdd, nv) && allFinite(d->qddForced, nv) &&
		   allFinite(d->H, nv * nv);
}

static int runDynamics(const char* in, const char* out) {
	Dynamics d = { 0 };
	knError error = { 0 };
	if (knTreeFile_Load(in, &d.file, &error) != KN_OK) {
		return cliFailWith(CLI_BAD_INPUT, &error);
	}
	if (d.file.nv > MAX_VELOCITIES) {
		int count = d.file.nv;
		knTreeFile_Free(&d.file);
		return cliFail(CLI_BAD_INPUT,
					   "%s: %d velocity coordinates are too many to print a mass matrix for; %d are allowed",
					   in, count, MAX_VELOCITIES);
	}
	int status = CLI_FAILED;
	if (openDynamics(&d)) {
		knJson json;
		knAllocator allocator = knAllocator_Default();
		knJson_Init(&json, &allocator);
		compute(&d);
		if (isFinite(&d)) {
			writeResults(&json, &d);
			status = output(&json, out);
		} else {
			status = cliFail(CLI_BAD_INPUT,
							 "%s: the results are not finite; its numbers are too large or too small", in);
		}
		knJson_Free(&json);
	} else {
		cliFail(CLI_FAILED, "out of memory");
	}
	closeDynamics(&d);
	return status;
}

#else

static int runDynamics(const char* in, const char* out) {
	(void)in, (void)out;
	return cliFail(CLI_USAGE,
				   "this build cannot read JSON models: cJSON was not found (Debian package libcjson-dev)");
}

#endif

static int dynamicsCommand(const cliCommand* command, int argc, char** argv) {
	cliReader reader = cliReader_Begin(command, argc, argv);
	const char *value, *in = NULL, *out = NULL;
	int option;
	while ((option = cliReader_Next(&reader, &value)) != CLI_END) {
		if (option == CLI_HELPED) {
			return CLI_DONE;
		}
		if (option == CLI_REFUSED) {
			return CLI_USAGE;
		}
		if (option == CLI_OPERAND && in != NULL) {
			return cliFail(CLI_USAGE, "one model at a time");
		}
		if (option == CLI_OPERAND) {
			in = value;
		} else {
			out = value[0] == '-' && value[1] == '\0' ? NULL : value;
		}
	}
	if (in == NULL) {
		return cliFail(CLI_USAGE, "dynamics of what? Name a model in JSON");
	}
	return runDynamics(in, out);
}

const cliCommand cliDynamicsCommand = {
	.name = "dynamics",
	.operands = "FILE.json",
	.summary = "accelerations, mass matrix, poses and energies of an articulated model",
	.options = options,
	.notes = "The model's format and the fields of the result are described in docs/methods/dynamics.md.\n",
	.run = dynamicsCommand,
};
