// Time of impact of two bodies in ballistic flight, by conservative advancement.
//
// Two shapes apart by d along n stay apart at least until
//
//     d + n . (v_A - v_B) t + 1/2 n . (g_A - g_B) t^2 - (r_A w_A + r_B w_B) t = 0:
//
// the slab between them moves with the centres of mass, and turning eats into it no faster than the
// largest radius times a bound w on the angular speed. This is the lower bound that
// [MirtichCanny94, sec. 3.1] asks for; in free flight |L| / I_min and sqrt(2 T / I_min) bound the
// angular speed for all time, so none on angular accelerations is needed. Advancing by the bound
// and asking the distance again converges to the first touch from before it.
//
// Balls turn without moving their surface, so the radius is that of the core. About a fixed axis
// the speed along n is at most r |w x n|.

#include "collision/time_of_impact.h"
#include "base/assert.h"
#include "collision/contact.h"
#include "geometry/shape.h"

tpPose tpBodyPath_PoseAt(const tpBodyPath* path, double time) {
    TP_NEED(path, (tpPose){ 0 });
    tpPose pose;
    tpVec3 shift =
        tpAdd(tpScale(time, path->velocity), tpScale(0.5 * time * time, path->acceleration));
    pose.position = tpAdd(path->pose.position, shift);
    if (path->rotationAt != NULL) {
        pose.rotation = path->rotationAt(path->context, time);
    } else {
        pose.rotation =
            tpMulQQ(tpQuatExp(tpScale(time, path->angularVelocity)), path->pose.rotation);
    }
    return pose;
}

// How fast turning can move a surface against the direction n, at most.
static double turningSpeed(const tpBodyPath* path, tpVec3 n, double radius) {
    if (path->rotationAt != NULL) {
        return path->spinBound > 0.0 ? path->spinBound * radius : 0.0;
    }
    double spin = tpLength(tpCross(path->angularVelocity, n));
    return spin > 0.0 ? spin * radius : 0.0;
}

// What the bound needs to know of a pair, whatever the time.
typedef struct {
    const tpBodyPath *a, *b;
    double radiusA, radiusB;
} PathPair;

static PathPair makeFlight(const tpGeometry* a, const tpBodyPath* pathA, const tpGeometry* b,
                           const tpBodyPath* pathB) {
    PathPair flight = { pathA, pathB, tpGeometry_TurningRadius(a), tpGeometry_TurningRadius(b) };
    return flight;
}

// An infinite shape that turns: only what comes near the other one counts.
static double reach(const PathPair* f, double time, double duration, double otherRadius) {
    tpVec3 apart =
        tpSub(tpBodyPath_PoseAt(f->a, time).position, tpBodyPath_PoseAt(f->b, time).position);
    tpVec3 acceleration = tpSub(f->a->acceleration, f->b->acceleration);
    tpVec3 velocity = tpMulAdd(tpSub(f->a->velocity, f->b->velocity), time, acceleration);
    double growth = duration * (tpLength(velocity) + 0.5 * duration * tpLength(acceleration));
    return tpLength(apart) + growth + otherRadius;
}

double tpFirstRoot(double d, double s, double c) {
    double discriminant = s * s - 2.0 * c * d;
    if (discriminant < 0.0) {
        return INFINITY;
    }
    // Both roots without cancellation: their product is 2 d / c.
    double q = -(s + copysign(sqrt(discriminant), s));
    double first = q != 0.0 ? 2.0 * d / q : INFINITY;
    double second = c != 0.0 ? q / c : INFINITY;
    first = first > 0.0 ? first : INFINITY;
    second = second > 0.0 ? second : INFINITY;
    return fmin(first, second);
}

