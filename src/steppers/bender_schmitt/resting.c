// Resting contacts during the step [BenderSchmitt06, sec. 3.2].
//
// The impulse of a resting contact is the one after which its points, moved to t0 + h, do not
// overlap: p_n = d_n(t0 + h) / (h n'Kn), (8), iterated over all contacts. The sweeps work on the
// linear part of that, h (u_n + bias); what the motion of the points adds to it (they turn with
// their bodies, (7), and bodies tumble) is found by moving the bodies and put into the bias, until
// the two agree: once or twice, as the paper found.
//
// Deviation from the paper: (7) is a rotation about a fixed axis, written down instead of
// integrated by RK4. It holds for corners on faces; where few things touch, the true gap at the end
// is asked instead, which is right for curved bodies too. Forces act for half a step before and
// half a step after the drift, which gives the same parabola.

#include <string.h>

#include "collision/contact.h"
#include "dynamics/followed_contacts.h"
#include "dynamics/joints.h"
#include "dynamics/matching.h"
#include "dynamics/step_budget.h"
#include "steppers/bender_schmitt/crowd.h"
#include "steppers/bender_schmitt/first_impact.h"
#include "steppers/bender_schmitt/missed.h"
#include "steppers/bender_schmitt/push_out.h"
#include "steppers/bender_schmitt/step.h"

// Corrections that come closer in the end may first lead away, but not so often in a row.
enum { maxCorrections = 12, maxGrown = 2, maxPasses = 4 };

// The drift of a small problem has to meet gaps and joints to this, in units of length or rad.
static const double driftTolerance = 1e-12;

// A part of the step that still overlaps by more than this after all corrections takes back those
// that made it, in units of length.
static const double lostTolerance = 1e-8;

// Ways of bodies, in units of length, over which contacts are followed: their square, by which gaps
// are wrong then, is rounding.
static const double followedWay = 1e-8;

// Turns in a step that move no point off its tangent by more than rounding of a gap, rad.
static const double smallTurn = 1e-4;

// Parts of a step shorter than this are short. In those shorter than the other no way bends: what a
// gap seems to miss there is rounding, which divided by the time would be a velocity without
// bounds.
static const double shortPart = 1e-3, straightPart = 1e-6;

// What the biases consist of, of each contact.
typedef struct tpRestBias {
    double closing; // the gap that the step may close, as a velocity; negative: push-out
    double meant;   // gap that is meant to be there at the end
    double turning; // what the motion of the points adds
    double slip[2]; // what half a drift adds to the slip of the start
} tpRestBias;

// In a short part joints keep their velocities alone: what rounding leaves of their errors, divided
// by the time, would be a velocity to notice.
static bool isShort(const tpBenderStep* step) {
    return fabs(step->time.h) < shortPart * step->duration;
}

// An open contact that closes fast is not held back: the step ends when it hits. Neither is a
// closed one that has hit before the step began, nor one that would bounce.
static bool isImpact(const tpBenderStep* step, int contact) {
    const tpTouch* touch = &step->start;
    if (!step->isLocating) {
        return false;
    }
    if (step->freed != NULL && step->freed[contact]) {
        return true;
    }
    if (touch->contacts[contact].gap <= step->settings->epsilon) {
        return tpFirstImpact_IsAtStart(step, contact);
    }
    double u[4];
    tpSweeper_ContactVelocity(&touch->sweeper, contact, u);
    return u[0] < -step->settings->threshold;
}

