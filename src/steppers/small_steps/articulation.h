// A mechanism in a step: what joints.c and the files of articulations hand each other.

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_ARTICULATION_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_ARTICULATION_H

#include "dynamics/joint_chain.h"
#include "dynamics/joints.h"
#include "steppers/small_steps/step.h"
#include "sweeps/joint_tree.h"
#include "sweeps/mechanism.h"

// What a row's law needs beside the row.
typedef struct tpArticulatedRow {
    tpRowRole role;
    int32_t row;       // of the tpRows; in a tree the joint
    int8_t coordinate; // in a tree: of the joint
    int8_t part;       // in a tree: which limit, which axis of a ball joint
    bool isRigid;      // it has no compliance of its own
    bool isSpan;       // of springs: between two points
    double startBias;  // at the start
    double wayFactor;  // of the bias, per m or rad that the coordinate has gone
    double way;        // that it has gone
    double total;      // impulse of the finished substeps
    double fed;        // impulse of the corrections after them
    double told;       // velocity of the row by kinematic bodies
    double damping;    // of springs: the damper's part of the impulse, by the velocity
    double value;      // in a tree: that a limit allows; of springs and servos where rows were
                       // written
    double startError; // of position, m or rad
    double ending;     // of springs: see tpArticulation_SpringEnding
} tpArticulatedRow;

// A body since rows were written: where it was, and how it would have turned without rows and
// contacts.
typedef struct tpNodeFlight {
    // A row of numbers (flight_lanes.h).
    tpPose start;
    tpVec3 moved;    // displacement in the step until then, angular
    tpVec3 velocity; // angular: then, and how it changes per substep in free flight
    tpVec3 change;
    tpQuat rotation; // of free flight, if that is long
    bool isTumbling; // its angular velocity changes by itself
    bool isShort;    // it turns so little that the beginning of its flight tells all of it
    // how much it turns by a force at its end: arm over the middle moment of inertia, 1/(kg m)
    double ease;
} tpNodeFlight;

// A link of a tree where its joint was last looked at: the body and its joint to the parent.
typedef struct tpNodePlace {
    tpVec3 arm;     // from the parent's centre to its own
    tpVec3 own;     // from its own centre to the joint's anchor on it
    double jump[6]; // the displacement against the parent that takes back what is off
    double error;   // what is off, m or rad
    bool isB;       // its body is the joint's B; of links
} tpNodePlace;

// An axis of a joint there.
typedef struct tpAxisPlace {
    double motion[6];  // of the link's body, at its centre
    double reading[6]; // the rate of the axis is this times the body's velocity against the parent
    double value;      // of the coordinate, if there are laws that ask for it
    double pull;       // of a ball joint's angle: what leads it back, lately, N m
    // Of a hinge: a value that was found by its arc, in this step; (0, 0): none.
    tpHalfTurn knownHalf;
    double known;
    double given; // where the step begins, if the last one has left it; NAN: not known
    double rigid; // stiffness of its rows without compliance in this step; 0: not known yet
} tpAxisPlace;

