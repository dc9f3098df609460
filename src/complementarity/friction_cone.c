// The cone of one block: projection, natural map, and the exact solution of one contact.
//
// The one-contact problem u = A r + b is solved by the multiplier of sliding: u_T = -alpha r_T
// gives r(alpha) = -(A + alpha diag(0, 1, 1))^-1 b with u_N = 0, and sliding is the root of
// |r_T| - mu r_N over alpha > 0. At alpha = 0 sticking has failed, so the function is positive
// there; for large alpha r_T vanishes and it is negative: a root lies between, whether or not A is
// symmetric. The search is Newton's on 1/|r_T| - 1/(mu r_N), nearly linear in alpha as in
// trust-region methods [MoreSorensen83], kept inside the bracket. See FRICTION.md.

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "complementarity/friction_island.h"

// Newton on the sliding multiplier; bisection alone needs about 60 for full precision.
enum { SLIDING_ITERATIONS = 100 };

static double tangentNorm(int rows, const double* x) {
    if (rows == 3) {
        return sqrt(x[1] * x[1] + x[2] * x[2]);
    }
    double sum = 0.0;
    for (int i = 1; i < rows; ++i) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

static inline void project(int rows, int kind, double mu, double* x) {
    if (kind == tp_frictionFree) {
        return;
    }
    if (kind == tp_frictionNonnegative) {
        for (int i = 0; i < rows; ++i) {
            x[i] = fmax(x[i], 0.0);
        }
        return;
    }
    double tangent = tangentNorm(rows, x);
    if (x[0] >= 0.0 && tangent <= mu * x[0]) {
        return;
    }
    if (mu * tangent <= -x[0]) {
        memset(x, 0, sizeof(double) * (size_t)rows);
        return;
    }
    // On the mantle: along (1, mu t) / sqrt(1 + mu^2).
    double normal = (x[0] + mu * tangent) / (1.0 + mu * mu);
    double factor = mu * normal / tangent;
    x[0] = normal;
    for (int i = 1; i < rows; ++i) {
        x[i] *= factor;
    }
}

void tpFrictionProject(int rows, int kind, double mu, double* x) {
    project(rows, kind, mu, x);
}

static inline void mapBlock(int rows, int kind, double mu, const double* r, const double* u,
                            double* map) {
    double x[TP_FRICTION_MAX_ROWS] = { 0.0 };
    for (int i = 0; i < rows; ++i) {
        x[i] = r[i] - u[i];
    }
    if (kind == tp_frictionCone) {
        x[0] -= mu * tangentNorm(rows, u);
    }
    project(rows, kind, mu, x);
    for (int i = 0; i < rows; ++i) {
        map[i] = r[i] - x[i];
    }
}

// The number of rows that matters is a constant, for the compiler to unroll.
void tpFrictionNaturalMap(int rows, int kind, double mu, const double* r, const double* u,
                          double* map) {
    if (rows == 3) {
        mapBlock(3, kind, mu, r, u, map);
    } else {
        mapBlock(rows, kind, mu, r, u, map);
    }
}

// Solves the dense system A x = b of a block's rows by elimination with partial pivoting. A and b
// are overwritten, b with x. False where A is singular to working precision.
static bool solveDense(int n, double A[TP_FRICTION_MAX_ROWS][TP_FRICTION_MAX_ROWS], double* b) {
    for (int k = 0; k < n; ++k) {
        int best = k;
        for (int i = k + 1; i < n; ++i) {
            if (fabs(A[i][k]) > fabs(A[best][k])) {
                best = i;
            }
        }
        if (!(fabs(A[best][k]) > DBL_MIN)) {
            return false;
        }
        if (best != k) {
            for (int j = k; j < n; ++j) {
                double swap = A[k][j];
                A[k][j] = A[best][j];
                A[best][j] = swap;
            }
            double swap = b[k];
            b[k] = b[best];
            b[best] = swap;
        }
        for (int i = k + 1; i < n; ++i) {
            double factor = A[i][k] / A[k][k];
            for (int j = k + 1; j < n; ++j) {
                A[i][j] -= factor * A[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        for (int j = k + 1; j < n; ++j) {
            b[k] -= A[k][j] * b[j];
        }
        b[k] /= A[k][k];
    }
    return true;
}

// The tangent part of the contact after the normal row is eliminated:
// (S + alpha I) r_T = -c,  r_N = -(b_N + A_NT r_T) / A_NN.
enum { TANGENTS = TP_FRICTION_MAX_ROWS - 1 };

typedef struct Tangent {
    int n;
    double S[TANGENTS][TANGENTS];
    double c[TANGENTS];
    double normalRow[TANGENTS]; // A_NT / A_NN
    double normalFree;          // -b_N / A_NN > 0
} Tangent;

static double normOf(int n, const double* x) {
    double sum = x[0] * x[0];
    for (int i = 1; i < n; ++i) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

// r_T and its derivative by alpha. False where S + alpha I is singular.
static bool tangentAt(const Tangent* tangent, double alpha, double* rT, double* derivative) {
    int n = tangent->n;
    if (n == 1) {
        double pivot = tangent->S[0][0] + alpha;
        if (pivot == 0.0) {
            return false;
        }
        rT[0] = -tangent->c[0] / pivot;
        derivative[0] = -rT[0] / pivot;
        return true;
    }
    if (n == 2) {
        double a = tangent->S[0][0] + alpha, d = tangent->S[1][1] + alpha;
        double b = tangent->S[0][1], c = tangent->S[1][0];
        double det = a * d - b * c;
        if (!(fabs(det) > DBL_MIN)) {
            return false;
        }
        double inverse = 1.0 / det;
        rT[0] = -(d * tangent->c[0] - b * tangent->c[1]) * inverse;
        rT[1] = -(a * tangent->c[1] - c * tangent->c[0]) * inverse;
        derivative[0] = -(d * rT[0] - b * rT[1]) * inverse;
        derivative[1] = -(a * rT[1] - c * rT[0]) * inverse;
        return true;
    }
    double A[TP_FRICTION_MAX_ROWS][TP_FRICTION_MAX_ROWS], x[TP_FRICTION_MAX_ROWS];
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                A[i][j] = tangent->S[i][j] + (i == j ? alpha : 0.0);
            }
            x[i] = pass == 0 ? -tangent->c[i] : -rT[i];
        }
        if (!solveDense(n, A, x)) {
            return false;
        }
        memcpy(pass == 0 ? rT : derivative, x, sizeof(double) * (size_t)n);
    }
    return true;
}

static double normalAt(const Tangent* tangent, const double* rT) {
    double normal = tangent->normalFree;
    for (int i = 0; i < tangent->n; ++i) {
        normal -= tangent->normalRow[i] * rT[i];
    }
    return normal;
}

static void makeTangent(int rows, const double* A, const double* b, Tangent* tangent) {
    int n = rows - 1;
    tangent->n = n;
    tangent->normalFree = -b[0] / A[0];
    for (int j = 0; j < n; ++j) {
        tangent->normalRow[j] = A[1 + j] / A[0];
    }
    for (int i = 0; i < n; ++i) {
        const double* row = A + (size_t)(1 + i) * (size_t)rows;
        for (int j = 0; j < n; ++j) {
            tangent->S[i][j] = row[1 + j] - row[0] * tangent->normalRow[j];
        }
        tangent->c[i] = b[1 + i] + row[0] * tangent->normalFree;
    }
}

// Newton's next alpha on 1/|r_T| - 1/(mu r_N).
static double newtonAlpha(const Tangent* tangent, double mu, double alpha, const double* rT,
                          const double* derivative, double normal, double norm) {
    double normRate = 0.0, normalRate = 0.0;
    for (int i = 0; i < tangent->n; ++i) {
        normRate += rT[i] * derivative[i];
        normalRate -= tangent->normalRow[i] * derivative[i];
    }
    normRate /= norm;
    double value = 1.0 / norm - 1.0 / (mu * normal);
    double slope = normalRate / (mu * normal * normal) - normRate / (norm * norm);
    return alpha - value / slope;
}

// Root of |r_T| - mu r_N over alpha in (0, inf); r receives the impulse there.
static bool solveSliding(const Tangent* tangent, double mu, double guess, double* r) {
    int n = tangent->n;
    double rT[TANGENTS] = { 0 }, derivative[TANGENTS] = { 0 };
    double low = 0.0, high = INFINITY;
    double scale = 0.0;
    for (int i = 0; i < n; ++i) {
        scale = fmax(scale, fabs(tangent->S[i][i]));
    }
    scale = scale > 0.0 ? scale : 1.0;
    double alpha = guess > 0.0 && guess < INFINITY ? guess : 0.0;
    double normal = 0.0, norm = 0.0;
    for (int iteration = 0; iteration < SLIDING_ITERATIONS; ++iteration) {
        bool regular = tangentAt(tangent, alpha, rT, derivative);
        normal = regular ? normalAt(tangent, rT) : -1.0;
        norm = regular ? normOf(n, rT) : INFINITY;
        double excess = norm - mu * normal;
        if (excess == 0.0) {
            break;
        }
        if (excess > 0.0) {
            low = alpha;
        } else {
            high = alpha;
        }
        double next = regular && normal > 0.0 && norm > 0.0
                          ? newtonAlpha(tangent, mu, alpha, rT, derivative, normal, norm)
                          : -1.0;
        if (fabs(next - alpha) <= 4.0 * DBL_EPSILON * alpha) {
            break;
        }
        if (!(next > low && next < high)) {
            next = high < INFINITY ? (low > 0.0 ? sqrt(low) * sqrt(high) : 0.01 * high)
                                   : fmax(10.0 * low, 0.1 * scale);
            if (next <= low || next >= high) {
                next = 0.5 * (low + high);
            }
        }
        if (next == alpha || (high < INFINITY && high - low <= 2.0 * DBL_EPSILON * high)) {
            break;
        }
        alpha = next;
    }
    // Blocks that are not positive definite can end at a pole instead of a root.
    if (!(normal > 0.0) || !(fabs(norm - mu * normal) <= 1e-8 * norm)) {
        return false;
    }
    // The last rounding goes: r_T exactly on the limit.
    double factor = norm > 0.0 ? mu * normal / norm : 0.0;
    r[0] = normal;
    for (int i = 0; i < n; ++i) {
        r[1 + i] = rT[i] * factor;
    }
    return true;
}

static bool solveCone(int rows, double mu, const double* A, const double* b, double* r) {
    if (b[0] >= 0.0) {
        memset(r, 0, sizeof(double) * (size_t)rows);
        return true;
    }
    if (!(A[0] > 0.0)) {
        return false;
    }
    if (rows == 1 || mu <= 0.0) {
        memset(r, 0, sizeof(double) * (size_t)rows);
        r[0] = -b[0] / A[0];
        return isfinite(r[0]);
    }
    Tangent tangent;
    makeTangent(rows, A, b, &tangent);
    double rT[TANGENTS] = { 0 }, derivative[TANGENTS];
    if (tangentAt(&tangent, 0.0, rT, derivative)) {
        double normal = normalAt(&tangent, rT);
        double norm = normOf(rows - 1, rT);
        if (norm <= mu * normal) {
            r[0] = normal;
            memcpy(r + 1, rT, sizeof(double) * (size_t)(rows - 1));
            return true;
        }
    }
    // The multiplier at the impulse given, |u_T| / |r_T|, is the first guess.
    double oldNorm = tangentNorm(rows, r), slip = 0.0;
    for (int i = 1; i < rows; ++i) {
        double velocity = b[i];
        for (int j = 0; j < rows; ++j) {
            velocity += A[i * rows + j] * r[j];
        }
        slip += velocity * velocity;
    }
    double guess = oldNorm > 0.0 ? sqrt(slip) / oldNorm : 0.0;
    return solveSliding(&tangent, mu, guess, r);
}

bool tpFrictionSolveLocal(int rows, int kind, double mu, const double* A, const double* b,
                          double* r) {
    if (kind == tp_frictionCone) {
        return solveCone(rows, mu, A, b, r);
    }
    if (kind == tp_frictionNonnegative && rows == 1) {
        double solution = b[0] >= 0.0 ? 0.0 : -b[0] / A[0];
        if (!(solution >= 0.0 && solution < INFINITY)) {
            return false;
        }
        r[0] = solution;
        return true;
    }
    double matrix[TP_FRICTION_MAX_ROWS][TP_FRICTION_MAX_ROWS], x[TP_FRICTION_MAX_ROWS];
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < rows; ++j) {
            matrix[i][j] = A[i * rows + j];
        }
        x[i] = -b[i];
    }
    if (!solveDense(rows, matrix, x)) {
        return false;
    }
    for (int i = 0; i < rows; ++i) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    memcpy(r, x, sizeof(double) * (size_t)rows);
    return true;
}

bool tpFriction_SolveOne(int rows, const double* A, const double* b, double mu, double* r) {
    if (!TP_REQUIRE(rows >= 1 && rows <= TP_FRICTION_MAX_ROWS, "rows", "are %d", rows) ||
        !TP_REQUIRE(A != NULL && b != NULL && r != NULL, "A", "or b or r is NULL")) {
        return false;
    }
    memset(r, 0, sizeof(double) * (size_t)rows);
    for (int i = 0; i < rows * rows; ++i) {
        if (!isfinite(A[i]) || (i < rows && !isfinite(b[i]))) {
            return false;
        }
    }
    return tpFrictionSolveLocal(rows, tp_frictionCone, mu, A, b, r);
}
