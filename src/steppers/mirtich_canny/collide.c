// Collisions of two bodies, and microcollisions [MirtichCanny94, sec. 4].
//
// One contact: the impulse follows from integrating the collision. When it is slow, first the
// impulse that reverses the contact's velocity is tried; where it lies in the friction cone it is
// applied, so that friction holds bodies without creep (sec. 4.5). Several contacts of the same
// pair within the tolerance are resolved together (together.c).
//
// Restitution of slow contacts: with e of the material bounces would go on ever faster and come to
// a halt in finite time, which events cannot follow. From the speed of microcollisions downwards e
// therefore rises to 1 at the speed of rest: hops become lower until they last one period, and go
// on so. It never exceeds 1; no energy comes from it. Slow contacts that nothing presses together
// do not bounce.

#include "steppers/mirtich_canny/frame.h"

#include <string.h>

#include "dynamics/forces.h"
#include "dynamics/locks.h"
#include "dynamics/wide_impact.h"
#include "tippe/impact.h"

static double restitutionAt(double e, const tpNearContact* touch) {
    double speed = -touch->rate;
    if (speed >= touch->microSpeed) {
        return e;
    }
    double rest = -1.01 * tpDot(touch->rest, touch->contact.normal);
    if (!(rest > 0.0)) {
        return e < 1.0 ? 0.0 : e; // nothing presses: they stay together
    }
    rest = fmin(rest, 0.5 * touch->microSpeed);
    double part = (touch->microSpeed - speed) / (touch->microSpeed - rest);
    return part >= 1.0 ? 1.0 : e + (1.0 - e) * part;
}

// Tally -----------------------------------------------------------------------------------------

