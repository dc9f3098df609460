// The path of a wide impact, as impact.c follows that of a plain one.
//
// Slip is followed in the variable s of ds = dp_z / |y|, in which
//
//     dy/ds = w |y| - mu T y,   |y|^2 = y . y
//
// has no singularity where slip stops, by Taylor series. Where the direction of y no longer turns
// the rest is a straight line; at rest the impact sticks if the friction ball holds the impulse
// that this takes, else it leaves along the one direction d with w - mu T d = g d, g > 0. That it
// is one follows as in impact_directions.c: |(mu T + g)^-1 w| falls with g in any dimension.

#include "dynamics/wide_impact.h"

#include <string.h>

#include "dynamics/impact_path.h"
#include "dynamics/impact_polynomial.h"

enum { tangents = TP_WIDE - 1, order = 16, maxSteps = 2000 };

// A step's part of the radius of convergence that the last terms show.
static const double fraction = 0.12;

// A direction that turns by less than this for each unit of growth is a straight line; slips below
// the second part of the impact's velocities are none.
static const double straightTurn = 1e-13, stopPart = 1e-15;

typedef struct tpWidePath {
    const tpWideImpact* impact;
    double y[tangents], uz;
    double p[tangents], pz;
    double work, scale; // of the normal impulse; the largest velocity
} tpWidePath;

bool tpContactLaw_IsWide(const tpContactLaw* law) {
    return law->mu > 0.0 && (law->arm > 0.0 || law->ellipse[0] != 1.0 || law->ellipse[1] != 1.0);
}

// What an impulse and a moment at the contact do to a body's velocities there, and how much of that
// is along each component.
static void addBody(const tpImpactBody* body, double sign, tpWideImpact* impact) {
    for (int k = 0; k < TP_WIDE; ++k) {
        tpVec3 axis = impact->axes[k < 3 ? k : 0];
        tpVec3 force = k < 3 ? tpScale(impact->scales[k], axis) : tpZeroVec3();
        tpVec3 moment = k < 3 ? tpCross(body->arm, force) : tpScale(impact->scales[k], axis);
        tpVec3 spin = tpMulMV(body->inverseInertia, moment);
        tpVec3 velocity = tpMulAdd(tpCross(spin, body->arm), body->inverseMass, force);
        for (int i = 0; i < TP_WIDE; ++i) {
            impact->response[i][k] += impact->scales[i] * (i < 3 ? tpDot(velocity, impact->axes[i])
                                                                 : tpDot(spin, impact->axes[0]));
        }
    }
    tpVec3 u = tpAdd(body->velocity, tpCross(body->angularVelocity, body->arm));
    for (int i = 0; i < 3; ++i) {
        impact->velocity[i] += sign * impact->scales[i] * tpDot(u, impact->axes[i]);
    }
    impact->velocity[3] += sign * impact->scales[3] * tpDot(body->angularVelocity, impact->axes[0]);
}

tpWideImpact tpMakeWideImpact(const tpImpactBody* first, const tpImpactBody* second, tpVec3 normal,
                              const tpContactLaw* law) {
    tpWideImpact impact = { .axes = { normal, law->tangents[0], law->tangents[1] },
                            .scales = { 1.0, law->ellipse[0], law->ellipse[1], law->arm },
                            .friction = law->mu,
                            .law = tp_poissonRestitution };
    addBody(first, 1.0, &impact);
    addBody(second, -1.0, &impact);
    return impact;
}

void tpWideImpact_Change(const tpWideImpact* impact, const double impulse[TP_WIDE],
                         double change[TP_WIDE]) {
    for (int i = 0; i < TP_WIDE; ++i) {
        change[i] = 0.0;
        for (int k = 0; k < TP_WIDE; ++k) {
            change[i] += impact->response[i][k] * impulse[k];
        }
    }
}

tpVec3 tpWideImpact_Force(const tpWideImpact* impact, const double impulse[TP_WIDE]) {
    tpVec3 force = tpScale(impulse[0], impact->axes[0]);
    force = tpMulAdd(force, impact->scales[1] * impulse[1], impact->axes[1]);
    return tpMulAdd(force, impact->scales[2] * impulse[2], impact->axes[2]);
}

