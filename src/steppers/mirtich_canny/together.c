// Several contacts of one pair at once, so that a box that lies on a table does not rock.
//
// Compression ends at all contacts together: r in the friction cones, and the law of contact holds
// for the velocities u_c = u + W r at its end. Applied (1 + e) times, r changes the kinetic energy
// by
//
//     -(1 + e) D - (1 - e^2) / 2  r . W r  <= 0   for e <= 1,   D >= 0 the work of friction,
//
// whatever the number of contacts. With e = 1, u_c is the mean of the velocities before and after:
// contacts that hold are reversed, as the paper does with one of them (sec. 4.5), and those that
// slide are braked against their mean velocity.
//
// Mostly a pair that rests on several contacts holds: its whole relative motion is reversed, and r
// is any set of impulses in the cones with the right sum and moment; the one of least squares costs
// two 6 x 6 solves. Otherwise the solvers of the friction problem decide.

#include <string.h>

#include "dynamics/locks.h"
#include "dynamics/step_budget.h"
#include "steppers/mirtich_canny/frame.h"

typedef struct Vec6 {
    double x[6];
} Vec6;

typedef struct Mat66 {
    double m[6][6]; // symmetric
} Mat66;

// Solves m y = b by L D L^T; false if m is singular to working accuracy.
static bool solve6(Mat66 m, Vec6 b, Vec6* y) {
    double largest = 0.0;
    for (int i = 0; i < 6; ++i) {
        largest = fmax(largest, m.m[i][i]);
    }
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < i; ++j) {
            for (int k = 0; k < j; ++k) {
                m.m[i][j] -= m.m[i][k] * m.m[j][k] * m.m[k][k];
            }
            m.m[i][j] /= m.m[j][j];
        }
        double start = m.m[i][i];
        for (int k = 0; k < i; ++k) {
            m.m[i][i] -= m.m[i][k] * m.m[i][k] * m.m[k][k];
        }
        if (!(m.m[i][i] > 1e-9 * start) || !(start > 1e-12 * largest)) {
            return false;
        }
    }
    for (int i = 0; i < 6; ++i) {
        y->x[i] = b.x[i];
        for (int k = 0; k < i; ++k) {
            y->x[i] -= m.m[i][k] * y->x[k];
        }
    }
    for (int i = 5; i >= 0; --i) {
        y->x[i] /= m.m[i][i];
        for (int k = i + 1; k < 6; ++k) {
            y->x[i] -= m.m[k][i] * y->x[k];
        }
    }
    return true;
}

static Vec6 join(tpVec3 a, tpVec3 b) {
    Vec6 v = { { a.x, a.y, a.z, b.x, b.y, b.z } };
    return v;
}

static tpVec3 head(const Vec6* v) {
    return tpMakeVec3(v->x[0], v->x[1], v->x[2]);
}

static tpVec3 tail(const Vec6* v) {
    return tpMakeVec3(v->x[3], v->x[4], v->x[5]);
}

static tpVec3 pointOf(const tpContact* contact) {
    return tpScale(0.5, tpAdd(contact->pointA, contact->pointB));
}

// Adds how a body answers a force and a moment at a point: columns of the response of velocity
// there. `size` is a length that makes moments comparable with forces.
static void addResponse(const tpSystem* system, int body, tpVec3 point, double size, Mat66* m) {
    if (!tpSystem_IsDynamic(system, body)) {
        return;
    }
    tpVec3 arm = tpSub(point, system->poses.data[body].position);
    tpMat33 inverse = tpSystem_InverseInertia(system, body);
    const tpBody* own = &system->bodies.data[body];
    for (int k = 0; k < 6; ++k) {
        tpVec3 unit = tpMakeVec3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
        tpVec3 force = k < 3 ? unit : tpZeroVec3();
        tpVec3 moment = k < 3 ? tpZeroVec3() : tpScale(size, unit);
        tpVec3 spin = tpMulMV(inverse, tpAdd(tpCross(arm, force), moment));
        tpVec3 free = tpLocks_Linear(own->locked, tpScale(own->inverseMass, force));
        tpVec3 velocity = tpAdd(free, tpCross(spin, arm));
        Vec6 column = join(velocity, tpScale(size, spin));
        for (int i = 0; i < 6; ++i) {
            m->m[i][k] += column.x[i];
        }
    }
}

