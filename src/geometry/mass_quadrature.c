// Integrals over a convex body from a point inside, along rays: with r(u) the distance to the
// surface in the direction u, the integrals of 1, x and x x^T are those of r^3/3, r^4/4 u and r^5/5
// u u^T over the sphere of directions.
//
// The body is first scaled to a cube-like shape by the sides of its box. The sphere is integrated
// as theta times phi, each by adaptive Gauss-Kronrod panels (7 and 15 points) [Piessens83]. Where
// another inequality takes over, r(u) has a kink: along phi these are found by bisection and become
// ends of panels, and so do the values of theta at which the order of inequalities around the
// circle changes. Next to such a theta the integral can go like the power 3/2 of the distance; the
// substitution x = s^2 (3 - 2s) on each piece makes that a whole power.

#include "base/constants.h"
#include "base/error.h"
#include "geometry/mass.h"
#include "geometry/shape.h"
#include "math/elementary.h"

// Accuracy asked of each panel, relative to the size of the whole. 1e-10 is promised.
static const double outerTolerance = 1e-12, innerTolerance = 1e-13;
// How exactly a kink is found: what it is off by enters squared.
static const double breakTolerance = 1e-8;
enum { sampleCount = 192, breakLimit = 4 * sampleCount, depthLimit = 40, integralCount = 10 };

// The integrals of 1; x, y, z; xx, yy, zz, xy, xz, yz.
typedef struct QuadratureSums {
    double v[integralCount];
} QuadratureSums;

typedef struct Body {
    const tpGeometry* geometry;
    tpVec3 center, scale;
    double theta;    // of the circle that is integrated
    double piece[2]; // of theta
    double volume;   // rough, in scaled space
} Body;

static const double kronrodPoints[8] = {
    0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
    0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
    0.586087235467691130294144691693013, 0.405845151377397166906606412076961,
    0.207784955007898467600689403773245, 0.0
};
static const double kronrodWeights[8] = {
    0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
    0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
    0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
    0.204432940075298892414161999234649, 0.209482141084727828012999174891714
};
static const double gaussWeights[4] = { 0.129484966168869693270611432679082,
                                        0.279705391489276667901467771423780,
                                        0.381830050505118944950369775488975,
                                        0.417959183673469387755102040816327 };

typedef QuadratureSums (*Integrand)(Body* body, double x);
typedef uint64_t (*Signature)(Body* body, double x);

static tpVec3 directionOf(double theta, double phi) {
    double s = tpSin(theta);
    return tpMakeVec3(s * tpCos(phi), s * tpSin(phi), tpCos(theta));
}

// Distance to the surface in scaled space.
static double reach(const Body* body, tpVec3 u) {
    tpLineClip clip;
    tpVec3 direction = tpMulParts(body->scale, u);
    return tpClipLine(body->geometry, body->center, direction, &clip) ? fmax(clip.leave, 0.0) : 0.0;
}

// What lies along one direction, per solid angle.
static QuadratureSums overPhi(Body* body, double phi) {
    tpVec3 u = directionOf(body->theta, phi);
    double r = reach(body, u);
    double r3 = r * r * r / 3.0, r4 = 0.25 * r * r * r * r, r5 = 0.2 * r * r * r * r * r;
    return (QuadratureSums){ { r3, r4 * u.x, r4 * u.y, r4 * u.z, r5 * u.x * u.x, r5 * u.y * u.y,
                               r5 * u.z * u.z, r5 * u.x * u.y, r5 * u.x * u.z, r5 * u.y * u.z } };
}

// Which inequality ends the ray; of a superellipsoid also in which octant, for its powers break at
// the planes between them.
static uint64_t labelAt(Body* body, double phi) {
    tpVec3 u = directionOf(body->theta, phi);
    tpVec3 end = tpMulAdd(body->center, reach(body, u), tpMulParts(body->scale, u));
    int k;
    tpSurfaceMaximum(body->geometry, end, &k);
    uint64_t label = 8 * (uint64_t)k;
    const tpGeometry* owner = tpSurfaceOwner(body->geometry, &k, &end);
    if (owner->type == tp_superellipsoidShape) {
        label += (end.x > 0.0 ? 1u : 0u) + (end.y > 0.0 ? 2u : 0u) + (end.z > 0.0 ? 4u : 0u);
    }
    return label;
}

