#include "dynamics/time_step.h"

#include <string.h>

#include "dynamics/energy_account.h"
#include "dynamics/forces.h"
#include "dynamics/joints.h"
#include "dynamics/motion.h"

// Joints are brought back to within this after each step, m or rad: far below what can be seen, far
// above rounding for machines of metres.
static const double jointTolerance = 1e-10;

// Contacts nearer than this at the end of a step are listed even when they carry nothing, m.
static const double touchDistance = 1e-6;

// The drift of all bodies from the start with the given velocities: its mean velocities and those at
// its end.
static void driftAll(const tpTimeStep* step, const tpVelocity* from, tpVelocity* moves,
                     tpVelocity* atEnd) {
    const tpSystem* system = step->system;
    for (int i = 0; i < step->bodyCount; ++i) {
        moves[i] = atEnd[i] = from[i];
        const tpBody* body = &system->bodies.data[i];
        bool isTumbling =
            body->inverseMass > 0.0 && !system->isPlanar && !body->inertia.isIsotropic;
        if (!isTumbling) {
            continue;
        }
        tpQuat start = step->startPoses[i].rotation;
        tpQuat end = start;
        tpRotateFreely(&body->inertia, step->h, &end, &atEnd[i].angular);
        tpVec3 turn = tpQuatLog(tpMulQQ(end, tpConjugate(start)));
        moves[i].angular = tpScale(1.0 / step->h, turn);
    }
}

// Velocities after gravity's part of the kick, where there are other forces.
static bool fall(tpTimeStep* step) {
    tpSystem* system = step->system;
    if (system->forces.count == 0 && !system->mayDamp) {
        return true;
    }
    step->fallen = TP_SCRATCH(&system->arena, tpVelocity, step->bodyCount);
    if (step->fallen == NULL) {
        return false;
    }
    tpVec3 change = tpScale(step->kick, system->gravity);
    change.z = system->isPlanar ? 0.0 : change.z;
    for (int i = 0; i < step->bodyCount; ++i) {
        step->fallen[i] = step->startVelocities[i];
        if (tpSystem_IsDynamic(system, i)) {
            step->fallen[i].linear = tpAdd(step->fallen[i].linear, change);
        }
    }
    return true;
}

bool tpTimeStep_Begin(tpTimeStep* step, tpSystem* system, double h, double kick,
                      tpStepReport* report) {
    memset(step, 0, sizeof(*step));
    step->system = system;
    step->h = h;
    step->kick = kick;
    step->bodyCount = system->bodyCount;
    tpArena* arena = &system->arena;
    int count = system->bodyCount;
    step->startPoses = TP_SCRATCH(arena, tpPose, count);
    step->startVelocities = TP_SCRATCH(arena, tpVelocity, count);
    step->kicked = TP_SCRATCH(arena, tpVelocity, count);
    step->pushed = TP_SCRATCH(arena, tpVelocity, count);
    step->freeVelocities = TP_SCRATCH(arena, tpVelocity, count);
    step->freeMoves = TP_SCRATCH(arena, tpVelocity, count);
    step->velocities = TP_SCRATCH(arena, tpVelocity, count);
    step->moves = TP_SCRATCH(arena, tpVelocity, count);
    step->hasRow = TP_SCRATCH(arena, bool, count);
    if (arena->failed) {
        return false;
    }
    tpSystem_AimKinematic(system, system->time, h);
    size_t velocityBytes = sizeof(tpVelocity) * (size_t)count;
    if (count > 0) {
        memcpy(step->startPoses, system->poses.data, sizeof(tpPose) * (size_t)count);
        memcpy(step->startVelocities, system->velocities.data, velocityBytes);
    }
    if (!fall(step)) {
        return false;
    }
    report->externalWork += tpSystem_KickWithoutSprings(system, system->time, kick);
    if (count > 0) {
        memcpy(step->kicked, system->velocities.data, velocityBytes);
    }
    driftAll(step, step->kicked, step->freeMoves, step->freeVelocities);
    step->margins = tpSystem_Margins(system, step->startVelocities, step->freeVelocities, h);
    return step->margins != NULL;
}

void tpTimeStep_Move(const tpTimeStep* step, const tpVelocity* moves, tpPose* poses) {
    const tpSystem* system = step->system;
    for (int i = 0; i < step->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        tpPose pose = step->startPoses[i];
        if (body->inverseMass > 0.0 || body->kind == tp_kinematicBody) {
            pose.position = tpMulAdd(pose.position, step->h, moves[i].linear);
            tpQuat turn = tpQuatExp(tpScale(step->h, moves[i].angular));
            pose.rotation = tpNormalizeQuat(tpMulQQ(turn, pose.rotation));
        }
        poses[i] = pose;
    }
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
    }
    int jointBlocks, jointRows;
    tpJoints_Count(system, &jointBlocks, &jointRows);
    if (!tpRows_Create(&step->rows, system, count + jointBlocks,
                       TP_FRICTION_MAX_ROWS * count + jointRows)) {
        return false;
    }
    tpRows_SetMasses(&step->rows, system);
    return true;
}

