// Fuzzes the reader of problem files: whatever the text, it is refused with a message or becomes a
// problem whose parts fit together, and it never asks for more memory than a multiple of its
// length.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "tippe/problems.h"

static void checkMatrix(const tpMatrix* matrix, int rowCount, int columnCount) {
    REQUIRE(matrix->rowCount == rowCount && matrix->columnCount == columnCount);
    for (int j = 0; j < columnCount; ++j) {
        if (matrix->columnStarts == NULL) {
            for (int i = 0; i < rowCount; ++i) {
                REQUIRE(isfinite(matrix->values[i + (size_t)j * (size_t)matrix->leading]));
            }
            continue;
        }
        int before = -1;
        REQUIRE(matrix->columnStarts[j] <= matrix->columnStarts[j + 1]);
        for (int k = matrix->columnStarts[j]; k < matrix->columnStarts[j + 1]; ++k) {
            REQUIRE(matrix->rowIndices[k] > before && matrix->rowIndices[k] < rowCount);
            before = matrix->rowIndices[k];
        }
    }
}

static void checkFinite(const double* values, int count) {
    for (int i = 0; i < count; ++i) {
        REQUIRE(isfinite(values[i]));
    }
}

static void checkProblem(const tpProblem* problem) {
    if (problem->kind == tp_lcpProblem || problem->kind == tp_mixedLcpProblem) {
        checkMatrix(&problem->matrix, problem->size, problem->size);
        checkFinite(problem->q, problem->size);
        int freeCount = 0;
        for (int i = 0; problem->isFree != NULL && i < problem->size; ++i) {
            freeCount += problem->isFree[i] ? 1 : 0;
        }
        REQUIRE(freeCount <= problem->size);
        return;
    }
    int rowCount = problem->isGlobal ? problem->H.rowCount : problem->size;
    REQUIRE(problem->dimension == 2 || problem->dimension == 3);
    REQUIRE(problem->size == problem->dimension * problem->contactCount);
    checkMatrix(&problem->matrix, rowCount, rowCount);
    checkFinite(problem->q, rowCount);
    checkFinite(problem->mu, problem->contactCount);
    if (problem->isGlobal) {
        checkMatrix(&problem->H, rowCount, problem->size);
        checkFinite(problem->b, problem->size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t length) {
    for (tpProblemKind kind = tp_anyProblem; kind <= tp_friction3dProblem; ++kind) {
        Budget budget = { 0, 128 * length + ((size_t)1 << 20) };
        tpAllocator allocator = { budgetAllocate, budgetRelease, &budget };
        tpProblem* problem;
        tpError error;
        memset(&error, 0, sizeof(error));
        tpResult result =
            tpParseProblem((const char*)data, length, "input", kind, &allocator, &problem, &error);
        REQUIRE((result == tp_success) == (problem != NULL));
        if (problem != NULL) {
            REQUIRE(kind == tp_anyProblem || problem->kind == kind);
            checkProblem(problem);
        } else {
            REQUIRE(result == tp_badInput && strncmp(error.message, "input:", 6) == 0);
        }
        tpDestroyProblem(problem);
        REQUIRE(budget.used == 0);
    }
    return 0;
}
