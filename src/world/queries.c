// Queries on the world. Every body is first asked by its ball: the centre of mass and how far its
// finite shapes reach. Only shapes of bodies whose ball is met, and shapes without end, are looked
// at exactly.

#include "tippe/queries.h"
#include "base/assert.h"

#include "dynamics/contacts.h"
#include "geometry/shape.h"
#include "world/require.h"

static bool isEndless(const tpGeometry* geometry) {
    return geometry->type == tp_planeShape || geometry->type == tp_heightFieldShape;
}

// A ball of radius `reach` that moves from `origin` by `translation`.
typedef struct Path {
    tpVec3 origin, translation;
    double reach;
    double limit; // fraction of the translation that still matters
} Path;

// Whether the path comes within reach of a ball. Errs on the side of yes.
static bool meetsBall(const Path* path, tpVec3 center, double radius) {
    tpVec3 to = tpSub(center, path->origin);
    double square = tpLengthSquared(path->translation);
    double t = square > 0.0 ? tpDot(to, path->translation) / square : 0.0;
    t = fmin(fmax(t, 0.0), path->limit);
    tpVec3 gap = tpMulAdd(to, -t, path->translation);
    double sum = path->reach + radius;
    double slack = 1e-12 * (tpLengthSquared(to) + square);
    return tpLengthSquared(gap) <= sum * sum + slack;
}

// The next live shape from `index` on that is wanted and near the path; -1 at the end.
static int nextShape(const tpWorld* world, const Path* path, uint32_t mask, int index) {
    const tpSystem* system = &world->system;
    for (; index < system->shapes.count; ++index) {
        const tpShape* shape = &system->shapes.data[index];
        if (!shape->isLive || shape->isSensor || (shape->group & mask) == 0) {
            continue;
        }
        const tpBody* body = &system->bodies.data[shape->body];
        if (isEndless(&shape->form->geometry) ||
            meetsBall(path, system->poses.data[shape->body].position, body->reach)) {
            return index;
        }
    }
    return -1;
}

// Rays ----------------------------------------------------------------------------------------

static tpRayResult noHit(void) {
    tpRayResult result = { .fraction = 1.0, .triangle = -1 };
    return result;
}

static bool castAtShape(const tpWorld* world, int index, const Path* path, tpRayResult* result) {
    const tpShape* shape = &world->system.shapes.data[index];
    tpRayHit hit;
    if (!tpGeometry_CastRay(&shape->form->geometry, tpSystem_BodyFrame(&world->system, shape->body),
                            path->origin, path->translation, path->limit, &hit)) {
        return false;
    }
    *result = (tpRayResult){ true,
                             hit.startsInside,
                             tpWorld_ShapeId(world, index),
                             tpWorld_BodyId(world, shape->body),
                             hit.t,
                             hit.point,
                             hit.normal,
                             hit.triangle };
    return true;
}

tpRayResult tpWorld_CastRay(const tpWorld* world, tpVec3 origin, tpVec3 translation,
                            uint32_t mask) {
    TP_NEED(world, (tpRayResult){ 0 });
    Path path = { origin, translation, 0.0, 1.0 };
    tpRayResult best = noHit();
    if (!TP_FINITE_VEC3(origin) || !TP_FINITE_VEC3(translation)) {
        return best;
    }
    for (int i = nextShape(world, &path, mask, 0); i >= 0;
         i = nextShape(world, &path, mask, i + 1)) {
        tpRayResult result;
        if (castAtShape(world, i, &path, &result) &&
            (!best.isHit || result.fraction < best.fraction)) {
            best = result;
            path.limit = result.fraction;
        }
    }
    return best;
}

