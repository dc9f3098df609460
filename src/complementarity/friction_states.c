#include "complementarity/friction_states.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "complementarity/box_qp.h"
#include "complementarity/friction_creep.h"
#include "complementarity/friction_sliding.h"
#include "complementarity/friction_solvers.h"
#include "math/pairs.h"
#include "math/widths.h"

// Newton's steps in each round, of which more would be for nothing as long as contacts do not know
// what they do.
enum { mostSteps = 4 };

// A step that leads farther away is halved, so often: a contact that hardly answers along one
// direction goes around between sticking and sliding otherwise.
enum { mostHalvings = 6 };

// Drives that nothing is left to move are pushed to their bounds: pivots are no less than this part
// of what moves without the rest.
static const double driveShift = 1e-9;

// A contact whose friction is within this part of its bound slides.
static const double onCone = 1e-6;

static inline double squareOfFriction(const tpStatedContact* contact, const double* r) {
    double square = 0.0;
    for (int i = 1; i < contact->rows; ++i) {
        square += r[i] * r[i];
    }
    return square;
}

static double frictionOf(const tpStatedContact* contact, const double* r) {
    return sqrt(squareOfFriction(contact, r));
}

tpFrictionState tpStatedContact_StateOf(const tpStatedContact* contact, const double* r) {
    if (contact->isDrive) {
        return tp_slidingContact; // it may
    }
    if (!(r[0] > 0.0)) {
        return tp_openContact;
    }
    double friction = frictionOf(contact, r), bound = contact->muDynamic * r[0];
    bool slides = contact->rows > 1 && fabs(friction - bound) <= onCone * bound;
    return slides ? tp_slidingContact : tp_stickingContact;
}

// Whether a contact with these impulses and velocities meets its law, to a velocity that is
// allowed. Any factor between impulses and velocities will do: this one lets friction follow the
// velocity from where it is known to.
static bool isMet(const tpStatedContact* contact, const double* r, const double* u,
                  double allowed) {
    if (contact->isDrive) {
        bool isAtBound = fabs(r[0]) >= (1.0 - 1e-12) * contact->bound && r[0] * u[0] <= 0.0;
        return fabs(r[0]) <= contact->bound * (1.0 + 1e-12) && (fabs(u[0]) <= allowed || isAtBound);
    }
    if (!(r[0] > 0.0)) {
        return u[0] >= -allowed && r[0] == 0.0 && frictionOf(contact, r) == 0.0;
    }
    double speed = frictionOf(contact, u), friction = frictionOf(contact, r), power = 0.0;
    for (int i = 1; i < contact->rows; ++i) {
        power += r[i] * u[i];
    }
    if (fabs(u[0]) > allowed || friction > contact->muStatic * r[0] * (1.0 + 1e-12)) {
        return false;
    }
    // It sticks, or slides against its friction.
    double bound = contact->muDynamic * r[0];
    return speed <= allowed ||
           (fabs(friction - bound) <= 1e-12 * bound && power < 0.0 &&
            power * power >= (1.0 - 1e-16) * friction * friction * speed * speed);
}

bool tpFrictionStates_AreMet(const tpFrictionStates* states, const double* r, const double* u,
                             double allowed) {
    for (int c = 0; c < states->contactCount; ++c) {
        const tpStatedContact* contact = &states->contacts[c];
        if (!isMet(contact, r + contact->row, u + contact->row, allowed)) {
            return false;
        }
    }
    return true;
}

// Changes of impulses -----------------------------------------------------------------------------

// Gives a row more impulse, in `solved` and `u`.
static void addToRow(tpFrictionStates* states, int row, double change) {
    states->solved[row] += change;
    tpAddNumbers(states->rowCount, change, states->W + (size_t)row * (size_t)states->rowCount,
                 states->u);
}

// Contacts that have opened let go of their impulses.
static void letGo(tpFrictionStates* states) {
    for (int c = 0; c < states->contactCount; ++c) {
        const tpStatedContact* contact = &states->contacts[c];
        for (int i = 0; contact->state == tp_openContact && i < contact->rows; ++i) {
            int row = contact->row + i;
            if (states->solved[row] != 0.0) {
                addToRow(states, row, -states->solved[row]);
            }
        }
    }
}

// The changes of impulses that leave held rows no velocity, if nothing changes in the others.
static void stopHeld(tpFrictionStates* states) {
    for (int i = 0; i < states->heldCount; ++i) {
        states->heldChange[i] = -states->u[states->heldRows[i]];
    }
    tpFrictionStates_SolveHeld(states, states->heldChange);
}

