// One impact with friction [MirtichCanny94, sec. 4]: axes, and the phases in their order.
//
// The path of the relative velocity goes through compression until its normal part is 0, then
// through restitution until the impulse (Poisson) or the work [Stronge90] that the coefficient of
// restitution asks for. On the way it slides, and where it stops sliding it either sticks for good
// or leaves again in the one direction that leads away; both are straight lines.
//
// Deviation from the paper: where a jam leaves the bodies approaching at the end of Poisson's
// restitution, they are compressed anew, instead of being left to penetrate.

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "dynamics/impact_path.h"
#include "math/elementary.h"

tpImpact tpDefaultImpact(void) {
    return (tpImpact){ .normal = { 0.0, 0.0, 1.0 }, .law = tp_poissonRestitution };
}

// I / m - [r] J^-1 [r]
static tpMat33 bodyMatrix(const tpImpactBody* body) {
    tpMat33 cross = tpSkew(body->arm);
    tpMat33 turning = tpMulMM(cross, tpMulMM(body->inverseInertia, tpTranspose(cross)));
    double m = body->inverseMass;
    return tpAddMM(tpDiagonal(tpMakeVec3(m, m, m)), turning);
}

static tpVec3 pointVelocity(const tpImpactBody* body) {
    return tpAdd(body->velocity, tpCross(body->angularVelocity, body->arm));
}

tpImpact tpMakeImpact(const tpImpactBody* first, const tpImpactBody* second, tpVec3 normal) {
    TP_NEED(first, (tpImpact){ 0 });
    tpImpact impact = tpDefaultImpact();
    impact.collisionMatrix = tpAddMM(bodyMatrix(first), bodyMatrix(second));
    impact.velocity = tpSub(pointVelocity(first), pointVelocity(second));
    impact.normal = normal;
    return impact;
}

void tpImpactBody_Apply(tpImpactBody* body, tpVec3 p) {
    TP_NEED(body, );
    tpVec3 turn = tpMulMV(body->inverseInertia, tpCross(body->arm, p));
    body->velocity = tpMulAdd(body->velocity, body->inverseMass, p);
    body->angularVelocity = tpAdd(body->angularVelocity, turn);
}

static bool isFiniteMatrix(tpMat33 m) {
    return tpIsFiniteVec3(m.cx) && tpIsFiniteVec3(m.cy) && tpIsFiniteVec3(m.cz);
}

static bool isWellFormed(const tpImpact* impact) {
    return isFiniteMatrix(impact->collisionMatrix) && tpIsFiniteVec3(impact->velocity) &&
           tpIsFiniteVec3(impact->normal) && fabs(tpLength(impact->normal) - 1.0) <= 1e-9 &&
           isfinite(impact->friction) && impact->friction >= 0.0 && isfinite(impact->restitution) &&
           impact->restitution >= 0.0 &&
           (impact->law == tp_poissonRestitution || impact->law == tp_strongeRestitution);
}

static double largestPart(tpVec3 v) {
    return tpMaxPart(tpAbsVec3(v));
}

// The power of two that brings a number near 1; 0 and what is not finite stay as they are.
static int exponentOf(double value) {
    return value > 0.0 && isfinite(value) ? ilogb(value) : 0;
}

static tpVec3 scalePower(tpVec3 v, int exponent) {
    return tpMakeVec3(ldexp(v.x, exponent), ldexp(v.y, exponent), ldexp(v.z, exponent));
}

// An impact in the axes of its path, and the way back.
typedef struct tpImpactAxes {
    tpVec3 x, y, z;
    int velocityExponent, matrixExponent;
} tpImpactAxes;

