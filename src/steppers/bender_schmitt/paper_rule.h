// The friction of the paper, increment by increment.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_PAPER_RULE_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_PAPER_RULE_H

#include "sweeps/sweeper.h"

// One sweep by (1) to (6); `marks` (one per contact, zero at the start) say which contacts have
// static friction. Returns the largest change of a contact's velocity, m/s.
double tpSweeper_SweepPaperRule(tpSweeper* sweeper, unsigned char* marks);

#endif