// Sliding -----------------------------------------------------------------------------------------

// The quadratic program of the drives, if contacts that slide give what they give; impulses beyond
// a bound are brought back to it.
static tpBoxQp poseDrives(const tpSliding* sliding) {
    const tpFrictionStates* states = sliding->states;
    int count = states->driveCount;
    double *bound = sliding->J, *shifts = bound + count, *x = shifts + count, *g = x + count;
    double largest = 0.0;
    for (int i = 0; i < count; ++i) {
        size_t row = (size_t)states->slidingRows[i];
        // By W and not by S, in which nothing may be left of a row that others hold.
        largest = fmax(largest, states->W[row * ((size_t)states->rowCount + 1)]);
        g[i] = sliding->u[i];
    }
    for (int c = 0; c < states->contactCount; ++c) {
        const tpStatedContact* contact = &states->contacts[c];
        if (!contact->isDrive) {
            continue;
        }
        int i = contact->slidingPlace;
        double own = states->W[(size_t)contact->row * ((size_t)states->rowCount + 1)];
        shifts[i] = driveShift * fmax(own, tp_leastStateShift * largest);
        bound[i] = contact->bound;
        x[i] = fmin(fmax(sliding->r[i], -bound[i]), bound[i]);
        double way = x[i] - sliding->r[i];
        for (int k = 0; way != 0.0 && k < count; ++k) {
            g[k] += way * states->S[i * sliding->count + k];
        }
    }
    return (tpBoxQp){ .n = count,
                      .stride = (size_t)sliding->count,
                      .A = states->S,
                      .shift = shifts,
                      .bound = bound,
                      .x = x,
                      .g = g,
                      .scratch = g + count };
}

// Which drives are at their bounds.
static void boundDrives(const tpSliding* sliding, double allowed, double* change) {
    const tpFrictionStates* states = sliding->states;
    int steps = 0;
    tpBoxQp qp = poseDrives(sliding);
    tpBoxQp_Solve(&qp, 0.5 * allowed, &steps);
    for (int i = 0; i < qp.n; ++i) {
        double by = qp.x[i] - sliding->r[i];
        change[i] += by;
        sliding->r[i] = qp.x[i];
        for (int k = 0; by != 0.0 && k < sliding->count; ++k) {
            sliding->u[k] += by * states->S[i * sliding->count + k];
        }
    }
}

// Lists the contacts that slide, of which there are no drives. Returns how many.
static int listCreeping(const tpSliding* sliding, tpCreepingContact* creeping) {
    const tpFrictionStates* states = sliding->states;
    int count = 0;
    for (int c = 0; c < states->contactCount && count < tp_mostCreepingContacts; ++c) {
        const tpStatedContact* contact = &states->contacts[c];
        if (contact->state != tp_slidingContact) {
            continue;
        }
        const double* follows = tpFrictionStates_Follows(states, contact->heldPlace);
        // They know changes of the impulses.
        double normal = states->solved[contact->row] + states->heldChange[contact->heldPlace] +
                        tpDotNumbers(sliding->count, follows, sliding->r);
        creeping[count++] = (tpCreepingContact){ .first = contact->slidingPlace,
                                                 .rows = contact->rows - 1,
                                                 .mu = contact->mu,
                                                 .normal = normal,
                                                 .follows = follows };
    }
    return count;
}

// Whether one of the contacts that slide has torsion, and there are no drives.
static bool mayCreep(const tpSliding* sliding) {
    const tpFrictionStates* states = sliding->states;
    bool isTorsional = false;
    for (int c = 0; c < sliding->lookCount; ++c) {
        isTorsional = isTorsional || states->looks[c].rows >= tp_mostStatedRows;
    }
    return isTorsional && states->creepSteps > 0 && states->driveCount == 0 &&
           sliding->count <= tp_mostCreepingRows;
}

// Contacts with torsion, if Newton's method has not found what they do, by how fast they slide.
// Whether that has changed anything.
static bool creep(const tpSliding* sliding, double* change) {
    const tpFrictionStates* states = sliding->states;
    int n = sliding->count;
    tpCreepingContact creeping[tp_mostCreepingContacts];
    double b[tp_mostCreepingRows] = { 0.0 }, r[tp_mostCreepingRows];
    int count = listCreeping(sliding, creeping);
    for (int i = 0; i < n; ++i) {
        b[i] = tpDotNumbers(n, states->S + (size_t)i * (size_t)n, sliding->r) - sliding->u[i];
    }
    if (!tpFriction_Creep(n, states->S, b, count, creeping, states->creepSteps, r)) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        double by = r[i] - sliding->r[i];
        change[i] += by;
        sliding->r[i] = r[i];
        for (int k = 0; k < n; ++k) {
            sliding->u[k] += by * states->S[i * n + k];
        }
    }
    return true;
}