// Where in the tally a contact is, or has to go.
static int placeOf(const tpEvents* events, const tpContact* contact, bool* isThere) {
    tpContactKey key = tpContact_Key(contact);
    int low = 0, high = events->tally.count;
    *isThere = false;
    while (low < high) {
        int middle = (low + high) / 2;
        const tpContactInfo* info = &events->tally.data[middle].info;
        int order = tpContactKey_Compare(tpContactInfo_Key(info), key);
        *isThere = *isThere || order == 0;
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

tpTallyEntry* tpEvents_FindTallied(tpEvents* events, const tpContact* contact) {
    bool isThere;
    int place = placeOf(events, contact, &isThere);
    return isThere ? &events->tally.data[place] : NULL;
}

bool tpEvents_Tally(tpEvents* events, const tpContact* contact, const tpTallied* tallied) {
    bool isThere;
    int place = placeOf(events, contact, &isThere);
    if (!isThere) {
        if (!TP_RESERVE(&events->allocator, events->tally, events->tally.count + 1)) {
            return false;
        }
        memmove(events->tally.data + place + 1, events->tally.data + place,
                sizeof(tpTallyEntry) * (size_t)(events->tally.count - place));
        events->tally.count += 1;
        memset(&events->tally.data[place], 0, sizeof(tpTallyEntry));
    }
    // Where it is now, with what it has carried so far.
    tpContactInfo* info = &events->tally.data[place].info;
    tpContactInfo now = tpContactInfo_Make(contact);
    tpContactInfo_AddImpulses(&now, info);
    now.energyLost = info->energyLost;
    now.collisionCount = info->collisionCount;
    now.microcollisionCount = info->microcollisionCount;
    *info = now;
    tpContactInfo_AddImpulse(info, tallied->impulse);
    info->torsionalImpulse += tallied->torsion;
    info->energyLost += tallied->energyLost;
    info->collisionCount += tallied->collisionCount;
    info->microcollisionCount += tallied->microcollisionCount;
    return true;
}

// Impulses --------------------------------------------------------------------------------------

// Impulses act at one point between both surfaces, so that angular momentum is kept.
static tpVec3 pointOf(const tpContact* contact) {
    return tpScale(0.5, tpAdd(contact->pointA, contact->pointB));
}

static tpVec3 relativeVelocity(const tpEvents* events, const tpContact* contact) {
    tpVec3 point = pointOf(contact);
    return tpSub(tpSystem_PointVelocity(events->system, contact->bodyA, point),
                 tpSystem_PointVelocity(events->system, contact->bodyB, point));
}

static void pushBody(tpSystem* system, int body, tpVec3 point, tpVec3 impulse, tpVec3 turn) {
    if (tpSystem_IsDynamic(system, body)) {
        tpVec3 arm = tpSub(point, system->poses.data[body].position);
        tpSystem_ApplyImpulse(system, body, impulse, tpAdd(tpCross(arm, impulse), turn));
    }
}

static void pushPair(tpSystem* system, const tpNearContact* touch, tpVec3 impulse) {
    const tpContact* contact = &touch->contact;
    tpVec3 turn = tpScale(touch->torsion, contact->normal);
    pushBody(system, contact->bodyA, pointOf(contact), impulse, turn);
    pushBody(system, contact->bodyB, pointOf(contact), tpNeg(impulse), tpNeg(turn));
}

// Power of an impulse and a moment about the normal, against the motion of a body.
static double workAgainst(const tpSystem* system, int body, const tpNearContact* touch,
                          tpVec3 impulse) {
    const tpContact* contact = &touch->contact;
    return tpDot(impulse, tpSystem_PointVelocity(system, body, pointOf(contact))) +
           touch->torsion * tpDot(contact->normal, system->velocities.data[body].angular);
}

// What kinematic bodies put in with an impulse on A.
static double drivenWork(const tpEvents* events, const tpNearContact* touch, tpVec3 impulse) {
    const tpSystem* system = events->system;
    int bodyA = touch->contact.bodyA, bodyB = touch->contact.bodyB;
    double work = 0.0;
    work -= tpSystem_IsDynamic(system, bodyA) ? 0.0 : workAgainst(system, bodyA, touch, impulse);
    work += tpSystem_IsDynamic(system, bodyB) ? 0.0 : workAgainst(system, bodyB, touch, impulse);
    return work;
}

// Applies impulses at the chosen touches and accounts for them. The collision counts at the contact
// that carries most of it.
static bool applyImpulses(tpEvents* events, const int* chosen, int count, const tpVec3* impulses,
                          bool isMicro) {
    tpStepReport* report = events->report;
    double* work = TP_SCRATCH(&events->system->arena, double, count);
    if (work == NULL) {
        return false;
    }
    memset(work, 0, sizeof(double) * (size_t)count);
    int most = 0;
    // The work of an impulse is that at the mean of the velocities before and after all of them.
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < count; ++i) {
            const tpNearContact* touch = &events->touches.data[chosen[i]];
            const tpContact* contact = &touch->contact;
            tpVec3 u = relativeVelocity(events, contact);
            double along = tpDot(impulses[i], contact->normal) * tpDot(u, contact->normal);
            double all = workAgainst(events->system, contact->bodyA, touch, impulses[i]) -
                         workAgainst(events->system, contact->bodyB, touch, impulses[i]);
            report->impactLoss -= 0.5 * along;
            report->frictionLoss -= 0.5 * (all - along);
            work[i] += 0.5 * all;
            most = tpLengthSquared(impulses[i]) > tpLengthSquared(impulses[most]) ? i : most;
        }
        for (int i = 0; pass == 0 && i < count; ++i) {
            const tpNearContact* touch = &events->touches.data[chosen[i]];
            report->externalWork += drivenWork(events, touch, impulses[i]);
            pushPair(events->system, touch, impulses[i]);
        }
    }
    for (int i = 0; i < count; ++i) {
        tpTallied tallied = { .impulse = impulses[i],
                              .torsion = events->touches.data[chosen[i]].torsion,
                              .energyLost = -work[i] };
        tallied.collisionCount = i == most && !isMicro;
        tallied.microcollisionCount = i == most && isMicro;
        if (!tpEvents_Tally(events, &events->touches.data[chosen[i]].contact, &tallied)) {
            return false;
        }
    }
    return true;
}

static tpImpactBody impactBody(const tpSystem* system, int index, tpVec3 point) {
    tpImpactBody body;
    memset(&body, 0, sizeof(body));
    body.inverseMass = system->bodies.data[index].inverseMass;
    body.inverseInertia =
        tpSystem_IsDynamic(system, index) ? tpSystem_InverseInertia(system, index) : tpZeroMat33();
    body.arm = tpSub(point, system->poses.data[index].position);
    body.velocity = system->velocities.data[index].linear;
    body.angularVelocity = system->velocities.data[index].angular;
    return body;
}

// What the responses of two bodies lack along axes that their centres may not move along.
static tpVec3 heldBy(const tpSystem* system, const tpContact* contact) {
    const int bodies[2] = { contact->bodyA, contact->bodyB };
    tpVec3 held = tpZeroVec3();
    for (int side = 0; side < 2; ++side) {
        const tpBody* body = &system->bodies.data[bodies[side]];
        double m = body->inverseMass;
        tpVec3 all = tpMakeVec3(m, m, m);
        held = tpAdd(held, tpSub(all, tpLocks_Linear(body->locked, all)));
    }
    return held;
}

