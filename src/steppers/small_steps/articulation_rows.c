// Rows of a mechanism's joints where its bodies are, and the free flight of its bodies from there
// on.

#include <string.h>

#include "dynamics/couplings.h"
#include "steppers/small_steps/articulation_tree.h"

// Rigid rows are so much stiffer than the bodies that they hold, and at least by the second part
// stiffer than the whole mechanism. What that leaves of a velocity goes with the next solve, which
// starts from the impulse of this one.
static const double rigidPart = 1e6, rigidWhole = 1e4;

// A mechanism of which a body turns by more than this in a step has its rows written anew within
// the step, rad: one with rows for what joints hold in each substep.
static const double slowTurn = 0.005;

// A tree, whose turn is evened (tpTree_EvenTurn), before a body turns by more than this, rad, or a
// link swings by more than that square of an angle under what pulls at its joints.
static const double treeTurn = 0.01, treeSwing = 0.25;

// Below this directions are the same all through a step, rad.
static const double stillTurn = 1e-5;

static void readJacobian(const tpRows* rows, const double* jacobian, int row, double* six) {
    const double* from = jacobian + (size_t)row * (size_t)rows->componentCount;
    if (rows->componentCount == 6) {
        memcpy(six, from, 6 * sizeof(double));
    } else {
        const double planar[6] = { from[0], from[1], 0.0, 0.0, 0.0, from[2] };
        memcpy(six, planar, sizeof(planar));
    }
}

// One side of a row: a node, or what a kinematic body adds to its velocity.
static int32_t placeSide(const tpSmallStep* step, const tpArticulation* articulation, int body,
                         double* on, double* told, double* response) {
    const tpSmallSteps* state = step->state;
    if (body < 0) {
        return -1;
    }
    int number = state->numbers.data[body];
    if (state->map.owners.data[body] < 0) {
        double velocity[6];
        readVelocity(&step->starts[number], velocity);
        for (int k = 0; k < 6; ++k) {
            *told += on[k] * velocity[k];
        }
        return -1;
    }
    int32_t node = state->map.nodes.data[body];
    for (int k = 0; k < 6; ++k) {
        on[k] *= articulation->masses[node].free[k];
    }
    *response += tpSweepBody_Response(&articulation->own[node], on);
    return node;
}

static double massOf(const tpSmallStep* step, int body) {
    return tpSystem_IsDynamic(step->system, body) ? step->system->bodies.data[body].mass : INFINITY;
}

double tpArticulation_RigidPart(const tpArticulation* articulation, double lightest) {
    return fmax(rigidPart, rigidWhole * articulation->mass / lightest);
}

// Where the pattern has the block of two nodes.
static int32_t placeOfPair(const tpMechanism* solver, int a, int b) {
    int column = a < b ? a : b, row = a < b ? b : a, place = solver->starts[column];
    while (solver->below[place] != row) {
        ++place;
    }
    return place;
}

// Further bodies of a coupling's row.
static void placeTerms(const tpSmallStep* step, tpArticulation* articulation, int index,
                       tpMechanismRow* row, double* told, double* response) {
    const tpRows* rows = &articulation->rows;
    row->terms = articulation->terms + articulation->termCount;
    for (int k = 0; k < rows->termCounts[index]; ++k) {
        const tpRowTerm* given = &rows->terms[rows->firstTerms[index] + k];
        tpMechanismTerm* term = &articulation->terms[articulation->termCount];
        readJacobian(rows, given->jacobian, 0, term->on);
        term->node = placeSide(step, articulation, given->body, term->on, told, response);
        if (term->node >= 0) {
            articulation->termCount += 1;
            row->termCount += 1;
        }
    }
}

// The error of position of a row: of what is held, and of limits that are passed.
double tpArticulation_ErrorOf(const tpSmallStep* step, tpRowRole role, double bias) {
    double error = bias * step->substepTime;
    return role == tp_heldRole ? error : role == tp_limitRole ? fmin(error, 0.0) : 0.0;
}