typedef struct tpArticulation {
    tpMechanism solver;
    // If it is a tree, its joints are solved for there, and the rows of `solver` are those of the
    // laws of its axes alone.
    bool isTree;
    bool areAllB; // the bodies of all its nodes but a free root are the joints' B
    tpJointTree tree;
    const int32_t* links;             // of the nodes: the joint to the parent; -1: the root has
                                      // none
    int32_t* traceLengths;            // of the nodes (tpJointTree_TraceLength)
    struct tpFlightPack* flightPacks; // nodes (flights.h)
    struct tpHingePack* hinges;       // links in packs (hinges.h)
    int hingePackCount, hingeCount;
    struct tpTreePackAxis* packAxes; // room for those of the tree's packs
    int32_t* nearRows;               // room for the tree's list of them
    tpNodePlace* nodePlaces;         // by the last look
    tpAxisPlace* axisPlaces;
    double* axisPushes;    // scratch, one number per axis
    double* startJumps;    // of the nodes, when rows were written
    tpVec3* startArms;     // of hinges, when the step began: from the centre of B to its anchor
    double* jumps;         // scratch; what the velocities of a substep take back, if isLed
    double* reactions;     // impulses on the joints' bodies B in the step
    double swing;          // of the last substep, see articulation_moves.c
    const int32_t* bodies; // of the nodes: of the system
    int32_t* numbers;      // of the nodes: of the step
    int32_t* touching;     // nodes that have manifolds
    int touchingCount;
    const int32_t* joints;
    const int32_t* blocks;
    int jointCount;
    const int32_t* couplings;
    int couplingCount;
    tpMechanismTerm* terms; // of the rows of couplings
    int termCount;
    tpNodeMass* masses;
    tpSweepBody* own;       // inverse masses of the bodies alone
    tpNodeMass* felt;       // the masses that contacts feel
    double (*inverses)[36]; // blocks of the inverse matrix
    double (*between)[36];
    tpSpatialInertia* responses; // the same of a tree
    tpRows rows, ends;           // parts of those of all joints
    tpArticulatedRow* laws;
    struct tpPlainLaws* plain;   // of a tree: room for those that have no bounds
    double *errors, *lateErrors; // of the rows
    bool* isLoose;               // rows whose state is another for a while
    double* pushes;              // momentum that contacts gave in this substep, 6 numbers per node
    double* changes;             // of it since the last solve; 0 for nodes that touch nothing
    double* given;               // the same of the substeps since rows were written
    double* begun;               // velocities when they were written in the middle of a step
    double* last;                // velocities after the last solve
    // Of a mechanism that keeps its velocities to itself (isInside): those without the impulses of
    // the substep, and displacements in the step.
    double *bases, *moved;
    double* momenta;       // of the last solve; scratch between substeps
    double* shifts;        // scratch
    tpNodeFlight* flights; // of the nodes
    double work;           // from outside, J
    double drift;          // of its joints that are done, m or rad
    double deepest;        // error of a limit at the last look, m, by its weight: 0 or less
    double size;           // of the smallest body, m
    double mass;           // of all bodies, kg
    int span;              // substeps until rows are written anew
    bool isFast;           // it turns so far that these are fewer, or that its turn is evened
    bool isSlow;           // what turns its velocities is left to the next step
    bool isMidway;         // rows have the directions of the middle of these
    bool isLed;            // velocities of the substep take back what was off when it began
    bool isTumbling;       // one of its bodies is
    bool isAnchored;       // joints or locks hold it from outside
    bool hasSlides;        // it has joints that do more than turn
    bool isFed;            // rows gave something that joints have not been told
    bool hasCones;         // ball joints with laws on their angles
    bool isPlain;          // all its rows are in `plain`, which substeps go by
    bool isAwake, isOpen;
    bool isEndPlaced;    // they have been where the step ends
    bool isPlaced;       // joints of a tree have been looked at in this step
    bool wasPlaced;      // its hinges are where the last look of the last step has found them
    bool hasFewContacts; // which are solved exactly (few_contacts.h)
    bool isDue;          // velocities have not been solved for since the substep began
    // A tree that no sweep touches: between the ends of what its rows are written for, its bodies
    // have no lines but `last`, `bases` and `moved`, which stand side by side (joints.c).
    bool isInside;
    bool isOut;   // at the end of the step its bodies have lines again
    int finished; // substeps since rows were written
    int passed;   // since the step began
    int factorisations;
} tpArticulation;

// few_contacts.h
typedef struct tpFewContactsList {
    int count;
    struct tpFewContacts* list; // by block
    int32_t* blockStart;        // of each block: the first of its own, and the end
    tpArena* arenas;            // of each block: scratch of one solve
} tpFewContactsList;

struct tpStepJoints {
    int count;
    tpArticulation* list; // by block
    int32_t* listPlaces;  // of each mechanism of the map: its place there
    tpFewContactsList few;
    const struct tpHingeKernels* hinges;
    const struct tpFlightKernels* flights;
    int32_t* blockStart; // of each block: the first of its mechanisms, and the end
    tpPose* poses;       // of all bodies
    bool* touches;       // of each number: it has manifolds
    bool* isDone;        // of each joint of the system: its step has been ended

