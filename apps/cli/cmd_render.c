// knuckle render: pictures and films, by the replay page in Chromium without a window; ffmpeg makes the films.
//
// The run becomes a page in a temporary folder; Chromium opens it; the page draws itself at a moment and hands over its
// canvas (window.knuckle.shoot in apps/web/src/main.ts).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "browser.h"
#include "interrupt.h"
#include "options.h"
#include "output_file.h"
#include "progress.h"
#include "simulate.h"
#include "video.h"

#define FILM_FPS 30.0
#define DEFAULT_WIDTH 1280
#define DEFAULT_HEIGHT 720
#define MAX_SIDE 8192

enum {
	OPTION_OUT,
	OPTION_TIME,
	OPTION_SIZE,
	OPTION_FPS,
	OPTION_VIEW,
	OPTION_THEME,
	OPTION_STEPPER,
	OPTION_DT,
	OPTION_SEED,
	OPTION_SET,
	OPTION_KEYFRAME,
	OPTION_LENIENT,
};

static const cliOption options[] = {
	{ "--out", "FILE", "the picture, FILE.png or FILE.jpg, or the film, FILE.mp4" },
	{ "--time", "S", "the moment of a picture, the end of a film (default: the end of the run)" },
	{ "--size", "WxH", "in pixels (1280x720)" },
	{ "--fps", "N", "frames a second of a film (30)" },
	{ "--view", "AZ,EL[,ZOOM]", "from where: degrees about z and above the horizon (-62,17,1)" },
	{ "--theme", "light|dark", "(light)" },
	{ "--stepper", "NAME", "as for 'run', when a scene is rendered; so are these:" },
	{ "--dt", "S", "time step" },
	{ "--seed", "N", "seed of random scenes" },
	{ "--set", "NAME=VALUE", "scene or stepper parameter" },
	{ "--keyframe", "NAME", "start from this keyframe of an MJCF file" },
	{ "--lenient", NULL, "take what is understood of a file, even if it will move otherwise" },
	{ NULL, NULL, NULL },
};

typedef struct RenderOptions {
	cliSceneRequest request;
	const char* out;
	double time; // negative: not given
	double fps;
	int width, height;
	char view[64]; // "": the page's own
	bool dark;
} RenderOptions;

static bool isFilm(const RenderOptions* render) {
	return cliHasExtension(render->out, ".mp4");
}

static bool isPicture(const char* path) {
	return cliHasExtension(path, ".png") || cliHasExtension(path, ".jpg") || cliHasExtension(path, ".jpeg");
}

// --- reading the options -----------------------------------------------------------------------------------------

static bool parseSize(RenderOptions* render, const char* text) {
	int used = 0;
	bool read = sscanf(text, "%dx%d%n", &render->width, &render->height, &used) == 2 && text[used] == '\0';
	if (!read || render->width < 16 || render->height < 16 || render->width > MAX_SIDE ||
		render->height > MAX_SIDE) {
		cliFail(CLI_USAGE, "--size takes WIDTHxHEIGHT, each from 16 to %d, not '%s'", MAX_SIDE, text);
		return false;
	}
	return true;
}

// Checked and written again, as it becomes part of the page's address.
static bool parseView(RenderOptions* render, const char* text) {
	double azimuth, elevation, zoom = 1.0;
	int used = 0;
	bool read = sscanf(text, "%lf,%lf%n", &azimuth, &elevation, &used) == 2;
	if (read && text[used] == ',') {
		int more = 0;
		read = sscanf(text + used, ",%lf%n", &zoom, &more) == 1;
		used += more;
	}
	if (!read || text[used] != '\0' || !knIsFinite(azimuth) || !knIsFinite(elevation) || !(zoom > 0.0) ||
		!knIsFinite(zoom)) {
		cliFail(CLI_USAGE, "--view takes AZIMUTH,ELEVATION or AZIMUTH,ELEVATION,ZOOM, not '%s'", text);
		return false;
	}
	snprintf(render->view, sizeof(render->view), "%g,%g,%g", azimuth, elevation, zoom);
	return true;
}

static bool parseTheme(RenderOptions* render, const char* text) {
	render->dark = strcmp(text, "dark") == 0;
	if (!render->dark && strcmp(text, "light") != 0) {
		cliFail(CLI_USAGE, "--theme is light or dark, not '%s'", text);
		return false;
	}
	return true;
}

