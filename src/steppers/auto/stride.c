#include "steppers/auto/stride.h"

#include <string.h>

#include "dynamics/couplings.h"
#include "dynamics/joint_state.h"
#include "dynamics/joint_types.h"
#include "dynamics/joints.h"
#include "dynamics/loads.h"
#include "dynamics/locks.h"
#include "math/elementary.h"
#include "steppers/auto/apart.h"
#include "steppers/auto/outer_forces.h"

// What the motion between the nodes may add to the drift of joints before it is put right: a part
// of the accuracy, and at most a hundredth of what the certificate allows.
static const double driftPart = 1e-5, mostDrift = 1e-8;

void tpStride_Destroy(tpStride* stride, tpSystem* system) {
    TP_FREE_ARRAY(&system->allocator, stride->bodies);
    tpStrideLoads_Destroy(&stride->loads, system);
    stride->frameCount = 0;
}

// Which groups ------------------------------------------------------------------------------------

static bool isDriven(const tpCoordinate* coordinate) {
    return coordinate->def.hasMotor || coordinate->def.hasServo || coordinate->def.armature > 0.0;
}

// Whether the body is in the group, or stands still or moves evenly whatever happens, or sleeps:
// what would be met in the user's step has woken.
static bool isOursOrSteady(const tpSystem* system, const tpGroups* groups, int group, int body) {
    return body < 0 || groups->ofBody[body] == group || tpBody_IsSteadyNow(system, body);
}

static bool isPlainJoint(const tpSystem* system, const tpGroups* groups, int group,
                         const tpJoint* joint) {
    bool isPlain = isOursOrSteady(system, groups, group, joint->bodyA) &&
                   isOursOrSteady(system, groups, group, joint->bodyB);
    for (int k = 0; k < joint->coordinateCount; ++k) {
        const tpCoordinate* coordinate = &joint->coordinates[k];
        bool hasRotor = coordinate->def.armature > 0.0;
        isPlain =
            isPlain && !(hasRotor && joint->type == tp_ballJoint) && coordinate->applied == 0.0;
    }
    return isPlain;
}

static bool concerns(const tpGroups* groups, int group, const tpJoint* joint) {
    return joint->isLive && ((joint->bodyA >= 0 && groups->ofBody[joint->bodyA] == group) ||
                             (joint->bodyB >= 0 && groups->ofBody[joint->bodyB] == group));
}

// Whether all that is near to the group belongs to it or is steady.
static bool touchesSteady(const tpSystem* system, const tpGroups* groups, int group) {
    for (int i = 0; groups->pairCounts[group] > 0 && i < groups->contactCount; ++i) {
        const tpContact* contact = &groups->contacts[i];
        bool isOurs =
            groups->ofBody[contact->bodyA] == group || groups->ofBody[contact->bodyB] == group;
        if (isOurs && !(isOursOrSteady(system, groups, group, contact->bodyA) &&
                        isOursOrSteady(system, groups, group, contact->bodyB))) {
            return false;
        }
    }
    return true;
}

bool tpStride_IsGear(const tpCoupling* coupling) {
    const tpCouplingDef* def = &coupling->def;
    return def->hasValue && !def->hasLimits && !def->hasSpring && !def->hasServo;
}

// Whether a coupling has a body of the group.
static bool isCoupled(const tpSystem* system, const tpGroups* groups, int group, int coupling) {
    int body;
    for (int k = 0; tpCoupling_BodyAt(system, coupling, k, &body); ++k) {
        if (body >= 0 && groups->ofBody[body] == group) {
            return true;
        }
    }
    return false;
}

bool tpStride_CanCarry(const tpSystem* system, const tpGroups* groups, int group) {
    if (group == groups->flying || system->gives || !touchesSteady(system, groups, group)) {
        return false;
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        if (isCoupled(system, groups, group, i) && !tpStride_IsGear(&system->couplings.data[i])) {
            return false;
        }
    }
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (concerns(groups, group, joint) && !isPlainJoint(system, groups, group, joint)) {
            return false;
        }
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        if (groups->ofBody[i] == group && tpSystem_LoadOf(system, i) != NULL) {
            return false;
        }
    }
    return true;
}

