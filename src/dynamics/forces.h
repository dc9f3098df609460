// Forces on bodies: gravity, user forces, springs between points, damping.
//
// A kick changes velocities by the impulses of the forces over an interval while the poses stand
// still. Half a kick, free motion, half a kick: a symmetric splitting, exact for constant forces on
// the centre of mass and of second order otherwise.

#ifndef TIPPE_SRC_DYNAMICS_FORCES_H
#define TIPPE_SRC_DYNAMICS_FORCES_H

#include "dynamics/system.h"

// Which way the elements that depend on velocity are swept; the two halves of a step are mirror
// images.
typedef enum tpSweepOrder { tp_forwardSweep, tp_backwardSweep } tpSweepOrder;

// Applies the impulses of all forces over [time, time + duration], at the current poses. Returns
// the work of dampers and damping; force_work.h has that of what users apply.
double tpSystem_Kick(tpSystem* system, double time, double duration, tpSweepOrder order);

// Parts of it, for steppers that have springs among their rows: gravity and what users apply;
// damping, which returns its work against the velocities before it. The two halves of a symmetric
// step have them in opposite order.
void tpSystem_KickForces(tpSystem* system, double time, double duration);
double tpSystem_KickDamping(tpSystem* system, double duration);

// Momentum of a change of velocity of a body times another velocity, J.
double tpSystem_BodyPower(const tpSystem* system, int body, const tpVelocity* change,
                          const tpVelocity* against);

// User forces and damping of one body, neither gravity nor springs. Returns their work.
double tpSystem_KickBody(tpSystem* system, int body, double time, double duration);

// A user force with its moment about the centre of mass, world axes, at the current pose.
tpWrench tpForce_Wrench(const tpSystem* system, const tpForce* force);

// Potential energy of gravity (zero at the origin's height) and springs; kinetic energy of bodies
// and armatures.
double tpSystem_PotentialEnergy(const tpSystem* system);
// The springs' part of it.
double tpSystem_SpringEnergy(const tpSystem* system);
double tpSystem_KineticEnergy(const tpSystem* system);
// Both, with one look at each body.
void tpSystem_FindEnergies(const tpSystem* system, double* kinetic, double* potential);
// Both together.
double tpSystem_Energy(const tpSystem* system);
double tpSystem_BodyKineticEnergy(const tpSystem* system, int body);
tpVec3 tpSystem_LinearMomentum(const tpSystem* system);
tpVec3 tpSystem_AngularMomentum(const tpSystem* system, tpVec3 about);

#endif