static void holdWide(tpVec3 held, tpWideImpact* impact) {
    for (int i = 0; i < 3; ++i) {
        tpVec3 along = tpScale(impact->scales[i], tpMulMV(tpDiagonal(held), impact->axes[i]));
        for (int k = 0; k < 3; ++k) {
            impact->response[i][k] -= impact->scales[k] * tpDot(along, impact->axes[k]);
        }
    }
}

// The impulse that starts a contact at rest on its next hop: e of the normal velocity, and along
// the surface what the hop will undo. In a steady state it reverses the velocity, as the paper
// does; anything beyond that, which would go to and fro for ever, it takes out. False if it lies
// outside the cone or would do work.
static bool hop(const tpImpact* impact, const tpNearContact* touch, tpVec3* impulse) {
    tpVec3 n = impact->normal, u = impact->velocity;
    double along = tpDot(u, n);
    tpVec3 slip = tpMulAdd(u, -along, n);
    tpVec3 back = tpMulAdd(touch->rest, -tpDot(touch->rest, n), n);
    double speed = tpLength(slip), needed = tpLength(back);
    back = speed < needed ? tpScale(speed / needed, back) : back;
    tpVec3 after = tpMulAdd(tpNeg(back), -impact->restitution * along, n);
    tpVec3 p;
    if (!tpSolve33(impact->collisionMatrix, tpSub(after, u), &p)) {
        return false;
    }
    double normal = tpDot(p, n);
    *impulse = p;
    return tpLength(tpMulAdd(p, -normal, n)) <= impact->friction * normal &&
           tpDot(p, tpAdd(after, u)) <= 1e-12 * fabs(normal * along);
}

// A slow contact that slides as it is pressed may come back slower than it came, for the impulses
// of restitution need not undo its normal velocity. It would sink, hop by hop: impulses in the same
// proportion, as far as they do no work, bring it back up.
static tpVec3 lift(const tpImpact* impact, tpVec3 impulse) {
    tpVec3 u = impact->velocity, change = tpMulMV(impact->collisionMatrix, impulse);
    double along = tpDot(u, impact->normal), gained = tpDot(change, impact->normal);
    double square = tpDot(impulse, change);
    if (!(gained > 0.0) || !(square > 0.0)) {
        return impulse;
    }
    double wanted = -(1.0 + impact->restitution) * along / gained;
    double workless = -2.0 * tpDot(impulse, u) / square;
    return tpScale(fmax(1.0, fmin(wanted, workless)), impulse);
}

// The same two for friction that is elliptic or resists spin, in scaled components. Spin about the
// normal is held at what the torques on the bodies will undo, as slip is.
static bool hopWide(const tpWideImpact* impact, tpVec3 rest, double restSpin,
                    double impulse[TP_WIDE]) {
    const double* u = impact->velocity;
    double back[TP_WIDE] = { 0.0, impact->scales[1] * tpDot(rest, impact->axes[1]),
                             impact->scales[2] * tpDot(rest, impact->axes[2]),
                             impact->scales[3] * restSpin };
    double speed = 0.0, needed = 0.0;
    for (int i = 1; i < TP_WIDE; ++i) {
        speed += u[i] * u[i];
        needed += back[i] * back[i];
    }
    double part = speed < needed ? sqrt(speed / needed) : 1.0;
    double change[TP_WIDE] = { -(1.0 + impact->restitution) * u[0] };
    for (int i = 1; i < TP_WIDE; ++i) {
        change[i] = -part * back[i] - u[i];
    }
    tpWideImpact_ImpulseFor(impact, change, impulse);
    double work = 0.0, friction = 0.0;
    for (int i = 0; i < TP_WIDE; ++i) {
        work += impulse[i] * (2.0 * u[i] + change[i]);
        friction += i > 0 ? impulse[i] * impulse[i] : 0.0;
    }
    return sqrt(friction) <= impact->friction * impulse[0] &&
           work <= 1e-12 * fabs(impulse[0] * u[0]);
}

static void liftWide(const tpWideImpact* impact, double impulse[TP_WIDE]) {
    double change[TP_WIDE], square = 0.0, power = 0.0;
    tpWideImpact_Change(impact, impulse, change);
    for (int i = 0; i < TP_WIDE; ++i) {
        square += impulse[i] * change[i];
        power += impulse[i] * impact->velocity[i];
    }
    if (!(change[0] > 0.0) || !(square > 0.0)) {
        return;
    }
    double wanted = -(1.0 + impact->restitution) * impact->velocity[0] / change[0];
    double factor = fmax(1.0, fmin(wanted, -2.0 * power / square));
    for (int i = 0; i < TP_WIDE; ++i) {
        impulse[i] *= factor;
    }
}