static void makeBiases(tpBenderStep* step, tpRestBias* biases) {
    tpTouch* touch = &step->start;
    const tpBenderSettings* settings = step->settings;
    double h = step->time.h;
    touch->sweeper.velocities = step->time.startVelocities;
    for (int i = 0; i < touch->contactCount; ++i) {
        double gap = touch->contacts[i].gap;
        tpRestBias* bias = &biases[i];
        bias->turning = bias->slip[0] = bias->slip[1] = 0.0;
        if (isImpact(step, i)) {
            bias->closing = TP_SWEEP_OPEN;
            bias->meant = 0.0;
        } else if (gap >= 0.0) {
            bias->closing = gap / h;
            bias->meant = 0.0;
        } else if (touch->isSmall) {
            // No faster where the step is taken in parts: velocities of the way out stay as energy.
            bias->closing = -fmin(-settings->gamma * gap / step->duration, settings->pushOut);
            bias->meant = gap - h * bias->closing;
        } else {
            bias->closing = 0.0; // taken back apart from the velocities
            bias->meant = gap;
        }
    }
}

// Biases of all rows: gaps, what the points' motion adds, and the mean velocity of a tumbling body
// less the one it starts with.
static void setBiases(tpBenderStep* step, const tpRestBias* biases,
                      const tpVelocity* meanVelocities, const tpVelocity* pushed,
                      tpVelocity* differences) {
    tpTouch* touch = &step->start;
    tpSweeper* sweeper = &touch->sweeper;
    for (int i = 0; i < step->time.bodyCount; ++i) {
        differences[i] = meanVelocities[i];
        differences[i].linear = tpSub(meanVelocities[i].linear, pushed[i].linear);
        differences[i].angular = tpSub(meanVelocities[i].angular, pushed[i].angular);
    }
    sweeper->velocities = differences;
    tpSweeper_FindSpeeds(sweeper);
    for (int i = 0; i < touch->contactCount; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(sweeper, i, &lane);
        bool isOpen = biases[i].closing >= TP_SWEEP_OPEN;
        pack->bias[0][lane] =
            isOpen ? TP_SWEEP_OPEN : biases[i].closing + biases[i].turning + pack->speed[0][lane];
        pack->bias[1][lane] = pack->speed[1][lane] + biases[i].slip[0];
        pack->bias[2][lane] = pack->speed[2][lane] + biases[i].slip[1];
        if (pack->torsion >= 0) {
            tpTorsionPack* torsion = &sweeper->torsions[pack->torsion];
            torsion->bias[lane] = torsion->speed[lane];
        }
    }
    for (int i = 0; i < sweeper->jointCount; ++i) {
        tpSweepJoint* joint = &sweeper->joints[i];
        int first = touch->rows.firstRows[joint->block];
        first += joint->kind == tp_boundedSweepJoint ? 1 : 0;
        for (int k = 0; k < joint->rowCount; ++k) {
            joint->bias[k] = touch->rows.bias[first + k] +
                             tpRows_RowVelocity(&touch->rows, first + k, differences, joint->bodyA,
                                                joint->bodyB);
        }
    }
}

// The gap of the contact's points after the bodies have moved, (7); false if points say nothing
// about it because the contact is not between a corner and a face.
static bool predictGap(const tpBenderStep* step, const tpContact* contact, const tpPose* ends,
                       double* gap) {
    tpFeatureKind kind = (tpFeatureKind)(contact->feature >> 62);
    if (kind != tp_faceVertex && kind != tp_vertexFace) {
        return false;
    }
    const tpPose* starts = step->time.startPoses;
    int a = contact->bodyA, b = contact->bodyB;
    tpQuat turnA = tpMulQQ(ends[a].rotation, tpConjugate(starts[a].rotation));
    tpQuat turnB = tpMulQQ(ends[b].rotation, tpConjugate(starts[b].rotation));
    tpVec3 pointA =
        tpAdd(ends[a].position, tpRotate(turnA, tpSub(contact->pointA, starts[a].position)));
    tpVec3 pointB =
        tpAdd(ends[b].position, tpRotate(turnB, tpSub(contact->pointB, starts[b].position)));
    tpVec3 normal = tpRotate(kind == tp_faceVertex ? turnA : turnB, contact->normal);
    *gap = tpDot(tpSub(pointA, pointB), normal);
    return true;
}

