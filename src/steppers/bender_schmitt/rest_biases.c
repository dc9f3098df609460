// What the rows of resting contacts are told beside their velocities: gaps that may close, and what
// the motion of the points adds to the linear part, h (u_n + bias).

#include "steppers/bender_schmitt/rest_biases.h"

#include "collision/contact.h"
#include "dynamics/joints.h"
#include "steppers/bender_schmitt/first_impact.h"

// Ways of bodies, in units of length, over which contacts are followed: their square, by which gaps
// are wrong then, is rounding.
static const double followedWay = 1e-8;

// Slips of followed contacts of curved bodies, whose points do not go with the bodies, are wrong by
// turns times ways: by no more than this, in units of length. It has the same sign in every step of
// a rolling ball, and adds up.
static const double followedSlip = 1e-12;

// Turns in a step that move no point off its tangent by more than rounding of a gap, rad.
static const double smallTurn = 1e-4;

// Parts of a step shorter than this are short. In those shorter than the other no way bends: what a
// gap seems to miss there is rounding, which divided by the time would be a velocity without
// bounds.
static const double shortPart = 1e-3, straightPart = 1e-6;

// In a short part joints keep their velocities alone: what rounding leaves of their errors, divided
// by the time, would be a velocity to notice.
bool tpRestBiases_IsShort(const tpBenderStep* step) {
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

void tpRestBiases_Make(tpBenderStep* step, tpRestBias* biases) {
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
void tpRestBiases_Set(tpBenderStep* step, const tpRestBias* biases,
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
bool tpRestBiases_PredictTurning(tpBenderStep* step, tpRestBias* biases) {
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

// How wrong the slip of a contact may be that has been followed over a way, m.
static double slipError(const tpBenderStep* step, int contact, double way) {
    const tpContact* names = &step->start.contacts[contact];
    if (names->feature >> 62 != tp_smooth || !(step->start.laws[contact].mu > 0.0)) {
        return 0.0;
    }
    const tpVelocity* mean = step->time.meanVelocities;
    double spin = tpLength(mean[names->bodyA].angular) + tpLength(mean[names->bodyB].angular);
    return spin * fabs(step->time.h) * way;
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
        bool isPushing = tpTouch_Normal(&step->start, i) > 0.0;
        bool isIdle = ends->isFound[i] && !isPushing &&
                      tpFollowedContacts_Get(ends, system, i).gap > biases[i].meant + way;
        double unit = system->units.length;
        bool isWrong = way > followedWay * unit ||
                       (isPushing && slipError(step, i, way) > followedSlip * unit);
        if (!isIdle && isWrong) {
            return true;
        }
    }
    return false;
}

// The same from the true gaps at the end, and for joints from their true errors. Negative if
// memory ran out.
double tpRestBiases_Correct(tpBenderStep* step, tpRestBias* biases, tpFollowedContacts* ends) {
    tpTouch* touch = &step->start;
    tpSystem* system = step->system;
    if (hasToLook(step, biases, ends) &&
        !tpFollowedContacts_Renew(ends, system, step->time.margins)) {
        return -1.0;
    }
    double largest = 0.0, unit = step->system->units.length;
    step->jointMiss = 0.0;
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
    tpJointTreatment treatment = { 1.0, 1.0, NULL, 0.5 * step->time.h, 0.0, false };
    tpJoints_AddHalfRows(&last, system, system->poses.data, &treatment, tp_firstHalf, NULL);
    for (int i = 0; i < touch->sweeper.jointCount; ++i) {
        const tpSweepJoint* joint = &touch->sweeper.joints[i];
        bool isBounded = touch->rows.infos[joint->block].source == tp_boundedSource;
        if (isBounded || tpRestBiases_IsShort(step) || joint->block >= last.blockCount ||
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
                double missed = fabs(miss) / tpRows_ErrorUnit(&touch->rows, row);
                step->jointMiss = fmax(step->jointMiss, missed);
            }
        }
    }
    return fmax(largest, step->jointMiss);
}
