// Serving a page to the browsers of this machine (server.h).
//
// Whoever asks must name this machine: a page from elsewhere whose name was pointed at 127.0.0.1 asks for its own name,
// and is refused. So is a page from elsewhere that asks for us by our name: browsers say where a request that does more than
// read comes from.
#include "server.h"

#ifdef KN_HAVE_CIVETWEB

#include <civetweb.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dropped_model.h"

#define MAX_MODEL (256 << 20) // bytes of a model that is dropped on the page, with its meshes

struct cliServer {
	cliServerDef def;
	struct mg_context* context;
	int port;
};

static int answer(struct mg_connection* connection, int status, const char* reason, const char* type,
				  const void* bytes, size_t size) {
	mg_printf(connection,
			  "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n"
			  "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
			  status, reason, type, size);
	mg_write(connection, bytes, size);
	return status;
}

static int say(struct mg_connection* connection, int status, const char* reason, const char* sentence) {
	return answer(connection, status, reason, "text/plain; charset=utf-8", sentence, strlen(sentence));
}

// "127.0.0.1:8080" or "localhost:8080".
static bool isOurName(const cliServer* server, const char* host) {
	char names[2][64];
	snprintf(names[0], sizeof(names[0]), "127.0.0.1:%d", server->port);
	snprintf(names[1], sizeof(names[1]), "localhost:%d", server->port);
	return host != NULL && (strcmp(host, names[0]) == 0 || strcmp(host, names[1]) == 0);
}

static bool isForUs(const cliServer* server, const struct mg_connection* connection) {
	const char* origin = mg_get_header(connection, "Origin");
	bool ours = origin == NULL || (strncmp(origin, "http://", 7) == 0 && isOurName(server, origin + 7));
	return ours && isOurName(server, mg_get_header(connection, "Host"));
}

// --- pictures ----------------------------------------------------------------------------------------------------

// Lower case letters, digits and dashes, then .jpg: nothing that leads elsewhere.
static bool isPictureName(const char* name) {
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
	return length > 0 && length < 64 && strcmp(name + length, ".jpg") == 0;
}

// A file itself: no link that leads elsewhere, and no device or pipe that never ends.
static FILE* openPlain(const char* path) {
	struct stat what;
	const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	if (file >= 0 && fstat(file, &what) == 0 && S_ISREG(what.st_mode)) {
		return fdopen(file, "rb");
	}
	if (file >= 0) {
		close(file);
	}
	return NULL;
}

static int sendPicture(const cliServer* server, struct mg_connection* connection, const char* name) {
	char path[1024];
	if (server->def.pictures == NULL || !isPictureName(name) ||
		snprintf(path, sizeof(path), "%s/%s", server->def.pictures, name) >= (int)sizeof(path)) {
		return say(connection, 404, "Not Found", "there is no such picture");
	}
	FILE* file = openPlain(path);
	char* bytes = malloc(1 << 20);
	size_t size = file != NULL && bytes != NULL ? fread(bytes, 1, 1 << 20, file) : 0;
	int status = size > 0 ? answer(connection, 200, "OK", "image/jpeg", bytes, size)
						  : say(connection, 404, "Not Found", "there is no such picture");
	free(bytes);
	if (file != NULL) {
		fclose(file);
	}
	return status;
}

// --- models ------------------------------------------------------------------------------------------------------

typedef struct Compiling {
	const char* body;
	size_t size;

	// compileModel
	knStatus status;
	knError error;
	void* scene;
	size_t sceneSize;
} Compiling;

static void* compileModel(void* context) {
	Compiling* work = context;
	work->status =
		cliDroppedModel_Compile(work->body, work->size, &work->scene, &work->sceneSize, &work->error);
	return NULL;
}

