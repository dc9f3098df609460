// Motion of bodies when nothing touches them, and of those that move as told.

#ifndef TIPPE_SRC_DYNAMICS_MOTION_H
#define TIPPE_SRC_DYNAMICS_MOTION_H

#include "dynamics/system.h"

// Moves every dynamic body for h seconds at constant linear velocity and in free rotation.
void tpSystem_Drift(tpSystem* system, double h);

// Sets the velocities of kinematic bodies to those that carry them from where they are at `time` to
// where they have to be at `time + h`.
void tpSystem_AimKinematic(tpSystem* system, double time, double h);

// Puts kinematic bodies where they have to be at `time + h`.
void tpSystem_MoveKinematic(tpSystem* system, double time, double h);

// Where a kinematic body with keyframes has to be.
tpPose tpKeyframes_PoseAt(const tpKeyframe* keyframes, int count, double time);

// The time of the first keyframe after a time, s; INFINITY: there is none.
double tpKeyframes_NextTime(const tpKeyframe* keyframes, int count, double time);

// Whether there are joints and nothing but they, ideal ones, and gravity acts, so that between
// contacts the way back in time is the way forth.
bool tpSystem_IsReversible(const tpSystem* system);

#endif
