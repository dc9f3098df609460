// The question at the top of the heap: how far apart are two bodies, and what follows from it.
//
// Far apart, a pair goes back into the heap with a new lower bound of its time of impact. Within
// the tolerance eps_c all contacts of the pair are looked at, each with its gap, the rate of the
// gap and its acceleration. The pair collides when one of them has closed: at once where it closes
// fast (located by Newton's method); with the next beat of the frame where it closes slowly; and in
// any case where it is 2/5 eps_c deep and goes on.
//
// The beat: slow contacts collide at the times (j + 1/2) T, where the frame is a whole number of
// periods T. What rests then is at the top of its hop at the end of each frame, at the place where
// it rests, not anywhere on its way: hops cannot be seen as a drift.
//
// Deviation from the paper: it collides a pair wherever the distance is found below eps_c, and
// closest points alone. Here collisions take place where surfaces meet, so that heights of bounces
// do not depend on eps_c; only slow contacts use the room that eps_c gives them.

#include "dynamics/rotation.h"
#include "dynamics/step_budget.h"
#include "geometry/shape.h"
#include "steppers/mirtich_canny/frame.h"

// Turning that bends ways by less than this part of the tolerance in a period is not looked into.
static const double bentPart = 0.01;

// Slow contacts of bodies that turn fast are looked at again after this part of the frame.
static const double leastTurn = 2e-4;

double tpEvents_MicroSpeed(const tpEventSettings* settings, double fall) {
    if (settings->microSpeed >= 0.0) {
        return settings->microSpeed;
    }
    // If nothing presses the bodies together, a small part of what it would be under all forces.
    double least = 0.05 * sqrt(2.0 * settings->pull * settings->tolerance);
    return fmax(fmax(sqrt(2.0 * fmax(fall, 0.0) * settings->tolerance), least),
                settings->leastSpeed);
}

tpVec3 tpEvents_SurfaceAcceleration(const tpEvents* events, int body, tpVec3 point,
                                    tpVec3 velocity) {
    const tpFlight* flight = &events->flights.data[body];
    const tpVelocity* own = &events->system->velocities.data[body];
    tpVec3 arm = tpSub(point, events->system->poses.data[body].position);
    tpVec3 a = tpAdd(tpAdd(flight->acceleration, flight->push), tpCross(flight->twist, arm));
    return tpAdd(a, tpCross(own->angular, tpSub(velocity, own->linear)));
}

// How the contact itself moves on: with the centre of a ball, else with the body that can fly.
static tpVec3 contactVelocity(const tpEvents* events, const tpNearContact* touch) {
    const tpSystem* system = events->system;
    const tpContact* contact = &touch->contact;
    const tpNearShapes* shapes = &events->nearShapes.data[touch->nearShapes];
    if (events->radii.data[shapes->shapeA] == 0.0) {
        return system->velocities.data[contact->bodyA].linear;
    }
    if (events->radii.data[shapes->shapeB] == 0.0) {
        return system->velocities.data[contact->bodyB].linear;
    }
    bool isA = events->flights.data[contact->bodyA].kind == tp_ballistic;
    return tpSystem_PointVelocity(system, isA ? contact->bodyA : contact->bodyB, contact->pointA);
}

// How much turning bends the way of a contact beyond what its velocity tells, at most, m/s^2.
static double turningBend(const tpEvents* events, const tpNearContact* touch) {
    double bending = 0.0;
    for (int side = 0; side < 2; ++side) {
        const tpNearShapes* shapes = &events->nearShapes.data[touch->nearShapes];
        int32_t shape = side == 0 ? shapes->shapeA : shapes->shapeB;
        int body = side == 0 ? touch->contact.bodyA : touch->contact.bodyB;
        tpVec3 point = side == 0 ? touch->contact.pointA : touch->contact.pointB;
        double radius = events->radii.data[shape];
        radius = isinf(radius) ? tpDistanceBetween(point, events->system->poses.data[body].position)
                               : radius;
        double speed = tpEvents_TurningSpeed(events, shape, touch->contact.normal, radius);
        bending += radius > 0.0 ? 2.0 * speed * speed / radius : 0.0;
    }
    return bending;
}

