// Bodies that can have to do with each other within a step, and stepping one such group alone.
//
// Two bodies are in one group if a joint holds them together, or if they are so near that they can
// meet within the step at the larger of their speeds. Bodies with nothing near, no joint and no
// force but gravity are all in one group of their own: they fly. While a group is carried the
// others are out of the system, as sleeping bodies are: without velocity and without inverse mass.

#ifndef TIPPE_SRC_STEPPERS_AUTO_GROUPS_H
#define TIPPE_SRC_STEPPERS_AUTO_GROUPS_H

#include "dynamics/contact_info.h"
#include "dynamics/contacts.h"
#include "dynamics/tally.h"

// Beyond this many groups those with contacts are one.
enum { tp_groupLimit = 24 };

typedef struct tpGroups {
    int count;
    int* ofBody;         // -1: it does not move by impulses
    int* sizes;          // bodies of a group
    int* pairCounts;     // contacts within the margins
    int* jointCounts;    // joints that hold something
    bool* areForced;     // something but gravity acts
    tpContact* contacts; // within the margins, but for bodies that fly and do not meet
    int contactCount;
    double* turnSizes; // of bodies: what an angle of theirs counts, m; 0 for balls, whom nobody
                       // sees turn
    int flying;        // the group of those that fly, -1: none
    // of bodies: how far they can come in the step before groups are to be found anew
    double* margins;
} tpGroups;

// Groups for a step of h seconds, in the arena; all moving bodies are one group if `isOne`. Groups
// are numbered by their first body, but the flying come last. False if memory ran out.
bool tpGroups_Find(tpGroups* groups, tpSystem* system, double h, bool isOne);

// Takes all but one group out of the system; puts all back with the inverse masses they had, and
// with the poses and velocities that are given for all that are not in the group.
void tpGroups_Isolate(const tpGroups* groups, tpSystem* system, int group);
void tpGroups_Rejoin(const tpGroups* groups, tpSystem* system, int group, const tpPose* poses,
                     const tpVelocity* velocities);

// Whether a body has pushed one of another group, or one that sleeps: that one was in its way like
// a wall, and should have given way.
bool tpGroups_HaveMet(const tpGroups* groups, const tpSystem* system, const tpTally* tally);

#endif
