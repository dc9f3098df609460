// The impulses of a few rows that are all held: one linear system, directly.
//
// A complementarity solver asks for its structures, an order of elimination and a judge; with a few
// rows these cost ten times what the elimination does.

#ifndef TIPPE_SRC_DYNAMICS_FEW_ROWS_H
#define TIPPE_SRC_DYNAMICS_FEW_ROWS_H

#include "dynamics/rows.h"

enum { tp_fewRows = 36 };

// Finds impulses with J M^-1 J' impulse = -q, for rows of free blocks between two bodies each.
// Of what is held twice the impulses are near the least ones. False, and nothing is changed, if
// there are more than a few rows, a row concerns further bodies, or a block is not free.
bool tpRows_SolveFew(tpRows* rows);

#endif
