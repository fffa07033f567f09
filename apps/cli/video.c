// Pictures to an MP4 film by ffmpeg (video.h).
#include "video.h"

#ifdef KN_HAVE_IO

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static bool complain(const cliVideo* video, const char* why) {
	cliFail(CLI_FAILED, "cannot write '%s': %s", video->path, why);
	return false;
}

// H.264 in the layout that every player takes, with its index in front.
static int spawn(cliVideo* video, double fps, int theirIn) {
	char rate[32], part[1040];
	snprintf(rate, sizeof(rate), "%.6g", fps);
	snprintf(part, sizeof(part), "file:%s", video->part);
	const char* arguments[] = { "ffmpeg", "-nostdin",   "-loglevel", "error",     "-y",
								"-f",     "image2pipe", "-c:v",      "mjpeg",     "-framerate",
								rate,     "-i",         "pipe:0",    "-vf",       "scale=out_range=tv",
								"-c:v",   "libx264",    "-preset",   "medium",    "-crf",
								"19",     "-pix_fmt",   "yuv420p",   "-movflags", "+faststart",
								"-f",     "mp4",        part,        NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&how);
	posix_spawn_file_actions_adddup2(&files, theirIn, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setpgroup(&how, 0);
	int reason = posix_spawnp(&video->process, arguments[0], &files, &how, (char**)arguments, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	if (reason != 0) {
		video->process = 0;
	}
	return reason;
}

bool cliVideo_Open(cliVideo* video, const char* path, double fps) {
	memset(video, 0, sizeof(*video));
	video->pipe = -1;
	if (strlen(path) >= sizeof(video->path)) {
		cliFail(CLI_BAD_INPUT, "cannot write '%s': %s", path, strerror(ENAMETOOLONG));
		return false;
	}
	snprintf(video->path, sizeof(video->path), "%s", path);
	snprintf(video->part, sizeof(video->part), "%s.part", path);
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0) {
		return complain(video, strerror(errno));
	}
	int reason = spawn(video, fps, ends[0]);
	close(ends[0]);
	video->pipe = ends[1];
	return reason == 0 || complain(video, strerror(reason));
}

bool cliVideo_Add(cliVideo* video, const uint8_t* picture, size_t size) {
	while (size > 0) {
		ssize_t sent = write(video->pipe, picture, size);
		if (sent < 0 && errno != EINTR) {
			return complain(video, "ffmpeg has given up");
		}
		picture += sent > 0 ? sent : 0;
		size -= sent > 0 ? (size_t)sent : 0;
	}
	return true;
}

bool cliVideo_Commit(cliVideo* video) {
	int status = 0;
	close(video->pipe);
	video->pipe = -1;
	while (waitpid(video->process, &status, 0) < 0 && errno == EINTR) {
	}
	video->process = 0;
	bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	if (!good) {
		complain(video, "ffmpeg failed");
	} else if (rename(video->part, video->path) != 0) {
		good = complain(video, strerror(errno));
	}
	if (!good) {
		remove(video->part);
	}
	return good;
}

void cliVideo_Abandon(cliVideo* video) {
	if (video->process > 0) {
		kill(-video->process, SIGKILL);
		waitpid(video->process, NULL, 0);
		video->process = 0;
		remove(video->part);
	}
	if (video->pipe >= 0) {
		close(video->pipe);
		video->pipe = -1;
	}
}

#endif
