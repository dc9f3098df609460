// Ways to sweep a run of packs: one contact after the other, or four or eight at once.
//
// All give the same bits: lanes share no moving body, and every operation is done in the same order with
// the same rounding. Which one is taken is decided at run time by what the processor has.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_SWEEP_WIDE_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_SWEEP_WIDE_H

#include "steppers/bender_schmitt/sweep.h"

typedef struct tpWideSweep {
    const char* name;
    int width; // contacts at once
    // Solves the contacts of a run; returns the largest change of a contact's velocity.
    double (*sweepRun)(tpSweeper* sweeper, const tpPackRun* run);
    // Adds the impulses that the contacts of a run start with.
    void (*startRun)(tpSweeper* sweeper, const tpPackRun* run);
    // Velocities of the contacts of a run, into `speed` of its packs.
    void (*speedRun)(tpSweeper* sweeper, const tpPackRun* run);
    // What follows from masses, directions and arms: response, inverseNormal, stick and slide.
    void (*respondRun)(tpSweeper* sweeper, const tpPackRun* run);
    // Adds, lane by lane, what the impulses of all packs have changed since `last` (three times eight numbers a
    // pack), squared and times their own response. All aligned to 64 bytes.
    void (*addChanges)(const tpSweeper* sweeper, const double* last, double sums[tp_packWidth]);
    // Of eight numbers, or more times eight: value + beta direction, and beta direction + (value - last), which is
    // the direction that follows; `last` becomes the new value.
    void (*advance)(double* values, double* last, double* direction, int count, double beta);
} tpWideSweep;

// Contact after contact, with torsion too.
double tpSweepRunSlowly(tpSweeper* sweeper, const tpPackRun* run);
void tpStartRunSlowly(tpSweeper* sweeper, const tpPackRun* run);

extern const tpWideSweep tp_plainSweep;

// NULL where neither this build nor this machine has it.
const tpWideSweep* tpGetWideSweep(int width);

// The widest.
const tpWideSweep* tpChooseWideSweep(void);

#if defined(__x86_64__) && defined(__GNUC__)
#define TP_HAS_WIDE_SWEEPS 1
extern const tpWideSweep tp_avx2Sweep;
extern const tpWideSweep tp_avx512Sweep;
#endif

#endif
