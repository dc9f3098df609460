// The geometrically implicit step [ChakrabortyBerardAkellaTrinkle07]: contact conditions are met
// where the step ends, with closest points, normals and friction directions as they are there.

#include "steppers/chakraborty_trinkle/chakraborty_trinkle.h"

#include <string.h>

#include "dynamics/certificate.h"
#include "dynamics/energy_account.h"
#include "dynamics/joints.h"
#include "dynamics/motion.h"
#include "dynamics/step_budget.h"
#include "dynamics/trial.h"
#include "steppers/chakraborty_trinkle/impacts.h"
#include "steppers/chakraborty_trinkle/islands.h"
#include "steppers/chakraborty_trinkle/missed.h"
#include "steppers/chakraborty_trinkle/modes.h"
#include "steppers/chakraborty_trinkle/problem_parts.h"
#include "steppers/chakraborty_trinkle/rims.h"
#include "steppers/stewart_trinkle/stewart_trinkle.h"

enum { maxPasses = 8, deepestHalving = 5 };

// Of what the certificate lets a step gain: a part of it that gains more is taken in halves.
static const double gainPart = 0.5;

// The certificate: the contact law and the momentum where the step ends.
static void judge(tpImplicitStep* step, tpStepReport* report) {
    double sum = 0.0, scale = 0.0;
    for (int k = 0; k < step->islands.count; ++k) {
        const tpIslandProblem* problem = &step->problems[k];
        double size = tpIslandProblem_Scale(problem);
        sum += tpIslandProblem_Judge(problem);
        scale += size * size;
    }
    report->residual = fmax(report->residual,
                            sqrt(sum) / fmax(sqrt(scale), 1e-6 * step->base.system->units.speed));
    tpRows_JudgeContacts(&step->base.rows, report);
}

// Rows as they were in the middle of the step, with the impulses found, for accounts.
static void writeRows(tpImplicitStep* step) {
    tpTimeStep* base = &step->base;
    tpRows* rows = &base->rows;
    for (int i = 0; i < base->contactCount; ++i) {
        const tpContactPlace* place = &step->geometry.middles[i];
        tpContact* contact = &base->contacts[i];
        contact->normal = place->normal;
        contact->pointA = place->pointA;
        contact->pointB = place->pointB;
        base->laws[i].tangents[0] = place->tangents[0];
        base->laws[i].tangents[1] = place->tangents[1];
        tpRows_SetContact(rows, i, step->geometry.middlePoses, contact, &base->laws[i]);
        tpNormalAction_SetRow(&step->geometry.actions[i], place, rows, i);
    }
    // Joints are the last blocks, in the same order.
    int first = base->contactCount < rows->blockCount ? rows->firstRows[base->contactCount] : 0;
    size_t numbers = (size_t)step->geometry.jointMiddles.rowCount * (size_t)rows->componentCount;
    size_t at = (size_t)first * (size_t)rows->componentCount;
    if (numbers > 0) {
        memcpy(rows->jacobianA + at, step->geometry.jointMiddles.jacobianA,
               sizeof(double) * numbers);
        memcpy(rows->jacobianB + at, step->geometry.jointMiddles.jacobianB,
               sizeof(double) * numbers);
    }
}

// The velocity that impulses of the step work against: of the middle; as told for bodies that move
// so.
static tpVelocity workVelocity(const tpImplicitStep* step, int slot) {
    const tpTimeStep* base = &step->base;
    bool isDynamic = tpSystem_IsDynamic(base->system, slot);
    return isDynamic ? step->geometry.travels[slot].middle.velocity : base->kicked[slot];
}

// What forces other than gravity do in the step, and what the step itself takes: with theta above
// 1/2, (theta - 1/2) times the square of the change of velocities, by mass (travel.h). The latter
// counts with the losses of impacts.
static void accountForces(const tpImplicitStep* step, tpStepReport* report) {
    const tpTimeStep* base = &step->base;
    for (int i = 0; i < base->bodyCount; ++i) {
        if (!tpSystem_IsDynamic(base->system, i)) {
            continue;
        }
        const tpBody* body = &base->system->bodies.data[i];
        const tpInertia* inertia = &body->form->inertia;
        const tpVelocity* start = &base->startVelocities[i];
        tpQuat rotation = base->startPoses[i].rotation;
        tpVelocity against = workVelocity(step, i);
        tpVec3 push = tpSub(base->kicked[i].linear, start->linear);
        tpVec3 turn = tpSub(base->kicked[i].angular, start->angular);
        push = tpScale(body->mass, tpMulAdd(push, -base->h, tpSystem_Gravity(base->system, i)));
        report->externalWork += tpDot(push, against.linear);
        report->externalWork += tpDot(tpInertia_Momentum(inertia, rotation, turn), against.angular);
        tpVec3 change = tpSub(base->pushed[i].linear, start->linear);
        tpVec3 spin = tpSub(base->pushed[i].angular, start->angular);
        double square = body->mass * tpLengthSquared(change) +
                        tpDot(spin, tpInertia_Momentum(inertia, rotation, spin));
        report->impactLoss += (step->thetaOf[i] - 0.5) * square;
    }
}

