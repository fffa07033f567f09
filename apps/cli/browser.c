// Chromium over pipes (browser.h).
//
// The protocol: messages are JSON objects ended by a zero byte; an answer begins with {"id":N of its question, an event
// with {"method". Only strings that we asked for are taken out of answers, so there is no reader for JSON in general.
#include "browser.h"

#ifdef KN_HAVE_IO

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/json.h"
#include "interrupt.h"

#define ANSWER_SECONDS 120.0 // a frame of thousands of bodies in software on a busy machine
#define READ_BLOCK 65536

extern char** environ;

static bool complain(const char* what) {
	cliFail(CLI_FAILED, "Chromium: %s", cliInterrupted() ? "interrupted" : what);
	return false;
}

// --- starting ----------------------------------------------------------------------------------------------------

const char* cliBrowser_Find(void) {
	static const char* const names[] = { "chromium", "chromium-browser", "google-chrome-stable",
										 "google-chrome" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
		if (cliFindProgram(names[i])) {
			return names[i];
		}
	}
	return NULL;
}

static int spawn(cliBrowser* browser, const char* profile, int width, int height, int theirIn, int theirOut) {
	char data[600], size[64];
	snprintf(data, sizeof(data), "--user-data-dir=%s", profile);
	snprintf(size, sizeof(size), "--window-size=%d,%d", width, height);
	const char* program = cliBrowser_Find();
	if (program == NULL) {
		return ENOENT;
	}
	// the sandbox refuses to run as root
	const char* arguments[] = { program,
								"--headless",
								"--remote-debugging-pipe",
								data,
								size,
								"--use-angle=swiftshader",
								"--enable-unsafe-swiftshader",
								"--ignore-gpu-blocklist",
								"--disable-dev-shm-usage",
								"--disable-background-networking",
								"--disable-extensions",
								"--hide-scrollbars",
								"--mute-audio",
								"--no-first-run",
								"--no-default-browser-check",
								"about:blank",
								geteuid() == 0 ? "--no-sandbox" : NULL,
								NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&how);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&files, theirIn, 3);
	posix_spawn_file_actions_adddup2(&files, theirOut, 4);
	// a group of its own, which ends as one
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setpgroup(&how, 0);
	int reason = posix_spawnp(&browser->process, program, &files, &how, (char**)arguments, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	if (reason != 0) {
		browser->process = 0;
	}
	return reason;
}

// Both ends of a pipe at numbers from 10 up, out of the way of the 3 and 4 that Chromium wants.
static bool makePipe(int ends[2]) {
	int low[2];
	if (pipe2(low, O_CLOEXEC) != 0) {
		return false;
	}
	for (int k = 0; k < 2; ++k) {
		ends[k] = fcntl(low[k], F_DUPFD_CLOEXEC, 10);
		close(low[k]);
	}
	if (ends[0] >= 0 && ends[1] >= 0) {
		return true;
	}
	close(ends[0]);
	close(ends[1]);
	return false;
}

static bool start(cliBrowser* browser, const cliTempFolder* folder, int width, int height) {
	char profile[560];
	int there[2], back[2];
	snprintf(profile, sizeof(profile), "%s/profile", folder->path);
	if (!makePipe(there)) {
		return complain(strerror(errno));
	}
	if (!makePipe(back)) {
		close(there[0]);
		close(there[1]);
		return complain(strerror(errno));
	}
	int reason = spawn(browser, profile, width, height, there[0], back[1]);
	close(there[0]);
	close(back[1]);
	browser->out = there[1];
	browser->in = back[0];
	return reason == 0 || complain(strerror(reason));
}

// --- messages ----------------------------------------------------------------------------------------------------

static bool sendText(cliBrowser* browser, const char* text, size_t size) {
	while (size > 0 && !cliInterrupted()) {
		ssize_t sent = write(browser->out, text, size);
		if (sent < 0 && errno != EINTR) {
			return complain("it has ended by itself");
		}
		text += sent > 0 ? sent : 0;
		size -= sent > 0 ? (size_t)sent : 0;
	}
	return !cliInterrupted() || complain("");
}

static bool makeRoom(cliBrowser* browser) {
	if (browser->used > 0) {
		memmove(browser->text, browser->text + browser->used, browser->length - browser->used);
		browser->length -= browser->used;
		browser->used = 0;
	}
	if (browser->capacity - browser->length >= READ_BLOCK) {
		return true;
	}
	size_t capacity = 2 * browser->capacity + 2 * READ_BLOCK;
	char* text = realloc(browser->text, capacity);
	if (text == NULL) {
		return complain("out of memory");
	}
	browser->text = text;
	browser->capacity = capacity;
	return true;
}

// Reads some bytes, waiting until `deadline`.
static bool receive(cliBrowser* browser, double deadline) {
	if (!makeRoom(browser)) {
		return false;
	}
	struct pollfd wait = { .fd = browser->in, .events = POLLIN };
	double left = deadline - cliClock(NULL);
	int ready = left > 0.0 ? poll(&wait, 1, (int)(1000.0 * left) + 1) : 0;
	if (cliInterrupted() || ready == 0) {
		return complain("it does not answer");
	}
	if (ready < 0) {
		return errno == EINTR || complain(strerror(errno));
	}
	ssize_t got = read(browser->in, browser->text + browser->length, READ_BLOCK);
	if (got == 0 || (got < 0 && errno != EINTR)) {
		return complain("it has ended by itself");
	}
	browser->length += got > 0 ? (size_t)got : 0;
	return true;
}

