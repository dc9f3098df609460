// What the parts of a step have done together: impulses of contacts, reactions of joints.

#ifndef TIPPE_SRC_DYNAMICS_PARTS_H
#define TIPPE_SRC_DYNAMICS_PARTS_H

#include "dynamics/tally.h"

typedef struct tpParts {
    tpSystem* system;
    double duration;   // of the whole step, s
    tpTally tally;     // impulses of contacts
    double* reactions; // of joints, means over the whole step; joint_state.h has their order
    double* last;      // those of the last part
    int reactionCount;
} tpParts;

// A step of so many seconds begins. False if memory ran out.
bool tpParts_Begin(tpParts* parts, tpSystem* system, double duration);

// Adds what a part of h seconds has left in the system: its contacts, and reactions that are means
// over it. Scratch memory that was taken since `mark` is given back, if it is not NULL: the parts
// of a step need no more than the largest of them. False if memory ran out.
bool tpParts_Add(tpParts* parts, double h, const tpArenaMark* mark);

// All parts are done: lists the contacts of the whole step as the system's and measures
// penetration. False if memory ran out.
bool tpParts_List(tpParts* parts, tpStepReport* report);

#endif