// In the plane three of the six motions are locked: their rows become those of the identity.
static void lock(Mat66* m, Vec6* b) {
    for (int i = 2; i < 5; ++i) {
        for (int k = 0; k < 6; ++k) {
            m->m[i][k] = m->m[k][i] = 0.0;
        }
        m->m[i][i] = 1.0;
        b->x[i] = 0.0;
    }
}

// A body A that all contacts have in common as their first or second: impulses are turned
// accordingly.
static double signOf(const tpContact* contact, int first) {
    return contact->bodyA == first ? 1.0 : -1.0;
}

// Where the contacts of a pair lie, and how large that place is.
typedef struct Place {
    int first, second; // bodies
    tpVec3 center;
    double size;
} Place;

static Place placeOf(const tpEvents* events, const int* chosen, int count) {
    const tpContact* lead = &events->touches.data[chosen[0]].contact;
    Place place = { lead->bodyA, lead->bodyB, tpZeroVec3(), 0.0 };
    for (int i = 0; i < count; ++i) {
        tpVec3 point = pointOf(&events->touches.data[chosen[i]].contact);
        place.center = tpMulAdd(place.center, 1.0 / count, point);
    }
    for (int i = 0; i < count; ++i) {
        tpVec3 point = pointOf(&events->touches.data[chosen[i]].contact);
        place.size = fmax(place.size, tpDistanceBetween(point, place.center));
    }
    return place;
}

// Motion of the first body relative to the second: velocity at the centre, and turning in units of
// size.
static Vec6 relativeMotion(const tpSystem* system, const Place* place) {
    tpVec3 velocity = tpSub(tpSystem_PointVelocity(system, place->first, place->center),
                            tpSystem_PointVelocity(system, place->second, place->center));
    tpVec3 spin = tpSub(system->velocities.data[place->first].angular,
                        system->velocities.data[place->second].angular);
    return join(velocity, tpScale(place->size, spin));
}

// The wrench at the centre, on the first body, that changes the relative motion so.
static bool wrenchFor(const tpSystem* system, const Place* place, Vec6 change, Vec6* wrench) {
    Mat66 response;
    memset(&response, 0, sizeof(response));
    addResponse(system, place->first, place->center, place->size, &response);
    addResponse(system, place->second, place->center, place->size, &response);
    if (system->isPlanar) {
        lock(&response, &change);
    }
    return place->size > 0.0 && solve6(response, change, wrench);
}

// Friction is weighted by `weight` against normal impulses.
static tpVec3 weigh(tpVec3 v, tpVec3 normal, double weight) {
    double along = tpDot(v, normal);
    return tpMulAdd(tpScale(weight, v), (1.0 - weight) * along, normal);
}

// Shares a wrench out over the contacts, least in weighted squares: r = D (y_v + y_w x d).
static bool shareOut(const tpEvents* events, const int* chosen, int count, const Place* place,
                     Vec6 wrench, const double* weights, tpVec3* impulses) {
    Mat66 gram;
    memset(&gram, 0, sizeof(gram));
    for (int i = 0; i < count; ++i) {
        const tpContact* contact = &events->touches.data[chosen[i]].contact;
        tpVec3 d = tpScale(1.0 / place->size, tpSub(pointOf(contact), place->center));
        for (int k = 0; k < 6; ++k) {
            tpVec3 unit = tpMakeVec3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
            tpVec3 r = weigh(k < 3 ? unit : tpCross(unit, d), contact->normal, weights[i]);
            Vec6 column = join(r, tpCross(d, r));
            for (int j = 0; j < 6; ++j) {
                gram.m[j][k] += column.x[j];
            }
        }
    }
    if (events->system->isPlanar) {
        lock(&gram, &wrench);
    }
    Vec6 parts, left = wrench;
    if (!solve6(gram, wrench, &parts)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        const tpContact* contact = &events->touches.data[chosen[i]].contact;
        tpVec3 d = tpScale(1.0 / place->size, tpSub(pointOf(contact), place->center));
        tpVec3 share = tpAdd(head(&parts), tpCross(tail(&parts), d));
        tpVec3 r = weigh(share, contact->normal, weights[i]);
        impulses[i] = tpScale(signOf(contact, place->first), r);
        Vec6 given = join(r, tpCross(d, r));
        for (int k = 0; k < 6; ++k) {
            left.x[k] -= given.x[k];
        }
    }
    // Contacts on a line hold no moment about it, which rounding can hide from the solve.
    double missing = 0.0, whole = 0.0;
    for (int k = 0; k < 6; ++k) {
        missing = fmax(missing, fabs(left.x[k]));
        whole = fmax(whole, fabs(wrench.x[k]));
    }
    return missing <= 1e-9 * whole;
}