bool tpStride_IsDriven(const tpSystem* system, const tpGroups* groups, int group) {
    if (tpOuterForce_IsThere(system, groups, group)) {
        return true;
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        if (isCoupled(system, groups, group, i)) {
            return true;
        }
    }
    for (int i = 0; groups->jointCounts[group] > 0 && i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        for (int k = 0; concerns(groups, group, joint) && k < joint->coordinateCount; ++k) {
            if (isDriven(&joint->coordinates[k])) {
                return true;
            }
        }
    }
    return false;
}

tpVec3 tpSystem_OwnSpin(const tpSystem* system, int body) {
    const tpInertia* inertia = &system->bodies.data[body].form->inertia;
    tpVec3 spin = system->velocities.data[body].angular;
    int axis = inertia->symmetryAxis;
    if (inertia->isIsotropic || axis < 0) {
        return spin;
    }
    tpMat33 axes = tpMatFromQuat(tpMulQQ(system->poses.data[body].rotation, inertia->principal));
    tpVec3 unit = axis == 0 ? axes.cx : axis == 1 ? axes.cy : axes.cz;
    return tpScale(tpDot(unit, spin), unit);
}

// Nodes -------------------------------------------------------------------------------------------

bool tpStride_Begin(tpStride* stride, tpSystem* system, const tpGroups* groups, int group,
                    int frameCount, double h) {
    stride->frameCount = stride->doneCount = 0;
    stride->bodies.count = 0;
    if (!TP_RESERVE(&system->allocator, stride->bodies, groups->sizes[group]) ||
        !tpStrideLoads_Begin(&stride->loads, system)) {
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        if (groups->ofBody[i] == group) {
            tpStrideBody* body = &stride->bodies.data[stride->bodies.count++];
            memset(body, 0, sizeof(*body));
            body->body = i;
            body->isRound =
                groups->jointCounts[group] == 0 && tpBody_IsBall(system, &system->bodies.data[i]);
            body->start = system->poses.data[i].rotation;
            body->spin = tpSystem_OwnSpin(system, i);
        }
    }
    stride->h = h;
    stride->begin = system->time;
    stride->structure = system->structure;
    stride->gravity = system->gravity;
    stride->frameCount = frameCount;
    tpStride_Set(stride, system, 0);
    tpStride_Leave(stride, system);
    return true;
}

double tpStride_Drift(double accuracy, double lengthScale) {
    return fmin(mostDrift, driftPart * accuracy) * lengthScale;
}

void tpStride_Leave(tpStride* stride, const tpSystem* system) {
    for (int i = 0; i < stride->bodies.count; ++i) {
        tpStrideBody* body = &stride->bodies.data[i];
        body->pose = system->poses.data[body->body];
        body->velocity = system->velocities.data[body->body];
    }
}

// Balance -----------------------------------------------------------------------------------------

// The place of a body in the stride, -1: none.
static int placeOf(const tpStride* stride, int body) {
    int place = stride->bodies.count - 1;
    while (place >= 0 && stride->bodies.data[place].body != body) {
        --place;
    }
    return place;
}

static bool hasJoints(const tpStride* stride, const tpSystem* system) {
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (joint->isLive &&
            (placeOf(stride, joint->bodyA) >= 0 || placeOf(stride, joint->bodyB) >= 0)) {
            return true;
        }
    }
    return false;
}

// What bodies lack of the momentum that they have gained from one part of the stride to another.
// False if nobody knows.
static bool findLack(const tpStride* stride, const tpSystem* system, double from, double to,
                     const tpTally* list, tpVec3* lack) {
    double length = stride->frameCount * stride->h, h = (to - from) * length;
    double time = stride->begin + from * length;
    bool isEven = true;
    for (int k = 0; k < stride->bodies.count; ++k) {
        const tpStrideBody* own = &stride->bodies.data[k];
        const tpBody* body = &system->bodies.data[own->body];
        tpVec3 gain =
            tpSub(tpStride_VelocityAt(stride, own, to), tpStride_VelocityAt(stride, own, from));
        gain = tpMulAdd(gain, -h * body->gravityScale, stride->gravity);
        tpVec3 impulse;
        isEven = tpOuterForce_Impulse(system, (int)own->body, time, h, &impulse) && isEven;
        lack[k] = tpSub(tpScale(body->mass, gain), impulse);
    }
    for (int i = 0; i < list->count; ++i) {
        const tpContactInfo* info = &list->list[i];
        tpVec3 impulse = tpMulAdd(info->frictionImpulse, info->normalImpulse, info->normal);
        int a = placeOf(stride, tpContactInfo_BodyA(info));
        int b = placeOf(stride, tpContactInfo_BodyB(info));
        if (a >= 0) {
            lack[a] = tpSub(lack[a], impulse);
        }
        if (b >= 0) {
            lack[b] = tpAdd(lack[b], impulse);
        }
    }
    // The world takes what holds locked directions.
    for (int k = 0; k < stride->bodies.count; ++k) {
        uint32_t locked = system->bodies.data[stride->bodies.data[k].body].locked;
        lack[k] = tpLocks_Linear(locked, lack[k]);
    }
    return isEven;
}

