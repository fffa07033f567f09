// Noticing SIGINT and SIGTERM (interrupt.h). WebAssembly has no signals: there nothing ever interrupts.
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

#else

#include <signal.h>

static volatile sig_atomic_t caught; // the signal's number, 0: none yet

static void notice(int number) {
	caught = number;
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

#endif
