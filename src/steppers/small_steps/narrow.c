// Manifolds of pairs where the bodies are now, boxes eight pairs at once.

#include "steppers/small_steps/narrow.h"

#include <string.h>

#include "collision/boxes.h"
#include "collision/thin_manifold.h"
#include "dynamics/contacts.h"
#include "geometry/triangles.h"
#include "steppers/small_steps/apart.h"
#include "steppers/small_steps/turning_points.h"

// Triangles are asked one by one: with .02 cubes that tumble on hills take 7 percent more
// instructions. With .08 a crowd of mixed shapes there takes 4 percent less, but what follows its
// manifold for longer meets the slope of the next triangle: overlaps grow by a quarter.
static const double fartherOfTriangles = 0.05;

enum { batchSize = 32 };

typedef struct Pair {
    const tpShape *a, *b;
    tpPose roomA, roomB;         // of poses that are none of a body
    const tpPose *poseA, *poseB; // of the shapes
    double size, need, margin;   // of the smaller body; m
    const tpBodyWay *wayA, *wayB;
} Pair;

static bool isCentral(const tpSystem* system, const tpShape* shape) {
    tpVec3 offset =
        tpSub(shape->form->geometry.pose.position, system->bodies.data[shape->body].center);
    return offset.x == 0.0 && offset.y == 0.0 && offset.z == 0.0;
}

static void openPair(const tpSmallStep* step, const tpAnswer* answer, Pair* pair) {
    const tpSystem* system = step->system;
    const tpSmallSteps* state = step->state;
    pair->a = &system->shapes.data[answer->shapes.shapeA];
    pair->b = &system->shapes.data[answer->shapes.shapeB];
    pair->poseA = tpFindShapePose(system, pair->a, &pair->roomA);
    pair->poseB = tpFindShapePose(system, pair->b, &pair->roomB);
    pair->wayA = &state->ways.data[state->numbers.data[pair->a->body]];
    pair->wayB = &state->ways.data[state->numbers.data[pair->b->body]];
    pair->need = tpPairNeed(pair->wayA, pair->wayB);
    bool hasTriangles = tpTriangleCount(&pair->a->form->geometry) > 0 ||
                        tpTriangleCount(&pair->b->form->geometry) > 0;
    double more = hasTriangles ? fartherOfTriangles : tp_farther;
    pair->size = tpPairSize(system, pair->a, pair->b);
    pair->margin = pair->need + more * pair->size;
}

static bool areBoxes(const Pair* pair) {
    return pair->a->form->geometry.type == tp_boxShape &&
           pair->b->form->geometry.type == tp_boxShape;
}

// Two spheres: their point, wherever it is.
static void collideBalls(const tpSmallStep* step, const Pair* pair, tpAnswer* answer,
                         tpContactList* out) {
    const tpSystem* system = step->system;
    tpVec3 way = tpSub(pair->poseA->position, pair->poseB->position);
    double distance = tpLength(way);
    double a = pair->a->form->geometry.sphere.radius, b = pair->b->form->geometry.sphere.radius;
    double gap = distance - a - b;
    // The tangents of balls are found anew in each step, without the axes of an ellipse.
    answer->areBalls =
        !step->hasEllipses && isCentral(system, pair->a) && isCentral(system, pair->b);
    answer->slack = gap;
    if (gap > pair->margin) {
        return;
    }
    tpVec3 normal =
        distance > 1e-9 * (a + b) ? tpScale(1.0 / distance, way) : tpMakeVec3(0.0, 0.0, 1.0);
    tpContactPoint point = { tpMulAdd(pair->poseA->position, -a, normal),
                             tpMulAdd(pair->poseB->position, b, normal), normal, gap,
                             tpMakeFeature(tp_smooth, 0, 0) };
    tpContactList_Add(out, &point);
}

