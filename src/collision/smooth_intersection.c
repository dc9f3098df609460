// Intersections of convex inequalities [ChakrabortyBerardAkellaTrinkle14, appendix].
//
// The element nearest to a point p and a normal n is that of the projection x of z = p + size n:
//
//     x - z + sum l_k grad f_k(x) = 0,  f_k(x) = 0 and l_k >= 0 for the active k,  f_k(x) <= 0 for all.
//
// At most three inequalities are active at once. Newton's method solves for x and the multipliers of a
// guess of the active ones; a multiplier below zero leaves the guess, the most violated inequality
// enters it, until nothing changes.

#include "collision/smooth_body.h"

#include "geometry/shape.h"
#include "geometry/surface.h"

typedef struct {
    tpVec3 x;
    int active[3];
    double multiplier[3];
    tpVec3 gradient[3];
    tpMat33 hessian[3];
    int count;
} Projection;

static tpVec3 intersectionSupport(tpSmoothBody* body, tpVec3 direction) {
    return tp_shapeClasses[body->geometry->type].support(body->geometry, direction);
}

// Gaussian elimination with partial pivoting of n <= 6 rows with one right-hand side.
static bool solveDense(double m[6][7], int n) {
    for (int c = 0; c < n; ++c) {
        int pivot = c;
        for (int r = c + 1; r < n; ++r) {
            pivot = fabs(m[r][c]) > fabs(m[pivot][c]) ? r : pivot;
        }
        if (!(fabs(m[pivot][c]) > 1e-14)) {
            return false;
        }
        for (int j = 0; j <= n; ++j) {
            double swap = m[c][j];
            m[c][j] = m[pivot][j];
            m[pivot][j] = swap;
        }
        for (int r = 0; r < n; ++r) {
            double factor = r == c ? 0.0 : m[r][c] / m[c][c];
            for (int j = c; j <= n && factor != 0.0; ++j) {
                m[r][j] -= factor * m[c][j];
            }
        }
    }
    for (int c = 0; c < n; ++c) {
        m[c][n] /= m[c][c];
    }
    return true;
}

// One Newton step for the active inequalities; returns its length, or infinity where it has none.
static double newtonStep(const tpSmoothBody* body, tpVec3 z, Projection* p) {
    double m[6][7] = { { 0.0 } };
    int n = 3 + p->count;
    tpVec3 residual = tpSub(p->x, z);
    tpMat33 H = tpIdentityMat33();
    for (int i = 0; i < p->count; ++i) {
        double value =
            tpSurfaceValue(body->geometry, p->active[i], p->x, &p->gradient[i], &p->hessian[i]);
        tpVec3 g = p->gradient[i];
        residual = tpMulAdd(residual, p->multiplier[i], g);
        H = tpAddMM(H, tpScaleM(fmax(p->multiplier[i], 0.0), p->hessian[i]));
        m[0][3 + i] = m[3 + i][0] = g.x;
        m[1][3 + i] = m[3 + i][1] = g.y;
        m[2][3 + i] = m[3 + i][2] = g.z;
        m[3 + i][n] = -value;
    }
    const tpVec3 columns[3] = { H.cx, H.cy, H.cz };
    for (int j = 0; j < 3; ++j) {
        m[0][j] = columns[j].x;
        m[1][j] = columns[j].y;
        m[2][j] = columns[j].z;
    }
    m[0][n] = -residual.x;
    m[1][n] = -residual.y;
    m[2][n] = -residual.z;
    if (!solveDense(m, n)) {
        return INFINITY;
    }
    tpVec3 step = tpMakeVec3(m[0][n], m[1][n], m[2][n]);
    double length = tpLength(step), shorten = length > body->size ? body->size / length : 1.0;
    p->x = tpMulAdd(p->x, shorten, step);
    for (int i = 0; i < p->count; ++i) {
        p->multiplier[i] += shorten * m[3 + i][n];
    }
    return length;
}

static bool convergeActive(const tpSmoothBody* body, tpVec3 z, Projection* p) {
    for (int k = 0; k < 40; ++k) {
        double length = newtonStep(body, z, p);
        if (length <= 2e-15 * body->size) {
            return true;
        }
        if (!isfinite(length)) {
            return false;
        }
    }
    return false;
}

static void dropActive(Projection* p, int i) {
    for (int k = i; k + 1 < p->count; ++k) {
        p->active[k] = p->active[k + 1];
        p->multiplier[k] = p->multiplier[k + 1];
    }
    p->count -= 1;
}

static int mostNegative(const Projection* p) {
    int worst = -1;
    for (int i = 0; i < p->count; ++i) {
        if (p->multiplier[i] < 0.0 && (worst < 0 || p->multiplier[i] < p->multiplier[worst])) {
            worst = i;
        }
    }
    return worst;
}

// Projects z; false where the guesses did not settle.
static bool project(const tpSmoothBody* body, tpVec3 z, tpVec3 start, Projection* p) {
    *p = (Projection){ .x = start };
    for (int k = 0; k < 30; ++k) {
        if (p->count > 0) {
            if (!convergeActive(body, z, p)) {
                return false;
            }
            int negative = mostNegative(p);
            if (negative >= 0) {
                dropActive(p, negative);
                continue;
            }
        } else {
            p->x = z;
        }
        int violated = 0;
        double value = tpSurfaceMaximum(body->geometry, p->x, &violated);
        if (value <= 1e-14 * body->size) {
            return p->count > 0;
        }
        for (int i = 0; i < p->count; ++i) {
            if (p->active[i] == violated) {
                return true;
            }
        }
        if (p->count == 3) {
            // The smallest multiplier matters least.
            int least = p->multiplier[0] <= p->multiplier[1] ? 0 : 1;
            dropActive(p, p->multiplier[2] < p->multiplier[least] ? 2 : least);
        }
        p->active[p->count] = violated;
        p->multiplier[p->count++] = 0.0;
    }
    return false;
}

static tpCurvature curvatureOf(const Projection* p, tpVec3 normal, double length) {
    tpCurvature c = { tpZeroVec3(), INFINITY, INFINITY };
    if (p->count == 1) {
        return tpImplicitCurvature(p->gradient[0], &p->hessian[0]);
    }
    if (p->count == 2) {
        // Along the curve where two surfaces meet, n . x'' = -sum l_k x' . H_k x' with n = sum l_k g_k.
        c.tangent = tpNormalize(tpCross(p->gradient[0], p->gradient[1]));
        c.tangent = tpNormalize(tpMulAdd(c.tangent, -tpDot(c.tangent, normal), normal));
        c.along = 0.0;
        for (int i = 0; i < 2; ++i) {
            c.along +=
                p->multiplier[i] / length * tpDot(c.tangent, tpMulMV(p->hessian[i], c.tangent));
        }
        c.along = fmax(c.along, 0.0);
    }
    return c;
}

static void intersectionElement(tpSmoothBody* body, tpVec3 point, tpVec3 normal, tpElement* out) {
    tpVec3 z = tpMulAdd(point, body->size, normal);
    Projection p;
    if (!project(body, z, point, &p)) {
        out->point = intersectionSupport(body, normal);
        out->normal = tpNormalize(normal);
        out->curvature = (tpCurvature){ tpZeroVec3(), INFINITY, INFINITY };
        return;
    }
    tpVec3 d = tpSub(z, p.x);
    out->point = p.x;
    out->normal = tpNormalize(d);
    out->curvature = curvatureOf(&p, out->normal, tpLength(d));
}

const tpCoreClass tp_intersectionCore = { intersectionSupport, intersectionElement };
