// Whether a step has torn joints, driven bodies into each other or made energy of nothing, and
// which bodies are to blame.

#ifndef TIPPE_SRC_STEPPERS_ASTRAY_H
#define TIPPE_SRC_STEPPERS_ASTRAY_H

#include "steppers/joined_step.h"

// Whether a step, which has cost all it may if `isSpent`, has gone astray. Of a step that somebody
// has stopped nothing is taken again: all of it is taken back.
bool tpJoinedStep_IsAstray(const tpJoinedStep* step, bool isSpent, const tpStepReport* report);

// Marks bodies because of which a step is taken again, and adds the laws that it would break.
void tpJoinedStep_MarkAstray(const tpJoinedStep* step, bool isSpent, const tpStepReport* report,
                             bool* isHeld, unsigned* laws);

#endif
