// A symmetric step: half a kick, constrained drift, half a kick, constrained velocities.
//
// Deviation from the paper: (4.11) is solved twice a step, once for impulses that keep the
// positions at the end of the drift admissible, with geometry and inertia of the start, and once
// for those that keep the velocities at the end admissible, with geometry and inertia of the end:
//
//     v' = v + (h/2) M^-1 f(q) + M^-1 J(q)' r1,     gap(q1) >= 0, Theta(q1) = 0, q1 = drift(q, v',
//                                                   h)
//     v1 = v' + (h/2) M^-1 f(q1) + M^-1 J(q1)' r2,  n . v1 >= -e n . v if closed, nu . v1 = 0
//
// Without contacts this is RATTLE [Andersen83], of second order, and the drift of a free body is
// exact. In the second problem it is the sum r1 + r2 of a contact that lies in the friction cone.
// Were r2 to push alone, whatever r1 gives to hold a position would stay as energy.
// steppers/drift.c has the first problem. Restitution acts in the step of the collision, on the
// approach velocity before it, as (4.10) does one step later.

#include "steppers/anitescu/midpoint.h"

#include <string.h>

#include "dynamics/contact_spring.h"
#include "dynamics/energy_account.h"
#include "dynamics/forces.h"
#include "dynamics/joints.h"
#include "dynamics/motion.h"
#include "dynamics/reduced.h"

// The friction of a contact whose spring has pushed with this impulse over the whole step: its
// normal row has a fixed load and moves no body.
static void addFixedLoad(tpTimeStep* step, int contact, double load) {
    tpRows* rows = &step->rows;
    int block = tpRows_AddContact(rows, step->system, step->system->poses.data,
                                  &step->contacts[contact], contact, &step->laws[contact], 0.0);
    int row = rows->firstRows[block];
    double response = tpRows_Response(rows, block, row);
    tpWrench none = { tpZeroVec3(), tpZeroVec3() };
    tpRows_SetRow(rows, block, 0, none, none);
    rows->compliance[row] = response;
    rows->bias[row] = -response * load;
}

// The second half of the springs' impulses, along the normals of the end if the contact is still
// there. The tally gets them, so that it has the load of friction.
static void kickSprings(const tpTimeStep* step, const double* rest, const tpContact* ends,
                        int endCount, tpTally* tally) {
    tpSystem* system = step->system;
    int cursor = 0, tallied = 0;
    for (int i = 0; i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        if (!(step->laws[i].stiffness > 0.0) || rest[i] == 0.0) {
            continue;
        }
        const tpContact* end = tpContacts_FindSame(tpContact_Key(contact), ends, endCount, &cursor);
        const tpContact* at = end != NULL ? end : contact;
        const tpPose* poses = end != NULL ? system->poses.data : step->startPoses;
        tpVec3 impulse = tpScale(rest[i], at->normal);
        tpVec3 armA = tpSub(at->pointA, poses[at->bodyA].position);
        tpVec3 armB = tpSub(at->pointB, poses[at->bodyB].position);
        tpSystem_ApplyImpulse(system, at->bodyA, impulse, tpCross(armA, impulse));
        tpSystem_ApplyImpulse(system, at->bodyB, tpNeg(impulse), tpNeg(tpCross(armB, impulse)));
        for (; tallied < tally->count; ++tallied) {
            int order = tpContactKey_Compare(tpContactInfo_Key(&tally->list[tallied]),
                                             tpContact_Key(contact));
            if (order >= 0) {
                tally->list[tallied].normalImpulse += order == 0 ? rest[i] : 0.0;
                break;
            }
        }
    }
}

