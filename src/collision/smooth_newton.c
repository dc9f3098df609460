// Newton's method on the conditions of closest points [ChakrabortyBerardAkellaTrinkle07, eq. 9 and
// 22].
//
// Unknowns are one offset point for each body, z = point + size normal, of which point and normal
// are functions that have derivatives even at edges and corners: for a move u of z in the tangent
// plane
//
//     d point = P u,  d normal = Q u,  P = 1 / (1 + size k),  Q = k / (1 + size k)
//
// along each principal direction, with curvature k from 0 (face) to infinity (edge). Two equations
// of two rows each: normals opposite, and a - b along the normal. In place of the paper's
// multipliers of active constraints (eq. 22) each body supplies the element it has there; the steps
// are those of a semismooth Newton method, and features change along the way without a list of
// active constraints. Deviation from the paper: tangential rows in place of unit vector equations,
// whose derivative degenerates at contact, where |a - b| has a corner.

#include "collision/smooth_body.h"

static void formOf(const tpCurvature* c, double size, tpVec3 t, tpVec3 o, double P[3],
                   double Q[3]) {
    double p1 = 1.0 / (1.0 + size * c->along), p2 = 1.0 / (1.0 + size * c->across);
    double q1 = isinf(c->along) ? 1.0 / size : c->along * p1;
    double q2 = isinf(c->across) ? 1.0 / size : c->across * p2;
    double x = tpDot(c->tangent, t), y = tpDot(c->tangent, o);
    double length = sqrt(x * x + y * y);
    x = length > 0.5 ? x / length : 1.0;
    y = length > 0.5 ? y / length : 0.0;
    P[0] = p1 * x * x + p2 * y * y;
    P[1] = (p1 - p2) * x * y;
    P[2] = p1 * y * y + p2 * x * x;
    Q[0] = q1 * x * x + q2 * y * y;
    Q[1] = (q1 - q2) * x * y;
    Q[2] = q1 * y * y + q2 * x * x;
}

void tpFillPairSystem(const tpCurvature* a, const tpCurvature* b, double sizeA, double sizeB,
                      double gap, tpVec3 t, tpVec3 o, tpPairSystem* out) {
    formOf(a, sizeA, t, o, out->P[0], out->Q[0]);
    formOf(b, sizeB, t, o, out->P[1], out->Q[1]);
    out->gap = gap;
}

// Gauss-Jordan elimination with full pivoting of 4 rows with `columns` right-hand sides; unknowns
// that no pivot determines stay zero. Returns the rank.
static int solveRows(double m[4][16], int columns) {
    int rank = 0, order[4] = { 0, 1, 2, 3 };
    for (; rank < 4; ++rank) {
        int row = rank, column = rank;
        for (int i = rank; i < 4; ++i) {
            for (int j = rank; j < 4; ++j) {
                if (fabs(m[i][j]) > fabs(m[row][column])) {
                    row = i;
                    column = j;
                }
            }
        }
        if (!(fabs(m[row][column]) > 1e-13)) {
            break;
        }
        for (int j = 0; j < 4 + columns; ++j) {
            double swap = m[row][j];
            m[row][j] = m[rank][j];
            m[rank][j] = swap;
        }
        for (int i = 0; i < 4; ++i) {
            double swap = m[i][column];
            m[i][column] = m[i][rank];
            m[i][rank] = swap;
        }
        int unknown = order[column];
        order[column] = order[rank];
        order[rank] = unknown;
        double inverse = 1.0 / m[rank][rank];
        for (int i = 0; i < 4; ++i) {
            double factor = m[i][rank] * inverse;
            if (i != rank && factor != 0.0) {
                for (int j = rank; j < 4 + columns; ++j) {
                    m[i][j] -= factor * m[rank][j];
                }
            }
        }
    }
    for (int c = 4; c < 4 + columns; ++c) {
        double x[4] = { 0.0, 0.0, 0.0, 0.0 };
        for (int i = 0; i < rank; ++i) {
            x[order[i]] = m[i][c] / m[i][i];
        }
        for (int i = 0; i < 4; ++i) {
            m[i][c] = x[i];
        }
    }
    return rank;
}

