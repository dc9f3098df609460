// The memory that the tests of a program share, made before the first and released after the last.

#ifndef TIPPE_TESTS_COMPLEMENTARITY_SOLVER_MEMORY_H
#define TIPPE_TESTS_COMPLEMENTARITY_SOLVER_MEMORY_H

#include "support/check.h"
#include "tippe/complementarity.h"

static tpSolverMemory* memory;

static int start(void** state) {
    (void)state;
    memory = tpCreateSolverMemory(NULL);
    return memory == NULL;
}

static int stop(void** state) {
    (void)state;
    tpDestroySolverMemory(memory);
    return 0;
}

#endif
