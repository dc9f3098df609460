#include "dynamics/time_step.h"

#include <string.h>

#include "dynamics/energy_account.h"
#include "dynamics/forces.h"
#include "dynamics/joints.h"
#include "dynamics/motion.h"
#include "dynamics/reduced.h"

// The impulses that forces have in `kick` seconds, and the free motion after them.
static bool applyForces(tpTimeStep* step, double kick) {
    tpSystem* system = step->system;
    size_t velocityBytes = sizeof(tpVelocity) * (size_t)step->bodyCount;
    step->kick = kick;
    tpSystem_KickForces(system, system->time, kick);
    if (system->mayDamp && step->bodyCount > 0) {
        step->undamped = TP_SCRATCH(&system->arena, tpVelocity, step->bodyCount);
        if (step->undamped == NULL) {
            return false;
        }
        memcpy(step->undamped, system->velocities.data, velocityBytes);
        tpSystem_KickDamping(system, kick);
    }
    if (step->bodyCount > 0) {
        memcpy(step->kicked, system->velocities.data, velocityBytes);
    }
    tpTimeStep_FindDrift(step, step->kicked, step->freeMeanVelocities, step->freeVelocities);
    return true;
}

static bool begin(tpTimeStep* step, tpSystem* system, double h, double kick, bool isSymmetric) {
    memset(step, 0, sizeof(*step));
    step->system = system;
    step->h = h;
    step->bodyCount = system->bodyCount;
    tpArena* arena = &system->arena;
    int count = system->bodyCount;
    step->startPoses = TP_SCRATCH(arena, tpPose, count);
    step->startVelocities = TP_SCRATCH(arena, tpVelocity, count);
    step->steadied = TP_SCRATCH(arena, tpVelocity, count);
    step->kicked = TP_SCRATCH(arena, tpVelocity, count);
    step->pushed = TP_SCRATCH(arena, tpVelocity, count);
    step->freeVelocities = TP_SCRATCH(arena, tpVelocity, count);
    step->freeMeanVelocities = TP_SCRATCH(arena, tpVelocity, count);
    step->velocities = TP_SCRATCH(arena, tpVelocity, count);
    step->meanVelocities = TP_SCRATCH(arena, tpVelocity, count);
    step->hasRow = TP_SCRATCH(arena, bool, count);
    if (arena->failed) {
        return false;
    }
    tpJoints_Begin(system, h);
    tpSystem_AimKinematic(system, system->time, h);
    size_t velocityBytes = sizeof(tpVelocity) * (size_t)count;
    if (count > 0) {
        memcpy(step->startPoses, system->poses.data, sizeof(tpPose) * (size_t)count);
        memcpy(step->startVelocities, system->velocities.data, velocityBytes);
    }
    if (isSymmetric) {
        tpJoints_TakeBackSteady(system, h, kick);
    }
    if (count > 0) {
        memcpy(step->steadied, system->velocities.data, velocityBytes);
    }
    if (!applyForces(step, kick)) {
        return false;
    }
    step->margins = tpSystem_Margins(system, step->startVelocities, step->freeVelocities, h);
    return step->margins != NULL;
}

bool tpTimeStep_Begin(tpTimeStep* step, tpSystem* system, double h, double kick) {
    return begin(step, system, h, kick, false);
}

bool tpTimeStep_BeginSymmetric(tpTimeStep* step, tpSystem* system, double h, double kick) {
    return begin(step, system, h, kick, true);
}

bool tpTimeStep_KickAnew(tpTimeStep* step, double kick) {
    if (step->bodyCount > 0) {
        memcpy(step->system->velocities.data, step->steadied,
               sizeof(tpVelocity) * (size_t)step->bodyCount);
    }
    return applyForces(step, kick);
}

bool tpTimeStep_UseContacts(tpTimeStep* step, tpContact* contacts, int count) {
    tpSystem* system = step->system;
    step->contacts = contacts;
    step->contactCount = count;
    step->laws = TP_SCRATCH(&system->arena, tpContactLaw, count);
    if (step->laws == NULL) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        step->laws[i] = tpMakeContactLaw(system, &contacts[i]);
        if (step->laws[i].impactReduction != 0.0) {
            // Before forces act, so that contacts at rest have none whatever the step.
            tpContactLaw_Meet(&step->laws[i], tpContact_Approach(&contacts[i], step->startPoses,
                                                                 step->startVelocities));
        }
    }
    int jointBlocks, jointRows;
    if (step->reduced != NULL && !step->reduced->hasOthers) {
        jointBlocks = step->reduced->limitCount + step->reduced->driveRoom;
        jointRows = jointBlocks + step->reduced->driveRoom;
    } else {
        tpJoints_Count(system, &jointBlocks, &jointRows);
    }
    if (!tpRows_Create(&step->rows, system, count + jointBlocks,
                       TP_FRICTION_MAX_ROWS * count + jointRows)) {
        return false;
    }
    step->rows.reduced = step->reduced;
    if (step->reduced == NULL || step->reduced->hasOthers) {
        tpRows_SetMasses(&step->rows, system);
    }
    // Trees have their own masses; rows need those of bodies that touch.
    for (int i = 0; step->reduced != NULL && i < count; ++i) {
        tpRows_SetMass(&step->rows, system, contacts[i].bodyA);
        tpRows_SetMass(&step->rows, system, contacts[i].bodyB);
    }
    tpRows_AllowSlack(&step->rows, system, step->h);
    return true;
}

