// Rows of the comparison, and the two files made of them.

#ifndef TIPPE_BENCH_RESULTS_H
#define TIPPE_BENCH_RESULTS_H

#include "opponent.h"
#include "tippe/friction.h"

// One solver on one problem.
typedef struct Row {
    char problem[96];
    tpProblemKind kind;
    int size, contacts;
    const char* program; // "tippe" or "siconos"
    const char* solver;
    double tolerance; // asked of the solver
    bool isSolved;    // the judge says so
    bool isInfeasible;
    double residual, plainResidual;
    char path[128];
    int repeatCount;
    double seconds[16];
} Row;

typedef struct Table {
    Row* rows;
    int count, capacity;
} Table;

void startRow(Table* table, const char* name, const tpProblem* problem, const char* program,
              const char* solver);
double smallestTime(const Row* row);

// A problem in Siconos' text format, in a new file; `path` ends with XXXXXX.dat, of which the X are
// replaced.
bool writeForOpponent(char* path, const tpProblem* problem, const tpFrictionProblem* friction);

bool writeCsv(const char* path, const Table* table, int repeats, double timeLimit);
bool writeSummary(const char* path, const Table* table, int repeats, double timeLimit);

#endif