// Whether a row has the direction of the first one of its coordinate: limits, springs and drives of
// a coordinate do.
static double sharedSign(const tpArticulation* articulation, const tpMechanismRow* row) {
    int first = (int)(row - articulation->solver.rows) - 1;
    while (first >= 0 && articulation->solver.rows[first].sharedSign != 0.0) {
        --first;
    }
    if (first < 0) {
        return 0.0;
    }
    const tpMechanismRow* other = &articulation->solver.rows[first];
    bool isSame = other->nodeA == row->nodeA && other->nodeB == row->nodeB, isTurned = isSame;
    for (int k = 0; k < 6 && (isSame || isTurned); ++k) {
        isSame = isSame && other->onA[k] == row->onA[k] && other->onB[k] == row->onB[k];
        isTurned = isTurned && other->onA[k] == -row->onA[k] && other->onB[k] == -row->onB[k];
    }
    return isSame ? 1.0 : isTurned ? -1.0 : 0.0;
}

static void placeRow(const tpSmallStep* step, tpArticulation* articulation, int block, int k,
                     int joint) {
    const tpRows* rows = &articulation->rows;
    const tpBlockInfo* info = &rows->infos[block];
    bool isBounded = info->source == tp_boundedSource;
    int index = rows->firstRows[block] + k;
    tpMechanismRow* row = &articulation->solver.rows[articulation->solver.rowCount];
    tpRowAnswer* answer = &articulation->solver.answers[articulation->solver.rowCount];
    tpArticulatedRow* law = &articulation->laws[articulation->solver.rowCount++];
    memset(row, 0, sizeof(*row));
    memset(answer, 0, sizeof(*answer));
    memset(law, 0, sizeof(*law));
    law->role = info->role;
    law->row = index;
    readJacobian(rows, rows->jacobianA, index, row->onA);
    readJacobian(rows, rows->jacobianB, index, row->onB);
    double response = 0.0;
    row->nodeA =
        placeSide(step, articulation, rows->givenA[block], row->onA, &law->told, &response);
    row->nodeB =
        placeSide(step, articulation, rows->givenB[block], row->onB, &law->told, &response);
    double lightest = fmin(massOf(step, rows->givenA[block]), massOf(step, rows->givenB[block]));
    if (info->isCoupling) {
        placeTerms(step, articulation, index, row, &law->told, &response);
        row->place = row->nodeA >= 0 && row->nodeB >= 0
                         ? placeOfPair(&articulation->solver, row->nodeA, row->nodeB)
                         : -1;
    } else {
        row->place = articulation->blocks[joint];
        row->sharedSign = sharedSign(articulation, row);
    }
    double compliance = rows->compliance[index];
    law->isRigid = !(compliance > 0.0);
    law->damping = rows->damping[index];
    double rigid = tpArticulation_RigidPart(articulation, lightest);
    answer->stiffness = law->isRigid ? (response > 0.0 ? rigid / response : 0.0) : 1.0 / compliance;
    answer->state = response > 0.0 && isfinite(answer->stiffness) ? tp_withinRow : tp_deadRow;
    answer->least = info->role == tp_limitRole ? 0.0 : -INFINITY;
    answer->most = INFINITY;
    if (isBounded) {
        int load = rows->firstRows[block];
        answer->most = -rows->bias[load] / rows->compliance[load];
        answer->least = -answer->most;
    }
    bool isRotor = tpRowRole_IsRotor(info->role);
    law->startBias = info->role == tp_heldRole ? 0.0
                     : isRotor                 ? -rows->rotor[index]
                                               : rows->bias[index];
    law->startError = tpArticulation_ErrorOf(step, info->role, rows->bias[index]);
    double tau = step->substepTime;
    if (info->role == tp_limitRole) {
        law->wayFactor = 1.0 / tau;
        answer->state = answer->state == tp_withinRow && rows->bias[index] > 0.0 ? tp_atLeastRow
                                                                                 : answer->state;
    } else if (info->role == tp_springRole || info->role == tp_servoRole) {
        // r = -(a x + b u - c speed), b = a lag + c: the bias has a / b of the way.
        double lagged = answer->stiffness - law->damping, whole = answer->stiffness;
        if (info->role == tp_springRole) {
            double lag = tpArticulation_SpringLag(lagged * response);
            answer->stiffness = law->damping + lag * lagged;
            law->startBias *= whole / answer->stiffness;
            law->isSpan =
                !info->isCoupling && step->system->joints.data[info->index].type == tp_springJoint;
            law->ending = info->isCoupling ? 0.0 : tpArticulation_SpringEnding(lag);
        }
        law->wayFactor = lagged / (tau * answer->stiffness);
    }
}