bool tpTimeStep_FindContacts(tpTimeStep* step, const tpPose* poses) {
    tpContact* contacts;
    int count;
    return tpSystem_FindContacts(step->system, poses, step->margins, &contacts, &count) ==
               tp_success &&
           tpTimeStep_UseContacts(step, contacts, count);
}

// The bodies of a block, those that do not move by impulses too.
static void bodiesOf(const tpTimeStep* step, int block, int* bodyA, int* bodyB) {
    tpBlockInfo info = step->rows.infos[block];
    if (info.source == tp_contactSource) {
        *bodyA = step->contacts[info.index].bodyA;
        *bodyB = step->contacts[info.index].bodyB;
    } else {
        *bodyA = step->system->joints.data[info.index].bodyA;
        *bodyB = step->system->joints.data[info.index].bodyB;
    }
}

void tpTimeStep_SetFreeVelocities(tpTimeStep* step) {
    tpRows* rows = &step->rows;
    for (int b = 0; b < rows->blockCount; ++b) {
        int bodyA, bodyB;
        bodiesOf(step, b, &bodyA, &bodyB);
        bool isContact = rows->infos[b].source == tp_contactSource;
        for (int k = 0; k < rows->dimensions[b]; ++k) {
            int row = rows->firstRows[b] + k;
            const tpVelocity* velocities =
                isContact && k > 0 ? step->freeVelocities : step->freeMoves;
            rows->q[row] =
                rows->bias[row] + tpRows_RowVelocity(rows, row, velocities, bodyA, bodyB);
        }
    }
}

void tpTimeStep_WarmStart(tpTimeStep* step, const tpContactHistory* history, double part) {
    tpRows* rows = &step->rows;
    int cursor = 0;
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
        for (int k = 1; k < rows->dimensions[b] && k < 3; ++k) {
            impulse[k] = tpDot(last, step->laws[index].tangents[k - 1]);
        }
        if (rows->dimensions[b] == 4) {
            impulse[3] = part * memory->torsion;
        }
    }
}

// A body that meets nothing and has no joint goes by the mean of its velocities before and after the kick.
static void flyExactly(tpTimeStep* step) {
    memset(step->hasRow, 0, sizeof(bool) * (size_t)step->bodyCount);
    for (int b = 0; b < step->rows.blockCount; ++b) {
        const int bodies[2] = { step->rows.bodyA[b], step->rows.bodyB[b] };
        for (int side = 0; side < 2; ++side) {
            if (bodies[side] >= 0) {
                step->hasRow[bodies[side]] = true;
            }
        }
    }
    for (int i = 0; i < step->bodyCount; ++i) {
        if (!step->hasRow[i] && tpSystem_IsDynamic(step->system, i)) {
            tpVec3 sum = tpAdd(step->startVelocities[i].linear, step->kicked[i].linear);
            step->moves[i].linear = tpScale(0.5, sum);
        }
    }
}

void tpTimeStep_ApplyImpulses(tpTimeStep* step) {
    if (step->bodyCount > 0) {
        memcpy(step->pushed, step->kicked, sizeof(tpVelocity) * (size_t)step->bodyCount);
    }
    tpRows_ApplyImpulses(&step->rows, step->pushed);
    tpTimeStep_FollowPushed(step);
    if (step->isFlightExact && step->bodyCount > 0) {
        flyExactly(step);
    }
}

void tpTimeStep_FollowPushed(tpTimeStep* step) {
    driftAll(step, step->pushed, step->moves, step->velocities);
}

void tpTimeStep_LinearMoves(const tpTimeStep* step, tpVelocity* moves) {
    for (int i = 0; i < step->bodyCount; ++i) {
        tpVec3 linear = tpSub(step->pushed[i].linear, step->kicked[i].linear);
        tpVec3 angular = tpSub(step->pushed[i].angular, step->kicked[i].angular);
        moves[i] = step->freeMoves[i];
        moves[i].linear = tpAdd(moves[i].linear, linear);
        moves[i].angular = tpAdd(moves[i].angular, angular);
    }
}

void tpTimeStep_Drift(tpTimeStep* step) {
    tpSystem* system = step->system;
    if (step->bodyCount > 0) {
        memcpy(system->velocities.data, step->velocities,
               sizeof(tpVelocity) * (size_t)step->bodyCount);
    }
    tpTimeStep_Move(step, step->moves, system->poses.data);
    // Bodies that move as told go from where they were to exactly where they have to be.
    for (int i = 0; i < step->bodyCount; ++i) {
        if (system->bodies.data[i].kind == tp_kinematicBody) {
            system->poses.data[i] = step->startPoses[i];
        }
    }
    tpSystem_MoveKinematic(system, system->time, step->h);
}

