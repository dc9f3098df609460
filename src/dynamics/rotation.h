// Free rotation of a rigid body.

#ifndef TIPPE_SRC_DYNAMICS_ROTATION_H
#define TIPPE_SRC_DYNAMICS_ROTATION_H

#include "tippe/math.h"

// Inertia of a body: principal moments, and the rotation from principal to body axes.
// The first 64 bytes, a line of the cache, are all that is asked of balls and cubes.
typedef struct tpInertia {
    bool isIsotropic; // three equal moments: angular velocity is constant in free flight
    int symmetryAxis; // of two equal moments: the principal axis across them; -1 if there is none
    int middleAxis;   // the one whose moment lies between the others
    tpVec3 moments;   // kg m^2
    tpVec3 inverseMoments; // 0 if a moment is 0
    tpQuat principal;
} tpInertia;

tpInertia tpMakeInertia(tpMat33 inertiaInBodyAxes);

// In world axes, for a body oriented by `rotation`.
tpMat33 tpInertia_World(const tpInertia* inertia, tpQuat rotation);
tpMat33 tpInertia_InverseWorld(const tpInertia* inertia, tpQuat rotation);
tpVec3 tpInertia_Momentum(const tpInertia* inertia, tpQuat rotation, tpVec3 angularVelocity);
tpVec3 tpInertia_Velocity(const tpInertia* inertia, tpQuat rotation, tpVec3 angularMomentum);

// A bound on |angular velocity| that holds for all time while no torque acts.
double tpInertia_SpeedBound(const tpInertia* inertia, tpQuat rotation, tpVec3 angularVelocity);

// Turns the body freely for h seconds (h may be negative), in closed form: angular momentum (in
// world axes) and kinetic energy are kept to rounding, and so is the orientation, however far the
// body turns.
void tpRotateFreely(const tpInertia* inertia, double h, tpQuat* rotation, tpVec3* angularVelocity);

#endif
