// Bodies that a step has driven into each other.

#ifndef TIPPE_SRC_DYNAMICS_DEEP_BODIES_H
#define TIPPE_SRC_DYNAMICS_DEEP_BODIES_H

#include "dynamics/system.h"

// Whether bodies are too deep in each other: deeper than half the inner radius of the thinner one,
// which would leave on the other side, and deeper than they were at the start of the step. Marks
// those of them that are dynamic; `isMarked` may be NULL. False also if memory ran out.
bool tpSystem_MarkDeep(tpSystem* system, const tpPose* starts, bool* isMarked);

// The deepest overlap of bodies at these poses, m; infinite if memory ran out.
double tpSystem_DeepestOverlap(tpSystem* system, const tpPose* poses);

#endif
