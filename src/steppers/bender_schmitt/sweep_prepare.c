// From contacts and joint rows to the arrays of the sweep.

#include <string.h>

#include "steppers/bender_schmitt/sweep.h"
#include "steppers/bender_schmitt/sweep_colour.h"
#include "steppers/bender_schmitt/sweep_wide.h"

bool tpSweeper_Create(tpSweeper* sweeper, tpArena* arena, int bodyCount, int contactCapacity) {
    memset(sweeper, 0, sizeof(*sweeper));
    sweeper->wide = tpChooseWideSweep();
    sweeper->bodyCount = bodyCount;
    sweeper->contactCapacity = contactCapacity;
    sweeper->bodies = TP_SCRATCH_ZEROED(arena, tpSweepBody, bodyCount);
    sweeper->places = TP_SCRATCH(arena, int32_t, contactCapacity);
    return !arena->failed;
}

void tpSweeper_SetBodies(tpSweeper* sweeper, const tpSystem* system) {
    for (int i = 0; i < sweeper->bodyCount; ++i) {
        tpSweepBody* body = &sweeper->bodies[i];
        memset(body, 0, sizeof(*body));
        if (!tpSystem_IsDynamic(system, i)) {
            continue;
        }
        tpMat33 inverse = tpSystem_InverseInertia(system, i);
        body->inverseMass = system->bodies.data[i].inverseMass;
        body->inverseInertia[0] = inverse.cx.x;
        body->inverseInertia[1] = inverse.cy.y;
        body->inverseInertia[2] = inverse.cz.z;
        body->inverseInertia[3] = inverse.cy.x;
        body->inverseInertia[4] = inverse.cz.x;
        body->inverseInertia[5] = inverse.cz.y;
    }
}

// Contacts ---------------------------------------------------------------------------------------

// Adds what one body gives to W of the rows `directions` (the fourth, about the normal, is turned).
static void addResponse(const tpSweepBody* body, tpVec3 arm, const tpVec3 directions[3],
                        tpVec3 spin, double W[4][4]) {
    if (!(body->inverseMass > 0.0)) {
        return;
    }
    const double* j = body->inverseInertia;
    tpMat33 inverse = { { j[0], j[3], j[4] }, { j[3], j[1], j[5] }, { j[4], j[5], j[2] } };
    tpVec3 moments[4], turns[4];
    for (int i = 0; i < 4; ++i) {
        moments[i] = i < 3 ? tpCross(arm, directions[i]) : spin;
        turns[i] = tpMulMV(inverse, moments[i]);
    }
    for (int i = 0; i < 4; ++i) {
        for (int k = i; k < 4; ++k) {
            double push = k < 3 ? body->inverseMass * tpDot(directions[i], directions[k]) : 0.0;
            W[i][k] += push + tpDot(moments[i], turns[k]);
        }
    }
}

// Inverse and largest eigenvalue of the two friction rows; zeros where nothing responds.
static void invertFriction(double tt, double to, double oo, double stick[3], double* slide) {
    double half = 0.5 * (tt + oo), skew = 0.5 * (tt - oo);
    double largest = half + sqrt(skew * skew + to * to);
    double determinant = tt * oo - to * to;
    stick[0] = stick[1] = stick[2] = *slide = 0.0;
    if (!(largest > 0.0)) {
        return;
    }
    *slide = 1.0 / largest;
    if (determinant > 1e-12 * largest * largest) {
        stick[0] = oo / determinant;
        stick[1] = -to / determinant;
        stick[2] = tt / determinant;
    } else {
        stick[0] = stick[2] = *slide;
    }
}

static void storeVector(double (*parts)[tp_packWidth], int lane, tpVec3 v) {
    parts[0][lane] = v.x;
    parts[1][lane] = v.y;
    parts[2][lane] = v.z;
}

