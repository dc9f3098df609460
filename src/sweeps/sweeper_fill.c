// From contacts and joint rows to the arrays of the sweep.

#include <string.h>

#include "sweeps/sweeper.h"
#include "sweeps/sweeper_kernels.h"

bool tpSweeper_Create(tpSweeper* sweeper, tpArena* arena, int bodyCount, int contactCapacity,
                      tpSolveCone solveCone) {
    memset(sweeper, 0, sizeof(*sweeper));
    sweeper->wide = tpGetSweepKernels(tpChooseWidth(tp_packWidth));
    sweeper->solveCone = solveCone;
    sweeper->speedUnit = 1.0;
    sweeper->bodyCount = bodyCount;
    sweeper->contactCapacity = contactCapacity;
    sweeper->bodies = TP_SCRATCH_ZEROED(arena, tpSweepBody, bodyCount);
    sweeper->places = TP_SCRATCH(arena, int32_t, contactCapacity);
    return !arena->failed;
}

// Contacts ---------------------------------------------------------------------------------------

static void storeVector(double (*parts)[tp_packWidth], int lane, tpVec3 v) {
    parts[0][lane] = v.x;
    parts[1][lane] = v.y;
    parts[2][lane] = v.z;
}

static void storeContact(tpContactPack* pack, int lane, const tpSweepContact* contact) {
    pack->bodyA[lane] = contact->bodyA;
    pack->bodyB[lane] = contact->bodyB;
    storeVector(pack->normal, lane, contact->normal);
    storeVector(pack->tangents[0], lane, contact->tangents[0]);
    storeVector(pack->tangents[1], lane, contact->tangents[1]);
    storeVector(pack->armA, lane, contact->armA);
    storeVector(pack->armB, lane, contact->armB);
    pack->muStatic[lane] = contact->muStatic;
    pack->muDynamic[lane] = contact->muDynamic;
}

static tpVec3 laneVector(double (*parts)[tp_packWidth], int lane) {
    return tpMakeVec3(parts[0][lane], parts[1][lane], parts[2][lane]);
}

// What one body gives to W of the spin about the normal, the fourth row: nr tr or rr.
static void addSpin(const tpSweepBody* body, tpVec3 arm, const tpVec3 directions[3], tpVec3 spin,
                    double response[4]) {
    const double* j = body->inverseInertia;
    tpMat33 inverse = { { j[0], j[3], j[4] }, { j[3], j[1], j[5] }, { j[4], j[5], j[2] } };
    tpVec3 turn = tpMulMV(inverse, spin);
    for (int i = 0; i < 3; ++i) {
        response[i] += tpDot(tpCross(arm, directions[i]), turn);
    }
    response[3] += tpDot(spin, turn);
}

static void storeTorsion(const tpSweeper* sweeper, tpContactPack* pack, int lane, double arm) {
    tpTorsionPack* torsion = &sweeper->torsions[pack->torsion];
    torsion->arm[lane] = arm;
    const tpVec3 directions[3] = { laneVector(pack->normal, lane),
                                   laneVector(pack->tangents[0], lane),
                                   laneVector(pack->tangents[1], lane) };
    tpVec3 spin = tpScale(arm, directions[0]);
    double response[4] = { 0.0, 0.0, 0.0, 0.0 };
    addSpin(&sweeper->bodies[pack->bodyA[lane]], laneVector(pack->armA, lane), directions, spin,
            response);
    addSpin(&sweeper->bodies[pack->bodyB[lane]], laneVector(pack->armB, lane), directions, spin,
            response);
    for (int k = 0; k < 4; ++k) {
        torsion->response[k][lane] = response[k];
    }
}

static void startPack(tpContactPack* pack, const int32_t* contacts, int torsion) {
    memset(pack, 0, sizeof(*pack));
    memcpy(pack->contact, contacts, sizeof(pack->contact));
    pack->torsion = torsion;
}

