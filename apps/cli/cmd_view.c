// knuckle view: a scene, a model or a recording in the browser.
//
// Serves one page on 127.0.0.1 until Ctrl-C: the viewer with the engine inside (the target `viewer` of the build makes it)
// for a scene of the catalogue or a model, which is compiled here and fetched by the page; a replay page for a recording.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "interrupt.h"
#include "options.h"
#include "scene_request.h"
#include "server.h"
#include "temp_folder.h"

enum {
	OPTION_STEPPER,
	OPTION_DT,
	OPTION_SEED,
	OPTION_SET,
	OPTION_KEYFRAME,
	OPTION_LENIENT,
	OPTION_PORT,
	OPTION_NO_BROWSER,
};

static const cliOption options[] = {
	{ "--stepper", "NAME", "the method (default: what the scene names)" },
	{ "--dt", "S", "time step (default: the scene's)" },
	{ "--seed", "N", "seed of random scenes (1)" },
	{ "--set", "NAME=VALUE", "scene parameter, gravity=x,y,z, friction=M, restitution=E or stepper setting" },
	{ "--keyframe", "NAME", "start from this keyframe of an MJCF file" },
	{ "--lenient", NULL, "show a file in spite of elements that would change its motion" },
	{ "--port", "N", "where to listen (default: a free port)" },
	{ "--no-browser", NULL, "only print the address" },
	{ NULL, NULL, NULL },
};

typedef struct View {
	cliSceneRequest request;
	int64_t port;
	bool quiet;          // no browser is opened
	char page[1024];     // the viewer, or ""
	char pictures[1024]; // beside it
	char address[4096];  // what follows the server's name
	void* html;
	size_t htmlSize;
	void* scene; // compiled, or NULL
	size_t sceneSize;
} View;

// --- options -------------------------------------------------------------------------------------------------------

static int readOptions(View* view, const cliCommand* command, int argc, char** argv) {
	cliReader reader = cliReader_Begin(command, argc, argv);
	const char* value;
	int option;
	view->request = cliSceneRequest_Default();
	while ((option = cliReader_Next(&reader, &value)) != CLI_END) {
		if (option == CLI_HELPED) {
			return CLI_DONE;
		}
		if (option == CLI_REFUSED) {
			return CLI_USAGE;
		}
		if (option == CLI_OPERAND && view->request.source != NULL) {
			return cliFail(CLI_USAGE, "one scene at a time: '%s' or '%s'?", view->request.source, value);
		}
		if (option == CLI_OPERAND) {
			view->request.source = value;
		} else if (option == OPTION_NO_BROWSER) {
			view->quiet = true;
		} else if (option == OPTION_PORT) {
			if (!cliParseWhole("--port", value, 0.0, 65535.0, &view->port)) {
				return CLI_USAGE;
			}
		} else if (!cliSceneRequest_SetOption(&view->request, options[option].name, value)) {
			return CLI_USAGE;
		}
	}
	if (view->request.source == NULL) {
		return cliFail(CLI_USAGE,
					   "view what? 'knuckle view SCENE|FILE|RECORDING'; 'knuckle scenes' lists the scenes");
	}
	return -1;
}

// --- files ---------------------------------------------------------------------------------------------------------

static bool readFile(const char* path, void** bytes, size_t* size) {
	FILE* file = fopen(path, "rb");
	if (file == NULL) {
		return false;
	}
	size_t capacity = 1 << 20;
	char* text = malloc(capacity);
	*size = 0;
	for (size_t got = 1; text != NULL && got > 0;) {
		if (*size == capacity) {
			char* larger = realloc(text, 2 * capacity);
			if (larger == NULL) {
				free(text);
				text = NULL;
				break;
			}
			text = larger;
			capacity *= 2;
		}
		got = fread(text + *size, 1, capacity - *size, file);
		*size += got;
	}
	fclose(file);
	*bytes = text;
	return text != NULL;
}

