#include "steppers/chakraborty_trinkle/rims.h"

#include "base/constants.h"
#include "collision/contact.h"
#include "dynamics/step_budget.h"
#include "geometry/patches.h"
#include "geometry/shape.h"

// Points this near to a rim lie on it, and those beyond this chord are on its other side: parts of
// its radius. A contact that runs farther than `longWay` is followed in shorter steps.
static const double onRim = 1e-3, otherSide = 1.6, longWay = 1.0;

// Contacts nearer than this are closed, in units of length.
static const double closedGap = 1e-6;

// How much of the way that forces make in a step the other side of a rim may come nearer by them. A
// contact that holds the body lets it fall by a part of that way only; with all of it thin coins
// that lean by 15 degrees from the upright were taken for flat at h = 1/60 s.
static const double byForces = 0.3;

// A pair of shapes that touches at a rim, at the start of the step.
typedef struct tpRimPair {
    tpImplicitContact one; // the closest points of the two shapes
    bool isOnA;            // the rim is one of A
    tpVec3 center, axis;   // of the rim, in the axes of its body, from the centre of mass
    double radius;
    tpVec3 start; // where the rim touches, the same way
} tpRimPair;

static bool isNearRim(const tpRimPair* pair, tpVec3 local) {
    tpVec3 r = tpSub(local, pair->center);
    double up = tpDot(r, pair->axis), out = tpLength(tpMulAdd(r, -up, pair->axis));
    return fabs(up) <= onRim * pair->radius && fabs(out - pair->radius) <= onRim * pair->radius;
}

static tpVec3 rimPoint(const tpRimPair* pair, const tpPose* poses, const tpContactPlace* place) {
    int body = pair->isOnA ? pair->one.bodyA : pair->one.bodyB;
    return tpUntransformPoint(poses[body], pair->isOnA ? place->pointA : place->pointB);
}

// The flat part of A or B that looks most at the other shape.
static bool findFacet(const tpImplicitContact* one, const tpPose* poses, bool isOfA, tpVec3 normal,
                      tpFacet* out) {
    tpPose shape =
        tpComposePoses(poses[isOfA ? one->bodyA : one->bodyB], isOfA ? one->localA : one->localB);
    return tpFindFacet(isOfA ? one->a : one->b, shape, isOfA ? tpNeg(normal) : normal, out);
}

// The rim of shape A or B that faces a flat part of the other shape; false if there is none.
static bool findRim(tpRimPair* pair, const tpPose* poses, tpVec3 normal) {
    const tpImplicitContact* one = &pair->one;
    tpPose body = poses[pair->isOnA ? one->bodyA : one->bodyB];
    tpFacet cap, face;
    if (!findFacet(one, poses, pair->isOnA, normal, &cap) || !(cap.radius > 0.0) ||
        isinf(cap.radius) || !findFacet(one, poses, !pair->isOnA, normal, &face) ||
        face.cosine < TP_FACE_COSINE) {
        return false;
    }
    pair->center = tpUntransformPoint(body, cap.center);
    pair->axis = tpUnrotate(body.rotation, cap.normal);
    pair->radius = cap.radius;
    return true;
}

// Whether the closest points of two shapes are one point of a rim.
static bool isOnRim(const tpImplicitStep* step, const tpContact* contact, tpRimPair* pair,
                    tpContactPlace* place) {
    const tpSystem* system = step->base.system;
    const tpPose* poses = step->base.startPoses;
    tpImplicitContact_Make(system, poses, contact, true, &pair->one);
    if (!pair->one.isSmooth) {
        return false;
    }
    tpImplicitContact_Place(&pair->one, system->isPlanar, poses[contact->bodyA],
                            poses[contact->bodyB], false, place);
    for (int k = 0; k < 2; ++k) {
        pair->isOnA = k == 0;
        pair->start = rimPoint(pair, poses, place);
        if (findRim(pair, poses, place->normal) && isNearRim(pair, pair->start)) {
            return true;
        }
    }
    return false;
}