// Rows on the velocities at the end, for what is closed there.
static void addVelocityRows(tpTimeStep* step, const tpTally* first, const tpContactHistory* history,
                            const tpVelocity* startVelocities, const tpMidpointSettings* settings,
                            tpMidpointTrial* trial) {
    trial->bounces = trial->isLively = trial->mayBounce = false;
    int cursor = 0, past = 0;
    for (int i = 0; i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        const tpContactInfo* info = tpTally_Find(first, contact, &cursor);
        bool hasPushed = info != NULL && info->normalImpulse > 0.0;
        if (step->laws[i].stiffness > 0.0) {
            if (hasPushed && step->laws[i].mu > 0.0) {
                addFixedLoad(step, i, info->normalImpulse);
            }
            continue;
        }
        if (contact->gap > tpClosedGap * step->system->units.length && !hasPushed) {
            continue;
        }
        int block = tpRows_AddContact(&step->rows, step->system, step->system->poses.data, contact,
                                      i, &step->laws[i], 0.0);
        int row = step->rows.firstRows[block];
        double approach =
            tpRows_RowVelocity(&step->rows, row, startVelocities, contact->bodyA, contact->bodyB);
        if (step->laws[i].restitution > 0.0) {
            bool isBounce = approach < -settings->threshold;
            step->rows.bias[row] =
                isBounce ? settings->restitution * step->laws[i].restitution * approach : 0.0;
            trial->bounces = trial->bounces || isBounce;
            trial->isLively = trial->isLively || (isBounce && step->laws[i].restitution > 0.5);
            trial->mayBounce =
                trial->mayBounce || (hasPushed && approach < -settings->drift.strikes.least);
        } else if (hasPushed && approach < -settings->drift.strikes.hard &&
                   step->contactCount <= tp_fewStrikes) {
            // What has pushed in the last step too is no impact.
            const tpContactMemory* last = tpContactHistory_Find(history, contact, &past);
            bool isOld = last != NULL && tpLengthSquared(last->impulse) > 0.0;
            trial->mayBounce = trial->mayBounce || !isOld;
        }
    }
    tpJointTreatment treatment = { step->h, 0.0, NULL, 0.5 * step->h, 0.0, true };
    const tpPose* poses = step->system->poses.data;
    if (step->reduced != NULL) {
        tpReduced_Place(step->reduced, &step->rows, poses, &treatment, tp_secondHalf);
    } else {
        tpJoints_AddHalfRows(&step->rows, step->system, poses, &treatment, tp_secondHalf, NULL);
    }
}

// The impulses of the first problem, in the frames of the second one's contacts; none in its
// joints.
static double* firstImpulses(const tpTimeStep* step, const tpTally* first) {
    const tpRows* rows = &step->rows;
    double* impulses = TP_SCRATCH_ZEROED(&step->system->arena, double, rows->rowCount);
    int cursor = 0;
    for (int b = 0; impulses != NULL && b < rows->blockCount; ++b) {
        if (rows->infos[b].source != tp_contactSource) {
            continue;
        }
        int index = rows->infos[b].index;
        const tpContactInfo* info = tpTally_Find(first, &step->contacts[index], &cursor);
        if (info == NULL || !(info->normalImpulse > 0.0)) {
            continue;
        }
        double* own = impulses + rows->firstRows[b];
        own[0] = info->normalImpulse;
        tpFrictionRows friction = tpRows_FrictionRows(rows, b);
        const tpContactLaw* law = &step->laws[index];
        for (int k = 1; k <= friction.slidingCount; ++k) {
            own[k] = tpDot(info->frictionImpulse, law->tangents[k - 1]);
        }
        if (friction.torsion > 0) {
            own[friction.torsion] = info->torsionalImpulse;
        }
        for (int k = 0; k < friction.rollingCount; ++k) {
            own[friction.rolling + k] =
                tpDot(info->rollingImpulse, tpContactLaw_RollingAxis(law, rows, k));
        }
    }
    return impulses;
}

// What a solve has told of the sum of both impulses becomes that of the second alone: the first has
// changed velocities from `without` to `before`.
static void takeFirstChange(tpRows* rows, const tpVelocity* before, const tpVelocity* without) {
    double* change = rows->componentCount == 6 ? rows->solvedChange : NULL;
    for (int i = 0; change != NULL && i < rows->bodyCount; ++i, change += 6) {
        tpVec3 linear = tpSub(without[i].linear, before[i].linear);
        tpVec3 angular = tpSub(without[i].angular, before[i].angular);
        change[0] += linear.x;
        change[1] += linear.y;
        change[2] += linear.z;
        change[3] += angular.x;
        change[4] += angular.y;
        change[5] += angular.z;
    }
}