static tpJointTreatment treatmentOf(const tpSmallStep* step) {
    return (tpJointTreatment){ step->substepTime, 1.0, NULL, step->substepTime, 1.0, false };
}

void tpArticulation_WriteRows(const tpSmallStep* step, tpArticulation* articulation, tpRows* rows) {
    tpJointTreatment treatment = treatmentOf(step);
    tpRows_Clear(rows);
    tpRows_SetUnits(rows, step->system);
    for (int k = 0; k < articulation->jointCount; ++k) {
        tpJoint_AddRows(rows, step->system, articulation->joints[k], step->joints->poses,
                        &treatment);
    }
    for (int k = 0; k < articulation->couplingCount; ++k) {
        tpCoupling_AddRows(rows, step->system, articulation->couplings[k], step->joints->poses,
                           &treatment, tp_wholeLaws);
    }
}

// How fast the line between the anchors of a spring or a distance turns, at most, rad/s: bodies may
// go around each other without turning themselves.
static double turnOfSpan(const tpSmallStep* step, const tpJoint* joint) {
    const int bodies[2] = { joint->bodyA, joint->bodyB };
    tpJointPlace place = tpJoint_Place(joint, step->joints->poses);
    tpVec3 points[2] = { place.pointA, place.pointB };
    tpVec3 speeds[2] = { tpZeroVec3(), tpZeroVec3() };
    for (int side = 0; side < 2; ++side) {
        if (bodies[side] >= 0) {
            const tpVelocity* v = &step->velocities[step->state->numbers.data[bodies[side]]];
            tpVec3 arm = tpSub(points[side], side == 0 ? place.centerA : place.centerB);
            speeds[side] = tpAdd(v->linear, tpCross(v->angular, arm));
        }
    }
    double length = tpLength(tpSub(points[1], points[0]));
    double speed = tpLength(tpSub(speeds[1], speeds[0]));
    return speed > 0.0 ? speed / fmax(length, 1e-9 * step->system->units.length) : 0.0;
}

// How far the fastest body of a mechanism, or the fastest direction of its rows, turns in a second.
double tpArticulation_TurnOf(const tpSmallStep* step, const tpArticulation* articulation) {
    double turn = 0.0;
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        double square = tpLengthSquared(step->velocities[numberOf(articulation, i)].angular);
        turn = square > turn ? square : turn;
    }
    turn = sqrt(turn);
    // Trees have no spans.
    for (int k = 0; !articulation->isTree && k < articulation->jointCount; ++k) {
        const tpJoint* joint = &step->system->joints.data[articulation->joints[k]];
        if (joint->type == tp_springJoint || joint->type == tp_distanceJoint) {
            turn = fmax(turn, turnOfSpan(step, joint));
        }
    }
    return turn;
}

// Until the middle of what rows are written for: the mean of where its substeps begin.
static double timeToMiddle(const tpSmallStep* step, const tpArticulation* articulation) {
    return 0.5 * (articulation->span - 1) * step->substepTime;
}

// Poses where velocities lead until then.
static void goToMiddle(const tpSmallStep* step, const tpArticulation* articulation) {
    double half = timeToMiddle(step, articulation);
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        tpPose* pose = &step->joints->poses[articulation->bodies[i]];
        const tpVelocity* v = &step->velocities[numberOf(articulation, i)];
        pose->position = tpMulAdd(pose->position, half, v->linear);
        pose->rotation =
            tpNormalizeQuat(tpMulQQ(tpQuatExp(tpScale(half, v->angular)), pose->rotation));
    }
}

static void comeBack(const tpSmallStep* step, const tpArticulation* articulation) {
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        step->joints->poses[articulation->bodies[i]] = articulation->flights[i].start;
    }
}

// Directions of rows that serve for a whole step are those of its middle, as far as velocities tell
// now: with those of the start, what pulls along them would come late by nearly half of the step.
// `ends` is scratch here.
static void takeMiddle(const tpSmallStep* step, tpArticulation* articulation) {
    tpRows *rows = &articulation->rows, *middle = &articulation->ends;
    goToMiddle(step, articulation);
    tpArticulation_WriteRows(step, articulation, middle);
    comeBack(step, articulation);
    articulation->isMidway =
        middle->blockCount == rows->blockCount && middle->rowCount == rows->rowCount;
    if (articulation->isMidway) {
        size_t bytes =
            sizeof(double) * (size_t)rows->componentCount * (size_t)articulation->rows.rowCount;
        memcpy(rows->jacobianA, middle->jacobianA, bytes);
        memcpy(rows->jacobianB, middle->jacobianB, bytes);
        for (int t = 0; t < rows->termCount; ++t) {
            rows->terms[t] = middle->terms[t];
        }
    }
}

