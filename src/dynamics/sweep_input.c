#include "dynamics/sweep_input.h"

#include <string.h>

#include "dynamics/locks.h"

tpSweepBody tpSystem_SweepBody(const tpSystem* system, int index) {
    tpSweepBody body;
    memset(&body, 0, sizeof(body));
    const tpBody* own = &system->bodies.data[index];
    const tpInertia* inertia = &own->form->inertia;
    if (own->inverseMass > 0.0 && inertia->isIsotropic && own->locked == 0 && !system->isPlanar) {
        body.inverseMass = own->inverseMass;
        body.inverseInertia[0] = inertia->inverseMoments.x;
        body.inverseInertia[1] = inertia->inverseMoments.y;
        body.inverseInertia[2] = inertia->inverseMoments.z;
    } else if (tpSystem_IsDynamic(system, index)) {
        tpMat33 inverse = tpSystem_InverseInertia(system, index);
        body.inverseMass = system->bodies.data[index].inverseMass;
        body.inverseInertia[0] = inverse.cx.x;
        body.inverseInertia[1] = inverse.cy.y;
        body.inverseInertia[2] = inverse.cz.z;
        body.inverseInertia[3] = inverse.cy.x;
        body.inverseInertia[4] = inverse.cz.x;
        body.inverseInertia[5] = inverse.cz.y;
    }
    return body;
}

// Contacts ---------------------------------------------------------------------------------------

enum { contactsPerChunk = 1024 };

typedef struct Writing {
    const tpSystem* system;
    const tpPose* poses;
    const tpContact* contacts;
    const tpContactLaw* laws;
    int count;
    tpSweepContact* out;
} Writing;

static tpSweepContact writeContact(const Writing* writing, int i) {
    const tpContact* contact = &writing->contacts[i];
    const tpContactLaw* law = &writing->laws[i];
    bool isPlanar = writing->system->isPlanar;
    tpSweepContact out = { .bodyA = contact->bodyA, .bodyB = contact->bodyB };
    out.normal = contact->normal;
    // In the plane friction has one direction, and nothing spins about the normal.
    out.tangents[0] = tpScale(law->ellipse[0], law->tangents[0]);
    out.tangents[1] = tpScale(isPlanar ? 0.0 : law->ellipse[1], law->tangents[1]);
    out.armA = tpSub(contact->pointA, writing->poses[contact->bodyA].position);
    out.armB = tpSub(contact->pointB, writing->poses[contact->bodyB].position);
    out.muStatic = law->muStatic;
    out.muDynamic = law->mu;
    out.torsionArm = !isPlanar && law->mu > 0.0 ? law->arm : 0.0;
    return out;
}

static void writeChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Writing* writing = context;
    tpRange range = tpChunkAt(writing->count, contactsPerChunk, chunk);
    for (int i = range.begin; i < range.end; ++i) {
        writing->out[i] = writeContact(writing, i);
    }
}

// The axes that centres may move along, where some may not. False if memory ran out.
static bool writeLocks(const tpSystem* system, tpArena* arena, tpSweeper* sweeper) {
    const uint32_t lines = tp_lockX | tp_lockY | tp_lockZ;
    bool hasLocks = false;
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        hasLocks = hasLocks || (body->inverseMass > 0.0 && (body->locked & lines) != 0);
    }
    if (!hasLocks) {
        return true;
    }
    tpVec3* axes = TP_SCRATCH(arena, tpVec3, system->bodyCount);
    for (int i = 0; axes != NULL && i < system->bodyCount; ++i) {
        axes[i] = tpLocks_Linear(system->bodies.data[i].locked, tpMakeVec3(1.0, 1.0, 1.0));
    }
    sweeper->freeAxes = axes;
    return axes != NULL;
}