// Second problem, for the sum of both impulses of each contact: r1 is taken back, r1 + r2 is sought
// in its place, and r2 is what remains in the rows. `before` are the velocities after the second
// kick.
static bool solveVelocities(tpTimeStep* step, const tpTally* first, tpVelocity* before,
                            tpStepperMemory* memory, const tpMidpointSettings* settings,
                            tpStepReport* report) {
    tpRows* rows = &step->rows;
    double* taken = firstImpulses(step, first);
    tpVelocity* without = TP_SCRATCH(&step->system->arena, tpVelocity, step->bodyCount);
    if (taken == NULL || without == NULL) {
        return false;
    }
    if (step->bodyCount > 0) {
        memcpy(without, before, sizeof(tpVelocity) * (size_t)step->bodyCount);
    }
    for (int k = 0; k < rows->rowCount; ++k) {
        rows->impulse[k] = -taken[k];
    }
    tpRows_ApplyImpulses(rows, without);
    step->freeVelocities = step->freeMeanVelocities = without;
    if (step->reduced != NULL) {
        step->reduced->free = without;
    }
    tpTimeStep_SetFreeVelocities(step);
    for (int k = 0; k < rows->rowCount; ++k) {
        rows->impulse[k] = 0.0;
    }
    tpTimeStep_WarmStart(step, &memory->history, 1.0);
    tpRowHistory_Start(&memory->endRows, rows, step->h);
    if (!tpRows_Solve(rows, step->system, memory->solver, &settings->drift.solve, report) ||
        !tpRowHistory_Keep(&memory->endRows, &memory->allocator, rows, step->h, NULL)) {
        return false;
    }
    // The next drift begins with half of what contacts have given, and drives have to go with it:
    // where contacts and drives share a load in many ways, each problem has chosen its own.
    if (!settings->drift.isCareful) {
        tpRowHistory_Balance(&memory->driftRows, &memory->endRows);
    }
    for (int k = 0; k < rows->rowCount; ++k) {
        rows->impulse[k] -= taken[k];
    }
    takeFirstChange(rows, before, without);
    return true;
}

static bool isPushed(const tpTimeStep* step) {
    const tpRows* rows = &step->rows;
    for (int b = 0; b < rows->blockCount; ++b) {
        // Limits of joints too.
        bool isOneSided =
            rows->infos[b].source == tp_contactSource || rows->kinds[b] == tp_frictionNonnegative;
        if (isOneSided && rows->impulse[rows->firstRows[b]] > 0.0) {
            return true;
        }
    }
    return false;
}