// Brings what the linear rows have missed into a contact's bias. Returns the miss, m.
static double correctContact(tpBenderStep* step, int contact, double gap, tpRestBias* bias) {
    const tpTouch* touch = &step->start;
    int lane;
    const tpContactPack* pack = tpSweeper_PackOf(&touch->sweeper, contact, &lane);
    // What carries nothing matters only where it has been let through.
    bool isIdle = !(pack->impulse[0][lane] > 0.0) && !(gap < bias->meant);
    if (isIdle || fabs(step->time.h) < straightPart * step->duration) {
        return 0.0;
    }
    double u[4];
    tpSweeper_ContactVelocity(&touch->sweeper, contact, u);
    double linear = step->time.h * (u[0] + pack->bias[0][lane]);
    double miss = gap - bias->meant - linear;
    bias->turning += miss / step->time.h;
    return fabs(miss);
}

// Friction acts on the slip half way through the drift, of which the rows of the start know
// nothing: with theirs a ball on a turntable spirals outwards. Returns the change, m.
static double correctSlip(tpBenderStep* step, int contact, const tpContact* end, tpRestBias* bias) {
    tpTouch* touch = &step->start;
    const tpContact* start = &touch->contacts[contact];
    const tpContactLaw* law = &touch->laws[contact];
    int lane;
    const tpContactPack* pack = tpSweeper_PackOf(&touch->sweeper, contact, &lane);
    if (!(pack->impulse[0][lane] > 0.0) || !(law->mu > 0.0)) {
        return 0.0;
    }
    tpVec3 slip = tpTimeStep_SlipHalfWay(&step->time, start, end);
    double u[4], largest = 0.0, unit = step->system->units.length;
    touch->sweeper.velocities = step->time.meanVelocities;
    tpSweeper_ContactVelocity(&touch->sweeper, contact, u);
    touch->sweeper.velocities = step->time.pushed;
    for (int k = 0; k < 2; ++k) {
        double added = law->ellipse[k] * tpDot(law->tangents[k], slip) - u[k + 1];
        largest = fmax(largest, step->time.h * fabs(added - bias->slip[k]) / unit);
        bias->slip[k] = added;
    }
    return largest;
}

// What turning adds to the gaps of corners on faces, from the motion without impulses: good to
// second order, and no second solve is needed for it. If bodies hardly turn there is nothing to
// add.
static bool predictTurning(tpBenderStep* step, tpRestBias* biases) {
    tpTouch* touch = &step->start;
    const tpVelocity* velocities = step->time.kicked;
    double h = step->time.h;
    tpPose* ends = TP_SCRATCH(&step->system->arena, tpPose, step->time.bodyCount);
    if (ends == NULL) {
        return false;
    }
    tpTimeStep_Move(&step->time, step->time.freeMeanVelocities, ends);
    touch->sweeper.velocities = step->time.freeMeanVelocities;
    for (int i = 0; i < touch->contactCount; ++i) {
        const tpContact* contact = &touch->contacts[i];
        double turn = fmax(tpLengthSquared(velocities[contact->bodyA].angular),
                           tpLengthSquared(velocities[contact->bodyB].angular));
        double gap, u[4];
        if (turn * h * h < smallTurn * smallTurn || biases[i].closing >= TP_SWEEP_OPEN ||
            !predictGap(step, contact, ends, &gap)) {
            continue;
        }
        tpSweeper_ContactVelocity(&touch->sweeper, i, u);
        biases[i].turning = (gap - contact->gap) / h - u[0];
    }
    return true;
}

