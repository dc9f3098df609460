// The end of the step at the first impact [BenderSchmitt06, sec. 3: "the collision detection
// controls the time step size"].
//
// The gap that the fastest closing contacts have at the end of a drift of t seconds is a function
// of t; its root is found by Newton's rule, for the speed at which the gap closes is known, within
// a bracket, taking the drift anew for each t. Contacts that rest, or close slowly, are rows of the
// drift itself and never overlap.
//
// If bodies touch and approach each other where the step begins, its first impact is there.
//
// A contact that opens, or closes slowly, and comes back fast before the drift ends is held by it
// at first. What the row has stopped tells so; the drift is taken again without it.
//
// The gap may also jump: a contact that the drift holds at one t may have another name at the next,
// and overlap by what the linear row has missed. No t is better than another then, and the search
// ends as soon as the bracket is so short that only a jump is left in it.

#include "steppers/bender_schmitt/first_impact.h"

#include "dynamics/matching.h"
#include "dynamics/step_budget.h"
#include "dynamics/trial.h"
#include "geometry/shape.h"
#include "steppers/rim_points.h"

// Drifts tried before the last is taken.
enum { maxTrials = 40 };

// The gap at the end is this part of eps_c at most: what is left of it moves the time of the
// impact, and an overlap has to be taken back by velocities.
static const double landingPart = 1e-3;

// If the contact bounces, the time counts for the whole flight that follows: one more drift finds
// it to rounding.
static const double bouncePart = 1e-5;

// Overlaps of contacts that do not close fast are impacts beyond this, in units of length: less
// comes from corners that change their names. A part may add as much (part.c).
static const double slowOverlap = 5e-7;

// Of the speed at which a contact closes: that between two drifts is believed from this part of it
// to its inverse.
static const double secantPart = 0.25;

// Part of a drift to which the time of such an overlap is found.
static const double slowPart = 1.0 / 64.0;

// Part of a step below which those are not looked for.
static const double leastPart = 1e-4;

// Part of the speeds of two bodies by which they approach each other because of rounding.
static const double leastApproach = 1e-6;

// The part of a step that ends with impacts at its start, as a part of the step: no body moves in
// it, but the time of a part is not zero.
static const double instant = 1e-10;

// The contact that says whether a drift was too long.
typedef struct tpFirstGap {
    double gap;     // m; INFINITY: nothing is near
    double closing; // m/s
    double landing; // m; a smaller gap is none
    bool isSlow;    // it does not close fast
} tpFirstGap;

// The root lies between a drift that ends open and one that overlaps.
typedef struct tpBracket {
    double open, deep; // s
} tpBracket;

bool tpFirstImpact_IsFree(const tpBenderStep* step, int same) {
    if (same < 0) {
        return true;
    }
    int lane;
    const tpContactPack* pack = tpSweeper_PackOf(&step->start.sweeper, same, &lane);
    return pack->bias[0][lane] >= TP_SWEEP_OPEN;
}

// How fast a contact closes at the end of a drift, in which bodies have the mean of their
// velocities. One that is freed has turned round on the way, and the mean may be zero.
static double endSpeed(const tpBenderStep* step, int same, double mean) {
    if (same < 0 || step->freed == NULL || !step->freed[same]) {
        return mean;
    }
    return 2.0 * mean - tpContact_Approach(&step->start.contacts[same], step->time.startPoses,
                                           step->time.startVelocities);
}

static bool bouncesAt(const tpSystem* system, const tpContact* contact) {
    tpFriction friction;
    double restitution;
    tpSystem_MixMaterials(system, system->shapes.data[contact->shapeA].material,
                          system->shapes.data[contact->shapeB].material, &friction, &restitution);
    return restitution > 0.0;
}

