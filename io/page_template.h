// The replay page without a recording. Made from apps/web by its build.mjs, or empty where node was missing.
#pragma once

#include <stddef.h>

extern const char knPageTemplate[];
extern const size_t knPageTemplateSize; // 0: there is none
