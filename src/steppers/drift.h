// The first problem of the symmetric step: impulses under which the drift ends where it may.

#ifndef TIPPE_SRC_STEPPERS_DRIFT_H
#define TIPPE_SRC_STEPPERS_DRIFT_H

#include "steppers/memory.h"

// Impacts that end a try before its solve: the caller takes shorter steps to say when they happen.
typedef struct tpStrikes {
    bool areSought;
    double least; // approaches of contacts with restitution that are faster, m/s
    double hard;  // those without restitution, if the drift has few contacts, m/s
} tpStrikes;

// Impacts without restitution are located if a step has at most so many contacts: a block that
// rocks loses what it should only if its edges strike when they do.
enum { tp_fewStrikes = 12 };

typedef struct tpDriftSettings {
    tpSolveSettings solve;
    double gamma;   // part of an overlap that one step takes back
    bool isCareful; // gives no energy, see drift.c
    bool isWhole; // no second problem follows: springs and motors of joints act for all of the step
    // m: gaps of contacts that do not hold for many steps are met to this, or 1e-10 units
    double tolerance;
    double room;       // m: overlaps no deeper than this are left as they are
    bool mayGiveUp;    // the caller has shorter steps to try: see isLost
    tpStrikes strikes; // see isForeseen
    // Contacts at the system's poses within the margins, in the collider's order, in the system's
    // arena; false if memory ran out. NULL: all that the system finds.
    bool (*find)(void* context, const tpTimeStep* step, tpContact** contacts, int* count);
    void* context;
} tpDriftSettings;

// A contact is closed below this gap, in units of length.
static const double tpClosedGap = 1e-8;

typedef struct tpDriftResult {
    double overlap; // the deepest at the start, m
    // by how much rows have missed the gaps and joints at the end, in units of length or rad
    double miss;
    bool hasCollided; // a contact or limit has pushed that was open at the start or approached
    // Rounds have torn joints apart instead of closing them, and driven bodies further than
    // contacts were sought. Such a drift is no guess of any motion: it was left there.
    bool isLost;
    // An impact that is sought will happen within the step: nothing was solved.
    bool isForeseen;
    bool isLively; // that impact gives back more than a quarter of the energy of its approach
    // Of contacts that give, by contact of the step: the impulse that remains for the second half,
    // N s, and the loss in dampers, J. NULL if there are none.
    double* rest;
    double dampingLoss;
} tpDriftResult;

// Solves for the impulses and drifts: the system has the poses and velocities of the drift's end,
// the step the rows that led there. False if memory ran out.
bool tpDrift_Solve(tpTimeStep* step, tpStepperMemory* memory, const tpDriftSettings* settings,
                   tpDriftResult* result, tpStepReport* report);

#endif
