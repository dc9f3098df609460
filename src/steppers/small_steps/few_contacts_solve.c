// The exact solution of few contacts: velocities of their rows, impulses by the dense problem, and
// what mechanisms make of these.

#include <math.h>
#include <string.h>

#include "math/pairs.h"
#include "steppers/small_steps/few_contacts.h"

// Part of the velocities without impulses that a solution may be off by at the end of the step, a
// hundredth of what the certificate allows, and before. What is left in a substep moves points by
// that, and what the last solve takes back of it is the unrest of the next step: mechanisms at rest
// would tremble by as much as is allowed, and sink.
static const double tolerance = 5e-11, calmTolerance = 1e-8, looseTolerance = 1e-4;

// Overlaps below this part of the smaller body's size are left: to take them back is a velocity
// that has to be taken off again, and the certificate allows a hundred times that.
static const double smallOverlap = 1e-5;

// Overlaps below this part of what the certificate allows are left as well, for a step, if contacts
// and joints find no common end while they are taken back. Impulses from the middle of such rounds
// would move feet apart by more than that.
static const double bearablePart = 0.5;

// Gaps below this part of it count as none: they are known in single precision, and points of one
// face that are to close by different roundings have nothing that solves them.
static const double noGap = 1e-6;

// A contact may push with so many times what its bodies alone would need as soft contacts. Joints
// make bodies heavier, by a hundred times in a robot; one at its limit by a million.
static const double mostImpulse = 100.0;

// Rows of joints that come to their bounds change W: contacts are solved again, so often.
enum { mostRounds = 6 };

// Velocities --------------------------------------------------------------------------------------

// Whose velocities: those of lines, or of a mechanism that has them inside.
typedef enum Kind { tp_present, tp_without, tp_displacement } Kind;

static const double* insideOf(const tpContactEnd* end, Kind kind) {
    const tpArticulation* owner = end->owner;
    if (owner == NULL || !owner->isInside || owner->isOut) {
        return NULL;
    }
    const double* all = kind == tp_present   ? owner->last
                        : kind == tp_without ? owner->bases
                                             : owner->moved;
    return &all[6 * end->node];
}

static const tpVelocity* lineOf(const tpSmallStep* step, const tpContactEnd* end, Kind kind) {
    const tpVelocity* lines = kind == tp_present   ? step->velocities
                              : kind == tp_without ? step->bases
                                                   : step->moved;
    return &lines[end->number];
}

// Adds the velocities of one end of a contact to those of its rows, up to four.
static inline void addSpeeds(const tpSmallStep* step, const tpContactEnd* end, Kind kind,
                             double u[tp_traceWidth]) {
    const double *v = insideOf(end, kind), *w;
    if (v != NULL) {
        w = v + 3;
    } else {
        const tpVelocity* line = lineOf(step, end, kind);
        v = &line->linear.x;
        w = &line->angular.x;
    }
    const double(*c)[tp_traceWidth] = (const double(*)[tp_traceWidth])end->components;
    for (int i = 0; i < tp_traceWidth; i += 2) {
        tpPair sum = (v[0] * tpLoadPair(c[0] + i) + v[1] * tpLoadPair(c[1] + i) +
                      v[2] * tpLoadPair(c[2] + i)) +
                     (w[0] * tpLoadPair(c[3] + i) + w[1] * tpLoadPair(c[4] + i) +
                      w[2] * tpLoadPair(c[5] + i));
        sum += tpLoadPair(u + i);
        memcpy(u + i, &sum, sizeof(sum));
    }
}

static inline void findSpeeds(const tpSmallStep* step, const tpFewContact* contact, Kind kind,
                              double u[tp_traceWidth]) {
    memset(u, 0, sizeof(double) * tp_traceWidth);
    for (int side = 0; side < 2; ++side) {
        if (!contact->ends[side].isStill) {
            addSpeeds(step, &contact->ends[side], kind, u);
        }
    }
}