// Turns x and y into the principal axes of the symmetric matrix p q / q r, with the larger first.
static void turnToPrincipal(double p, double q, double r, tpImpactAxes* axes, double* a,
                            double* b) {
    double tangent = 0.0;
    if (q != 0.0) {
        double z = (r - p) / (2.0 * q);
        tangent = (z >= 0.0 ? 1.0 : -1.0) / (fabs(z) + tpHypot(1.0, z));
    }
    double c = 1.0 / tpHypot(1.0, tangent), s = tangent * c;
    tpVec3 x = tpSub(tpScale(c, axes->x), tpScale(s, axes->y));
    tpVec3 y = tpAdd(tpScale(s, axes->x), tpScale(c, axes->y));
    *a = p - tangent * q;
    *b = r + tangent * q;
    axes->x = x;
    axes->y = y;
    if (*b > *a) {
        double swap = *a;
        *a = *b;
        *b = swap;
        axes->x = y;
        axes->y = x;
    }
}

// False if the matrix is not positive definite.
static bool makePath(const tpImpact* impact, tpImpactAxes* axes, tpSlip* slip, tpSlipState* state) {
    tpMat33 m = impact->collisionMatrix;
    double largest = fmax(largestPart(m.cx), fmax(largestPart(m.cy), largestPart(m.cz)));
    axes->matrixExponent = exponentOf(largest);
    axes->velocityExponent = exponentOf(largestPart(impact->velocity));
    m.cx = scalePower(m.cx, -axes->matrixExponent);
    m.cy = scalePower(m.cy, -axes->matrixExponent);
    m.cz = scalePower(m.cz, -axes->matrixExponent);
    tpMat33 k = tpScaleM(0.5, tpAddMM(m, tpTranspose(m)));
    tpVec3 u = scalePower(impact->velocity, -axes->velocityExponent);

    axes->z = impact->normal;
    if (axes->z.z == 1.0) {
        axes->x = tpMakeVec3(1.0, 0.0, 0.0);
        axes->y = tpMakeVec3(0.0, 1.0, 0.0);
    } else {
        tpMakeTangents(axes->z, &axes->x, &axes->y);
    }
    tpVec3 kx = tpMulMV(k, axes->x), ky = tpMulMV(k, axes->y), kz = tpMulMV(k, axes->z);
    turnToPrincipal(tpDot(axes->x, kx), tpDot(axes->x, ky), tpDot(axes->y, ky), axes, &slip->a,
                    &slip->b);
    slip->kzz = tpDot(axes->z, kz);
    slip->cx = tpDot(axes->x, kz);
    slip->cy = tpDot(axes->y, kz);
    if (slip->cx < 0.0) {
        slip->cx = -slip->cx;
        axes->x = tpNeg(axes->x);
    }
    if (slip->cy < 0.0) {
        slip->cy = -slip->cy;
        axes->y = tpNeg(axes->y);
    }
    *state =
        (tpSlipState){ .ux = tpDot(axes->x, u), .uy = tpDot(axes->y, u), .uz = tpDot(axes->z, u) };
    slip->startUz = state->uz;

    // A direction without any compliance has no coupling either; rounding may say otherwise.
    double rounding = 1e-14 * (fmax(slip->a, 0.0) + slip->kzz);
    if (!(slip->kzz > 0.0) || slip->b < -rounding) {
        return false;
    }
    slip->b = fmax(slip->b, 0.0);
    slip->a = fmax(slip->a, 0.0);
    if (slip->cx * slip->cx > (slip->a + rounding) * slip->kzz ||
        slip->cy * slip->cy > (slip->b + rounding) * slip->kzz) {
        return false;
    }
    slip->cx = slip->a > 0.0 ? slip->cx : 0.0;
    slip->cy = slip->b > 0.0 ? slip->cy : 0.0;
    // What is left of the normal compliance when friction holds the tangent; without friction the
    // normal one is enough.
    double x = slip->a > 0.0 ? slip->cx / slip->a * slip->cx : 0.0;
    double y = slip->b > 0.0 ? slip->cy / slip->b * slip->cy : 0.0;
    slip->heldKzz = slip->kzz - x - y;
    return impact->friction == 0.0 || slip->heldKzz > 1e-15 * slip->kzz;
}

