#include "results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void startRow(Table* table, const char* name, const tpProblem* problem, const char* program,
              const char* solver) {
    if (table->count == table->capacity) {
        table->capacity = 2 * table->capacity + 64;
        table->rows = realloc(table->rows, (size_t)table->capacity * sizeof(Row));
        if (table->rows == NULL) {
            fprintf(stderr, "out of memory\n");
            exit(1);
        }
    }
    Row* row = &table->rows[table->count++];
    memset(row, 0, sizeof(*row));
    snprintf(row->problem, sizeof(row->problem), "%s", name);
    row->kind = problem->kind;
    row->size = problem->size;
    row->contacts = problem->contactCount;
    row->program = program;
    row->solver = solver;
    row->residual = row->plainResidual = INFINITY;
}

static int compareTimes(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// The k-th smallest time.
static double orderedTime(const Row* row, int k) {
    double times[16];
    memcpy(times, row->seconds, sizeof(times));
    qsort(times, (size_t)row->repeatCount, sizeof(double), compareTimes);
    return times[k];
}

double smallestTime(const Row* row) {
    return row->repeatCount > 0 ? orderedTime(row, 0) : 0.0;
}

static double medianTime(const Row* row) {
    return orderedTime(row, row->repeatCount / 2);
}

// Siconos' format ------------------------------------------------------------------------------

static void writeNumbers(FILE* file, const double* values, int count) {
    for (int i = 0; i < count; ++i) {
        fprintf(file, "%.17g%c", values[i], i + 1 < count ? ' ' : '\n');
    }
}

// Column by column, dense.
static void writeDense(FILE* file, const tpMatrix* M) {
    fprintf(file, "0\n%d\n%d\n%d\t%d\n", M->rowCount, M->columnCount, M->rowCount, M->columnCount);
    double* column = malloc(sizeof(double) * (size_t)M->rowCount);
    for (int j = 0; column != NULL && j < M->columnCount; ++j) {
        for (int i = 0; i < M->rowCount; ++i) {
            column[i] = M->columnStarts == NULL ? M->values[i + (size_t)j * (size_t)M->leading] : 0;
        }
        for (int k = M->columnStarts != NULL ? M->columnStarts[j] : 0;
             M->columnStarts != NULL && k < M->columnStarts[j + 1]; ++k) {
            column[M->rowIndices[k]] = M->values[k];
        }
        writeNumbers(file, column, M->rowCount);
    }
    free(column);
}

// The blocks of a sparse W that have an entry, in compressed rows of blocks.
static void writeBlocks(FILE* file, const tpMatrix* W, int dimension) {
    int count = W->rowCount / dimension;
    int area = dimension * dimension;
    // blockAt[i + j * count]: 1 + the number of the block, 0 if there is none.
    int* blockAt = calloc((size_t)count * (size_t)count, sizeof(int));
    for (int j = 0; blockAt != NULL && j < W->columnCount; ++j) {
        for (int k = W->columnStarts[j]; k < W->columnStarts[j + 1]; ++k) {
            blockAt[W->rowIndices[k] / dimension + (size_t)(j / dimension) * (size_t)count] = 1;
        }
    }
    int blockCount = 0;
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) {
            int* block = &blockAt[i + (size_t)j * (size_t)count];
            *block = *block != 0 ? ++blockCount : 0;
        }
    }
    double* values = calloc((size_t)blockCount * (size_t)area, sizeof(double));
    for (int j = 0; values != NULL && j < W->columnCount; ++j) {
        for (int k = W->columnStarts[j]; k < W->columnStarts[j + 1]; ++k) {
            int i = W->rowIndices[k];
            int block = blockAt[i / dimension + (size_t)(j / dimension) * (size_t)count] - 1;
            values[(size_t)block * (size_t)area +
                   (size_t)(i % dimension + j % dimension * dimension)] = W->values[k];
        }
    }
    fprintf(file, "1\n%d\n%d\n%d\n%d\n%d\n", W->rowCount, W->rowCount, blockCount, count, count);
    for (int side = 0; side < 2; ++side) {
        for (int i = 0; i < count; ++i) {
            fprintf(file, "%d\t", (i + 1) * dimension);
        }
        fprintf(file, "\n");
    }
    fprintf(file, "%d\n%d\n0\t", count + 1, blockCount);
    for (int i = 0, start = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) {
            start += blockAt[i + (size_t)j * (size_t)count] != 0;
        }
        fprintf(file, "%d\t", start);
    }
    fprintf(file, "\n");
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) {
            if (blockAt[i + (size_t)j * (size_t)count] != 0) {
                fprintf(file, "%d\t", j);
            }
        }
    }
    fprintf(file, "\n");
    for (int block = 0; block < blockCount; ++block) {
        fprintf(file, "%d\n", block);
        writeNumbers(file, values + (size_t)block * (size_t)area, area);
    }
    free(blockAt);
    free(values);
}