bool tpTimeStep_FindContacts(tpTimeStep* step, const tpPose* poses) {
    tpContact* contacts;
    int count;
    return tpSystem_FindContacts(step->system, poses, step->margins, &contacts, &count) ==
               tp_success &&
           tpTimeStep_UseContacts(step, contacts, count);
}

void tpTimeStep_SetFreeVelocities(tpTimeStep* step) {
    tpRows* rows = &step->rows;
    for (int b = 0; b < rows->blockCount;) {
        if (rows->infos[b].source != tp_contactSource) {
            b = tpRows_ReadJoint(rows, b, step->freeMeanVelocities, rows->q);
            continue;
        }
        int first = rows->firstRows[b], end = first + rows->dimensions[b];
        for (int row = first; row < end; ++row) {
            const tpVelocity* velocities =
                row == first ? step->freeMeanVelocities : step->freeVelocities;
            rows->q[row] =
                tpRows_RowVelocity(rows, row, velocities, rows->givenA[b], rows->givenB[b]);
        }
        b += 1;
    }
    for (int row = 0; row < rows->rowCount; ++row) {
        rows->q[row] += rows->bias[row];
    }
}

void tpTimeStep_WarmStart(tpTimeStep* step, const tpContactHistory* history, double part) {
    tpRows* rows = &step->rows;
    int cursor = 0;
    // Lasting forces: their impulses are as long as the step.
    part *= history->h > 0.0 ? step->h / history->h : 1.0;
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source != tp_contactSource) {
            continue;
        }
        int index = rows->infos[b].index;
        const tpContactMemory* memory =
            tpContactHistory_FindNear(history, &step->contacts[index], &cursor);
        if (memory == NULL) {
            continue;
        }
        double* impulse = rows->impulse + rows->firstRows[b];
        tpVec3 last = tpScale(part, memory->impulse);
        impulse[0] = fmax(0.0, tpDot(last, step->contacts[index].normal));
        tpFrictionRows friction = tpRows_FrictionRows(rows, b);
        for (int k = 1; k <= friction.slidingCount; ++k) {
            impulse[k] = tpDot(last, step->laws[index].tangents[k - 1]);
        }
        if (friction.torsion > 0) {
            impulse[friction.torsion] = part * memory->torsion;
        }
        for (int k = 0; k < friction.rollingCount; ++k) {
            tpVec3 axis = tpContactLaw_RollingAxis(&step->laws[index], rows, k);
            impulse[friction.rolling + k] = part * tpDot(memory->rolling, axis);
        }
    }
}

bool tpTimeStep_Outran(tpTimeStep* step, const tpVelocity* linearised) {
    const tpSystem* system = step->system;
    bool outran = false;
    for (int i = 0; i < step->bodyCount; ++i) {
        if (!tpSystem_IsDynamic(system, i)) {
            continue;
        }
        tpVelocity relative = step->meanVelocities[i];
        if (linearised != NULL) {
            relative.linear = tpSub(relative.linear, linearised[i].linear);
            relative.angular = tpSub(relative.angular, linearised[i].angular);
        }
        double way = step->h * tpVelocity_LargestSpeed(system, i, &relative);
        if (way > step->margins[i] * (1.0 + 1e-9)) {
            step->margins[i] = 1.25 * way;
            outran = true;
        }
    }
    return outran;
}

bool tpTimeStep_FindEndContacts(tpTimeStep* step) {
    tpPose* poses = TP_SCRATCH(&step->system->arena, tpPose, step->bodyCount);
    if (poses == NULL) {
        return false;
    }
    tpTimeStep_Move(step, step->meanVelocities, poses);
    return tpSystem_FindContacts(step->system, poses, step->margins, &step->endContacts,
                                 &step->endCount) == tp_success;
}