// Beside the tool where it was built, in share/knuckle where it was installed, or where the environment says.
static void findViewer(View* view) {
	char self[512] = "";
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char* slash = length > 0 ? strrchr(self, '/') : NULL;
	const char* named = getenv("KNUCKLE_VIEWER");
	if (slash != NULL) {
		*slash = '\0';
	}
	static const char* const places[] = { "viewer", "../share/knuckle/viewer" };
	for (int i = named != NULL ? -1 : 0; i < 2; ++i) {
		char folder[900];
		snprintf(folder, sizeof(folder), i < 0 ? "%s" : "%s/%s", i < 0 ? named : self,
				 i < 0 ? "" : places[i]);
		snprintf(view->page, sizeof(view->page), "%s/index.html", folder);
		snprintf(view->pictures, sizeof(view->pictures), "%s/pictures", folder);
		if (access(view->page, R_OK) == 0) {
			return;
		}
	}
	view->page[0] = '\0';
}

// --- the address ---------------------------------------------------------------------------------------------------

static void append(View* view, const char* text) {
	size_t length = strlen(view->address);
	snprintf(view->address + length, sizeof(view->address) - length, "%s", text);
}

// Everything but letters, digits and a few signs as %XX.
static void appendEscaped(View* view, const char* text) {
	for (; *text != '\0'; ++text) {
		char piece[4] = { *text, '\0' };
		if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.,~/", *text) == NULL) {
			snprintf(piece, sizeof(piece), "%%%02X", (unsigned)(unsigned char)*text);
		}
		append(view, piece);
	}
}

static void addWord(View* view, const char* name, const char* value) {
	append(view, view->address[strlen(view->address) - 1] == '#' ? "" : "&");
	append(view, name);
	append(view, "=");
	appendEscaped(view, value);
}

// --- what is shown -------------------------------------------------------------------------------------------------

static int prepareRecording(View* view) {
#ifdef KN_HAVE_IO
	knError error = { 0 };
	cliTempFolder folder;
	if (cliHasExtension(view->request.source, ".html")) {
		bool read = readFile(view->request.source, &view->html, &view->htmlSize);
		return read ? CLI_DONE : cliFail(CLI_BAD_INPUT, "cannot read '%s'", view->request.source);
	}
	knTrajectory* recording = knTrajectory_Open(view->request.source, NULL, &error);
	if (recording == NULL) {
		return cliFailWith(CLI_BAD_INPUT, &error);
	}
	if (!cliTempFolder_Make(&folder)) {
		knTrajectory_Close(recording);
		return CLI_BAD_INPUT;
	}
	char path[600];
	snprintf(path, sizeof(path), "%s/page.html", folder.path);
	knPageDef def = knPageDef_Default();
	def.fps = 60.0;
	int status = knPage_FromTrajectory(recording, path, &def, &error) == KN_OK
					 ? CLI_DONE
					 : cliFailWith(CLI_BAD_INPUT, &error);
	if (status == CLI_DONE && !readFile(path, &view->html, &view->htmlSize)) {
		status = cliFail(CLI_FAILED, "cannot read '%s'", path);
	}
	knTrajectory_Close(recording);
	cliTempFolder_Remove(&folder);
	return status;
#else
	return cliFail(CLI_BAD_INPUT, "this build has no replay page to show '%s' with", view->request.source);
#endif
}