bool tpSystem_CreateSweeper(const tpSystem* system, const tpPose* poses, const tpContact* contacts,
                            const tpContactLaw* laws, int count, tpArena* arena,
                            tpSweeper* sweeper) {
    tpSweepContact* list = TP_SCRATCH(arena, tpSweepContact, count);
    if (list == NULL ||
        !tpSweeper_Create(sweeper, arena, system->bodyCount, count, tpFriction_SolveOne)) {
        return false;
    }
    sweeper->speedUnit = system->units.speed;
    for (int i = 0; i < system->bodyCount; ++i) {
        sweeper->bodies[i] = tpSystem_SweepBody(system, i);
    }
    if (!writeLocks(system, arena, sweeper)) {
        return false;
    }
    Writing writing = { system, poses, contacts, laws, count, list };
    tpTasks_Run(system->tasks, writeChunk, &writing, tpChunksOf(count, contactsPerChunk));
    return tpSweeper_AddContacts(sweeper, list, count, system->tasks, arena);
}

// Joints -----------------------------------------------------------------------------------------

static tpWrench wrenchOf(int componentCount, const double* row) {
    tpWrench wrench = { tpZeroVec3(), tpZeroVec3() };
    wrench.linear.x = row[0];
    wrench.linear.y = row[1];
    if (componentCount == 3) {
        wrench.angular.z = row[2];
        return wrench;
    }
    wrench.linear.z = row[2];
    wrench.angular = tpMakeVec3(row[3], row[4], row[5]);
    return wrench;
}

static tpSweepJointKind kindOf(tpFrictionKind kind) {
    return kind == tp_frictionCone          ? tp_boundedSweepJoint
           : kind == tp_frictionNonnegative ? tp_oneSidedSweepJoint
                                            : tp_freeSweepJoint;
}

// Further bodies of the block's last row. False if memory ran out.
static bool writeTerms(const tpRows* rows, int block, tpArena* arena, tpSweepJoint* joint) {
    int row = rows->firstRows[block] + rows->dimensions[block] - 1;
    if (rows->termCounts[row] == 0) {
        return true;
    }
    joint->terms = TP_SCRATCH(arena, tpSweepTerm, rows->termCounts[row]);
    if (joint->terms == NULL) {
        return false;
    }
    for (int k = 0; k < rows->termCounts[row]; ++k) {
        const tpRowTerm* term = &rows->terms[rows->firstTerms[row] + k];
        if (term->isDynamic) {
            joint->terms[joint->termCount++] =
                (tpSweepTerm){ .body = term->body,
                               .on = wrenchOf(rows->componentCount, term->jacobian) };
        }
    }
    return true;
}

static void writeJoint(const tpRows* rows, int block, tpSweepJoint* joint) {
    memset(joint, 0, sizeof(*joint));
    int first = rows->firstRows[block];
    joint->kind = kindOf((tpFrictionKind)rows->kinds[block]);
    joint->block = block;
    joint->bodyA = rows->bodyA[block];
    joint->bodyB = rows->bodyB[block];
    joint->rowCount = rows->dimensions[block];
    if (joint->kind == tp_boundedSweepJoint) {
        // A force of bounded size: its first row belongs to no body and says how large it may be.
        joint->limit = -rows->bias[first] / rows->compliance[first];
        joint->rowCount = 1;
        first += 1;
    }
    joint->scale = rows->scale[first];
    for (int k = 0; k < joint->rowCount; ++k) {
        size_t place = (size_t)(first + k) * (size_t)rows->componentCount;
        joint->onA[k] = wrenchOf(rows->componentCount, rows->jacobianA + place);
        joint->onB[k] = wrenchOf(rows->componentCount, rows->jacobianB + place);
        joint->bias[k] = rows->bias[first + k];
        joint->compliance[k] = rows->compliance[first + k];
        joint->impulse[k] = rows->impulse[first + k];
    }
}

bool tpRows_AddToSweeper(const tpRows* rows, tpArena* arena, tpSweeper* sweeper) {
    tpSweepJoint* joints = TP_SCRATCH(arena, tpSweepJoint, rows->blockCount);
    if (joints == NULL) {
        return false;
    }
    int count = 0;
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source != tp_contactSource) {
            writeJoint(rows, b, &joints[count]);
            if (!writeTerms(rows, b, arena, &joints[count++])) {
                return false;
            }
        }
    }
    tpSweeper_SetJoints(sweeper, joints, count);
    return true;
}
