// A web server for this machine's own browsers, with a fixed list of things to serve: it listens on 127.0.0.1 alone, knows
// no files, and answers everything else with "404". HTTP is civetweb's; a build without it has no server.
#pragma once

#include "cli.h"

typedef struct cliServed {
	const char* path; // "/scene"
	const char* type; // "text/html; charset=utf-8"
	const void* bytes;
	size_t size;
} cliServed;

typedef struct cliServerDef {
	int port; // 0: a free one
	int count;
	const cliServed* served;
	const char* pictures; // folder of what "/pictures/NAME.jpg" asks for; NULL: none
	bool compiles;        // POST "/compile" turns a dropped model (dropped_model.h) into a compiled scene
} cliServerDef;

typedef struct cliServer cliServer;

bool cliServer_Available(void);
// NULL after a complaint. What is served must outlive the server.
cliServer* cliServer_Start(const cliServerDef* def);
int cliServer_Port(const cliServer* server);
void cliServer_Stop(cliServer* server);
