// A model that was dropped on the viewer's page: one file, or a folder of them with meshes and included files.
#pragma once

#include "cli.h"

// Compiles what arrived (knScene_ToBytes; `scene` to be released with the default allocator). `body` holds the files one
// after the other, each as "NAME\nSIZE\n" and its bytes; the first is the model, the others stand beside it. Names may have
// folders, with "/"; any that leads out of the model's folder is refused.
knStatus cliDroppedModel_Compile(const char* body, size_t size, void** scene, size_t* sceneSize,
								 knError* error);