// Shares a wrench out within the friction cones; false if no way was found, or the contacts do
// not hold all motions.
static bool shareWithinCones(tpEvents* events, const int* chosen, int count, const Place* place,
                             Vec6 wrench, tpVec3* impulses) {
    tpSystem* system = events->system;
    double* weights = TP_SCRATCH(&system->arena, double, count);
    for (int i = 0; weights != NULL && i < count; ++i) {
        weights[i] = 1.0;
    }
    // First evenly; then with friction in proportion to the normal impulses found.
    for (int pass = 0; weights != NULL && pass < 2; ++pass) {
        if (!shareOut(events, chosen, count, place, wrench, weights, impulses)) {
            return false;
        }
        bool isInside = true;
        double largest = 0.0;
        for (int i = 0; i < count; ++i) {
            const tpContact* contact = &events->touches.data[chosen[i]].contact;
            double normal = tpDot(impulses[i], contact->normal);
            tpVec3 friction = tpMulAdd(impulses[i], -normal, contact->normal);
            if (!(normal > 0.0)) {
                return false;
            }
            tpContactLaw law = tpMakeContactLaw(system, contact);
            isInside =
                isInside && tpContactLaw_FrictionSize(&law, friction, 0.0) <= law.mu * normal;
            largest = fmax(largest, normal);
            weights[i] = normal;
        }
        if (isInside) {
            return true;
        }
        for (int i = 0; i < count; ++i) {
            weights[i] /= largest;
        }
    }
    return false;
}

// Impulses that bring the pair to relative rest.
static bool stopTogether(tpEvents* events, const int* chosen, int count, tpVec3* impulses) {
    if (count == 2) {
        const tpVec3 rest[2] = { { 0.0, 0.0, 0.0 }, { 0.0, 0.0, 0.0 } };
        return tpEvents_HoldTwo(events, chosen, rest, impulses);
    }
    Place place = placeOf(events, chosen, count);
    Vec6 change = relativeMotion(events->system, &place), wrench;
    for (int k = 0; k < 6; ++k) {
        change.x[k] = -change.x[k];
    }
    return wrenchFor(events->system, &place, change, &wrench) &&
           shareWithinCones(events, chosen, count, &place, wrench, impulses);
}

// Relative motion at the end of a hop of one period: half a period of the relative acceleration.
static Vec6 restingMotion(const tpEvents* events, const Place* place) {
    const tpSystem* system = events->system;
    bool isFirst = events->flights.data[place->first].kind == tp_ballistic;
    tpVec3 along =
        tpSystem_PointVelocity(system, isFirst ? place->first : place->second, place->center);
    tpVec3 velocity = tpZeroVec3(), spin = tpZeroVec3();
    for (int side = 0; side < 2; ++side) {
        int body = side == 0 ? place->first : place->second;
        double sign = side == 0 ? 1.0 : -1.0;
        velocity = tpMulAdd(velocity, sign,
                            tpEvents_SurfaceAcceleration(events, body, place->center, along));
        spin = tpMulAdd(spin, sign, events->flights.data[body].twist);
    }
    double half = 0.5 * events->settings.period;
    return join(tpScale(half, velocity), tpScale(half * place->size, spin));
}