static bool setOption(RenderOptions* render, int option, const char* value) {
	switch (option) {
	case OPTION_OUT:
		if (render->out != NULL) {
			cliFail(CLI_USAGE, "one --out at a time: '%s' or '%s'?", render->out, value);
			return false;
		}
		render->out = value;
		return true;
	case OPTION_TIME:
		return cliParseNumber("--time", value, 0.0, 1e300, "a number of seconds from 0 up", &render->time);
	case OPTION_SIZE:
		return parseSize(render, value);
	case OPTION_FPS:
		return cliParseNumber("--fps", value, 0.01, 1000.0, "frames per second from 0.01 to 1000",
							  &render->fps);
	case OPTION_VIEW:
		return parseView(render, value);
	case OPTION_THEME:
		return parseTheme(render, value);
	default:
		return cliSceneRequest_SetOption(&render->request, options[option].name, value);
	}
}

static int checkOptions(const RenderOptions* render) {
	if (render->request.source == NULL) {
		return cliFail(CLI_USAGE, "render what? 'knuckle render RUN.knt|SCENE --out x.png'");
	}
	if (render->out == NULL) {
		return cliFail(CLI_USAGE, "render to what? Add --out x.png or --out x.mp4");
	}
	if (!isFilm(render) && !isPicture(render->out)) {
		return cliFail(CLI_USAGE, "cannot write '%s': a picture ends in .png or .jpg, a film in .mp4",
					   render->out);
	}
	if (isFilm(render) && (render->width % 2 != 0 || render->height % 2 != 0)) {
		return cliFail(CLI_USAGE, "a film has even sides, not %dx%d", render->width, render->height);
	}
	return -1;
}

// An exit status, or -1 to go on.
static int readOptions(RenderOptions* render, const cliCommand* command, int argc, char** argv) {
	cliReader reader = cliReader_Begin(command, argc, argv);
	const char* value;
	int option;
	render->request = cliSceneRequest_Default();
	render->time = -1.0;
	render->fps = FILM_FPS;
	render->width = DEFAULT_WIDTH;
	render->height = DEFAULT_HEIGHT;
	while ((option = cliReader_Next(&reader, &value)) != CLI_END) {
		if (option == CLI_HELPED) {
			return CLI_DONE;
		}
		if (option == CLI_REFUSED) {
			return CLI_USAGE;
		}
		if (option == CLI_OPERAND && render->request.source != NULL) {
			return cliFail(CLI_USAGE, "one run at a time: '%s' or '%s'?", render->request.source, value);
		}
		if (option == CLI_OPERAND) {
			render->request.source = value;
		} else if (!setOption(render, option, value)) {
			return CLI_USAGE;
		}
	}
	return checkOptions(render);
}

#ifdef KN_HAVE_IO

// --- the page ----------------------------------------------------------------------------------------------------

// A picture needs the last state alone, a film its frames. Exit status.
static int simulateTo(const RenderOptions* render, const cliScene* scene, const char* page) {
	cliWorld world;
	int status = cliWorld_Open(&world, scene->scene, render->request.stepper, 1);
	if (status != CLI_DONE) {
		return status;
	}
	double length = (double)scene->steps * scene->dt;
	knError error = { 0 };
	cliPlan plan = { .scene = scene,
					 .world = world.world,
					 .recordingCount = 1,
					 .cancelled = cliInterrupted,
					 .label = render->request.source };
	plan.recordings[0].fps = isFilm(render) ? render->fps : 1.0 / knMax(length, scene->dt);
	plan.recordings[0].page = cliPage_Open(page, scene, world.world, &error);
	if (plan.recordings[0].page == NULL) {
		status = cliFailWith(CLI_BAD_INPUT, &error);
	} else {
		cliMeasures measures;
		cliMeasures_Begin(&measures);
		knStatus stepped = cliSimulate(&plan, &measures, &error);
		if (stepped != KN_OK) {
			status = cliFailWith(CLI_FAILED, &error);
			cliPage_Abandon(plan.recordings[0].page);
		} else if (cliPage_Close(plan.recordings[0].page, scene, world.world, &measures, &error) != KN_OK) {
			status = cliFailWith(CLI_BAD_INPUT, &error);
		}
		cliMeasures_Free(&measures);
	}
	cliWorld_Close(&world);
	return status;
}