// How the gap of a touch changes now.
static void measureTouch(const tpEvents* events, tpNearContact* touch) {
    const tpSystem* system = events->system;
    const tpContact* contact = &touch->contact;
    tpVec3 n = contact->normal;
    tpVec3 velocity = tpSub(tpSystem_PointVelocity(system, contact->bodyA, contact->pointA),
                            tpSystem_PointVelocity(system, contact->bodyB, contact->pointB));
    touch->rate = tpDot(n, velocity);
    touch->bend = 0.0;
    for (int side = 0; side < 2; ++side) {
        int body = side == 0 ? contact->bodyA : contact->bodyB;
        tpVec3 point = side == 0 ? contact->pointA : contact->pointB;
        const tpFlight* flight = &events->flights.data[body];
        tpVec3 arm = tpSub(point, system->poses.data[body].position);
        tpVec3 acceleration = tpAdd(flight->acceleration, flight->push);
        acceleration = tpAdd(acceleration, tpCross(flight->twist, arm));
        touch->bend += (side == 0 ? 1.0 : -1.0) * tpDot(n, acceleration);
    }
    const tpNearShapes* shapes = &events->nearShapes.data[touch->nearShapes];
    double press = touch->bend;
    if (shapes->isBent) {
        // Before they meet, rolling presses no harder than a few times what turning bends the ways
        // of points by; the rest is a collision.
        bool isDeep = contact->gap < -0.5 * events->settings.deepest;
        double most = 2.0 * turningBend(events, touch) + 2.0 * fabs(touch->bend);
        press = fmin(press, isDeep ? shapes->press : fmax(shapes->press, -most));
        touch->bend = fmin(touch->bend, shapes->press);
    }
    touch->microSpeed = tpEvents_MicroSpeed(&events->settings, -press);
    tpVec3 along = contactVelocity(events, touch);
    tpVec3 a = tpSub(tpEvents_SurfaceAcceleration(events, contact->bodyA, contact->pointA, along),
                     tpEvents_SurfaceAcceleration(events, contact->bodyB, contact->pointB, along));
    a = tpMulAdd(a, fmin(press, 0.0) - tpDot(n, a), n);
    touch->rest = tpScale(0.5 * events->settings.period, a);
}

bool tpEvents_CollectTouches(tpEvents* events, int index, double margin) {
    tpSystem* system = events->system;
    const tpCollider* collider = system->collider;
    tpNearShapes* shapes = &events->nearShapes.data[index];
    int bodyA = tpCollider_GetBody(collider, shapes->shapeA);
    int bodyB = tpCollider_GetBody(collider, shapes->shapeB);
    const tpGeometry* a = tpCollider_GetGeometry(collider, shapes->shapeA);
    const tpGeometry* b = tpCollider_GetGeometry(collider, shapes->shapeB);
    tpContactList list = { events->points.data, 0, events->points.capacity };
    tpPairCache cache = shapes->cache;
    tpCollide(a, system->poses.data[bodyA], b, system->poses.data[bodyB], margin, &shapes->cache,
              &list);
    if (list.count > list.capacity) {
        if (!TP_RESERVE(&events->allocator, events->points, list.count)) {
            return false;
        }
        list = (tpContactList){ events->points.data, 0, events->points.capacity };
        shapes->cache = cache;
        tpCollide(a, system->poses.data[bodyA], b, system->poses.data[bodyB], margin,
                  &shapes->cache, &list);
    }
    int first = events->touches.count;
    if (!TP_RESERVE(&events->allocator, events->touches, first + list.count)) {
        return false;
    }
    int32_t shapeA = shapes->shapeA, shapeB = shapes->shapeB;
    for (int i = 0; i < list.count; ++i) {
        const tpContactPoint* p = &list.points[i];
        tpContact contact = { bodyA,     bodyB,     shapeA,    shapeB, p->feature,
                              p->pointA, p->pointB, p->normal, p->gap };
        if (system->isPlanar && tpContacts_Flatten(system, system->poses.data, &contact, 1) == 0) {
            continue;
        }
        bool isNew = true;
        for (int k = first; system->isPlanar && isNew && k < events->touches.count; ++k) {
            // Points that differ only in depth are one.
            const tpContact* other = &events->touches.data[k].contact;
            isNew = tpDistanceBetween(other->pointA, contact.pointA) >
                    1e-3 * events->settings.tolerance;
        }
        if (isNew) {
            events->touches.data[events->touches.count++] =
                (tpNearContact){ .contact = contact, .nearShapes = index };
        }
    }
    return true;
}

