// Energy that islands have gained in a step out of nothing, and taking it out again.

#ifndef TIPPE_SRC_DYNAMICS_ISLAND_ENERGY_H
#define TIPPE_SRC_DYNAMICS_ISLAND_ENERGY_H

#include "dynamics/kept_motion.h"

// The island of each body by joints, couplings and the contacts of the step, as in body_islands.h;
// NULL if memory ran out.
int* tpSystem_StepIslands(tpSystem* system);

// Marks the roots of islands on which something does work or for which something keeps energy that
// is not that of their bodies: forces, drives, dampers, kinematic bodies, contacts that give, and
// springs if they count as such.
void tpSystem_MarkDriven(const tpSystem* system, int* islands, bool springsDrive, bool* isDriven);

// Kinetic energy of a body with this pose and velocity, J.
double tpSystem_KineticEnergyAt(const tpSystem* system, int body, const tpPose* pose,
                                const tpVelocity* velocity);

// Takes `rise` (J), by which the system has gained more energy since `start` than work explains,
// from the velocities of the islands that have gained it. Islands are what joints and the contacts
// of the step hold together. All velocities of an island become smaller by one factor, which leaves
// its contacts and joints as admissible as they were. Returns what was taken, J: more than `rise`
// if other islands have lost energy meanwhile.
double tpSystem_TakeGains(tpSystem* system, const tpKeptMotion* start, double rise);

// Of all islands together in a step, J.
typedef struct tpIslandWork {
    double rise;     // of their energy, less the work done
    double external; // the work done
    double given;    // what neither work nor the losses of contacts explain
} tpIslandWork;

// Whether an island has gained more than a part of the energies that are its own: its kinetic
// energy, and what gravity gives over the sizes of its bodies. What forces, springs and drives do
// is known of all islands together on which they act: those count as one. False if the system is
// one island, or memory ran out.
bool tpSystem_HasIslandGained(tpSystem* system, const tpPose* startPoses,
                              const tpVelocity* startVelocities, double part, tpIslandWork work);

#endif
