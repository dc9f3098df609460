// Joints in substeps: each mechanism is solved directly, between the sweeps over contacts.
//
// Rows of joints (dynamics/joints.h) are written once per step, for a substep's duration, and their
// matrix is factorised once; a substep then costs one or two solves (sweeps/mechanism.h). Contacts
// know a body's own mass only: what a sweep changed is the momentum that contacts gave, p += M (v -
// v before), and the solve finds what the whole mechanism makes of all of it.
//
// Velocities are led to what rows ask for where the step began. Along the way directions turn:
// positions are off at the end by a part of second order. It is taken back by the factors that are
// there, as a displacement and as the velocity that belongs to it; the next step's rows then hold
// the velocities at the new place. That is RATTLE [Andersen83]: a pendulum keeps its energy. If a
// body turns fast for the step the same is done after every substep.

#include "steppers/small_steps/joints.h"

#include <string.h>

#include "dynamics/couplings.h"
#include "dynamics/joints.h"
#include "dynamics/locks.h"
#include "steppers/small_steps/step.h"
#include "sweeps/mechanism.h"

// Rigid rows are so much stiffer than the bodies that they hold, and at least by the second part
// stiffer than the whole mechanism. What that leaves of a velocity goes with the next solve, which
// starts from the impulse of this one.
static const double rigidPart = 1e6, rigidWhole = 1e4;

// A mechanism of which a body turns by more than this in a step has its rows written anew in each
// substep, rad. One that turns by more than this between has no velocity of its way back: its
// directions mean little.
static const double slowTurn = 0.005, fastTurn = 0.7;

// Below this turning is as good as none, rad per step.
static const double noTurn = 1e-3;

// Errors of position are taken back in a few rounds; ones smaller than this, of the smallest body's
// size, in one.
static const double smallError = 1e-4, mostShift = 0.25;
enum { mostCorrections = 4 };

// Axes and directions without inertia count as this much of the body's own.
static const double noInertia = 1e9;

// What a row's law needs beside the row.
typedef struct LawRow {
    tpRowRole role;
    int32_t row;       // of the tpRows
    bool isRigid;      // it has no compliance of its own
    double startBias;  // at the start
    double wayFactor;  // of the bias, per m or rad that the coordinate has gone
    double way;        // that it has gone
    double total;      // impulse of the finished substeps
    double told;       // velocity of the row by bodies that move as told
    double damping;    // of springs: the damper's part of the impulse, by the velocity
    double startError; // of position, m or rad
} LawRow;

// A body since rows were written: where it was, and how it would have turned without rows and
// contacts.
typedef struct Flight {
    tpPose start;
    tpVec3 moved;    // displacement in the step until then, angular
    bool isTumbling; // its angular velocity changes by itself
    tpQuat rotation; // of free flight
    tpVec3 velocity; // angular: then, and how it changes per substep in free flight
    tpVec3 change;
    // how much it turns by a force at its end: arm over the middle moment of inertia, 1/(kg m)
    double ease;
} Flight;

typedef struct Articulation {
    tpMechanism solver;
    const int32_t* bodies; // of the nodes: of the system
    const int32_t* joints;
    const int32_t* blocks;
    int jointCount;
    const int32_t* couplings;
    int couplingCount;
    tpMechanismTerm* terms; // of the rows of couplings
    int termCount;
    tpNodeMass* masses;
    tpRows rows, ends; // parts of those of all joints
    LawRow* laws;
    double *errors, *lateErrors; // of the rows
    double* pushes;              // momentum that contacts gave in this substep, 6 numbers per node
    double* last;                // velocities after the last solve
    double* momenta;             // scratch
    double* shifts;              // scratch
    Flight* flights;             // of the nodes
    double work;                 // from outside, J
    double size;                 // of the smallest body, m
    double mass;                 // of all bodies, kg
    bool isFast;                 // rows are written anew in each substep of this step
    bool isAwake, isOpen;
    bool isDue;   // velocities have not been solved for since the substep began
    int finished; // substeps since rows were written
    int passed;   // since the step began
    int factorisations;
} Articulation;

struct tpStepJoints {
    int count;
    Articulation* list;  // by block
    int32_t* blockStart; // of each block: the first of its mechanisms, and the end
    tpPose* poses;       // of all bodies
};

// Gathering and spreading -------------------------------------------------------------------------

static void readVelocity(const tpVelocity* line, double* six) {
    six[0] = line->linear.x;
    six[1] = line->linear.y;
    six[2] = line->linear.z;
    six[3] = line->angular.x;
    six[4] = line->angular.y;
    six[5] = line->angular.z;
}

static void writeVelocity(const double* six, const tpNodeMass* mass, tpVelocity* line) {
    line->linear =
        tpMakeVec3(mass->free[0] * six[0], mass->free[1] * six[1], mass->free[2] * six[2]);
    line->angular =
        tpMakeVec3(mass->free[3] * six[3], mass->free[4] * six[4], mass->free[5] * six[5]);
}

