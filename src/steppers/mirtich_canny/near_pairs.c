// Which bodies may collide in this frame, and when at the earliest.
//
// At the start of a frame the swept boxes of all shapes go through the hierarchical hash; pairs
// whose boxes do not overlap are not looked at again [MirtichCanny94, sec. 3.2]. Two shapes d apart
// along n stay apart at least until
//
//     d + n . (v_A - v_B) t - (r_A w_A + r_B w_B) t + 1/2 (n . (a_A - a_B) - u_A - u_B) t^2 = 0
//
// with u what unsteady forces can add: the slab between two convex shapes moves with their centres
// of mass, and turning eats into it no faster than radius times angular speed. If one is not
// convex, n says nothing about its other parts, and the whole relative speed counts.
//
// After a collision the bound is found again without a question about distances: how far the slab
// has moved since the last one is known from the centres of mass, how far it was eaten into from
// the angles turned.

#include <string.h>

#include "collision/time_of_impact.h"
#include "geometry/shape.h"
#include "steppers/mirtich_canny/frame.h"

// Boxes are larger by this part of their way, so that small changes of velocity leave them valid.
static const double spareWay = 0.05;

// Work beside the checks, in their unit (check.c): of a new time for a pair, of a link of a walk,
// of a box that a new one is compared with. It counts if bodies sweep so much that each of them is
// in hundreds of pairs.
static const double updateWork = 40.0, linkWork = 2.0, boxWork = 4.0;

// More pairs of shapes than this are not kept: an event gives all pairs of its bodies new times. A
// thousand shapes may all meet all. With a gravity of 1e9 m/s^2 a frame of 10,000 spheres did not
// end.
enum { mostPairs = 500000, mostPairsPerShape = 64 };

static tpBounds spareBox(const tpEvents* events, int32_t shape, const tpBounds* tight) {
    tpBounds box = *tight;
    int body = tpCollider_GetBody(events->system->collider, shape);
    const tpFlight* flight = &events->flights.data[body];
    double margin = events->settings.tolerance;
    if (flight->kind != tp_standing) {
        double speed = tpLength(events->system->velocities.data[body].linear);
        margin += events->settings.tolerance + spareWay * speed * (events->length - flight->time);
    }
    tpVec3 grow = tpMakeVec3(margin, margin, margin);
    box.lower = tpSub(box.lower, grow);
    box.upper = tpAdd(box.upper, grow);
    return box;
}

static bool isInside(const tpBounds* inner, const tpBounds* outer) {
    return inner->lower.x >= outer->lower.x && inner->lower.y >= outer->lower.y &&
           inner->lower.z >= outer->lower.z && inner->upper.x <= outer->upper.x &&
           inner->upper.y <= outer->upper.y && inner->upper.z <= outer->upper.z;
}

// Marks all bodies that a body has a pair with: one walk over its links, instead of one per
// question.
static void markPairs(tpEvents* events, int body) {
    events->mark += 1;
    for (int link = events->flights.data[body].firstLink; link >= 0;) {
        const tpNearPair* pair = &events->nearPairs.data[link / 2];
        tpFlight* other = &events->flights.data[pair->body[1 - link % 2]];
        other->mark = events->mark;
        other->markedPair = link / 2;
        link = pair->nextLink[link % 2];
        events->searchWork += linkWork;
    }
}

// The pair of the marked body with another one, or -1.
static int findPair(const tpEvents* events, int other) {
    const tpFlight* flight = &events->flights.data[other];
    return flight->mark == events->mark ? flight->markedPair : -1;
}

static int addPair(tpEvents* events, int bodyA, int bodyB) {
    int index = events->nearPairs.count;
    tpNearPair pair = { { bodyA, bodyB }, { -1, -1 }, -1 };
    if (!TP_PUSH(&events->allocator, events->nearPairs, pair) ||
        !tpHeap_Reserve(&events->heap, &events->allocator, index + 2)) {
        return -1;
    }
    for (int side = 0; side < 2; ++side) {
        int* first = &events->flights.data[side == 0 ? bodyA : bodyB].firstLink;
        events->nearPairs.data[index].nextLink[side] = *first;
        *first = 2 * index + side;
    }
    return index;
}