// Where a body will be a moment later.
static tpPose poseAfter(const tpEvents* events, int body, double dt) {
    const tpSystem* system = events->system;
    const tpFlight* flight = &events->flights.data[body];
    tpPose pose = system->poses.data[body];
    tpVec3 angular = system->velocities.data[body].angular;
    if (flight->kind == tp_standing) {
        return pose;
    }
    pose.position = tpEvents_PlaceAt(events, body, flight->time + dt);
    if (flight->kind == tp_ballistic) {
        tpSystem_Rotate(system, body, dt, &pose.rotation, &angular);
    } else {
        pose.rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(tpScale(dt, angular)), pose.rotation));
    }
    return pose;
}

// How fast the distance bends is not in the forces alone where bodies turn, and for curved shapes
// not even in the motion of their material: a disc that rolls on its edge comes down faster than
// its points fall. Where both will be a moment later tells. Both bodies are at the same time.
static void learnPress(tpEvents* events, tpNearShapes* shapes) {
    const tpSystem* system = events->system;
    const tpCollider* collider = system->collider;
    int a = tpCollider_GetBody(collider, shapes->shapeA);
    int b = tpCollider_GetBody(collider, shapes->shapeB);
    double dt = events->settings.shortest;
    tpVec3 velocity = tpSub(tpSystem_PointVelocity(system, a, shapes->nearestA),
                            tpSystem_PointVelocity(system, b, shapes->nearestB));
    tpClosest then;
    tpClosestPoints(tpCollider_GetGeometry(collider, shapes->shapeA), poseAfter(events, a, dt),
                    tpCollider_GetGeometry(collider, shapes->shapeB), poseAfter(events, b, dt),
                    &shapes->cache, &then);
    double moved = then.distance - shapes->nearest;
    shapes->press = 2.0 * (moved / dt - tpDot(shapes->normal, velocity)) / dt;
}

// The distance of two shapes now. Returns the way from the centre of B to that of A.
static tpVec3 measureDistance(tpEvents* events, tpNearShapes* shapes, tpClosest* closest) {
    const tpSystem* system = events->system;
    const tpCollider* collider = system->collider;
    int bodyA = tpCollider_GetBody(collider, shapes->shapeA);
    int bodyB = tpCollider_GetBody(collider, shapes->shapeB);
    tpClosestPoints(tpCollider_GetGeometry(collider, shapes->shapeA), system->poses.data[bodyA],
                    tpCollider_GetGeometry(collider, shapes->shapeB), system->poses.data[bodyB],
                    &shapes->cache, closest);
    events->report->figures[tp_checkFigure] += 1;
    events->report->penetration = fmax(events->report->penetration, -closest->distance);
    tpVec3 apart = tpSub(system->poses.data[bodyA].position, system->poses.data[bodyB].position);
    shapes->distance = shapes->nearest = closest->distance;
    shapes->nearestA = closest->pointA;
    shapes->nearestB = closest->pointB;
    shapes->normal = closest->normal;
    shapes->offset = tpDot(closest->normal, apart);
    shapes->turnedA = events->flights.data[bodyA].turned;
    shapes->turnedB = events->flights.data[bodyB].turned;
    shapes->isClose = closest->distance <= events->settings.tolerance;
    return apart;
}

// Up to which gap contacts of two close shapes must be known, so that no other contact can close
// before the next question. Learns on the way how fast the distance bends, if it does.
static double marginOfTouches(tpEvents* events, tpNearShapes* shapes, tpVec3 apart, double time) {
    const tpCollider* collider = events->system->collider;
    const tpEventSettings* settings = &events->settings;
    double span = fmin(1.25 * settings->period, events->length - time);
    double margin = settings->tolerance;
    double radiusA = events->radii.data[shapes->shapeA];
    double radiusB = events->radii.data[shapes->shapeB];
    radiusA = isinf(radiusA) ? tpLength(apart) : radiusA;
    radiusB = isinf(radiusB) ? tpLength(apart) : radiusB;
    double turnA = tpEvents_TurningSpeed(events, shapes->shapeA, shapes->normal, radiusA);
    double turnB = tpEvents_TurningSpeed(events, shapes->shapeB, shapes->normal, radiusB);
    margin += span * (turnA + turnB);
    double bending = (radiusA > 0.0 ? turnA * turnA / radiusA : 0.0) +
                     (radiusB > 0.0 ? turnB * turnB / radiusB : 0.0);
    double period = settings->period;
    shapes->isBent = shapes->isCurved || bending * period * period > bentPart * settings->tolerance;
    if (shapes->isBent) {
        learnPress(events, shapes);
    }
    if (!shapes->isConvex) {
        int bodyA = tpCollider_GetBody(collider, shapes->shapeA);
        int bodyB = tpCollider_GetBody(collider, shapes->shapeB);
        margin += span * tpDistanceBetween(tpEvents_VelocityAt(events, bodyA, time),
                                           tpEvents_VelocityAt(events, bodyB, time));
    }
    return margin;
}