static void openRows(const tpSmallStep* step, tpArticulation* articulation, bool hasRows,
                     bool isMoving) {
    if (!hasRows) {
        tpArticulation_WriteRows(step, articulation, &articulation->rows);
    }
    if (isMoving) {
        takeMiddle(step, articulation);
    }
    articulation->solver.rowCount = articulation->termCount = 0;
    for (int b = 0, joint = 0; b < articulation->rows.blockCount; ++b) {
        const tpBlockInfo* info = &articulation->rows.infos[b];
        while (!info->isCoupling && articulation->joints[joint] != info->index) {
            ++joint;
        }
        // The first row of a bounded block is its bound.
        int first = info->source == tp_boundedSource ? 1 : 0;
        for (int k = first; k < articulation->rows.dimensions[b]; ++k) {
            placeRow(step, articulation, b, k, joint);
        }
    }
}

// The same of a tree: axes for rows.
static void openTree(const tpSmallStep* step, tpArticulation* articulation, bool hasPlaces,
                     bool isMoving) {
    tpJointTree* tree = &articulation->tree;
    articulation->isMidway = isMoving;
    if (!hasPlaces) {
        tpTree_Look(step, articulation);
    }
    if (!articulation->isMidway) {
        tpTree_TakePlaces(step, articulation);
    } else if (!tpTree_TakeAhead(step, articulation, timeToMiddle(step, articulation))) {
        goToMiddle(step, articulation);
        tpTree_LookAgain(step, articulation);
        tpTree_TakePlaces(step, articulation);
        comeBack(step, articulation);
        (hasPlaces ? tpTree_LookAgain : tpTree_Look)(step, articulation);
    }
    for (int i = 0; !hasPlaces && i < tree->nodeCount; ++i) {
        const tpNodePlace* at = &articulation->nodePlaces[i];
        memcpy(&articulation->startJumps[6 * i], at->jump, 6 * sizeof(double));
        articulation->startArms[i] = at->isB ? at->own : tpAdd(at->arm, at->own);
    }
    if (hasPlaces && articulation->passed == articulation->finished) {
        memset(articulation->startJumps, 0, sizeof(double) * 6 * (size_t)tree->nodeCount);
    }
    (hasPlaces ? tpTree_RewriteLaws : tpTree_WriteLaws)(step, articulation);
    tpJointTree_MarkAll(tree);
}

void tpArticulation_Factorise(tpArticulation* articulation) {
    articulation->factorisations += 1;
    if (articulation->isTree) {
        tpJointTree_Factorise(&articulation->tree);
    } else {
        tpMechanism_Factorise(&articulation->solver);
    }
}

// How many substeps rows can be written for, if a body turns so far in the step: all, a half, a
// quarter and so on, or one.
static int spanOf(const tpSmallStep* step, const tpArticulation* articulation, double turn) {
    int all = step->substeps, span = all;
    if (!articulation->isFast) {
        return all;
    }
    while (span > 1 && (!articulation->isTree || turn * span > treeTurn * all ||
                        articulation->swing * span * span > treeSwing)) {
        span = span % 2 == 0 ? span / 2 : 1;
    }
    return span;
}

void tpArticulation_Open(const tpSmallStep* step, tpArticulation* articulation, bool hasRows) {
    // What is fast stays so to the end of the step.
    bool isMoving = articulation->span > 1;
    if (!hasRows) {
        double turn = step->h * tpArticulation_TurnOf(step, articulation);
        articulation->isFast = turn > slowTurn;
        articulation->span = spanOf(step, articulation, turn);
        articulation->isSlow =
            step->isSlow && articulation->isTree && (articulation->hasFewContacts || step->isStill);
        isMoving = turn > stillTurn && !articulation->isSlow &&
                   (articulation->span > 1 || !articulation->isFast);
    }
    tpArticulation_OpenNodes(step, articulation);
    articulation->isOpen = true;
    articulation->isMidway = false;
    (articulation->isTree ? openTree : openRows)(step, articulation, hasRows, isMoving);
    articulation->finished = 0;
}
