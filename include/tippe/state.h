// The state of a world as arrays: all bodies that can move, and all coordinates of joints, in one
// call.
//
// The arrays belong to the caller and are tightly packed, a row per body. If tpWorld_GetStructure
// changes, rows may belong to other bodies.

#ifndef TIPPE_STATE_H
#define TIPPE_STATE_H

#include "tippe/joints.h"

// An array that is NULL is left out.
typedef struct tpStateArrays {
    double* positions;         // 3 per body: of the centre of mass, m
    double* rotations;         // 4 per body: w, x, y, z of the body's frame
    double* velocities;        // 3 per body: of the centre of mass, m/s
    double* angularVelocities; // 3 per body: world axes, rad/s
} tpStateArrays;

// The same numbers in place, slot by slot: fixed bodies and empty slots have rows too. Valid
// until bodies come or go.
typedef struct tpStateView {
    int slotCount;
    const double* positions;
    const double* rotations;
    const double* velocities;
    const double* angularVelocities;
    size_t poseStride, velocityStride; // from one slot to the next, in numbers
} tpStateView;

TP_BEGIN_DECLS

// Changes whenever bodies, shapes or joints come or go, or the kind of a body changes; not with
// forces.
TP_API uint64_t tpWorld_GetStructure(const tpWorld* world);

// Bodies that can move, dynamic and kinematic, in order of creation. If a body is destroyed, the
// later ones move up.
TP_API int tpWorld_GetMovingCount(const tpWorld* world);
TP_API tpBodyId tpWorld_GetMoving(const tpWorld* world,
                                  int index); // the null id if there is none

TP_API void tpWorld_ReadState(const tpWorld* world, const tpStateArrays* arrays);

// Sets the rows that differ from the state in their bits, and wakes these bodies. Rotations are
// normalised; motion that a planar world or locks do not allow is left out. tp_badInput, and
// nothing has changed, if a number is not finite or a rotation is zero; the message names the array
// and the row.
TP_API tpResult tpWorld_WriteState(tpWorld* world, const tpStateArrays* arrays, tpError* error);

// Coordinates of all joints, joint by joint in the order of tpWorld_GetJoint. An array that is NULL
// is left out.
TP_API int tpWorld_GetCoordinateCount(const tpWorld* world);
TP_API bool tpWorld_GetCoordinateAt(const tpWorld* world, int index, tpJointId* joint,
                                    int* coordinate); // false if there is none
TP_API int tpJoint_GetFirstCoordinate(const tpWorld* world,
                                      tpJointId joint); // its place in the arrays
TP_API void tpWorld_ReadCoordinates(const tpWorld* world, double* values, double* speeds,
                                    double* efforts);
// Sets the coordinates that differ from the present ones, one after the other, as tpJoint_SetValue
// and tpJoint_SetSpeed do. tp_badInput if a number is not finite and tp_unsupported if a joint
// closes a loop: nothing has changed then.
TP_API tpResult tpWorld_WriteCoordinates(tpWorld* world, const double* values, const double* speeds,
                                         tpError* error);
// Targets and speeds of servos; NaN leaves one as it is. tp_badInput, and nothing has changed, if a
// number is infinite or belongs to a coordinate without a servo.
TP_API tpResult tpWorld_WriteTargets(tpWorld* world, const double* targets, const double* speeds,
                                     tpError* error);
// Efforts for the next step, added to those already applied.
TP_API tpResult tpWorld_ApplyEfforts(tpWorld* world, const double* efforts, tpError* error);

// Computes the efforts on coordinates with which the next step of h seconds ends at the given
// speeds, one per coordinate in the order above, in addition to everything that acts already:
// gravity, contacts, friction, laws of joints, applied efforts and forces. NaN: the coordinate is
// not driven, its effort is 0. The world does not change; tpWorld_ApplyEfforts and a step then make
// the motion, and the contacts and reactions of that step are its forces. `residual` (may be NULL)
// is the largest speed missed. tp_notSolved if no efforts were found that meet all speeds to 1e-9;
// `efforts` has the best found.
TP_API tpResult tpWorld_InverseDynamics(tpWorld* world, double h, const double* speeds,
                                        double* efforts, double* residual, tpError* error);

TP_API tpStateView tpWorld_ViewState(const tpWorld* world);
TP_API int tpBody_GetSlot(const tpWorld* world,
                          tpBodyId body); // of the view; -1: there is no such body

TP_END_DECLS

#endif
