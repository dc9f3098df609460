// The text formats, and how they are told apart.
//
//     plain LCP      n s, M row by row, q, z           (ours; s and z are not read)
//     Siconos LCP    n, matrix, q
//     mixed LCP      st1 st2 n m, then blocks, matrix and q (st1) and A B C D a b (st2)
//     old mixed LCP  n m n+m, then A B C D a b
//     friction       dimension contacts, matrix W, q, mu
//     the same with  matrix M, matrix H, q, b, mu      (global)
//
// All begin with small whole numbers, so a glance at the first words leaves one or two candidates,
// and these are read in turn until one fits. If none does, the message is that of the candidate
// that came furthest. What follows a Siconos problem (a remark, a solution, a 0 or 1) is not read.

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "problems/matrix_reader.h"
#include "problems/problem_reader.h"

enum { glanceWords = 5 };

// The first words as whole numbers (-1 if one is none), and how many stand in the first line.
typedef struct Glance {
    int numbers[glanceWords];
    int wordsInFirstLine;
} Glance;

typedef struct TextFormat {
    tpProblemKind kind; // friction: tp_friction2dProblem stands for both
    bool (*isLikely)(const Glance* glance);
    tpResult (*read)(tpScanner* scanner, tpOwnedProblem* owned);
} TextFormat;

// Vectors and dense blocks --------------------------------------------------------------------

// `count` numbers in new memory.
static tpResult readVector(tpScanner* scanner, const char* name, int count, tpOwnedProblem* owned,
                           double** values) {
    *values = NULL;
    if (!tpScanner_CanHold(scanner, count)) {
        return tpScanner_Fail(scanner, scanner->at,
                              "%s has %d numbers, more than the rest of the file can hold", name,
                              count);
    }
    *values = TP_SCRATCH(&owned->arena, double, count);
    if (*values == NULL) {
        return tpScanner_OutOfMemory(scanner);
    }
    return tpScanner_Reals(scanner, name, *values, (size_t)count);
}

static tpResult readQ(tpScanner* scanner, int count, tpOwnedProblem* owned) {
    double* q;
    tpResult result = readVector(scanner, "q", count, owned, &q);
    owned->problem.q = q;
    return result;
}

// rowCount x columnCount numbers row by row, into a part of a dense matrix by columns.
static tpResult readRows(tpScanner* scanner, const char* name, int rowCount, int columnCount,
                         double* corner, int leading) {
    for (int i = 0; i < rowCount; ++i) {
        for (int j = 0; j < columnCount; ++j) {
            tpWord word = tpScanner_Next(scanner);
            if (!tpWord_ToReal(word, &corner[i + (size_t)j * (size_t)leading])) {
                char expected[80];
                snprintf(expected, sizeof(expected), "%s in row %d and column %d", name, i + 1,
                         j + 1);
                return tpScanner_FailExpected(scanner, word, expected);
            }
        }
    }
    return tp_success;
}

// A dense square matrix of `size` to be filled, bounded by what the file can hold.
static tpResult makeSquare(tpScanner* scanner, int size, tpOwnedProblem* owned, double** values) {
    *values = NULL;
    if (!tpScanner_CanHold(scanner, (double)size * size)) {
        return tpScanner_Fail(scanner, scanner->at,
                              "a matrix of %d x %d numbers is more than the rest of the file holds",
                              size, size);
    }
    *values = TP_SCRATCH(&owned->arena, double, (size_t)size*(size_t)size);
    if (*values == NULL) {
        return tpScanner_OutOfMemory(scanner);
    }
    owned->problem.matrix = tpDenseMatrix(size, size, *values);
    return tp_success;
}

static tpResult expectSquare(tpScanner* scanner, const char* at, const tpMatrix* matrix, int size) {
    if (matrix->rowCount != size || matrix->columnCount != size) {
        return tpScanner_Fail(scanner, at, "expected a matrix of %d x %d, found %d x %d", size,
                              size, matrix->rowCount, matrix->columnCount);
    }
    return tp_success;
}

static tpResult expectEnd(tpScanner* scanner) {
    tpWord word = tpScanner_Peek(scanner);
    return word.length == 0 ? tp_success
                            : tpScanner_FailExpected(scanner, word, "the end of the file");
}

// LCP -----------------------------------------------------------------------------------------

static bool isLikelyPlainLcp(const Glance* glance) {
    return glance->wordsInFirstLine == 2 && glance->numbers[0] >= 1 && glance->numbers[1] >= 0 &&
           glance->numbers[1] <= 1;
}