static void setCoefficients(const tpImpact* impact, tpSlip* slip) {
    slip->mu = impact->friction;
    slip->tracksWork = impact->law == tp_strongeRestitution;
    slip->rate = fmax(fmax(slip->cx, slip->cy), slip->mu * slip->a);
    double inverse = slip->rate > 0.0 ? 1.0 / slip->rate : 0.0;
    slip->alpha = slip->mu * inverse * slip->a;
    slip->beta = slip->mu * inverse * slip->b;
    slip->ex = slip->cx * inverse;
    slip->ey = slip->cy * inverse;
}

// How the path goes on from where it is.
typedef struct tpImpactCourse {
    tpImpactMode mode;
    bool isStraight;
    double qx, qy;     // tangential impulse for each unit of normal impulse, where straight
    tpDirection limit; // of a curve
} tpImpactCourse;

// From rest: sticks where the friction cone holds the impulse that this takes, else slips off.
static tpImpactCourse courseFromRest(const tpSlip* slip) {
    tpImpactCourse course = { .mode = tp_impactSticks, .isStraight = true };
    course.qx = slip->a > 0.0 ? -slip->cx / slip->a : 0.0;
    course.qy = slip->b > 0.0 ? -slip->cy / slip->b : 0.0;
    if (tpHypot(course.qx, course.qy) > slip->mu) {
        tpDirection out = tpSlip_WayOut(slip);
        course.mode = tp_impactSlipsOff;
        course.qx = -slip->mu * out.x;
        course.qy = -slip->mu * out.y;
    }
    return course;
}

static tpImpactCourse courseOf(const tpSlip* slip, const tpSlipState* state) {
    double s = tpHypot(state->ux, state->uy);
    // Without a tangent to speak of, rounding would choose the direction.
    if (s <= 1e-15 * fmax(s, fabs(state->uz))) {
        return courseFromRest(slip);
    }
    tpImpactCourse course = { .mode = tp_impactSlides };
    tpDirection d = { state->ux / s, state->uy / s };
    course.isStraight = slip->mu == 0.0 || fabs(tpSlip_TurnRate(slip, d)) <= 1e-16;
    if (course.isStraight) {
        course.qx = -slip->mu * d.x;
        course.qy = -slip->mu * d.y;
    } else {
        course.limit = tpSlip_Limit(slip, d);
    }
    return course;
}

static void notePhase(tpImpactResult* result, tpImpactMode mode, bool isRestitution, double pz) {
    if (result->phaseCount < TP_IMPACT_PHASES) {
        result->phases[result->phaseCount++] = (tpImpactPhase){ mode, isRestitution, pz };
    }
}

static tpSlipTarget restitutionTarget(const tpImpact* impact, const tpSlipState* state) {
    double e = impact->restitution;
    if (impact->law == tp_poissonRestitution) {
        return (tpSlipTarget){ tp_untilImpulse, (1.0 + e) * state->pz };
    }
    return (tpSlipTarget){ tp_untilWork, (1.0 - e * e) * state->work };
}

// Follows the path to its end. The phases hold impulses in the path's units until scaled back.
static tpResult follow(const tpImpact* impact, const tpSlip* slip, tpSlipState* state,
                       tpImpactResult* result) {
    const tpSlipTarget compression = { tp_untilCompressed, 0.0 };
    tpSlipTarget target = compression;
    tpImpactCourse course = courseOf(slip, state);
    if (course.mode != tp_impactSlides) {
        state->ux = state->uy = 0.0;
    }
    for (int i = 0; i < 16; ++i) {
        tpSlipEnd end =
            course.isStraight
                ? tpSlip_GoStraight(slip, state, course.qx, course.qy, target)
                : tpSlip_GoAlongCurve(slip, state, course.limit, target, &result->stepCount);
        bool isRestitution = target.goal != tp_untilCompressed;
        notePhase(result, course.mode, isRestitution, state->pz);
        if (end == tp_slipLost) {
            return tp_notSolved;
        }
        if (end == tp_slipStopped) {
            course = courseFromRest(slip);
        } else if (!isRestitution) {
            result->compressionImpulse = state->pz;
            target = restitutionTarget(impact, state);
            if (impact->restitution == 0.0) {
                return tp_success;
            }
        } else if (state->uz < -1e-12) {
            target = compression;
        } else {
            return tp_success;
        }
    }
    return tp_notSolved;
}