static void fail(tpEvents* events) {
    events->report->failureCount += 1;
    events->report->converged = false;
}

// Work of one Taylor step of a wide impact: five series of order 16 and their products.
static const double wideStepWork = 8000.0;

static tpVec3 impulseOfWide(tpEvents* events, tpNearContact* touch, const tpImpactBody bodies[2],
                            const tpContactLaw* law, bool isMicro) {
    const tpContact* contact = &touch->contact;
    tpWideImpact impact = tpMakeWideImpact(&bodies[0], &bodies[1], contact->normal, law);
    holdWide(heldBy(events->system, contact), &impact);
    impact.restitution = restitutionAt(law->restitution, touch);
    impact.law = events->settings.useStronge ? tp_strongeRestitution : tp_poissonRestitution;
    tpVec3 twist = tpSub(events->flights.data[contact->bodyA].twist,
                         events->flights.data[contact->bodyB].twist);
    double restSpin = 0.5 * events->settings.period * tpDot(twist, contact->normal);
    tpWideImpactResult result = { .impulse = { 0.0 } };
    if (!isMicro || !hopWide(&impact, touch->rest, restSpin, result.impulse)) {
        if (tpWideImpact_Resolve(&impact, &result) != tp_success) {
            fail(events);
        }
        events->work += wideStepWork * result.stepCount;
        if (isMicro) {
            liftWide(&impact, result.impulse);
        }
    }
    touch->torsion = tpWideImpact_Torsion(&impact, result.impulse);
    return tpWideImpact_Force(&impact, result.impulse);
}

// The collision at one contact. The law is integrated unless a slow contact can be reversed.
static tpVec3 impulseOfOne(tpEvents* events, tpNearContact* touch, bool isMicro) {
    const tpSystem* system = events->system;
    const tpContact* contact = &touch->contact;
    tpContactLaw law = tpMakeContactLaw(system, contact);
    const tpImpactBody bodies[2] = { impactBody(system, contact->bodyA, pointOf(contact)),
                                     impactBody(system, contact->bodyB, pointOf(contact)) };
    tpImpact collision = tpMakeImpact(&bodies[0], &bodies[1], contact->normal);
    tpVec3 held = heldBy(system, contact);
    collision.collisionMatrix.cx.x -= held.x;
    collision.collisionMatrix.cy.y -= held.y;
    collision.collisionMatrix.cz.z -= held.z;
    if (!isMicro) {
        tpContactLaw_Meet(&law, -tpDot(collision.velocity, contact->normal));
    }
    if (!system->isPlanar && tpContactLaw_IsWide(&law)) {
        return impulseOfWide(events, touch, bodies, &law, isMicro);
    }
    // The plane has one direction of slip and no spin about the normal.
    collision.friction = system->isPlanar ? law.ellipse[0] * law.mu : law.mu;
    collision.restitution = restitutionAt(law.restitution, touch);
    collision.law = events->settings.useStronge ? tp_strongeRestitution : tp_poissonRestitution;
    tpImpactResult result;
    tpVec3 impulse;
    if (isMicro && hop(&collision, touch, &impulse)) {
        return impulse;
    }
    if (isMicro && tpImpact_Reverse(&collision, &result)) {
        return tpScale(0.5 * (1.0 + collision.restitution), result.impulse);
    }
    if (tpImpact_Resolve(&collision, &result) != tp_success) {
        fail(events);
    }
    return isMicro ? lift(&collision, result.impulse) : result.impulse;
}

// Kinetic energy of the two bodies after impulses, less that before them.
static double energyChange(tpEvents* events, const int* chosen, int count, const tpVec3* impulses) {
    tpSystem* system = events->system;
    const tpContact* first = &events->touches.data[chosen[0]].contact;
    int bodies[2] = { first->bodyA, first->bodyB };
    tpVelocity kept[2] = { system->velocities.data[bodies[0]], system->velocities.data[bodies[1]] };
    double change = -tpSystem_BodyKineticEnergy(system, bodies[0]) -
                    tpSystem_BodyKineticEnergy(system, bodies[1]);
    double driven = 0.0;
    for (int i = 0; i < count; ++i) {
        const tpNearContact* touch = &events->touches.data[chosen[i]];
        driven += drivenWork(events, touch, impulses[i]);
        pushPair(system, touch, impulses[i]);
    }
    change += tpSystem_BodyKineticEnergy(system, bodies[0]) +
              tpSystem_BodyKineticEnergy(system, bodies[1]);
    system->velocities.data[bodies[0]] = kept[0];
    system->velocities.data[bodies[1]] = kept[1];
    return change - driven;
}