// Smallest gap among the contacts that were not held by the drift and close fast, or overlap: those
// have hit and gone back, or have turned into each other slowly.
static bool findGap(tpBenderStep* step, tpFirstGap* first) {
    tpSystem* system = step->system;
    tpContact* contacts;
    int count;
    if (tpSystem_FindContacts(system, system->poses.data, step->time.margins, &contacts, &count) !=
        tp_success) {
        return false;
    }
    count = tpContacts_DropRimPoints(contacts, count);
    const int* match = tpMatchContacts(step->start.contacts, step->start.contactCount, contacts,
                                       count, &system->arena);
    if (match == NULL) {
        return false;
    }
    double epsilon = step->settings->epsilon;
    *first = (tpFirstGap){ INFINITY, 0.0, landingPart * epsilon, false };
    for (int i = 0; i < count; ++i) {
        const tpContact* contact = &contacts[i];
        if (!tpFirstImpact_IsFree(step, match[i])) {
            continue;
        }
        tpVec3 u = tpSub(tpSystem_PointVelocity(system, contact->bodyA, contact->pointA),
                         tpSystem_PointVelocity(system, contact->bodyB, contact->pointB));
        double closing = endSpeed(step, match[i], -tpDot(u, contact->normal));
        bool isFast = closing > step->settings->threshold;
        if ((isFast || contact->gap < -slowOverlap * system->units.length) &&
            contact->gap < first->gap) {
            bool bounces = isFast && bouncesAt(system, contact);
            double landing = (bounces ? bouncePart : landingPart) * epsilon;
            *first = (tpFirstGap){ contact->gap, closing, landing, !isFast };
        }
    }
    return true;
}

// Half of what a shape measures across where it is thinnest, m.
static double halfThickness(const tpSystem* system, int shape) {
    const tpGeometry* geometry = &system->shapes.data[shape].form->geometry;
    tpBounds box = tpGeometry_Bounds(geometry, geometry->pose);
    tpVec3 size = tpSub(box.upper, box.lower);
    return 0.5 * fmin(size.x, fmin(size.y, size.z));
}

static bool isSurface(const tpSystem* system, int shape) {
    tpShapeKind kind = tpClassOf(&system->shapes.data[shape].form->geometry)->kind;
    return kind == tp_meshKind || kind == tp_heightFieldKind;
}

// How far a contact may be overlapped and still be found from the side on which it was: a surface
// has no depth, so that the other shape must not be through it.
static double roomOf(const tpSystem* system, const tpContact* contact) {
    double room = INFINITY;
    room = isSurface(system, contact->shapeA) ? halfThickness(system, contact->shapeB) : room;
    return isSurface(system, contact->shapeB) ? fmin(room, halfThickness(system, contact->shapeA))
                                              : room;
}

// How long a contact may be held while its bodies turn: another corner must not come through to the
// far side in the meantime, s.
static double longestTurn(const tpBenderStep* step, const tpContact* contact) {
    const tpSystem* system = step->system;
    double across = halfThickness(system, contact->shapeA) + halfThickness(system, contact->shapeB);
    double room = fmin(roomOf(system, contact), across), speed = 0.0;
    for (int k = 0; room < INFINITY && k < 2; ++k) {
        int body = k == 0 ? contact->bodyA : contact->bodyB;
        int shape = k == 0 ? contact->shapeA : contact->shapeB;
        tpVec3 spin = tpCross(step->time.startVelocities[body].angular, contact->normal);
        double radius = tpGeometry_TurningRadius(&system->shapes.data[shape].form->geometry);
        speed += tpSystem_IsDynamic(system, body) ? tpLength(spin) * radius : 0.0;
    }
    return speed > 0.0 ? room / speed : INFINITY;
}

// The longest drift in which no body passes through another of its size: half of its own reach,
// while something is near that it closes in on.
static double longestDrift(const tpBenderStep* step, double h) {
    const tpTouch* touch = &step->start;
    for (int i = 0; i < touch->contactCount; ++i) {
        int lane;
        const tpContactPack* pack = tpSweeper_PackOf(&touch->sweeper, i, &lane);
        if (pack->bias[0][lane] < TP_SWEEP_OPEN) {
            h = fmin(h, longestTurn(step, &touch->contacts[i]));
            continue;
        }
        const int bodies[2] = { touch->contacts[i].bodyA, touch->contacts[i].bodyB };
        double room = roomOf(step->system, &touch->contacts[i]), speed = 0.0;
        for (int k = 0; k < 2; ++k) {
            if (tpSystem_IsDynamic(step->system, bodies[k])) {
                room = fmin(room, 0.5 * step->system->bodies.data[bodies[k]].reach);
            }
            speed += tpVelocity_LargestSpeed(step->system, bodies[k],
                                             &step->time.startVelocities[bodies[k]]);
        }
        room += touch->contacts[i].gap;
        h = speed * h > room ? room / speed : h;
    }
    return h;
}

