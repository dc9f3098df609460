#include "dynamics/step_budget.h"

#include <math.h>

#include "dynamics/certificate.h"
#include "dynamics/report.h"
#include "geometry/shape.h"

// A step of up to this many contacts may cost the same: 30 to 50 ms on the machine where work was
// weighed. More contacts have as much more as their factorisations grow. Crowds whose bodies bounce
// one after the other have few contacts at any time, but as many impacts as bodies: they have more
// in proportion to the bodies that are in flight. 216 elastic balls that had as much as twelve lost
// 29 % of their energy in the three steps that did not suffice. What does not bounce comes to rest
// on what it strikes: only its queries grow with the bodies. Solves of joints without contacts grow
// as the joints do.
enum { smallStep = 500, fewBouncing = 48, fewBodies = 384, fewJoints = 250 };
static const double smallBudget = 1.1e8;

// What a step keeps for its end: so many solves or queries as the largest it has had, and no more
// than this part of the budget. Rounds of a drift, a careful one and the velocities after it take
// as many; with six, steps of 300 hulls cost up to three budgets.
static const double endingSolves = 14.0, endingPart = 0.5;

// A step that has cost this part of its budget is hard.
static const double hardPart = 0.2;

// A solve may take this part of what is left; and of the budget at the least (some sweeps of all
// contacts).
static const double solvePart = 0.6, lastPart = 0.02;

// The solve of the velocities at the end, for which drift, queries and the way out of overlaps have
// often left next to nothing, may take this part of the budget while less than so many are spent.
static const double endPart = 0.25, overdraft = 1.2;

// Work of a query: of each body (it turns freely, its bounds are looked up), of each contact, and
// of each pair of shapes that are near: in closed form, convex ones by polyhedra, by iterations on
// round surfaces, and on several triangles of a surface each. Hulls take 3,600 instructions per
// pair, but with that number `auto` spends what a step of five marbles of 5,780 facets may cost
// before it has found the method that carries them: 8 steps without a certificate, and twice the
// time.
static const double bodyQuery = 2500.0, evenQuery = 400.0, contactQuery = 300.0;
static const double simpleQuery = 200.0, pairQuery = 1500.0, roundQuery = 5000.0,
                    surfaceQuery = 12000.0;

// What a solve costs beside its own work, per row: the row itself, its place in the problem and its
// verdict. Rows of a joint are found from the poses of its bodies in every solve.
static const double rowWork = 600.0, jointWork = 4000.0;

// Powers of real exponents make the surface of a superellipsoid so many times as costly.
static const double powerFactor = 3.0;

// Of what bodies reach: contacts that are as near as this are those of the step; others it may
// meet.
static const double touchingPart = 0.003;

// Of the budget: what parts may draw in advance.
static const double advance = 0.3;

double tpStepBudget_Whole(const tpSystem* system) {
    double size = (double)system->stepSize / smallStep;
    double crowd = (double)(system->stepBodies - system->stepSize) /
                   (system->stepBounces ? fewBouncing : fewBodies);
    double joints = (double)system->joints.count / fewJoints;
    return smallBudget * fmax(fmax(1.0, joints), fmax(size * size, crowd));
}

int tpStepBudget_Touching(const tpSystem* system) {
    return system->stepSize;
}

double tpStepBudget_Share(const tpSystem* system) {
    return system->stepShare > 0.0 ? system->stepShare : 1.0;
}

static double limitOf(const tpSystem* system) {
    return tpStepBudget_Share(system) * tpStepBudget_Whole(system);
}

static bool mayBounce(const tpSystem* system) {
    double restitution = 0.0;
    for (int i = 0; i < system->materials.count; ++i) {
        restitution = fmax(restitution, system->materials.data[i].restitution);
    }
    for (int i = 0; i < system->pairs.count; ++i) {
        restitution = fmax(restitution, system->pairs.data[i].restitution);
    }
    return restitution > 0.0;
}

void tpStepBudget_Begin(tpSystem* system) {
    system->stepWork = 0.0;
    system->largestWork = 0.0;
    system->stepSize = 0;
    system->stepBodies = 0;
    for (int i = 0; i < system->bodyCount; ++i) {
        system->stepBodies += tpSystem_IsDynamic(system, i) ? 1 : 0;
    }
    system->stepBounces = mayBounce(system);
    // Bodies on joints do not bounce one by one.
    system->stepBodies -= system->joints.count;
    system->stepShare = 1.0;
    system->givenShare = system->usedShare = 0.0;
    system->wasSpent = false;
}

void tpStepBudget_BeginPart(tpSystem* system, double share) {
    system->wasSpent = tpStepBudget_WasSpent(system);
    system->usedShare += system->stepWork / tpStepBudget_Whole(system);
    system->givenShare += share;
    system->stepShare = fmax(share, fmin(1.0, system->givenShare + advance) - system->usedShare);
    system->stepWork = 0.0;
    system->largestWork = 0.0;
}

