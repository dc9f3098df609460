// How deep bodies overlap, as our own collider finds it in double precision. Nothing that a stepper
// knows about its gaps is used, so that all engines are measured alike.

#ifndef TIPPE_BENCH_OVERLAP_H
#define TIPPE_BENCH_OVERLAP_H

#include "collision/collider.h"
#include "tippe/world.h"

#include <stdbool.h>

// A collider of the shapes that the world's bodies have now, for tpDestroyCollider. NULL if there
// is no memory.
tpCollider* makeOverlapRuler(const tpWorld* world);

// Deepest overlap, and the mean over pairs of shapes that overlap (m), with the world's bodies at
// these poses, one per body. False if there is no memory.
bool measureOverlap(tpCollider* ruler, const tpPose* poses, double* deepest, double* mean);

#endif