// momentum += M v, in the free directions
static void addMomentum(const tpNodeMass* mass, const double* v, double* momentum) {
    for (int k = 0; k < 3; ++k) {
        const double* row = &mass->inertia[3 * k];
        momentum[k] += mass->free[k] * mass->mass[k] * v[k];
        momentum[3 + k] += mass->free[3 + k] * (row[0] * v[3] + row[1] * v[4] + row[2] * v[5]);
    }
}

static int numberOf(const tpSmallStep* step, const Articulation* articulation, int node) {
    return step->state->numbers.data[articulation->bodies[node]];
}

// Rows --------------------------------------------------------------------------------------------

static void setMass(const tpSystem* system, const tpPose* poses, int index, tpNodeMass* mass) {
    const tpBody* body = &system->bodies.data[index];
    memset(mass, 0, sizeof(*mass));
    tpInertia inertia = body->inertia;
    double largest = fmax(tpMaxPart(inertia.moments), body->mass * body->size * body->size);
    double none = noInertia * (largest > 0.0 ? largest : body->mass);
    inertia.moments.x = inertia.moments.x > 0.0 ? inertia.moments.x : none;
    inertia.moments.y = inertia.moments.y > 0.0 ? inertia.moments.y : none;
    inertia.moments.z = inertia.moments.z > 0.0 ? inertia.moments.z : none;
    tpMat33 world = tpInertia_World(&inertia, poses[index].rotation);
    const tpVec3 columns[3] = { world.cx, world.cy, world.cz };
    tpVec3 ones = tpMakeVec3(1.0, 1.0, 1.0);
    tpVec3 linear = tpLocks_Linear(body->locked, ones),
           angular = tpLocks_Angular(body->locked, ones);
    double isMoved = tpSystem_IsDynamic(system, index) ? 1.0 : 0.0;
    double inSpace = system->isPlanar ? 0.0 : isMoved;
    const double free[6] = { isMoved * linear.x,  isMoved * linear.y,  inSpace * linear.z,
                             inSpace * angular.x, inSpace * angular.y, isMoved * angular.z };
    memcpy(mass->free, free, sizeof(free));
    for (int k = 0; k < 3; ++k) {
        mass->mass[k] = free[k] > 0.0 ? body->mass : 1.0;
        const double column[3] = { columns[k].x, columns[k].y, columns[k].z };
        for (int j = 0; j < 3; ++j) {
            bool isFree = free[3 + k] > 0.0 && free[3 + j] > 0.0;
            mass->inertia[3 * k + j] = isFree ? column[j] : k == j ? 1.0 : 0.0;
        }
    }
}

static void readJacobian(const tpRows* rows, const double* jacobian, int row, double* six) {
    const double* from = jacobian + (size_t)row * (size_t)rows->componentCount;
    if (rows->componentCount == 6) {
        memcpy(six, from, 6 * sizeof(double));
    } else {
        const double planar[6] = { from[0], from[1], 0.0, 0.0, 0.0, from[2] };
        memcpy(six, planar, sizeof(planar));
    }
}

// Velocity under a unit impulse on a body that is free otherwise.
static double responseOf(const tpSweepBody* mass, const double* on) {
    const double* inverse = mass->inverseInertia;
    double x = inverse[0] * on[3] + inverse[3] * on[4] + inverse[4] * on[5];
    double y = inverse[3] * on[3] + inverse[1] * on[4] + inverse[5] * on[5];
    double z = inverse[4] * on[3] + inverse[5] * on[4] + inverse[2] * on[5];
    return mass->inverseMass * (on[0] * on[0] + on[1] * on[1] + on[2] * on[2]) + on[3] * x +
           on[4] * y + on[5] * z;
}

// One side of a row: a node, or what a body that moves as told adds to its velocity.
static int32_t placeSide(const tpSmallStep* step, const Articulation* articulation, int body,
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
    *response += responseOf(&step->masses[number], on);
    return node;
}