// Impulse, velocity and energy in the caller's axes and units.
static tpResult finish(const tpImpact* impact, tpVec3 impulse, tpImpactResult* result) {
    tpMat33 m = impact->collisionMatrix;
    tpVec3 change = tpScale(0.5, tpAdd(tpMulMV(m, impulse), tpMulMTV(m, impulse)));
    result->impulse = impulse;
    result->velocity = tpAdd(impact->velocity, change);
    result->energyLost = -tpDot(impulse, tpMulAdd(impact->velocity, 0.5, change));
    if (!tpIsFiniteVec3(result->impulse) || !tpIsFiniteVec3(result->velocity) ||
        !isfinite(result->energyLost) || !isfinite(result->compressionImpulse)) {
        memset(result, 0, sizeof(*result));
        return tp_notSolved;
    }
    return tp_success;
}

tpResult tpImpact_Resolve(const tpImpact* impact, tpImpactResult* result) {
    TP_NEED(impact, tp_badInput);
    memset(result, 0, sizeof(*result));
    tpImpactAxes axes;
    tpSlip slip;
    tpSlipState state;
    if (!isWellFormed(impact) || !makePath(impact, &axes, &slip, &state)) {
        return tp_badInput;
    }
    result->velocity = impact->velocity;
    if (state.uz >= 0.0) {
        return tp_success;
    }
    setCoefficients(impact, &slip);
    tpResult end = follow(impact, &slip, &state, result);
    if (end != tp_success) {
        memset(result, 0, sizeof(*result));
        return end;
    }
    int exponent = axes.velocityExponent - axes.matrixExponent;
    result->compressionImpulse = ldexp(result->compressionImpulse, exponent);
    for (int i = 0; i < result->phaseCount; ++i) {
        result->phases[i].normalImpulse = ldexp(result->phases[i].normalImpulse, exponent);
    }
    tpVec3 impulse =
        tpAdd(tpScale(state.px, axes.x), tpMulAdd(tpScale(state.py, axes.y), state.pz, axes.z));
    return finish(impact, scalePower(impulse, exponent), result);
}

bool tpImpact_Reverse(const tpImpact* impact, tpImpactResult* result) {
    TP_NEED(impact, false);
    memset(result, 0, sizeof(*result));
    tpImpactAxes axes;
    tpSlip slip;
    tpSlipState state;
    if (!isWellFormed(impact) || !makePath(impact, &axes, &slip, &state) || state.uz >= 0.0 ||
        !(slip.b > 0.0)) {
        return false;
    }
    // K p = -2 u by elimination of the tangent, whose block is diagonal here.
    double held = state.uz - slip.cx * state.ux / slip.a - slip.cy * state.uy / slip.b;
    double pz = -2.0 * held / slip.heldKzz;
    double px = -(2.0 * state.ux + slip.cx * pz) / slip.a;
    double py = -(2.0 * state.uy + slip.cy * pz) / slip.b;
    if (!(slip.heldKzz > 0.0) || !(pz >= 0.0) || !(tpHypot(px, py) <= impact->friction * pz)) {
        return false;
    }
    int exponent = axes.velocityExponent - axes.matrixExponent;
    tpVec3 impulse = tpAdd(tpScale(px, axes.x), tpMulAdd(tpScale(py, axes.y), pz, axes.z));
    result->compressionImpulse = ldexp(0.5 * pz, exponent);
    return finish(impact, scalePower(impulse, exponent), result) == tp_success;
}
