// What acts on bodies beside joints and contacts: gravity, forces of the user, and the medium.

#ifndef TIPPE_SRC_STEPPERS_AUTO_OUTER_FORCES_H
#define TIPPE_SRC_STEPPERS_AUTO_OUTER_FORCES_H

#include "steppers/auto/groups.h"

// All of it on a body where it is now, of the forces that act at a time; and the power of what is
// not gravity, W.
tpWrench tpOuterForce_On(const tpSystem* system, int body, double time, double* power);

// About its centre.
tpVec3 tpOuterForce_AngularMomentum(const tpSystem* system, int body);

// When a force on the group next begins or ends after a time, or a body that it touches or hangs on
// comes to a keyframe, s; INFINITY: never.
double tpOuterForce_Until(const tpSystem* system, const tpGroups* groups, int group, double time);

// Whether the group has forces or a medium on it.
bool tpOuterForce_IsThere(const tpSystem* system, const tpGroups* groups, int group);

// The impulse of the forces on a body from a time on for h seconds, if they are the same all along.
// False if they turn with the body, or are a medium's.
bool tpOuterForce_Impulse(const tpSystem* system, int body, double time, double h, tpVec3* impulse);

#endif