    // They stay from step to step as long as mechanisms have the same bodies, masses, rows and
    // blocks (articulation_room.c).
    uint64_t structure, anchors; // of the system
    int blockCount, numberCount, width;
    int32_t* blockOf;                      // of each mechanism of the map
    const struct tpMechanismExtent* sizes; // the same
    tpArticulation* placed;                // `list` as each step begins
    bool areEnded;                         // the last step has come to its end
};

// Mechanisms in their room as they are when a step begins (articulation_begin.c).
void tpStepJoints_Begin(const tpSmallStep* step, tpStepJoints* joints);

// Says which trees have their contacts, if there are any, solved exactly: no sweep asks for their
// velocities. False if memory ran out.
bool tpStepJoints_MarkInside(tpSmallStep* step);

typedef struct tpArticulationSpan {
    tpArticulation *begin, *end;
} tpArticulationSpan;

static inline tpArticulationSpan tpArticulationsOf(const tpSmallStep* step, int block) {
    const tpStepJoints* joints = step->joints;
    return (tpArticulationSpan){ joints->list + joints->blockStart[block],
                                 joints->list + joints->blockStart[block + 1] };
}

// A rotation turned on by a vector: by series if that is short, as it is in a substep.
static inline tpQuat tpTurnOn(tpVec3 by, tpQuat rotation) {
    double x = 0.25 * tpLengthSquared(by);
    tpQuat turn;
    if (x < 0.01) {
        double s = 0.5 - x * (1.0 / 12.0 - x * (1.0 / 240.0 - x * (1.0 / 10080.0 - x / 725760.0)));
        double c = 1.0 - x * (0.5 - x * (1.0 / 24.0 - x * (1.0 / 720.0 - x / 40320.0)));
        turn = tpMakeQuat(c, s * by.x, s * by.y, s * by.z);
    } else {
        turn = tpQuatExp(by);
    }
    return tpNormalizeQuat(tpMulQQ(turn, rotation));
}

// The vector of the turn from one rotation to another: by series if that is short.
static inline tpVec3 tpTurnBetween(tpQuat from, tpQuat to) {
    tpQuat q = tpMulQQ(to, tpConjugate(from));
    tpVec3 u = tpMakeVec3(q.x, q.y, q.z);
    double y = tpLengthSquared(u);
    if (!(y < 0.0025 && q.w > 0.0)) {
        return tpQuatLog(q);
    }
    // 2 asin(s) / s, to 1e-17.
    double series =
        1.0 + y * (1.0 / 6.0 + y * (3.0 / 40.0 +
                                    y * (5.0 / 112.0 + y * (35.0 / 1152.0 + y * (63.0 / 2816.0)))));
    return tpScale(2.0 * series, u);
}

static inline void readVelocity(const tpVelocity* line, double* six) {
    six[0] = line->linear.x;
    six[1] = line->linear.y;
    six[2] = line->linear.z;
    six[3] = line->angular.x;
    six[4] = line->angular.y;
    six[5] = line->angular.z;
}

static inline void writeVelocity(const double* six, const tpNodeMass* mass, tpVelocity* line) {
    line->linear =
        tpMakeVec3(mass->free[0] * six[0], mass->free[1] * six[1], mass->free[2] * six[2]);
    line->angular =
        tpMakeVec3(mass->free[3] * six[3], mass->free[4] * six[4], mass->free[5] * six[5]);
}

// momentum += M v, in the free directions
static inline void addMomentum(const tpNodeMass* mass, const double* v, double* momentum) {
    for (int k = 0; k < 3; ++k) {
        const double* row = &mass->inertia[3 * k];
        momentum[k] += mass->free[k] * mass->mass[k] * v[k];
        momentum[3 + k] += mass->free[3 + k] * (row[0] * v[3] + row[1] * v[4] + row[2] * v[5]);
    }
}