static tpResult readPlainLcp(tpScanner* scanner, tpOwnedProblem* owned) {
    int size, solutionStored;
    double* values;
    tpResult result;
    if ((result = tpScanner_Int(scanner, "the size of the problem", 0, INT_MAX - 1, &size)) ||
        (result = tpScanner_Int(scanner, "0 or 1, whether a solution is stored,", 0, 1,
                                &solutionStored)) ||
        (result = makeSquare(scanner, size, owned, &values)) ||
        (result = readRows(scanner, "M", size, size, values, size)) ||
        (result = readQ(scanner, size, owned))) {
        return result;
    }
    // z need not be there, but where something is, it has its length: a mixed LCP of Siconos with
    // two sizes in its first line would else pass for a problem of one row.
    bool hasSolution = tpScanner_Peek(scanner).length > 0;
    for (int i = 0; i < size && hasSolution; ++i) {
        double unused;
        if ((result = tpScanner_Reals(scanner, "z", &unused, 1))) {
            return result;
        }
    }
    if ((result = expectEnd(scanner))) {
        return result;
    }
    owned->problem.kind = tp_lcpProblem;
    owned->problem.size = size;
    return tp_success;
}

static bool isLikelyLcp(const Glance* glance) {
    const int* n = glance->numbers;
    // "1 1 1 1 0" could be one row and no blocks, but is the beginning of a mixed LCP of two rows.
    bool isEmpty = n[0] == 1 && n[1] == 1 && n[4] == 0;
    return n[0] >= 0 && n[1] >= 0 && n[1] <= 2 && n[2] == n[0] && n[3] == n[0] && !isEmpty;
}

static tpResult readLcp(tpScanner* scanner, tpOwnedProblem* owned) {
    tpProblem* problem = &owned->problem;
    tpResult result =
        tpScanner_Int(scanner, "the size of the problem", 0, INT_MAX - 1, &problem->size);
    const char* matrixAt = scanner->at;
    if (result || (result = tpReadMatrix(scanner, "M", &owned->arena, &problem->matrix)) ||
        (result = expectSquare(scanner, matrixAt, &problem->matrix, problem->size)) ||
        (result = readQ(scanner, problem->size, owned))) {
        return result;
    }
    problem->kind = tp_lcpProblem;
    return tp_success;
}

// Mixed LCP -----------------------------------------------------------------------------------

static bool isLikelyMixedLcp(const Glance* glance) {
    const int* n = glance->numbers;
    return (n[0] == 0 || n[0] == 1) && (n[1] == 0 || n[1] == 1) && n[2] >= 0 && n[3] >= 0;
}

static bool isLikelyOldMixedLcp(const Glance* glance) {
    const int* n = glance->numbers;
    return n[0] >= 0 && n[1] >= 1 && (long long)n[0] + n[1] == n[2];
}

// A flag for each variable, all set to complementary.
static tpResult makeFreeFlags(tpScanner* scanner, int size, tpOwnedProblem* owned, bool** isFree) {
    if (!tpScanner_CanHold(scanner, size)) {
        return tpScanner_Fail(scanner, scanner->at,
                              "%d variables are more than the rest of the file can hold", size);
    }
    *isFree = TP_SCRATCH_ZEROED(&owned->arena, bool, size);
    owned->problem.isFree = *isFree;
    return *isFree == NULL ? tpScanner_OutOfMemory(scanner) : tp_success;
}

// Cumulative rows of blocks from 0 to `size`, then for each block whether it is complementary.
static tpResult readBlockKinds(tpScanner* scanner, int size, tpOwnedProblem* owned) {
    tpArenaMark mark = tpArena_Mark(&owned->arena);
    bool* isFree;
    tpResult result = makeFreeFlags(scanner, size, owned, &isFree);
    int* ends = result == tp_success ? TP_SCRATCH(&owned->arena, int, size + 1) : NULL;
    if (result != tp_success || ends == NULL) {
        tpArena_Release(&owned->arena, mark);
        return result != tp_success ? result : tpScanner_OutOfMemory(scanner);
    }
    int blockCount = 0;
    result = tpScanner_Int(scanner, "the first row of the first block", 0, 0, &ends[0]);
    while (result == tp_success && ends[blockCount] < size) {
        ++blockCount;
        result = tpScanner_Int(scanner, "the end of a block", ends[blockCount - 1] + 1, size,
                               &ends[blockCount]);
    }
    for (int block = 0; result == tp_success && block < blockCount; ++block) {
        int isComplementary;
        result = tpScanner_Int(scanner, "a block's kind, 0 (equality) or 1 (complementarity),", 0,
                               1, &isComplementary);
        for (int i = ends[block]; result == tp_success && i < ends[block + 1]; ++i) {
            isFree[i] = isComplementary == 0;
        }
    }
    return result;
}

