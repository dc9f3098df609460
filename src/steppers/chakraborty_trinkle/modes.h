// What is not smooth within a step: impacts, slips that stop, and how the island then takes it.
//
// The midpoint rule would reflect a velocity into a contact and let a slip that stops swing to the
// other side. Islands that are hit take the step with theta = 1; where slip stops, friction is
// asked at the end.

#ifndef TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_MODES_H
#define TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_MODES_H

#include "steppers/chakraborty_trinkle/islands.h"

// A contact where its bodies are at the start of the step.
tpContactPlace tpImplicitStep_StartPlace(const tpImplicitStep* step, int block);

// Friction as a step begins: in the middle, at the end in the paper's step.
void tpImplicitStep_ChooseFriction(tpImplicitStep* step, const tpIslandProblem* problem);

// After a solve: true if a slip has stopped or turned round, and is asked at the end from now
// on.
bool tpImplicitStep_ChangeFriction(tpImplicitStep* step, const tpIslandProblem* problem);

// After a solve: whether the midpoint rule has no place for what happened.
bool tpImplicitStep_GainsBySlip(const tpImplicitStep* step, const tpIslandProblem* problem);
bool tpImplicitStep_IsHit(const tpImplicitStep* step, const tpIslandProblem* problem);

// Before it, where that is plain.
bool tpImplicitStep_IsStiff(const tpImplicitStep* step, const tpIslandProblem* problem);
bool tpImplicitStep_IsBoundToHit(const tpImplicitStep* step, const tpIslandProblem* problem);

// Before it, with the impulses of the last step in the rows: which contacts were closed and stuck.
void tpImplicitStep_Recall(tpImplicitStep* step);

// Whether the friction of a contact is within its limit.
bool tpSticks(const tpRows* rows, int block);

#endif
