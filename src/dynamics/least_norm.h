// Of all impulses of contacts that give the same motion, those of least norm.
//
// A box on a floor has more contact points than its motion can tell apart: 12 impulses for 6
// velocities. A solver answers with some of the impulses that hold it, depending on where it
// started. What is shown to users is the answer of least norm instead: a box at rest has equal
// loads and no friction. It is found after the step, and no step reads it: looking at contacts does
// not change a run.

#ifndef TIPPE_SRC_DYNAMICS_LEAST_NORM_H
#define TIPPE_SRC_DYNAMICS_LEAST_NORM_H

#include "dynamics/system.h"

// Changes the impulses of contacts of the last step, island by island: the sum of forces and
// moments on every dynamic body stays, impulses stay in their cones, contacts that slide keep the
// direction of their friction and those that are open carry nothing. Crowds, islands with many
// contacts, contacts with springs (their gaps say their loads) and contacts that have collided in
// events stay as they are; so does everything if memory runs out.
void tpSystem_SpreadImpulses(tpSystem* system, tpContactInfo* contacts, int count);

#endif