// Puts the points of a planar world into its plane.
static void flatten(const tpSystem* system, const tpAnswer* answer, tpContactList* out,
                    int before) {
    tpContact contacts[tp_mostPoints];
    int count = out->count - before;
    count = count < tp_mostPoints ? count : tp_mostPoints;
    for (int k = 0; k < count; ++k) {
        const tpContactPoint* p = &out->points[before + k];
        contacts[k] = (tpContact){ system->shapes.data[answer->shapes.shapeA].body,
                                   system->shapes.data[answer->shapes.shapeB].body,
                                   answer->shapes.shapeA,
                                   answer->shapes.shapeB,
                                   p->feature,
                                   p->pointA,
                                   p->pointB,
                                   p->normal,
                                   p->gap };
    }
    count = tpContacts_Flatten(system, system->poses.data, contacts, count);
    for (int k = 0; k < count; ++k) {
        const tpContact* c = &contacts[k];
        out->points[before + k] =
            (tpContactPoint){ c->pointA, c->pointB, c->normal, c->gap, c->feature };
    }
    out->count = before + count;
}

// The way from B to A between the nearest points of two segments, p + s d with s from -1 to 1.
static tpVec3 segmentsApart(tpVec3 between, tpVec3 a, tpVec3 b) {
    double aa = tpLengthSquared(a), bb = tpLengthSquared(b), ab = tpDot(a, b);
    double pa = tpDot(between, a), pb = tpDot(between, b), least = aa * bb - ab * ab;
    // The point on A, then the one on B that is nearest to it, then again the one on A.
    double s = least > 1e-12 * aa * bb ? (ab * pb - bb * pa) / least : 0.0;
    s = fmin(fmax(s, -1.0), 1.0);
    double t = bb > 0.0 ? fmin(fmax((pb + s * ab) / bb, -1.0), 1.0) : 0.0;
    s = aa > 0.0 ? fmin(fmax((t * ab - pa) / aa, -1.0), 1.0) : 0.0;
    return tpSub(tpMulAdd(between, s, a), tpScale(t, b));
}

// A capsule about a capsule or a cylinder: half of its axis, in world axes, and its radius. False
// for other shapes.
static bool findTube(const tpShape* shape, tpPose pose, tpVec3* half, double* radius) {
    static const tpVec3 alongZ = { 0.0, 0.0, 1.0 };
    if (shape->form->geometry.type == tp_capsuleShape) {
        const tpCapsule* capsule = &shape->form->geometry.capsule;
        *half = tpScale(0.5 * capsule->length, tpRotate(pose.rotation, alongZ));
        *radius = capsule->radius;
        return true;
    }
    if (shape->form->geometry.type == tp_cylinderShape) {
        const tpCylinder* cylinder = &shape->form->geometry.cylinder;
        // Shorter than the cylinder by half of its radius, and wider by what its rims then need.
        double less = fmin(0.5 * cylinder->radius, 0.5 * cylinder->length);
        *half = tpScale(0.5 * cylinder->length - less, tpRotate(pose.rotation, alongZ));
        *radius = sqrt(cylinder->radius * cylinder->radius + less * less);
        return true;
    }
    return false;
}

// How far a body's shapes are from a plane at least: planes are in pairs with everybody.
static double apartFromPlane(const tpSystem* system, const tpShape* shape, const tpShape* plane,
                             tpPose pose, tpVec3* normal) {
    const tpBody* body = &system->bodies.data[shape->body];
    *normal = tpRotate(pose.rotation, plane->form->geometry.plane.normal);
    tpVec3 way = tpSub(system->poses.data[shape->body].position, pose.position);
    return tpDot(*normal, way) - plane->form->geometry.plane.offset - body->reach;
}

// Two round bodies whose centres, or the nearest points of their axes, are that way from each
// other.
static double apartBetween(tpVec3 way, double radiusA, double radiusB, tpVec3* along) {
    double length = tpLength(way);
    *along = length > 0.0 ? tpScale(1.0 / length, way) : tpZeroVec3();
    return length - radiusA - radiusB;
}