static int pageOfScene(RenderOptions* render, const char* page) {
	cliScene scene;
	render->request.time = render->time;
	render->request.looks = true;
	int status = cliScene_Open(&scene, &render->request);
	if (status == CLI_DONE) {
		status = simulateTo(render, &scene, page);
		cliScene_Close(&scene);
	}
	return status;
}

static int pageOfRecording(const RenderOptions* render, const char* page) {
	knError error = { 0 };
	knTrajectory* trajectory = knTrajectory_Open(render->request.source, NULL, &error);
	if (trajectory == NULL) {
		return cliFailWith(CLI_BAD_INPUT, &error);
	}
	knPageDef def = knPageDef_Default();
	def.fps = isFilm(render) ? render->fps : 0.0;
	knStatus status = knPage_FromTrajectory(trajectory, page, &def, &error);
	knTrajectory_Close(trajectory);
	return status == KN_OK ? CLI_DONE : cliFailWith(CLI_BAD_INPUT, &error);
}

// file:// with everything but plain characters escaped, and what the page is to show
static bool pageAddress(const RenderOptions* render, const char* page, char* url, size_t capacity) {
	size_t length = (size_t)snprintf(url, capacity, "file://");
	for (const char* at = page; *at != '\0' && length + 4 < capacity; ++at) {
		bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
					 strchr("/-_.", *at) != NULL;
		length += (size_t)snprintf(url + length, capacity - length, plain ? "%c" : "%%%02X",
								   (unsigned)(unsigned char)*at);
	}
	int rest = snprintf(url + length, capacity - length, "#ui=0&play=0&theme=%s%s%s%s",
						render->dark ? "dark" : "light", isFilm(render) ? "" : "&fit=now",
						render->view[0] != '\0' ? "&view=" : "", render->view);
	return rest > 0 && (size_t)rest < capacity - length;
}

// --- the pictures ------------------------------------------------------------------------------------------------

static const char WAIT_FOR_PAGE[] =
	"new Promise(done => { const look = () => window.knuckle ? window.knuckle.ready.then(() => done('ready ' "
	"+"
	" knuckle.start + ' ' + knuckle.end), e => done(e.message)) : setTimeout(look, 20); look(); })";

static int letterValue(char c) {
	return c >= 'A' && c <= 'Z'   ? c - 'A'
		   : c >= 'a' && c <= 'z' ? c - 'a' + 26
		   : c >= '0' && c <= '9' ? c - '0' + 52
		   : c == '+'             ? 62
		   : c == '/'             ? 63
								  : -1;
}

// In place: the bytes are fewer than the letters. Returns their number.
static size_t fromBase64(uint8_t* bytes, const char* text) {
	uint32_t held = 0;
	int bits = 0;
	size_t count = 0;
	for (; letterValue(*text) >= 0; ++text) {
		held = held << 6 | (uint32_t)letterValue(*text);
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			bytes[count++] = (uint8_t)(held >> bits);
		}
	}
	return count;
}

// The page's canvas at a moment, in memory of the browser's; NULL after a complaint.
static uint8_t* shoot(cliBrowser* browser, double time, const char* type, size_t* size) {
	char expression[128];
	snprintf(expression, sizeof(expression), "knuckle.shoot(%.17g, 'image/%s', 0.92)", time, type);
	char* address = (char*)cliBrowser_Evaluate(browser, expression);
	char* comma = address != NULL ? strchr(address, ',') : NULL;
	if (address != NULL && (comma == NULL || strncmp(address, "data:image/", 11) != 0)) {
		cliFail(CLI_FAILED, "Chromium gave no picture");
	}
	if (comma == NULL) {
		return NULL;
	}
	*size = fromBase64((uint8_t*)address, comma + 1);
	return (uint8_t*)address;
}

static int takePicture(const RenderOptions* render, cliBrowser* browser, double end) {
	size_t size = 0;
	double time = render->time >= 0.0 && render->time < end ? render->time : end;
	const char* type = cliHasExtension(render->out, ".png") ? "png" : "jpeg";
	const uint8_t* picture = shoot(browser, time, type, &size);
	cliOutputFile file;
	if (picture == NULL || !cliOutputFile_Open(&file, render->out)) {
		return picture == NULL ? CLI_FAILED : CLI_BAD_INPUT;
	}
	fwrite(picture, 1, size, file.stream);
	return cliOutputFile_Commit(&file) ? CLI_DONE : CLI_BAD_INPUT;
}