// A (n x n), B (m x m), C (n x m), D (m x n) row by row, then a and b: M = [A C; D B].
static tpResult readPartedMixedLcp(tpScanner* scanner, int n, int m, tpOwnedProblem* owned) {
    int size = n + m;
    size_t rows = (size_t)size;
    double *M, *q;
    tpResult result = makeSquare(scanner, size, owned, &M);
    if (result || (result = readRows(scanner, "A", n, n, M, size)) ||
        (result = readRows(scanner, "B", m, m, M + (size_t)n + (size_t)n * rows, size)) ||
        (result = readRows(scanner, "C", n, m, M + (size_t)n * rows, size)) ||
        (result = readRows(scanner, "D", m, n, M + n, size)) ||
        (result = readVector(scanner, "(a, b)", size, owned, &q))) {
        return result;
    }
    owned->problem.q = q;
    return tp_success;
}

static void finishMixedLcp(int size, tpProblem* problem) {
    problem->kind = tp_mixedLcpProblem;
    problem->size = size;
}

static tpResult readSizes(tpScanner* scanner, int* n, int* m) {
    if (tpScanner_Int(scanner, "the number of free variables", 0, INT_MAX / 2, n) ||
        tpScanner_Int(scanner, "the number of complementary variables", 0, INT_MAX / 2, m)) {
        return tp_badInput;
    }
    return tp_success;
}

// The first n variables are free.
static tpResult readFreeFirst(tpScanner* scanner, int n, int m, tpOwnedProblem* owned) {
    bool* isFree;
    tpResult result = makeFreeFlags(scanner, n + m, owned, &isFree);
    for (int i = 0; result == tp_success && i < n; ++i) {
        isFree[i] = true;
    }
    return result;
}

static tpResult readMixedLcp(tpScanner* scanner, tpOwnedProblem* owned) {
    int whole, parted, n, m;
    tpProblem* problem = &owned->problem;
    if (tpScanner_Int(scanner, "0 or 1, whether M is stored as a whole,", 0, 1, &whole) ||
        tpScanner_Int(scanner, "0 or 1, whether A, B, C, D are stored,", 0, 1, &parted) ||
        readSizes(scanner, &n, &m)) {
        return tp_badInput;
    }
    tpResult result;
    if (whole) {
        if ((result = readBlockKinds(scanner, n + m, owned))) {
            return result;
        }
        const char* matrixAt = scanner->at;
        if ((result = tpReadMatrix(scanner, "M", &owned->arena, &problem->matrix)) ||
            (result = expectSquare(scanner, matrixAt, &problem->matrix, n + m)) ||
            (result = readQ(scanner, n + m, owned))) {
            return result;
        }
    } else if (parted) {
        if ((result = readFreeFirst(scanner, n, m, owned)) ||
            (result = readPartedMixedLcp(scanner, n, m, owned))) {
            return result;
        }
    } else {
        return tpScanner_Fail(scanner, scanner->start,
                              "the first two numbers are 0: the file says that it stores nothing");
    }
    finishMixedLcp(n + m, problem);
    return tp_success;
}

static tpResult readOldMixedLcp(tpScanner* scanner, tpOwnedProblem* owned) {
    int n, m, rowCount;
    tpResult result;
    if ((result = readSizes(scanner, &n, &m)) ||
        (result = tpScanner_Int(scanner, "the number of rows", n + m, n + m, &rowCount)) ||
        (result = readFreeFirst(scanner, n, m, owned)) ||
        (result = readPartedMixedLcp(scanner, n, m, owned)) || (result = expectEnd(scanner))) {
        return result;
    }
    finishMixedLcp(n + m, &owned->problem);
    return tp_success;
}

// Friction ------------------------------------------------------------------------------------

static bool isLikelyFriction(const Glance* glance) {
    const int* n = glance->numbers;
    return (n[0] == 2 || n[0] == 3) && n[1] >= 0 && n[2] >= 0 && n[2] <= 2 && n[3] >= 0 &&
           n[3] == n[4] && (n[1] > 0) == (n[3] > 0);
}