// How far apart the shapes of a pair are at least along a direction from B to A, by what encloses
// them; often that is enough.
static double apartAtLeast(const tpSystem* system, const Pair* pair, tpVec3* along) {
    if (pair->b->form->geometry.type == tp_planeShape) {
        return apartFromPlane(system, pair->a, pair->b, *pair->poseB, along);
    }
    if (pair->a->form->geometry.type == tp_planeShape) {
        double apart = apartFromPlane(system, pair->b, pair->a, *pair->poseA, along);
        *along = tpNeg(*along);
        return apart;
    }
    tpVec3 halfA, halfB;
    double radiusA, radiusB;
    if (findTube(pair->a, *pair->poseA, &halfA, &radiusA) &&
        findTube(pair->b, *pair->poseB, &halfB, &radiusB)) {
        tpVec3 between = tpSub(pair->poseA->position, pair->poseB->position);
        return apartBetween(segmentsApart(between, halfA, halfB), radiusA, radiusB, along);
    }
    const tpBody *a = &system->bodies.data[pair->a->body], *b = &system->bodies.data[pair->b->body];
    if (!(a->inverseMass > 0.0 && b->inverseMass > 0.0)) {
        return -INFINITY;
    }
    tpVec3 way = tpSub(system->poses.data[pair->a->body].position,
                       system->poses.data[pair->b->body].position);
    return apartBetween(way, a->reach, b->reach, along);
}

// Impulses of the next step act at the beginning of each substep, on the mean that long after now;
// those of contacts that turn about its middle.
static double meanTime(const tpSmallStep* step, const Pair* pair) {
    bool turns = tpSmallStep_LooksForTurning(step, pair->a->body, pair->b->body);
    return (turns ? 0.5 : 0.5 * (step->substeps - 1) / step->substeps) * step->h;
}

// The pose of a shape then.
static tpPose aheadPose(const tpSmallStep* step, const tpShape* shape, tpPose pose, double time) {
    const tpSystem* system = step->system;
    if (!tpSystem_IsDynamic(system, shape->body)) {
        return pose;
    }
    const tpVelocity* velocity = &system->velocities.data[shape->body];
    tpVec3 center = system->poses.data[shape->body].position;
    tpQuat turn = tpQuatExp(tpScale(time, velocity->angular));
    tpVec3 place = tpAdd(center, tpRotate(turn, tpSub(pose.position, center)));
    return tpMakePose(tpMulAdd(place, time, velocity->linear),
                      tpNormalizeQuat(tpMulQQ(turn, pose.rotation)));
}

static tpVec3 aheadWay(const tpSmallStep* step, const tpShape* shape, double time) {
    bool moves = tpSystem_IsDynamic(step->system, shape->body);
    return tpScale(moves ? time : 0.0, step->system->velocities.data[shape->body].linear);
}

// The point of contact of curved bodies runs over them as they turn. Where it is when impulses act
// on the mean stands for the whole step: one that lags behind drives what rocks on it. The gap
// stays that of now.
static void lookAhead(const tpSmallStep* step, const Pair* pair, tpContactPoint* point) {
    tpContactPoint points[tp_mostPoints];
    tpContactList out = { points, 0, tp_mostPoints };
    tpPairCache none;
    double time = meanTime(step, pair);
    memset(&none, 0, sizeof(none));
    tpCollideShapes(&pair->a->form->geometry, aheadPose(step, pair->a, *pair->poseA, time),
                    &pair->b->form->geometry, aheadPose(step, pair->b, *pair->poseB, time),
                    pair->margin, false, &none, &out, NULL);
    if (out.count != 1 || tpDot(points[0].normal, point->normal) < 0.9) {
        return;
    }
    tpVec3 a = tpSub(points[0].pointA, aheadWay(step, pair->a, time));
    tpVec3 b = tpSub(points[0].pointB, aheadWay(step, pair->b, time));
    if (tpLength(tpSub(a, point->pointA)) < pair->size &&
        tpLength(tpSub(b, point->pointB)) < pair->size) {
        point->pointA = a;
        point->pointB = b;
        point->normal = points[0].normal;
    }
}

