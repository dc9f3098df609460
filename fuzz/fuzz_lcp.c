// Fuzzes the solvers of LCPs with small mixed problems made of the input's bytes: whatever the
// matrix, every solver ends, what it calls solved the judge calls so too, and nothing is called
// infeasible that has a solution. A byte of the input chooses the solver and how much work it may
// do: a problem that none can solve takes most of them as long as they are allowed to, and runs
// would be few.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "complementarity/solver.h"
#include "fuzz.h"
#include "tippe/lcp.h"

enum { mostRows = 5 };

static const double shortWork = 1500.0; // multiply-adds; most problems are solved by then

typedef struct Bytes {
    const uint8_t* data;
    size_t length, at;
} Bytes;

static int nextByte(Bytes* bytes) {
    return bytes->at < bytes->length ? bytes->data[bytes->at++] : 0;
}

// Mostly small whole numbers, so that ties and singular bases are common; sometimes tiny or large.
static double nextNumber(Bytes* bytes) {
    static const double scales[8] = { 1.0, 1.0, 1.0, 1.0, 0.5, 1e-3, 1e3, 1e-9 };
    int byte = nextByte(bytes);
    return (double)((byte & 31) - 16) * scales[byte >> 5];
}

static void checkSolver(const tpLcp* lcp, const char* name, bool isSolvable,
                        tpSolverMemory* memory) {
    const double tolerance = 1e-8;
    double z[mostRows] = { 0.0 };
    tpSolveReport report;
    tpSolveStatus status = tpLcpSolver_Find(name)->solve(lcp, tolerance, memory, z, &report);
    REQUIRE(status == report.status && status != tp_badProblem);
    double residual = tpLcp_Residual(lcp, z, NULL, memory, NULL);
    REQUIRE(status != tp_solved || residual <= tolerance);
    REQUIRE(status != tp_infeasible || !isSolvable);
    REQUIRE(!isnan(report.residual));
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t length) {
    Bytes bytes = { data, length, 0 };
    static const char* const names[] = { "auto",   "lemke",          "lemke-tableau",
                                         "newton", "newton-natural", "principal-pivoting" };
    int n = 1 + nextByte(&bytes) % mostRows;
    int choice = nextByte(&bytes);
    const char* solver = names[(size_t)choice % (sizeof(names) / sizeof(names[0]))];
    int freeBits = nextByte(&bytes);
    double M[mostRows * mostRows], q[mostRows], z[mostRows];
    bool isFree[mostRows];
    for (int i = 0; i < n; ++i) {
        isFree[i] = (freeBits >> i & 1) != 0 && freeBits < 128; // half of all problems have none
        q[i] = nextNumber(&bytes);
    }
    for (int i = 0; i < n * n; ++i) {
        M[i] = nextNumber(&bytes);
    }
    tpLcp lcp = { .n = n, .M = tpDenseMatrix(n, n, M), .q = q, .isFree = isFree };
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    REQUIRE(memory != NULL);

    // Enumeration does not miss a solution on a regular basis; it is held to nothing but the judge.
    tpSolveStatus status = tpLcpSolver_Find("enumeration")->solve(&lcp, 1e-8, memory, z, NULL);
    bool isSolvable = status == tp_solved && tpLcp_Residual(&lcp, z, NULL, memory, NULL) == 0.0;
    memory->workLimit = choice < 250 ? memory->work + shortWork : HUGE_VAL;
    checkSolver(&lcp, solver, isSolvable, memory);
    tpDestroySolverMemory(memory);
    return 0;
}
