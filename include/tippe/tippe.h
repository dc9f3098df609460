// Everything of the core library. Scenes, recordings and problem files have headers of their own
// (scene.h, recording.h, problems.h) and live in the library tippe_io.

#ifndef TIPPE_TIPPE_H
#define TIPPE_TIPPE_H

#include "tippe/base.h"
#include "tippe/batch.h"
#include "tippe/collision.h"
#include "tippe/complementarity.h"
#include "tippe/geometry.h"
#include "tippe/impact.h"
#include "tippe/joints.h"
#include "tippe/math.h"
#include "tippe/queries.h"
#include "tippe/sensors.h"
#include "tippe/state.h"
#include "tippe/world.h"

#endif
