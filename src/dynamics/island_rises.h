// Which islands have gained energy in a part of a step, each held against its own energies.
//
// The energies of bodies and of the springs of joints are known one by one. So is what an island
// gains on which nothing else does work; of forces, drives and dampers only the work of all of them
// together is known: the islands on which they act are judged as one, by what the gains of the
// others leave of the rise.

#ifndef TIPPE_SRC_DYNAMICS_ISLAND_RISES_H
#define TIPPE_SRC_DYNAMICS_ISLAND_RISES_H

#include "dynamics/system.h"

// Energies as a part begins, in the arena.
typedef struct tpIslandRises {
    double* bodies; // kinetic energy and that of weight, J
    double* moving; // the former alone, J
    double* joints; // of springs, J
} tpIslandRises;

// False if memory ran out.
bool tpIslandRises_Begin(tpIslandRises* rises, tpSystem* system);

// Marks the bodies of islands that hang on joints, other than springs alone, and have gained more
// than a part of their own energies: those that move, what springs hold, and what gravity gives
// over the sizes of bodies. `rise` is that of all energy beyond the work done, `external` that
// work, J. Joints that are farther apart than `drift` mark theirs too. False if memory ran out.
bool tpIslandRises_Mark(const tpIslandRises* rises, tpSystem* system, double part, double rise,
                        double external, double drift, bool* isMarked);

#endif