// When the first of many impacts comes, by the gaps and speeds of the start, s: no later than h.
static double expectedTime(const tpBenderStep* step, double h) {
    const tpTouch* touch = &step->start;
    double first = h;
    for (int i = 0; i < touch->contactCount; ++i) {
        int lane;
        const tpContactPack* pack = tpSweeper_PackOf(&touch->sweeper, i, &lane);
        if (pack->bias[0][lane] < TP_SWEEP_OPEN) {
            continue;
        }
        double closing = tpContact_Approach(&touch->contacts[i], step->time.startPoses,
                                            step->time.startVelocities);
        double gap = touch->contacts[i].gap;
        first = closing > 0.0 && gap < first * closing ? gap / closing : first;
    }
    return first;
}

// A drift that was tried.
typedef struct tpTriedDrift {
    double time, gap;
} tpTriedDrift;

// The speed at which the gap at the end closes as drifts become longer: that of the contact, or,
// where impulses of the drift go with its length, that from one drift to the next.
static double closingSpeed(double time, const tpFirstGap* first, const tpTriedDrift* last) {
    double secant = (last->gap - first->gap) / (time - last->time);
    bool isLike = secant > secantPart * first->closing && secant * secantPart < first->closing;
    return isLike ? secant : first->closing;
}

// The time to try after a drift of `time` seconds: where the gap vanishes at the speed at which it
// closes; the middle of the bracket where that leads out of it, or where the last time was no
// better for it.
static double nextTime(tpBracket* bracket, double time, const tpFirstGap* first,
                       const tpTriedDrift* last) {
    if (first->gap < 0.0) {
        bracket->deep = time;
    } else {
        bracket->open = time;
    }
    bool isSlowing = fabs(first->gap) > 0.5 * fabs(last->gap);
    double speed = closingSpeed(time, first, last);
    double next = first->closing > 0.0 ? time + first->gap / speed : INFINITY;
    bool isInside = next > bracket->open && next < bracket->deep;
    return isInside && !isSlowing ? next : 0.5 * (bracket->open + bracket->deep);
}

// Whether the drift of `time` seconds is the one to keep: it is whole and open, or it ends where
// two bodies meet. A slow contact that overlaps after next to no time did so before, and is held
// from there on.
static bool isFound(const tpBenderStep* step, const tpBracket* bracket, double time,
                    const tpFirstGap* first) {
    bool isWhole = time >= bracket->deep;
    return (first->gap >= 0.0 && isWhole) || fabs(first->gap) <= first->landing ||
           (first->isSlow && time < leastPart * step->duration);
}

// Whether what is left of the bracket is a jump: no body moves as far in it as the gap says.
static bool isJump(const tpBracket* bracket, const tpFirstGap* first, double h) {
    double width = bracket->deep - bracket->open;
    return first->isSlow ? width < slowPart * h
                         : 0.5 * fabs(first->gap) > width * first->closing + first->landing;
}

bool tpFirstImpact_IsAtStart(const tpBenderStep* step, int contact) {
    const tpTouch* touch = &step->start;
    const tpContact* met = &touch->contacts[contact];
    if (step->given == NULL || !(touch->laws[contact].restitution > 0.0) ||
        met->gap > step->settings->epsilon) {
        return false;
    }
    double approach = tpContact_Approach(met, step->time.startPoses, step->given);
    if (!(approach > fmax(step->settings->threshold, step->settings->tolerance))) {
        return false;
    }
    // Without gravity the threshold is zero, and rounding is no impact.
    double speed = 0.0;
    const int bodies[2] = { met->bodyA, met->bodyB };
    for (int k = 0; k < 2; ++k) {
        const tpVelocity* velocity = &step->given[bodies[k]];
        speed += tpVelocity_LargestSpeed(step->system, bodies[k], velocity);
    }
    return approach > leastApproach * speed;
}

static bool isHitAtStart(const tpBenderStep* step) {
    for (int i = 0; i < step->start.contactCount; ++i) {
        if (tpFirstImpact_IsAtStart(step, i)) {
            return true;
        }
    }
    return false;
}

// How fast a contact that the drift has held would have come at its end: forces are even, so that
// the mean of its velocities is half of what it has at both ends, m/s.
static double arrivalOf(const tpBenderStep* step, int contact, double approach) {
    int lane;
    const tpContactPack* pack = tpSweeper_PackOf(&step->start.sweeper, contact, &lane);
    double stopped = pack->response[0][lane] * pack->impulse[0][lane];
    double mean = step->start.contacts[contact].gap / step->time.h + stopped;
    return 2.0 * mean - approach;
}