// Where a touch goes from here on its next hop, as with a single contact (collide.c).
static tpVec3 hopOf(const tpEvents* events, const tpNearContact* touch, double restitution) {
    const tpContact* contact = &touch->contact;
    tpVec3 n = contact->normal, point = pointOf(contact);
    tpVec3 u = tpSub(tpSystem_PointVelocity(events->system, contact->bodyA, point),
                     tpSystem_PointVelocity(events->system, contact->bodyB, point));
    double along = tpDot(u, n);
    tpVec3 back = tpMulAdd(touch->rest, -tpDot(touch->rest, n), n);
    double speed = tpLength(tpMulAdd(u, -along, n)), needed = tpLength(back);
    back = speed < needed ? tpScale(speed / needed, back) : back;
    return tpMulAdd(tpNeg(back), -restitution * along, n);
}

bool tpEvents_HopTogether(tpEvents* events, const int* chosen, int count, double restitution,
                          tpVec3* impulses) {
    if (count == 2) {
        tpVec3 after[2];
        for (int i = 0; i < 2; ++i) {
            after[i] = hopOf(events, &events->touches.data[chosen[i]], restitution);
        }
        return tpEvents_HoldTwo(events, chosen, after, impulses);
    }
    Place place = placeOf(events, chosen, count);
    const tpContact* lead = &events->touches.data[chosen[0]].contact;
    Vec6 before = relativeMotion(events->system, &place);
    Vec6 rest = restingMotion(events, &place), after, change, wrench;
    // The hop goes on with what the next one will undo. What comes down faster leaves some of the
    // rest.
    double fall = -tpDot(head(&rest), lead->normal), speed = -tpDot(head(&before), lead->normal);
    double part = fall > 0.0 ? fmin(1.0, fmax(speed, 0.0) / fall) : 0.0;
    double more = fmax(0.0, restitution * speed - part * fall);
    Vec6 up = join(tpScale(more, lead->normal), tpZeroVec3());
    for (int k = 0; k < 6; ++k) {
        after.x[k] = up.x[k] - part * rest.x[k];
        change.x[k] = after.x[k] - before.x[k];
    }
    if (!wrenchFor(events->system, &place, change, &wrench)) {
        return false;
    }
    double work = 0.0, scale = 0.0;
    for (int k = 0; k < 6; ++k) {
        work += 0.5 * wrench.x[k] * (before.x[k] + after.x[k]);
        scale += fabs(wrench.x[k] * before.x[k]);
    }
    return work <= 1e-12 * scale &&
           shareWithinCones(events, chosen, count, &place, wrench, impulses);
}

// The general problem ---------------------------------------------------------------------------

// The two bodies as a system of their own, so that rows know no others.
static bool copyPair(tpEvents* events, const tpContact* lead) {
    const tpSystem* system = events->system;
    tpSystem* pair = &events->pair;
    if (!TP_RESERVE(&events->allocator, pair->poses, 2) ||
        !TP_RESERVE(&events->allocator, pair->velocities, 2) ||
        !TP_RESERVE(&events->allocator, pair->bodies, 2)) {
        return false;
    }
    pair->bodyCount = 2;
    // What was solved before has no say in how this is.
    pair->solveWork = 0.0;
    pair->solveRows = 0;
    tpStepBudget_Begin(pair);
    pair->certificate = system->certificate;
    pair->isPlanar = system->isPlanar;
    pair->stop = system->stop;
    pair->problemHook = system->problemHook;
    pair->problemContext = system->problemContext;
    pair->time = system->time;
    pair->stepCount = system->stepCount;
    const int bodies[2] = { lead->bodyA, lead->bodyB };
    for (int i = 0; i < 2; ++i) {
        pair->poses.data[i] = system->poses.data[bodies[i]];
        pair->velocities.data[i] = system->velocities.data[bodies[i]];
        pair->bodies.data[i] = system->bodies.data[bodies[i]];
    }
    tpArena_Reset(&pair->arena);
    return true;
}