// Changes impulses by a part of these ways; velocities follow.
static void goAlong(const tpSliding* sliding, const double* ways, double part, double* change) {
    int count = sliding->count;
    const double* S = sliding->states->S;
    double* restrict u = sliding->u;
    for (int i = 0; i < count; ++i, S += count) {
        double by = part * ways[i];
        change[i] += by;
        sliding->r[i] += by;
        for (int k = 0; k < count; ++k) {
            u[k] += by * S[k];
        }
    }
}

// Impulses and velocities of the rows that slide, if nothing changes in them and held rows stop.
static tpSliding openSliding(tpFrictionStates* states) {
    int count = states->slidingCount;
    size_t room = tpHeldRows_Round(states->rowCount);
    double* scratch = states->slidingScratch;
    tpSliding sliding = {
        .states = states, .count = count, .r = scratch, .u = scratch + room, .J = scratch + 2 * room
    };
    memset(states->change, 0, sizeof(double) * tpHeldRows_Round(count));
    for (int i = 0; i < count; ++i) {
        sliding.r[i] = states->solved[states->slidingRows[i]];
        sliding.u[i] = states->u[states->slidingRows[i]];
    }
    for (size_t i = (size_t)count; i < states->followStride; ++i) {
        sliding.u[i] = 0.0;
    }
    double* held = states->kept;
    for (int i = 0; i < states->heldCount; ++i) {
        held[i] = states->u[states->heldRows[i]];
    }
    states->kernels->takeSum(states->heldCount, states->followStride, states->follows, held,
                             sliding.u);
    tpSliding_Open(&sliding);
    return sliding;
}

// Changes of impulses of contacts that slide, and of held rows with them. Returns how far they are
// from their law, m/s.
static double slide(tpFrictionStates* states, double allowed) {
    int count = states->slidingCount;
    double *change = states->change, *kept = states->kept;
    tpSliding sliding = openSliding(states);
    if (states->driveCount > 0) {
        boundDrives(&sliding, allowed, change);
    }
    double miss = tpSliding_Look(&sliding, change), best = miss;
    if (!(miss <= allowed) && mayCreep(&sliding) && creep(&sliding, change)) {
        best = miss = tpSliding_Look(&sliding, change);
    }
    int halvings = states->driveCount > 0 ? 0 : mostHalvings; // drives go back to the best step
    memcpy(kept, change, sizeof(double) * (size_t)count);
    for (int step = 0; !(miss <= allowed) && step < mostSteps; ++step) {
        double before = miss, part = 1.0, *ways = states->ways;
        if (!tpSliding_FindStep(&sliding, ways)) {
            break;
        }
        goAlong(&sliding, ways, 1.0, change);
        miss = tpSliding_Look(&sliding, change);
        for (int k = 0; k < halvings && !(miss <= before); ++k) {
            part *= 0.5;
            goAlong(&sliding, ways, -part, change);
            miss = tpSliding_Look(&sliding, change);
        }
        if (miss < best) {
            best = miss;
            memcpy(kept, change, sizeof(double) * (size_t)count);
        }
    }
    // Steps that have gone astray say nothing about what contacts do.
    if (states->driveCount > 0 && !(miss <= best)) {
        memcpy(change, kept, sizeof(double) * (size_t)count);
        miss = best;
    }
    states->kernels->takeDots(states->heldCount, states->followStride, states->follows, change,
                              states->heldChange);
    return miss;
}

// Whether all changes are numbers. A row along which nothing moves may have a pivot that is
// rounding: what is divided by it leaves the range of numbers.
static bool areFinite(const tpFrictionStates* states) {
    double sum = 0.0;
    for (int i = 0; i < states->heldCount; ++i) {
        sum += fabs(states->heldChange[i]);
    }
    for (int i = 0; i < states->slidingCount; ++i) {
        sum += fabs(states->change[i]);
    }
    return sum < INFINITY;
}

// Gives the rows that are held and those that slide the changes of their impulses.
static void addChanges(tpFrictionStates* states) {
    double* all = states->kept;
    memset(all, 0, sizeof(double) * (size_t)states->rowCount);
    for (int i = 0; i < states->heldCount; ++i) {
        all[states->heldRows[i]] = states->heldChange[i];
    }
    for (int i = 0; i < states->slidingCount; ++i) {
        all[states->slidingRows[i]] = states->change[i];
    }
    for (int i = 0; i < states->rowCount; ++i) {
        states->solved[i] += all[i];
    }
    states->kernels->addProduct(states->rowCount, states->W, all, states->u);
}