double tpWideImpact_Torsion(const tpWideImpact* impact, const double impulse[TP_WIDE]) {
    return impact->scales[3] * impulse[3];
}

// Solves the rows and columns of (factor response + shift) from `first` on by L D L^T; components
// whose pivot vanishes get nothing.
static void solveFrom(const tpWideImpact* impact, int first, double factor, double shift,
                      const double* b, double* x) {
    double m[TP_WIDE][TP_WIDE];
    int n = TP_WIDE - first;
    for (int i = 0; i < n; ++i) {
        double start = factor * impact->response[first + i][first + i] + shift;
        for (int j = 0; j <= i; ++j) {
            m[i][j] = factor * impact->response[first + i][first + j] + (i == j ? shift : 0.0);
            for (int k = 0; k < j; ++k) {
                m[i][j] -= m[i][k] * m[j][k] * m[k][k];
            }
            if (j < i) {
                m[i][j] = m[j][j] > 0.0 ? m[i][j] / m[j][j] : 0.0;
            }
        }
        m[i][i] = m[i][i] > 1e-13 * start ? m[i][i] : 0.0;
        x[i] = b[i];
        for (int k = 0; k < i; ++k) {
            x[i] -= m[i][k] * x[k];
        }
    }
    for (int i = n - 1; i >= 0; --i) {
        x[i] = m[i][i] > 0.0 ? x[i] / m[i][i] : 0.0;
        for (int k = i + 1; k < n; ++k) {
            x[i] -= m[i][i] > 0.0 ? m[k][i] * x[k] : 0.0;
        }
    }
}

void tpWideImpact_ImpulseFor(const tpWideImpact* impact, const double change[TP_WIDE],
                             double impulse[TP_WIDE]) {
    solveFrom(impact, 0, 1.0, 0.0, change, impulse);
}