// Contacts of faces that nearly lie on each other have a face's normal, while edges are nearest.
// How the distance itself changes is for the lowest contact to tell: it takes the closest points.
static void preferNearest(tpEvents* events, const tpClosest* closest, int lowest) {
    tpContact* contact = &events->touches.data[lowest].contact;
    if (closest->distance <= contact->gap + events->settings.landing &&
        tpDistanceBetween(contact->normal, closest->normal) > 1e-9) {
        contact->pointA = closest->pointA;
        contact->pointB = closest->pointB;
        contact->normal = closest->normal;
        contact->gap = closest->distance;
    }
}

// Work of a check and of each touch that it finds, beside the query of its shapes; a collision is
// part of it. Measured on bodies that are pressed onto a floor: 1.5 microseconds per check of a
// ball, 3.5 of a box with four touches.
static const double checkWork = 1200.0, touchWork = 600.0;

// The distance of two shapes, and when it can be zero at the earliest. Touches if they are close.
static bool askShapes(tpEvents* events, int index, double time) {
    tpNearShapes* shapes = &events->nearShapes.data[index];
    tpClosest closest;
    tpVec3 apart = measureDistance(events, shapes, &closest);
    tpShapePair pair = { shapes->shapeA, shapes->shapeB };
    events->work += checkWork + tpStepBudget_WorkOfPair(events->system->collider, pair);
    if (!shapes->isClose) {
        shapes->due = tpEvents_Bound(events, shapes, time, closest.distance);
        return true;
    }
    double margin = marginOfTouches(events, shapes, apart, time);
    int first = events->touches.count;
    if (!tpEvents_CollectTouches(events, index, margin)) {
        return false;
    }
    events->work += touchWork * (events->touches.count - first);
    shapes = &events->nearShapes.data[index];
    shapes->margin = margin;
    shapes->due = tpEvents_Bound(events, shapes, time, margin);
    // Deeper contacts than the closest points tell are the ones to go by.
    int lowest = first;
    for (int i = first; i < events->touches.count; ++i) {
        double gap = events->touches.data[i].contact.gap;
        lowest = gap < events->touches.data[lowest].contact.gap ? i : lowest;
        shapes->distance = fmin(shapes->distance, gap);
    }
    if (lowest < events->touches.count && !events->system->isPlanar) {
        preferNearest(events, &closest, lowest);
    }
    return true;
}

// When the gap d + s t + 1/2 c t^2 is zero and falls; INFINITY if it never is.
static double fallingRoot(double d, double s, double c) {
    double discriminant = s * s - 2.0 * c * d;
    if (discriminant < 0.0 || !(s < 0.0 || c < 0.0)) {
        return INFINITY;
    }
    double root = sqrt(discriminant);
    return s < 0.0 ? 2.0 * d / (root - s) : (s + root) / -c;
}

// The next of the times (j + 1/2) T after `time`.
static double beat(const tpEventSettings* settings, double time) {
    double j = ceil(time / settings->period - 0.5 - 1e-9);
    return (j + 0.5) * settings->period;
}