static double massOf(const tpSmallStep* step, int body) {
    return tpSystem_IsDynamic(step->system, body) ? step->system->bodies.data[body].mass : INFINITY;
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
static void placeTerms(const tpSmallStep* step, Articulation* articulation, int index,
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
static double errorOf(const tpSmallStep* step, tpRowRole role, double bias) {
    double error = bias * step->substepTime;
    return role == tp_heldRole ? error : role == tp_limitRole ? fmin(error, 0.0) : 0.0;
}

// Whether a row has the direction of the first one of its coordinate: limits, springs and drives of
// a coordinate do.
static double sharedSign(const Articulation* articulation, const tpMechanismRow* row) {
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

static void placeRow(const tpSmallStep* step, Articulation* articulation, int block, int k,
                     int joint) {
    const tpRows* rows = &articulation->rows;
    const tpBlockInfo* info = &rows->infos[block];
    bool isBounded = info->source == tp_boundedSource;
    int index = rows->firstRows[block] + k;
    tpMechanismRow* row = &articulation->solver.rows[articulation->solver.rowCount];
    LawRow* law = &articulation->laws[articulation->solver.rowCount++];
    memset(row, 0, sizeof(*row));
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
    double rigid = fmax(rigidPart, rigidWhole * articulation->mass / lightest);
    row->stiffness = law->isRigid ? (response > 0.0 ? rigid / response : 0.0) : 1.0 / compliance;
    row->state = response > 0.0 && isfinite(row->stiffness) ? tp_withinRow : tp_deadRow;
    row->least = info->role == tp_limitRole ? 0.0 : -INFINITY;
    row->most = INFINITY;
    if (isBounded) {
        int load = rows->firstRows[block];
        row->most = -rows->bias[load] / rows->compliance[load];
        row->least = -row->most;
    }
    law->startBias = info->role == tp_heldRole ? 0.0 : rows->bias[index];
    law->startError = errorOf(step, info->role, rows->bias[index]);
    double tau = step->substepTime;
    if (info->role == tp_limitRole) {
        law->wayFactor = 1.0 / tau;
        row->state =
            row->state == tp_withinRow && rows->bias[index] > 0.0 ? tp_atLeastRow : row->state;
    } else if (info->role == tp_springRole || info->role == tp_servoRole) {
        // r = -(a x + b u - c speed), b = a tau + c: the bias has a / b of the way.
        law->wayFactor = (row->stiffness - law->damping) / (tau * row->stiffness);
    }
}

static tpJointTreatment treatmentOf(const tpSmallStep* step) {
    return (tpJointTreatment){ step->substepTime, 1.0, NULL, step->substepTime, 1.0 };
}

static void writeRows(const tpSmallStep* step, Articulation* articulation, tpRows* rows) {
    tpJointTreatment treatment = treatmentOf(step);
    tpRows_Clear(rows);
    for (int k = 0; k < articulation->jointCount; ++k) {
        tpJoint_AddRows(rows, step->system, articulation->joints[k], step->joints->poses,
                        &treatment);
    }
    for (int k = 0; k < articulation->couplingCount; ++k) {
        tpCoupling_AddRows(rows, step->system, articulation->couplings[k], step->joints->poses,
                           &treatment, tp_wholeLaws);
    }
}

// How far the fastest body of a mechanism turns in a second.
static double turnOf(const tpSmallStep* step, const Articulation* articulation) {
    double turn = 0.0;
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        turn = fmax(turn, tpLength(step->velocities[numberOf(step, articulation, i)].angular));
    }
    return turn;
}

// Free flight from here on, over the time until rows are written again.
static void openFlights(const tpSmallStep* step, Articulation* articulation) {
    int substeps = articulation->isFast ? 1 : step->substeps;
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        int body = articulation->bodies[i], number = numberOf(step, articulation, i);
        Flight* flight = &articulation->flights[i];
        flight->start = step->joints->poses[body];
        flight->moved = articulation->isOpen ? step->moved[number].angular : tpZeroVec3();
        flight->velocity = step->velocities[number].angular;
        flight->change = tpZeroVec3();
        const tpBody* owner = &step->system->bodies.data[body];
        tpVec3 inverse = owner->inertia.inverseMoments;
        double most = tpMaxPart(inverse), least = fmin(inverse.x, fmin(inverse.y, inverse.z));
        flight->ease = owner->size * (inverse.x + inverse.y + inverse.z - most - least);
        // For a slow one the change is far below what contacts and rows do.
        flight->isTumbling = tpSystem_IsTumbling(step->system, body) &&
                             step->h * tpLength(flight->velocity) > noTurn;
        if (flight->isTumbling) {
            tpVec3 velocity = flight->velocity;
            flight->rotation = flight->start.rotation;
            tpSystem_Rotate(step->system, body, substeps * step->substepTime, &flight->rotation,
                            &velocity);
            flight->change = tpScale(1.0 / substeps, tpSub(velocity, flight->velocity));
        }
    }
}

// Rows and factors where the bodies are. Rows may have been written already.
static void open(const tpSmallStep* step, Articulation* articulation, bool hasRows) {
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        setMass(step->system, step->joints->poses, articulation->bodies[i],
                &articulation->masses[i]);
    }
    articulation->isFast = articulation->isFast || step->h * turnOf(step, articulation) > slowTurn;
    openFlights(step, articulation);
    articulation->isOpen = true;
    if (!hasRows) {
        writeRows(step, articulation, &articulation->rows);
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
    articulation->finished = 0;
    tpMechanism_Factorise(&articulation->solver);
}

// Solves ------------------------------------------------------------------------------------------

static void solve(const tpSmallStep* step, Articulation* articulation) {
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        double base[6], *momentum = &articulation->momenta[6 * i];
        readVelocity(&step->bases[numberOf(step, articulation, i)], base);
        memcpy(momentum, &articulation->pushes[6 * i], 6 * sizeof(double));
        addMomentum(&articulation->masses[i], base, momentum);
    }
    articulation->factorisations +=
        tpMechanism_SolveBounded(&articulation->solver, articulation->momenta, articulation->last);
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        tpVelocity* line = &step->velocities[numberOf(step, articulation, i)];
        writeVelocity(&articulation->last[6 * i], &articulation->masses[i], line);
        readVelocity(line, &articulation->last[6 * i]);
    }
}

