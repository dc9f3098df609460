// A step in parts at work: what brisk.c and its helpers hand each other.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_BRISK_STEP_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_BRISK_STEP_H

#include "base/tasks.h"
#include "steppers/bender_schmitt/brisk_pack.h"
#include "steppers/bender_schmitt/step.h"
#include "steppers/bender_schmitt/sweep_colour.h"

typedef struct tpBrisk {
    tpSystem* system;
    tpBenderSchmitt* state;
    const tpBenderSettings* settings;
    tpStepReport* report;
    double h;
    int parts;
    double time; // of a part, s

    // Bodies, a line each.
    int bodyCount;
    tpVelocity* starts;     // at the start of the step
    tpVelocity* frees;      // at its end, without contacts
    tpVelocity* kicks;      // what forces add in a part
    tpVelocity* bases;      // velocities of the part without its contacts' impulses
    tpVelocity* given;      // what the contacts' impulses make of it
    tpVelocity* velocities; // now
    tpVelocity* moved;      // displacements since the start of the step
    tpSweepBody* masses;
    double* margins; // how far a body may move in the step, m
    bool isKnown;    // the contacts that the last step found at its end hold here

    // Contacts at the start of the step, in the state, with the impulses they start from in world axes
    // (NULL: none).
    const tpContact* contacts;
    int contactCount;
    const tpVec3* impulses;

    // What is swept of them.
    const tpWideBrisk* wide;
    tpBriskSweep sweep;
    int32_t* kept;         // numbers of contacts, together for each manifold
    tpManifold* manifolds; // first and count are places in `kept`; block after block
    int32_t* order;        // of manifolds, by block and colour
    tpBriskRun* runs;
    int32_t* colours; // the first run of each colour, and the end
    int32_t* blocks;  // the first colour of each block, that of what lies between them, and the end
    int keptCount, manifoldCount, packCount, runCount, colourCount, blockCount;
    bool bounces;
} tpBrisk;

// Forces, free motion, masses and margins of the bodies. False where memory ran out.
bool tpBrisk_BeginBodies(tpBrisk* brisk);

// Moves the bodies to the end of the step. Margins become those of the next step.
bool tpBrisk_MoveBodies(tpBrisk* brisk);

// Puts the contacts that may close into packs, with their starts. False where memory ran out.
bool tpBrisk_Pack(tpBrisk* brisk);

// Fills the packs of all runs, once these are laid out. False where memory ran out.
bool tpBrisk_Fill(tpBrisk* brisk);

// Energies and certificate, into the report. False where memory ran out.
bool tpBrisk_Judge(tpBrisk* brisk);

// Finds the contacts at the end of the step and what the next one starts from; promises the list of
// contacts. False where memory ran out.
bool tpBrisk_Remember(tpBrisk* brisk);

#endif
