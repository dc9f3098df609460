// Which islands have gained energy in a part of a step, each held against its own energies.
//
// The energies of bodies and of the springs of joints are known one by one. So is what an island
// gains on which nothing else does work; of forces, drives and dampers only the work of all of them
// together is known: the islands on which they act are judged as one, by what the gains of the
// others leave of the rise.

#ifndef TIPPE_SRC_DYNAMICS_ISLAND_RISES_H
#define TIPPE_SRC_DYNAMICS_ISLAND_RISES_H

#include "dynamics/kept_motion.h"

// Energies as a part begins, in the arena.
typedef struct tpIslandRises {
    double* bodies; // kinetic energy and that of weight, J
    double* moving; // the former alone, J
    double* joints; // of springs, J
} tpIslandRises;

// Those of now, or of a motion before. False if memory ran out.
bool tpIslandRises_Begin(tpIslandRises* rises, tpSystem* system);
bool tpIslandRises_BeginAt(tpIslandRises* rises, tpSystem* system, const tpKeptMotion* start);

// Marks the bodies of islands that hang on joints, other than springs alone, and have gained more
// than a part of their own energies: those that move, what springs hold, and what gravity gives
// over the sizes of bodies. `rise` is that of all energy beyond the work done, `external` that
// work, J. Joints that are farther apart than `drift` mark theirs too. False if memory ran out.
bool tpIslandRises_Mark(const tpIslandRises* rises, tpSystem* system, double part, double rise,
                        double external, double drift, bool* isMarked);

// The largest gain, J, of an island in which something that pushes one way alone has pushed: a
// contact, a limit, a motor, a servo of bounded effort, dry friction. Solves of such rows can run
// away; what springs and joints alone gain in a step that is too long for them they give back in
// others. Drives may also book work that nobody has done: a gain beyond all energies of their
// islands. INFINITY if memory ran out.
double tpIslandRises_Unpaid(const tpIslandRises* rises, tpSystem* system, double rise);

#endif
