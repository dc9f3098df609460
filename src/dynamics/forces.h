// Forces on bodies: gravity, user forces, springs between points, damping.
//
// A kick changes velocities by the impulses of the forces over an interval while the poses stand
// still. Half a kick, free motion, half a kick: a symmetric splitting, exact for constant forces on
// the centre of mass and of second order otherwise.

#ifndef TIPPE_SRC_DYNAMICS_FORCES_H
#define TIPPE_SRC_DYNAMICS_FORCES_H

#include "dynamics/system.h"

// Which way the elements that depend on velocity are swept; the two halves of a step are mirror images.
typedef enum tpSweepOrder { tp_forwardSweep, tp_backwardSweep } tpSweepOrder;

// Applies the impulses of all forces over [time, time + duration], at the current poses. Returns the
// work of what is not gravity and not a spring's stiffness: user forces, dampers, damping.
double tpSystem_Kick(tpSystem* system, double time, double duration, tpSweepOrder order);

// The same without springs, which steppers that solve for impulses have among their rows.
double tpSystem_KickWithoutSprings(tpSystem* system, double time, double duration);

// User forces and damping of one body, neither gravity nor springs. Returns their work.
double tpSystem_KickBody(tpSystem* system, int body, double time, double duration);

// A user force with its moment about the centre of mass, world axes, at the current pose.
tpWrench tpForce_Wrench(const tpSystem* system, const tpForce* force);

// Potential energy of gravity and springs, zero at the origin's height.
double tpSystem_PotentialEnergy(const tpSystem* system);
// The springs' part of it.
double tpSystem_SpringEnergy(const tpSystem* system);
double tpSystem_KineticEnergy(const tpSystem* system);
double tpSystem_BodyKineticEnergy(const tpSystem* system, int body);
tpVec3 tpSystem_LinearMomentum(const tpSystem* system);
tpVec3 tpSystem_AngularMomentum(const tpSystem* system, tpVec3 about);

#endif