bool writeForOpponent(char* path, const tpProblem* problem, const tpFrictionProblem* friction) {
    int descriptor = mkstemps(path, 4);
    FILE* file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file == NULL || problem->kind == tp_mixedLcpProblem) {
        return false; // mixed LCPs are all Siconos' own files
    }
    if (problem->kind == tp_lcpProblem) {
        fprintf(file, "%d\n", problem->size);
        writeDense(file, &problem->matrix);
        writeNumbers(file, problem->q, problem->size);
    } else {
        fprintf(file, "%d\n%d\n", problem->dimension, problem->contactCount);
        if (friction->W->columnStarts != NULL) {
            writeBlocks(file, friction->W, problem->dimension);
        } else {
            writeDense(file, friction->W);
        }
        writeNumbers(file, friction->q, problem->size);
        writeNumbers(file, problem->mu, problem->contactCount);
    }
    return fclose(file) == 0;
}

// Reports -------------------------------------------------------------------------------------

static const char* environment(const char* name) {
    const char* value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : "unknown";
}

static void writeCircumstances(FILE* file, const char* prefix, int repeats, double timeLimit) {
    fprintf(file, "%smachine: %s\n", prefix, environment("TIPPE_BENCH_MACHINE"));
    fprintf(file, "%scompiler: %s\n", prefix, environment("TIPPE_BENCH_COMPILER"));
    fprintf(file, "%sflags: %s\n", prefix, environment("TIPPE_BENCH_FLAGS"));
    fprintf(file, "%scommit: %s\n", prefix, environment("TIPPE_BENCH_COMMIT"));
    fprintf(file, "%sopponent: Siconos %s\n", prefix, environment("TIPPE_BENCH_OPPONENT"));
    fprintf(file, "%sCPU seconds of the solve alone, %d interleaved repeats, limit %g s\n", prefix,
            repeats, timeLimit);
}

bool writeCsv(const char* path, const Table* table, int repeats, double timeLimit) {
    FILE* file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        return false;
    }
    writeCircumstances(file, "# ", repeats, timeLimit);
    fprintf(file, "problem,kind,size,contacts,program,solver,tolerance,outcome,residual,"
                  "residual_plain,seconds_min,seconds_median,path\n");
    for (int i = 0; i < table->count; ++i) {
        const Row* row = &table->rows[i];
        fprintf(file, "%s,%s,%d,%d,%s,%s,%g,%s,%.3e,%.3e,%.6e,%.6e,%s\n", row->problem,
                tpProblemKind_Name(row->kind), row->size, row->contacts, row->program, row->solver,
                row->tolerance,
                row->isSolved       ? "solved"
                : row->isInfeasible ? "infeasible"
                                    : "not solved",
                row->residual, row->plainResidual, smallestTime(row), medianTime(row), row->path);
    }
    return fclose(file) == 0;
}

// The row of a solver for the problem of `row`, or NULL.
static const Row* findRow(const Table* table, const Row* row, const char* program,
                          const char* solver) {
    for (int i = 0; i < table->count; ++i) {
        const Row* other = &table->rows[i];
        if (strcmp(other->problem, row->problem) == 0 && strcmp(other->program, program) == 0 &&
            strcmp(other->solver, solver) == 0) {
            return other;
        }
    }
    return NULL;
}

// Siconos' fastest solver on the problem of `row`, or NULL if none solved it.
static const Row* fastestOpponent(const Table* table, const Row* row) {
    const Row* best = NULL;
    for (int i = 0; i < table->count; ++i) {
        const Row* other = &table->rows[i];
        if (strcmp(other->problem, row->problem) == 0 && strcmp(other->program, "siconos") == 0 &&
            other->isSolved && (best == NULL || smallestTime(other) < smallestTime(best))) {
            best = other;
        }
    }
    return best;
}

// One line a solver: how many it solved, and how long both took where both did.
static void summariseSolver(FILE* file, const Table* table, tpProblemKind kind, const char* program,
                            const char* solver) {
    int tried = 0, solved = 0, both = 0;
    double theirs = 0.0, ours = 0.0;
    for (int i = 0; i < table->count; ++i) {
        const Row* row = &table->rows[i];
        if (row->kind != kind || strcmp(row->program, program) != 0 ||
            strcmp(row->solver, solver) != 0) {
            continue;
        }
        ++tried;
        solved += row->isSolved;
        const Row* tippe = findRow(table, row, "tippe", "auto");
        if (row->isSolved && tippe != NULL && tippe->isSolved) {
            ++both;
            theirs += smallestTime(row);
            ours += smallestTime(tippe);
        }
    }
    if (tried > 0) {
        fprintf(file, "| %s %s | %d of %d | %d | %.4g | %.4g | %.2f |\n", program, solver, solved,
                tried, both, theirs, ours, ours > 0.0 ? theirs / ours : 0.0);
    }
}