// How far forces of the step may turn the bodies of a contact towards each other.
static double reachOfForces(const tpTimeStep* base, const tpContact* contact) {
    double reach = 0.0;
    for (int k = 0; k < 2; ++k) {
        int slot = k == 0 ? contact->bodyA : contact->bodyB;
        tpVelocity change = base->kicked[slot];
        change.linear = tpSub(change.linear, base->startVelocities[slot].linear);
        change.angular = tpSub(change.angular, base->startVelocities[slot].angular);
        reach += byForces * base->h * tpVelocity_LargestSpeed(base->system, slot, &change);
    }
    return reach;
}

// Whether no other part of the shapes than the rim near its lowest point can touch in this step, by
// the free motion of the bodies. `way` is how far the contact runs along the rim.
static bool staysOnRim(const tpImplicitStep* step, const tpRimPair* pair, const tpPose* ends,
                       const tpContact* contacts, int count, double* way) {
    const tpSystem* system = step->base.system;
    const tpPose* poses = step->base.startPoses;
    int a = contacts[0].bodyA, b = contacts[0].bodyB;
    tpImplicitContact one = pair->one;
    tpContactPlace lowest;
    tpImplicitContact_Place(&one, system->isPlanar, ends[a], ends[b], false, &lowest);
    tpVec3 at = rimPoint(pair, ends, &lowest);
    *way = tpDistanceBetween(at, pair->start);
    double reach = reachOfForces(&step->base, &contacts[0]);
    if (!isNearRim(pair, at)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        tpImplicitContact other;
        tpContactPlace place;
        tpImplicitContact_Make(system, poses, &contacts[i], false, &other);
        tpImplicitContact_Place(&other, system->isPlanar, ends[a], ends[b], false, &place);
        tpVec3 local = rimPoint(pair, ends, &place);
        bool isFar =
            !isNearRim(pair, local) || tpDistanceBetween(local, at) > otherSide * pair->radius;
        if (isFar && place.gap - lowest.gap < reach) {
            return false;
        }
    }
    return true;
}

static int endOfPair(const tpContact* contacts, int count, int first) {
    int next = first;
    while (next < count && contacts[next].shapeA == contacts[first].shapeA &&
           contacts[next].shapeB == contacts[first].shapeB) {
        ++next;
    }
    return next;
}

// The contacts of a list with those of rims joined; returns their number.
static int joinRims(tpImplicitStep* step, const tpPose* ends, tpContact* contacts, int count) {
    int kept = 0;
    for (int i = 0, next; i < count; i = next) {
        next = endOfPair(contacts, count, i);
        tpContact one = contacts[i];
        for (int k = i; k < next; ++k) {
            one = contacts[k].gap < one.gap ? contacts[k] : one;
        }
        tpRimPair pair;
        tpContactPlace place;
        bool isRim = next > i + 1 && isOnRim(step, &one, &pair, &place);
        double way = 0.0;
        bool isOne = isRim && staysOnRim(step, &pair, ends, contacts + i, next - i, &way);
        if (isRim && place.gap < closedGap * step->base.system->units.length) {
            step->runsFar = step->runsFar || way > longWay * pair.radius;
        }
        if (isOne) {
            step->hasRims = true;
            // The name of the lowest point, whichever fixed point it happens to be now.
            one.feature = pair.isOnA ? tpMakeFeature(tp_smooth, tp_lowestRim, 0)
                                     : tpMakeFeature(tp_smooth, 0, tp_lowestRim);
            one.gap = place.gap;
            one.normal = place.normal;
            one.pointA = place.pointA;
            one.pointB = place.pointB;
            contacts[kept++] = one;
            continue;
        }
        for (int k = i; k < next; ++k) {
            contacts[kept++] = contacts[k];
        }
    }
    return kept;
}

bool tpImplicitStep_FindContacts(tpImplicitStep* step) {
    tpTimeStep* base = &step->base;
    tpContact* contacts;
    int count;
    tpPose* ends = TP_SCRATCH(&base->system->arena, tpPose, base->bodyCount);
    if (ends == NULL || tpSystem_FindContacts(base->system, base->startPoses, base->margins,
                                              &contacts, &count) != tp_success) {
        return false;
    }
    step->hasRims = step->runsFar = false;
    if (!step->keepsFeatures && !tpStepBudget_IsSpent(base->system)) {
        tpTimeStep_Move(base, base->freeMeanVelocities, ends);
        count = joinRims(step, ends, contacts, count);
    }
    return tpTimeStep_UseContacts(base, contacts, count);
}
