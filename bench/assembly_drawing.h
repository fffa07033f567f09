// Drawings of assembly trees and hybrid bodies as SVG: leaves are links in their order, joints stand above what they join.
#pragma once

#include "articulated/hybrid.h"

// Writes FOLDER/NAME.svg. `region` NULL: all joints alike; else active joints are filled, and parts of the front are one
// bar with nothing below. False after a complaint.
bool knAssembly_Draw(const knAssembly* assembly, const knRegion* region, const char* title,
					 const char* folder, const char* name);