// What contacts have changed since the last solve goes into their momenta. Whether there was
// anything.
static bool absorb(const tpSmallStep* step, Articulation* articulation) {
    bool isChanged = false;
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        double now[6];
        readVelocity(&step->velocities[numberOf(step, articulation, i)], now);
        if (memcmp(now, &articulation->last[6 * i], sizeof(now)) != 0) {
            for (int k = 0; k < 6; ++k) {
                now[k] -= articulation->last[6 * i + k];
            }
            addMomentum(&articulation->masses[i], now, &articulation->pushes[6 * i]);
            isChanged = true;
        }
    }
    return isChanged;
}

// Forces of free flight and the biases of rows.
static void beginSubstep(const tpSmallStep* step, Articulation* articulation) {
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        tpVec3* base = &step->bases[numberOf(step, articulation, i)].angular;
        *base = tpAdd(*base, articulation->flights[i].change);
    }
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        tpMechanismRow* row = &articulation->solver.rows[k];
        const LawRow* law = &articulation->laws[k];
        double bias = law->startBias + law->wayFactor * law->way;
        bias = law->role == tp_limitRole ? fmax(bias, 0.0) : bias;
        row->bias = bias + law->told;
    }
}

// Bodies are about to move.
static void followWay(const tpSmallStep* step, Articulation* articulation) {
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        double velocity = articulation->solver.rows[k].velocity + articulation->laws[k].told;
        articulation->laws[k].way += step->substepTime * velocity;
    }
}

// The substep is over: what its rows did.
static void endSubstep(Articulation* articulation) {
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        tpMechanismRow* row = &articulation->solver.rows[k];
        LawRow* law = &articulation->laws[k];
        double velocity = row->velocity + law->told;
        law->total += row->impulse;
        articulation->work -= row->impulse * law->told;
        switch (law->role) {
        case tp_servoRole:
        case tp_motorRole:
        case tp_frictionRole:
        case tp_damperRole:
            articulation->work += row->impulse * velocity;
            break;
        case tp_springRole:
            articulation->work -= law->damping * velocity * velocity;
            break;
        case tp_rotorRole:
        case tp_turnRotorRole:
            // The rotor goes on with the speed that the impulse has left it.
            law->startBias += row->impulse / row->stiffness;
            break;
        default:
            break;
        }
        row->offset = law->isRigid && row->state == tp_withinRow ? row->impulse : 0.0;
    }
    articulation->finished += 1;
    articulation->passed += 1;
}

// Back to the joints ------------------------------------------------------------------------------

// Poses at the end of the displacements since rows were written. A tumbling body turns as in free
// flight, and beyond that by what impulses have added; its angular momentum is that of free flight
// and what they have added (see bodies.c).
static void land(const tpSmallStep* step, const Articulation* articulation) {
    double count = articulation->finished, tau = step->substepTime;
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        int body = articulation->bodies[i], number = numberOf(step, articulation, i);
        const Flight* flight = &articulation->flights[i];
        tpPose* pose = &step->joints->poses[body];
        tpVec3 way = tpSub(step->moved[number].angular, flight->moved);
        pose->position = tpAdd(step->system->poses.data[body].position, step->moved[number].linear);
        if (!flight->isTumbling) {
            pose->rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(way), flight->start.rotation));
            continue;
        }
        const tpInertia* inertia = &step->system->bodies.data[body].inertia;
        tpVec3* velocity = &step->velocities[number].angular;
        tpVec3 free = tpMulAdd(flight->velocity, count, flight->change);
        tpVec3 drift = tpMulAdd(tpScale(count * tau, flight->velocity),
                                0.5 * count * (count + 1.0) * tau, flight->change);
        tpVec3 momentum =
            tpAdd(tpInertia_Momentum(inertia, flight->rotation, free),
                  tpInertia_Momentum(inertia, flight->start.rotation, tpSub(*velocity, free)));
        pose->rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(tpSub(way, drift)), flight->rotation));
        if (step->system->bodies.data[body].locked == 0) {
            *velocity = tpInertia_Velocity(inertia, pose->rotation, momentum);
        }
    }
}

