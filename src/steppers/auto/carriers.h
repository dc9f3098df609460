// What carries which group, from step to step.

#ifndef TIPPE_SRC_STEPPERS_AUTO_CARRIERS_H
#define TIPPE_SRC_STEPPERS_AUTO_CARRIERS_H

#include "steppers/auto/group_run.h"

// The method that carries a group, with what it keeps.
typedef struct tpCarrier {
    bool isKnown; // it has carried something
    bool isUsed;  // in this step
    bool isFresh; // no method has been chosen for it yet
    tpMethod method;
    void* state;
    uint64_t members; // a number for the bodies that it has carried last
    tpPace pace;
    tpStride stride; // that is under way, if any
    // Work: of a usual step of the user, of all of them, of comparisons of methods so far, and what
    // the next comparison is thought to cost (0: not known yet).
    double typical, spent, compared, expected;
} tpCarrier;

// What is known of a body.
typedef struct tpCarried {
    uint64_t birth;
    int carrier;                      // -1: none
    int touching;                     // its last carrier while it did not fly, -1: none
    double positionError, speedError; // estimates, m and m/s
} tpCarried;

typedef struct tpCarriers {
    tpCarrier list[tp_groupLimit + 2];
    TP_ARRAY(tpCarried) bodies;
} tpCarriers;

void tpCarriers_Destroy(tpCarriers* carriers, tpSystem* system);

// Room for all bodies; those that are new have no carrier and no error. False if memory ran out.
bool tpCarriers_Follow(tpCarriers* carriers, tpSystem* system);

// Before a step: nobody is used.
void tpCarriers_Begin(tpCarriers* carriers);

// The carrier of a group: that of its first body which has one that is free, for those that do not
// fly the last one while it did not; else another one, which starts with the method and pace of the
// group's former carrier. NULL if memory ran out.
tpCarrier* tpCarriers_For(tpCarriers* carriers, tpSystem* system, const tpGroups* groups,
                          int group);

// Gives a carrier another method, with nothing kept. False if memory ran out.
bool tpCarrier_Change(tpCarrier* carrier, tpSystem* system, tpMethod method);

// Goes on at the pace of another one, which nobody has checked for this one.
void tpCarrier_Pace(tpCarrier* carrier, const tpPace* pace);

// Snapshots.
size_t tpCarriers_SavedSize(const tpCarriers* carriers);
void tpCarriers_Save(const tpCarriers* carriers, void* saved);
bool tpCarriers_Restore(tpCarriers* carriers, tpSystem* system, tpSavedReader* reader);

#endif