// Bodies that bend in every direction have radii of curvature R = P / Q, and the system shrinks to
// (R_A + R_B + gap) dn = shift - R_A turn for the change dn of B's normal. False if one is
// nearly flat or the matrix is not safely regular; the other way has to tell.
static bool solveBent(const tpPairSystem* s, const double turn[2], const double shift[2],
                      double u[2], double v[2]) {
    double R[2][3], radius = fabs(s->gap);
    for (int k = 0; k < 2; ++k) {
        const double *P = s->P[k], *Q = s->Q[k];
        double det = Q[0] * Q[2] - Q[1] * Q[1], trace = Q[0] + Q[2];
        if (!(det > 1e-4 * trace * trace)) {
            return false;
        }
        // P and Q share their axes, so P Q^-1 is symmetric.
        R[k][0] = (P[0] * Q[2] - P[1] * Q[1]) / det;
        R[k][1] = (P[1] * Q[0] - P[0] * Q[1]) / det;
        R[k][2] = (P[2] * Q[0] - P[1] * Q[1]) / det;
        radius += R[k][0] + R[k][2];
    }
    double xx = R[0][0] + R[1][0] + s->gap, xy = R[0][1] + R[1][1];
    double yy = R[0][2] + R[1][2] + s->gap, det = xx * yy - xy * xy;
    if (!(fabs(det) > 1e-6 * radius * radius)) {
        return false;
    }
    // The equations are P_A u - P_B v - gap dn = shift and Q_A u + dn = turn.
    double x = R[0][0] * turn[0] + R[0][1] * turn[1] - shift[0];
    double y = R[0][1] * turn[0] + R[0][2] * turn[1] - shift[1];
    double dn[2] = { (yy * x - xy * y) / det, (xx * y - xy * x) / det };
    double dm[2] = { turn[0] - dn[0], turn[1] - dn[1] };
    const double *QA = s->Q[0], *QB = s->Q[1];
    double detA = QA[0] * QA[2] - QA[1] * QA[1], detB = QB[0] * QB[2] - QB[1] * QB[1];
    u[0] = (QA[2] * dm[0] - QA[1] * dm[1]) / detA;
    u[1] = (QA[0] * dm[1] - QA[1] * dm[0]) / detA;
    v[0] = (QB[2] * dn[0] - QB[1] * dn[1]) / detB;
    v[1] = (QB[0] * dn[1] - QB[1] * dn[0]) / detB;
    return true;
}

// P = 1 - size Q for both bodies, so the rows of shifting give A's move by that of B,
//
//     u = v - c Q_B v + shift + sizeA turn,   c = sizeA + sizeB - gap
//
// and two rows are left, (Q_A + Q_B - c Q_A Q_B) v = turn - Q_A (shift + sizeA turn). False if
// their matrix is not safely regular.
static bool solveTwoRows(const tpPairSystem* s, double sizeA, double sizeB, const double turn[2],
                         const double shift[2], double u[2], double v[2]) {
    const double *A = s->Q[0], *B = s->Q[1];
    double c = sizeA + sizeB - s->gap, stiff = A[0] + A[2] + B[0] + B[2];
    double xx = A[0] + B[0] - c * (A[0] * B[0] + A[1] * B[1]);
    double xy = A[1] + B[1] - c * (A[0] * B[1] + A[1] * B[2]);
    double yx = A[1] + B[1] - c * (A[1] * B[0] + A[2] * B[1]);
    double yy = A[2] + B[2] - c * (A[1] * B[1] + A[2] * B[2]), det = xx * yy - xy * yx;
    if (!(fabs(det) > 1e-6 * stiff * stiff)) {
        return false;
    }
    double x = shift[0] + sizeA * turn[0], y = shift[1] + sizeA * turn[1];
    double p = turn[0] - (A[0] * x + A[1] * y), q = turn[1] - (A[1] * x + A[2] * y);
    v[0] = (yy * p - xy * q) / det;
    v[1] = (xx * q - yx * p) / det;
    u[0] = v[0] - c * (B[0] * v[0] + B[1] * v[1]) + x;
    u[1] = v[1] - c * (B[1] * v[0] + B[2] * v[1]) + y;
    return true;
}

int tpSolvePairSystem(const tpPairSystem* s, int columns, double (*turn)[2], double (*shift)[2],
                      double (*u)[2], double (*v)[2]) {
    const double *PA = s->P[0], *QA = s->Q[0], *PB = s->P[1], *QB = s->Q[1];
    // Rows of turning are given the unit of rows of shifting, by the stiffer body's offset.
    double unit = 1.0 / fmax(fmax(QA[0] + QA[2], QB[0] + QB[2]), 1e-300);
    double m[4][16] = {
        { unit * QA[0], unit * QA[1], unit * QB[0], unit * QB[1] },
        { unit * QA[1], unit * QA[2], unit * QB[1], unit * QB[2] },
        { PA[0], PA[1], -PB[0] - s->gap * QB[0], -PB[1] - s->gap * QB[1] },
        { PA[1], PA[2], -PB[1] - s->gap * QB[1], -PB[2] - s->gap * QB[2] },
    };
    for (int c = 0; c < columns; ++c) {
        m[0][4 + c] = unit * turn[c][0];
        m[1][4 + c] = unit * turn[c][1];
        m[2][4 + c] = shift[c][0];
        m[3][4 + c] = shift[c][1];
    }
    int rank = solveRows(m, columns);
    for (int c = 0; c < columns; ++c) {
        u[c][0] = m[0][4 + c];
        u[c][1] = m[1][4 + c];
        v[c][0] = m[2][4 + c];
        v[c][1] = m[3][4 + c];
    }
    return rank;
}