// A number for the set of changes of label around the circle of one theta.
static uint64_t orderAt(Body* body, double theta) {
    const double full = 2.0 * TP_PI;
    body->theta = theta;
    uint64_t last = labelAt(body, 0.0), order = 0;
    for (int i = 1; i <= sampleCount; ++i) {
        uint64_t label = labelAt(body, full * i / sampleCount);
        if (label != last) {
            order += (last * UINT64_C(0x9e3779b97f4a7c15) ^ label) * UINT64_C(0xbf58476d1ce4e5b9);
        }
        last = label;
    }
    return order != 0 ? order : last + 1; // one label all around
}

// Ends of the pieces of [low, high] on which the signature, as far as samples tell, is the same.
static int findBreaks(Body* body, Signature signature, double low, double high,
                      double breaks[breakLimit + 1]) {
    int count = 0;
    breaks[count++] = low;
    double start = low;
    uint64_t last = signature(body, low);
    for (int i = 1; i <= sampleCount; ++i) {
        double end = low + (high - low) * i / sampleCount;
        uint64_t next = signature(body, end);
        // Several changes between two samples are found one after the other.
        while (next != last && count < breakLimit) {
            double a = start, b = end;
            while (b - a > breakTolerance * (high - low)) {
                double middle = 0.5 * (a + b);
                *(signature(body, middle) == last ? &a : &b) = middle;
            }
            breaks[count++] = start = b;
            last = signature(body, b);
        }
        start = end;
        last = next;
    }
    breaks[count] = high;
    return count;
}

static void addScaled(QuadratureSums* sum, double weight, const QuadratureSums* value) {
    for (int i = 0; i < integralCount; ++i) {
        sum->v[i] += weight * value->v[i];
    }
}

// One panel by 15 points. Its error is far smaller than the difference to the 7-point rule, by the
// rule of thumb of [Piessens83, sec. 3.4.1.1].
static QuadratureSums panel(Body* body, Integrand integrand, double low, double high,
                            double* error) {
    QuadratureSums kronrod = { { 0.0 } }, gauss = { { 0.0 } };
    double middle = 0.5 * (low + high), half = 0.5 * (high - low);
    for (int i = 0; i < 15; ++i) {
        int k = i < 8 ? i : 14 - i;
        double x = middle + (i < 8 ? -half : half) * kronrodPoints[k];
        QuadratureSums value = integrand(body, x);
        addScaled(&kronrod, half * kronrodWeights[k], &value);
        if (k % 2 == 1) {
            addScaled(&gauss, half * gaussWeights[k / 2], &value);
        }
    }
    double difference = 0.0;
    for (int i = 0; i < integralCount; ++i) {
        difference = fmax(difference, fabs(kronrod.v[i] - gauss.v[i]));
    }
    double relative = 200.0 * difference / body->volume;
    *error = body->volume * fmin(relative / 200.0, relative * sqrt(relative));
    return kronrod;
}

// Adaptive bisection, depth first on a stack of right ends. At the depth limit a panel is so narrow
// that its share is below rounding.
static QuadratureSums adapt(Body* body, Integrand integrand, double low, double high,
                            double tolerance) {
    double ends[depthLimit + 1];
    int depth = 0;
    ends[0] = high;
    QuadratureSums sum = { { 0.0 } };
    while (depth >= 0) {
        double error;
        QuadratureSums part = panel(body, integrand, low, ends[depth], &error);
        if (error > tolerance && depth < depthLimit) {
            ends[depth + 1] = 0.5 * (low + ends[depth]);
            ++depth;
            continue;
        }
        addScaled(&sum, 1.0, &part);
        low = ends[depth--];
    }
    return sum;
}

static QuadratureSums integratePieces(Body* body, Integrand integrand, const double* breaks,
                                      int count, double tolerance) {
    QuadratureSums sum = { { 0.0 } };
    for (int i = 0; i < count; ++i) {
        QuadratureSums part = adapt(body, integrand, breaks[i], breaks[i + 1], tolerance);
        addScaled(&sum, 1.0, &part);
    }
    return sum;
}