// Displacements that are not small against the bodies come from rows that mean nothing any more:
// they are cut.
static void cutShifts(const Articulation* articulation) {
    double most = 0.0;
    for (int i = 0; i < 6 * articulation->solver.nodeCount; ++i) {
        most = fmax(most, fabs(articulation->shifts[i]) * (i % 6 < 3 ? 1.0 : articulation->size));
    }
    double limit = mostShift * articulation->size;
    for (int i = 0; most > limit && i < 6 * articulation->solver.nodeCount; ++i) {
        articulation->shifts[i] *= limit / most;
    }
}

// Adds displacements of the nodes; as velocities too, by `rate`.
static void shiftBodies(const tpSmallStep* step, const Articulation* articulation, double shift,
                        double rate) {
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        int number = numberOf(step, articulation, i);
        tpVelocity by;
        writeVelocity(&articulation->shifts[6 * i], &articulation->masses[i], &by);
        tpPose* pose = &step->joints->poses[articulation->bodies[i]];
        tpVelocity* v = &step->velocities[number];
        pose->position = tpMulAdd(pose->position, shift, by.linear);
        pose->rotation =
            tpNormalizeQuat(tpMulQQ(tpQuatExp(tpScale(shift, by.angular)), pose->rotation));
        v->linear = tpMulAdd(v->linear, rate, by.linear);
        v->angular = tpMulAdd(v->angular, rate, by.angular);
    }
}

// The displacements in the step that led to these poses.
static void measureMoves(const tpSmallStep* step, const Articulation* articulation) {
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        int body = articulation->bodies[i];
        const tpPose *from = &step->system->poses.data[body], *to = &step->joints->poses[body];
        tpVelocity* moved = &step->moved[numberOf(step, articulation, i)];
        moved->linear = tpSub(to->position, from->position);
        moved->angular = tpQuatLog(tpMulQQ(to->rotation, tpConjugate(from->rotation)));
    }
}

// The part of the way back that is a velocity too: all of it, unless a body under the tension of
// its joints swings too fast for the substep. The square of its frequency is force times arm over
// inertia; a light link in a chain with a heavy end has thousands of radians per second. The scheme
// is stable up to 2 radians per substep; well before that velocities lose what is across the
// joints, which damps.
static double feedOf(const tpSmallStep* step, const Articulation* articulation) {
    double swing = 0.0;
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        const tpMechanismRow* row = &articulation->solver.rows[k];
        if (articulation->laws[k].role == tp_heldRole) {
            double force = fabs(row->impulse) * step->substepTime;
            swing = fmax(swing,
                         force * (row->nodeA >= 0 ? articulation->flights[row->nodeA].ease : 0.0));
            swing = fmax(swing,
                         force * (row->nodeB >= 0 ? articulation->flights[row->nodeB].ease : 0.0));
        }
    }
    return fmin(1.0, fmax(0.0, 2.0 - swing));
}

// Errors of position where the bodies are now; returns the largest.
static double findErrors(const tpSmallStep* step, Articulation* articulation) {
    double largest = 0.0;
    writeRows(step, articulation, &articulation->ends);
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        const LawRow* law = &articulation->laws[k];
        // Bodies that move as told are still where the step began.
        double bias = articulation->ends.bias[law->row] + articulation->passed * law->told;
        articulation->errors[k] = errorOf(step, law->role, bias);
        largest = fmax(largest, fabs(articulation->errors[k]));
    }
    return largest;
}

// Takes back the errors of position. What was not there at the start came from turning directions,
// and is a velocity too.
static void correct(const tpSmallStep* step, Articulation* articulation) {
    double before = 0.0, time = articulation->finished * step->substepTime;
    double rate = feedOf(step, articulation) / time;
    bool isTurn = rate > 0.0 && time * turnOf(step, articulation) < fastTurn;
    land(step, articulation);
    double largest = findErrors(step, articulation);
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        before = fmax(before, fabs(articulation->laws[k].startError));
    }
    if (isTurn && largest > 0.0 && before >= 1e-3 * largest) {
        double* errors = articulation->lateErrors;
        for (int k = 0; k < articulation->solver.rowCount; ++k) {
            const LawRow* law = &articulation->laws[k];
            errors[k] = law->role == tp_heldRole ? articulation->errors[k] - law->startError : 0.0;
        }
        tpMechanism_Correct(&articulation->solver, errors, articulation->shifts);
        cutShifts(articulation);
        shiftBodies(step, articulation, 0.0, rate);
        isTurn = false;
    }
    for (int round = 0; round < mostCorrections && largest > 0.0; ++round) {
        tpMechanism_Correct(&articulation->solver, articulation->errors, articulation->shifts);
        cutShifts(articulation);
        shiftBodies(step, articulation, 1.0, isTurn ? rate : 0.0);
        // Small errors leave far smaller ones; with directions that have turned far the rounds may
        // not converge.
        double last = largest;
        if (last < smallError * articulation->size) {
            break;
        }
        largest = findErrors(step, articulation);
        if (!(largest < 0.5 * last)) {
            break;
        }
    }
}

