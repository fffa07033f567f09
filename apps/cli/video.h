// Pictures to an MP4 film, by ffmpeg at the other end of a pipe. The film appears whole or not at all.
#pragma once

#include <sys/types.h>

#include "cli.h"

typedef struct cliVideo {
	pid_t process; // 0: none
	int pipe;
	char path[1024];
	char part[1032]; // what ffmpeg writes
} cliVideo;

// JPEG pictures of one size, both sides even. False after a complaint.
bool cliVideo_Open(cliVideo* video, const char* path, double fps);
bool cliVideo_Add(cliVideo* video, const uint8_t* picture, size_t size);
// Waits for ffmpeg and moves the film into place; false after a complaint, and then nothing is left behind.
bool cliVideo_Commit(cliVideo* video);
void cliVideo_Abandon(cliVideo* video);