// `marked` is the shape of the marked body.
static bool addNearShapes(tpEvents* events, int32_t shapeA, int32_t shapeB, int32_t marked,
                          const tpPairCache* cache, double time) {
    const tpCollider* collider = events->system->collider;
    int bodyA = tpCollider_GetBody(collider, shapeA), bodyB = tpCollider_GetBody(collider, shapeB);
    if (events->nearShapes.count >= mostPairs + (int64_t)mostPairsPerShape * events->boxes.count) {
        events->system->hasTooManyPairs = true;
        return false;
    }
    int other = marked == shapeA ? bodyB : bodyA, pair = findPair(events, other);
    pair = pair >= 0 ? pair : addPair(events, bodyA, bodyB);
    if (pair < 0) {
        return false;
    }
    events->flights.data[other].mark = events->mark;
    events->flights.data[other].markedPair = pair;
    const tpShapeClass* classA = tpClassOf(tpCollider_GetGeometry(collider, shapeA));
    const tpShapeClass* classB = tpClassOf(tpCollider_GetGeometry(collider, shapeB));
    tpNearShapes shapes;
    memset(&shapes, 0, sizeof(shapes));
    shapes.shapeA = shapeA;
    shapes.shapeB = shapeB;
    shapes.isConvex = classA->isConvex && classB->isConvex;
    shapes.isCurved = classA->isCurved || classB->isCurved;
    shapes.due = time;
    shapes.next = events->nearPairs.data[pair].firstShapes;
    if (cache != NULL) {
        shapes.cache = *cache;
    }
    if (!TP_PUSH(&events->allocator, events->nearShapes, shapes)) {
        return false;
    }
    events->nearPairs.data[pair].firstShapes = events->nearShapes.count - 1;
    events->hasNewcomers = events->hasNewcomers || tpEvents_IsStepped(events, pair);
    tpHeap_Set(&events->heap, pair + 1, time);
    return true;
}

static bool mayPair(const void* context, int32_t a, int32_t b) {
    return tpCollider_MayCollide(context, a, b);
}

bool tpEvents_FindNearPairs(tpEvents* events) {
    const tpCollider* collider = events->system->collider;
    for (int i = 0; i < events->boxes.count; ++i) {
        if (!tpCollider_HasShape(collider, i)) {
            events->boxes.data[i] = (tpBounds){ tpZeroVec3(), tpZeroVec3() };
            events->kinds.data[i] = tp_noProxy;
            continue;
        }
        tpBounds tight = tpEvents_SweptBox(events, i);
        events->boxes.data[i] = spareBox(events, i, &tight);
        events->kinds.data[i] = tpCollider_IsMovable(collider, i) ? tp_movableProxy : tp_fixedProxy;
    }
    tpProxies proxies = {
        events->boxes.data, events->kinds.data, events->boxes.count, mayPair, collider, NULL
    };
    events->nearShapes.count = events->nearPairs.count = 0;
    tpResult found =
        tp_hashBroadPhase.findPairs(events->hash, &proxies, events->system->tasks, &events->pairs);
    if (found == tp_unsupported) {
        events->system->hasTooManyPairs = true;
    }
    if (found != tp_success || !tpHeap_Reserve(&events->heap, &events->allocator, 1)) {
        return false;
    }
    tpHeap_Clear(&events->heap);
    // What is known of a pair goes with it; both lists are sorted.
    bool isKnownValid = events->knownStructure == events->system->structure;
    int k = 0, marked = -1;
    for (int i = 0; i < events->pairs.count; ++i) {
        tpShapePair pair = events->pairs.data[i];
        int body = tpCollider_GetBody(collider, pair.shapeA);
        if (body != marked) {
            markPairs(events, body);
            marked = body;
        }
        const tpKnownShapes* known = events->known.data;
        while (isKnownValid && k < events->known.count &&
               (known[k].shapeA < pair.shapeA ||
                (known[k].shapeA == pair.shapeA && known[k].shapeB < pair.shapeB))) {
            ++k;
        }
        bool isKnown = isKnownValid && k < events->known.count && known[k].shapeA == pair.shapeA &&
                       known[k].shapeB == pair.shapeB;
        if (!addNearShapes(events, pair.shapeA, pair.shapeB, pair.shapeA,
                           isKnown ? &known[k].cache : NULL, 0.0)) {
            return false;
        }
    }
    return true;
}