// Whether contacts have to be looked for where the drift ends: one of them matters there, and its
// bodies have gone too far since for it to be followed. What carries nothing and is farther off
// than they have gone since does not matter.
static bool hasToLook(const tpBenderStep* step, const tpRestBias* biases,
                      const tpFollowedContacts* ends) {
    const tpSystem* system = step->system;
    for (int i = 0; i < ends->count; ++i) {
        if (biases[i].closing >= TP_SWEEP_OPEN) {
            continue;
        }
        double way = tpFollowedContacts_Way(ends, system, i);
        bool isIdle = ends->isFound[i] && !(tpTouch_Normal(&step->start, i) > 0.0) &&
                      tpFollowedContacts_Get(ends, system, i).gap > biases[i].meant + way;
        if (!isIdle && way > followedWay * system->units.length) {
            return true;
        }
    }
    return false;
}

// The same from the true gaps at the end, and for joints from their true errors. Negative if
// memory ran out.
static double correctByGaps(tpBenderStep* step, tpRestBias* biases, tpFollowedContacts* ends) {
    tpTouch* touch = &step->start;
    tpSystem* system = step->system;
    if (hasToLook(step, biases, ends) &&
        !tpFollowedContacts_Renew(ends, system, step->time.margins)) {
        return -1.0;
    }
    double largest = 0.0, unit = step->system->units.length;
    touch->sweeper.velocities = step->time.pushed;
    for (int i = 0; i < touch->contactCount; ++i) {
        if (biases[i].closing < TP_SWEEP_OPEN && ends->isFound[i]) {
            tpContact end = tpFollowedContacts_Get(ends, system, i);
            largest = fmax(largest, correctContact(step, i, end.gap, &biases[i]) / unit);
            largest = fmax(largest, correctSlip(step, i, &end, &biases[i]));
        }
    }
    int blocks, rowCount;
    tpJoints_Count(system, &blocks, &rowCount);
    tpRows last;
    if (!tpRows_Create(&last, system, blocks, rowCount)) {
        return -1.0;
    }
    tpJointTreatment treatment = { 1.0, 1.0, NULL, 0.5 * step->time.h, 0.0 };
    tpJoints_AddHalfRows(&last, system, system->poses.data, &treatment, tp_firstHalf, NULL);
    for (int i = 0; i < touch->sweeper.jointCount; ++i) {
        const tpSweepJoint* joint = &touch->sweeper.joints[i];
        bool isBounded = touch->rows.infos[joint->block].source == tp_boundedSource;
        if (isBounded || isShort(step) || joint->block >= last.blockCount ||
            last.dimensions[joint->block] != joint->rowCount) {
            continue;
        }
        double u[3];
        tpSweeper_JointVelocity(&touch->sweeper, joint, u);
        for (int k = 0; k < joint->rowCount; ++k) {
            int row = touch->rows.firstRows[joint->block] + k;
            double error = tpJoints_ErrorOf(&last, joint->block, last.firstRows[joint->block] + k);
            double miss = tpJoints_Miss(&touch->rows, joint->block, row, joint->impulse[k], u[k],
                                        error, step->time.h);
            touch->rows.bias[row] += miss / step->time.h;
            if (tpJoints_IsMissFelt(&touch->rows, joint->block, joint->impulse[k], error)) {
                largest = fmax(largest, fabs(miss) / tpRows_ErrorUnit(&touch->rows, row));
            }
        }
    }
    return largest;
}

// One solve and the drift it leads to.
static bool solveOnce(tpBenderStep* step, int sweepLimit) {
    if (!tpTouch_Solve(&step->start, step->settings, step->state->memory->solver, step->time.kicked,
                       step->time.pushed, sweepLimit, step->report)) {
        return false;
    }
    tpTimeStep_FollowPushed(&step->time);
    tpTimeStep_Drift(&step->time);
    return true;
}

// Drifts that locate an impact have the contacts of the first of them; others may get more.
static bool mayGuess(const tpBenderStep* step) {
    return step->isLocating && step->start.isSmall;
}

static bool hasGuess(const tpBenderStep* step) {
    return mayGuess(step) && step->guesses != NULL && step->guessTime > 0.0;
}

