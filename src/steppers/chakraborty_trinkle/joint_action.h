// Directions of joint impulses that work against the error of the joint alone.
//
// The error C of a rigid row is met where the step ends, its impulse acts along J of the middle. As
// with the gap of a contact (normal_action.h) the work of the two differs by the third power of the
// way, and the same changes of J make J . (velocities of the middle) = (C1 - C0) / h.

#ifndef TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_JOINT_ACTION_H
#define TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_JOINT_ACTION_H

#include "steppers/chakraborty_trinkle/problem.h"

// Changes a block of geometry->jointMiddles, once travels and both sets of joint rows are there.
// Springs and unlimited servos have the rate of their coordinate for that of C, and the mean of its
// two values for the pull: they take what their potential energy gains. Motors, friction and
// dampers stay as they are: their work is meant.
void tpStepGeometry_DirectJoint(tpStepGeometry* geometry, int block);

#endif