// The next message, zero-terminated; NULL after a complaint.
static char* nextMessage(cliBrowser* browser, double deadline) {
	size_t searched = browser->used;
	for (;;) {
		char* end = browser->length > searched
						? memchr(browser->text + searched, '\0', browser->length - searched)
						: NULL;
		if (end != NULL) {
			char* message = browser->text + browser->used;
			browser->used = (size_t)(end + 1 - browser->text);
			return message;
		}
		searched = browser->length - browser->used;
		if (!receive(browser, deadline)) {
			return NULL;
		}
	}
}

// Asks and waits for the answer; NULL after a complaint. Takes the message from `json` and releases it.
static char* ask(cliBrowser* browser, knJson* json, int id) {
	bool sent = !json->failed && sendText(browser, json->text, json->length + 1);
	knJson_Free(json);
	if (!sent) {
		return NULL;
	}
	char head[32];
	int headLength = snprintf(head, sizeof(head), "{\"id\":%d,", id);
	double deadline = cliClock(NULL) + ANSWER_SECONDS;
	for (;;) {
		char* message = nextMessage(browser, deadline);
		if (message == NULL || strncmp(message, head, (size_t)headLength) == 0) {
			return message;
		}
	}
}

// Begins a question; the caller adds parameters and two EndObject.
static int beginQuestion(cliBrowser* browser, knJson* json, const char* method) {
	knAllocator allocator = knAllocator_Default();
	int id = browser->nextId++;
	knJson_Init(json, &allocator);
	knJson_BeginObject(json, NULL);
	knJson_Integer(json, "id", id);
	knJson_String(json, "method", method);
	if (browser->session[0] != '\0') {
		knJson_String(json, "sessionId", browser->session);
	}
	knJson_BeginObject(json, "params");
	return id;
}

static char* endQuestion(cliBrowser* browser, knJson* json, int id) {
	knJson_EndObject(json);
	knJson_EndObject(json);
	return ask(browser, json, id);
}

// The string after `"key":` in an answer, cut out and unescaped in place; NULL if there is none.
static char* stringIn(char* message, const char* key) {
	char mark[40];
	snprintf(mark, sizeof(mark), "\"%s\":\"", key);
	char* from = strstr(message, mark);
	if (from == NULL) {
		return NULL;
	}
	from += strlen(mark);
	char* to = from;
	for (char* at = from; *at != '\0' && *at != '"'; ++at) {
		at += *at == '\\' && at[1] != '\0' ? 1 : 0;
		*to++ = *at;
	}
	*to = '\0';
	return from;
}

// --- the page ----------------------------------------------------------------------------------------------------

static bool keep(char* message, const char* key, char* text, size_t capacity) {
	const char* found = message != NULL ? stringIn(message, key) : NULL;
	if (found == NULL || strlen(found) >= capacity) {
		return message != NULL ? complain("an answer that was not expected") : false;
	}
	snprintf(text, capacity, "%s", found);
	return true;
}

static bool openTarget(cliBrowser* browser) {
	knJson json;
	char target[80];
	int id = beginQuestion(browser, &json, "Target.createTarget");
	knJson_String(&json, "url", "about:blank");
	if (!keep(endQuestion(browser, &json, id), "targetId", target, sizeof(target))) {
		return false;
	}
	id = beginQuestion(browser, &json, "Target.attachToTarget");
	knJson_String(&json, "targetId", target);
	knJson_Bool(&json, "flatten", true);
	return keep(endQuestion(browser, &json, id), "sessionId", browser->session, sizeof(browser->session));
}

static bool setSize(cliBrowser* browser, int width, int height) {
	knJson json;
	int id = beginQuestion(browser, &json, "Emulation.setDeviceMetricsOverride");
	knJson_Integer(&json, "width", width);
	knJson_Integer(&json, "height", height);
	knJson_Number(&json, "deviceScaleFactor", 1.0);
	knJson_Bool(&json, "mobile", false);
	return endQuestion(browser, &json, id) != NULL;
}

static bool navigate(cliBrowser* browser, const char* url) {
	knJson json;
	int id = beginQuestion(browser, &json, "Page.navigate");
	knJson_String(&json, "url", url);
	char* answer = endQuestion(browser, &json, id);
	if (answer == NULL) {
		return false;
	}
	const char* trouble = stringIn(answer, "errorText");
	return trouble == NULL || complain(trouble);
}

bool cliBrowser_Open(cliBrowser* browser, const cliTempFolder* folder, const char* url, int width,
					 int height) {
	memset(browser, 0, sizeof(*browser));
	browser->out = browser->in = -1;
	browser->nextId = 1;
	return start(browser, folder, width, height) && openTarget(browser) && setSize(browser, width, height) &&
		   navigate(browser, url);
}

const char* cliBrowser_Evaluate(cliBrowser* browser, const char* expression) {
	knJson json;
	int id = beginQuestion(browser, &json, "Runtime.evaluate");
	knJson_String(&json, "expression", expression);
	knJson_Bool(&json, "awaitPromise", true);
	knJson_Bool(&json, "returnByValue", true);
	char* answer = endQuestion(browser, &json, id);
	if (answer == NULL) {
		return NULL;
	}
	if (strstr(answer, "\"exceptionDetails\"") != NULL) {
		const char* why = stringIn(answer, "description");
		complain(why != NULL ? why : "the page failed");
		return NULL;
	}
	const char* value = stringIn(answer, "value");
	if (value == NULL) {
		complain("an answer that was not expected");
	}
	return value;
}

void cliBrowser_Close(cliBrowser* browser) {
	if (browser->process > 0) {
		kill(-browser->process, SIGKILL);
		waitpid(browser->process, NULL, 0);
		browser->process = 0;
	}
	if (browser->out >= 0) {
		close(browser->out);
	}
	if (browser->in >= 0) {
		close(browser->in);
	}
	browser->out = browser->in = -1;
	free(browser->text);
	browser->text = NULL;
}

#endif