// Biases begin with what the last drift from here has found.
static void startBiases(const tpBenderStep* step, tpRestBias* biases) {
    double ratio = step->time.h / step->guessTime;
    for (int i = 0; i < step->start.contactCount; ++i) {
        const tpDriftGuess* guess = &step->guesses[i];
        if (biases[i].closing < TP_SWEEP_OPEN) {
            biases[i].turning = ratio * guess->turning;
            biases[i].slip[0] = ratio * guess->slip[0];
            biases[i].slip[1] = ratio * guess->slip[1];
        }
    }
}

// Keeps what this drift has found, for the next one that is tried.
static void keepGuess(tpBenderStep* step, const tpRestBias* biases) {
    const tpTouch* touch = &step->start;
    for (int i = 0; i < touch->contactCount; ++i) {
        tpDriftGuess* guess = &step->guesses[i];
        guess->impulse = tpMulAdd(tpTouch_Friction(touch, i), tpTouch_Normal(touch, i),
                                  touch->contacts[i].normal);
        guess->torsion = tpTouch_Torsion(touch, i);
        guess->turning = biases[i].turning;
        guess->slip[0] = biases[i].slip[0];
        guess->slip[1] = biases[i].slip[1];
    }
    step->guessTime = step->time.h;
}

static bool warmStart(tpBenderStep* step) {
    tpTouch* touch = &step->start;
    int cursor = 0;
    bool isCold = step->settings->isPaperRule; // whose friction counts increments
    // The impulses of a shorter or longer part of a step are in proportion.
    double share = step->time.h / step->duration;
    step->remembered = TP_SCRATCH(&step->system->arena, const tpRestMemory*, touch->contactCount);
    if (step->remembered == NULL) {
        return false;
    }
    double ratio = hasGuess(step) ? step->time.h / step->guessTime : 0.0;
    for (int i = 0; i < touch->contactCount; ++i) {
        const tpRestMemory* rest = tpBenderSchmitt_Find(step->state, &touch->contacts[i], &cursor);
        step->remembered[i] = rest;
        if (hasGuess(step)) {
            const tpDriftGuess* guess = &step->guesses[i];
            tpTouch_SetStart(touch, i, tpScale(ratio, guess->impulse), ratio * guess->torsion);
        } else if (rest != NULL && !isCold) {
            tpTouch_SetStart(touch, i, tpScale(share, rest->drift), share * rest->driftTorsion);
        }
    }
    tpTouch_StartJoints(touch, step->state->driftImpulses.data, step->state->driftImpulses.count,
                        share);
    return true;
}

// Corrections do not settle where contacts open and close among them: then only those are kept that
// hold bodies farther apart, which cannot overlap where linear rows do not.
static bool settle(tpBenderStep* step, tpRestBias* biases, tpVelocity* differences, int limit) {
    for (int i = 0; i < step->start.contactCount; ++i) {
        biases[i].turning = fmin(biases[i].turning, 0.0);
    }
    setBiases(step, biases, step->time.meanVelocities, step->time.pushed, differences);
    return solveOnce(step, limit);
}

// How exactly the drift has to meet gaps: no better than solves have known them. Gaps that
// contradict each other were changed so that they agree, and corrections would change them back.
static double toleranceOf(const tpBenderStep* step) {
    double changed = step->report->gapShift / step->system->units.length;
    return driftTolerance + fmin(changed, lostTolerance);
}

