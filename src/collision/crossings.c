// Crossings: a bound on the way, then the time of impact, for the few pairs that are fast enough.

#include "collision/crossings.h"

#include "collision/collider_parts.h"
#include "geometry/shape.h"

// Shapes nearer than this part of the thinner one's inner radius have met.
static const double nearPart = 0.02;

enum { queryLimit = 200 };

static tpVec3 velocityAt(const tpBodyPath* path, double time, tpVec3 point) {
    tpVec3 arm = tpSub(point, tpBodyPath_PoseAt(path, time).position);
    tpVec3 linear = tpMulAdd(path->velocity, time, path->acceleration);
    return tpAdd(linear, tpCross(path->angularVelocity, arm));
}

static bool isMesh(const tpColliderShape* shape) {
    return tpClassOf(shape->geometry)->kind == tp_meshKind;
}

// How far two shapes may move into each other and still be seen from the side on which they met.
// Triangles have no depth: a shape that is through them is inside the mesh, and its way out may be
// on the far side. There only the other shape's thickness counts. It counts half: in the middle of
// a plate both sides are equally near.
static double depthOf(const tpColliderShape* a, const tpColliderShape* b) {
    if (isMesh(a) || isMesh(b)) {
        double other = isMesh(a) ? b->innerRadius : a->innerRadius;
        return 0.5 * (isMesh(a) && isMesh(b) ? fmin(a->innerRadius, b->innerRadius) : other);
    }
    return a->innerRadius + b->innerRadius;
}

// How far points of two shapes may move against each other.
static double wayOf(const tpColliderShape* a, const tpBodyPath* pathA, const tpColliderShape* b,
                    const tpBodyPath* pathB, double duration) {
    tpVec3 linear = tpSub(pathA->velocity, pathB->velocity);
    tpVec3 bend = tpSub(pathA->acceleration, pathB->acceleration);
    double spinA = tpLength(pathA->angularVelocity), spinB = tpLength(pathB->angularVelocity);
    double speed = tpLength(linear) + 0.5 * duration * tpLength(bend);
    // A plane that turns sweeps without bound; what it can pass through, it finds from its solid
    // side.
    speed += spinA > 0.0 ? spinA * tpGeometry_TurningRadius(a->geometry) : 0.0;
    speed += spinB > 0.0 ? spinB * tpGeometry_TurningRadius(b->geometry) : 0.0;
    return duration * speed;
}

// Whether two shapes meet and then move on into each other by more than `thickness`. Points of the
// two move against each other by at most `way`: if shapes meet later than the part 1 - thickness /
// way of the duration, the rest is too short for that, and their way is not followed so far.
static bool cross(const tpColliderShape* a, const tpBodyPath* pathA, const tpColliderShape* b,
                  const tpBodyPath* pathB, double duration, double way, double thickness,
                  tpCrossing* out) {
    double latest = (1.0 - thickness / way) * duration;
    double tolerance = nearPart * fmin(a->innerRadius, b->innerRadius);
    tpFirstTouch touch;
    if (tpTimeOfImpact(a->geometry, pathA, b->geometry, pathB, latest, tolerance, queryLimit, NULL,
                       &touch) != tp_success ||
        touch.state == tp_noImpact) {
        return false;
    }
    tpVec3 u = tpSub(velocityAt(pathA, touch.time, touch.closest.pointA),
                     velocityAt(pathB, touch.time, touch.closest.pointB));
    tpVec3 bend = tpSub(pathA->acceleration, pathB->acceleration);
    tpVec3 centers = tpMulAdd(tpSub(pathA->velocity, pathB->velocity), touch.time, bend);
    // A body that turns away where it touches may still come on as a whole.
    double approach = fmax(-tpDot(touch.closest.normal, u), -tpDot(touch.closest.normal, centers));
    if (!(approach * (duration - touch.time) > thickness)) {
        return false;
    }
    out->time = touch.time;
    out->pause = 0.5 * thickness / approach;
    return true;
}

double tpCollider_CrossingDepth(const tpCollider* collider, tpShapePair pair) {
    return depthOf(&collider->shapes.data[pair.shapeA], &collider->shapes.data[pair.shapeB]);
}

bool tpCollider_PairCrosses(const tpCollider* collider, tpShapePair pair, const tpBodyPath* pathA,
                            const tpBodyPath* pathB, double duration, tpCrossing* out) {
    const tpColliderShape* a = &collider->shapes.data[pair.shapeA];
    const tpColliderShape* b = &collider->shapes.data[pair.shapeB];
    double thickness = depthOf(a, b);
    *out = (tpCrossing){ .shapeA = pair.shapeA, .shapeB = pair.shapeB };
    double way = wayOf(a, pathA, b, pathB, duration);
    return way > thickness && cross(a, pathA, b, pathB, duration, way, thickness, out);
}

bool tpCollider_FindCrossing(const tpCollider* collider, const tpBodyPath* paths, double duration,
                             tpCrossing* out) {
    bool isFound = false;
    for (int i = 0; i < collider->pairs.count; ++i) {
        tpShapePair pair = collider->pairs.data[i];
        const tpBodyPath* pathA = &paths[collider->shapes.data[pair.shapeA].body];
        const tpBodyPath* pathB = &paths[collider->shapes.data[pair.shapeB].body];
        tpCrossing crossing;
        if (tpCollider_PairCrosses(collider, pair, pathA, pathB, duration, &crossing) &&
            (!isFound || crossing.time < out->time)) {
            *out = crossing;
            isFound = true;
        }
    }
    return isFound;
}

// Another corner than the one that touches comes down while that one holds. False if the contact
// stays on its side.
static bool passes(const tpContact* contact, const tpBodyPath* paths, double duration,
                   double thickness, tpCrossing* out) {
    tpVec3 u = tpSub(velocityAt(&paths[contact->bodyA], 0.0, contact->pointA),
                     velocityAt(&paths[contact->bodyB], 0.0, contact->pointB));
    double approach = -tpDot(contact->normal, u);
    if (!(approach * duration - contact->gap > thickness)) {
        return false;
    }
    bool isOpen = contact->gap > nearPart * thickness;
    out->time = isOpen ? contact->gap / approach : 0.0;
    out->pause = 0.5 * thickness / approach;
    return true;
}

bool tpCollider_FindPassing(const tpCollider* collider, const tpContact* contacts, int count,
                            const tpBodyPath* paths, double duration, tpCrossing* out) {
    bool isFound = false;
    for (int i = 0; i < count; ++i) {
        const tpColliderShape* a = &collider->shapes.data[contacts[i].shapeA];
        const tpColliderShape* b = &collider->shapes.data[contacts[i].shapeB];
        tpCrossing crossing = { .shapeA = contacts[i].shapeA, .shapeB = contacts[i].shapeB };
        if (passes(&contacts[i], paths, duration, depthOf(a, b), &crossing) &&
            (!isFound || crossing.time < out->time)) {
            *out = crossing;
            isFound = true;
        }
    }
    return isFound;
}