// The momentum of a body of a tree, which is free, and what it has been given.
static inline void tpJointNode_Momentum(const tpJointNode* node, tpVec3 v, tpVec3 w,
                                        const double* given, double* momentum) {
    const double* I = node->inertia;
    momentum[0] = given[0] + node->mass * v.x;
    momentum[1] = given[1] + node->mass * v.y;
    momentum[2] = given[2] + node->mass * v.z;
    momentum[3] = given[3] + (I[0] * w.x + I[3] * w.y + I[4] * w.z);
    momentum[4] = given[4] + (I[3] * w.x + I[1] * w.y + I[5] * w.z);
    momentum[5] = given[5] + (I[4] * w.x + I[5] * w.y + I[2] * w.z);
}

// Velocity along a row under a unit impulse in it on a body that is free otherwise.
static inline double tpSweepBody_Response(const tpSweepBody* mass, const double* on) {
    const double* inverse = mass->inverseInertia;
    double x = inverse[0] * on[3] + inverse[3] * on[4] + inverse[4] * on[5];
    double y = inverse[3] * on[3] + inverse[1] * on[4] + inverse[5] * on[5];
    double z = inverse[4] * on[3] + inverse[5] * on[4] + inverse[2] * on[5];
    return mass->inverseMass * (on[0] * on[0] + on[1] * on[1] + on[2] * on[2]) + on[3] * x +
           on[4] * y + on[5] * z;
}

static inline tpVec3 tpNodeMass_Spin(const tpNodeMass* mass, tpVec3 w) {
    const double* I = mass->inertia;
    return tpMakeVec3(I[0] * w.x + I[1] * w.y + I[2] * w.z, I[3] * w.x + I[4] * w.y + I[5] * w.z,
                      I[6] * w.x + I[7] * w.y + I[8] * w.z);
}

// Rows that may give something: the n-th of so many. Of a mechanism that is no tree all do.
static inline int tpArticulation_NearCount(const tpArticulation* articulation) {
    return articulation->isTree ? tpJointTree_NearCount(&articulation->tree)
                                : articulation->solver.rowCount;
}

static inline int tpArticulation_NearRow(const tpArticulation* articulation, int n) {
    return articulation->isTree ? tpJointTree_NearRow(&articulation->tree, n) : n;
}

// Whether the substep that is over is the last one of what rows have been written for.
static inline bool tpArticulation_Closes(const tpArticulation* articulation, bool isLast) {
    return isLast || articulation->finished == articulation->span;
}

// How much a link of a tree, or the body that it hangs on, turns by a force at its end.
static inline double tpArticulation_EaseOf(const tpArticulation* articulation, int node) {
    int parent = articulation->tree.nodes[node].parent;
    double ease = articulation->flights[node].ease;
    double other = parent >= 0 ? articulation->flights[parent].ease : 0.0;
    return other > ease ? other : ease;
}

static inline int numberOf(const tpArticulation* articulation, int node) {
    return articulation->numbers[node];
}

// Rows and factors (articulation_rows.c) ----------------------------------------------------------

// Rows where the bodies are, without factors. Rows may have been written already.
void tpArticulation_Open(const tpSmallStep* step, tpArticulation* articulation, bool hasRows);

// Factors of the matrix for the states that rows have.
void tpArticulation_Factorise(tpArticulation* articulation);

// How much stiffer than its bodies a rigid row is, by the lighter of their masses.
double tpArticulation_RigidPart(const tpArticulation* articulation, double lightest);

void tpArticulation_WriteRows(const tpSmallStep* step, tpArticulation* articulation, tpRows* rows);

// The error of position of a row: of what is held, and of limits that are passed.
double tpArticulation_ErrorOf(const tpSmallStep* step, tpRowRole role, double bias);

// What the error of row k counts for beside others, m: turns count with the unit of length.
double tpArticulation_Weight(const tpSmallStep* step, const tpArticulation* articulation, int k);

