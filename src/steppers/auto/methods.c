#include "steppers/auto/methods.h"

#include "dynamics/contact_law.h"
#include "dynamics/contact_spring.h"
#include "steppers/anitescu/anitescu.h"
#include "steppers/bender_schmitt/bender_schmitt.h"
#include "steppers/chakraborty_trinkle/chakraborty_trinkle.h"
#include "steppers/free_flight/free_flight.h"
#include "steppers/mirtich_canny/mirtich_canny.h"
#include "steppers/small_steps/small_steps.h"

// Groups of more bodies than these are not tried with the methods whose effort grows fast.
enum { eventSize = 64, rollingSize = 12 };

// What is counted, in nanoseconds of the machine on which the table was made; README.md has the
// command.
typedef struct Weights {
    double solve; // a multiply-add of a solve
    double step, body, query, contact, iteration, check, collision;
} Weights;

typedef struct Row {
    const tpStepper* stepper;
    bool isSymmetric;
    Weights weights;
} Row;

static const Row rows[tp_methodCount] = {
    [tp_flyingMethod] = { &tpFreeFlightStepper, true, { .step = 390.0, .body = 43.0 } },
    [tp_standardMethod] = { &tpAnitescuStepper,
                            true,
                            { .solve = 0.2,
                              .body = 1000.0,
                              .query = 1700.0,
                              .contact = 1500.0,
                              .iteration = 1500.0 } },
    [tp_eventMethod] = { &tpMirtichCannyStepper,
                         false,
                         { .step = 1100.0,
                           .contact = 2500.0,
                           .iteration = 2300.0,
                           .check = 1200.0 } },
    [tp_rollingMethod] = { &tpChakrabortyTrinkleStepper,
                           false,
                           { .body = 800.0,
                             .query = 830.0,
                             .contact = 5000.0,
                             .iteration = 8700.0 } },
    [tp_pileMethod] = { &tpBenderSchmittStepper,
                        true,
                        { .solve = 0.74,
                          .step = 2800.0,
                          .query = 590.0,
                          .contact = 1100.0,
                          .iteration = 610.0 } },
    [tp_crowdMethod] = { &tpSmallStepsStepper,
                         false,
                         { .query = 620.0, .contact = 165.0, .iteration = 2400.0 } },
};

const tpStepper* tpMethod_Stepper(tpMethod method) {
    return rows[method].stepper;
}

bool tpMethod_IsSymmetric(tpMethod method) {
    return rows[method].isSymmetric;
}

// Shapes that have no flat faces or edges: those that roll.
static bool isRound(const tpGeometry* geometry) {
    return geometry->type == tp_sphereShape || geometry->type == tp_ellipsoidShape ||
           geometry->type == tp_capsuleShape || geometry->type == tp_cylinderShape;
}

// Shapes that have no closed form of their distance.
static bool isSlow(const tpGeometry* geometry) {
    return geometry->type == tp_ellipsoidShape || geometry->type == tp_superellipsoidShape ||
           geometry->type == tp_intersectionShape || geometry->type == tp_implicitShape;
}

static bool hasShape(const tpSystem* system, const tpGroups* groups, int group,
                     bool (*isAsked)(const tpGeometry*)) {
    for (int i = 0; i < system->shapes.count; ++i) {
        const tpShape* shape = &system->shapes.data[i];
        if (shape->isLive && groups->ofBody[shape->body] == group &&
            isAsked(&shape->form->geometry)) {
            return true;
        }
    }
    return false;
}

// Whether the stepper leaves out something that a material has. chakraborty-trinkle is there for
// rolling: what its bounces cost has not been weighed.
static bool lacks(const tpStepper* stepper, const tpSystem* system) {
    unsigned asked = tpSystem_Gives(system) ? tp_lacksCompliance : 0u;
    bool hasRestitution = false;
    for (int i = 0; i < system->materials.count; ++i) {
        hasRestitution = hasRestitution || system->materials.data[i].restitution > 0.0;
        asked |= tpFriction_Asks(&system->materials.data[i].friction);
    }
    for (int i = 0; i < system->pairs.count; ++i) {
        const tpPairDef* pair = &system->pairs.data[i];
        hasRestitution = hasRestitution || (pair->hasRestitution && pair->restitution > 0.0);
        asked |= pair->hasFriction ? tpFriction_Asks(&pair->friction) : 0u;
    }
    bool isRolling = stepper == &tpChakrabortyTrinkleStepper;
    return (asked & stepper->lacks) != 0 || (isRolling && hasRestitution);
}

bool tpMethod_CanCarry(tpMethod method, const tpSystem* system, const tpGroups* groups, int group) {
    bool isFlying = group == groups->flying;
    bool hasContacts = groups->pairCounts[group] > 0, hasJoints = groups->jointCounts[group] > 0;
    int size = groups->sizes[group];
    if (lacks(rows[method].stepper, system)) {
        return false;
    }
    switch (method) {
    case tp_flyingMethod:
        return isFlying;
    case tp_standardMethod:
        return !isFlying;
    case tp_eventMethod:
        return !isFlying && hasContacts && !hasJoints && size <= eventSize;
    case tp_rollingMethod:
        return !isFlying && hasContacts && !hasJoints && size <= rollingSize &&
               hasShape(system, groups, group, isRound);
    case tp_pileMethod:
        return !isFlying && hasContacts;
    case tp_crowdMethod:
        // Its memory of pairs is for all bodies at once.
        return !isFlying && hasContacts && !hasJoints && size > tp_crowdSize && groups->count <= 2;
    case tp_methodCount:
        break;
    }
    return false;
}

// Shapes whose point of contact travels over a curved face: impacts of theirs are few, and what
// bender-schmitt asks for in a step costs more there than short steps of anitescu do.
static bool isCurved(const tpGeometry* geometry) {
    return geometry->type == tp_cylinderShape || geometry->type == tp_coneShape || isSlow(geometry);
}

tpMethod tpMethod_First(const tpSystem* system, const tpGroups* groups, int group) {
    bool isPile = !hasShape(system, groups, group, isCurved) &&
                  tpMethod_CanCarry(tp_pileMethod, system, groups, group);
    return group == groups->flying ? tp_flyingMethod : isPile ? tp_pileMethod : tp_standardMethod;
}

tpOptions tpMethod_Options(tpMethod method, const tpOptions* options, const tpGroups* groups,
                           int group) {
    tpOptions own = *options;
    if (method == tp_standardMethod && groups->pairCounts[group] == 0) {
        own.values[tp_energyGuardOption] = 0.0;
    }
    return own;
}

bool tpMethod_HasPassedOn(tpMethod method, const tpStepReport* report) {
    return method == tp_eventMethod && report->figures[tp_handedOverFigure] > 0;
}

// Asking for the distance of shapes that have no closed form of it costs so many times as much.
static const double slowCheck = 12.0;

double tpMethod_Work(tpMethod method, const tpSystem* system, const tpStepReport* report,
                     const tpGroups* groups, int group) {
    const Weights* weights = &rows[method].weights;
    int bodyCount = groups->sizes[group], checkCount = report->figures[tp_checkFigure];
    bool isSlowly = checkCount > 0 && hasShape(system, groups, group, isSlow);
    return weights->solve * system->solveWork + weights->step * report->substepCount +
           weights->body * bodyCount + weights->query * system->contactQueryCount * bodyCount +
           weights->contact * report->contactCount + weights->iteration * report->iterationCount +
           weights->check * (isSlowly ? slowCheck : 1.0) * checkCount +
           weights->collision * report->figures[tp_collisionFigure];
}