bool tpEvents_KeepKnown(tpEvents* events) {
    if (!TP_RESERVE(&events->allocator, events->known, events->nearShapes.count)) {
        return false;
    }
    // The frame's first pairs are in order; those that came later are inserted.
    tpKnownShapes* known = events->known.data;
    for (int i = 0; i < events->nearShapes.count; ++i) {
        const tpNearShapes* shapes = &events->nearShapes.data[i];
        int place = i;
        while (place > 0 && (known[place - 1].shapeA > shapes->shapeA ||
                             (known[place - 1].shapeA == shapes->shapeA &&
                              known[place - 1].shapeB > shapes->shapeB))) {
            known[place] = known[place - 1];
            --place;
        }
        known[place] = (tpKnownShapes){ shapes->shapeA, shapes->shapeB, shapes->cache };
    }
    events->known.count = events->nearShapes.count;
    events->knownStructure = events->system->structure;
    return true;
}

// Times -----------------------------------------------------------------------------------------

// The radius of a shape, or for one without end how far it is to the other: what is farther off
// cannot touch in this frame.
static double reachOf(const tpEvents* events, int32_t shape, int32_t other, double time,
                      tpVec3 apart, tpVec3 velocity, double acceleration) {
    double radius = events->radii.data[shape];
    if (!isinf(radius)) {
        return radius;
    }
    double T = events->length - time;
    double otherRadius = tpGeometry_RadiusAbout(
        tpCollider_GetGeometry(events->system->collider, other), tpZeroVec3());
    return tpLength(apart) + T * (tpLength(velocity) + 0.5 * T * acceleration) + otherRadius;
}

double tpEvents_Bound(const tpEvents* events, const tpNearShapes* shapes, double time,
                      double distance) {
    if (!(distance > 0.0)) {
        return time;
    }
    const tpCollider* collider = events->system->collider;
    int a = tpCollider_GetBody(collider, shapes->shapeA);
    int b = tpCollider_GetBody(collider, shapes->shapeB);
    const tpFlight* flightA = &events->flights.data[a];
    const tpFlight* flightB = &events->flights.data[b];
    tpVec3 apart = tpSub(tpEvents_PlaceAt(events, a, time), tpEvents_PlaceAt(events, b, time));
    tpVec3 velocity =
        tpSub(tpEvents_VelocityAt(events, a, time), tpEvents_VelocityAt(events, b, time));
    tpVec3 acceleration = tpSub(flightA->acceleration, flightB->acceleration);
    double unsteady = flightA->unsteady + flightB->unsteady;
    double size = tpLength(acceleration) + unsteady;
    double reachA = reachOf(events, shapes->shapeA, shapes->shapeB, time, apart, velocity, size);
    double reachB = reachOf(events, shapes->shapeB, shapes->shapeA, time, apart, velocity, size);
    double turning = tpEvents_TurningSpeed(events, shapes->shapeA, shapes->normal, reachA) +
                     tpEvents_TurningSpeed(events, shapes->shapeB, shapes->normal, reachB);
    double speed = shapes->isConvex ? tpDot(shapes->normal, velocity) : -tpLength(velocity);
    double bend = shapes->isConvex ? tpDot(shapes->normal, acceleration) - unsteady : -size;
    double dt = tpFirstRoot(distance, speed - turning, bend);
    return time + dt < events->length ? time + dt : INFINITY;
}

// How far apart two shapes still are at least, from what the last question told.
static double distanceLeft(const tpEvents* events, const tpNearShapes* shapes, double time) {
    const tpCollider* collider = events->system->collider;
    int a = tpCollider_GetBody(collider, shapes->shapeA);
    int b = tpCollider_GetBody(collider, shapes->shapeB);
    const tpFlight* flightA = &events->flights.data[a];
    const tpFlight* flightB = &events->flights.data[b];
    double radiusA = events->radii.data[shapes->shapeA],
           radiusB = events->radii.data[shapes->shapeB];
    double angleA = flightA->turned + flightA->spin * (time - flightA->time) - shapes->turnedA;
    double angleB = flightB->turned + flightB->spin * (time - flightB->time) - shapes->turnedB;
    if (!shapes->isConvex || (isinf(radiusA) && angleA > 0.0) || (isinf(radiusB) && angleB > 0.0)) {
        return 0.0;
    }
    tpVec3 apart = tpSub(tpEvents_PlaceAt(events, a, time), tpEvents_PlaceAt(events, b, time));
    double moved = tpDot(shapes->normal, apart) - shapes->offset;
    double eaten =
        (angleA > 0.0 ? radiusA * angleA : 0.0) + (angleB > 0.0 ? radiusB * angleB : 0.0);
    return shapes->distance + moved - eaten;
}

