// What a step of the world may cost.
//
// A step is solves, contact queries, trials that are given up and parts that are halved. However
// hard the scene, all of them together end: what they do is counted, and once the count has reached
// what a step of this size may cost, the step is brought to its end with what it has. Work is
// counted, never timed, so that a run gives the same bits on every machine.

#ifndef TIPPE_SRC_DYNAMICS_STEP_BUDGET_H
#define TIPPE_SRC_DYNAMICS_STEP_BUDGET_H

#include "dynamics/kept_motion.h"

// At the start of a step of the world. Parts, trials and groups of bodies share one budget.
void tpStepBudget_Begin(tpSystem* system);

// A part of a step that has this share of the step's budget: steppers that take steps of their own
// within one of the world give each its share, so that all of them together end. What parts before
// have not used of theirs is left to it, and it may draw on what comes after by some.
void tpStepBudget_BeginPart(tpSystem* system, double share);

// Adds work: multiply-adds of a solve, or what takes as long (about a nanosecond each).
void tpStepBudget_Spend(tpSystem* system, double work);

// Adds that of a solve of so many rows, some of so many joints, with what it takes to pose and to
// judge them.
void tpStepBudget_SpendSolve(tpSystem* system, double work, int rowCount, int jointCount);

// Adds the work of one drift of all bodies and of the query that has found these contacts. The more
// of them touch, the more the step may cost.
void tpStepBudget_SpendQuery(tpSystem* system, const tpContact* contacts, int count);

// The work of one query of a pair of shapes, for steppers that ask for pairs one by one.
double tpStepBudget_WorkOfPair(const tpCollider* collider, tpShapePair pair);

// How many contacts have touched at any time of the step so far.
int tpStepBudget_Touching(const tpSystem* system);

// What a step of the world with the contacts that it has had so far may cost in all.
double tpStepBudget_Whole(const tpSystem* system);

// Of that, what the part of the step that is under way may cost.
double tpStepBudget_Share(const tpSystem* system);

// All work that this step has counted so far, that of its earlier parts included.
double tpStepBudget_Work(const tpSystem* system);

// Adds the work of looking at some pairs of shapes alone, that found so many contacts.
void tpStepBudget_SpendPairs(tpSystem* system, const tpShapePair* pairs, int pairCount,
                             int contactCount);

// How much of its budget the step, or the part of it that has its own share, has used up.
double tpStepBudget_UsedPart(const tpSystem* system);

// Whether the step turns out to be hard: ways that cost more than others are left then.
bool tpStepBudget_IsHard(const tpSystem* system);

// Whether the whole step has turned out to be hard: all its parts count, also those given up.
bool tpStepBudget_WasHard(const tpSystem* system);

// Whether somebody wants no more of this step: it ends, and is undone.
static inline bool tpSystem_IsStopped(const tpSystem* system) {
    return system->stop != NULL && *system->stop != 0;
}

// Whether the step has to come to its end: nothing is tried again, halved, located or corrected,
// and the rest of the step is one part. What is left of the budget then is for its solves.
bool tpStepBudget_IsSpent(const tpSystem* system);

// Work that the next solve may take: a part of what is left, and never less than some sweeps.
double tpStepBudget_ForSolve(const tpSystem* system);

// The same for the velocities at the end of a step or of a part of it, which the next one begins
// with: what came before must not leave them nothing.
double tpStepBudget_ForEndSolve(const tpSystem* system);

// Whether the step, or a part of it that had its own share, has come to its end so.
bool tpStepBudget_WasSpent(const tpSystem* system);

// At the end of the step of a world that the budget has ended: says so in the report. Energy that
// such an end has gained since `start` beyond what a certificate allows is taken from the islands
// that have gained it.
void tpStepBudget_End(tpSystem* system, const tpKeptMotion* start, tpStepReport* report);

#endif
