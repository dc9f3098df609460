// What acts on the coordinates of joints, as rows: limits, springs, servos, motors, dry friction, damping, armature.
// README.md, "Laws of coordinates", derives them.

#ifndef TIPPE_SRC_DYNAMICS_JOINT_LAWS_H
#define TIPPE_SRC_DYNAMICS_JOINT_LAWS_H

#include "dynamics/joint_types.h"
#include "dynamics/joints.h"

// Which impulses of springs, servos and dampers the rows have.
typedef enum tpLawRows {
    tp_wholeLaws,     // all of them: a step with one solve
    tp_firstHalfLaws, // the share before the drift; tpJoints_KickRest applies what is left
    tp_noLaws         // none: in the second half of a step, and in collisions, which take no time
} tpLawRows;

// Blocks and rows that the coordinates of a joint may need.
void tpJoint_CountLaws(const tpJoint* joint, int* blocks, int* rows);

// Adds the rows of one coordinate; `index` is the joint's.
void tpJoint_AddLaws(tpRows* rows, const tpSystem* system, int index, int coordinate,
                     const tpJointPlace* place, const tpJointTreatment* treatment, tpLawRows laws);

// Puts a row into a block: directions, and the bias that takes the error back.
void tpJoint_PlaceRow(tpRows* rows, int block, int k, const tpJointRow* row, double sign,
                      const tpJoint* joint, const tpJointTreatment* treatment);

// By how much a coordinate with this value is past one of its limits, signed; 0 where it is not.
double tpCoordinate_PastLimit(const tpCoordinateDef* def, double value);

// At the start of a step of h seconds: speeds of armatures, and the shares of impulses before the drift. Bodies have
// the poses and velocities of the start, before any force of the step.
void tpJoints_BeginLaws(tpSystem* system, double h);

// Energies that are not those of bodies.
double tpJoints_KineticEnergy(const tpSystem* system);   // of armatures
double tpJoints_PotentialEnergy(const tpSystem* system); // of springs

#endif
