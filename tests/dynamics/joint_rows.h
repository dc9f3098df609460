// The rows of all joints of a system, as a step of .01 s has them.
#ifndef TIPPE_TESTS_DYNAMICS_JOINT_ROWS_H
#define TIPPE_TESTS_DYNAMICS_JOINT_ROWS_H

#include "dynamics/joints.h"
#include "support/check.h"

static inline tpRows makeJointRows(tpSystem* system) {
    int blocks, count;
    tpRows rows;
    tpJoints_Count(system, &blocks, &count);
    tpJoints_Begin(system, 0.01);
    assert_true(tpRows_Create(&rows, system, blocks, count));
    tpRows_SetMasses(&rows, system);
    tpJointTreatment treatment = { 0.01, 1.0, NULL, 0.01, 0.0, false };
    tpJoints_AddRows(&rows, system, system->poses.data, &treatment);
    return rows;
}

#endif