// The whole circle of one theta. A smooth one is cut in four.
static QuadratureSums overTheta(Body* body, double theta) {
    const double full = 2.0 * TP_PI;
    body->theta = theta;
    double breaks[breakLimit + 1];
    int count = findBreaks(body, labelAt, 0.0, full, breaks);
    if (count == 1) {
        for (int i = 0; i <= 4; ++i) {
            breaks[i] = 0.25 * full * i;
        }
        count = 4;
    }
    QuadratureSums sum =
        integratePieces(body, overPhi, breaks, count, innerTolerance * body->volume);
    QuadratureSums weighted = { { 0.0 } };
    addScaled(&weighted, tpSin(theta), &sum);
    return weighted;
}

// The substitution on one piece of theta.
static QuadratureSums overPiece(Body* body, double s) {
    double width = body->piece[1] - body->piece[0];
    QuadratureSums value = overTheta(body, body->piece[0] + width * s * s * (3.0 - 2.0 * s));
    QuadratureSums weighted = { { 0.0 } };
    addScaled(&weighted, 6.0 * s * (1.0 - s) * width, &value);
    return weighted;
}

static QuadratureSums overSphere(Body* body) {
    double breaks[breakLimit + 1];
    int count = findBreaks(body, orderAt, 0.0, TP_PI, breaks);
    QuadratureSums sum = { { 0.0 } };
    for (int i = 0; i < count; ++i) {
        body->piece[0] = breaks[i];
        body->piece[1] = breaks[i + 1];
        QuadratureSums part = adapt(body, overPiece, 0.0, 1.0, outerTolerance * body->volume);
        addScaled(&sum, 1.0, &part);
    }
    return sum;
}

// A plain product rule: enough to say what the integrals are small against.
static double roughVolume(Body* body) {
    enum { n = 12 };
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        body->theta = TP_PI * (i + 0.5) / n;
        for (int j = 0; j < 2 * n; ++j) {
            sum += tpSin(body->theta) * overPhi(body, TP_PI * (j + 0.5) / n).v[0];
        }
    }
    return sum * (TP_PI / n) * (TP_PI / n);
}

static tpMassProperties unscale(const Body* body, const QuadratureSums* sum) {
    tpVec3 s = body->scale;
    double jacobian = s.x * s.y * s.z;
    double volume = jacobian * sum->v[0];
    tpVec3 c =
        tpScale(1.0 / sum->v[0], tpMakeVec3(s.x * sum->v[1], s.y * sum->v[2], s.z * sum->v[3]));
    double xx = jacobian * s.x * s.x * sum->v[4] - volume * c.x * c.x;
    double yy = jacobian * s.y * s.y * sum->v[5] - volume * c.y * c.y;
    double zz = jacobian * s.z * s.z * sum->v[6] - volume * c.z * c.z;
    double xy = jacobian * s.x * s.y * sum->v[7] - volume * c.x * c.y;
    double xz = jacobian * s.x * s.z * sum->v[8] - volume * c.x * c.z;
    double yz = jacobian * s.y * s.z * sum->v[9] - volume * c.y * c.z;
    tpMassProperties properties;
    properties.mass = volume;
    properties.center = tpAdd(body->center, c);
    properties.inertia = tpMakeMat33(tpMakeVec3(yy + zz, -xy, -xz), tpMakeVec3(-xy, xx + zz, -yz),
                                     tpMakeVec3(-xz, -yz, xx + yy));
    return properties;
}

tpResult tpIntegrateConvex(const tpGeometry* geometry, tpVec3 interior, tpMassProperties* out,
                           tpError* error) {
    tpBounds bounds = tpClassOf(geometry)->bounds(geometry, tpIdentityPose());
    Body body = { 0 };
    body.geometry = geometry;
    body.center = interior;
    body.scale = tpScale(0.5, tpSub(bounds.upper, bounds.lower));
    body.volume = roughVolume(&body);
    QuadratureSums sum = overSphere(&body);
    if (!(sum.v[0] > 0.0)) {
        return tpError_Set(error, tp_badInput, "the shape has no volume");
    }
    *out = unscale(&body, &sum);
    return tp_success;
}
