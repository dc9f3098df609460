// Vectors, 3x3 matrices and quaternions: the operations too long to be inline.

#include "base/assert.h"
#include "math/elementary.h"
#include "tippe/math.h"

tpVec3 tpNormalize(tpVec3 a) {
    // Within these bounds no square overflows or vanishes, and the way below gives the same bits.
    double square = tpLengthSquared(a);
    if (square > 1e-200 && square < 1e200) {
        return tpScale(1.0 / sqrt(square), a);
    }
    double largest = tpMaxPart(tpAbsVec3(a));
    if (!(largest > 0.0)) {
        return tpZeroVec3();
    }
    // Scaled by a power of two, the squares neither overflow nor vanish.
    int exponent;
    frexp(largest, &exponent);
    tpVec3 scaled = tpMakeVec3(ldexp(a.x, -exponent), ldexp(a.y, -exponent), ldexp(a.z, -exponent));
    return tpScale(1.0 / tpLength(scaled), scaled);
}

void tpMakeTangents(tpVec3 n, tpVec3* t, tpVec3* o) {
    TP_NEED(t, );
    TP_NEED(o, );
    // Continuous but for n = -z, and without a division that could vanish: [Duff17].
    double sign = copysign(1.0, n.z);
    double a = -1.0 / (sign + n.z);
    double b = n.x * n.y * a;
    *t = tpMakeVec3(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    *o = tpMakeVec3(b, sign + n.y * n.y * a, -n.y);
}

tpMat33 tpInvert(tpMat33 m) {
    tpVec3 yz = tpCross(m.cy, m.cz);
    tpVec3 zx = tpCross(m.cz, m.cx);
    tpVec3 xy = tpCross(m.cx, m.cy);
    double determinant = tpDot(m.cx, yz);
    if (determinant == 0.0) {
        return tpZeroMat33();
    }
    double inverse = 1.0 / determinant;
    return tpTranspose(
        tpMakeMat33(tpScale(inverse, yz), tpScale(inverse, zx), tpScale(inverse, xy)));
}

bool tpSolve33(tpMat33 m, tpVec3 b, tpVec3* x) {
    double a[3][4] = { { m.cx.x, m.cy.x, m.cz.x, b.x },
                       { m.cx.y, m.cy.y, m.cz.y, b.y },
                       { m.cx.z, m.cy.z, m.cz.z, b.z } };
    int column[3] = { 0, 1, 2 };
    for (int k = 0; k < 3; ++k) {
        // Largest entry of what is left, rows and columns.
        int pivotRow = k, pivotColumn = k;
        for (int i = k; i < 3; ++i) {
            for (int j = k; j < 3; ++j) {
                if (fabs(a[i][j]) > fabs(a[pivotRow][pivotColumn])) {
                    pivotRow = i;
                    pivotColumn = j;
                }
            }
        }
        if (!(fabs(a[pivotRow][pivotColumn]) > 0.0)) {
            return false;
        }
        for (int j = 0; j < 4; ++j) {
            double swap = a[k][j];
            a[k][j] = a[pivotRow][j];
            a[pivotRow][j] = swap;
        }
        for (int i = 0; i < 3; ++i) {
            double swap = a[i][k];
            a[i][k] = a[i][pivotColumn];
            a[i][pivotColumn] = swap;
        }
        int swap = column[k];
        column[k] = column[pivotColumn];
        column[pivotColumn] = swap;
        for (int i = k + 1; i < 3; ++i) {
            double factor = a[i][k] / a[k][k];
            for (int j = k; j < 4; ++j) {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    double solution[3];
    for (int k = 2; k >= 0; --k) {
        double sum = a[k][3];
        for (int j = k + 1; j < 3; ++j) {
            sum -= a[k][j] * solution[column[j]];
        }
        solution[column[k]] = sum / a[k][k];
    }
    *x = tpMakeVec3(solution[0], solution[1], solution[2]);
    return tpIsFiniteVec3(*x);
}

// One Jacobi rotation in the plane (p, q) of the symmetric matrix a, gathered in v.
static void jacobiRotate(double a[3][3], double v[3][3], int p, int q) {
    if (a[p][q] == 0.0) {
        return;
    }
    double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    double t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1.0));
    double c = 1.0 / sqrt(t * t + 1.0);
    double s = t * c;
    for (int k = 0; k < 3; ++k) {
        double kp = a[k][p], kq = a[k][q];
        a[k][p] = c * kp - s * kq;
        a[k][q] = s * kp + c * kq;
    }
    for (int k = 0; k < 3; ++k) {
        double pk = a[p][k], qk = a[q][k];
        a[p][k] = c * pk - s * qk;
        a[q][k] = s * pk + c * qk;
        double vp = v[k][p], vq = v[k][q];
        v[k][p] = c * vp - s * vq;
        v[k][q] = s * vp + c * vq;
    }
    a[p][q] = a[q][p] = 0.0;
}

void tpEigenSymmetric(tpMat33 m, tpVec3* values, tpMat33* vectors) {
    TP_NEED(values, );
    TP_NEED(vectors, );
    double a[3][3] = { { m.cx.x, m.cy.x, m.cz.x },
                       { m.cy.x, m.cy.y, m.cz.y },
                       { m.cz.x, m.cz.y, m.cz.z } };
    double v[3][3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
    // Convergence is quadratic: six sweeps are plenty, and a diagonal matrix stays untouched.
    for (int sweep = 0; sweep < 12; ++sweep) {
        double size = fabs(a[0][0]) + fabs(a[1][1]) + fabs(a[2][2]);
        double rest = fabs(a[0][1]) + fabs(a[0][2]) + fabs(a[1][2]);
        if (!(rest > 1e-300 + 1e-20 * size)) {
            break;
        }
        jacobiRotate(a, v, 0, 1);
        jacobiRotate(a, v, 0, 2);
        jacobiRotate(a, v, 1, 2);
    }
    int order[3] = { 0, 1, 2 };
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2 - i; ++j) {
            if (a[order[j]][order[j]] > a[order[j + 1]][order[j + 1]]) {
                int swap = order[j];
                order[j] = order[j + 1];
                order[j + 1] = swap;
            }
        }
    }
    *values = tpMakeVec3(a[order[0]][order[0]], a[order[1]][order[1]], a[order[2]][order[2]]);
    tpVec3 columns[3];
    for (int k = 0; k < 3; ++k) {
        columns[k] = tpMakeVec3(v[0][order[k]], v[1][order[k]], v[2][order[k]]);
    }
    columns[2] =
        tpDot(tpCross(columns[0], columns[1]), columns[2]) < 0.0 ? tpNeg(columns[2]) : columns[2];
    *vectors = tpMakeMat33(columns[0], columns[1], columns[2]);
}

tpQuat tpNormalizeQuat(tpQuat q) {
    double length = sqrt(tpDotQQ(q, q));
    if (!(length > 0.0)) {
        return tpIdentityQuat();
    }
    double s = 1.0 / length;
    return tpMakeQuat(s * q.w, s * q.x, s * q.y, s * q.z);
}

tpQuat tpQuatExp(tpVec3 a) {
    double half = 0.5 * tpLength(a), sine, cosine;
    tpSinCos(half, &sine, &cosine);
    // sin(x)/x by its series where the quotient would lose digits.
    double factor = half > 1e-4 ? 0.5 * sine / half : 0.5 - half * half / 12.0;
    return tpMakeQuat(cosine, factor * a.x, factor * a.y, factor * a.z);
}

tpVec3 tpQuatLog(tpQuat q) {
    if (q.w < 0.0) {
        q = tpMakeQuat(-q.w, -q.x, -q.y, -q.z);
    }
    tpVec3 u = tpMakeVec3(q.x, q.y, q.z);
    double sine = tpLength(u);
    double factor = sine > 1e-8 ? 2.0 * tpAtan2(sine, q.w) / sine : 2.0 / q.w;
    return tpScale(factor, u);
}

tpQuat tpQuatFromAxisAngle(tpVec3 axis, double radians) {
    tpVec3 u = tpNormalize(axis);
    double sine, cosine;
    tpSinCos(0.5 * radians, &sine, &cosine);
    return tpMakeQuat(cosine, sine * u.x, sine * u.y, sine * u.z);
}

tpQuat tpQuatFromMat(tpMat33 m) {
    // The largest of the four squares is at least 1/4, so its root divides safely [Shepperd78].
    double ww = 1.0 + m.cx.x + m.cy.y + m.cz.z;
    double xx = 1.0 + m.cx.x - m.cy.y - m.cz.z;
    double yy = 1.0 - m.cx.x + m.cy.y - m.cz.z;
    double zz = 1.0 - m.cx.x - m.cy.y + m.cz.z;
    tpQuat q;
    if (ww >= xx && ww >= yy && ww >= zz) {
        q = tpMakeQuat(ww, m.cy.z - m.cz.y, m.cz.x - m.cx.z, m.cx.y - m.cy.x);
    } else if (xx >= yy && xx >= zz) {
        q = tpMakeQuat(m.cy.z - m.cz.y, xx, m.cx.y + m.cy.x, m.cz.x + m.cx.z);
    } else if (yy >= zz) {
        q = tpMakeQuat(m.cz.x - m.cx.z, m.cx.y + m.cy.x, yy, m.cy.z + m.cz.y);
    } else {
        q = tpMakeQuat(m.cx.y - m.cy.x, m.cz.x + m.cx.z, m.cy.z + m.cz.y, zz);
    }
    return tpNormalizeQuat(q);
}

tpQuat tpQuatBetween(tpVec3 a, tpVec3 b) {
    double c = tpDot(a, b);
    if (c < -0.999999) {
        // Nearly opposite: half a turn about a perpendicular, then the small rest.
        tpVec3 t, o;
        tpMakeTangents(a, &t, &o);
        tpQuat half = tpMakeQuat(0.0, t.x, t.y, t.z);
        return tpMulQQ(tpQuatBetween(tpNeg(a), b), half);
    }
    tpVec3 axis = tpCross(a, b);
    return tpNormalizeQuat(tpMakeQuat(1.0 + c, axis.x, axis.y, axis.z));
}
