// Searching convex bodies given by inequalities alone: points inside, farthest points, and lines.
//
// Inside and farthest points by the ellipsoid method with deep cuts [Bland81]: an ellipsoid that
// holds the answer is cut through its centre by a half space that holds it too, and replaced by the
// smallest ellipsoid around what is left. In three dimensions a cut takes at least a ninth of the
// volume, whatever the body; no step lengths, no derivatives beyond the first, no starting point
// needed.

#include "base/assert.h"
#include "geometry/shape_parts.h"

typedef struct Ellipsoid {
    tpVec3 center;
    tpMat33 matrix; // the ellipsoid is (x - c)^T matrix^-1 (x - c) <= 1
} Ellipsoid;

static Ellipsoid ballAround(tpBounds bounds) {
    double radius = 0.5 * tpDistanceBetween(bounds.lower, bounds.upper);
    double square = radius * radius;
    Ellipsoid ball = { tpScale(0.5, tpAdd(bounds.lower, bounds.upper)),
                       tpDiagonal(tpMakeVec3(square, square, square)) };
    return ball;
}

// Half the width of the ellipsoid along `a`, times the length of a.
static double halfWidth(const Ellipsoid* e, tpVec3 a) {
    return sqrt(fmax(0.0, tpDot(a, tpMulMV(e->matrix, a))));
}

// Keeps the part where a . (x - center) + height <= 0, height >= 0. False if there is none.
static bool cut(Ellipsoid* e, tpVec3 a, double height) {
    enum { n = 3 };
    double width = halfWidth(e, a);
    if (!(width > 0.0) || height > width) {
        return false;
    }
    double depth = height / width;
    tpVec3 b = tpScale(1.0 / width, tpMulMV(e->matrix, a));
    double shift = (1.0 + n * depth) / (n + 1.0);
    double shrink = 2.0 * (1.0 + n * depth) / ((n + 1.0) * (1.0 + depth));
    double grow = (double)(n * n) / (n * n - 1.0) * (1.0 - depth * depth);
    e->center = tpMulAdd(e->center, -shift, b);
    e->matrix = tpScaleM(grow, tpAddMM(e->matrix, tpScaleM(-shrink, tpOuter(b, b))));
    return true;
}

enum { cutLimit = 2000 };

static tpVec3 interiorWithin(const tpGeometry* geometry, tpBounds bounds, double* value) {
    Ellipsoid e = ballAround(bounds);
    double size = tpDistanceBetween(bounds.lower, bounds.upper);
    tpVec3 best = e.center;
    *value = HUGE_VAL;
    for (int i = 0; i < cutLimit; ++i) {
        int k;
        double f = tpSurfaceMaximum(geometry, e.center, &k);
        if (f < *value) {
            *value = f;
            best = e.center;
        }
        tpVec3 gradient;
        tpSurfaceValue(geometry, k, e.center, &gradient, NULL);
        // Within a twentieth of the deepest point is well inside.
        double gap = halfWidth(&e, gradient);
        if ((*value < 0.0 && gap < -0.05 * *value) || gap < 1e-13 * size ||
            !cut(&e, gradient, f - *value)) {
            break;
        }
    }
    return best;
}

tpVec3 tpInteriorPoint(const tpGeometry* geometry, double* value) {
    tpBounds bounds = tpClassOf(geometry)->bounds(geometry, tpIdentityPose());
    return interiorWithin(geometry, bounds, value);
}

