// Joints in substeps. Mechanisms lie within blocks of bodies; everything between PlaceJoints and
// FinishJoints is done block by block.

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_JOINTS_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_JOINTS_H

#include <stdbool.h>

#include "tippe/math.h"

struct tpSmallStep;
struct tpSchedule;
typedef struct tpStepJoints tpStepJoints;

// Room for the mechanisms, in the arena; step->joints is NULL if there are none. False if memory
// ran out.
bool tpSmallStep_PlaceJoints(struct tpSmallStep* step);

// What mechanisms cost beside contacts.
void tpSmallStep_WeighJoints(const struct tpSmallStep* step, struct tpSchedule* schedule);

// Rows and factors where the step begins, and the masses that contacts feel.
void tpSmallStep_OpenJoints(struct tpSmallStep* step, int block);

// A substep begins: velocities have their forces, and in the first one what contacts start with.
void tpSmallStep_BeginJoints(struct tpSmallStep* step, int block, bool isFirst);

// Before bodies move, after a sweep.
void tpSmallStep_MoveJoints(struct tpSmallStep* step, int block);

// After another sweep.
void tpSmallStep_SettleJoints(struct tpSmallStep* step, int block);

// A substep is over; the last one takes back errors of position and tells joints what they carried.
void tpSmallStep_EndJoints(struct tpSmallStep* step, int block, bool isLast);

// Where a body of a mechanism is at the end of the step.
tpPose tpSmallStep_JointedPose(const struct tpSmallStep* step, int body);

// Bodies are at the end of the step: work, turns, drift.
void tpSmallStep_FinishJoints(struct tpSmallStep* step);

#endif