// New times for a pair one of whose bodies has another velocity now.
static void updatePair(tpEvents* events, int index, double time) {
    events->searchWork += updateWork;
    if (tpEvents_IsStepped(events, index)) {
        tpHeap_Remove(&events->heap, index + 1);
        return;
    }
    double due = INFINITY;
    // Where a body under unsteady forces will be is known only by going there.
    for (int side = 0; side < 2; ++side) {
        int body = events->nearPairs.data[index].body[side];
        if (events->flights.data[body].hasForces) {
            tpEvents_Advance(events, body, time);
        }
    }
    for (int i = events->nearPairs.data[index].firstShapes; i >= 0;
         i = events->nearShapes.data[i].next) {
        tpNearShapes* shapes = &events->nearShapes.data[i];
        // What was due already is asked anyhow, and what is close may touch at once.
        if (shapes->isClose) {
            shapes->due = time;
        } else if (shapes->due > time) {
            double left = distanceLeft(events, shapes, time);
            shapes->due = tpEvents_Bound(events, shapes, time, left);
        }
        due = fmin(due, shapes->due);
    }
    tpHeap_Set(&events->heap, index + 1, fmax(due, time));
}

void tpEvents_UpdateAsked(tpEvents* events, int pair, double time) {
    for (int i = events->nearPairs.data[pair].firstShapes; i >= 0;
         i = events->nearShapes.data[i].next) {
        tpNearShapes* shapes = &events->nearShapes.data[i];
        double left = shapes->isClose ? shapes->margin : distanceLeft(events, shapes, time);
        shapes->due = tpEvents_Bound(events, shapes, time, left);
    }
}

// Whether two shapes are near each other; `other` is the body that is not marked.
static bool isNear(const tpEvents* events, int other, int32_t low, int32_t high) {
    int pair = findPair(events, other);
    for (int i = pair >= 0 ? events->nearPairs.data[pair].firstShapes : -1; i >= 0;
         i = events->nearShapes.data[i].next) {
        const tpNearShapes* shapes = &events->nearShapes.data[i];
        if (shapes->shapeA == low && shapes->shapeB == high) {
            return true;
        }
    }
    return false;
}

// The shape sweeps more than it did: pairs with whatever its new box meets.
static bool meetOthers(tpEvents* events, int32_t shape, double time) {
    const tpCollider* collider = events->system->collider;
    tpProxies proxies = {
        events->boxes.data, events->kinds.data, events->boxes.count, mayPair, collider, NULL
    };
    events->searchWork += boxWork * events->boxes.count;
    markPairs(events, tpCollider_GetBody(collider, shape));
    for (int32_t other = 0; other < events->boxes.count; ++other) {
        int32_t low = shape < other ? shape : other, high = shape < other ? other : shape;
        if (other == shape || !tpProxies_ArePair(&proxies, low, high) ||
            isNear(events, tpCollider_GetBody(collider, other), low, high)) {
            continue;
        }
        if (!addNearShapes(events, low, high, shape, NULL, time)) {
            return false;
        }
    }
    return true;
}

void tpEvents_UpdateBody(tpEvents* events, int body, double time, int except) {
    tpSystem* system = events->system;
    tpEvents_RefreshFlight(events, body);
    for (int link = events->flights.data[body].firstLink; link >= 0;) {
        int pair = link / 2;
        if (pair != except) {
            updatePair(events, pair, time);
        }
        link = events->nearPairs.data[pair].nextLink[link % 2];
    }
    for (int s = system->bodies.data[body].firstShape; s >= 0; s = system->shapes.data[s].next) {
        int32_t shape = (int32_t)s;
        tpBounds tight = tpEvents_SweptBox(events, shape);
        if (!isInside(&tight, &events->boxes.data[shape])) {
            events->boxes.data[shape] = spareBox(events, shape, &tight);
            if (!meetOthers(events, shape, time)) {
                events->outOfMemory = true;
                return;
            }
        }
    }
}
