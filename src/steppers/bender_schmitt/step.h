// The parts of a step, in the paper's order: resting contacts during the step, collisions at its
// end, which is the beginning of the next.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_STEP_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_STEP_H

#include "steppers/bender_schmitt/touch.h"

// If much touches, a body may move farther than contacts were looked for by this part of its
// size: what it then meets is found at the end of the step.
#define TP_SPARE_WAY 0.02

// What a drift has found for one of its contacts. A drift of another length from the same start is
// nearly in proportion: impulses and corrections go with its time.
typedef struct tpDriftGuess {
    tpVec3 impulse; // on A in world axes
    double torsion;
    double turning, slip[2]; // what the drift adds to the velocities of the rows, m/s
} tpDriftGuess;

typedef struct tpBenderStep {
    tpSystem* system;
    tpBenderSchmitt* state;
    const tpBenderSettings* settings;
    tpStepReport* report;
    tpTimeStep time;          // poses and velocities of the step
    double duration;          // of the whole step, s; `time.h` is that of this part
    const tpVelocity* given;  // velocities that the step began with; NULL after its first part
    const tpVelocity* forced; // after the drift, without and with what laws of joints do there;
    const tpVelocity* lawed;  // NULL if there are no joints
    double drifted;           // length of the last drift, s: that of the part or of its last stage
    double overlap;           // deepest that this part began with, m
    double jointMiss;         // by which the last drift has missed what joints hold, m or rad
    double workOut;           // of contacts along their ways out of overlaps, J
    double longest;           // part that this step may still be taken in, s
    double longestStaged;     // part in stages that this step may still be taken in, s
    double proven;            // parts longer than this were too long since the last impact, s
    int halvings;             // of parts whose energy was wrong, so far
    tpEnergyGuard energy;
    bool isSmooth;    // nothing has collided so far
    bool isSharp;     // energy is kept to the last digits
    int level;        // halvings of the step that its last rough part has taken
    int composition;  // of stages, of the lowest order that has been good enough so far
    bool isLocating;  // this part ends at its first impact
    bool isCrowd;     // of elastic impacts: those that come together are taken at once
    bool isElastic;   // contacts at the start give back next to all that impacts take
    bool isHurried;   // this part is treated as a large problem, whatever its size
    bool isJammed;    // what turning bodies are asked for contradicts itself in this step
    bool hasOneSolve; // of a crowd: all forces act before the drift, and none after it
    bool isStage;     // of several that make up a part far from all contacts
    tpTouch start;    // what touches at the start, with the impulses of the drift
    tpTouch end;      // what touches at the end, with the impulses that keep velocities admissible

    tpContact* found; // contacts at the end of the drift, and how far away they were looked for
    double* foundMargins;
    int foundCount;
    const tpRestMemory** remembered; // of each contact at the start: what is remembered of it, or
                                     // NULL
    int* match;                      // of each contact at the end: the same at the start, or -1

    // While an impact is located: of each contact at the start, what the last drift has found, and
    // its length in s. No guess: NULL, or a length of 0.
    tpDriftGuess* guesses;
    double guessTime;
    bool* freed; // of each: it was held and would have bounced; the next drifts leave it free

    // Of each contact at the end: impulses of the collisions resolved there, on A in world axes.
    tpVec3* collided;
    double* collidedTorsion;
} tpBenderStep;

// What touches, as tpTouch_Create has it. False if memory ran out.
bool tpBenderStep_Touch(tpBenderStep* step, tpTouch* touch, const tpPose* poses,
                        const tpVelocity* before, tpContact* contacts, int count);

// Whether the rest of the step is taken as that of a large problem, in one part: contacts that it
// runs into are rows of it, and overlaps are taken back at its end. So ends a step whose impacts
// cost too much to locate them all, unless they give back what they take, which is worth the whole
// budget. Drifts of joints are corrected in small problems alone.
bool tpBenderStep_HasToHurry(const tpBenderStep* step);

// Half of the forces, resting contacts, and the drift of h seconds. The contacts at the start are
// those given, or found where `contacts` is NULL. False if memory ran out.
bool tpBenderStep_Drift(tpBenderStep* step, double h, tpContact* contacts, int count);

// Resting contacts [BenderSchmitt06, sec. 3.2]: impulses at the start of the step after which the
// drift leads to admissible positions. Leaves the system at the end of the drift. False if
// memory ran out.
bool tpResting_Solve(tpBenderStep* step);

// Collisions [BenderSchmitt06, sec. 3.1] at the end of the drift, and after them the velocities of
// what rests. `restitution` multiplies all coefficients. False if memory ran out.
bool tpCollisions_Resolve(tpBenderStep* step, double restitution);

// Sweeps that the budget allows one of the two solves.
static inline int tpBenderStep_SweepLimit(const tpBenderStep* step, const tpTouch* touch) {
    int blocks = touch->contactCount + touch->sweeper.jointCount;
    int limit = step->settings->budget / (blocks > 0 ? 2 * blocks : 1);
    return limit > 4 ? limit : 4;
}

// Adds the impulses of this part of the step to the list of contacts. False if memory ran out.
bool tpBenderStep_Tally(tpBenderStep* step, tpTally* tally);

// Lists the contacts of the whole step and remembers what the next one starts from.
bool tpBenderStep_Remember(tpBenderStep* step, const tpTally* tally);

#endif