// Adds the impulses along the rows of a contact to those on a body.
static void addImpulse(const tpContactEnd* end, int rows, const double* r, double* impulse) {
    tpSix sum = tpLoadSix(impulse);
    for (int i = 0; i < rows; ++i) {
        const double* on = end->jacobian[i];
        sum.a += r[i] * tpLoadPair(on);
        sum.b += r[i] * tpLoadPair(on + 2);
        sum.c += r[i] * tpLoadPair(on + 4);
    }
    memcpy(impulse, &sum.a, sizeof(sum.a));
    memcpy(impulse + 2, &sum.b, sizeof(sum.b));
    memcpy(impulse + 4, &sum.c, sizeof(sum.c));
}

// Into the `changes` of the mechanisms.
static void gatherChanges(const tpFewContacts* few, const double* r) {
    for (int m = 0; m < few->ownerCount; ++m) {
        const tpArticulation* owner = few->owners[m];
        for (int t = 0; t < owner->touchingCount; ++t) {
            memset(&owner->changes[6 * owner->touching[t]], 0, 6 * sizeof(double));
        }
    }
    for (int c = 0; c < few->contactCount; ++c) {
        const tpFewContact* contact = &few->contacts[c];
        for (int side = 0; side < 2; ++side) {
            const tpContactEnd* end = &contact->ends[side];
            if (end->owner != NULL) {
                addImpulse(end, contact->rows, r + contact->row,
                           &end->owner->changes[6 * end->node]);
            }
        }
    }
}

void tpFewContacts_Start(const tpFewContacts* few) {
    gatherChanges(few, few->r);
    for (int m = 0; m < few->ownerCount; ++m) {
        const tpArticulation* owner = few->owners[m];
        memcpy(owner->pushes, owner->changes, sizeof(double) * 6 * (size_t)owner->solver.nodeCount);
    }
}

static void pushFreeBodies(const tpSmallStep* step, const tpFewContacts* few, const double* r) {
    for (int c = 0; c < few->contactCount; ++c) {
        const tpFewContact* contact = &few->contacts[c];
        for (int side = 0; side < 2; ++side) {
            const tpContactEnd* end = &contact->ends[side];
            if (!end->isMoved || end->owner != NULL) {
                continue;
            }
            double impulse[6] = { 0.0 }, change[6];
            tpVelocity* v = &step->velocities[end->number];
            addImpulse(end, contact->rows, r + contact->row, impulse);
            tpFreeBody_Answer(&step->masses[end->number], impulse, change);
            v->linear = tpAdd(v->linear, tpMakeVec3(change[0], change[1], change[2]));
            v->angular = tpAdd(v->angular, tpMakeVec3(change[3], change[4], change[5]));
        }
    }
}

// Impulses along the rows of contacts, to the axes of trees. Four numbers are read of each contact:
// what it has no row for has no answer.
static void pushTrees(const tpFewContacts* few, const double* r) {
    for (int c = 0; c < few->contactCount; ++c) {
        const tpFewContact* contact = &few->contacts[c];
        const double* own = r + contact->row;
        for (int side = 0; side < 2; ++side) {
            const tpContactEnd* end = &contact->ends[side];
            if (end->owner != NULL && end->owner->isTree) {
                tpJointTree_PushTraced(&end->owner->tree, end->node, end->answers, own);
            }
        }
    }
}

// Velocities of the mechanisms whose solves have begun. Returns whether they have other factors
// now.
static bool endSolves(const tpSmallStep* step, const tpFewContacts* few) {
    bool isChanged = false;
    for (int m = 0; m < few->ownerCount; ++m) {
        tpArticulation* owner = few->owners[m];
        if (owner->isDue) {
            int trials = tpJointTree_End(&owner->tree, owner->momenta, owner->last);
            owner->factorisations += trials;
            owner->isDue = false;
            isChanged = isChanged || trials > 0;
            if (!owner->isInside) {
                tpArticulation_HandOut(step, owner);
            }
        }
    }
    return isChanged;
}