// Solves the equations of the graph of contacts by elimination: each row has what touches its body
// on the diagonal, and less for each neighbour. Bodies that hold on to nothing lack nothing.
static void solveGraph(double* matrix, tpVec3* right, int count) {
    for (int k = 0; k < count; ++k) {
        double pivot = matrix[k * count + k];
        for (int i = k + 1; pivot > 1e-9 && i < count; ++i) {
            double factor = matrix[i * count + k] / pivot;
            for (int j = k; factor != 0.0 && j < count; ++j) {
                matrix[i * count + j] -= factor * matrix[k * count + j];
            }
            right[i] = tpMulAdd(right[i], -factor, right[k]);
        }
    }
    for (int k = count - 1; k >= 0; --k) {
        double pivot = matrix[k * count + k];
        for (int j = k + 1; j < count; ++j) {
            right[k] = tpMulAdd(right[k], -matrix[k * count + j], right[j]);
        }
        right[k] = pivot > 1e-9 ? tpScale(1.0 / pivot, right[k]) : tpZeroVec3();
    }
}

// The impulses of contacts are interpolated as velocities are, but not by the same polynomial: the
// smallest change that makes up the momentum of each body is a potential of the bodies, the
// difference of which is added to what pushes the two. Joints would have a part of it.
static bool balance(const tpStride* stride, tpSystem* system, double from, double to,
                    const tpTally* list) {
    int count = stride->bodies.count;
    tpVec3* potentials = TP_SCRATCH(&system->arena, tpVec3, count);
    double* matrix = TP_SCRATCH_ZEROED(&system->arena, double, (size_t)count*(size_t)count);
    if (potentials == NULL || matrix == NULL) {
        return false;
    }
    if (hasJoints(stride, system) || !findLack(stride, system, from, to, list, potentials)) {
        return true;
    }
    for (int i = 0; i < list->count; ++i) {
        int a = placeOf(stride, tpContactInfo_BodyA(&list->list[i]));
        int b = placeOf(stride, tpContactInfo_BodyB(&list->list[i]));
        if (a >= 0) {
            matrix[a * count + a] += 1.0;
        }
        if (b >= 0) {
            matrix[b * count + b] += 1.0;
        }
        if (a >= 0 && b >= 0) {
            matrix[a * count + b] -= 1.0;
            matrix[b * count + a] -= 1.0;
        }
    }
    solveGraph(matrix, potentials, count);
    for (int i = 0; i < list->count; ++i) {
        int a = placeOf(stride, tpContactInfo_BodyA(&list->list[i]));
        int b = placeOf(stride, tpContactInfo_BodyB(&list->list[i]));
        tpVec3 change =
            tpSub(a >= 0 ? potentials[a] : tpZeroVec3(), b >= 0 ? potentials[b] : tpZeroVec3());
        tpContactInfo_AddImpulse(&list->list[i], change);
    }
    return true;
}

void tpStride_AddLoads(const tpStride* stride, const tpSystem* system, double* reactions,
                       tpStepReport* report) {
    double from = (stride->doneCount - 1.0) / stride->frameCount;
    tpStrideLoads_Add(&stride->loads, system, from, from + 1.0 / stride->frameCount, reactions,
                      report);
}

bool tpStride_AddContacts(const tpStride* stride, tpSystem* system, tpTally* tally) {
    double from = (stride->doneCount - 1.0) / stride->frameCount;
    double to = from + 1.0 / stride->frameCount;
    tpTally list;
    return tpStrideLoads_ListContacts(&stride->loads, system, from, to, &list) &&
           balance(stride, system, from, to, &list) &&
           tpTally_Merge(tally, list.list, list.count, &system->arena);
}

