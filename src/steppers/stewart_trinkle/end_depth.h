// How deep the bodies of a step will overlap.

#ifndef TIPPE_SRC_STEPPERS_STEWART_TRINKLE_END_DEPTH_H
#define TIPPE_SRC_STEPPERS_STEWART_TRINKLE_END_DEPTH_H

#include "dynamics/time_step.h"

// How deep bodies may overlap after the step: as deep as where it ends, and deeper by what joints
// that move them are off there, for those are brought back by moving bodies. What joints elsewhere
// are off says nothing about a contact: a gyroscope was linearised again in each step, and gained
// energy by that, because a box lay in the same scene. Negative if memory ran out. `off`: what
// of that joints are off.
double tpStewartTrinkle_DeepestEnd(tpTimeStep* step, double* off);

#endif
