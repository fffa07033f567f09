// The user's interrupts: Ctrl-C (SIGINT) and SIGTERM are noticed between steps and messages instead of ending the program
// at once, so that what was recorded is finished and nothing is left behind. A second one does end it.
#pragma once

#include <stdbool.h>

// From now on; pipes that break become errors of their writers.
void cliInterrupt_Catch(void);
bool cliInterrupted(void);
// 128 + the signal's number, as shells report it; only after cliInterrupted.
int cliInterrupt_ExitStatus(void);

// A step cannot be asked to stop, and may take minutes. Between BeginStep and EndStep an interruption that has waited for a
// second ends the program without it: `finish` is called on a thread of its own, the step's thread never returns, and what
// `finish` returns is the exit status. Outside of steps all is left to the caller, who asks cliInterrupted. At most once,
// after cliInterrupt_Catch.
void cliInterrupt_FinishWith(int (*finish)(void* context), void* context);
void cliInterrupt_BeginStep(void);
void cliInterrupt_EndStep(void);