void tpStepBudget_Spend(tpSystem* system, double work) {
    system->stepWork += work;
    system->largestWork = fmax(system->largestWork, work);
}

void tpStepBudget_SpendSolve(tpSystem* system, double work, int rowCount, int jointCount) {
    tpStepBudget_Spend(system, work + rowWork * rowCount + jointWork * jointCount);
}

double tpStepBudget_WorkOfPair(const tpCollider* collider, tpShapePair pair) {
    const tpGeometry* shapeA = tpCollider_GetGeometry(collider, pair.shapeA);
    const tpGeometry* shapeB = tpCollider_GetGeometry(collider, pair.shapeB);
    tpShapeKind a = tpClassOf(shapeA)->kind, b = tpClassOf(shapeB)->kind;
    bool isSurface =
        a == tp_meshKind || a == tp_heightFieldKind || b == tp_meshKind || b == tp_heightFieldKind;
    bool isSimple =
        a == tp_planeKind || b == tp_planeKind || (a == tp_ballKind && b == tp_ballKind);
    bool isRound = (a == tp_roundKind || b == tp_roundKind) && !isSimple;
    bool hasPowers =
        shapeA->type == tp_superellipsoidShape || shapeB->type == tp_superellipsoidShape;
    double work = isSurface ? surfaceQuery : isRound ? roundQuery : pairQuery;
    return isSimple ? simpleQuery : (hasPowers ? powerFactor : 1.0) * work;
}

// Bodies with three equal moments do not tumble.
static double workOfBodies(const tpSystem* system) {
    double work = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        tpVec3 moments = system->bodies.data[i].form->inertia.moments;
        bool isEven = moments.x == moments.y && moments.y == moments.z;
        work += isEven ? evenQuery : bodyQuery;
    }
    return work;
}

static double workOfPairs(const tpSystem* system, const tpShapePair* pairs, int count) {
    double work = 0.0;
    for (int i = 0; i < count; ++i) {
        work += tpStepBudget_WorkOfPair(system->collider, pairs[i]);
    }
    return work;
}

void tpStepBudget_SpendQuery(tpSystem* system, const tpContact* contacts, int count) {
    double near = touchingPart * system->scales.reach;
    int touching = 0;
    for (int i = 0; i < count; ++i) {
        touching += contacts[i].gap <= near;
    }
    system->stepSize = touching > system->stepSize ? touching : system->stepSize;
    int pairCount = 0;
    const tpShapePair* pairs =
        system->collider != NULL ? tpCollider_GetPairs(system->collider, &pairCount) : NULL;
    tpStepBudget_Spend(system, workOfBodies(system) + contactQuery * count +
                                   workOfPairs(system, pairs, pairCount));
}

void tpStepBudget_SpendPairs(tpSystem* system, const tpShapePair* pairs, int pairCount,
                             int contactCount) {
    tpStepBudget_Spend(system, contactQuery * contactCount + workOfPairs(system, pairs, pairCount));
}

double tpStepBudget_Work(const tpSystem* system) {
    return system->usedShare * tpStepBudget_Whole(system) + system->stepWork;
}

double tpStepBudget_UsedPart(const tpSystem* system) {
    return system->stepWork / limitOf(system);
}

bool tpStepBudget_IsHard(const tpSystem* system) {
    return system->stepWork >= hardPart * limitOf(system);
}

bool tpStepBudget_WasHard(const tpSystem* system) {
    return tpStepBudget_Work(system) >= hardPart * tpStepBudget_Whole(system);
}

bool tpStepBudget_IsSpent(const tpSystem* system) {
    double limit = limitOf(system);
    double kept = fmin(endingSolves * system->largestWork, endingPart * limit);
    return system->stepWork >= limit - kept || tpSystem_IsStopped(system);
}

bool tpStepBudget_WasSpent(const tpSystem* system) {
    return system->wasSpent || tpStepBudget_IsSpent(system);
}

double tpStepBudget_ForSolve(const tpSystem* system) {
    double limit = limitOf(system);
    return fmax(solvePart * (limit - system->stepWork), lastPart * limit);
}

double tpStepBudget_ForEndSolve(const tpSystem* system) {
    double limit = limitOf(system);
    double drawn = solvePart * (overdraft * limit - system->stepWork);
    return fmax(tpStepBudget_ForSolve(system), fmin(drawn, endPart * limit));
}

void tpStepBudget_End(tpSystem* system, const tpKeptMotion* start, tpStepReport* report) {
    if (!tpStepBudget_WasSpent(system) || report->undone) {
        return;
    }
    tpStepReport_FallBack(report, "end of work",
                          "the step has cost all that one of its size may: its rest was taken with "
                          "what there was");
    tpCertificate_TakeEndGains(system, start, report);
}