static double dot(const double* a, const double* b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double length(const double* a) {
    return sqrt(dot(a, a));
}

// The coupling w of a tangent to the normal.
static double coupling(const tpWideImpact* impact, int i) {
    return impact->response[1 + i][0];
}

// T y, a component.
static double along(const tpWideImpact* impact, int i, const double* y) {
    const double* row = impact->response[1 + i] + 1;
    return row[0] * y[0] + row[1] * y[1] + row[2] * y[2];
}

// Goes on with the constant tangential impulse q for each unit of normal impulse.
static tpSlipEnd goStraight(tpWidePath* path, const double* q, tpSlipTarget target) {
    const tpWideImpact* impact = path->impact;
    double rates[tangents], normalRate = impact->response[0][0];
    for (int i = 0; i < tangents; ++i) {
        rates[i] = coupling(impact, i) + along(impact, i, q);
        normalRate += coupling(impact, i) * q[i];
    }
    double s = length(path->y), growth = s > 0.0 ? dot(path->y, rates) / s : 0.0;
    double step = tpStraightLength(path->uz, path->pz, path->work, normalRate, target);
    bool falls = growth < 0.0, stops = falls && s / -growth <= step;
    step = stops ? s / -growth : step;
    if (!isfinite(step)) {
        return tp_slipLost;
    }
    path->work += step * (path->uz + 0.5 * normalRate * step);
    path->uz += step * normalRate;
    path->pz += step;
    for (int i = 0; i < tangents; ++i) {
        path->p[i] += step * q[i];
        // Slip that falls keeps its direction, whatever rounding says where it ends.
        path->y[i] = stops   ? 0.0
                     : falls ? (1.0 + step * growth / s) * path->y[i]
                             : path->y[i] + step * rates[i];
    }
    return stops ? tp_slipStopped : tp_slipReached;
}

// One step of the series, with |y| = 1 at its start.
typedef struct tpWideSeries {
    double y[order + 1][tangents], s[order + 1];
    double uz[order + 2], event[order + 2];
} tpWideSeries;

static void expand(const tpWidePath* path, double s, tpWideSeries* series) {
    const tpWideImpact* impact = path->impact;
    for (int i = 0; i < tangents; ++i) {
        series->y[0][i] = path->y[i] / s;
    }
    series->s[0] = 1.0;
    for (int n = 1; n <= order; ++n) {
        for (int i = 0; i < tangents; ++i) {
            series->y[n][i] =
                tpInverses[n] * (coupling(impact, i) * series->s[n - 1] -
                                 impact->friction * along(impact, i, series->y[n - 1]));
        }
        // The term of order n in s^2 = y . y.
        double sum = 2.0 * dot(series->y[0], series->y[n]);
        for (int k = 1; k < n; ++k) {
            sum += dot(series->y[k], series->y[n - k]) - series->s[k] * series->s[n - k];
        }
        series->s[n] = 0.5 * sum;
    }
    series->uz[0] = path->uz;
    for (int n = 0; n <= order; ++n) {
        double slope = impact->response[0][0] * series->s[n];
        for (int i = 0; i < tangents; ++i) {
            slope -= impact->friction * coupling(impact, i) * series->y[n][i];
        }
        series->uz[n + 1] = s * slope * tpInverses[n + 1];
    }
}

// What the target lacks along the step, negative at its start.
static void expandEvent(const tpWidePath* path, double s, tpSlipTarget target,
                        tpWideSeries* series) {
    double* event = series->event;
    if (target.goal == tp_untilCompressed) {
        memcpy(event, series->uz, sizeof(series->uz));
        return;
    }
    bool isWork = target.goal == tp_untilWork;
    event[0] = (isWork ? path->work : path->pz) - target.value;
    for (int n = 0; n <= order; ++n) {
        double sum = isWork ? 0.0 : series->s[n];
        for (int k = 0; isWork && k <= n; ++k) {
            sum += series->uz[k] * series->s[n - k];
        }
        event[n + 1] = s * sum * tpInverses[n + 1];
    }
}

static double stepLength(const tpWideSeries* series) {
    double last = 0.0;
    for (int n = order - 1; n <= order; ++n) {
        last = fmax(last, fmax(fabs(series->s[n]), length(series->y[n])));
    }
    double root = sqrt(sqrt(sqrt(sqrt(last)))); // of that order
    return root > 0.0 ? fraction / root : INFINITY;
}

static void advance(tpWidePath* path, double s, tpWideSeries* series, double t) {
    tpSlipTarget work = { tp_untilWork, path->work };
    expandEvent(path, s, work, series);
    path->work += tpEvaluate(series->event, order + 1, t);
    path->uz = tpEvaluate(series->uz, order + 1, t);
    double passed = 0.0, y[tangents] = { 0.0 }, sum[tangents] = { 0.0 };
    for (int n = order; n >= 0; --n) {
        passed = passed * t + series->s[n] * tpInverses[n + 1];
        for (int i = 0; i < tangents; ++i) {
            y[i] = y[i] * t + series->y[n][i];
            sum[i] = sum[i] * t + series->y[n][i] * tpInverses[n + 1];
        }
    }
    path->pz += s * t * passed;
    for (int i = 0; i < tangents; ++i) {
        path->p[i] -= path->impact->friction * s * t * sum[i];
        path->y[i] = s * y[i];
    }
}

// Slides until the target or until slip stops.
static tpSlipEnd slide(tpWidePath* path, tpSlipTarget target, int* stepCount) {
    const tpWideImpact* impact = path->impact;
    for (int step = 0; step < maxSteps; ++step) {
        double s = length(path->y), q[tangents], rates[tangents], turn = 0.0, size = 0.0;
        if (s <= stopPart * path->scale) {
            memset(path->y, 0, sizeof(path->y));
            return tp_slipStopped;
        }
        for (int i = 0; i < tangents; ++i) {
            q[i] = -impact->friction * path->y[i] / s;
        }
        double growth = 0.0;
        for (int i = 0; i < tangents; ++i) {
            rates[i] = coupling(impact, i) + along(impact, i, q);
            growth += rates[i] * path->y[i] / s;
            size += fabs(coupling(impact, i)) + fabs(along(impact, i, q));
        }
        for (int i = 0; i < tangents; ++i) {
            turn += fabs(rates[i] - growth * path->y[i] / s);
        }
        if (turn <= straightTurn * size) {
            return goStraight(path, q, target);
        }
        *stepCount += 1;
        tpWideSeries series;
        expand(path, s, &series);
        expandEvent(path, s, target, &series);
        double end = stepLength(&series);
        double top = tpFindTop(series.event, order + 1, end);
        if (tpEvaluate(series.event, order + 1, top) >= 0.0) {
            advance(path, s, &series, tpFindEvent(series.event, order + 1, 0.0, top));
            return tp_slipReached;
        }
        advance(path, s, &series, end);
        if (!isfinite(path->pz)) {
            return tp_slipLost;
        }
    }
    return tp_slipLost;
}

// The direction in which slip leaves rest: |(mu T + g)^-1 w| = 1, by halving in the logarithm of g.
static void findWayOut(const tpWideImpact* impact, const double* w, double* d) {
    double high = length(w), low = 0.0;
    for (int k = 0; k < 200 && high - low > 1e-16 * high; ++k) {
        double middle = 0.5 * (low + high);
        solveFrom(impact, 1, impact->friction, middle, w, d);
        if (length(d) > 1.0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    solveFrom(impact, 1, impact->friction, high, w, d);
    double size = length(d);
    for (int i = 0; i < tangents; ++i) {
        d[i] /= size;
    }
}

// From rest.
static tpSlipEnd leave(tpWidePath* path, tpSlipTarget target) {
    const tpWideImpact* impact = path->impact;
    double w[tangents], q[tangents], negative[tangents];
    for (int i = 0; i < tangents; ++i) {
        w[i] = coupling(impact, i);
        negative[i] = -w[i];
    }
    solveFrom(impact, 1, 1.0, 0.0, negative, q);
    bool sticks = length(q) <= impact->friction;
    if (!sticks) {
        double d[tangents];
        findWayOut(impact, w, d);
        for (int i = 0; i < tangents; ++i) {
            q[i] = -impact->friction * d[i];
        }
    }
    tpSlipEnd end = goStraight(path, q, target);
    if (sticks) {
        memset(path->y, 0, sizeof(path->y));
    }
    return end;
}

static tpSlipTarget restitutionTarget(const tpWideImpact* impact, const tpWidePath* path) {
    double e = impact->restitution;
    return impact->law == tp_poissonRestitution
               ? (tpSlipTarget){ tp_untilImpulse, (1.0 + e) * path->pz }
               : (tpSlipTarget){ tp_untilWork, (1.0 - e * e) * path->work };
}

// Through compression and restitution.
static tpResult follow(tpWidePath* path, tpWideImpactResult* result) {
    const tpWideImpact* impact = path->impact;
    const tpSlipTarget compression = { tp_untilCompressed, 0.0 };
    tpSlipTarget target = compression;
    for (int i = 0; i < 16; ++i) {
        bool isAtRest = length(path->y) <= stopPart * path->scale;
        tpSlipEnd end = isAtRest ? leave(path, target) : slide(path, target, &result->stepCount);
        if (end == tp_slipLost) {
            return tp_notSolved;
        }
        if (end == tp_slipStopped) {
            continue;
        }
        if (target.goal == tp_untilCompressed) {
            result->compressionImpulse = path->pz;
            if (impact->restitution == 0.0) {
                return tp_success;
            }
            target = restitutionTarget(impact, path);
        } else if (path->uz < -1e-12 * path->scale) {
            target = compression; // a jam compresses anew
        } else {
            return tp_success;
        }
    }
    return tp_notSolved;
}

tpResult tpWideImpact_Resolve(const tpWideImpact* impact, tpWideImpactResult* result) {
    memset(result, 0, sizeof(*result));
    tpWidePath path = { .impact = impact, .uz = impact->velocity[0] };
    memcpy(path.y, impact->velocity + 1, sizeof(path.y));
    path.scale = fmax(fabs(path.uz), length(path.y));
    if (!(path.uz < 0.0)) {
        return path.uz >= 0.0 ? tp_success : tp_notSolved;
    }
    if (follow(&path, result) != tp_success || !isfinite(path.pz)) {
        *result = (tpWideImpactResult){ .stepCount = result->stepCount };
        return tp_notSolved;
    }
    result->impulse[0] = path.pz;
    memcpy(result->impulse + 1, path.p, sizeof(path.p));
    double change[TP_WIDE];
    tpWideImpact_Change(impact, result->impulse, change);
    for (int i = 0; i < TP_WIDE; ++i) {
        result->energyLost -= result->impulse[i] * (impact->velocity[i] + 0.5 * change[i]);
    }
    return tp_success;
}