// Impulses since rows were written go to the joints.
static void report(const tpSmallStep* step, Articulation* articulation) {
    for (int r = 0; r < articulation->rows.rowCount; ++r) {
        articulation->rows.impulse[r] = 0.0;
    }
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        articulation->rows.impulse[articulation->laws[k].row] = articulation->laws[k].total;
    }
    tpJoints_AddReactions(step->system, &articulation->rows, step->h);
}

// Rows written anew in the middle of a step; armatures go on at their speed.
static void reopen(const tpSmallStep* step, Articulation* articulation) {
    report(step, articulation);
    correct(step, articulation);
    measureMoves(step, articulation);
    // The rows of the last look at the errors serve: bodies have hardly moved since.
    tpRows rows = articulation->rows;
    articulation->rows = articulation->ends;
    articulation->ends = rows;
    open(step, articulation, true);
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        LawRow* law = &articulation->laws[k];
        law->startError = 0.0;
        law->way = articulation->passed * step->substepTime * law->told;
        if (law->role == tp_rotorRole || law->role == tp_turnRotorRole) {
            // The row's bias counts the way since the start of the step; that is no error here.
            law->startBias = -articulation->rows.rotor[law->row];
        }
    }
}

// Visits of blocks --------------------------------------------------------------------------------

typedef struct Span {
    Articulation *begin, *end;
} Span;

static Span partsOf(const tpSmallStep* step, int block) {
    const tpStepJoints* joints = step->joints;
    return (Span){ joints->list + joints->blockStart[block],
                   joints->list + joints->blockStart[block + 1] };
}

void tpSmallStep_OpenJoints(tpSmallStep* step, int block) {
    Span span = partsOf(step, block);
    for (Articulation* articulation = span.begin; articulation < span.end; ++articulation) {
        if (articulation->isAwake) {
            open(step, articulation, false);
        }
    }
}

void tpSmallStep_BeginJoints(tpSmallStep* step, int block, bool isFirst) {
    Span span = partsOf(step, block);
    for (Articulation* articulation = span.begin; articulation < span.end; ++articulation) {
        if (!articulation->isAwake) {
            continue;
        }
        for (int i = 0; isFirst && i < articulation->solver.nodeCount; ++i) {
            // The impulses that contacts start with.
            int number = numberOf(step, articulation, i);
            double given[6], base[6];
            readVelocity(&step->velocities[number], given);
            readVelocity(&step->bases[number], base);
            for (int k = 0; k < 6; ++k) {
                given[k] -= base[k];
            }
            addMomentum(&articulation->masses[i], given, &articulation->pushes[6 * i]);
        }
        beginSubstep(step, articulation);
        if (isFirst) {
            solve(step, articulation);
        }
        // Later substeps begin with what rows and contacts gave in the one before: a good start for
        // the sweep.
        for (int i = 0; !isFirst && i < articulation->solver.nodeCount; ++i) {
            readVelocity(&step->velocities[numberOf(step, articulation, i)],
                         &articulation->last[6 * i]);
        }
        articulation->isDue = !isFirst;
    }
}

void tpSmallStep_MoveJoints(tpSmallStep* step, int block) {
    Span span = partsOf(step, block);
    for (Articulation* articulation = span.begin; articulation < span.end; ++articulation) {
        if (articulation->isAwake) {
            if (absorb(step, articulation) || articulation->isDue) {
                solve(step, articulation);
            }
            articulation->isDue = false;
            followWay(step, articulation);
        }
    }
}

void tpSmallStep_SettleJoints(tpSmallStep* step, int block) {
    Span span = partsOf(step, block);
    for (Articulation* articulation = span.begin; articulation < span.end; ++articulation) {
        if (articulation->isAwake && absorb(step, articulation)) {
            solve(step, articulation);
        }
    }
}

void tpSmallStep_EndJoints(tpSmallStep* step, int block, bool isLast) {
    Span span = partsOf(step, block);
    for (Articulation* articulation = span.begin; articulation < span.end; ++articulation) {
        if (!articulation->isAwake) {
            continue;
        }
        endSubstep(articulation);
        if (isLast) {
            report(step, articulation);
            correct(step, articulation);
            measureMoves(step, articulation);
        } else if (articulation->isFast) {
            reopen(step, articulation);
        }
    }
}

// Before and after the substeps -------------------------------------------------------------------