static void storeContact(tpSweeper* sweeper, const tpSystem* system, int place, int number,
                         const tpPose* poses, const tpContact* contact, const tpContactLaw* law) {
    tpContactPack* pack = &sweeper->packs[place / tp_packWidth];
    int lane = place % tp_packWidth;
    sweeper->places[number] = place;
    pack->contact[lane] = number;
    pack->bodyA[lane] = contact->bodyA;
    pack->bodyB[lane] = contact->bodyB;
    tpVec3 armA = tpSub(contact->pointA, poses[contact->bodyA].position);
    tpVec3 armB = tpSub(contact->pointB, poses[contact->bodyB].position);
    // In the plane friction has one direction.
    double across = system->isPlanar ? 0.0 : law->ellipse[1];
    const tpVec3 directions[3] = { contact->normal, tpScale(law->ellipse[0], law->tangents[0]),
                                   tpScale(across, law->tangents[1]) };
    storeVector(pack->normal, lane, directions[0]);
    storeVector(pack->tangents[0], lane, directions[1]);
    storeVector(pack->tangents[1], lane, directions[2]);
    storeVector(pack->armA, lane, armA);
    storeVector(pack->armB, lane, armB);
    pack->muStatic[lane] = law->muStatic;
    pack->muDynamic[lane] = law->mu;

    double W[4][4] = { { 0.0 } };
    tpVec3 spin = tpScale(law->arm, contact->normal);
    addResponse(&sweeper->bodies[contact->bodyA], armA, directions, spin, W);
    addResponse(&sweeper->bodies[contact->bodyB], armB, directions, spin, W);
    const double response[6] = { W[0][0], W[0][1], W[0][2], W[1][1], W[1][2], W[2][2] };
    for (int k = 0; k < 6; ++k) {
        pack->response[k][lane] = response[k];
    }
    pack->inverseNormal[lane] = W[0][0] > 0.0 ? 1.0 / W[0][0] : 0.0;
    double stick[3];
    invertFriction(W[1][1], W[1][2], W[2][2], stick, &pack->slide[lane]);
    for (int k = 0; k < 3; ++k) {
        pack->stick[k][lane] = stick[k];
    }
    if (pack->torsion >= 0) {
        tpTorsionPack* torsion = &sweeper->torsions[pack->torsion];
        torsion->arm[lane] = law->arm;
        for (int k = 0; k < 4; ++k) {
            torsion->response[k][lane] = W[k][3];
        }
    }
}

static bool isTorsional(const tpContactLaw* law) {
    return law->mu > 0.0 && law->arm > 0.0;
}

static void startPack(tpContactPack* pack, int torsion) {
    memset(pack, 0, sizeof(*pack));
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        pack->contact[lane] = -1;
    }
    pack->torsion = torsion;
}

// The bodies of a run stand in all its packs, in lanes without a contact too.
static void spreadBodies(tpSweeper* sweeper, const tpPackRun* run) {
    tpContactPack* first = &sweeper->packs[run->first];
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        if (first->contact[lane] < 0) {
            continue;
        }
        int bit = 1 << lane;
        bool movesA = sweeper->bodies[first->bodyA[lane]].inverseMass > 0.0;
        bool movesB = sweeper->bodies[first->bodyB[lane]].inverseMass > 0.0;
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

bool tpSweeper_AddContacts(tpSweeper* sweeper, const tpSystem* system, const tpPose* poses,
                           const tpContact* contacts, const tpContactLaw* laws, int count,
                           tpArena* arena) {
    TP_ASSERT(count <= sweeper->contactCapacity);
    bool* turns = TP_SCRATCH(arena, bool, count);
    if (turns == NULL) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        turns[i] = !system->isPlanar && isTorsional(&laws[i]);
    }
    sweeper->contactCount = count;
    if (!tpSweeper_Colour(sweeper, contacts, turns, count, arena)) {
        return false;
    }
    sweeper->packs = TP_SCRATCH(arena, tpContactPack, sweeper->packCount);
    sweeper->torsions = TP_SCRATCH_ZEROED(arena, tpTorsionPack, sweeper->torsionCount);
    if (arena->failed) {
        return false;
    }
    int plainPacks = sweeper->packCount - sweeper->torsionCount;
    for (int p = 0; p < sweeper->packCount; ++p) {
        startPack(&sweeper->packs[p], p < plainPacks ? -1 : p - plainPacks);
    }
    for (int i = 0; i < count; ++i) {
        storeContact(sweeper, system, sweeper->places[i], i, poses, &contacts[i], &laws[i]);
    }
    for (int r = 0; r < sweeper->runCount; ++r) {
        spreadBodies(sweeper, &sweeper->runs[r]);
    }
    return true;
}

