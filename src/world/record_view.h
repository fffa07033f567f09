// A world as recorders see it, for those outside of src/ (the replay page).
#pragma once

#include "record/recorder.h"

// Every pose is brought up to date. Valid until the world changes.
knRecordView knWorld_RecordView(knWorld* world);