static bool isWhereItWas(const tpSystem* system, const tpStrideBody* body) {
    const tpPose* pose = &system->poses.data[body->body];
    const tpVelocity* velocity = &system->velocities.data[body->body];
    return memcmp(pose, &body->pose, sizeof(*pose)) == 0 &&
           memcmp(velocity, &body->velocity, sizeof(*velocity)) == 0 &&
           !system->bodies.data[body->body].isDisturbed;
}

bool tpStride_IsUnderWay(const tpStride* stride, const tpSystem* system, const tpGroups* groups,
                         int group, double h) {
    double time = stride->begin + stride->doneCount * stride->h;
    bool isSame = stride->doneCount < stride->frameCount && stride->h == h &&
                  fabs(system->time - time) <= 1e-6 * h && stride->structure == system->structure &&
                  memcmp(&stride->gravity, &system->gravity, sizeof(tpVec3)) == 0 &&
                  groups->sizes[group] == stride->bodies.count &&
                  tpStride_CanCarry(system, groups, group);
    for (int i = 0; isSame && i < stride->bodies.count; ++i) {
        const tpStrideBody* body = &stride->bodies.data[i];
        isSame = groups->ofBody[body->body] == group && isWhereItWas(system, body);
    }
    for (int i = 0; isSame && system->hasDisturbed && i < system->bodyCount; ++i) {
        isSame = groups->ofBody[i] >= 0 || !system->bodies.data[i].isDisturbed;
    }
    return isSame;
}

// Snapshots ---------------------------------------------------------------------------------------

typedef struct SavedStride {
    int frameCount, doneCount, degree, bodyCount;
    double h, begin;
    uint64_t structure;
    tpVec3 gravity;
} SavedStride;

size_t tpStride_SavedSize(const tpStride* stride) {
    return sizeof(SavedStride) + sizeof(tpStrideBody) * (size_t)stride->bodies.count +
           tpStrideLoads_SavedSize(&stride->loads);
}

unsigned char* tpStride_Save(const tpStride* stride, unsigned char* place) {
    SavedStride head = { .frameCount = stride->frameCount,
                         .doneCount = stride->doneCount,
                         .degree = stride->degree,
                         .bodyCount = stride->bodies.count,
                         .h = stride->h,
                         .begin = stride->begin,
                         .structure = stride->structure,
                         .gravity = stride->gravity };
    memcpy(place, &head, sizeof(head));
    place += sizeof(head);
    size_t bodies = sizeof(tpStrideBody) * (size_t)stride->bodies.count;
    if (bodies > 0) {
        memcpy(place, stride->bodies.data, bodies);
    }
    return tpStrideLoads_Save(&stride->loads, place + bodies);
}

bool tpStride_Restore(tpStride* stride, tpSystem* system, tpSavedReader* reader) {
    SavedStride head;
    if (!tpSavedReader_Take(reader, &head, sizeof(head)) ||
        !tpSavedReader_Has(reader, head.bodyCount, sizeof(tpStrideBody)) ||
        !TP_RESERVE(&system->allocator, stride->bodies, head.bodyCount) ||
        !tpSavedReader_Take(reader, stride->bodies.data,
                            sizeof(tpStrideBody) * (size_t)head.bodyCount)) {
        return false;
    }
    stride->bodies.count = head.bodyCount;
    stride->frameCount = head.frameCount;
    stride->doneCount = head.doneCount;
    stride->degree = head.degree;
    stride->h = head.h;
    stride->begin = head.begin;
    stride->structure = head.structure;
    stride->gravity = head.gravity;
    // What comes from outside may say anything.
    bool isRight = tpStrideLoads_Restore(&stride->loads, system, reader) && head.doneCount >= 0 &&
                   head.frameCount >= 0 && head.frameCount <= tp_maxStride && head.degree >= 0 &&
                   head.degree <= tp_bentDegree &&
                   (head.frameCount == 0 || stride->loads.sums.count > 0);
    for (int i = 0; i < head.bodyCount; ++i) {
        int64_t body = stride->bodies.data[i].body;
        isRight = isRight && body >= 0 && body < system->bodyCount;
    }
    reader->failed = reader->failed || !isRight;
    return isRight;
}
