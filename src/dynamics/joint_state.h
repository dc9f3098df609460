// What joints carry from step to step, as lists of numbers: to blend, to put back, to save.

#ifndef TIPPE_SRC_DYNAMICS_JOINT_STATE_H
#define TIPPE_SRC_DYNAMICS_JOINT_STATE_H

#include "dynamics/system.h"

// Reactions and efforts: means over the last step, which parts of a step add up by their lengths.
int tpJoints_ReactionCount(const tpSystem* system);
void tpJoints_ReadReactions(const tpSystem* system, double* numbers);
void tpJoints_WriteReactions(tpSystem* system, const double* numbers);

// Turns that have been counted, and speeds of armatures.
int tpJoint_MotionCount(const tpJoint* joint);
int tpJoints_MotionCount(const tpSystem* system);
void tpJoints_ReadMotion(const tpSystem* system, double* numbers);
void tpJoints_WriteMotion(tpSystem* system, const double* numbers);

// Both, in one look at the joints.
void tpJoints_ReadAll(const tpSystem* system, double* reactions, double* motion);

#endif