// When a gap is closed that does so at speeds from `first` to `last` in h seconds, evenly, s.
static double timeOfArrival(double gap, double first, double last, double h) {
    double rate = (last - first) / h;
    double root = sqrt(fmax(0.0, first * first + 2.0 * rate * fmax(gap, 0.0)));
    return first > 0.0 ? 2.0 * gap / (first + root) : (root - first) / rate;
}

// Frees contacts of the drift that it has held and that would have bounced. The time at which the
// first of them is thought to hit, or INFINITY, s.
static double freeStrikes(tpBenderStep* step) {
    const tpTouch* touch = &step->start;
    const tpBenderSettings* settings = step->settings;
    double earliest = INFINITY;
    for (int i = 0; i < touch->contactCount; ++i) {
        const tpContact* contact = &touch->contacts[i];
        if (!(touch->laws[i].restitution > 0.0) || !(tpTouch_Normal(touch, i) > 0.0)) {
            continue;
        }
        double approach =
            tpContact_Approach(contact, step->time.startPoses, step->time.startVelocities);
        double arrival = arrivalOf(step, i, approach);
        bool isApart = contact->gap > settings->epsilon || approach < -settings->threshold;
        if (isApart && arrival > settings->threshold) {
            double time = timeOfArrival(contact->gap, approach, arrival, step->time.h);
            step->freed[i] = true;
            earliest = fmin(earliest, time);
        }
    }
    return earliest;
}

// Frees contacts of a drift of `time` seconds that would have bounced: the time of the next drift.
// True if there are any.
static bool hasStrikes(tpBenderStep* step, double* time) {
    if (step->freed == NULL) {
        step->freed =
            TP_SCRATCH_ZEROED(&step->system->arena, bool, (size_t)step->start.contactCount);
    }
    double earliest = step->freed != NULL ? freeStrikes(step) : INFINITY;
    *time = fmin(*time, earliest);
    return earliest < INFINITY;
}

// Bounds drifts by what bodies may pass in them. True if that of `time` seconds was too long, which
// becomes the time to try.
static bool isTooLong(const tpBenderStep* step, tpBracket* bracket, double* time) {
    double last = *time;
    bracket->deep = longestDrift(step, last);
    *time = step->isCrowd ? expectedTime(step, bracket->deep) : bracket->deep;
    return *time < last;
}

static bool driftToImpact(tpBenderStep* step, double h) {
    tpTrial start;
    if (!tpTrial_Begin(&start, step->system, NULL, step->report)) {
        return false;
    }
    tpBracket bracket = { 0.0, h };
    tpContact* contacts = NULL;
    int count = 0;
    double time = h;
    bool isAtStart = false, hasFreed = false;
    tpTriedDrift last = { INFINITY, INFINITY };
    for (int k = 0; k < maxTrials; ++k) {
        // The contacts of the first drift are those of all.
        if (k == 1) {
            tpTrial_KeepScratch(&start);
        }
        if (k > 0) {
            tpTrial_Undo(&start);
        }
        // Once the step has cost what it may, contacts are held instead of located.
        bool isLast =
            tpStepBudget_IsSpent(step->system) || (k > 0 && tpBenderStep_HasToHurry(step));
        time = isLast ? h : time;
        if (!tpBenderStep_Drift(step, time, contacts, count)) {
            return false;
        }
        if (!step->isLocating || isAtStart) {
            return true;
        }
        // Others are looked at from where these were found.
        contacts = contacts != NULL ? contacts : step->start.contacts;
        count = step->start.contactCount;
        isAtStart = k == 0 && isHitAtStart(step);
        if (isAtStart) {
            time = instant * step->duration;
            continue;
        }
        bool isLong = (k == 0 || hasFreed) && isTooLong(step, &bracket, &time);
        hasFreed = hasStrikes(step, &time);
        if (hasFreed || isLong) {
            continue;
        }
        tpFirstGap first;
        if (!findGap(step, &first)) {
            return false;
        }
        if (isFound(step, &bracket, time, &first)) {
            return true;
        }
        double next = nextTime(&bracket, time, &first, &last);
        last = (tpTriedDrift){ time, first.gap };
        // Of a jump the deep side is taken: the rows of the next part know what it met.
        if (first.gap < 0.0 && k > 0 && isJump(&bracket, &first, h)) {
            return true;
        }
        time = next;
    }
    return true;
}

bool tpFirstImpact_Drift(tpBenderStep* step, double h) {
    step->freed = NULL;
    bool isDone = driftToImpact(step, h);
    step->freed = NULL;
    return isDone;
}