// Joints -----------------------------------------------------------------------------------------

static tpWrench wrenchOf(int degrees, const double* row) {
    tpWrench wrench = { tpZeroVec3(), tpZeroVec3() };
    wrench.linear.x = row[0];
    wrench.linear.y = row[1];
    if (degrees == 3) {
        wrench.angular.z = row[2];
        return wrench;
    }
    wrench.linear.z = row[2];
    wrench.angular = tpMakeVec3(row[3], row[4], row[5]);
    return wrench;
}

static tpWrench changeBy(const tpSweepBody* body, const tpWrench* row) {
    const double* j = body->inverseInertia;
    tpMat33 inverse = { { j[0], j[3], j[4] }, { j[3], j[1], j[5] }, { j[4], j[5], j[2] } };
    tpWrench change = { tpScale(body->inverseMass, row->linear), tpMulMV(inverse, row->angular) };
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

static void storeJoint(const tpSweeper* sweeper, const tpRows* rows, int block,
                       tpSweepJoint* joint) {
    memset(joint, 0, sizeof(*joint));
    int first = rows->firstRows[block];
    joint->kind = (tpFrictionKind)rows->kinds[block];
    joint->block = block;
    joint->bodyA = rows->bodyA[block];
    joint->bodyB = rows->bodyB[block];
    joint->rowCount = rows->dimensions[block];
    if (joint->kind == tp_frictionCone) {
        // A force of bounded size: its first row belongs to no body and says how large it may be.
        joint->limit = -rows->bias[first];
        joint->rowCount = 1;
        first += 1;
    }
    double W[3][3] = { { 0.0 } };
    for (int k = 0; k < joint->rowCount; ++k) {
        size_t place = (size_t)(first + k) * (size_t)rows->degrees;
        joint->onA[k] = wrenchOf(rows->degrees, rows->jacobianA + place);
        joint->onB[k] = wrenchOf(rows->degrees, rows->jacobianB + place);
        joint->bias[k] = rows->bias[first + k];
        joint->compliance[k] = rows->compliance[first + k];
        joint->impulse[k] = rows->impulse[first + k];
        if (joint->bodyA >= 0) {
            joint->changeA[k] = changeBy(&sweeper->bodies[joint->bodyA], &joint->onA[k]);
        }
        if (joint->bodyB >= 0) {
            joint->changeB[k] = changeBy(&sweeper->bodies[joint->bodyB], &joint->onB[k]);
        }
    }
    for (int i = 0; i < joint->rowCount; ++i) {
        for (int k = 0; k < joint->rowCount; ++k) {
            W[i][k] = rowDot(&joint->onA[i], &joint->changeA[k]) +
                      rowDot(&joint->onB[i], &joint->changeB[k]);
        }
        W[i][i] += joint->compliance[i];
        joint->response = fmax(joint->response, W[i][i]);
    }
    invertBlock(joint->rowCount, W, joint->solve);
}

bool tpSweeper_SetJoints(tpSweeper* sweeper, const tpRows* rows, tpArena* arena) {
    sweeper->joints = TP_SCRATCH(arena, tpSweepJoint, rows->blockCount);
    if (sweeper->joints == NULL) {
        return false;
    }
    sweeper->jointCount = 0;
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source != tp_contactSource) {
            storeJoint(sweeper, rows, b, &sweeper->joints[sweeper->jointCount++]);
        }
    }
    return true;
}