// Normal, gap and misfit of two elements.
static void measurePair(const tpSmoothBody* a, const tpSmoothBody* b, tpElementPair* pair) {
    tpVec3 d = tpSub(pair->a.point, pair->b.point);
    tpVec3 n = tpNormalize(tpSub(pair->b.normal, pair->a.normal));
    pair->normal = n;
    pair->gap = tpDot(n, d);
    tpVec3 aside = tpMulAdd(d, -pair->gap, n);
    pair->misfit = tpLength(aside) + fmax(a->core.size, b->core.size) *
                                         tpLength(tpAdd(pair->a.normal, pair->b.normal));
}

void tpStartPair(tpSmoothBody* a, tpSmoothBody* b, tpVec3 localA, tpVec3 localB, tpVec3 normal,
                 tpElementPair* pair) {
    tpBodyElement(a, localA, tpNeg(normal), &pair->a);
    tpBodyElement(b, localB, normal, &pair->b);
    measurePair(a, b, pair);
}

static tpVec3 tangential(const double form[3], const double u[2], tpVec3 t, tpVec3 o) {
    return tpAdd(tpScale(form[0] * u[0] + form[1] * u[1], t),
                 tpScale(form[1] * u[0] + form[2] * u[1], o));
}

static double lengthOf(const double u[2]) {
    return sqrt(u[0] * u[0] + u[1] * u[1]);
}

static void moveElement(tpSmoothBody* body, tpVec3 dPoint, tpVec3 dNormal, tpElement* element) {
    tpBodyElement(body, tpAdd(element->local, tpMulMTV(body->rotation, dPoint)),
                  tpAdd(element->normal, dNormal), element);
}

// One step: solve, shorten what is too long for a linear model, and return to the bodies.
// Everything is measured against the normal of B, for that is the one whose change the system
// knows. The shortest way to solve loses some digits where sizes differ much.
static void step(tpSmoothBody* a, tpSmoothBody* b, bool isRough, tpElementPair* pair) {
    tpVec3 t, o, n = pair->b.normal;
    tpMakeTangents(n, &t, &o);
    tpVec3 sum = tpAdd(pair->a.normal, n), d = tpSub(pair->a.point, pair->b.point);
    tpPairSystem system;
    tpFillPairSystem(&pair->a.curvature, &pair->b.curvature, a->core.size, b->core.size,
                     tpDot(n, d), t, o, &system);
    double turn[1][2] = { { -tpDot(sum, t), -tpDot(sum, o) } };
    double shift[1][2] = { { -tpDot(d, t), -tpDot(d, o) } };
    double u[1][2], v[1][2];
    bool isSolved =
        isRough ? solveTwoRows(&system, a->core.size, b->core.size, turn[0], shift[0], u[0], v[0])
                : solveBent(&system, turn[0], shift[0], u[0], v[0]);
    if (!isSolved) {
        tpSolvePairSystem(&system, 1, turn, shift, u, v);
    }
    double length = fmax(lengthOf(u[0]) / a->core.size, lengthOf(v[0]) / b->core.size);
    double shorten = length > 0.7 ? 0.7 / length : 1.0;
    u[0][0] *= shorten;
    u[0][1] *= shorten;
    v[0][0] *= shorten;
    v[0][1] *= shorten;
    moveElement(a, tangential(system.P[0], u[0], t, o), tangential(system.Q[0], u[0], t, o),
                &pair->a);
    moveElement(b, tangential(system.P[1], v[0], t, o), tangential(system.Q[1], v[0], t, o),
                &pair->b);
    measurePair(a, b, pair);
}

bool tpPolish(tpSmoothBody* a, tpSmoothBody* b, int limit, double roughness, tpElementPair* pair,
              int* iterations) {
    double scale = a->core.size + b->core.size + fabs(pair->gap), previous = INFINITY;
    double floor = fmax(4e-16 * scale, roughness * (a->core.size + b->core.size));
    tpElementPair best = *pair;
    for (int k = 0; k < 20 && best.misfit > floor; ++k) {
        // A start that has not come close by then was a bad one.
        if (k >= limit && best.misfit > 1e-3 * scale) {
            break;
        }
        // If the misfit is small and no longer falls, rounding has the word.
        if (best.misfit <= 1e-13 * scale && pair->misfit > 0.25 * previous) {
            break;
        }
        previous = pair->misfit;
        step(a, b, roughness > 0.0, pair);
        *iterations += 1;
        if (!isfinite(pair->misfit)) {
            break;
        }
        if (pair->misfit < best.misfit) {
            best = *pair;
        }
    }
    *pair = best;
    return best.misfit <= fmax(1e-9 * scale, floor);
}
