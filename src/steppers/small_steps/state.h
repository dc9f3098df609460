// What the stepper keeps from step to step.

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_STATE_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_STATE_H

#include "collision/fat_pairs.h"
#include "dynamics/sleep.h"
#include "steppers/memory.h"
#include "steppers/small_steps/mechanisms.h"
#include "sweeps/pack_store.h"

// A pair of shapes that may be close: its manifold, or how far apart the shapes are at least.
typedef struct tpPairState {
    int32_t slot;   // of the store; -1: none
    float slack;    // m; if it has a manifold the run says
    uint32_t along; // the direction in which they are (apart.h); 0: the slack is a distance
} tpPairState;

// How a body has moved since contacts were last looked for, and how it may move in the next step.
typedef struct tpBodyWay {
    float moved[3], turned;  // displacement; how far turning moved any of its points, m
    float ahead[3], turning; // the same of the next step, at the speed it has
    float margin;            // how far any of its points may move in it at all, m
    // Turned by sag alone (sag.c), rad, and how its arms turned without it in the last step.
    float sag[3], carried[3];
    uint32_t spin; // the axis of `turning`, a direction (apart.h); 0: any
} tpBodyWay;

// What the shapes of a large world let expect, of its first so many shapes (prepare.c).
typedef struct tpExpected {
    int shapes, manifolds, points;
} tpExpected;

typedef struct tpSmallSteps {
    tpStepperMemory* memory; // shared with the other steppers

    // Bodies have numbers of their own here: those of a block stand together; then those that
    // impulses do not move, and last nobody, whom empty lanes have.
    TP_ARRAY(int32_t) numbers;     // of each body of the system; -1: it is not there
    TP_ARRAY(int32_t) bodies;      // of each number: the body; -1: nobody, or one that is gone
    TP_ARRAY(int32_t) blockFirsts; // the first number of each block, and the end
    TP_ARRAY(tpBodyWay) ways;      // of each number
    // Of each number: a hash of its pose and velocity, as the last step left them. If a user has
    // changed them, contacts are looked for again.
    TP_ARRAY(uint64_t) motionMarks;

    // Pairs of shapes, and what is known about each.
    tpFatPairs fat;
    TP_ARRAY(tpPairState) pairs;
    TP_ARRAY(tpPairCache) caches;    // of the pair functions; empty if none needs it
    TP_ARRAY(tpPairCache) oldCaches; // memory in which those of the last step were
    tpPackStore store;
    TP_ARRAY(tpShapePair) shapes; // of each slot: the system's numbers, which pairs have too

    TP_ARRAY(uint64_t)
    shapeMarks; // of each shape: a hash of what it is, to see that another has its number now

    TP_ARRAY(tpContactInfo)
    departed;            // contacts that carried something in the last step and are gone at its end
    uint64_t structure;  // of the system; 0: nothing is known
    uint64_t exclusions; // hash of the pairs of bodies that may not collide
    bool remembers;      // some pair functions use what they have learned
    bool hasHeld;        // bodies that turn far were held in the last step (fast_turning.c)
    double substepTime;  // of the last step, s; 0: none
    int substeps;        // of the last step
    // How fast velocities of mechanisms changed in it, 1/s^2; INFINITY: not known, or contacts were
    // swept (need.c).
    double unrest;
    int waryFor;         // steps that take all substeps, since one with fewer was not solved
    int addedBodies;     // since blocks were cut
    double bordersAtCut; // part of the manifolds that lay between blocks soon after they were cut
    int stepsSinceCut;   // calm ones
    bool isCalm;         // no run of contacts came or went in the last search
    tpSleep sleep;
    tpMechanismMap map; // follows from the scene's structure
    // Of servos the largest stiffness over damping, 1/s; INFINITY: laws that need all substeps. The
    // least damping of a coordinate without one; INFINITY: there is none. For which laws and which
    // structure of the system that holds; structure 0: not known.
    double servoRate, leastDamping;
    uint64_t weighedLaws, weighedStructure;
    // For which time and which gravity bodies have margins, s and m/s^2; 0: none. Not in snapshots.
    double foreseenTime, foreseenGravity;
    // Mechanisms in their room, which they have from step to step; NULL: they are to be placed.
    struct tpStepJoints* joints;
    tpArena jointRoom;
    tpExpected expected; // memory has been prepared for that
} tpSmallSteps;

// The shift lets high bits of a word reach low bits of the hash: two changes of sign do not cancel.
static inline uint64_t tpHashWord(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

// Of where a body is and how it moves.
uint64_t tpHashMotion(const tpPose* pose, const tpVelocity* velocity);

// Forgets everything: the next step starts afresh.
void tpSmallSteps_Forget(tpSmallSteps* state);

// Entries of tpStepper. Memory is prepared in prepare.c.
void tpSmallSteps_Prepare(tpSystem* system, void* state, int begin, int end);
bool tpSmallSteps_Create(tpSystem* system, void** state);
void tpSmallSteps_Destroy(tpSystem* system, void* state);
size_t tpSmallSteps_SavedSize(const void* state);
void tpSmallSteps_Save(const void* state, void* saved);
bool tpSmallSteps_Restore(tpSystem* system, void* state, tpSavedReader* reader);

#endif
