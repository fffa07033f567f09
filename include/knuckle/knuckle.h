// Knuckle: articulated rigid bodies with contact and collision. This header brings the whole core library;
// file formats beyond the core's own are in <knuckle/io.h> (libknuckle_io).
//
//   files / API -> knScene -> knModel -> knWorld -> knWorld_Step -> poses, events, measures, recorders
#pragma once

#include "knuckle/base.h"
#include "knuckle/vecmath.h"
#include "knuckle/id.h"
#include "knuckle/collide.h"
#include "knuckle/scene.h"
#include "knuckle/stepper.h"
#include "knuckle/world.h"
#include "knuckle/control.h"
#include "knuckle/looks.h"
#include "knuckle/query.h"
#include "knuckle/measure.h"
#include "knuckle/record.h"
#include "knuckle/articulated.h"
#include "knuckle/impact.h"
#include "knuckle/lcp.h"