static bool isPortfolio(const Row* row) {
    return strcmp(row->program, "tippe") == 0 && strcmp(row->solver, "auto") == 0;
}

// The solvers of Tippe that have rows, in the order of the first problem of the kind.
static void summariseOwnSolvers(FILE* file, const Table* table, tpProblemKind kind) {
    const char* problem = NULL;
    for (int i = 0; i < table->count; ++i) {
        const Row* row = &table->rows[i];
        if (row->kind == kind && problem == NULL) {
            problem = row->problem;
        }
        if (row->kind == kind && strcmp(row->problem, problem) == 0 &&
            strcmp(row->program, "tippe") == 0) {
            summariseSolver(file, table, kind, "tippe", row->solver);
        }
    }
}

// Lemke's method in both programs on problems of 300 rows and more, whether or not it got there.
static void compareLemke(FILE* file, const Table* table) {
    fprintf(
        file,
        "\n### Lemke's method, 300 rows and more\n\n| problem | rows | tippe | seconds | siconos | "
        "seconds | ratio |\n|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < table->count; ++i) {
        const Row* row = &table->rows[i];
        const Row* other = findRow(table, row, "siconos", "lemke");
        if (row->kind != tp_lcpProblem || row->size < 300 || strcmp(row->program, "tippe") != 0 ||
            strcmp(row->solver, "lemke") != 0 || other == NULL) {
            continue;
        }
        fprintf(file, "| %s | %d | %.1e | %.2e | %.1e | %.2e | %.0f |\n", row->problem, row->size,
                row->residual, smallestTime(row), other->residual, smallestTime(other),
                smallestTime(other) / smallestTime(row));
    }
}

static bool hasKind(const Table* table, tpProblemKind kind) {
    for (int i = 0; i < table->count; ++i) {
        if (table->rows[i].kind == kind) {
            return true;
        }
    }
    return false;
}

static void summariseKind(FILE* file, const Table* table, tpProblemKind kind) {
    fprintf(file, "\n## %s\n\n| solver | solved | both | its seconds | tippe auto | ratio |\n",
            tpProblemKind_Name(kind));
    fprintf(file, "|---|---|---|---|---|---|\n");
    summariseOwnSolvers(file, table, kind);
    for (int i = 0; i < opponentSolverCount; ++i) {
        if (opponentSolvers[i].kind == kind) {
            summariseSolver(file, table, kind, "siconos", opponentSolvers[i].name);
        }
    }
    double ours = 0.0, best = 0.0;
    int count = 0;
    for (int i = 0; i < table->count; ++i) {
        const Row* row = &table->rows[i];
        const Row* fastest =
            row->kind == kind && isPortfolio(row) ? fastestOpponent(table, row) : NULL;
        if (fastest != NULL && row->isSolved) {
            ++count;
            ours += smallestTime(row);
            best += smallestTime(fastest);
        }
    }
    fprintf(file, "| siconos, the fastest on each | | %d | %.4g | %.4g | %.2f |\n", count, best,
            ours, ours > 0.0 ? best / ours : 0.0);

    fprintf(file, "\n| problem | size | tippe | residual | seconds | path | fastest of Siconos | "
                  "seconds | ratio |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < table->count; ++i) {
        const Row* row = &table->rows[i];
        if (row->kind != kind || !isPortfolio(row)) {
            continue;
        }
        const Row* fastest = fastestOpponent(table, row);
        fprintf(file, "| %s | %d | %s | %.1e | %.2e | %s ", row->problem, row->size,
                row->isSolved       ? "solved"
                : row->isInfeasible ? "infeasible"
                                    : "not solved",
                row->residual, smallestTime(row), row->path);
        if (fastest != NULL) {
            fprintf(file, "| %s | %.2e | %.2f |\n", fastest->solver, smallestTime(fastest),
                    smallestTime(fastest) / smallestTime(row));
        } else {
            fprintf(file, "| none | | |\n");
        }
    }
    if (kind == tp_lcpProblem) {
        compareLemke(file, table);
    }
}

bool writeSummary(const char* path, const Table* table, int repeats, double timeLimit) {
    FILE* file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        return false;
    }
    fprintf(file, "# Complementarity: Tippe and Siconos\n\n");
    writeCircumstances(file, "- ", repeats, timeLimit);
    fprintf(
        file,
        "\nSolved means that Tippe's residual function finds at most 1e-8 (LCP relative to max(1, "
        "|q|), friction e3),\nwhoever solved it. Seconds are minima, summed over the problems that "
        "both solved; a ratio above 1 says\nthat Tippe was faster. Made by `bench/complementarity/"
        "run.sh`.\n");
    for (tpProblemKind kind = tp_lcpProblem; kind <= tp_friction3dProblem; ++kind) {
        if (hasKind(table, kind)) {
            summariseKind(file, table, kind);
        }
    }
    return fclose(file) == 0;
}