// How long from `time` on a touch goes on before it collides.
static double timeToCollide(const tpEventSettings* settings, double time,
                            const tpNearContact* touch) {
    double d = touch->contact.gap, s = touch->rate, c = touch->bend;
    // Down to the deepest level.
    double deep = d + settings->deepest;
    double falls = s < 0.0 ? 0.0 : c < 0.0 ? s / -c : INFINITY;
    double sink = deep > 0.0 ? fallingRoot(deep, s, c) : falls;
    // Closed and closing, now or once it has opened again on its way.
    bool opens = s > 0.0 && c < 0.0 && d - 0.5 * s * s / c > 0.0;
    double close = d > settings->landing || opens ? fallingRoot(d, s, c) : falls;
    if (isinf(close)) {
        return sink;
    }
    bool isFast = s + c * close <= -0.5 * touch->microSpeed;
    return fmin(sink, isFast ? close : beat(settings, time + close) - time);
}

// Over this time turning bends the way of a contact by no more than a part of the tolerance.
static double timeOfBending(const tpEvents* events, const tpNearContact* touch) {
    double bending = turningBend(events, touch);
    return bending > 0.0 ? sqrt(0.5 * events->settings.tolerance / bending) : INFINITY;
}

// Slow contacts are given time to hop. One that is as deep as it may be would hop ever faster; what
// it sinks by in this time is a part of the tolerance, and it comes back up with the speed it
// gains.
//
// Other points of a body that turns fast come down in the meantime: a cone that has landed on its
// tip at 500 m/s turns through all of the floor's triangles in a tenth of the shortest wait. So the
// wait is at most four times as long as turning takes to bend the way of the contact, but no less
// than the frame's budget of checks allows.
static double shortestWait(const tpEvents* events, const tpNearContact* touch, double bending) {
    const tpEventSettings* settings = &events->settings;
    double sinks =
        touch->bend < 0.0 ? sqrt(0.15 * settings->tolerance / -touch->bend) : settings->shortest;
    bool isDeep = touch->contact.gap <= -0.5 * settings->deepest && touch->bend < 0.0;
    double wait = fmin(isDeep ? 0.5 * settings->period : settings->shortest, sinks);
    double turn = fmax(4.0 * bending, leastTurn * events->length);
    return fmin(fmax(wait, 0.1 * settings->shortest), turn);
}

// When the close shapes of a pair have to be looked at again, all touches measured.
static double nextTime(tpEvents* events, int pair, double time) {
    for (int i = 0; i < events->touches.count; ++i) {
        tpNearContact* touch = &events->touches.data[i];
        tpNearShapes* shapes = &events->nearShapes.data[touch->nearShapes];
        double wait = timeToCollide(&events->settings, time, touch);
        if (shapes->isBent && touch->contact.gap > -events->settings.deepest) {
            // The flatter a disc rolls, the harder it is pressed: it may come down twice as fast as
            // it seems.
            double room = touch->contact.gap + events->settings.deepest;
            wait = fmin(wait, fallingRoot(room, touch->rate, 2.0 * touch->bend));
        }
        bool isSlow = touch->rate > -0.5 * touch->microSpeed;
        double bending = timeOfBending(events, touch);
        wait = fmin(wait, bending);
        wait = isSlow ? fmax(wait, shortestWait(events, touch, bending)) : wait;
        shapes->due = fmin(shapes->due, time + wait);
    }
    double due = INFINITY;
    for (int i = events->nearPairs.data[pair].firstShapes; i >= 0;
         i = events->nearShapes.data[i].next) {
        due = fmin(due, events->nearShapes.data[i].due);
    }
    return due;
}

// All contacts of a pair that may collide now, measured.
static bool ask(tpEvents* events, int pair, double time) {
    events->touches.count = 0;
    for (int i = events->nearPairs.data[pair].firstShapes; i >= 0;
         i = events->nearShapes.data[i].next) {
        const tpNearShapes* shapes = &events->nearShapes.data[i];
        if ((shapes->due <= time || shapes->isClose) && !askShapes(events, i, time)) {
            return false;
        }
    }
    for (int i = 0; i < events->touches.count; ++i) {
        measureTouch(events, &events->touches.data[i]);
    }
    return true;
}

static bool isColliding(const tpEvents* events, double time) {
    // Slow contacts are met to within rounding of the beat.
    double rounding = 1e-6 * events->settings.period;
    for (int i = 0; i < events->touches.count; ++i) {
        if (timeToCollide(&events->settings, time, &events->touches.data[i]) <= rounding) {
            return true;
        }
    }
    return false;
}

