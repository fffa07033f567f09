// The progress bar (progress.h): redrawn ten times a second at most, wiped when done.
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#define BAR_WIDTH 30
#define REDRAW_INTERVAL 0.1 // s

cliProgress cliProgress_Begin(const char* label, int64_t total) {
	cliProgress progress = { .shown = isatty(STDERR_FILENO) != 0 && total > 0,
							 .label = label,
							 .total = total };
	progress.started = cliClock(NULL);
	return progress;
}

void cliProgress_Update(cliProgress* progress, int64_t done) {
	if (!progress->shown) {
		return;
	}
	double now = cliClock(NULL);
	if (now - progress->drawn < REDRAW_INTERVAL) {
		return;
	}
	progress->drawn = now;
	double share = (double)done / (double)progress->total;
	char bar[BAR_WIDTH + 1];
	for (int i = 0; i < BAR_WIDTH; ++i) {
		bar[i] = i < (int)(share * BAR_WIDTH) ? '#' : '.';
	}
	bar[BAR_WIDTH] = '\0';
	double left = done > 0 ? (now - progress->started) * (1.0 - share) / share : 0.0;
	fprintf(stderr, "\r%s [%s] %3.0f%%  step %lld of %lld, %.0f s left \033[K", progress->label, bar,
			100.0 * share, (long long)done, (long long)progress->total, left);
	fflush(stderr);
}

void cliProgress_End(cliProgress* progress) {
	if (progress->shown) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
}
