// Which bodies hang together through joints, couplings and contacts, and stepping some of them
// alone.
//
// Bodies that are out of the system have no velocity and no inverse mass: to a stepper they are
// fixed, as sleeping bodies are.

#ifndef TIPPE_SRC_DYNAMICS_BODY_ISLANDS_H
#define TIPPE_SRC_DYNAMICS_BODY_ISLANDS_H

#include "dynamics/system.h"

// Trees of bodies, by the parent of each: one tree per island of dynamic bodies that joints and
// couplings hold together. In the arena; NULL if memory ran out.
int* tpBodyIslands_Find(tpSystem* system);

// Makes one island of those of two bodies, if both are dynamic.
void tpBodyIslands_Join(int* parents, const tpSystem* system, int a, int b);

// The body that stands for the island of a body: the first of it.
int tpBodyIslands_Root(int* parents, int body);

// How far each body can come in h seconds, with a reserve for what impulses add. In the arena; NULL
// if memory ran out.
double* tpSystem_ReservedMargins(tpSystem* system, double h);

// Whether a dynamic body has come farther from its start than its margin.
bool tpSystem_HasOutrun(const tpSystem* system, const tpPose* starts, const double* margins);

// Gives bodies that have moved farther than their margins margins of the way that they have come,
// with a reserve. Returns whether there are any.
bool tpSystem_WidenMargins(const tpSystem* system, const tpPose* starts, double* margins);

// Takes the marked dynamic bodies out of the system. Putting them in gives them the inverse masses
// that they had; poses and velocities are the caller's to set.
void tpSystem_TakeOut(tpSystem* system, const bool* isMarked);
void tpSystem_PutIn(tpSystem* system, const bool* isMarked);

// Tells the collider which shapes can move, after inverse masses have changed.
void tpSystem_FollowMasses(tpSystem* system);

#endif
