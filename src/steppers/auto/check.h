// A step of a group taken whole and in two halves, and what the two ends tell of its error.

#ifndef TIPPE_SRC_STEPPERS_AUTO_CHECK_H
#define TIPPE_SRC_STEPPERS_AUTO_CHECK_H

#include "steppers/auto/group_run.h"

typedef struct tpStepDifference {
    double position, speed; // of the body where they are largest, m and m/s
    double way;             // largest, of a body in the step, m
    double change;          // of velocity, likewise, m/s
} tpStepDifference;

typedef struct tpStepEnds {
    const tpPose *start, *poses; // at the start, at the end of the whole step
    const tpVelocity *startVelocities, *velocities;
} tpStepEnds;

typedef struct tpCheck {
    tpTaken whole, halves;
    tpTaken each[2]; // of the halves
    tpStepEnds ends;
    double error;      // in parts of the allowed one
    double plainError; // of the whole step, without extrapolation, likewise
    double part;       // of the difference that is the error of the halves
    bool isSame;       // the same shapes have pushed in both
    bool isSudden;     // not so, and velocities can have jumped: what they differ by is a matter of
                       // time
    bool isMoment;     // others have pushed in the step before, or not in both
    bool extrapolates;
    double pullRate; // of contacts that give, at the end of the halves, m/s^2
    double hidden;   // error of velocity that whole and halves have alike, m/s
    tpStepDifference difference;
    uint64_t pushing; // which shapes have pushed each other in the second half, and how
} tpCheck;

// One step of h seconds from `start` seconds after the begin of the run. False if memory ran out.
bool tpGroupRun_TakeStep(tpGroupRun* run, double start, double h, tpTaken* taken);

// A number for the pairs of shapes that have pushed each other, and which of them slide; 0: none.
// One bit tells whether any does.
enum { tp_slidingBit = 1 };
uint64_t tpTaken_Pairs(const tpTaken* taken);

// A number for the features that have pushed each other.
uint64_t tpTaken_Features(const tpTaken* taken);

// Whether the same features have touched, pushing or not.
bool tpTaken_HaveSameContacts(const tpTaken* a, const tpTaken* b);

// The error that a step of h seconds may have, m. If contacts come or go it is that of a moment,
// which is made once, however short the step is; otherwise errors add up over time.
double tpGroupRun_AllowedError(const tpGroupRun* run, bool isMoment, double h);

// The part of its length that a step should have after one with this error, in parts of the allowed
// one, which is a power of the length; `most` at most.
double tpGrowth(double error, double order, double most);

// Takes the whole step. `before` is the state at the start, to go back to. False if memory ran out.
bool tpCheck_TakeWhole(tpCheck* check, tpGroupRun* run, double start, double h, tpKept* before);

// Takes the halves after it and measures the step: the system is at the end of the halves then.
// False if memory ran out.
bool tpCheck_TakeHalves(tpCheck* check, tpGroupRun* run, double start, double h,
                        const tpKept* before);

// Of one body, times `part`: m, and m/s.
void tpCheck_BodyDifference(const tpGroupRun* run, int i, const tpStepEnds* ends, double part,
                            double* position, double* speed);

// From the end of the halves to the end that both together tell, with what pushed, work and losses.
void tpCheck_Extrapolate(tpCheck* check, tpGroupRun* run);

// The length that the next step should have.
double tpCheck_NextStep(const tpCheck* check, double h);

#endif
