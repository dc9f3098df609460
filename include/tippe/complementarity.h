// Complementarity problems and their solvers: everything for someone who wants only those.

#ifndef TIPPE_COMPLEMENTARITY_H
#define TIPPE_COMPLEMENTARITY_H

#include "tippe/friction.h"
#include "tippe/lcp.h"

#endif