static tpResult readFrictionCoefficients(tpScanner* scanner, tpOwnedProblem* owned) {
    tpProblem* problem = &owned->problem;
    const char* at = scanner->at;
    double* mu;
    tpResult result = readVector(scanner, "mu", problem->contactCount, owned, &mu);
    for (int i = 0; result == tp_success && i < problem->contactCount; ++i) {
        if (mu[i] < 0.0) {
            result = tpScanner_Fail(scanner, at, "mu of contact %d is negative: %g", i + 1, mu[i]);
        }
    }
    problem->mu = mu;
    return result;
}

// Behind M of a global problem stands H, "storage rows columns" with the sizes it must have.
static bool isMatrixNext(const tpScanner* scanner, int rowCount, int columnCount) {
    tpScanner ahead = *scanner;
    int storage = tpWord_ToInt(tpScanner_Next(&ahead));
    int rows = tpWord_ToInt(tpScanner_Next(&ahead));
    int columns = tpWord_ToInt(tpScanner_Next(&ahead));
    return storage >= 0 && storage <= 2 && rows == rowCount && columns == columnCount;
}

static tpResult readGlobalRest(tpScanner* scanner, tpOwnedProblem* owned) {
    tpProblem* problem = &owned->problem;
    const char* at = scanner->at;
    double* b;
    tpResult result = tpReadMatrix(scanner, "H", &owned->arena, &problem->H);
    if (result) {
        return result;
    }
    if (problem->H.rowCount != problem->matrix.rowCount ||
        problem->H.columnCount != problem->size) {
        return tpScanner_Fail(scanner, at, "expected H of %d x %d, found %d x %d",
                              problem->matrix.rowCount, problem->size, problem->H.rowCount,
                              problem->H.columnCount);
    }
    if ((result = readQ(scanner, problem->matrix.rowCount, owned)) ||
        (result = readVector(scanner, "b", problem->size, owned, &b)) ||
        (result = readFrictionCoefficients(scanner, owned))) {
        return result;
    }
    problem->b = b;
    problem->isGlobal = true;
    return tp_success;
}

static tpResult readLocalRest(tpScanner* scanner, tpOwnedProblem* owned) {
    tpResult result = readQ(scanner, owned->problem.size, owned);
    return result ? result : readFrictionCoefficients(scanner, owned);
}

static tpResult readFriction(tpScanner* scanner, tpOwnedProblem* owned) {
    tpProblem* problem = &owned->problem;
    if (tpScanner_Int(scanner, "the dimension, 2 or 3,", 2, 3, &problem->dimension) ||
        tpScanner_Int(scanner, "the number of contacts", 0, INT_MAX / 4, &problem->contactCount)) {
        return tp_badInput;
    }
    problem->size = problem->dimension * problem->contactCount;
    problem->kind = problem->dimension == 2 ? tp_friction2dProblem : tp_friction3dProblem;
    const char* matrixAt = scanner->at;
    tpResult result = tpReadMatrix(scanner, "the matrix", &owned->arena, &problem->matrix);
    if (result) {
        return result;
    }
    int rowCount = problem->matrix.rowCount;
    if (problem->matrix.columnCount != rowCount) {
        return tpScanner_Fail(scanner, matrixAt, "expected a square matrix, found %d x %d",
                              rowCount, problem->matrix.columnCount);
    }
    if (isMatrixNext(scanner, rowCount, problem->size)) {
        // A local problem whose q begins with three such numbers can still be told by its length.
        tpScanner localScanner = *scanner;
        result = readGlobalRest(scanner, owned);
        if (result == tp_badInput && rowCount == problem->size) {
            *scanner = localScanner;
            problem->H = (tpMatrix){ 0 };
            result = readLocalRest(scanner, owned);
        }
        return result;
    }
    if (rowCount != problem->size) {
        return tpScanner_Fail(scanner, matrixAt,
                              "%d contacts in dimension %d need a matrix of %d x %d (or, for a "
                              "global problem, H behind it); found %d x %d",
                              problem->contactCount, problem->dimension, problem->size,
                              problem->size, rowCount, rowCount);
    }
    return readLocalRest(scanner, owned);
}

// Telling them apart --------------------------------------------------------------------------

static const TextFormat formats[] = {
    { tp_lcpProblem, isLikelyPlainLcp, readPlainLcp },
    { tp_friction2dProblem, isLikelyFriction, readFriction },
    { tp_mixedLcpProblem, isLikelyMixedLcp, readMixedLcp },
    { tp_lcpProblem, isLikelyLcp, readLcp },
    { tp_mixedLcpProblem, isLikelyOldMixedLcp, readOldMixedLcp },
};