// The bodies of a run stand in all its packs, in lanes without a contact too.
static void spreadBodies(tpSweeper* sweeper, const tpPackRun* run) {
    tpContactPack* first = &sweeper->packs[run->first];
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        if (first->contact[lane] < 0) {
            continue;
        }
        int bit = 1 << lane, a = first->bodyA[lane], b = first->bodyB[lane];
        bool movesA = sweeper->bodies[a].inverseMass > 0.0;
        bool movesB = sweeper->bodies[b].inverseMass > 0.0;
        first->movesA = (uint8_t)(first->movesA | (movesA ? bit : 0));
        first->movesB = (uint8_t)(first->movesB | (movesB ? bit : 0));
    }
    for (tpContactPack* pack = first + 1; pack < first + run->count; ++pack) {
        memcpy(pack->bodyA, first->bodyA, sizeof(first->bodyA));
        memcpy(pack->bodyB, first->bodyB, sizeof(first->bodyB));
        pack->movesA = first->movesA;
        pack->movesB = first->movesB;
    }
}

// Response of the centres alone, some with locked axes.
static void respondLocked(const tpSweeper* sweeper, tpContactPack* pack, int lane) {
    const int bodies[2] = { pack->bodyA[lane], pack->bodyB[lane] };
    const tpVec3 directions[3] = { laneVector(pack->normal, lane),
                                   laneVector(pack->tangents[0], lane),
                                   laneVector(pack->tangents[1], lane) };
    for (int side = 0; side < 2; ++side) {
        double inverseMass = sweeper->bodies[bodies[side]].inverseMass;
        int place = 0;
        for (int i = 0; i < 3; ++i) {
            tpVec3 free = tpSweeper_Free(sweeper, bodies[side], directions[i]);
            for (int k = i; k < 3; ++k) {
                pack->response[place++][lane] += inverseMass * tpDot(free, directions[k]);
            }
        }
    }
}

// A run with locked axes: marks its packs, and begins their responses.
static void markLocks(tpSweeper* sweeper, const tpPackRun* run) {
    const tpContactPack* first = &sweeper->packs[run->first];
    bool hasLocks = false;
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        hasLocks = hasLocks ||
                   (first->contact[lane] >= 0 && (tpSweeper_IsLocked(sweeper, first->bodyA[lane]) ||
                                                  tpSweeper_IsLocked(sweeper, first->bodyB[lane])));
    }
    for (int p = run->first; hasLocks && p < run->first + run->count; ++p) {
        tpContactPack* pack = &sweeper->packs[p];
        pack->hasLocks = 1;
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            if (pack->contact[lane] >= 0) {
                respondLocked(sweeper, pack, lane);
            }
        }
    }
}

typedef struct Filling {
    tpSweeper* sweeper;
    const tpSweepContact* contacts;
} Filling;

// Pack after pack: whole lines are written, and contacts, which are shorter, looked up.
static void fillRun(const Filling* filling, const tpPackRun* run) {
    tpSweeper* sweeper = filling->sweeper;
    int plainPacks = sweeper->packCount - sweeper->torsionCount;
    for (int p = run->first; p < run->first + run->count; ++p) {
        tpContactPack* pack = &sweeper->packs[p];
        startPack(pack, sweeper->order + p * tp_packWidth, p < plainPacks ? -1 : p - plainPacks);
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            int i = pack->contact[lane];
            if (i >= 0) {
                storeContact(pack, lane, &filling->contacts[i]);
            }
        }
    }
    spreadBodies(sweeper, run);
    if (sweeper->freeAxes != NULL) {
        markLocks(sweeper, run);
    }
    sweeper->wide->respondRun(sweeper, run);
    for (int p = run->first; p < run->first + run->count; ++p) {
        tpContactPack* pack = &sweeper->packs[p];
        for (int lane = 0; pack->torsion >= 0 && lane < tp_packWidth; ++lane) {
            if (pack->contact[lane] >= 0) {
                storeTorsion(sweeper, pack, lane,
                             filling->contacts[pack->contact[lane]].torsionArm);
            }
        }
    }
}

enum { runsAChunk = 64 };

static void fillChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Filling* filling = context;
    int end = (chunk + 1) * runsAChunk;
    end = end < filling->sweeper->runCount ? end : filling->sweeper->runCount;
    for (int r = chunk * runsAChunk; r < end; ++r) {
        fillRun(filling, &filling->sweeper->runs[r]);
    }
}

