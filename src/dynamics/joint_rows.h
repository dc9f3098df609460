// Rows of one joint, for the files that write rows of joints.

#ifndef TIPPE_SRC_DYNAMICS_JOINT_ROWS_H
#define TIPPE_SRC_DYNAMICS_JOINT_ROWS_H

#include "dynamics/joint_laws.h"
#include "dynamics/joints.h"

// Whether impulses of the joint move anything.
bool tpJoint_IsMovable(const tpSystem* system, const tpJoint* joint);

// Adds what a joint holds at the given place.
void tpJoint_AddHeldRows(tpRows* rows, const tpSystem* system, int index, const tpJointPlace* place,
                         const tpJointTreatment* treatment);

// The same, then the laws of its coordinates.
void tpJoint_AddRowsWith(tpRows* rows, const tpSystem* system, int index, const tpPose* poses,
                         const tpJointTreatment* treatment, tpLawRows laws);

// The same of a joint that is a single turn in space.
void tpHinge_AddRows(tpRows* rows, const tpSystem* system, int index, const tpPose* poses,
                     const tpJointTreatment* treatment, tpLawRows laws);

#endif