// States ------------------------------------------------------------------------------------------

// What a contact does with the impulses and velocities of now.
static tpFrictionState nextState(const tpFrictionStates* states, const tpStatedContact* contact,
                                 double allowed) {
    const double *r = states->solved + contact->row, *u = states->u + contact->row;
    if (contact->isDrive) {
        return contact->state;
    }
    if (contact->state == tp_openContact) {
        size_t diagonal = (size_t)contact->row * ((size_t)states->rowCount + 1);
        bool closes = u[0] < -fmax(allowed, states->slack) && states->W[diagonal] > 0.0;
        return closes ? tp_stickingContact : tp_openContact;
    }
    if (!(r[0] > 0.0)) {
        return tp_openContact;
    }
    double bound = contact->muStatic * r[0];
    bool slips = contact->state == tp_stickingContact && contact->rows > 1 &&
                 squareOfFriction(contact, r) > bound * bound;
    return slips ? tp_slidingContact : contact->state;
}

// How many contacts do something else with the impulses of now. All of them change, or only the
// last.
static int changeStates(tpFrictionStates* states, double allowed, bool isOne) {
    int count = 0;
    for (int c = states->contactCount - 1; c >= 0; --c) {
        tpStatedContact* contact = &states->contacts[c];
        tpFrictionState state = nextState(states, contact, allowed);
        count += state != contact->state ? 1 : 0;
        contact->state = isOne && count > 1 ? contact->state : state;
    }
    return count;
}

// The largest velocity that is left in held rows.
static double velocityLeft(const tpFrictionStates* states) {
    double velocity = 0.0;
    for (int i = 0; i < states->heldCount; ++i) {
        double left = fabs(states->u[states->heldRows[i]]);
        velocity = left > velocity ? left : velocity;
    }
    return velocity;
}

// Contacts hold with the friction of sticking until they slide. Whether one has begun to.
static bool lowerFriction(tpFrictionStates* states, double allowed) {
    bool isAny = false;
    for (int c = 0; c < states->contactCount; ++c) {
        tpStatedContact* contact = &states->contacts[c];
        bool begins = contact->state == tp_slidingContact && contact->mu > contact->muDynamic &&
                      frictionOf(contact, states->u + contact->row) > allowed;
        contact->mu = begins ? contact->muDynamic : contact->mu;
        isAny = isAny || begins;
    }
    return isAny;
}

// What slid before goes on sliding; all others hold.
static void beginFriction(tpFrictionStates* states, const double* last) {
    for (int c = 0; c < states->contactCount; ++c) {
        tpStatedContact* contact = &states->contacts[c];
        bool slides = contact->muStatic > contact->muDynamic &&
                      contact->state == tp_slidingContact &&
                      tpStatedContact_StateOf(contact, last + contact->row) == tp_slidingContact;
        contact->mu = slides ? contact->muDynamic : contact->muStatic;
    }
}

// Rounds in which all contacts may change though that leaves no fewer to change.
enum { mostPatience = 3 };
// If rounds leave as much again, the shift is smaller by this part.
static const double lessShift = 1e-3;

// Rounds that leave more than this part of what was left leave as much again.
static const double leastGain = 0.5;

// Keeps where the states settled, or goes back there.
static void copySettled(const tpFrictionStates* from, const tpFrictionStates* to) {
    size_t bytes = sizeof(double) * (size_t)from->rowCount;
    memcpy(to->solved, from->solved, bytes);
    memcpy(to->u, from->u, bytes);
    memcpy(to->contacts, from->contacts, sizeof(*to->contacts) * (size_t)from->contactCount);
}

