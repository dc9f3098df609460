// The parts of a snapshot, see snapshot.c.

#ifndef TIPPE_SRC_WORLD_SNAPSHOT_H
#define TIPPE_SRC_WORLD_SNAPSHOT_H

#include "world/archive.h"
#include "world/world.h"

// Everything about a world that can be set, and its state but for what the stepper keeps. The world
// has the structure that was saved.
void tpWorld_Transfer(tpWorld* world, tpArchive* archive);

#endif
