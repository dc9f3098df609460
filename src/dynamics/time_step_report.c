// What a step reports when it has moved: energies, joints, contacts, and what the next step
// remembers.

#include <string.h>

#include "dynamics/energy_account.h"
#include "dynamics/force_work.h"
#include "dynamics/forces.h"
#include "dynamics/joint_laws.h"
#include "dynamics/joints.h"
#include "dynamics/reduced.h"
#include "dynamics/time_step.h"

// Joints are brought back to within this after each step, in units of length: far below what can be
// seen, far above rounding for machines of metres.
static const double jointTolerance = 1e-10;

// Of the damping in the kick, over the way of the drift: a body that a support holds has none.
static double dampingWork(const tpTimeStep* step) {
    double work = 0.0;
    for (int i = 0; step->undamped != NULL && i < step->bodyCount; ++i) {
        if (tpSystem_IsDynamic(step->system, i)) {
            const tpVelocity *before = &step->undamped[i], *after = &step->kicked[i];
            tpVelocity change = { .linear = tpSub(after->linear, before->linear),
                                  .angular = tpSub(after->angular, before->angular) };
            work += tpSystem_BodyPower(step->system, i, &change, &step->meanVelocities[i]);
        }
    }
    return work;
}

double tpTimeStep_ForceWork(const tpTimeStep* step) {
    const tpSystem* system = step->system;
    tpWays ways = { step->startPoses, step->startVelocities, step->meanVelocities, step->kick };
    return tpSystem_ForceWork(system, &ways, system->time, step->h) + dampingWork(step);
}

double tpTimeStep_WayLoss(const tpTimeStep* step) {
    const tpSystem* system = step->system;
    double loss = 0.0;
    for (int i = 0; i < step->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        if (tpSystem_IsDynamic(system, i)) {
            tpVec3 sum = tpAdd(step->startVelocities[i].linear, step->pushed[i].linear);
            tpVec3 ahead = tpMulAdd(step->meanVelocities[i].linear, -0.5, sum);
            loss += body->mass * body->gravityScale * step->h * tpDot(system->gravity, ahead);
        }
    }
    return loss;
}

void tpTimeStep_AccountEnergy(const tpTimeStep* step, tpStepReport* report) {
    report->externalWork += tpTimeStep_ForceWork(step);
    tpRowVelocities velocities = { step->kicked, step->pushed, step->pushed, NULL };
    // Contacts that hold do no work, whatever they hold: a kick that rows answer is no motion. That
    // of forces is answered half before the drift, half after it, where it is not taken off.
    if (step->kick > 0.0) {
        const tpKick kicks[2] = { { step->steadied, step->kicked, 0.5 * step->h / step->kick },
                                  { step->startVelocities, step->steadied, 0.5 } };
        velocities.stroke = tpStrokeVelocities(step->system, &velocities, kicks, 2);
    }
    tpRows_AccountEnergy(&step->rows, &velocities, report);
    if (step->reduced != NULL) {
        tpReduced_AccountEnergy(step->reduced, &velocities, report);
    }
}

static tpVec3 tangentialVelocity(const tpSystem* system, const tpContact* contact) {
    tpVec3 u = tpSub(tpSystem_PointVelocity(system, contact->bodyA, contact->pointA),
                     tpSystem_PointVelocity(system, contact->bodyB, contact->pointB));
    return tpMulAdd(u, -tpDot(u, contact->normal), contact->normal);
}

// The direction on body A in which the normal impulse of a block has acted.
static tpVec3 normalOf(const tpRows* rows, int block) {
    const double* row =
        rows->jacobianA + (size_t)rows->firstRows[block] * (size_t)rows->componentCount;
    return tpMakeVec3(row[0], row[1], rows->componentCount == 3 ? 0.0 : row[2]);
}

