// A step at work: what the files of this folder hand each other.

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_STEP_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_STEP_H

#include "base/tasks.h"
#include "steppers/small_steps/state.h"
#include "sweeps/colour.h"
#include "sweeps/soft_pack.h"

// The options, once per step.
typedef struct tpSmallStepsSettings {
    double tolerance; // of contact velocities, m/s
    double pushOut;   // overlaps are taken back no faster, m/s
    double threshold; // slower approaches do not bounce, m/s
    int substeps;
} tpSmallStepsSettings;

typedef struct tpSmallStep {
    tpSystem* system;
    tpSmallSteps* state;
    tpSmallStepsSettings settings;
    tpStepReport* report;
    double h;
    int substeps;
    double substepTime; // s

    // Bodies, a line each.
    int bodyCount;
    tpVelocity* starts;     // at the start of the step
    tpVelocity* frees;      // at its end, without contacts
    tpVelocity* kicks;      // what forces add in a substep
    tpVelocity* bases;      // velocities of the substep without its contacts' impulses
    tpVelocity* given;      // what the contacts' impulses make of it
    tpVelocity* velocities; // now
    tpVelocity* moved;      // displacements since the start of the step
    tpQuat* freeRotations;  // at its end without contacts, of bodies that tumble
    bool* isPushed;         // impulses have changed its velocity in this step
    tpSweepBody* masses;
    double* margins; // how far a body may move in the step, m
    bool isKnown;    // the contacts that the last step found at its end hold here

    // Contacts at the start of the step, in the state, with the impulses they start from in world axes
    // (NULL: none).
    const tpContact* contacts;
    int contactCount;
    const tpVec3* impulses;

    // What is swept of them.
    const tpSoftKernels* wide;
    tpSoftSweep sweep;
    int32_t* kept;         // numbers of contacts, together for each manifold
    tpManifold* manifolds; // first and count are places in `kept`; block after block
    int32_t* order;        // of manifolds, by block and colour
    tpSoftRun* runs;
    int32_t* colours; // the first run of each colour, and the end
    int32_t* blocks;  // the first colour of each block, that of what lies between them, and the end
    int keptCount, manifoldCount, packCount, runCount, colourCount, blockCount;
    bool bounces;
} tpSmallStep;

// The whole step: `system`, `state`, `settings`, `report` and `h` are given, the rest is zero. It lies in the arena: the
// list of contacts is made of it when somebody asks. False if memory ran out.
bool tpSmallStep_Take(tpSmallStep* step);

// Forces, free motion, masses and margins of the bodies. False if memory ran out.
bool tpSmallStep_BeginBodies(tpSmallStep* step);

// Whether the contacts that the last step found at its end hold at its start, within the margins given.
bool tpSmallStep_KnowsContacts(const tpSmallStep* step);

// Moves the bodies to the end of the step. Margins become those of the next step.
bool tpSmallStep_MoveBodies(tpSmallStep* step);

// Puts the contacts that may close into packs, with their starts. False if memory ran out.
bool tpSmallStep_Pack(tpSmallStep* step);

// Fills the packs of all runs, once these are laid out. False if memory ran out.
bool tpSmallStep_Fill(tpSmallStep* step);

// Energies and certificate, into the report. False if memory ran out.
bool tpSmallStep_Judge(tpSmallStep* step);

// Finds the contacts at the end of the step and what the next one starts from; promises the list of
// contacts. False if memory ran out.
bool tpSmallStep_Remember(tpSmallStep* step);

#endif