// The second half: the system is at the end of the drift.
static bool takeSecondHalf(tpTimeStep* step, tpStepperMemory* memory,
                           const tpMidpointSettings* settings, double kick,
                           const tpDriftResult* drift, tpTally* tally, tpMidpointTrial* trial,
                           tpStepReport* report) {
    tpSystem* system = step->system;
    double h = step->h;
    size_t bytes = sizeof(tpVelocity) * (size_t)system->bodyCount;
    tpVelocity* before = tpArena_Get(&system->arena, bytes);
    tpVelocity* forced = tpArena_Get(&system->arena, bytes); // without the laws of joints
    if (before == NULL || forced == NULL) {
        return false;
    }
    if (h > kick) {
        report->externalWork += tpSystem_KickDamping(system, h - kick);
        tpSystem_KickForces(system, system->time + kick, h - kick);
    }
    if (bytes > 0) {
        memcpy(forced, system->velocities.data, bytes);
    }
    tpStepTimes times = { h, kick, h };
    tpJoints_KickRest(system, &step->rows, step->meanVelocities, &times, NULL, report);
    if (step->reduced != NULL) {
        tpReduced_KickRest(step->reduced, step->meanVelocities, &times, report);
    }
    tpContact* contacts;
    int count;
    if (tpSystem_FindContacts(system, system->poses.data, step->margins, &contacts, &count) !=
        tp_success) {
        return false;
    }
    tpVelocity* unsprung = before;
    if (drift->rest != NULL) {
        // The loss of friction is counted without what springs and friction do to each other.
        unsprung = tpArena_Get(&system->arena, bytes);
        if (unsprung == NULL) {
            return false;
        }
        memcpy(unsprung, system->velocities.data, bytes);
        kickSprings(step, drift->rest, contacts, count, tally);
    }
    if (bytes > 0) {
        memcpy(before, system->velocities.data, bytes);
    }
    if (step->reduced != NULL && !tpReduced_Bears(step->reduced, count)) {
        tpReduced_StoreReactions(step->reduced);
        step->reduced = NULL;
    }
    if (!tpTimeStep_UseContacts(step, contacts, count)) {
        return false;
    }
    addVelocityRows(step, tally, &memory->history, step->startVelocities, settings, trial);
    if (!solveVelocities(step, tally, before, memory, settings, report)) {
        return false;
    }
    tpRows_ApplySolved(&step->rows, system->velocities.data);
    tpRowVelocities velocities = { unsprung, system->velocities.data, step->velocities, NULL };
    const tpKick laws = { forced, unsprung, 0.5 };
    velocities.stroke = tpStrokeVelocities(system, &velocities, &laws, 1);
    if (velocities.stroke == NULL) {
        return false;
    }
    tpRows_AccountEnergy(&step->rows, &velocities, report);
    tpJoints_AddReactions(system, &step->rows, h);
    if (step->reduced != NULL) {
        tpReduced_AccountEnergy(step->reduced, &velocities, report);
        tpReduced_AddReactions(step->reduced);
        tpReduced_StoreReactions(step->reduced);
    }
    trial->isTouched = trial->isTouched || isPushed(step);
    trial->hasCollided = trial->hasCollided || trial->bounces;
    return true;
}

bool tpMidpoint_Step(tpSystem* system, tpStepperMemory* memory, const tpMidpointSettings* settings,
                     double h, tpMidpointTrial* trial, tpStepReport* report) {
    tpTimeStep step;
    // The careful step has the whole kick before the drift: what it dissipates is |v1 - v|^2 / 2,
    // and more.
    double kick = settings->drift.isCareful ? h : 0.5 * h;
    if (!tpTimeStep_BeginSymmetric(&step, system, h, kick)) {
        return false;
    }
    step.isFlightExact = settings->drift.isCareful;
    bool mayReduce = settings->drift.solve.cone == tp_circularCone && !system->gives &&
                     settings->drift.room == 0.0;
    step.reduced = mayReduce ? tpReduced_Create(system, h) : NULL;
    if (step.reduced == NULL) {
        memory->bends.count = 0;
    }
    tpTally tally = { NULL, 0 };
    tpDriftResult drift;
    if (!tpDrift_Solve(&step, memory, &settings->drift, &drift, report)) {
        return false;
    }
    if (drift.isForeseen) {
        *trial = (tpMidpointTrial){ .isForeseen = true,
                                    .mayBounce = true,
                                    .isLively = drift.isLively,
                                    .isTouched = true,
                                    .hasCollided = true };
        return true;
    }
    trial->isForeseen = false;
    if (!tpTimeStep_Tally(&step, &tally)) {
        return false;
    }
    trial->overlap = drift.overlap;
    bool isPlaced = step.reduced != NULL && step.reduced->hasAll;
    trial->apart = !settings->asksApart ? 0.0
                   : isPlaced           ? tpReduced_StartError(step.reduced)
                                        : tpJoints_PositionError(system, step.startPoses);
    trial->miss = drift.miss;
    trial->hasCollided = drift.hasCollided;
    tpTimeStep_AccountEnergy(&step, report);
    report->frictionLoss += drift.dampingLoss;
    tpJoints_StoreReactions(system, &step.rows, h);
    if (step.reduced != NULL) {
        tpReduced_AddReactions(step.reduced);
    }
    trial->isTouched = isPushed(&step);
    trial->isLost = drift.isLost;
    if (drift.isLost) {
        trial->bounces = trial->isLively = trial->mayBounce = false;
        return true;
    }
    return takeSecondHalf(&step, memory, settings, kick, &drift, &tally, trial, report) &&
           tpTimeStep_Tally(&step, &tally) &&
           tpTimeStep_Report(&step, &tally, memory->solver, &memory->history, report);
}
