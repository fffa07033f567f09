// Noticing SIGINT and SIGTERM (interrupt.h). WebAssembly has no signals: there nothing ever interrupts.
//
// Long steps: whoever holds `outputs` may touch them. The run holds them but while it steps; a thread that a signal wakes
// asks for them after a second of grace. Once it has them the run waits at the end of its step for ever.
#include "interrupt.h"

#ifdef __wasm__

void cliInterrupt_Catch(void) {
}

bool cliInterrupted(void) {
	return false;
}

int cliInterrupt_ExitStatus(void) {
	return 0;
}

void cliInterrupt_FinishWith(int (*finish)(void* context), void* context) {
	(void)finish, (void)context;
}

void cliInterrupt_BeginStep(void) {
}

void cliInterrupt_EndStep(void) {
}

#else

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t caught; // the signal's number, 0: none yet
static int wake[2] = { -1, -1 };     // a pipe: what the handler writes, the thread reads
static pthread_mutex_t outputs = PTHREAD_MUTEX_INITIALIZER;
static int (*finishRun)(void* context);
static void* finishContext;

static void notice(int number) {
	caught = number;
	if (wake[1] >= 0) {
		(void)!write(wake[1], "", 1);
	}
}

void cliInterrupt_Catch(void) {
	struct sigaction action = { .sa_handler = notice, .sa_flags = (int)SA_RESETHAND };
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

bool cliInterrupted(void) {
	return caught != 0;
}

int cliInterrupt_ExitStatus(void) {
	return 128 + (int)caught;
}

static void* finishForRun(void* unused) {
	(void)unused;
	char byte;
	const struct timespec grace = { .tv_sec = 1 };
	if (read(wake[0], &byte, 1) == 1) {
		nanosleep(&grace, NULL);
		pthread_mutex_lock(&outputs);
		const int status = finishRun(finishContext);
		fflush(NULL);
		_exit(status);
	}
	return NULL;
}

void cliInterrupt_FinishWith(int (*finish)(void* context), void* context) {
	pthread_t thread;
	sigset_t all, before;
	finishRun = finish;
	finishContext = context;
	if (pipe(wake) != 0) {
		wake[0] = wake[1] = -1;
		return;
	}
	// a signal that came while the outputs were opened found nobody to wake
	if (caught != 0) {
		(void)!write(wake[1], "", 1);
	}
	pthread_mutex_lock(&outputs);
	// signals are for the run's own thread, whose waiting they cut short
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, finishForRun, NULL) == 0) {
		pthread_detach(thread);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void cliInterrupt_BeginStep(void) {
	if (finishRun != NULL) {
		pthread_mutex_unlock(&outputs);
	}
}

void cliInterrupt_EndStep(void) {
	if (finishRun != NULL) {
		pthread_mutex_lock(&outputs);
	}
}

#endif
