// knuckle convert: recordings (.knt) to .html, .glb, .csv or .knt, scenes and MJCF files to MJCF or to compiled scenes.
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "output_file.h"
#include "page_output.h"
#include "scene_request.h"

enum { OPTION_FPS }; // the others are the scene request's

static const cliOption options[] = {
	{ "--fps", "N", "frames per second of a page (60)" },
	{ "--set", "NAME=VALUE", "scene parameter, as for 'run'" },
	{ "--seed", "N", "seed of random scenes (1)" },
	{ "--keyframe", "NAME", "start from this keyframe of an MJCF file" },
	{ "--lenient", NULL, "take what is understood of a file, even if it will move otherwise" },
	{ NULL, NULL, NULL },
};

static knStatus writeRecording(const knTrajectory* trajectory, const char* out, double fps, knError* error) {
	if (!cliHasExtension(out, ".html")) {
		return knTrajectory_Write(trajectory, out, error);
	}
#ifdef KN_HAVE_IO
	knPageDef def = knPageDef_Default();
	def.fps = fps;
	return knPage_FromTrajectory(trajectory, out, &def, error);
#else
	(void)fps;
	return knError_Set(error, KN_UNSUPPORTED, out,
					   "this build has no libknuckle_io, which writes replay pages");
#endif
}

// A recording that was cut off (a crash, a full disk) gives its whole frames, and exit status 3.
static int convertRecording(const char* in, const char* out, double fps) {
	if (!cliHasExtension(out, ".html") && !cliHasExtension(out, ".glb") && !cliHasExtension(out, ".csv") &&
		!cliHasExtension(out, ".knt")) {
		return cliFail(CLI_USAGE, "cannot write '%s': a recording becomes .html, .glb, .csv or .knt", out);
	}
	knError error = { 0 };
	knTrajectory* trajectory = knTrajectory_Open(in, NULL, &error);
	if (trajectory == NULL) {
		return cliFailWith(CLI_BAD_INPUT, &error);
	}
	int status = CLI_DONE;
	if (!cliCanWrite(out)) {
		status = CLI_BAD_INPUT;
	} else if (writeRecording(trajectory, out, fps, &error) != KN_OK) {
		status = cliFailWith(CLI_BAD_INPUT, &error);
	} else if (knTrajectory_Damaged(trajectory, &error)) {
		char why[sizeof(knError) + 64];
		status = cliFail(CLI_BAD_INPUT, "%s; '%s' holds the %d whole frames before that",
						 knError_Format(&error, why, sizeof(why)), out, knTrajectory_FrameCount(trajectory));
	}
	knTrajectory_Close(trajectory);
	return status;
}

// A compiled scene, for the viewer's static site.
static int compileScene(const cliSceneRequest* request, const char* out) {
	cliScene scene;
	int status = cliScene_Open(&scene, request);
	if (status != CLI_DONE) {
		return status;
	}
	knError error = { 0 };
	void* bytes = NULL;
	size_t size = 0;
	cliOutputFile file;
	if (knScene_ToBytes(scene.scene, NULL, &bytes, &size, &error) != KN_OK) {
		status = cliFailWith(CLI_BAD_INPUT, &error);
	} else if (!cliCanWrite(out) || !cliOutputFile_Open(&file, out)) {
		status = CLI_BAD_INPUT;
	} else {
		fwrite(bytes, 1, size, file.stream);
		status = cliOutputFile_Commit(&file) ? CLI_DONE : CLI_BAD_INPUT;
	}
	if (bytes != NULL) {
		knAllocator allocator = knAllocator_Default();
		allocator.release(bytes, size, allocator.context);
	}
	cliScene_Close(&scene);
	return status;
}

static int convertScene(const cliSceneRequest* request, const char* out) {
	if (cliHasExtension(out, ".kns")) {
		return compileScene(request, out);
	}
	if (!cliHasExtension(out, ".xml")) {
		return cliFail(CLI_USAGE,
					   "cannot write '%s': a scene becomes MJCF (.xml) or a compiled scene (.kns); "
					   "'knuckle run --out' records it",
					   out);
	}
#ifdef KN_HAVE_MJCF
	cliScene scene;
	int status = cliScene_Open(&scene, request);
	if (status != CLI_DONE) {
		return status;
	}
	// the script of a stack does nothing unless a twin or a pull was asked for
	bool acts = scene.entry != NULL && scene.entry->script != NULL &&
				(!scene.entry->twins || scene.args.twin != 0 || knSceneArgs_Get(&scene.args, "pull") != 0.0);
	if (acts) {
		fprintf(stderr,
				"knuckle: note: what '%s' does between steps (twins, pushes) is not part of the file\n",
				request->source);
	}
	knError error = { 0 };
	if (!cliCanWrite(out)) {
		status = CLI_BAD_INPUT;
	} else if (knMjcf_Save(scene.scene, out, &error) != KN_OK) {
		status = cliFailWith(CLI_BAD_INPUT, &error);
	}
	cliScene_Close(&scene);
	return status;
#else
	return cliFail(CLI_BAD_INPUT,
				   "cannot write '%s' from '%s': this build has no MJCF; install libexpat1-dev, then "
				   "configure and build "
				   "again",
				   out, request->source);
#endif
}

static bool setOption(cliSceneRequest* request, double* fps, int option, const char* value) {
	if (option == OPTION_FPS) {
		return cliParseNumber("--fps", value, 1e-6, 1e9, "a positive number of frames per second", fps);
	}
	return cliSceneRequest_SetOption(request, options[option].name, value);
}

static int convertCommand(const cliCommand* command, int argc, char** argv) {
	cliReader reader = cliReader_Begin(command, argc, argv);
	cliSceneRequest request = cliSceneRequest_Default();
	const char* value;
	const char* out = NULL;
	double fps = CLI_WATCHED_FPS;
	int option;
	while ((option = cliReader_Next(&reader, &value)) != CLI_END) {
		if (option == CLI_HELPED) {
			return CLI_DONE;
		}
		if (option == CLI_OPERAND && out == NULL) {
			*(request.source == NULL ? &request.source : &out) = value;
		} else if (option == CLI_OPERAND) {
			return cliFail(CLI_USAGE, "'convert' takes IN and OUT, and no third '%s'", value);
		} else if (option == CLI_REFUSED || !setOption(&request, &fps, option, value)) {
			return CLI_USAGE;
		}
	}
	if (out == NULL) {
		return cliFail(CLI_USAGE, "'convert' needs IN and OUT: knuckle convert run.knt run.csv");
	}
	if (strcmp(request.source, out) == 0) {
		return cliFail(CLI_USAGE, "IN and OUT are the same file '%s'", out);
	}
	if (cliHasExtension(request.source, ".knt")) {
		return convertRecording(request.source, out, fps);
	}
	return convertScene(&request, out);
}

const cliCommand cliConvertCommand = {
	.name = "convert",
	.operands = "IN OUT",
	.summary = "convert a recording to .html, .glb, .csv or .knt, or a scene to MJCF or .kns",
	.options = options,
	.notes = "examples:\n"
			 "  knuckle convert run.knt run.html\n"
			 "  knuckle convert run.knt run.csv\n"
			 "  knuckle convert wall wall.xml --set bricks=50\n"
			 "  knuckle convert robot.xml robot.kns\n",
	.run = convertCommand,
};