static int shootFilm(const RenderOptions* render, cliBrowser* browser, double start, double end) {
	double last = render->time >= 0.0 && render->time < end ? render->time : end;
	int64_t count = (int64_t)floor((last - start) * render->fps + 1e-9) + 1;
	cliVideo video;
	bool good = cliVideo_Open(&video, render->out, render->fps);
	cliProgress progress = cliProgress_Begin("film", count);
	for (int64_t i = 0; i < count && good; ++i) {
		size_t size = 0;
		const uint8_t* picture = shoot(browser, start + (double)i / render->fps, "jpeg", &size);
		good = picture != NULL && cliVideo_Add(&video, picture, size);
		cliProgress_Update(&progress, i + 1);
	}
	cliProgress_End(&progress);
	if (!good) {
		cliVideo_Abandon(&video);
		return CLI_FAILED;
	}
	return cliVideo_Commit(&video) ? CLI_DONE : CLI_FAILED;
}

static int shootPage(const RenderOptions* render, cliBrowser* browser, const cliTempFolder* folder,
					 const char* page) {
	char url[2048];
	if (!pageAddress(render, page, url, sizeof(url))) {
		return cliFail(CLI_BAD_INPUT, "the path '%s' is too long", page);
	}
	if (!cliBrowser_Open(browser, folder, url, render->width, render->height)) {
		return CLI_FAILED;
	}
	double start, end;
	const char* answer = cliBrowser_Evaluate(browser, WAIT_FOR_PAGE);
	if (answer == NULL) {
		return CLI_FAILED;
	}
	if (sscanf(answer, "ready %lf %lf", &start, &end) != 2) {
		return cliFail(CLI_FAILED, "the page cannot show it: %s", answer);
	}
	return isFilm(render) ? shootFilm(render, browser, start, end) : takePicture(render, browser, end);
}

// What is missing is said before anything is simulated.
static int checkPrograms(const RenderOptions* render) {
	if (!knPage_Available()) {
		return cliFail(CLI_BAD_INPUT,
					   "this build has no replay page to render with; install nodejs and npm, then "
					   "configure and build again");
	}
	if (cliBrowser_Find() == NULL) {
		return cliFail(CLI_BAD_INPUT,
					   "'render' needs Chromium, which is not installed (Debian package chromium)");
	}
	if (isFilm(render) && !cliFindProgram("ffmpeg")) {
		return cliFail(CLI_BAD_INPUT, "films need ffmpeg, which is not installed (Debian package ffmpeg)");
	}
	return cliCanWrite(render->out) ? CLI_DONE : CLI_BAD_INPUT;
}

static int renderIn(RenderOptions* render, const cliTempFolder* folder) {
	char page[560];
	snprintf(page, sizeof(page), "%s/page.html", folder->path);
	int status = cliHasExtension(render->request.source, ".knt") ? pageOfRecording(render, page)
																 : pageOfScene(render, page);
	if (status != CLI_DONE) {
		return status;
	}
	cliBrowser browser;
	status = shootPage(render, &browser, folder, page);
	cliBrowser_Close(&browser);
	return status;
}

static int renderCommand(const cliCommand* command, int argc, char** argv) {
	RenderOptions render = { 0 };
	int status = readOptions(&render, command, argc, argv);
	if (status >= 0) {
		return status;
	}
	status = checkPrograms(&render);
	cliTempFolder folder;
	if (status != CLI_DONE) {
		return status;
	}
	if (!cliTempFolder_Make(&folder)) {
		return CLI_BAD_INPUT;
	}
	cliInterrupt_Catch();
	status = renderIn(&render, &folder);
	cliTempFolder_Remove(&folder);
	if (status == CLI_DONE) {
		printf("wrote %s\n", render.out);
	}
	return status;
}

#else

static int renderCommand(const cliCommand* command, int argc, char** argv) {
	RenderOptions render = { 0 };
	int status = readOptions(&render, command, argc, argv);
	return status >= 0 ? status : cliFail(CLI_BAD_INPUT, "this build has no libknuckle_io, which renders");
}

#endif

const cliCommand cliRenderCommand = {
	.name = "render",
	.operands = "RUN.knt|SCENE|FILE",
	.summary = "make a picture or a film of a run",
	.options = options,
	.notes = "Draws with the replay page in Chromium, without a window; films need ffmpeg.\n"
			 "examples:\n"
			 "  knuckle render tower --time 2 --out tower.png\n"
			 "  knuckle render run.knt --out run.mp4 --size 1920x1080 --fps 60\n",
	.run = renderCommand,
};
