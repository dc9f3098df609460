// Everything of the core library. Scenes, recordings and problem files have headers of their own
// (scene.h, recording.h, problems.h) and live in the library tippe_io.
//
// What is stable. The functions, types and names of the installed headers are the interface;
// nothing else of the library is. Versions are major.minor.patch (tpVersion): a patch changes
// neither the interface nor the layout of its structs, a minor version before 1.0 may change both,
// and the soname (libtippe.so.0.1) has the version that a program was linked to. Definitions may
// get new fields: always start them from tpDefault...Def(). tpStepReport keeps its size and the
// places of its fields for good. Scene files of version 1 stay readable (tpSceneVersion). A
// snapshot is read by the version that wrote it (tpSnapshotVersion); others refuse it with a
// message. Trajectories may change with any version; the changelog says when they do.

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