// A small problem: solves and corrections until the end of the drift is admissible.
static bool solveFinely(tpBenderStep* step, tpRestBias* biases, tpVelocity* differences) {
    tpTouch* touch = &step->start;
    tpArena* arena = &step->system->arena;
    int limit = tpBenderStep_SweepLimit(step, touch), grown = 0;
    double miss = INFINITY, last = INFINITY;
    tpFollowedContacts ends;
    if (!tpFollowedContacts_Begin(&ends, step->system, touch->contacts, touch->contactCount,
                                  step->time.startPoses)) {
        return false;
    }
    for (int k = 0; k < maxCorrections && miss > toleranceOf(step); ++k) {
        if (!solveOnce(step, limit)) {
            return false;
        }
        if (touch->contactCount == 0 && touch->sweeper.jointCount == 0) {
            return true;
        }
        tpArenaMark mark = tpArena_Mark(arena);
        miss = correctByGaps(step, biases, &ends);
        tpArena_Release(arena, mark);
        if (miss < 0.0) {
            return false;
        }
        if (tpStepBudget_IsSpent(step->system)) {
            return true;
        }
        // The part is too long for its corrections: more of them lead farther away.
        grown = miss > last ? grown + 1 : 0;
        last = miss;
        if (grown == maxGrown) {
            break;
        }
        setBiases(step, biases, step->time.meanVelocities, step->time.pushed, differences);
    }
    return miss <= lostTolerance || settle(step, biases, differences, limit);
}

// Room that contacts are asked for because corners turn is not asked for: standing still is
// admissible then. Returns whether there was any.
static bool dropTurning(const tpBenderStep* step, tpRestBias* biases) {
    bool hasDropped = false;
    for (int i = 0; i < step->start.contactCount; ++i) {
        double least = -fmax(biases[i].closing, 0.0);
        hasDropped = hasDropped || biases[i].turning < least;
        biases[i].turning = fmax(biases[i].turning, least);
    }
    return hasDropped;
}

// What a solve that is taken again has reported is forgotten, but for its work.
static void forgetSolve(tpStepReport* report, const tpStepReport* before) {
    report->failureCount = before->failureCount;
    report->converged = before->converged;
    report->residual = before->residual;
    report->coneViolation = before->coneViolation;
    report->dissipationViolation = before->dissipationViolation;
}

// A large one: a single solve within the budget. How corners turn is predicted from the motion
// without impulses. A row of bodies wedged between two walls may be asked for more room by that
// than there is: no impulses answer, and loads grow for as long as they are swept. Such a step is
// solved again without, and what turns into others is taken back at the end of the drift.
static bool solveHastily(tpBenderStep* step, tpRestBias* biases, tpVelocity* differences) {
    if (!predictTurning(step, biases)) {
        return false;
    }
    if (step->isJammed) {
        dropTurning(step, biases);
    }
    int limit = tpBenderStep_SweepLimit(step, &step->start);
    tpStepReport before = *step->report;
    setBiases(step, biases, step->time.freeMeanVelocities, step->time.kicked, differences);
    if (!solveOnce(step, limit)) {
        return false;
    }
    bool hasFailed = step->report->failureCount > before.failureCount;
    if (step->isJammed || !hasFailed || !dropTurning(step, biases) ||
        !tpCrowd_HasRunAway(&step->start, step->time.kicked)) {
        return true;
    }
    step->isJammed = true;
    forgetSolve(step->report, &before);
    setBiases(step, biases, step->time.freeMeanVelocities, step->time.kicked, differences);
    return solveOnce(step, limit);
}

// The contacts of a pass of a large problem go on from what those of the pass before have ended
// with; few of them are new.
typedef struct tpPassed {
    const tpContact* contacts;
    tpVec3* impulses; // on A in world axes
    double* torsions;
    int count;
} tpPassed;

static bool keepPassed(const tpBenderStep* step, tpPassed* passed) {
    const tpTouch* touch = &step->start;
    tpArena* arena = &step->system->arena;
    passed->contacts = touch->contacts;
    passed->count = touch->isSmall || touch->sweeper.jointCount > 0 ? 0 : touch->contactCount;
    passed->impulses = TP_SCRATCH(arena, tpVec3, passed->count);
    passed->torsions = TP_SCRATCH(arena, double, passed->count);
    for (int i = 0; !arena->failed && i < passed->count; ++i) {
        passed->impulses[i] = tpMulAdd(tpTouch_Friction(touch, i), tpTouch_Normal(touch, i),
                                       touch->contacts[i].normal);
        passed->torsions[i] = tpTouch_Torsion(touch, i);
    }
    return !arena->failed;
}