// The part of a list of rows from a block and a row on.
static tpRows partOfRows(const tpRows* all, int block, int row, int term, int blocks, int rows,
                         int terms) {
    tpRows slice = *all;
    size_t wide = (size_t)row * (size_t)all->componentCount;
    slice.blockCapacity = blocks;
    slice.rowCapacity = rows;
    slice.infos += block;
    slice.firstRows += block;
    slice.dimensions += block;
    slice.kinds += block;
    slice.mu += block;
    slice.bodyA += block;
    slice.bodyB += block;
    slice.givenA += block;
    slice.givenB += block;
    slice.scale += row;
    slice.compliance += row;
    slice.damping += row;
    slice.rotor += row;
    slice.bias += row;
    slice.q += row;
    slice.impulse += row;
    slice.velocity += row;
    slice.firstTerms += row;
    slice.termCounts += row;
    slice.terms += term;
    slice.termCapacity = terms;
    slice.jacobianA += wide;
    slice.jacobianB += wide;
    return slice;
}

// Memory of all mechanisms, one array of each kind.
typedef struct Room {
    tpRows rows, ends;
    tpMechanismTerm* terms;
    tpMechanismRow* solverRows;
    LawRow* laws;
    double *errors, *lateErrors;
    tpNodeMass* masses;
    double *pushes, *last, *momenta, *shifts;
    Flight* flights;
    double (*diagonal)[36];
    double (*blocks)[36];
} Room;

static bool takeRoom(tpSmallStep* step, Room* room) {
    const tpSystem* system = step->system;
    const tpMechanismMap* map = &step->state->map;
    tpArena* arena = &step->system->arena;
    int blocks = 0, rows = 0, componentCount = system->isPlanar ? 3 : 6;
    for (int k = 0; k < map->joints.count; ++k) {
        tpJoint_CountRows(&system->joints.data[map->joints.data[k]], &blocks, &rows);
    }
    int terms = tpCouplings_TermCapacity(system);
    tpCouplings_Count(system, &blocks, &rows);
    if (!tpRows_Reserve(&room->rows, arena, componentCount, blocks, rows) ||
        !tpRows_Reserve(&room->ends, arena, componentCount, blocks, rows)) {
        return false;
    }
    room->rows.terms = TP_SCRATCH(arena, tpRowTerm, terms);
    room->ends.terms = TP_SCRATCH(arena, tpRowTerm, terms);
    room->terms = TP_SCRATCH(arena, tpMechanismTerm, terms);
    size_t nodes = (size_t)map->bodies.count;
    room->solverRows = TP_SCRATCH(arena, tpMechanismRow, rows);
    room->laws = TP_SCRATCH(arena, LawRow, rows);
    room->errors = TP_SCRATCH(arena, double, rows);
    room->lateErrors = TP_SCRATCH(arena, double, rows);
    room->masses = TP_SCRATCH(arena, tpNodeMass, nodes);
    room->pushes = TP_SCRATCH_ZEROED(arena, double, 6 * nodes);
    room->last = TP_SCRATCH(arena, double, 6 * nodes);
    room->momenta = TP_SCRATCH(arena, double, 6 * nodes);
    room->shifts = TP_SCRATCH(arena, double, 6 * nodes);
    room->flights = TP_SCRATCH(arena, Flight, nodes);
    room->diagonal = tpArena_Get(arena, sizeof(*room->diagonal) * nodes);
    room->blocks = tpArena_Get(arena, sizeof(*room->blocks) * (size_t)map->below.count);
    return !arena->failed;
}

// Numbers of blocks, rows and terms.
typedef struct Extent {
    int blocks, rows, terms;
} Extent;

static int blockOfMechanism(const tpSmallStep* step, int m) {
    const tpSmallSteps* state = step->state;
    int body = state->map.bodies.data[state->map.places.data[m].node];
    return state->store.blocks.data[state->numbers.data[body]];
}