// Gives the bodies these impulses more. Returns whether mechanisms have other factors now.
static bool push(const tpSmallStep* step, const tpFewContacts* few, const double* r) {
    bool isChanged = false;
    gatherChanges(few, r);
    pushTrees(few, r);
    for (int m = 0; m < few->ownerCount; ++m) {
        tpArticulation* owner = few->owners[m];
        int before = owner->factorisations;
        for (int t = 0; t < owner->touchingCount; ++t) {
            for (int first = 6 * owner->touching[t], k = first; k < first + 6; ++k) {
                owner->pushes[k] += owner->changes[k];
                owner->momenta[k] += owner->changes[k];
            }
        }
        if (!owner->isTree) {
            tpArticulation_SolveAgain(step, owner);
        }
        owner->isDue = owner->isTree;
        isChanged = isChanged || owner->factorisations != before;
    }
    pushFreeBodies(step, few, r);
    return endSolves(step, few) || isChanged;
}

// The same at the end of the step, for small impulses: rows keep their states, and velocities what
// they have got since the last solve.
static void pushAtEnd(const tpSmallStep* step, const tpFewContacts* few, const double* r) {
    gatherChanges(few, r);
    for (int m = 0; m < few->ownerCount; ++m) {
        if (few->owners[m]->isTree) {
            tpJointTree_BeginChange(&few->owners[m]->tree);
        }
    }
    pushTrees(few, r);
    for (int m = 0; m < few->ownerCount; ++m) {
        tpArticulation* owner = few->owners[m];
        int count = owner->solver.nodeCount;
        if (owner->isTree) {
            tpJointTree_EndChange(&owner->tree, owner->shifts);
        } else {
            memcpy(owner->shifts, owner->changes, sizeof(double) * 6 * (size_t)count);
            tpMechanism_Answer(&owner->solver, owner->shifts);
        }
        for (int i = 0; i < count; ++i) {
            readVelocity(&step->velocities[numberOf(owner, i)], &owner->last[6 * i]);
        }
        for (int k = 0; k < 6 * count; ++k) {
            owner->last[k] += owner->shifts[k];
        }
        tpArticulation_HandOut(step, owner);
    }
    pushFreeBodies(step, few, r);
}

// Solves ------------------------------------------------------------------------------------------

// What the normal row of a contact adds to its velocity.
static double biasOf(const tpFewContacts* few, const tpFewContact* contact) {
    return contact->bias + contact->give * (few->r[contact->row] - few->first[contact->row]);
}

// Velocities of the rows, with the impulses r that bodies have.
static void findVelocities(const tpSmallStep* step, const tpFewContacts* few) {
    for (int c = 0; c < few->contactCount; ++c) {
        const tpFewContact* contact = &few->contacts[c];
        double u[tp_traceWidth];
        findSpeeds(step, contact, tp_present, u);
        u[0] += biasOf(few, contact);
        memcpy(few->u + contact->row, u, sizeof(double) * (size_t)contact->rows);
    }
}

// Whether the traces of contacts tell their velocities while solves of trees are at work.
static bool areTraced(const tpFewContacts* few) {
    bool areTraced = tpFewContacts_IsBuilt(few);
    for (int m = 0; areTraced && m < few->ownerCount; ++m) {
        const tpArticulation* owner = few->owners[m];
        areTraced = !owner->isDue || owner->tree.isFree || !owner->tree.isCarried;
    }
    return areTraced;
}

// The same as findVelocities, of mechanisms whose solves have begun and not ended.
static void traceVelocities(const tpSmallStep* step, const tpFewContacts* few) {
    for (int c = 0; c < few->contactCount; ++c) {
        const tpFewContact* contact = &few->contacts[c];
        double* u = few->u + contact->row;
        for (int i = 0; i < contact->rows; ++i) {
            u[i] = 0.0;
        }
        for (int side = 0; side < 2; ++side) {
            const tpContactEnd* end = &contact->ends[side];
            double own[tp_traceWidth] = { 0.0 };
            if (end->isStill) {
                continue;
            }
            if (end->owner != NULL && end->owner->isDue) {
                tpJointTree_ReadTraced(&end->owner->tree, end->node, end->traces, own);
            } else {
                addSpeeds(step, end, tp_present, own);
            }
            for (int i = 0; i < contact->rows; ++i) {
                u[i] += own[i];
            }
        }
        u[0] += biasOf(few, contact);
    }
}