static bool startFromPassed(tpBenderStep* step, const tpPassed* passed) {
    tpTouch* touch = &step->start;
    int* match = tpMatchContacts(passed->contacts, passed->count, touch->contacts,
                                 touch->contactCount, &step->system->arena);
    for (int i = 0; match != NULL && i < touch->contactCount; ++i) {
        if (match[i] >= 0) {
            tpTouch_SetStart(touch, i, passed->impulses[match[i]], passed->torsions[match[i]]);
        }
    }
    return match != NULL;
}

// The work of contacts along the ways by which they leave an overlap, J. They lift what they carry;
// the impulses of the drift carry one half of the forces, those at its end the other.
static double findWorkOut(const tpBenderStep* step, const tpRestBias* biases) {
    double work = 0.0;
    for (int i = 0; i < step->start.contactCount; ++i) {
        double speed = fmax(-biases[i].closing, 0.0);
        work += 2.0 * speed * tpTouch_Normal(&step->start, i);
    }
    return work;
}

static bool solveDrift(tpBenderStep* step, const tpPassed* passed) {
    tpArena* arena = &step->system->arena;
    tpRestBias* biases = TP_SCRATCH(arena, tpRestBias, step->start.contactCount);
    tpVelocity* differences = TP_SCRATCH(arena, tpVelocity, step->time.bodyCount);
    if (biases == NULL || differences == NULL || !warmStart(step)) {
        return false;
    }
    if (mayGuess(step) && step->guesses == NULL) {
        step->guesses = TP_SCRATCH(arena, tpDriftGuess, step->start.contactCount);
        if (step->guesses == NULL) {
            return false;
        }
    }
    if (passed->count > 0 && !startFromPassed(step, passed)) {
        return false;
    }
    makeBiases(step, biases);
    step->workOut = 0.0;
    if (!step->start.isSmall) {
        return solveHastily(step, biases, differences);
    }
    if (hasGuess(step)) {
        startBiases(step, biases);
    }
    setBiases(step, biases, step->time.freeMeanVelocities, step->time.kicked, differences);
    bool isDone = solveFinely(step, biases, differences);
    if (isDone && mayGuess(step)) {
        keepGuess(step, biases);
    }
    step->workOut = isDone ? findWorkOut(step, biases) : 0.0;
    return isDone;
}

bool tpResting_Solve(tpBenderStep* step) {
    tpSystem* system = step->system;
    const tpPose* poses = step->time.startPoses;
    tpPassed passed = { NULL, NULL, NULL, 0 };
    for (int pass = 0; pass < maxPasses; ++pass) {
        double gain = isShort(step) ? 0.0 : 1.0;
        tpJointTreatment treatment = { step->time.h, gain, NULL, 0.5 * step->time.h, 0.0 };
        if (!tpTouch_AddJoints(&step->start, &treatment, tp_firstHalf, step->time.kicked) ||
            !solveDrift(step, &passed)) {
            return false;
        }
        if (step->isStage) {
            return true;
        }
        if (!tpMissed_Look(step)) {
            return false;
        }
        tpContact* contacts;
        int count;
        bool isLast = pass + 1 == maxPasses || step->isLocating || tpStepBudget_IsSpent(system);
        if (isLast) {
            break;
        }
        if (!tpMissed_Add(step, &contacts, &count)) {
            return false;
        }
        if (count == step->start.contactCount) {
            break;
        }
        memcpy(system->poses.data, poses, sizeof(tpPose) * (size_t)step->time.bodyCount);
        if (!keepPassed(step, &passed) ||
            !tpBenderStep_Touch(step, &step->start, poses, step->time.startVelocities, contacts,
                                count)) {
            return false;
        }
    }
    // A part that ends at its first impact overlaps nowhere.
    return step->start.isSmall || step->isLocating || tpPushOut_Settle(step);
}
