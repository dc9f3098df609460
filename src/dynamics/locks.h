// Locked directions of bodies: the world takes whatever force or torque holds them.
//
// A locked direction of the centre of mass has no inverse mass. With locked axes of turning the
// angular velocity lies in the span E of the free ones, and what changes it is the momentum in
// these directions: w = E (E' I E)^-1 E' L.

#ifndef TIPPE_SRC_DYNAMICS_LOCKS_H
#define TIPPE_SRC_DYNAMICS_LOCKS_H

#include "dynamics/rotation.h"
#include "tippe/world.h"

static inline bool tpLocks_Turns(uint32_t locked) {
    return (locked & (tp_lockTurnX | tp_lockTurnY | tp_lockTurnZ)) != 0;
}

// What is left of a velocity or an impulse of the centre of mass, and of an angular velocity.
tpVec3 tpLocks_Linear(uint32_t locked, tpVec3 v);
tpVec3 tpLocks_Angular(uint32_t locked, tpVec3 v);

// E (E' I E)^-1 E' at an orientation; zero in directions without inertia.
tpMat33 tpLocks_InverseInertia(const tpInertia* inertia, uint32_t locked, tpQuat rotation);

// Turns the body for h seconds while nothing but the locks acts. The momentum in the free
// directions is kept; exact with two locked axes, of second order with one.
void tpLocks_Rotate(const tpInertia* inertia, uint32_t locked, double h, tpQuat* rotation,
                    tpVec3* angularVelocity);

#endif