bool tpFrictionStates_Solve(tpFrictionStates* states, const double* last, double allowed,
                            int* rounds) {
    int most = *rounds, fewest = INT_MAX, patience = mostPatience;
    double before = INFINITY, settledAt = INFINITY;
    tpFrictionStates settled = *states;
    settled.solved = states->settledImpulses;
    settled.u = states->settledVelocities;
    settled.contacts = states->settledContacts;
    states->isSettled = false;
    beginFriction(states, last);
    for (*rounds = 1; *rounds <= most; ++*rounds) {
        tpFrictionStates_Factorise(states);
        letGo(states);
        stopHeld(states);
        double miss = states->slidingCount > 0 ? slide(states, 0.5 * allowed) : 0.0;
        if (!areFinite(states)) {
            states->isFactored = false;
            break;
        }
        addChanges(states);
        double velocity = velocityLeft(states);
        // All change at once as long as that leaves fewer to change; then one does, until there are
        // fewer again [JudicePires94].
        int count = changeStates(states, allowed, patience < 0);
        patience = count < fewest ? mostPatience : patience - 1;
        fewest = count < fewest ? count : fewest;
        bool isChanged = count > 0, isSolved = miss <= 0.5 * allowed;
        states->isFactored = !isChanged;
        isChanged = isChanged || (isSolved && lowerFriction(states, allowed));
        if (!isChanged && isSolved && velocity <= allowed) {
            return true;
        }
        double left = isChanged ? INFINITY : fmax(miss, velocity);
        states->isSettled = left > leastGain * before && left < INFINITY;
        if (states->isSettled && states->shift <= tp_leastStateShift) {
            settledAt = left > settledAt ? settledAt : INFINITY;
            break;
        }
        before = left;
        if (states->isSettled) {
            // A smaller shift lets contradictions grow, and contacts leave their states for them.
            copySettled(states, &settled);
            settledAt = left;
            states->shift *= lessShift;
            states->isFactored = false;
        }
    }
    *rounds = *rounds < most ? *rounds : most;
    if (settledAt < INFINITY) {
        copySettled(&settled, states);
        states->isSettled = true;
        states->isFactored = false;
    }
    return false;
}

void tpFrictionStates_Read(tpFrictionStates* states) {
    for (int c = 0; c < states->contactCount; ++c) {
        tpStatedContact* contact = &states->contacts[c];
        contact->state = tpStatedContact_StateOf(contact, states->solved + contact->row);
    }
    states->isFactored = false;
}

void tpFrictionStates_KeepInCones(const tpFrictionStates* states) {
    for (int c = 0; c < states->contactCount; ++c) {
        const tpStatedContact* contact = &states->contacts[c];
        double* r = states->solved + contact->row;
        if (contact->state != tp_slidingContact) {
            continue;
        }
        double friction = frictionOf(contact, r), bound = contact->mu * r[0];
        if (friction > bound) {
            for (int i = 1; i < contact->rows; ++i) {
                r[i] *= bound / friction;
            }
        }
    }
}

// Newton's matrix, or the quadratic program of the drives.
static size_t boxRoom(int rows) {
    size_t n = (size_t)rows, newton = n * (n + 2), box = 4 * n + tpBoxQp_Room(rows);
    return newton > box ? newton : box;
}

bool tpFrictionStates_Reserve(tpFrictionStates* states, tpArena* arena, int contacts, int rows) {
    size_t n = (size_t)rows;
    memset(states, 0, sizeof(*states));
    states->kernels = tpGetHeldKernels(tpChooseWidth(tp_heldWidth));
    states->contacts = TP_SCRATCH(arena, tpStatedContact, contacts);
    states->u = TP_SCRATCH(arena, double, n);
    states->solved = TP_SCRATCH(arena, double, n);
    states->heldRows = TP_SCRATCH(arena, int32_t, n);
    states->slidingRows = TP_SCRATCH(arena, int32_t, n);
    states->factor = TP_SCRATCH(arena, double, tpFrictionStates_FactorRoom(rows));
    states->shifts = TP_SCRATCH(arena, double, n);
    states->blocks = TP_SCRATCH(arena, tpHeldBlock, tpHeldRows_Round(rows) / tp_heldWidth);
    states->follows = TP_SCRATCH(arena, double, n* tpHeldRows_Round(rows));
    states->S = TP_SCRATCH(arena, double, n* n);
    states->heldChange = TP_SCRATCH(arena, double, tpHeldRows_Round(rows));
    states->change = TP_SCRATCH(arena, double, tpHeldRows_Round(rows));
    states->kept = TP_SCRATCH(arena, double, n);
    states->ways = TP_SCRATCH(arena, double, n);
    states->settledImpulses = TP_SCRATCH(arena, double, n);
    states->settledVelocities = TP_SCRATCH(arena, double, n);
    states->settledContacts = TP_SCRATCH(arena, tpStatedContact, contacts);
    states->slidingScratch = TP_SCRATCH(arena, double, 2 * tpHeldRows_Round(rows) + boxRoom(rows));
    states->looks = TP_SCRATCH(arena, tpSlidingLook, contacts);
    states->pivots = TP_SCRATCH(arena, int, n + 1);
    return !arena->failed;
}