// The size of the problem: velocities without the impulses of the substep, as the certificate has
// it.
static double findSize(const tpSmallStep* step, const tpFewContacts* few) {
    double square = 0.0;
    for (int c = 0; c < few->contactCount; ++c) {
        const tpFewContact* contact = &few->contacts[c];
        double u[tp_traceWidth];
        findSpeeds(step, contact, tp_without, u);
        u[0] += contact->bias;
        for (int i = 0; i < contact->rows; ++i) {
            square += u[i] * u[i];
        }
    }
    return sqrt(square);
}

// W of the problem at work, and back.
static void soften(tpFewContacts* few) {
    for (int c = 0; few->isSoft && c < few->contactCount; ++c) {
        tpFewContact* contact = &few->contacts[c];
        double* own = &few->W[(size_t)contact->row * ((size_t)few->rowCount + 1)];
        contact->rigid = *own;
        *own += contact->give;
    }
    few->states.isFactored = few->states.isFactored && !few->isSoft;
}

static void harden(tpFewContacts* few) {
    for (int c = 0; few->isSoft && c < few->contactCount; ++c) {
        const tpFewContact* contact = &few->contacts[c];
        few->W[(size_t)contact->row * ((size_t)few->rowCount + 1)] = contact->rigid;
    }
    few->states.isFactored = few->states.isFactored && !few->isSoft;
}

// Contacts give from the impulses that they have, or are rigid.
static void setGives(tpFewContacts* few, bool isSoft) {
    for (int c = 0; c < few->contactCount; ++c) {
        few->contacts[c].give = isSoft ? few->contacts[c].ease : 0.0;
    }
    few->isSoft = isSoft;
}

// Goes to these impulses, or to none.
static void goTo(const tpSmallStep* step, tpFewContacts* few, const double* r) {
    for (int i = 0; i < few->rowCount; ++i) {
        double to = r != NULL ? r[i] : 0.0;
        few->change[i] = to - few->r[i];
        few->r[i] = to;
    }
    push(step, few, few->change);
}

// Whether impulses have changed by no more than bodies may need for this velocity.
static bool isInProportion(const tpFewContacts* few, const double* from, const double* to,
                           double speed) {
    for (int c = 0; c < few->contactCount; ++c) {
        const tpFewContact* contact = &few->contacts[c];
        double more = to[contact->row] - from[contact->row];
        if (!(more * contact->ease <= mostImpulse * speed)) {
            return false;
        }
    }
    return true;
}

// The impulses of a round, in `solved`. If wary, contacts give once these are out of proportion.
// Whether they solve it, in proportion.
static bool solveRound(tpFewContacts* few, double allowed, double size, bool isWary, bool isAtEnd,
                       tpArena* arena, bool* isAstray) {
    size_t bytes = sizeof(double) * (size_t)few->rowCount;
    double speed = fmax(size, sqrt(tpDotNumbers(few->rowCount, few->u, few->u)));
    memcpy(few->change, few->u, bytes);
    soften(few);
    bool isSolved = tpFewContacts_Solve(few, allowed, isAtEnd, arena);
    harden(few);
    bool isOut = !few->isSoft && !isInProportion(few, few->r, few->solved, speed);
    *isAstray = *isAstray || isOut;
    if (isWary && isOut) {
        memcpy(few->u, few->change, bytes);
        memcpy(few->solved, few->r, bytes);
        tpFrictionStates_Read(&few->states);
        setGives(few, true);
        soften(few);
        isSolved = tpFewContacts_Solve(few, allowed, isAtEnd, arena);
        harden(few);
    }
    return isSolved;
}

