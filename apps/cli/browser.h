// Chromium without a window, showing one page, driven through the DevTools protocol over two pipes
// (--remote-debugging-pipe): no port is opened, no other program is needed. Software rendering, so that pictures do not
// depend on the machine's graphics.
#pragma once

#include <sys/types.h>

#include "temp_folder.h"

typedef struct cliBrowser {
	pid_t process;    // 0: none
	int out, in;      // pipes to and from it
	int nextId;       // of the next message
	char session[80]; // of the page
	char* text;       // what was read and not yet used up
	size_t length, capacity;
	size_t used; // of `text`, by the last message
} cliBrowser;

// The first of Chromium's names that is on the PATH; NULL: none.
const char* cliBrowser_Find(void);
// Starts Chromium with its files in `folder` and opens the page at `url` in a view of this size. False after a
// complaint; call cliBrowser_Close either way.
bool cliBrowser_Open(cliBrowser* browser, const cliTempFolder* folder, const char* url, int width,
					 int height);
// The value of an expression that yields a string (or a promise of one) without line breaks; NULL after a complaint.
// Valid until the next call.
const char* cliBrowser_Evaluate(cliBrowser* browser, const char* expression);
void cliBrowser_Close(cliBrowser* browser);