static bool accountEnergy(tpImplicitStep* step, tpStepReport* report) {
    tpTimeStep* base = &step->base;
    tpSystem* system = base->system;
    tpVelocity* against = TP_SCRATCH(&system->arena, tpVelocity, base->bodyCount);
    if (against == NULL) {
        return false;
    }
    for (int i = 0; i < base->bodyCount; ++i) {
        against[i] = workVelocity(step, i);
    }
    accountForces(step, report);
    tpRowVelocities velocities = { against, against, against, NULL };
    tpRows_AccountEnergy(&base->rows, &velocities, report);
    return true;
}

// Contacts that stick do so in the mean of the step. What the midpoint rule leaves of slip where it
// ends changes sign from step to step, and is not told as sliding.
static void tellSticking(const tpImplicitStep* step, tpTally* tally) {
    const tpRows* rows = &step->base.rows;
    int cursor = 0;
    for (int i = 0; i < step->base.contactCount; ++i) {
        const tpContactInfo* found = tpTally_Find(tally, &step->base.contacts[i], &cursor);
        if (found == NULL || !tpSticks(rows, i)) {
            continue;
        }
        double square = 0.0;
        for (int k = 1; k < rows->dimensions[i] && k < 3; ++k) {
            double u = rows->velocity[rows->firstRows[i] + k];
            square += u * u;
        }
        tally->list[found - tally->list].slidingSpeed = sqrt(square);
    }
}

// Moves the system to where the step ends and takes account of the impulses.
static bool commit(tpImplicitStep* step, tpTally* tally, tpStepReport* report) {
    tpTimeStep* base = &step->base;
    tpSystem* system = base->system;
    writeRows(step);
    if (!accountEnergy(step, report)) {
        return false;
    }
    for (int i = 0; i < base->bodyCount; ++i) {
        base->velocities[i] = step->geometry.travels[i].end.velocity;
        system->velocities.data[i] = base->velocities[i];
        if (tpSystem_IsDynamic(system, i)) {
            system->poses.data[i] = step->geometry.endPoses[i];
        }
    }
    tpSystem_MoveKinematic(system, system->time, base->h);
    for (int i = 0; i < base->contactCount; ++i) {
        // What is listed is where the step ends.
        base->contacts[i].pointA = step->geometry.ends[i].pointA;
        base->contacts[i].pointB = step->geometry.ends[i].pointB;
        base->contacts[i].normal = step->geometry.ends[i].normal;
        base->contacts[i].gap = step->geometry.ends[i].gap;
    }
    if (!tpTimeStep_Tally(base, tally)) {
        return false;
    }
    tellSticking(step, tally);
    return true;
}

// Finds contacts and solves; again where bodies outran their margins or ran into what was not seen.
static bool solveStep(tpImplicitStep* step, tpStepperMemory* memory, tpStepReport* report,
                      bool* isSolved) {
    tpTimeStep* base = &step->base;
    tpCompletion completion = { .count = -1 };
    tpFound found;
    step->misses = false;
    *isSolved = false;
    for (int pass = 0; pass < maxPasses; ++pass) {
        if (!tpImplicitStep_Prepare(step) ||
            !tpImplicitStep_StartJoints(step, &memory->driftRows)) {
            return false;
        }
        tpTimeStep_WarmStart(base, &memory->history, 1.0);
        tpImplicitStep_Recall(step);
        step->foresees = pass == 0 && step->mayHalve && tpImpacts_AreForeseen(step);
        if (step->foresees) {
            return true;
        }
        if (completion.count >= 0) {
            tpImplicitStep_Resume(step, &completion, &found);
        }
        completion.count = -1;
        if (!tpImplicitStep_Solve(step, memory, report, isSolved)) {
            return false;
        }
        if (!*isSolved) {
            break; // what was missed does not matter yet
        }
        if (tpStepBudget_IsSpent(base->system)) {
            break;
        }
        bool isLast = pass == maxPasses - 1;
        if (!isLast && tpTimeStep_Outran(base, NULL)) {
            if (!tpImplicitStep_FindContacts(step)) {
                return false;
            }
            continue;
        }
        if (!tpImplicitStep_FindMissed(step, &completion)) {
            return false;
        }
        step->misses = completion.missedCount > 0;
        if (!step->misses || isLast) {
            break;
        }
        if (!tpImplicitStep_Keep(step, &found) ||
            !tpTimeStep_UseContacts(base, completion.contacts, completion.count)) {
            return false;
        }
    }
    return true;
}

