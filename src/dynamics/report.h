// What is written into a step's report by more than one room.

#ifndef TIPPE_SRC_DYNAMICS_REPORT_H
#define TIPPE_SRC_DYNAMICS_REPORT_H

#include "tippe/world.h"

// Adds a note, a constant string, unless the report has it already or is full.
void tpStepReport_AddNote(tpStepReport* report, const char* note);

// The step, or a solve of it, is carried by another way than the usual one: its name, and a note
// that says why. Both are constant strings. The report keeps the name of the last one and the notes
// of all.
void tpStepReport_FallBack(tpStepReport* report, const char* name, const char* why);

// Memory ran out in the step, which is therefore undone.
void tpStepReport_RunOut(tpStepReport* report);

// Whether the report has this note.
bool tpStepReport_HasNote(const tpStepReport* report, const char* note);

// Makes the report what it was before a try that is given up, but for what the try has cost: solves
// and iterations.
void tpStepReport_Undo(tpStepReport* report, const tpStepReport* before);

// Appends the report of the steps that came next: counts and energies add up, violations and
// extremes are the larger ones, the rest is as the later steps leave it.
void tpStepReport_Append(tpStepReport* report, const tpStepReport* next);

// Takes back what solves have said about their problems since `before`; what they cost stays.
void tpStepReport_ForgetVerdict(tpStepReport* report, const tpStepReport* before);

#endif
