// The problem of the drift, shared by the files that solve it: rows are written (drift_rows.c),
// solved (drift.c; drift_springs.c if contacts give), compared with the end (drift_correction.c).

#ifndef TIPPE_SRC_STEPPERS_DRIFT_PROBLEM_H
#define TIPPE_SRC_STEPPERS_DRIFT_PROBLEM_H

#include "dynamics/joints.h"
#include "steppers/drift.h"

// The most solves of one drift.
enum { tp_driftCorrections = 20 };

typedef struct tpDrift {
    tpTimeStep* step;
    tpStepperMemory* memory;
    const tpDriftSettings* settings;
    tpStepReport* report;

    // Contacts of the start; which of them keep rows of the start, and the biases of these.
    const tpContact* start;
    int startCount;
    bool* isClosed; // at the start
    bool* isKept;
    double* keptBias;
    double (*keptSlip)[2]; // biases of the friction rows

    double* jointBias; // of the rows of joints, as they were written at the start

    // Of each contact in the step: its place in the list above or -1, the solve after which its row
    // was written (0: at the start), and the row's bias.
    int* place;
    int* round;
    double* bias;
    double* gap;     // at the start, as the row says it; read for contacts that give
    bool hasSprings; // there are such contacts
    tpPose* poses[tp_driftCorrections]; // by rounds

    double left;       // of the gaps by the last solve, in units of length
    double miss;       // the largest of the rows, m or rad
    double apart;      // the same of the rows of joints alone
    double lastApart;  // the same in the round before; INFINITY in the first one
    bool isSettled;    // all are within their tolerance
    bool isCollecting; // rows of contacts that have pushed and are gone at the end stay
    bool* isAtEnd;     // of each contact in the step: it is among the contacts at the end
} tpDrift;

// drift_rows.c

// Writes the rows of all contacts of the start, with its directions. False if memory ran out.
bool tpDrift_AddStartRows(tpDrift* drift);

// Writes the rows again after solve number `round`: rows that stay, and rows of the contacts at the
// end of that solve. False if memory ran out.
bool tpDrift_RewriteRows(tpDrift* drift, int round);

// How the rows of joints are written.
tpJointTreatment tpDrift_JointTreatment(const tpDrift* drift);

// Whether a contact's row stays if rows are written again.
bool tpDrift_Stays(const tpDrift* drift, int contact);

// The gap that a contact may have at the end, m: 0, or less for overlaps that are left. `place` is
// its place among the contacts of the start, or -1.
double tpDrift_MeantEndGap(const tpDrift* drift, const tpContact* contact, int place);

// Gaps of contacts whose rows are of the end are met to this, in units of length.
double tpDrift_EndTolerance(const tpDrift* drift);

// drift_correction.c: what rows have missed at the end goes into their biases, `miss`, `isSettled`.

// Both are false if memory ran out. Joint rows come from block `firstBlock` on.
bool tpDrift_CorrectContacts(tpDrift* drift);
bool tpDrift_CorrectJoints(tpDrift* drift, int firstBlock);

// drift_springs.c: contacts that give. Both are false if memory ran out.

bool tpDrift_SolveSprings(tpDrift* drift);
bool tpDrift_FinishSprings(tpDrift* drift, tpDriftResult* result);

// drift_impacts.c

// Whether anything has collided in the step.
bool tpDrift_HasCollided(const tpDrift* drift);

// Whether an impact that is sought will happen before the end, by the contacts of the step and the
// velocities of its start; with restitution above 1/2 if `isLively` comes back true.
bool tpDrift_ForeseesStrike(const tpDrift* drift, bool* isLively);

#endif