tpVec3 tpSupportBySearch(const tpGeometry* geometry, tpBounds bounds, tpVec3 direction) {
    tpVec3 up = tpNormalize(direction);
    double size = tpDistanceBetween(bounds.lower, bounds.upper);
    double inside;
    tpVec3 best = interiorWithin(geometry, bounds, &inside);
    Ellipsoid e = ballAround(bounds);
    for (int i = 0; i < cutLimit && halfWidth(&e, up) > 1e-13 * size; ++i) {
        int k;
        double f = tpSurfaceMaximum(geometry, e.center, &k);
        bool more;
        if (f > 0.0) {
            tpVec3 gradient;
            tpSurfaceValue(geometry, k, e.center, &gradient, NULL);
            more = cut(&e, gradient, f);
        } else {
            double rise = tpDot(up, tpSub(e.center, best));
            if (rise > 0.0) {
                best = e.center;
            }
            more = cut(&e, tpNeg(up), fmax(-rise, 0.0));
        }
        if (!more) {
            break;
        }
    }
    return best;
}

// Lines ---------------------------------------------------------------------------------------

// The single inequality along a line, and its derivative.
static double alongLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction, double t,
                        double* rate) {
    tpVec3 gradient;
    double f = tpSurfaceValue(geometry, 0, tpMulAdd(origin, t, direction), &gradient, NULL);
    *rate = tpDot(gradient, direction);
    return f;
}

// Some t in [low, high] where the convex function is negative, by bisecting its derivative. False
// if its minimum is not.
static bool findInside(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction, double low,
                       double high, double* inside) {
    for (int i = 0; i < 200; ++i) {
        double t = 0.5 * (low + high), rate;
        double f = alongLine(geometry, origin, direction, t, &rate);
        *inside = t;
        if (f < 0.0) {
            return true;
        }
        // The tangent says whether the function can still become negative on the way down.
        double room = rate > 0.0 ? t - low : high - t;
        if (f > fabs(rate) * room || t == low || t == high) {
            return false;
        }
        if (rate > 0.0) {
            high = t;
        } else {
            low = t;
        }
    }
    return false;
}

// The root between `outside` (f >= 0) and `inside` (f < 0). Newton from outside never passes the
// root of a convex function; where it crawls, as along the flat of a high power, a bisection helps.
static double findRoot(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction, double outside,
                       double inside) {
    double rate, last = HUGE_VAL;
    for (int i = 0; i < 200; ++i) {
        double f = alongLine(geometry, origin, direction, outside, &rate);
        if (f > 0.5 * last) {
            double middle = 0.5 * (outside + inside), ignored;
            double there = alongLine(geometry, origin, direction, middle, &ignored);
            if (middle == outside || middle == inside) {
                break;
            }
            *(there < 0.0 ? &inside : &outside) = middle;
            last = HUGE_VAL;
            continue;
        }
        double t = outside - f / rate;
        if (!(f > 0.0) || t == outside || !((t - outside) * (inside - t) > 0.0)) {
            break;
        }
        outside = t;
        last = f;
    }
    return outside;
}

static tpVec3 normalAt(const tpGeometry* geometry, tpVec3 p) {
    tpVec3 gradient;
    tpSurfaceValue(geometry, 0, p, &gradient, NULL);
    return tpNormalize(gradient);
}

bool tpClipByFunction(const tpGeometry* geometry, tpBounds bounds, tpVec3 origin, tpVec3 direction,
                      tpLineClip* clip) {
    *clip = tpWholeLine();
    const tpVec3 axes[3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
    for (int k = 0; k < 3; ++k) {
        if (!tpClipByPlane(clip, axes[k], tpDot(axes[k], bounds.upper), origin, direction) ||
            !tpClipByPlane(clip, tpNeg(axes[k]), -tpDot(axes[k], bounds.lower), origin,
                           direction)) {
            return false;
        }
    }
    double inside;
    if (!findInside(geometry, origin, direction, clip->enter, clip->leave, &inside)) {
        return false;
    }
    clip->enter = findRoot(geometry, origin, direction, clip->enter, inside);
    clip->leave = findRoot(geometry, origin, direction, clip->leave, inside);
    clip->enterNormal = normalAt(geometry, tpMulAdd(origin, clip->enter, direction));
    clip->leaveNormal = normalAt(geometry, tpMulAdd(origin, clip->leave, direction));
    return true;
}
