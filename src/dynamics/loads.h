// Forces that users apply to bodies for one step.
//
// They add up per body and are forgotten when the step is over. World forces keep their direction
// while the body turns in the step, forces in body axes turn with it; the point of action is fixed
// in the body. What depends on the orientation is kept as sums from which the wrench at any
// orientation follows, however many forces there are.

#ifndef TIPPE_SRC_DYNAMICS_LOADS_H
#define TIPPE_SRC_DYNAMICS_LOADS_H

#include "dynamics/system.h"

// Room for loads on all bodies, zero at first. False if memory ran out.
bool tpSystem_StartLoads(tpSystem* system);
void tpSystem_ForgetLoads(tpSystem* system);

// Adds a force at a point, both in world or both in body axes; the point counts from the centre of
// mass.
void tpLoad_AddForce(tpLoad* load, tpFrame frame, tpQuat rotation, tpVec3 force, tpVec3 arm);
void tpLoad_AddTorque(tpLoad* load, tpFrame frame, tpVec3 torque);

// The load of a body, or NULL if there is none.
static inline const tpLoad* tpSystem_LoadOf(const tpSystem* system, int body) {
    bool hasOne = system->hasLoads && body < system->loads.count && system->loads.data[body].isUsed;
    return hasOne ? &system->loads.data[body] : NULL;
}

// Force and torque about the centre of mass, world axes, at an orientation.
tpWrench tpLoad_Wrench(const tpLoad* load, tpQuat rotation);

// Bounds of both, whatever the orientation.
double tpLoad_LargestForce(const tpLoad* load);
double tpLoad_LargestTorque(const tpLoad* load);

#endif
