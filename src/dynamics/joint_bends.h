// How far the drift bends away from what joints foresee, from step to step.
//
// A joint is linear in the motion, the drift is not. The bias that makes it right at the end of the
// drift changes little from step to step; row_history.h has the forecast.

#ifndef TIPPE_SRC_DYNAMICS_JOINT_BENDS_H
#define TIPPE_SRC_DYNAMICS_JOINT_BENDS_H

#include "base/memory.h"
#include "dynamics/row_history.h"

// Of a hinge: what it holds, and its rotor.
enum { tp_bentRows = 6 };

typedef struct tpJointBends {
    double h; // of the steps, s
    int32_t count;
    int32_t joint;
    double bends[tp_keptBends][tp_bentRows]; // per second of the step, the last first
} tpJointBends;

// One per joint of a tree, in the order of its links.
typedef TP_ARRAY(tpJointBends) tpJointBendsList;

#endif
