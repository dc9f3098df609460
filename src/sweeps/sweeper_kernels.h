// Ways to sweep a run of packs: one contact after the other, or four or eight at once.
//
// All give the same bits: lanes share no moving body, and every operation is done in the same order
// with the same rounding. math/widths.h says which one a machine takes.

#ifndef TIPPE_SRC_SWEEPS_SWEEPER_KERNELS_H
#define TIPPE_SRC_SWEEPS_SWEEPER_KERNELS_H

#include "sweeps/sweeper.h"

typedef struct tpSweepKernels {
    const char* name;
    int width; // contacts at once
    // Solves the contacts of a run; returns the largest change of a contact's velocity.
    double (*sweepRun)(tpSweeper* sweeper, const tpPackRun* run);
    // Adds the impulses that the contacts of a run start with.
    void (*startRun)(tpSweeper* sweeper, const tpPackRun* run);
    // Velocities of the contacts of a run, into `speed` of its packs.
    void (*speedRun)(tpSweeper* sweeper, const tpPackRun* run);
    // What follows from masses, directions and arms: response, inverseNormal, stick and slide.
    // Where there are locked axes the response begins with what the centres give.
    void (*respondRun)(tpSweeper* sweeper, const tpPackRun* run);
    // Adds, lane by lane, what the impulses of all packs have changed since `last` (three times
    // eight numbers a pack), squared and times their own response. All aligned to 64 bytes.
    void (*addChanges)(const tpSweeper* sweeper, const double* last, double sums[tp_packWidth]);
    // Of eight numbers, or more times eight: value + beta direction, and beta direction + (value -
    // last), which is the direction that follows; `last` becomes the new value.
    void (*advance)(double* values, double* last, double* direction, int count, double beta);
} tpSweepKernels;

// Contact after contact, with torsion and locked axes too.
double tpSweepRunSlowly(tpSweeper* sweeper, const tpPackRun* run);
void tpStartRunSlowly(tpSweeper* sweeper, const tpPackRun* run);

// Kernels of width 1, 4 or 8; NULL if this build or this machine lacks that width.
const tpSweepKernels* tpGetSweepKernels(int width);

// The table of one width, where its functions stand.
#define TP_SWEEP_KERNELS(label, lanes)                                                             \
    {                                                                                              \
        .name = label, .width = lanes, .sweepRun = sweepRun, .startRun = startRun,                 \
        .speedRun = speedRun, .respondRun = respondRun, .addChanges = addChanges,                  \
        .advance = advance,                                                                        \
    }

extern const tpSweepKernels tp_plainSweepKernels;
extern const tpSweepKernels tp_avx2SweepKernels;
extern const tpSweepKernels tp_avx512SweepKernels;

#endif