// Rounds of a solve, until contacts meet the law with rows of joints that stay as they are. False
// if impulses have been out of proportion on the way, and it has not come to an end.
static bool goRounds(const tpSmallStep* step, tpFewContacts* few, double size, bool isWary,
                     bool isAtEnd, tpArena* arena) {
    double part = isAtEnd || few->isSlow ? tolerance : few->isCalm ? calmTolerance : looseTolerance;
    double allowed = part * size;
    bool isAstray = false;
    double speed = size;
    few->isMet = false;
    for (int round = 0; round < mostRounds; ++round) {
        if (areTraced(few)) {
            traceVelocities(step, few);
        } else {
            endSolves(step, few);
            findVelocities(step, few);
        }
        if (tpFrictionStates_AreMet(&few->states, few->r, few->u, allowed)) {
            if (endSolves(step, few)) {
                continue;
            }
            few->isMet = true;
            return true;
        }
        if (round == 0) {
            speed = fmax(size, sqrt(tpDotNumbers(few->rowCount, few->u, few->u)));
        }
        tpFewContacts_Build(step, few);
        bool isSolved = solveRound(few, allowed, size, isWary, isAtEnd, arena, &isAstray);
        for (int i = 0; i < few->rowCount; ++i) {
            few->change[i] = few->solved[i] - few->r[i];
            few->r[i] = few->solved[i];
        }
        if (isAtEnd) {
            pushAtEnd(step, few, few->change);
            return true;
        }
        if (!push(step, few, few->change)) {
            few->isMet = isSolved && !few->isSoft;
            return isInProportion(few, few->first, few->r, speed) && (isSolved || !isAstray);
        }
    }
    endSolves(step, few);
    return isInProportion(few, few->first, few->r, speed) && !isAstray;
}

// Solves for the biases that contacts have, and gives the bodies the impulses. Solves of trees that
// have begun are ended; if W is known, only once the impulses are.
static void solve(const tpSmallStep* step, tpFewContacts* few, tpArena* arena, bool isAtEnd) {
    if (few->contactCount == 0) {
        endSolves(step, few);
        return;
    }
    double size = fmax(findSize(step, few), 1e-6 * step->system->units.speed);
    memcpy(few->first, few->r, sizeof(double) * (size_t)few->rowCount);
    setGives(few, false);
    bool isWary = few->isWary || isAtEnd;
    // What moves has other impulses than in the last step, if these have to be exact.
    if (few->isSlow && !isAtEnd && !step->isStill) {
        tpFewContacts_Build(step, few);
    }
    bool isEnded = goRounds(step, few, size, isWary, isAtEnd, arena);
    if (!isEnded && !isWary) {
        few->isWary = true;
        goTo(step, few, few->first);
        isEnded = goRounds(step, few, size, true, isAtEnd, arena);
    }
    // Impulses that belong to other states of the joints can give any energy: those of rounds that
    // did not end, or of contacts that give, are kept only if none would leave nearly as much.
    if (!isAtEnd && (!isEnded || few->isSoft)) {
        size_t bytes = sizeof(double) * (size_t)few->rowCount;
        double energy = tpFewContacts_Energy(step, few);
        memcpy(few->q, few->r, bytes);
        goTo(step, few, NULL);
        if (energy <= tpFewContacts_Energy(step, few) + tpFewContacts_BiasEnergy(few)) {
            goTo(step, few, few->q);
        } else {
            memset(few->first, 0, bytes);
            few->isMet = false;
        }
    }
}

// Visits of blocks --------------------------------------------------------------------------------

typedef struct Span {
    tpFewContacts *begin, *end;
    tpArena* arena;
} Span;

static Span spanOf(const tpSmallStep* step, int block) {
    const tpFewContactsList* few = &step->joints->few;
    if (few->count == 0) {
        return (Span){ NULL, NULL, NULL };
    }
    return (Span){ few->list + few->blockStart[block], few->list + few->blockStart[block + 1],
                   &few->arenas[block] };
}

static double openBias(const tpSmallStep* step, const tpFewContact* contact) {
    return contact->gap > 0.0 ? step->sweep.softness.inverseTime * contact->gap : 0.0;
}

static void findGap(const tpSmallStep* step, tpFewContact* contact) {
    double moved[tp_traceWidth];
    findSpeeds(step, contact, tp_displacement, moved);
    double size = contact->run->size[contact->lane];
    contact->gap = (float)(contact->startGap + moved[0]);
    contact->gap = contact->gap > 0.0 && contact->gap < noGap * size ? 0.0 : contact->gap;
}