// Collision at several contacts: compression ends at all of them at once. Slow ones go on in the
// same proportion, with all velocities reversed that were brought to rest; fast ones go on with e
// times the normal impulse, and the friction that it allows.
static bool impulsesTogether(tpEvents* events, const int* chosen, int count, bool isMicro,
                             tpVec3* impulses) {
    tpArena* arena = &events->system->arena;
    double* restitution = TP_SCRATCH(arena, double, count);
    tpVec3* compression = TP_SCRATCH(arena, tpVec3, count);
    double* torsion = TP_SCRATCH(arena, double, count); // of compression
    if (restitution == NULL || compression == NULL || torsion == NULL) {
        return false;
    }
    const tpNearContact* fastest = &events->touches.data[chosen[0]];
    for (int i = 1; i < count; ++i) {
        const tpNearContact* touch = &events->touches.data[chosen[i]];
        fastest = touch->rate < fastest->rate ? touch : fastest;
    }
    double least = 1.0;
    for (int i = 0; i < count; ++i) {
        const tpContact* contact = &events->touches.data[chosen[i]].contact;
        double e = tpMakeContactLaw(events->system, contact).restitution;
        restitution[i] = restitutionAt(e, fastest);
        least = fmin(least, restitution[i]);
    }
    if (isMicro && tpEvents_HopTogether(events, chosen, count, least, impulses)) {
        return true;
    }
    if (!tpEvents_SolveTogether(events, chosen, count, impulses)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        restitution[i] *= tpDot(impulses[i], events->touches.data[chosen[i]].contact.normal);
        compression[i] = impulses[i];
        torsion[i] = events->touches.data[chosen[i]].torsion;
    }
    bool isInProportion = isMicro;
    if (!isMicro && least > 0.0) {
        if (!tpEvents_SolveFriction(events, chosen, count, restitution, impulses)) {
            return false;
        }
        // Unlike the law of one contact this one could create energy; the other rule cannot.
        isInProportion = energyChange(events, chosen, count, impulses) > 0.0;
    }
    for (int i = 0; isInProportion && i < count; ++i) {
        impulses[i] = tpScale(1.0 + least, compression[i]);
        events->touches.data[chosen[i]].torsion = (1.0 + least) * torsion[i];
    }
    return true;
}

// Every collision with a body of the time stepper ends its step: so many has a body in a frame
// before it joins.
enum { hitLimit = 8 };

bool tpEvents_Collide(tpEvents* events, int pair) {
    tpArena* arena = &events->system->arena;
    tpArenaMark mark = tpArena_Mark(arena);
    int* chosen = TP_SCRATCH(arena, int, events->touches.count);
    tpVec3* impulses = TP_SCRATCH(arena, tpVec3, events->touches.count);
    if (chosen == NULL || impulses == NULL) {
        events->outOfMemory = true;
        return false;
    }
    int count = 0;
    bool isMicro = true;
    for (int i = 0; i < events->touches.count; ++i) {
        tpNearContact* touch = &events->touches.data[i];
        touch->torsion = 0.0;
        if (touch->contact.gap <= events->settings.tolerance) {
            chosen[count++] = i;
            isMicro = isMicro && -touch->rate < touch->microSpeed;
        }
    }
    bool isDone = count > 0;
    if (count == 1) {
        impulses[0] = impulseOfOne(events, &events->touches.data[chosen[0]], isMicro);
    } else if (count > 1) {
        isDone = impulsesTogether(events, chosen, count, isMicro, impulses);
        events->outOfMemory = events->outOfMemory || !isDone;
    }
    if (isDone && !applyImpulses(events, chosen, count, impulses, isMicro)) {
        events->outOfMemory = true;
        isDone = false;
    }
    tpArena_Release(arena, mark);
    if (!isDone) {
        return false;
    }
    events->report->figures[isMicro ? tp_microcollisionFigure : tp_collisionFigure] += 1;
    for (int side = 0; side < 2; ++side) {
        int body = events->nearPairs.data[pair].body[side];
        int other = events->nearPairs.data[pair].body[1 - side];
        tpFlight* flight = &events->flights.data[body];
        flight->eventCount += 1;
        if (flight->kind != tp_ballistic) {
            continue;
        }
        flight->hitCount += events->flights.data[other].kind == tp_stepped;
        if (flight->eventCount > events->settings.eventLimit || flight->hitCount > hitLimit) {
            tpEvents_HandOver(events, body);
        }
    }
    return true;
}