void tpWorld_CastRayAtAll(const tpWorld* world, tpVec3 origin, tpVec3 translation, uint32_t mask,
                          tpRayCallback callback, void* context) {
    TP_NEED(world, );
    Path path = { origin, translation, 0.0, 1.0 };
    if (!TP_FINITE_VEC3(origin) || !TP_FINITE_VEC3(translation) ||
        !TP_REQUIRE(callback != NULL, "callback", "is NULL")) {
        return;
    }
    for (int i = nextShape(world, &path, mask, 0); i >= 0;
         i = nextShape(world, &path, mask, i + 1)) {
        tpRayResult result;
        if (castAtShape(world, i, &path, &result) && !callback(&result, context)) {
            return;
        }
    }
}

// Shapes --------------------------------------------------------------------------------------

// The path of a shape: of the ball about its own origin.
static Path pathOf(const tpGeometry* geometry, tpPose pose, tpVec3 translation, double tolerance) {
    tpVec3 center = tpTransformPoint(pose, geometry->pose.position);
    double reach = tpGeometry_RadiusAbout(geometry, geometry->pose.position);
    return (Path){ center, translation, reach + tolerance, 1.0 };
}

tpResult tpWorld_CastShape(const tpWorld* world, const tpGeometry* geometry, tpPose pose,
                           tpVec3 translation, double tolerance, uint32_t mask,
                           tpShapeCastResult* out) {
    TP_NEED(world, tp_badInput);
    if (!TP_REQUIRE(geometry != NULL, "geometry", "is NULL") ||
        !TP_REQUIRE(out != NULL, "out", "is NULL") || !tpRequirePose(&pose, "pose", __func__) ||
        !TP_FINITE_VEC3(translation) ||
        !TP_REQUIRE(tolerance > 0.0 && isfinite(tolerance), "tolerance", "is %g, not positive",
                    tolerance)) {
        return tp_badInput;
    }
    Path path = pathOf(geometry, pose, translation, tolerance);
    *out = (tpShapeCastResult){ .hit = { .fraction = 1.0 } };
    for (int i = nextShape(world, &path, mask, 0); i >= 0;
         i = nextShape(world, &path, mask, i + 1)) {
        const tpShape* shape = &world->system.shapes.data[i];
        tpShapeHit hit = { 0 };
        tpResult result =
            tpCastShape(geometry, pose, translation, &shape->form->geometry,
                        tpSystem_BodyFrame(&world->system, shape->body), tolerance, NULL, &hit);
        if (result == tp_unsupported || result == tp_outOfMemory) {
            return result;
        }
        if (hit.isHit && (!out->hit.isHit || hit.fraction < out->hit.fraction)) {
            *out = (tpShapeCastResult){ hit, tpWorld_ShapeId(world, i),
                                        tpWorld_BodyId(world, shape->body) };
            path.limit = hit.fraction;
        }
    }
    return tp_success;
}

bool tpWorld_ShapesOverlap(const tpWorld* world, const tpGeometry* geometry, tpPose pose,
                           int index) {
    const tpShape* shape = &world->system.shapes.data[index];
    tpPose frame = tpSystem_BodyFrame(&world->system, shape->body);
    tpBounds bounds = tpGeometry_Bounds(geometry, pose);
    tpBounds other = tpGeometry_Bounds(&shape->form->geometry, frame);
    tpClosest closest;
    if (!tpBoundsOverlap(&bounds, &other)) {
        return false;
    }
    tpResult result =
        tpClosestPoints(geometry, pose, &shape->form->geometry, frame, NULL, &closest);
    return (result == tp_success || result == tp_notSolved) && closest.distance <= 0.0;
}

int tpWorld_OverlapShape(const tpWorld* world, const tpGeometry* geometry, tpPose pose,
                         uint32_t mask, tpShapeId* ids, int capacity) {
    TP_NEED(world, 0);
    if (!TP_REQUIRE(geometry != NULL, "geometry", "is NULL") ||
        !TP_REQUIRE(capacity <= 0 || ids != NULL, "ids", "is NULL") ||
        !tpRequirePose(&pose, "pose", __func__)) {
        return 0;
    }
    Path path = pathOf(geometry, pose, tpZeroVec3(), 0.0);
    int count = 0;
    for (int i = nextShape(world, &path, mask, 0); i >= 0;
         i = nextShape(world, &path, mask, i + 1)) {
        if (tpWorld_ShapesOverlap(world, geometry, pose, i)) {
            if (count < capacity) {
                ids[count] = tpWorld_ShapeId(world, i);
            }
            ++count;
        }
    }
    return count;
}