static void setBiases(const tpSmallStep* step, tpFewContacts* few, bool mayPush) {
    const tpSoftness* soft = &step->sweep.softness;
    few->pushesOut = false;
    for (int c = 0; c < few->contactCount; ++c) {
        tpFewContact* contact = &few->contacts[c];
        double size = contact->run->size[contact->lane];
        contact->bias = openBias(step, contact);
        if (mayPush && contact->gap < -smallOverlap * size) {
            contact->bias = fmax(soft->rate * contact->gap, -soft->push);
            few->pushesOut = true;
        }
    }
}

void tpFewContacts_Begin(const tpSmallStep* step, int block) {
    Span span = spanOf(step, block);
    double bearable = bearablePart * step->report->limits.penetration;
    for (tpFewContacts* few = span.begin; few < span.end; ++few) {
        few->isBearable = !few->hasTorsion;
        for (int c = 0; c < few->contactCount; ++c) {
            findGap(step, &few->contacts[c]);
            few->isBearable = few->isBearable && few->contacts[c].gap >= -bearable;
        }
        setBiases(step, few, !(few->isBearable && few->hasGivenUp));
    }
}

void tpFewContacts_Move(const tpSmallStep* step, int block) {
    Span span = spanOf(step, block);
    for (tpFewContacts* few = span.begin; few < span.end; ++few) {
        bool isWary = few->isWary;
        solve(step, few, span.arena, false);
        if (few->pushesOut && few->isBearable && !few->isMet) {
            few->hasGivenUp = true;
            few->isWary = isWary;
            setBiases(step, few, false);
            goTo(step, few, few->first);
            solve(step, few, span.arena, false);
        }
    }
}

static void addTotals(const tpFewContacts* few, double part) {
    for (int c = 0; c < few->contactCount; ++c) {
        tpFewContact* contact = &few->contacts[c];
        for (int i = 0; i < contact->rows; ++i) {
            contact->total[i] += part * few->r[contact->row + i];
        }
    }
}

// Biases of parting for what has collided in the step. Whether there is any.
static bool setBounces(const tpFewContacts* few) {
    bool isAny = false;
    for (int c = 0; c < few->contactCount; ++c) {
        tpFewContact* contact = &few->contacts[c];
        // What has carried nothing has not met yet.
        contact->bounce = contact->total[0] > 0.0 ? contact->bounce : 0.0;
        contact->bias = contact->bounce < 0.0 ? contact->bounce : contact->bias;
        isAny = isAny || contact->bounce < 0.0;
    }
    return isAny;
}

void tpFewContacts_Settle(const tpSmallStep* step, int block, bool isLast) {
    Span span = spanOf(step, block);
    for (tpFewContacts* few = span.begin; few < span.end; ++few) {
        if (few->pushesOut) {
            for (int c = 0; c < few->contactCount; ++c) {
                few->contacts[c].bias = openBias(step, &few->contacts[c]);
            }
            if (few->isSoft) {
                goTo(step, few, few->first);
            }
            solve(step, few, span.arena, false);
        }
        addTotals(few, 1.0);
        if (isLast && setBounces(few)) {
            addTotals(few, -1.0);
            solve(step, few, span.arena, false);
            addTotals(few, 1.0);
        }
    }
}

// Whether nothing has changed velocities since contacts have been solved exactly.
static bool isDone(const tpFewContacts* few) {
    bool isDone = few->isSlow && few->isMet;
    for (int m = 0; isDone && m < few->ownerCount; ++m) {
        isDone = !few->owners[m]->isTumbling;
    }
    return isDone;
}

void tpFewContacts_Close(const tpSmallStep* step, int block) {
    Span span = spanOf(step, block);
    for (tpFewContacts* few = span.begin; few < span.end; ++few) {
        if (!isDone(few)) {
            addTotals(few, -1.0);
            solve(step, few, span.arena, true);
            addTotals(few, 1.0);
        }
        tpFewContacts_Return(step, few);
    }
}
