// A mark of a shape: the same for the same body, form and filter, in any process and wherever the
// form lies in memory; another one, but for chance, if any of them is another.

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_SHAPE_MARKS_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_SHAPE_MARKS_H

#include "dynamics/system.h"

uint64_t tpShape_Mark(const tpShape* shape);

#endif