// The catalogue's scenes are built by the engine in the page; what it would refuse is refused here.
static int prepareScene(View* view) {
	findViewer(view);
	if (view->page[0] == '\0' || !readFile(view->page, &view->html, &view->htmlSize)) {
		return cliFail(CLI_BAD_INPUT,
					   "the viewer page is not built; 'cmake --build --preset release --target viewer' "
					   "makes it (needs node, clang, lld and wasi-libc)");
	}
	cliScene scene;
	view->request.looks = true;
	int status = cliScene_Open(&scene, &view->request);
	if (status != CLI_DONE) {
		return status;
	}
	append(view, "#");
	if (scene.entry != NULL) {
		addWord(view, "scene", view->request.source);
		for (int i = 0; i < view->request.setCount; ++i) {
			char name[80];
			const char* equals = strchr(view->request.sets[i], '=');
			snprintf(name, sizeof(name), "set.%.*s", (int)(equals - view->request.sets[i]),
					 view->request.sets[i]);
			addWord(view, name, equals + 1);
		}
		if (view->request.seed != NULL) {
			addWord(view, "set.seed", view->request.seed);
		}
		char dt[40];
		snprintf(dt, sizeof(dt), "%.17g", view->request.dt);
		if (view->request.dt > 0.0) {
			addWord(view, "dt", dt);
		}
	} else {
		// what --set changed is in the compiled scene
		knError error = { 0 };
		const char* slash = strrchr(view->request.source, '/');
		addWord(view, "file", "scene");
		addWord(view, "name", slash != NULL ? slash + 1 : view->request.source);
		if (knScene_ToBytes(scene.scene, NULL, &view->scene, &view->sceneSize, &error) != KN_OK) {
			status = cliFailWith(CLI_BAD_INPUT, &error);
		}
	}
	if (view->request.stepper != NULL) {
		addWord(view, "stepper", view->request.stepper);
	}
	addWord(view, "served", "1");
	cliScene_Close(&scene);
	return status;
}

// --- serving -------------------------------------------------------------------------------------------------------

// On a terminal, in the browser that the system prefers.
static void openBrowser(const char* url) {
#ifndef __wasm__
	if (isatty(STDOUT_FILENO) && cliFindProgram("xdg-open") &&
		(getenv("DISPLAY") != NULL || getenv("WAYLAND_DISPLAY") != NULL)) {
		char command[5000];
		// the address holds no quotes: appendEscaped has made %27 of them
		snprintf(command, sizeof(command), "xdg-open '%s' >/dev/null 2>&1 &", url);
		if (system(command) != 0) {
			return;
		}
	}
#else
	(void)url;
#endif
}

static int serve(const View* view) {
	cliServed served[3] = {
		{ "/", "text/html; charset=utf-8", view->html, view->htmlSize },
		{ "/index.html", "text/html; charset=utf-8", view->html, view->htmlSize },
		{ "/scene", "application/octet-stream", view->scene, view->sceneSize },
	};
	cliServerDef def = { .port = (int)view->port,
						 .count = view->scene != NULL ? 3 : 2,
						 .served = served,
						 .pictures = view->page[0] != '\0' ? view->pictures : NULL,
						 .compiles = view->page[0] != '\0' };
	cliInterrupt_Catch();
	cliServer* server = cliServer_Start(&def);
	if (server == NULL) {
		return CLI_BAD_INPUT;
	}
	char url[4200];
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/%s", cliServer_Port(server), view->address);
	printf("%s\nCtrl-C ends it\n", url);
	fflush(stdout);
	if (!view->quiet) {
		openBrowser(url);
	}
	while (!cliInterrupted()) {
		struct timespec pause = { .tv_nsec = 100000000 };
		nanosleep(&pause, NULL);
	}
	cliServer_Stop(server);
	return CLI_DONE;
}

static int viewCommand(const cliCommand* command, int argc, char** argv) {
	View view = { 0 };
	int status = readOptions(&view, command, argc, argv);
	if (status >= 0) {
		return status;
	}
	if (!cliServer_Available()) {
		(void)cliServer_Start(NULL);
		return CLI_BAD_INPUT;
	}
	bool recording =
		cliHasExtension(view.request.source, ".knt") || cliHasExtension(view.request.source, ".html");
	status = recording ? prepareRecording(&view) : prepareScene(&view);
	if (status == CLI_DONE) {
		status = serve(&view);
	}
	knAllocator allocator = knAllocator_Default();
	if (view.scene != NULL) {
		allocator.release(view.scene, view.sceneSize, allocator.context);
	}
	free(view.html);
	return status;
}

const cliCommand cliViewCommand = {
	.name = "view",
	.operands = "SCENE|FILE|RECORDING",
	.summary = "run a scene live in the browser, or play a recording there",
	.options = options,
	.notes = "Serves a page on 127.0.0.1 and prints its address; Ctrl-C ends it.\n"
			 "examples:\n"
			 "  knuckle view tower\n"
			 "  knuckle view models/four_bar.xml --stepper impulse\n"
			 "  knuckle view run.knt\n",
	.run = viewCommand,
};