static void placeArticulation(const tpSmallStep* step, int m, const Room* room, const Extent* first,
                              const Extent* size, Articulation* articulation) {
    int firstRow = first->rows;
    const tpMechanismMap* map = &step->state->map;
    const tpMechanismPlace *at = &map->places.data[m], *end = at + 1;
    memset(articulation, 0, sizeof(*articulation));
    size_t node = (size_t)at->node;
    articulation->bodies = TP_PLACE(map->bodies, at->node);
    articulation->joints = TP_PLACE(map->joints, at->joint);
    articulation->blocks = TP_PLACE(map->blocks, at->joint);
    articulation->jointCount = end->joint - at->joint;
    articulation->couplings = TP_PLACE(map->couplings, at->coupling);
    articulation->couplingCount = end->coupling - at->coupling;
    articulation->terms = room->terms + first->terms;
    articulation->rows = partOfRows(&room->rows, first->blocks, firstRow, first->terms,
                                    size->blocks, size->rows, size->terms);
    articulation->ends = partOfRows(&room->ends, first->blocks, firstRow, first->terms,
                                    size->blocks, size->rows, size->terms);
    articulation->masses = room->masses + node;
    articulation->laws = room->laws + firstRow;
    articulation->errors = room->errors + firstRow;
    articulation->lateErrors = room->lateErrors + firstRow;
    articulation->pushes = room->pushes + 6 * node;
    articulation->last = room->last + 6 * node;
    articulation->momenta = room->momenta + 6 * node;
    articulation->shifts = room->shifts + 6 * node;
    articulation->flights = room->flights + node;
    articulation->solver = (tpMechanism){ .nodeCount = end->node - at->node,
                                          .starts = TP_PLACE(map->starts, at->start),
                                          .below = TP_PLACE(map->below, at->below),
                                          .masses = articulation->masses,
                                          .rows = room->solverRows + firstRow,
                                          .diagonal = room->diagonal + node,
                                          .blocks = room->blocks + at->below };
    articulation->size = INFINITY;
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        articulation->isAwake =
            articulation->isAwake || tpSystem_IsDynamic(step->system, articulation->bodies[i]);
        articulation->mass += step->system->bodies.data[articulation->bodies[i]].mass;
        articulation->size =
            fmin(articulation->size, step->system->bodies.data[articulation->bodies[i]].size);
    }
}

bool tpSmallStep_PlaceJoints(tpSmallStep* step) {
    tpSystem* system = step->system;
    const tpMechanismMap* map = &step->state->map;
    step->joints = NULL;
    tpJoints_ClearReactions(system);
    if (map->count == 0) {
        return true;
    }
    tpArena* arena = &system->arena;
    int blockCount = step->state->store.blockCount;
    tpStepJoints* joints = TP_SCRATCH_ZEROED(arena, tpStepJoints, 1);
    Room room;
    if (joints == NULL || !takeRoom(step, &room)) {
        return false;
    }
    joints->list = TP_SCRATCH(arena, Articulation, map->count);
    joints->blockStart = TP_SCRATCH_ZEROED(arena, int32_t, (size_t)blockCount + 2);
    joints->poses = TP_SCRATCH(arena, tpPose, system->bodyCount);
    if (arena->failed) {
        return false;
    }
    joints->count = map->count;
    memcpy(joints->poses, system->poses.data, sizeof(tpPose) * (size_t)system->bodyCount);
    // Counted two places ahead: filling makes the starts what they are to be.
    for (int m = 0; m < map->count; ++m) {
        joints->blockStart[blockOfMechanism(step, m) + 2] += 1;
    }
    for (int b = 0; b < blockCount; ++b) {
        joints->blockStart[b + 2] += joints->blockStart[b + 1];
    }
    Extent first = { 0, 0, 0 };
    for (int m = 0; m < map->count; ++m) {
        Extent slice = { 0, 0, 0 };
        for (int k = map->places.data[m].joint; k < map->places.data[m + 1].joint; ++k) {
            tpJoint_CountRows(&system->joints.data[map->joints.data[k]], &slice.blocks,
                              &slice.rows);
        }
        for (int k = map->places.data[m].coupling; k < map->places.data[m + 1].coupling; ++k) {
            tpCoupling_Count(&system->couplings.data[map->couplings.data[k]], &slice.blocks,
                             &slice.rows, &slice.terms);
        }
        int place = joints->blockStart[blockOfMechanism(step, m) + 1]++;
        placeArticulation(step, m, &room, &first, &slice, &joints->list[place]);
        first.blocks += slice.blocks;
        first.rows += slice.rows;
        first.terms += slice.terms;
    }
    step->joints = joints;
    return true;
}

void tpSmallStep_WeighJoints(const tpSmallStep* step, tpSchedule* schedule) {
    enum { packsPerJoint = 4 };
    for (int b = 0; step->joints != NULL && b < step->state->store.blockCount; ++b) {
        Span span = partsOf(step, b);
        for (const Articulation* articulation = span.begin; articulation < span.end;
             ++articulation) {
            schedule->weights[b] += packsPerJoint * articulation->jointCount;
            schedule->totalWeight += packsPerJoint * articulation->jointCount;
        }
    }
}

tpPose tpSmallStep_JointedPose(const tpSmallStep* step, int body) {
    return step->joints->poses[body];
}

void tpSmallStep_FinishJoints(tpSmallStep* step) {
    tpSystem* system = step->system;
    tpStepReport* report = step->report;
    for (int m = 0; step->joints != NULL && m < step->joints->count; ++m) {
        report->externalWork += step->joints->list[m].work;
    }
    if (system->joints.count > 0) {
        tpJoints_FollowAngles(system);
        report->jointDrift =
            fmax(report->jointDrift, tpJoints_PositionError(system, system->poses.data));
    }
}
