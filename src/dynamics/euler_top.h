// The free top in closed form: a body with three different moments, on which no torque acts.

#ifndef TIPPE_SRC_DYNAMICS_EULER_TOP_H
#define TIPPE_SRC_DYNAMICS_EULER_TOP_H

#include "tippe/math.h"

// The rotation of the body over h seconds (of either sign), seen from its axes at the start:
// R1 = R0 turn. `momentum` is in principal axes, `inverseMoments` are those of these axes, and
// `middle` (0, 1, 2) is the one whose inverse moment lies between the others. Exact to rounding of
// the angle that the body turns by; kinetic energy is kept to rounding however large it is.
tpQuat tpEulerTop_Turn(tpVec3 inverseMoments, int middle, double h, tpVec3 momentum);

#endif