int tpWorld_OverlapBounds(const tpWorld* world, tpBounds bounds, uint32_t mask, tpShapeId* ids,
                          int capacity) {
    TP_NEED(world, 0);
    tpBox box = { tpSub(bounds.upper, bounds.lower) };
    tpVec3 center = tpScale(0.5, tpAdd(bounds.lower, bounds.upper));
    tpGeometry geometry;
    bool isBox = tpMakeBox(&box, tpIdentityPose(), &geometry, NULL) == tp_success;
    if (!TP_REQUIRE(isBox, "bounds", "are empty or not finite")) {
        return 0;
    }
    return tpWorld_OverlapShape(world, &geometry, tpMakePose(center, tpIdentityQuat()), mask, ids,
                                capacity);
}

tpResult tpWorld_ClosestPoints(const tpWorld* world, tpShapeId a, tpShapeId b, tpClosest* out) {
    TP_NEED(world, tp_badInput);
    int i = tpWorld_ShapeIndex(world, a), j = tpWorld_ShapeIndex(world, b);
    if (i < 0 || j < 0 || !TP_REQUIRE(out != NULL, "out", "is NULL")) {
        return tp_badInput;
    }
    const tpShape* shapeA = &world->system.shapes.data[i];
    const tpShape* shapeB = &world->system.shapes.data[j];
    return tpClosestPoints(
        &shapeA->form->geometry, tpSystem_BodyFrame(&world->system, shapeA->body),
        &shapeB->form->geometry, tpSystem_BodyFrame(&world->system, shapeB->body), NULL, out);
}

// Overlaps ----------------------------------------------------------------------------------------

int tpWorld_FindOverlaps(tpWorld* world, double depth, tpOverlap* overlaps, int capacity) {
    TP_NEED(world, 0);
    tpSystem* system = &world->system;
    if (!TP_REQUIRE(depth >= 0.0 && isfinite(depth), "depth", "is %g, not zero or more", depth) ||
        !TP_REQUIRE(capacity <= 0 || overlaps != NULL, "overlaps", "is NULL")) {
        return 0;
    }
    tpArenaMark mark = tpArena_Mark(&system->arena);
    double* margins = TP_SCRATCH_ZEROED(&system->arena, double, system->bodyCount);
    tpContact* contacts = NULL;
    int contactCount = 0, count = 0, shapeA = -1, shapeB = -1;
    bool isDone = (margins != NULL || system->bodyCount == 0) &&
                  tpSystem_FindContacts(system, system->poses.data, margins, &contacts,
                                        &contactCount) == tp_success;
    for (int i = 0; i < contactCount; ++i) {
        const tpContact* contact = &contacts[i];
        if (!(-contact->gap > depth)) {
            continue;
        }
        // Contacts of two shapes follow each other.
        bool isSame = contact->shapeA == shapeA && contact->shapeB == shapeB;
        shapeA = contact->shapeA;
        shapeB = contact->shapeB;
        count += isSame ? 0 : 1;
        if (count <= capacity && isSame) {
            overlaps[count - 1].depth = fmax(overlaps[count - 1].depth, -contact->gap);
        } else if (count <= capacity) {
            overlaps[count - 1] = (tpOverlap){ tpWorld_ShapeId(world, shapeA),
                                               tpWorld_ShapeId(world, shapeB), -contact->gap };
        }
    }
    tpArena_Release(&system->arena, mark);
    return isDone ? count : -1;
}