// A copy of the pair of bodies, and empty rows for so many contacts of it. False if memory ran out.
static bool startRows(tpEvents* events, const tpContact* lead, int count, tpRows* rows) {
    tpSystem* pair = &events->pair;
    if (!copyPair(events, lead) ||
        !tpRows_Create(rows, pair, count, TP_FRICTION_MAX_ROWS * count)) {
        return false;
    }
    tpRows_SetMasses(rows, pair);
    return true;
}

static tpContact inPair(const tpContact* contact, const tpContact* lead) {
    tpContact local = *contact;
    local.bodyA = contact->bodyA == lead->bodyA ? 0 : 1;
    local.bodyB = 1 - local.bodyA;
    return local;
}

static tpVec3 impulseOf(const tpRows* rows, int block, tpVec3 normal, const tpContactLaw* law) {
    const double* impulse = rows->impulse + rows->firstRows[block];
    tpVec3 sum = tpScale(impulse[0], normal);
    tpFrictionRows friction = tpRows_FrictionRows(rows, block);
    for (int k = 1; k <= friction.slidingCount; ++k) {
        sum = tpMulAdd(sum, impulse[k], law->tangents[k - 1]);
    }
    return sum;
}

static double torsionOf(const tpRows* rows, int block) {
    int torsion = tpRows_FrictionRows(rows, block).torsion;
    return torsion > 0 ? rows->impulse[rows->firstRows[block] + torsion] : 0.0;
}

// What lasts goes on much as in the microcollision before.
static void startFrom(tpEvents* events, const tpContact* contact, const tpContactLaw* law,
                      tpRows* rows, int block) {
    const tpTallyEntry* entry = tpEvents_FindTallied(events, contact);
    double* impulse = rows->impulse + rows->firstRows[block];
    if (entry != NULL) {
        tpFrictionRows friction = tpRows_FrictionRows(rows, block);
        impulse[0] = tpDot(entry->last, contact->normal);
        for (int k = 1; k <= friction.slidingCount; ++k) {
            impulse[k] = tpDot(entry->last, law->tangents[k - 1]);
        }
        if (friction.torsion > 0) {
            impulse[friction.torsion] = entry->lastTorsion;
        }
    }
}

// Solves the rows of the copy. Its budget began with the copy; what it used is the frame's work.
static bool solvePair(tpEvents* events, tpRows* rows) {
    bool isSolved = tpRows_Solve(rows, &events->pair, events->memory->solver,
                                 &events->settings.solve, events->report);
    events->work += events->pair.stepWork;
    return isSolved;
}

bool tpEvents_SolveTogether(tpEvents* events, const int* chosen, int count, tpVec3* impulses) {
    if (stopTogether(events, chosen, count, impulses)) {
        return true;
    }
    const tpContact* lead = &events->touches.data[chosen[0]].contact;
    tpSystem* pair = &events->pair;
    tpRows rows;
    if (!startRows(events, lead, count, &rows)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        const tpContact* contact = &events->touches.data[chosen[i]].contact;
        tpContact local = inPair(contact, lead);
        tpContactLaw law = tpMakeContactLaw(events->system, contact);
        local.pointA = local.pointB = pointOf(contact);
        int block = tpRows_AddContact(&rows, pair, pair->poses.data, &local, i, &law, 0.0);
        for (int k = 0; k < rows.dimensions[block]; ++k) {
            int row = rows.firstRows[block] + k;
            rows.q[row] =
                tpRows_RowVelocity(&rows, row, pair->velocities.data, local.bodyA, local.bodyB);
        }
        startFrom(events, contact, &law, &rows, block);
    }
    if (!solvePair(events, &rows)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        tpNearContact* touch = &events->touches.data[chosen[i]];
        const tpContact* contact = &touch->contact;
        tpContactLaw law = tpMakeContactLaw(events->system, contact);
        impulses[i] = impulseOf(&rows, i, contact->normal, &law);
        touch->torsion = torsionOf(&rows, i);
        tpTallyEntry* entry = tpEvents_FindTallied(events, contact);
        if (entry != NULL) {
            entry->last = impulses[i];
            entry->lastTorsion = touch->torsion;
        }
    }
    return true;
}