// The same; a step that is not solved with rims as they are is solved with points of them that are
// kept.
static bool solveOrKeepFeatures(tpImplicitStep* step, tpStepperMemory* memory, tpStepReport* report,
                                bool* isSolved) {
    if (!solveStep(step, memory, report, isSolved)) {
        return false;
    }
    if (*isSolved || step->foresees || !step->hasRims || tpStepBudget_IsSpent(step->base.system)) {
        return true;
    }
    step->keepsFeatures = true;
    bool isDone = tpImplicitStep_FindContacts(step) && solveStep(step, memory, report, isSolved);
    step->keepsFeatures = false;
    return isDone;
}

static bool advance(tpSystem* system, tpStepperMemory* memory, const tpImplicitSettings* settings,
                    double h, int depth, tpTally* tally, tpImplicitStep* step,
                    tpStepReport* report);

// The same in two halves.
static bool advanceInHalves(tpSystem* system, tpStepperMemory* memory,
                            const tpImplicitSettings* settings, double h, int depth, tpTally* tally,
                            tpImplicitStep* step, tpStepReport* report) {
    report->substepCount += 1;
    double time = system->time;
    bool isDone = advance(system, memory, settings, 0.5 * h, depth + 1, tally, step, report);
    system->time = time + 0.5 * h;
    isDone = isDone && (step->isTooDear ||
                        advance(system, memory, settings, 0.5 * h, depth + 1, tally, step, report));
    system->time = time;
    return isDone;
}

// One step of h seconds at the system's time, or two of half the length if it cannot be solved or
// something strikes in it.
static bool advance(tpSystem* system, tpStepperMemory* memory, const tpImplicitSettings* settings,
                    double h, int depth, tpTally* tally, tpImplicitStep* step,
                    tpStepReport* report) {
    tpTrial start;
    if (!tpTrial_Begin(&start, system, NULL, report)) {
        return false;
    }
    double energy = tpImpacts_Energy(system, report);
    step->settings = *settings;
    step->settings.hasHeldJoints = memory->structure == system->structure;
    system->solveWork = 0.0; // half a step has a work budget of its own
    bool isSolved;
    if (!tpTimeStep_Begin(&step->base, system, h, h) || !tpImplicitStep_FindContacts(step)) {
        return false;
    }
    if (step->runsFar && depth < deepestHalving && !tpStepBudget_IsHard(system)) {
        tpTrial_Undo(&start);
        return advanceInHalves(system, memory, settings, h, depth, tally, step, report);
    }
    step->mayHalve = depth < deepestHalving && !tpStepBudget_IsSpent(system);
    if (!solveOrKeepFeatures(step, memory, report, &isSolved)) {
        return false;
    }
    if (step->foresees) {
        tpTrial_Undo(&start);
        return advanceInHalves(system, memory, settings, h, depth, tally, step, report);
    }
    bool isEnding = tpStepBudget_IsSpent(system);
    step->isTooDear = !isSolved && step->isTooDear && step->base.contactCount > 0 &&
                      tpImplicitStep_MayHandOver(step) && !tpSystem_IsStopped(system);
    if (step->isTooDear) {
        return true;
    }
    if (!isSolved && depth < deepestHalving && !isEnding) {
        tpTrial_Undo(&start);
        bool isDone = advanceInHalves(system, memory, settings, h, depth, tally, step, report);
        tpStepReport_FallBack(report, "halved step",
                              "the whole step was not solved: it is taken in halves");
        return isDone;
    }
    // Points that run along a rim or an edge are missed anew in each pass.
    bool misses = step->misses && depth < deepestHalving && !tpStepBudget_IsHard(system);
    if (isSolved && !isEnding && (misses || tpImpacts_AreWorthLocating(step))) {
        tpTrial_Undo(&start);
        return advanceInHalves(system, memory, settings, h, depth, tally, step, report);
    }
    if (!isSolved) {
        report->failureCount += 1;
        report->converged = false;
        tpStepReport_FallBack(report, "last iterate",
                              "the shortest part was not solved: its best iterate is taken");
    }
    // It is counted again, with the velocities found.
    report->externalWork = start.keptReport.externalWork;
    judge(step, report);
    tpTally part = { NULL, 0 };
    if (!commit(step, &part, report)) {
        return false;
    }
    // Laws that change with the positions, as limits and servos that come and go in a step, may
    // give energy that shorter steps do not.
    double rise = tpImpacts_Energy(system, report) - energy;
    if (isSolved && step->mayHalve && rise > gainPart * tpCertificate_EnergyLimit(system, report)) {
        tpTrial_Undo(&start);
        tpStepReport_AddNote(report, "the energy guard acted");
        return advanceInHalves(system, memory, settings, h, depth, tally, step, report);
    }
    tpJoints_AddReactions(system, &step->base.rows, settings->wholeStep);
    memory->structure = system->structure;
    // What a step that was not solved ended with is no start for the next one.
    if (!isSolved) {
        tpRowHistory_Forget(&memory->driftRows);
    } else if (!tpRowHistory_Keep(&memory->driftRows, &memory->allocator, &step->base.rows, h,
                                  NULL)) {
        return false;
    }
    if (!tpImpacts_End(step, memory, &part, energy, report)) {
        return false;
    }
    step->lastPart = part;
    step->hasLastPart = true;
    return tpTally_Merge(tally, part.list, part.count, &system->arena);
}

