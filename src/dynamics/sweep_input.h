// From a system, its contacts and its joint rows to what the sweeps take.

#ifndef TIPPE_SRC_DYNAMICS_SWEEP_INPUT_H
#define TIPPE_SRC_DYNAMICS_SWEEP_INPUT_H

#include "dynamics/rows.h"
#include "sweeps/sweeper.h"

// A body's inverse mass at its current orientation.
tpSweepBody tpSystem_SweepBody(const tpSystem* system, int body);

// A sweeper with all bodies of the system and these contacts, found at `poses`, in the arena. Its
// velocities are not set. False if memory ran out.
bool tpSystem_CreateSweeper(const tpSystem* system, const tpPose* poses, const tpContact* contacts,
                            const tpContactLaw* laws, int count, tpArena* arena,
                            tpSweeper* sweeper);

// Gives the sweeper the blocks of joints among the rows: geometry, biases, compliances and
// impulses. False if memory ran out.
bool tpRows_AddToSweeper(const tpRows* rows, tpArena* arena, tpSweeper* sweeper);

#endif
