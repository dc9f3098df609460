// Try, undo, keep what it cost: a part of a step may be taken several ways before one is kept.

#ifndef TIPPE_SRC_DYNAMICS_TRIAL_H
#define TIPPE_SRC_DYNAMICS_TRIAL_H

#include "dynamics/contacts.h"
#include "dynamics/kept_motion.h"
#include "dynamics/tally.h"

typedef struct tpTrial {
    tpSystem* system;
    tpStepReport* report;
    tpContactHistory* history; // of the stepper, or NULL
    tpTally* tally;            // of the step, or NULL

    // As they were when the trial began, in the arena.
    tpKeptMotion motion;
    tpContactMemory* memories;
    int memoryCount;
    double memoryStep;
    tpTally keptTally;
    tpStepReport keptReport;
    tpArenaMark mark; // scratch memory behind it belongs to one try
} tpTrial;

// Keeps what a try may change: poses, velocities, joints, the contact history (may be NULL), the
// report. False if memory ran out.
bool tpTrial_Begin(tpTrial* trial, tpSystem* system, tpContactHistory* history,
                   tpStepReport* report);

// The tally of the step goes back too.
void tpTrial_KeepTally(tpTrial* trial, tpTally* tally);

// Scratch memory that was taken since the trial began stays when a try is undone.
void tpTrial_KeepScratch(tpTrial* trial);

// Undoes the last try and gives its scratch memory back. Of the report only what the try cost
// stays: solves and iterations.
void tpTrial_Undo(const tpTrial* trial);

#endif