// On a thread with a whole stack: the server's own have 100 KB, of which the reading of files takes most.
static int sendCompiled(struct mg_connection* connection, const char* body, size_t size) {
	Compiling work = { .body = body, .size = size };
	char why[sizeof(knError) + 64];
	pthread_t thread;
	if (pthread_create(&thread, NULL, compileModel, &work) != 0) {
		return say(connection, 503, "Service Unavailable", "there is no thread for this model");
	}
	pthread_join(thread, NULL);
	if (work.status != KN_OK) {
		return say(connection, 422, "Unprocessable Content", knError_Format(&work.error, why, sizeof(why)));
	}
	int status = answer(connection, 200, "OK", "application/octet-stream", work.scene, work.sceneSize);
	knAllocator allocator = knAllocator_Default();
	allocator.release(work.scene, work.sceneSize, allocator.context);
	return status;
}

static int compile(struct mg_connection* connection, const struct mg_request_info* request) {
	long long size = request->content_length;
	if (size <= 0 || size > MAX_MODEL) {
		return say(connection, 413, "Content Too Large", "a model has at most 256 MB");
	}
	char* body = malloc((size_t)size);
	size_t done = 0;
	for (int got = 1; body != NULL && done < (size_t)size && got > 0; done += got > 0 ? (size_t)got : 0) {
		got = mg_read(connection, body + done, (size_t)size - done);
	}
	int status = body != NULL && done == (size_t)size
					 ? sendCompiled(connection, body, done)
					 : say(connection, 400, "Bad Request", "the model did not arrive whole");
	free(body);
	return status;
}

// --- requests ----------------------------------------------------------------------------------------------------

static int handle(struct mg_connection* connection) {
	const struct mg_request_info* request = mg_get_request_info(connection);
	const cliServer* server = request->user_data;
	const char* path = request->local_uri != NULL ? request->local_uri : "";
	if (!isForUs(server, connection)) {
		return say(connection, 403, "Forbidden", "this server answers to 127.0.0.1 only");
	}
	if (strcmp(request->request_method, "POST") == 0 && server->def.compiles &&
		strcmp(path, "/compile") == 0) {
		return compile(connection, request);
	}
	if (strcmp(request->request_method, "GET") != 0) {
		return say(connection, 405, "Method Not Allowed", "this server only gives");
	}
	for (int i = 0; i < server->def.count; ++i) {
		const cliServed* served = &server->def.served[i];
		if (strcmp(path, served->path) == 0) {
			return answer(connection, 200, "OK", served->type, served->bytes, served->size);
		}
	}
	if (strncmp(path, "/pictures/", 10) == 0) {
		return sendPicture(server, connection, path + 10);
	}
	return say(connection, 404, "Not Found", "there is nothing here");
}

bool cliServer_Available(void) {
	return true;
}

cliServer* cliServer_Start(const cliServerDef* def) {
	cliServer* server = calloc(1, sizeof(cliServer));
	if (server == NULL) {
		cliFail(CLI_FAILED, "out of memory");
		return NULL;
	}
	char ports[32];
	snprintf(ports, sizeof(ports), "127.0.0.1:%d", def->port);
	const char* settings[] = { "listening_ports",   ports, "num_threads", "4", "request_timeout_ms", "10000",
							   "enable_keep_alive", "no",  NULL };
	struct mg_callbacks callbacks = { .begin_request = handle };
	struct mg_server_port found[4];
	server->def = *def;
	mg_init_library(0);
	server->context = mg_start(&callbacks, server, settings);
	if (server->context == NULL || mg_get_server_ports(server->context, 4, found) < 1) {
		if (server->context != NULL) {
			mg_stop(server->context);
		}
		free(server);
		cliFail(CLI_BAD_INPUT, "cannot listen on 127.0.0.1, port %d; is another program there?", def->port);
		return NULL;
	}
	server->port = found[0].port;
	return server;
}

int cliServer_Port(const cliServer* server) {
	return server->port;
}

void cliServer_Stop(cliServer* server) {
	mg_stop(server->context);
	mg_exit_library();
	free(server);
}

#else

bool cliServer_Available(void) {
	return false;
}

cliServer* cliServer_Start(const cliServerDef* def) {
	(void)def;
	cliFail(CLI_BAD_INPUT,
			"this build has no web server; install libcivetweb-dev, then configure and build again");
	return NULL;
}

int cliServer_Port(const cliServer* server) {
	(void)server;
	return 0;
}

void cliServer_Stop(cliServer* server) {
	(void)server;
}

#endif