bool tpTimeStep_Outran(tpTimeStep* step, const tpVelocity* linearised) {
    const tpSystem* system = step->system;
    bool outran = false;
    for (int i = 0; i < step->bodyCount; ++i) {
        if (!tpSystem_IsDynamic(system, i)) {
            continue;
        }
        tpVelocity relative = step->moves[i];
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
    tpTimeStep_Move(step, step->moves, poses);
    return tpSystem_FindContacts(step->system, poses, step->margins, &step->endContacts,
                                 &step->endCount) == tp_success;
}

// Reporting -------------------------------------------------------------------------------------

static tpContactState stateOf(double normalImpulse, double slidingSpeed) {
    if (!(normalImpulse > 0.0)) {
        return tp_separated;
    }
    return slidingSpeed > 1e-8 ? tp_sliding : tp_sticking;
}

static tpVec3 tangentialVelocity(const tpSystem* system, const tpContact* contact) {
    tpVec3 u = tpSub(tpSystem_PointVelocity(system, contact->bodyA, contact->pointA),
                     tpSystem_PointVelocity(system, contact->bodyB, contact->pointB));
    return tpMulAdd(u, -tpDot(u, contact->normal), contact->normal);
}

static tpContactInfo describeContact(const tpTimeStep* step, int block) {
    const tpRows* rows = &step->rows;
    int index = rows->infos[block].index;
    const tpContact* contact = &step->contacts[index];
    const tpContactLaw* law = &step->laws[index];
    const double* impulse = rows->impulse + rows->firstRows[block];
    int dimension = rows->dimensions[block];
    tpContactInfo info;
    memset(&info, 0, sizeof(info));
    for (int k = 1; k < dimension && k < 3; ++k) {
        info.frictionImpulse = tpMulAdd(info.frictionImpulse, impulse[k], law->tangents[k - 1]);
    }
    info.bodyA.slot = (uint32_t)contact->bodyA + 1;
    info.bodyB.slot = (uint32_t)contact->bodyB + 1;
    info.shapeA.slot = (uint32_t)contact->shapeA + 1;
    info.shapeB.slot = (uint32_t)contact->shapeB + 1;
    info.feature = contact->feature;
    info.point = tpScale(0.5, tpAdd(contact->pointA, contact->pointB));
    info.normal = contact->normal;
    info.normalImpulse = impulse[0];
    info.torsionalImpulse = dimension == 4 ? impulse[3] : 0.0;
    info.gap = step->h * rows->velocity[rows->firstRows[block]];
    info.slidingSpeed = tpLength(tangentialVelocity(step->system, contact));
    return info;
}

static int compareInfos(const tpContactInfo* a, const tpContactInfo* b) {
    return tpContactKey_Compare(tpContactInfo_Key(a), tpContactInfo_Key(b));
}

void tpContactInfo_AddImpulses(tpContactInfo* info, const tpContactInfo* other) {
    info->normalImpulse += other->normalImpulse;
    info->frictionImpulse = tpAdd(info->frictionImpulse, other->frictionImpulse);
    info->torsionalImpulse += other->torsionalImpulse;
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
        tpContactInfo info = describeContact(step, b);
        while (old < tally->count && compareInfos(&tally->list[old], &info) < 0) {
            merged[count++] = tally->list[old++];
        }
        if (count > 0 && compareInfos(&merged[count - 1], &info) == 0) {
            // Two rows of the same contact.
            tpContactInfo_AddImpulses(&merged[count - 1], &info);
            continue;
        }
        if (old < tally->count && compareInfos(&tally->list[old], &info) == 0) {
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

const tpContactInfo* tpTally_Find(const tpTally* tally, const tpContact* contact, int* cursor) {
    tpContactKey key = tpContact_Key(contact);
    for (; *cursor < tally->count; *cursor += 1) {
        int order = tpContactKey_Compare(tpContactInfo_Key(&tally->list[*cursor]), key);
        if (order >= 0) {
            return order == 0 ? &tally->list[*cursor] : NULL;
        }
    }
    return NULL;
}

// What the next step starts from.
static tpContactMemory memoryOf(const tpTimeStep* step, const tpContactInfo* info) {
    tpContactMemory memory;
    memset(&memory, 0, sizeof(memory));
    int bodyA = (int)info->bodyA.slot - 1, bodyB = (int)info->bodyB.slot - 1;
    memory.key = tpContactInfo_Key(info);
    memory.point = info->point;
    memory.impulse = tpMulAdd(info->frictionImpulse, info->normalImpulse, info->normal);
    memory.torsion = info->torsionalImpulse;
    tpVec3 approach =
        tpSub(tpTimeStep_PointVelocity(step, bodyA, info->point, step->startVelocities),
              tpTimeStep_PointVelocity(step, bodyB, info->point, step->startVelocities));
    memory.normalSpeed = tpDot(approach, info->normal);
    return memory;
}

bool tpTally_Merge(tpTally* tally, const tpContactInfo* list, int count, tpArena* arena) {
    tpContactInfo* merged = TP_SCRATCH(arena, tpContactInfo, (size_t)tally->count + (size_t)count);
    if (merged == NULL) {
        return false;
    }
    int number = 0, old = 0, new = 0;
    while (old < tally->count || new < count) {
        int order = old == tally->count ? 1
                    : new == count      ? -1
                                        : compareInfos(&tally->list[old], &list[new]);
        merged[number] = order < 0 ? tally->list[old] : list[new];
        if (order == 0) {
            tpContactInfo_AddImpulses(&merged[number], &tally->list[old]);
        }
        old += order <= 0 ? 1 : 0;
        new += order >= 0 ? 1 : 0;
        number += 1;
    }
    tally->list = merged;
    tally->count = number;
    return true;
}

bool tpTally_List(tpTally* tally, tpSystem* system, const double* margins, tpStepReport* report) {
    // Where bodies are now: how deep they overlap, and the gaps of what is listed.
    tpContact* ends;
    int endCount;
    if (tpSystem_FindContacts(system, system->poses.data, margins, &ends, &endCount) !=
        tp_success) {
        return false;
    }
    for (int i = 0; i < endCount; ++i) {
        report->penetration = fmax(report->penetration, -ends[i].gap);
    }
    system->contacts.count = 0;
    if (!TP_RESERVE(&system->allocator, system->contacts, tally->count)) {
        return false;
    }
    int cursor = 0;
    for (int i = 0; i < tally->count; ++i) {
        tpContactInfo* info = &tally->list[i];
        const tpContact* same =
            tpContacts_FindSame(tpContactInfo_Key(info), ends, endCount, &cursor);
        info->gap = same != NULL ? same->gap : info->gap;
        info->state = stateOf(info->normalImpulse, info->slidingSpeed);
        if (info->normalImpulse > 0.0 || info->gap <= touchDistance) {
            system->contacts.data[system->contacts.count++] = *info;
        }
    }
    report->contactCount = system->contacts.count;
    return true;
}

static bool remember(const tpTimeStep* step, const tpTally* tally, tpContactHistory* history) {
    history->list.count = 0;
    if (!TP_RESERVE(&step->system->allocator, history->list, tally->count)) {
        return false;
    }
    for (int i = 0; i < tally->count; ++i) {
        history->list.data[history->list.count++] = memoryOf(step, &tally->list[i]);
    }
    return true;
}

tpVec3 tpTimeStep_PointVelocity(const tpTimeStep* step, int body, tpVec3 point,
                                const tpVelocity* velocities) {
    tpVec3 arm = tpSub(point, step->startPoses[body].position);
    return tpAdd(velocities[body].linear, tpCross(velocities[body].angular, arm));
}

bool tpTimeStep_Report(tpTimeStep* step, tpTally* tally, tpSolverMemory* memory,
                       tpContactHistory* history, tpStepReport* report) {
    tpSystem* system = step->system;
    tpJoints_FollowAngles(system);
    tpJoints_Correct(system, memory, jointTolerance);
    report->jointDrift = fmax(report->jointDrift, tpJoints_Drift(system, system->poses.data));
    return tpTally_List(tally, system, step->margins, report) && remember(step, tally, history);
}

void tpTimeStep_CorrectWork(const tpStepReport* exchange, tpStepReport* report) {
    report->externalWork += exchange->frictionLoss + exchange->impactLoss - exchange->externalWork;
}

void tpTimeStep_AccountEnergy(const tpTimeStep* step, tpStepReport* report) {
    tpRows_AccountEnergy(&step->rows, step->system, step->kicked, step->pushed, step->contacts,
                         report);
    if (step->kick > 0.0) {
        double share = 0.5 * step->h / step->kick;
        tpRows_AccountKick(&step->rows, step->system, step->startVelocities, step->kicked, share,
                           report);
        if (step->fallen != NULL) {
            tpStepReport exchange = { .time = 0.0 };
            tpRows_AccountKick(&step->rows, step->system, step->fallen, step->kicked, share,
                               &exchange);
            tpTimeStep_CorrectWork(&exchange, report);
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
    return tpTimeStep_Report(step, &tally, memory, history, report);
}