// How near the nearest point of a manifold must be: one that is there already stays a little
// longer.
static double keptWithin(const Pair* pair, const tpAnswer* answer, double need) {
    return need + (answer->slot >= 0 ? 0.1 : 0.0) * (pair->margin - pair->need);
}

// Whether shapes that are so far apart along a direction, from B to A, stay apart in the next step.
static inline bool isApart(const Pair* pair, const tpAnswer* answer, double separation,
                           tpVec3 along) {
    return separation > 0.0 &&
           separation > keptWithin(pair, answer, tpPairNeedAlong(pair->wayA, pair->wayB, along));
}

// Any pair but boxes.
static void collideOthers(const tpSmallStep* step, const Pair* pair, tpAnswer* answer,
                          tpContactList* out) {
    if (pair->a->form->geometry.type == tp_sphereShape &&
        pair->b->form->geometry.type == tp_sphereShape) {
        collideBalls(step, pair, answer, out);
        return;
    }
    tpVec3 along = tpZeroVec3();
    double apart = apartAtLeast(step->system, pair, &along);
    bool isFar = apart > pair->margin;
    if (isFar || isApart(pair, answer, apart, along)) {
        answer->slack = apart;
        answer->along = isFar ? tpZeroVec3() : along;
        return;
    }
    tpPairCache none;
    memset(&none, 0, sizeof(none));
    tpPairCache* cache = answer->cache != NULL ? answer->cache : &none;
    int before = out->count;
    tpCollideShapes(&pair->a->form->geometry, *pair->poseA, &pair->b->form->geometry, *pair->poseB,
                    pair->margin, true, cache, out, &answer->over);
    bool isBeyond = out->count == before && answer->over.beyond > pair->margin;
    answer->slack = isBeyond ? answer->over.beyond : pair->margin;
    answer->along = isBeyond ? answer->over.away : tpZeroVec3();
    if (out->count == before + 1 && out->count <= out->capacity &&
        (tpIsCurved(pair->a) || tpIsCurved(pair->b))) {
        lookAhead(step, pair, &out->points[before]);
    }
}

static void collideBoxes(const tpBoxBatch* batch, int lane, const Pair* pair, tpAnswer* answer,
                         tpContactList* out) {
    tpPairCache none;
    memset(&none, 0, sizeof(none));
    double separation = batch->separation[lane];
    answer->slack = fmax(pair->margin, separation);
    tpVec3 normal = separation > 0.0 ? tpBoxBatch_FaceNormal(batch, lane) : tpZeroVec3();
    if (isApart(pair, answer, separation, normal)) {
        answer->slack = separation;
        answer->along = normal;
    } else {
        answer->over = tpBoxBatch_Collide(batch, lane, &pair->a->form->geometry, *pair->poseA,
                                          &pair->b->form->geometry, *pair->poseB, pair->margin,
                                          true, &none, out);
    }
}

