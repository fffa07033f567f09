// Serving a page to the browsers of this machine (server.h).
//
// Whoever asks must name this machine: a page from elsewhere whose name was pointed at 127.0.0.1 asks for its own name,
// and is refused.
#include "server.h"

#ifdef KN_HAVE_CIVETWEB

#include <civetweb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "knuckle/io.h"

#define MAX_MODEL (64 << 20) // bytes of a model that is dropped on the page

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
static bool isForUs(const cliServer* server, const struct mg_connection* connection) {
	const char* host = mg_get_header(connection, "Host");
	char names[2][64];
	snprintf(names[0], sizeof(names[0]), "127.0.0.1:%d", server->port);
	snprintf(names[1], sizeof(names[1]), "localhost:%d", server->port);
	return host != NULL && (strcmp(host, names[0]) == 0 || strcmp(host, names[1]) == 0);
}

// --- pictures ----------------------------------------------------------------------------------------------------

// Lower case letters, digits and dashes, then .jpg: nothing that leads elsewhere.
static bool isPictureName(const char* name) {
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
	return length > 0 && length < 64 && strcmp(name + length, ".jpg") == 0;
}

static int sendPicture(const cliServer* server, struct mg_connection* connection, const char* name) {
	char path[1024];
	if (server->def.pictures == NULL || !isPictureName(name) ||
		snprintf(path, sizeof(path), "%s/%s", server->def.pictures, name) >= (int)sizeof(path)) {
		return say(connection, 404, "Not Found", "there is no such picture");
	}
	FILE* file = fopen(path, "rb");
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

#ifdef KN_HAVE_MJCF

static int sendCompiled(struct mg_connection* connection, const char* text, size_t size, const char* name) {
	knError error = { 0 };
	knMjcfOptions options = { 0 };
	char why[sizeof(knError) + 64];
	void* bytes = NULL;
	size_t byteCount = 0;
	knScene* scene = knMjcf_LoadMemory(text, size, name, &options, NULL, &error);
	if (scene == NULL || knScene_ToBytes(scene, NULL, &bytes, &byteCount, &error) != KN_OK) {
		knScene_Destroy(scene);
		return say(connection, 422, "Unprocessable Content", knError_Format(&error, why, sizeof(why)));
	}
	int status = answer(connection, 200, "OK", "application/octet-stream", bytes, byteCount);
	knAllocator allocator = knAllocator_Default();
	allocator.release(bytes, byteCount, allocator.context);
	knScene_Destroy(scene);
	return status;
}

#else

static int sendCompiled(struct mg_connection* connection, const char* text, size_t size, const char* name) {
	(void)text, (void)size, (void)name;
	return say(connection, 422, "Unprocessable Content",
			   "this build has no MJCF; install libexpat1-dev, then configure and build again");
}

#endif

static int compile(struct mg_connection* connection, const struct mg_request_info* request) {
	long long size = request->content_length;
	char name[256] = "dropped.xml";
	if (request->query_string != NULL) {
		(void)mg_get_var(request->query_string, strlen(request->query_string), "name", name, sizeof(name));
	}
	if (size <= 0 || size > MAX_MODEL) {
		return say(connection, 413, "Content Too Large", "a model has at most 64 MB");
	}
	char* text = malloc((size_t)size);
	size_t done = 0;
	for (int got = 1; text != NULL && done < (size_t)size && got > 0; done += got > 0 ? (size_t)got : 0) {
		got = mg_read(connection, text + done, (size_t)size - done);
	}
	int status = text != NULL && done == (size_t)size
					 ? sendCompiled(connection, text, done, name)
					 : say(connection, 400, "Bad Request", "the model did not arrive whole");
	free(text);
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