static tpContactInfo describeBlock(const tpTimeStep* step, int block) {
    const tpRows* rows = &step->rows;
    int index = rows->infos[block].index;
    const tpContact* contact = &step->contacts[index];
    const tpContactLaw* law = &step->laws[index];
    const double* impulse = rows->impulse + rows->firstRows[block];
    tpFrictionRows friction = tpRows_FrictionRows(rows, block);
    tpContactInfo info = tpContactInfo_Make(contact);
    for (int k = 1; k <= friction.slidingCount; ++k) {
        info.frictionImpulse = tpMulAdd(info.frictionImpulse, impulse[k], law->tangents[k - 1]);
    }
    tpVec3 acted = normalOf(rows, block);
    if (acted.x == contact->normal.x && acted.y == contact->normal.y &&
        acted.z == contact->normal.z) {
        info.normalImpulse = impulse[0];
    } else {
        // The contact is listed with the normal of another place than that of its rows.
        tpVec3 whole = tpMulAdd(info.frictionImpulse, impulse[0], acted);
        info.frictionImpulse = tpZeroVec3();
        tpContactInfo_AddImpulse(&info, whole);
    }
    info.torsionalImpulse = friction.torsion > 0 ? impulse[friction.torsion] : 0.0;
    for (int k = 0; k < friction.rollingCount; ++k) {
        info.rollingImpulse = tpMulAdd(info.rollingImpulse, impulse[friction.rolling + k],
                                       tpContactLaw_RollingAxis(law, rows, k));
    }
    info.gap = step->h * rows->velocity[rows->firstRows[block]];
    info.slidingSpeed = tpLength(tangentialVelocity(step->system, contact));
    return info;
}

bool tpTimeStep_Tally(const tpTimeStep* step, tpTally* tally) {
    const tpRows* rows = &step->rows;
    tpContactInfo* merged = TP_SCRATCH(&step->system->arena, tpContactInfo,
                                       (size_t)tally->count + (size_t)rows->blockCount);
    if (merged == NULL) {
        return false;
    }
    int count = 0, old = 0;
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source != tp_contactSource) {
            continue;
        }
        tpContactInfo info = describeBlock(step, b);
        while (old < tally->count && tpContactInfo_Compare(&tally->list[old], &info) < 0) {
            merged[count++] = tally->list[old++];
        }
        if (count > 0 && tpContactInfo_Compare(&merged[count - 1], &info) == 0) {
            // Two rows of the same contact.
            tpContactInfo_AddImpulses(&merged[count - 1], &info);
            continue;
        }
        if (old < tally->count && tpContactInfo_Compare(&tally->list[old], &info) == 0) {
            tpContactInfo_AddImpulses(&info, &tally->list[old++]);
        }
        merged[count++] = info;
    }
    while (old < tally->count) {
        merged[count++] = tally->list[old++];
    }
    tally->list = merged;
    tally->count = count;
    return true;
}

tpVec3 tpTimeStep_PointVelocity(const tpTimeStep* step, int body, tpVec3 point,
                                const tpVelocity* velocities) {
    tpVec3 arm = tpSub(point, step->startPoses[body].position);
    return tpAdd(velocities[body].linear, tpCross(velocities[body].angular, arm));
}

// What the next step starts from.
static tpContactMemory memoryOf(const tpTimeStep* step, const tpContactInfo* info) {
    tpContactMemory memory;
    memset(&memory, 0, sizeof(memory));
    int bodyA = tpContactInfo_BodyA(info), bodyB = tpContactInfo_BodyB(info);
    memory.key = tpContactInfo_Key(info);
    memory.point = info->point;
    memory.impulse = tpMulAdd(info->frictionImpulse, info->normalImpulse, info->normal);
    memory.torsion = info->torsionalImpulse;
    memory.rolling = info->rollingImpulse;
    tpVec3 approach =
        tpSub(tpTimeStep_PointVelocity(step, bodyA, info->point, step->startVelocities),
              tpTimeStep_PointVelocity(step, bodyB, info->point, step->startVelocities));
    memory.normalSpeed = tpDot(approach, info->normal);
    return memory;
}