// Both ways together may cost this part of a step's budget, and the second one has this at least.
static const double bothWays = 1.1, leastRest = 0.3;

// The step from its start with linear rows in place of implicit contacts, and with what is left of
// its work. Dozens of bodies that strike each other need ten passes of linear problems with
// implicit contacts, and have work for three: what they ended with met no law.
static void takeLinear(const tpTrial* start, double startWork, double share,
                       tpStepperMemory* memory, const tpOptions* options, double h,
                       tpStepReport* report) {
    tpSystem* system = start->system;
    tpTrial_Undo(start);
    tpRowHistory_Forget(&memory->driftRows);
    tpJoints_ClearReactions(system);
    double used = (tpStepBudget_Work(system) - startWork) / tpStepBudget_Whole(system);
    system->solveWork = 0.0;
    tpStepBudget_BeginPart(system, fmax(bothWays * share - used, leastRest * share));
    system->wasSpent = false;
    tpStewartTrinkleStepper.step(system, memory, options, h, report);
    tpStepReport_FallBack(report, "linear rows",
                          "implicit contacts cost more than a step may: it is taken with linear "
                          "rows, as stewart-trinkle does");
}

// The paper's own step is inelastic.
static int impactLawOf(const tpOptions* options) {
    bool isPapersStep = (int)options->values[tp_formulationOption] == tp_fullForm ||
                        options->values[tp_thetaOption] >= 1.0;
    return isPapersStep ? tp_inelasticImpact : tpOptions_ImpactLaw(options, tp_newtonImpact);
}

static void step(tpSystem* system, void* state, const tpOptions* options, double h,
                 tpStepReport* report) {
    tpStepperMemory* memory = state;
    double threshold = options->values[tp_restitutionThresholdOption];
    tpImplicitSettings settings = {
        .theta = options->values[tp_thetaOption],
        .gamma = options->values[tp_gammaOption],
        .tolerance = options->values[tp_toleranceOption],
        .directionCount = (int)options->values[tp_directionsOption],
        .isFull = (int)options->values[tp_formulationOption] == tp_fullForm,
        .impactLaw = impactLawOf(options),
        .threshold = threshold < 0.0 ? 2.0 * h * tpLength(system->gravity) : threshold,
        .isScaled = threshold < 0.0,
        .wholeStep = h,
    };
    settings.theta = settings.isFull ? 1.0 : settings.theta;
    tpImplicitStep step;
    tpTally tally = { NULL, 0 };
    memset(&step, 0, sizeof(step));
    tpJoints_ClearReactions(system);
    tpTrial start;
    double startWork = tpStepBudget_Work(system), share = tpStepBudget_Share(system);
    bool isDone = tpTrial_Begin(&start, system, &memory->history, report) &&
                  advance(system, memory, &settings, h, 0, &tally, &step, report);
    if (isDone && step.isTooDear) {
        takeLinear(&start, startWork, share, memory, options, h, report);
        return;
    }
    if (!isDone ||
        !tpTimeStep_Report(&step.base, &tally, memory->solver, &memory->history, report)) {
        tpStepReport_RunOut(report);
        return;
    }
    if (settings.impactLaw == tp_inelasticImpact && tpTimeStep_HasRestitution(&step.base)) {
        tpStepReport_AddNote(report, "this step is inelastic: restitution is not used");
    }
}

static unsigned lacksWith(const tpOptions* options) {
    return impactLawOf(options) == tp_inelasticImpact ? tp_lacksRestitution : 0;
}

static const tpOptionIndex used[] = { tp_toleranceOption, tp_certificateOption,
                                      tp_thetaOption,     tp_formulationOption,
                                      tp_gammaOption,     tp_directionsOption,
                                      tp_impactLawOption, tp_restitutionThresholdOption,
                                      tp_optionCount };

const tpStepper tpChakrabortyTrinkleStepper = {
    .name = "chakraborty-trinkle",
    .summary = "smooth bodies that roll and spin, geometrically implicit; elliptic friction",
    .closesAccount = true,
    .options = used,
    .lacks = tp_lacksImpactFriction | tp_lacksRollingFriction | tp_lacksCompliance,
    .lacksWith = lacksWith,
    .step = step,
    TP_STEPPER_MEMORY,
};