// How long after `time` the pair stays apart at least; INFINITY for all of the duration.
static double boundAfter(const PathPair* f, double time, double distance, tpVec3 n,
                         double duration) {
    tpVec3 acceleration = tpSub(f->a->acceleration, f->b->acceleration);
    tpVec3 velocity = tpMulAdd(tpSub(f->a->velocity, f->b->velocity), time, acceleration);
    double radiusA = f->radiusA, radiusB = f->radiusB;
    if (isinf(radiusA)) {
        radiusA = reach(f, time, duration - time, radiusB);
    }
    if (isinf(radiusB)) {
        radiusB = reach(f, time, duration - time, radiusA);
    }
    double turning = turningSpeed(f->a, n, radiusA) + turningSpeed(f->b, n, radiusB);
    double dt = tpFirstRoot(distance, tpDot(n, velocity) - turning, tpDot(n, acceleration));
    return time + dt < duration ? dt : INFINITY;
}

double tpImpactBound(const tpGeometry* a, const tpBodyPath* pathA, const tpGeometry* b,
                     const tpBodyPath* pathB, double distance, tpVec3 normal, double duration) {
    TP_NEED(a, 0.0);
    TP_NEED(pathA, 0.0);
    TP_NEED(b, 0.0);
    TP_NEED(pathB, 0.0);
    if (!(distance > 0.0)) {
        return 0.0;
    }
    PathPair flight = makeFlight(a, pathA, b, pathB);
    return boundAfter(&flight, 0.0, distance, normal, duration);
}

tpResult tpTimeOfImpact(const tpGeometry* a, const tpBodyPath* pathA, const tpGeometry* b,
                        const tpBodyPath* pathB, double duration, double tolerance, int queryLimit,
                        tpPairCache* cache, tpFirstTouch* out) {
    TP_NEED(a, tp_badInput);
    TP_NEED(pathA, tp_badInput);
    TP_NEED(b, tp_badInput);
    TP_NEED(pathB, tp_badInput);
    TP_NEED(out, tp_badInput);
    PathPair flight = makeFlight(a, pathA, b, pathB);
    tpPairCache own = { { 0 } };
    cache = cache != NULL ? cache : &own;
    int limit = queryLimit > 0 ? queryLimit : 10000;
    *out = (tpFirstTouch){ .state = tp_impactUnclear };
    double next = 0.0;
    bool isLast = false;
    while (out->queryCount < limit) {
        tpResult result = tpClosestPoints(a, tpBodyPath_PoseAt(pathA, next), b,
                                          tpBodyPath_PoseAt(pathB, next), cache, &out->closest);
        if (result != tp_success && result != tp_notSolved) {
            return result;
        }
        out->queryCount += 1;
        out->time = next;
        if (out->closest.distance <= tolerance) {
            out->state = out->queryCount == 1 ? tp_startTouching : tp_impact;
            return tp_success;
        }
        if (isLast) {
            out->state = tp_noImpact;
            return tp_success;
        }
        double dt = boundAfter(&flight, next, out->closest.distance, out->closest.normal, duration);
        isLast = isinf(dt);
        next = isLast ? duration : next + dt;
        // Steps below the resolution of the clock cannot go on.
        if (!(next > out->time) && !isLast) {
            return tp_success;
        }
    }
    return tp_success;
}

tpResult tpCastShape(const tpGeometry* a, tpPose bodyA, tpVec3 translation, const tpGeometry* b,
                     tpPose bodyB, double tolerance, tpPairCache* cache, tpShapeHit* out) {
    TP_NEED(a, tp_badInput);
    TP_NEED(b, tp_badInput);
    TP_NEED(out, tp_badInput);
    tpBodyPath moving = { .pose = bodyA, .velocity = translation };
    tpBodyPath still = { .pose = bodyB };
    tpFirstTouch impact;
    tpResult result = tpTimeOfImpact(a, &moving, b, &still, 1.0, tolerance, 0, cache, &impact);
    if (result != tp_success) {
        return result;
    }
    out->isHit = impact.state != tp_noImpact;
    out->startsTouching = impact.state == tp_startTouching;
    out->fraction = impact.time;
    out->closest = impact.closest;
    return impact.state == tp_impactUnclear ? tp_notSolved : tp_success;
}