static bool remember(const tpTimeStep* step, const tpTally* tally, tpContactHistory* history) {
    history->list.count = 0;
    history->h = step->h;
    if (!TP_RESERVE(&step->system->allocator, history->list, tally->count)) {
        return false;
    }
    for (int i = 0; i < tally->count; ++i) {
        history->list.data[history->list.count++] = memoryOf(step, &tally->list[i]);
    }
    return true;
}

bool tpTimeStep_Latest(const tpTimeStep* step, tpContactHistory* history) {
    tpTally tally = { NULL, 0 };
    if (!tpTimeStep_Tally(step, &tally)) {
        return false;
    }
    tpContactMemory* list = TP_SCRATCH(&step->system->arena, tpContactMemory, tally.count);
    for (int i = 0; list != NULL && i < tally.count; ++i) {
        list[i] = memoryOf(step, &tally.list[i]);
    }
    *history = (tpContactHistory){ .h = step->h };
    history->list.data = list;
    history->list.count = tally.count;
    return list != NULL;
}

bool tpTimeStep_Report(tpTimeStep* step, tpTally* tally, tpSolverMemory* memory,
                       tpContactHistory* history, tpStepReport* report) {
    tpSystem* system = step->system;
    double drift = INFINITY, unit = system->units.length;
    if (step->reduced != NULL && step->reduced->hasAll) {
        drift = tpReduced_FollowAngles(step->reduced);
    } else {
        tpJoints_FollowAngles(system);
    }
    // Joints of trees have been measured where they are.
    bool isKnown = drift <= jointTolerance && unit == 1.0;
    if (step->jointSlack > 0.0) {
        drift = tpJoints_CorrectBeyond(system, memory, step->jointSlack, 1.5 * step->jointSlack);
    } else if (!isKnown) {
        drift = tpJoints_CorrectAndMeasure(system, memory, jointTolerance * unit);
    }
    report->jointDrift = fmax(report->jointDrift, drift);
    return tpTally_List(tally, system, step->margins, report) && remember(step, tally, history);
}

void tpTimeStep_KickSwings(const tpTimeStep* step, double whole, tpStepReport* report) {
    if (step->swinging != NULL) {
        tpStepTimes times = { step->h, step->h, whole };
        tpJoints_KickRest(step->system, &step->rows, step->meanVelocities, &times, step->swinging,
                          report);
        for (int i = 0; i < step->bodyCount; ++i) {
            if (!tpSystem_IsDynamic(step->system, i)) {
                continue;
            }
            // What forces have left of their impulse for the end.
            const tpBody* body = &step->system->bodies.data[i];
            tpVec3 linear = tpSub(step->wholeKick[i].linear, step->kicked[i].linear);
            tpVec3 angular = tpSub(step->wholeKick[i].angular, step->kicked[i].angular);
            tpSystem_ApplyImpulse(
                step->system, i, tpScale(body->mass, linear),
                tpInertia_Momentum(&body->form->inertia, step->startPoses[i].rotation, angular));
        }
    }
}

bool tpTimeStep_Finish(tpTimeStep* step, tpSolverMemory* memory, tpContactHistory* history,
                       tpStepReport* report) {
    tpSystem* system = step->system;
    tpTimeStep_AccountEnergy(step, report);
    // Sliding speeds are those of the contacts where they were found, after the impulses.
    if (step->bodyCount > 0) {
        memcpy(system->velocities.data, step->velocities,
               sizeof(tpVelocity) * (size_t)step->bodyCount);
    }
    tpTally tally = { NULL, 0 };
    if (!tpTimeStep_Tally(step, &tally)) {
        return false;
    }
    tpTimeStep_Drift(step);
    tpJoints_StoreReactions(system, &step->rows, step->h);
    tpTimeStep_KickSwings(step, step->h, report);
    bool isDone = tpTimeStep_Report(step, &tally, memory, history, report);
    tpJoints_EndRotors(system);
    return isDone;
}

bool tpTimeStep_HasRestitution(const tpTimeStep* step) {
    for (int i = 0; i < step->contactCount; ++i) {
        if (step->laws[i].restitution > 0.0) {
            return true;
        }
    }
    return false;
}
