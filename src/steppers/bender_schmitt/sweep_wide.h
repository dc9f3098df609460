// Ways to sweep a run of packs: one contact after the other, or four or eight at once.
//
// All give the same bits: lanes share no moving body, and every operation is done in the same order with
// the same rounding. Which one is taken is decided at run time by what the processor has.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_SWEEP_WIDE_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_SWEEP_WIDE_H

#include "steppers/bender_schmitt/sweep.h"

// How the normal row of a part of a step is softened where bodies overlap: u_n is led towards
// -rate * gap, no faster than `push`, by a spring with damping of which `mass` and `impulse` are what the
// row's mass and its present impulse are multiplied by.
typedef struct tpSoftness {
    double inverseTime; // 1 / the part's duration: open gaps may close in it
    double rate, push;
    double mass, impulse;
} tpSoftness;

// Sums and largest values of the contacts in each lane.
typedef struct tpLaneSums {
    double squares[tp_packWidth];
    double normalWork[tp_packWidth], frictionWork[tp_packWidth];
    double load[tp_packWidth], speed[tp_packWidth];
    double cone[tp_packWidth], dissipation[tp_packWidth];
} tpLaneSums;

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

    // For steps in parts: gaps after a displacement of the bodies, which stands where velocities do.
    void (*gapRun)(tpSweeper* sweeper, const tpPackRun* run);
    // As sweepRun, with gaps instead of biases; backward: the last pack first.
    void (*softRun)(tpSweeper* sweeper, const tpPackRun* run, const tpSoftness* softness,
                    bool isBackward);
    // Normal rows with a negative bias alone: what collides gets its velocity of parting.
    void (*bounceRun)(tpSweeper* sweeper, const tpPackRun* run);

    // Adds to sums, which are aligned to 64 bytes: squares of velocities with biases; work of the total
    // impulses; squares of the natural map with the largest load and speed, leaving `speed` in the packs;
    // cone and dissipation of what carries more and slides faster than the least.
    void (*freeRun)(const tpSweeper* sweeper, const tpPackRun* run, tpLaneSums* sums);
    void (*workRun)(const tpSweeper* sweeper, const tpPackRun* run, tpLaneSums* sums);
    void (*judgeRun)(tpSweeper* sweeper, const tpPackRun* run, tpLaneSums* sums);
    void (*ratioRun)(const tpSweeper* sweeper, const tpPackRun* run, double leastLoad,
                     double leastSpeed, tpLaneSums* sums);
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