// Masses and flights of bodies from here on (articulation_flights.c); poses at the end of the
// displacements since then; displacements `shifts` of the poses; and velocities more by `rate`
// times these.
void tpArticulation_OpenNodes(const tpSmallStep* step, tpArticulation* articulation);
void tpArticulation_Land(const tpSmallStep* step, const tpArticulation* articulation);
void tpArticulation_Shift(const tpSmallStep* step, const tpArticulation* articulation);
void tpArticulation_SpeedUp(const tpSmallStep* step, const tpArticulation* articulation,
                            double rate);

// How far the fastest body of a mechanism, or the fastest direction of its rows, turns in a second.
double tpArticulation_TurnOf(const tpSmallStep* step, const tpArticulation* articulation);

// Makes the factors of a step's first rows, notes which bodies touch something, and gives them the
// masses that contacts feel (articulation_weights.c).
void tpArticulation_Weigh(const tpSmallStep* step, tpArticulation* articulation);

// Solves (joints.c) -------------------------------------------------------------------------------

// Velocities after `changes` of momenta by contacts alone; the bodies get them.
void tpArticulation_SolveAgain(const tpSmallStep* step, tpArticulation* articulation);

// Velocities of the last solve go to the bodies.
void tpArticulation_HandOut(const tpSmallStep* step, const tpArticulation* articulation);

// Falls (articulation_falls.c) --------------------------------------------------------------------

// Whether something but contacts holds it from outside.
bool tpArticulation_IsAnchored(const tpSmallStep* step, const tpArticulation* articulation);

// Takes back what substeps have moved the centre of mass of a mechanism in flight too far.
void tpArticulation_Fall(const tpSmallStep* step, const tpArticulation* articulation);

// Springs (articulation_springs.c, README.md, "Springs") ------------------------------------------

// Which part of a substep later a spring pulls by its length, by the square of the angle that it
// swings by in a substep, or of a larger one: 0 keeps the energy of a swing, 1 damps it.
double tpArticulation_SpringLag(double square);

// The part of a substep's impulse that comes by the length at the end of the step instead of the
// one at the start.
double tpArticulation_SpringEnding(double lag);

// That impulse.
void tpArticulation_EndSprings(const tpSmallStep* step, tpArticulation* articulation);

// Whether springs have one: contacts would have to be solved again after it.
static inline bool tpArticulation_EndsSprings(const tpArticulation* articulation) {
    return articulation->touchingCount == 0;
}

// The lines of bodies of a mechanism that is inside get what it has found; and the other way.
void tpArticulation_ComeOut(const tpSmallStep* step, const tpArticulation* articulation);
void tpArticulation_GoInside(const tpSmallStep* step, const tpArticulation* articulation);

// Back to the joints (articulation_moves.c) -------------------------------------------------------

// Velocities change by `rate` times the displacements `shifts` that take back these errors of rows;
// a part of the errors is left if the displacements were cut. The impulses of rows that it takes
// are `fed`.
void tpArticulation_Feed(const tpSmallStep* step, tpArticulation* articulation,
                         const double* errors, double part, double rate);

// The work from outside that an impulse of row k does at the velocity of the last solve.
static inline void tpArticulation_BookWork(tpArticulation* articulation, int k, double impulse) {
    const tpArticulatedRow* law = &articulation->laws[k];
    articulation->work -= impulse * law->told;
    switch (law->role) {
    case tp_servoRole:
    case tp_motorRole:
    case tp_frictionRole:
    case tp_damperRole:
        articulation->work += impulse * (articulation->solver.answers[k].velocity + law->told);
        break;
    default:
        break;
    }
}

// The end of what rows were written for: errors of position are taken back (what was not there at
// the start came from turning directions, and is a velocity too), and joints are told what they
// gave.
void tpArticulation_Close(const tpSmallStep* step, tpArticulation* articulation, bool isLast);

// Rows written anew in the middle of a step; armatures go on at their speed.
void tpArticulation_Reopen(const tpSmallStep* step, tpArticulation* articulation);

#endif