// The velocities of a pair that has collided are others now.
static void follow(tpEvents* events, int pair, double time) {
    const tpNearPair* bodies = &events->nearPairs.data[pair];
    tpEvents_RefreshFlight(events, bodies->body[0]);
    tpEvents_RefreshFlight(events, bodies->body[1]);
    tpEvents_UpdateAsked(events, pair, time);
    for (int i = bodies->firstShapes; i >= 0; i = events->nearShapes.data[i].next) {
        tpNearShapes* shapes = &events->nearShapes.data[i];
        if (shapes->isClose && shapes->isBent) {
            learnPress(events, shapes);
        }
    }
    for (int i = 0; i < events->touches.count; ++i) {
        measureTouch(events, &events->touches.data[i]);
    }
    for (int side = 0; side < 2; ++side) {
        int body = events->nearPairs.data[pair].body[side];
        if (tpEvents_IsMovable(events, body)) {
            tpEvents_UpdateBody(events, body, time, pair);
        }
    }
}

// Whether a body touches others than the one of this pair.
static bool hasOthers(const tpEvents* events, int body, int pair) {
    for (int link = events->flights.data[body].firstLink; link >= 0;) {
        const tpNearPair* near = &events->nearPairs.data[link / 2];
        for (int i = near->firstShapes; link / 2 != pair && i >= 0;
             i = events->nearShapes.data[i].next) {
            if (events->nearShapes.data[i].isClose) {
                return true;
            }
        }
        link = near->nextLink[link % 2];
    }
    return false;
}

// Contacts that others press deeper than they can hop out of go to the time stepper.
static void helpPressed(tpEvents* events, int pair) {
    bool isPressed = false;
    for (int i = 0; i < events->touches.count; ++i) {
        const tpNearContact* touch = &events->touches.data[i];
        isPressed = isPressed || (touch->contact.gap < -events->settings.pressed &&
                                  touch->rate < 0.5 * touch->microSpeed);
    }
    for (int side = 0; isPressed && side < 2; ++side) {
        int body = events->nearPairs.data[pair].body[side];
        if (events->flights.data[body].kind == tp_ballistic && hasOthers(events, body, pair)) {
            tpEvents_HandOver(events, body);
        }
    }
}

// What is in flight has come upon a body of the time stepper, whose step has ended here for that:
// it collides, or where it does not come fast it joins. Then the next step begins.
static void meetStepped(tpEvents* events, int pair, double time) {
    bool isFast = false;
    for (int i = 0; i < events->touches.count; ++i) {
        const tpNearContact* touch = &events->touches.data[i];
        isFast = isFast || (touch->rate <= -touch->microSpeed &&
                            touch->contact.gap <= events->settings.tolerance);
    }
    bool mayCollide = isFast && !tpEvents_HasManySteps(events);
    if (mayCollide && tpEvents_Collide(events, pair)) {
        follow(events, pair, time);
    } else {
        for (int side = 0; side < 2; ++side) {
            int body = events->nearPairs.data[pair].body[side];
            if (events->flights.data[body].kind == tp_ballistic) {
                tpEvents_HandOver(events, body);
            }
        }
    }
    tpEvents_ScheduleStep(events, time);
}

void tpEvents_Check(tpEvents* events, int pair, double time) {
    if (tpEvents_IsStepped(events, pair)) {
        tpHeap_Remove(&events->heap, pair + 1);
        return;
    }
    const tpNearPair* bodies = &events->nearPairs.data[pair];
    int bodyA = bodies->body[0], bodyB = bodies->body[1];
    tpEvents_Advance(events, bodyA, time);
    tpEvents_Advance(events, bodyB, time);
    if (!ask(events, pair, time)) {
        events->outOfMemory = true;
        return;
    }
    bool collides = isColliding(events, time);
    bool isMixed = events->flights.data[bodyA].kind == tp_stepped ||
                   events->flights.data[bodyB].kind == tp_stepped;
    if (collides && isMixed && events->isStepping) {
        if (!tpEvents_EndStep(events, time) || !ask(events, pair, time)) {
            events->outOfMemory = true;
            return;
        }
    }
    if (collides && isMixed) {
        meetStepped(events, pair, time);
    } else if (collides && tpEvents_Collide(events, pair)) {
        follow(events, pair, time);
    }
    helpPressed(events, pair);
    tpHeap_Set(&events->heap, pair + 1, nextTime(events, pair, time));
}