enum { formatCount = sizeof(formats) / sizeof(formats[0]) };

static Glance glanceAt(const tpScanner* scanner) {
    Glance glance = { .wordsInFirstLine = 0 };
    tpScanner ahead = *scanner;
    tpWord first = tpScanner_Peek(&ahead);
    const char* newline = memchr(first.start, '\n', (size_t)(ahead.end - first.start));
    for (int i = 0; i < glanceWords; ++i) {
        tpWord word = tpScanner_Next(&ahead);
        glance.numbers[i] = tpWord_ToInt(word);
        if (word.length > 0 && (newline == NULL || word.start < newline)) {
            ++glance.wordsInFirstLine;
        }
    }
    return glance;
}

static bool isOfKind(const TextFormat* format, tpProblemKind kind) {
    return kind == tp_anyProblem || format->kind == kind ||
           (format->kind == tp_friction2dProblem && kind == tp_friction3dProblem);
}

// How trying one format after the other went.
typedef struct Attempts {
    tpResult result;
    const char* furthest; // where the best attempt failed; NULL before the first
    tpError best;
} Attempts;

// Reads the text as one format; true when that settled it (read, or out of memory).
static bool tryFormat(const TextFormat* format, tpScanner* scanner, tpProblemKind kind,
                      tpOwnedProblem* owned, tpResult* result) {
    tpArena_Reset(&owned->arena);
    owned->problem = (tpProblem){ 0 };
    scanner->at = scanner->start;
    *result = format->read(scanner, owned);
    if (*result == tp_success && kind != tp_anyProblem && owned->problem.kind != kind) {
        *result = tpScanner_Fail(scanner, scanner->start, "expected a problem %s, found %s",
                                 tpProblemKind_Name(kind), tpProblemKind_Name(owned->problem.kind));
    }
    return *result != tp_badInput;
}

// Tries the formats that are of this kind, or (where `otherKinds`) those that are not, and of them
// the likely or the unlikely ones. Keeps in `best` the message of the one that came furthest.
static bool tryFormats(tpScanner* scanner, const Glance* glance, tpProblemKind kind,
                       bool otherKinds, bool likely, tpOwnedProblem* owned, Attempts* attempts) {
    for (int i = 0; i < formatCount; ++i) {
        const TextFormat* format = &formats[i];
        if (isOfKind(format, kind) == otherKinds || format->isLikely(glance) != likely) {
            continue;
        }
        tpError error = { .result = tp_success };
        scanner->error = &error;
        if (tryFormat(format, scanner, otherKinds ? tp_anyProblem : kind, owned,
                      &attempts->result)) {
            attempts->best = error;
            return true;
        }
        if (attempts->furthest == NULL || scanner->failedAt > attempts->furthest) {
            attempts->furthest = scanner->failedAt;
            attempts->best = error;
        }
    }
    return false;
}

tpResult tpReadProblemText(tpScanner* scanner, tpProblemKind kind, tpOwnedProblem* owned) {
    Glance glance = glanceAt(scanner);
    tpError* error = scanner->error;
    Attempts attempts = { .result = tp_badInput };
    Attempts others = { .result = tp_badInput };
    bool settled = tryFormats(scanner, &glance, kind, false, true, owned, &attempts);
    if (!settled && kind != tp_anyProblem && attempts.furthest == NULL) {
        // Nothing likely: see whether it is another kind, else try the wished one nevertheless, so
        // that a file whose very first words are wrong is told what they should be.
        if (tryFormats(scanner, &glance, kind, true, true, owned, &others) &&
            others.result == tp_success) {
            tpProblemKind found = owned->problem.kind;
            scanner->error = error;
            return tpScanner_Fail(scanner, scanner->start, "expected a problem %s, found %s",
                                  tpProblemKind_Name(kind), tpProblemKind_Name(found));
        }
        settled = tryFormats(scanner, &glance, kind, false, false, owned, &attempts);
    }
    scanner->error = error;
    if (!settled && attempts.furthest == NULL) {
        tpScanner again = *scanner;
        again.at = again.start;
        return tpScanner_Fail(scanner, tpScanner_Peek(&again).start,
                              "cannot tell what problem this is: expected the sizes that an LCP, a "
                              "mixed LCP or a friction problem begins with");
    }
    *error = attempts.best;
    return attempts.result;
}