// Pushes the pair's copy at a contact.
static void pushCopy(tpSystem* pair, const tpContact* local, tpVec3 point, tpVec3 impulse,
                     double torsion) {
    for (int side = 0; side < 2; ++side) {
        int body = side == 0 ? local->bodyA : local->bodyB;
        tpVec3 on = side == 0 ? impulse : tpNeg(impulse);
        tpVec3 turn = tpScale(side == 0 ? torsion : -torsion, local->normal);
        if (tpSystem_IsDynamic(pair, body)) {
            tpVec3 arm = tpSub(point, pair->poses.data[body].position);
            tpSystem_ApplyImpulse(pair, body, on, tpAdd(tpCross(arm, on), turn));
        }
    }
}

// A bound on how much slip a unit of friction changes at a contact.
static double responseBound(const tpSystem* pair, tpVec3 point) {
    double bound = 0.0;
    for (int body = 0; body < 2; ++body) {
        if (tpSystem_IsDynamic(pair, body)) {
            const tpBody* b = &pair->bodies.data[body];
            double arm = tpDistanceBetween(point, pair->poses.data[body].position);
            bound += b->inverseMass + arm * arm * tpMaxPart(b->form->inertia.inverseMoments);
        }
    }
    return bound;
}

// Friction of a known normal impulse: a cone whose normal row belongs to no body and asks for that
// impulse (dynamics/rows.h).
static int addBounded(tpRows* rows, const tpSystem* pair, const tpContact* local, int index,
                      const tpContactLaw* law, double normalImpulse) {
    int block = tpRows_AddContact(rows, pair, pair->poses.data, local, index, law, 0.0);
    int first = rows->firstRows[block];
    tpWrench none = { tpZeroVec3(), tpZeroVec3() };
    tpRows_SetRow(rows, block, 0, none, none);
    rows->infos[block].source = tp_boundedSource;
    // In units of velocity, so that it weighs as much as the other rows.
    rows->compliance[first] = responseBound(pair, local->pointA);
    rows->q[first] = -normalImpulse * rows->compliance[first];
    rows->impulse[first] = normalImpulse;
    for (int k = 1; k < rows->dimensions[block]; ++k) {
        rows->q[first + k] =
            tpRows_RowVelocity(rows, first + k, pair->velocities.data, local->bodyA, local->bodyB);
    }
    return block;
}

bool tpEvents_SolveFriction(tpEvents* events, const int* chosen, int count,
                            const double* normalImpulses, tpVec3* impulses) {
    const tpContact* lead = &events->touches.data[chosen[0]].contact;
    tpSystem* pair = &events->pair;
    tpRows rows;
    if (!startRows(events, lead, count, &rows)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        const tpContact* contact = &events->touches.data[chosen[i]].contact;
        tpContact local = inPair(contact, lead);
        impulses[i] = tpMulAdd(impulses[i], normalImpulses[i], contact->normal);
        pushCopy(pair, &local, pointOf(contact), impulses[i],
                 events->touches.data[chosen[i]].torsion);
    }
    for (int i = 0; i < count; ++i) {
        const tpContact* contact = &events->touches.data[chosen[i]].contact;
        tpContact local = inPair(contact, lead);
        tpContactLaw law = tpMakeContactLaw(events->system, contact);
        local.pointA = local.pointB = pointOf(contact);
        addBounded(&rows, pair, &local, i, &law, normalImpulses[i]);
    }
    if (!solvePair(events, &rows)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        tpNearContact* touch = &events->touches.data[chosen[i]];
        tpContactLaw law = tpMakeContactLaw(events->system, &touch->contact);
        rows.impulse[rows.firstRows[i]] = 0.0; // it has been given already
        impulses[i] = tpAdd(impulses[i], impulseOf(&rows, i, touch->contact.normal, &law));
        touch->torsion += torsionOf(&rows, i);
    }
    return true;
}
