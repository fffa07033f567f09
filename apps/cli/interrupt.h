// The user's interrupts: Ctrl-C (SIGINT) and SIGTERM are noticed between steps and messages instead of ending the program
// at once, so that what was recorded is finished and nothing is left behind. A second one does end it.
#pragma once

#include <stdbool.h>

// From now on; pipes that break become errors of their writers.
void cliInterrupt_Catch(void);
bool cliInterrupted(void);
// 128 + the signal's number, as shells report it; only after cliInterrupted.
int cliInterrupt_ExitStatus(void);