bool tpSweeper_AddContacts(tpSweeper* sweeper, const tpSweepContact* contacts, int count,
                           tpTasks* tasks, tpArena* arena) {
    TP_ASSERT(count <= sweeper->contactCapacity);
    sweeper->contactCount = count;
    if (!tpSweeper_Colour(sweeper, contacts, count, arena)) {
        return false;
    }
    sweeper->packs = TP_SCRATCH(arena, tpContactPack, sweeper->packCount);
    sweeper->torsions = TP_SCRATCH_ZEROED(arena, tpTorsionPack, sweeper->torsionCount);
    if (arena->failed) {
        return false;
    }
    Filling filling = { sweeper, contacts };
    tpTasks_Run(tasks, fillChunk, &filling, tpChunksOf(sweeper->runCount, runsAChunk));
    return true;
}

// Joints -----------------------------------------------------------------------------------------

static tpWrench changeBy(const tpSweeper* sweeper, int index, const tpWrench* row) {
    const tpSweepBody* body = &sweeper->bodies[index];
    const double* j = body->inverseInertia;
    tpMat33 inverse = { { j[0], j[3], j[4] }, { j[3], j[1], j[5] }, { j[4], j[5], j[2] } };
    tpVec3 free = tpSweeper_Free(sweeper, index, row->linear);
    tpWrench change = { tpScale(body->inverseMass, free), tpMulMV(inverse, row->angular) };
    return change;
}

static double rowDot(const tpWrench* a, const tpWrench* b) {
    return tpDot(a->linear, b->linear) + tpDot(a->angular, b->angular);
}

// The inverse of a symmetric matrix of up to three rows; rows that nothing moves are left out.
static void invertBlock(int count, double W[3][3], double inverse[3][3]) {
    tpMat33 m = tpIdentityMat33();
    double* columns[3] = { &m.cx.x, &m.cy.x, &m.cz.x };
    double largest = 0.0;
    for (int i = 0; i < count; ++i) {
        largest = fmax(largest, W[i][i]);
    }
    bool isIdle[3] = { true, true, true };
    for (int i = 0; i < count; ++i) {
        isIdle[i] = !(W[i][i] > 1e-14 * largest);
    }
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) {
            if (!isIdle[i] && !isIdle[j]) {
                columns[j][i] = W[i][j] / largest;
            }
        }
    }
    tpMat33 result = tpInvert(m);
    const double* answers[3] = { &result.cx.x, &result.cy.x, &result.cz.x };
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) {
            inverse[i][j] = isIdle[i] || isIdle[j] ? 0.0 : answers[j][i] / largest;
        }
    }
}

static void finishJoint(const tpSweeper* sweeper, tpSweepJoint* joint) {
    memset(joint->changeA, 0, sizeof(joint->changeA));
    memset(joint->changeB, 0, sizeof(joint->changeB));
    memset(joint->solve, 0, sizeof(joint->solve));
    joint->response = 0.0;
    for (int k = 0; k < joint->rowCount; ++k) {
        if (joint->bodyA >= 0) {
            joint->changeA[k] = changeBy(sweeper, joint->bodyA, &joint->onA[k]);
        }
        if (joint->bodyB >= 0) {
            joint->changeB[k] = changeBy(sweeper, joint->bodyB, &joint->onB[k]);
        }
    }
    double W[3][3] = { { 0.0 } };
    for (int i = 0; i < joint->rowCount; ++i) {
        for (int k = 0; k < joint->rowCount; ++k) {
            W[i][k] = rowDot(&joint->onA[i], &joint->changeA[k]) +
                      rowDot(&joint->onB[i], &joint->changeB[k]);
        }
        for (int t = 0; t < joint->termCount; ++t) {
            tpSweepTerm* term = &joint->terms[t];
            term->change = changeBy(sweeper, term->body, &term->on);
            W[i][i] += rowDot(&term->on, &term->change);
        }
        W[i][i] += joint->compliance[i];
        joint->response = fmax(joint->response, W[i][i]);
    }
    invertBlock(joint->rowCount, W, joint->solve);
}

void tpSweeper_SetJoints(tpSweeper* sweeper, tpSweepJoint* joints, int count) {
    sweeper->joints = joints;
    sweeper->jointCount = count;
    for (int i = 0; i < count; ++i) {
        finishJoint(sweeper, &joints[i]);
    }
}