static bool isSameNormal(tpVec3 a, tpVec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Four points of a face are enough; a manifold may have several. Returns how many are left.
static int thinFaces(tpContactPoint* points, int count) {
    int kept = 0;
    for (int begin = 0, end; begin < count; begin = end) {
        end = begin + 1;
        while (end < count && isSameNormal(points[end].normal, points[begin].normal)) {
            ++end;
        }
        memmove(points + kept, points + begin, sizeof(*points) * (size_t)(end - begin));
        kept += tpThinManifold(points + kept, end - begin);
    }
    return kept;
}

// How far apart the shapes are along the normal of their nearest point. It is not asked for if the
// point itself is too near. A corner beside a face may be nearer along it than all points over it.
static double separationAt(const Pair* pair, const tpAnswer* answer, const tpContactPoint* point) {
    if (!isApart(pair, answer, point->gap, point->normal)) {
        return -INFINITY;
    }
    return tpSeparationAlong(&pair->a->form->geometry, *pair->poseA, &pair->b->form->geometry,
                             *pair->poseB, point->normal);
}

// A few points of each face; the nearest come first. If none is near enough for the next
// step, the pair is apart: one that has a manifold keeps it until it is farther away.
static void finish(const Pair* pair, tpAnswer* answer, tpContactList* out) {
    tpContactPoint* points = out->points + answer->first;
    int count = out->count - answer->first;
    if (count == 0) {
        return;
    }
    count = thinFaces(points, count);
    tpSortByGap(points, count);
    double apart = separationAt(pair, answer, &points[0]);
    if (isApart(pair, answer, apart, points[0].normal)) {
        answer->slack = apart;
        answer->along = points[0].normal;
        count = 0;
    } else if (points[0].gap > keptWithin(pair, answer, pair->need)) {
        answer->slack = fmin(answer->slack, points[0].gap);
        count = 0;
    } else {
        // The margin has left out nothing nearer than that; how far bodies may turn and slip
        // against each other is limited all the same.
        double beyond = answer->over.beyond;
        answer->slack =
            isinf(beyond) ? beyond : fmax(answer->slack, fmin(beyond, pair->margin + pair->size));
    }
    out->count = answer->first + count;
}

static void askBatch(const tpSmallStep* step, tpAnswer* list, int count, tpContactList* out) {
    const tpSystem* system = step->system;
    Pair pairs[batchSize];
    tpBoxBatch batches[batchSize / tp_boxesAtOnce];
    int places[batchSize], boxes = 0;
    for (int k = 0; k < count; ++k) {
        openPair(step, &list[k], &pairs[k]);
        places[k] = -1;
        if (areBoxes(&pairs[k])) {
            places[k] = boxes++;
            tpBoxBatch_Set(&batches[places[k] / tp_boxesAtOnce], places[k] % tp_boxesAtOnce,
                           &pairs[k].a->form->geometry, *pairs[k].poseA,
                           &pairs[k].b->form->geometry, *pairs[k].poseB);
        }
    }
    // The lanes that are left have the pair of the one before.
    for (int place = boxes; boxes > 0 && place % tp_boxesAtOnce != 0; ++place) {
        tpBoxBatch_Copy(&batches[place / tp_boxesAtOnce], (place - 1) % tp_boxesAtOnce,
                        place % tp_boxesAtOnce);
    }
    for (int place = 0; place < boxes; place += tp_boxesAtOnce) {
        tpBoxBatch_FindAxes(&batches[place / tp_boxesAtOnce]);
    }
    for (int k = 0; k < count; ++k) {
        tpAnswer* answer = &list[k];
        answer->first = out->count;
        if (places[k] >= 0) {
            collideBoxes(&batches[places[k] / tp_boxesAtOnce], places[k] % tp_boxesAtOnce,
                         &pairs[k], answer, out);
        } else {
            collideOthers(step, &pairs[k], answer, out);
        }
        if (system->isPlanar && out->count <= out->capacity) {
            flatten(system, answer, out, answer->first);
            answer->over.isFace = answer->over.isAlong = false;
        }
        if (out->count <= out->capacity) {
            finish(&pairs[k], answer, out);
        }
        answer->count = out->count - answer->first;
    }
}

void tpAskNarrowPhase(const tpSmallStep* step, tpAnswers* answers) {
    tpContactList out = { answers->points, 0, answers->pointRoom };
    for (int k = 0; k < answers->count; k += batchSize) {
        int count = answers->count - k < batchSize ? answers->count - k : batchSize;
        askBatch(step, answers->list + k, count, &out);
    }
    answers->pointCount = out.count;
}
