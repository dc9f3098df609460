// A mechanism in a step: what joints.c and the files of articulations hand each other.

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_ARTICULATION_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_ARTICULATION_H

#include "dynamics/joints.h"
#include "steppers/small_steps/step.h"
#include "sweeps/mechanism.h"

// What a row's law needs beside the row.
typedef struct tpArticulatedRow {
    tpRowRole role;
    int32_t row;       // of the tpRows
    bool isRigid;      // it has no compliance of its own
    double startBias;  // at the start
    double wayFactor;  // of the bias, per m or rad that the coordinate has gone
    double way;        // that it has gone
    double total;      // impulse of the finished substeps
    double told;       // velocity of the row by kinematic bodies
    double damping;    // of springs: the damper's part of the impulse, by the velocity
    double startError; // of position, m or rad
} tpArticulatedRow;

// A body since rows were written: where it was, and how it would have turned without rows and
// contacts.
typedef struct tpNodeFlight {
    tpPose start;
    tpVec3 moved;    // displacement in the step until then, angular
    bool isTumbling; // its angular velocity changes by itself
    tpQuat rotation; // of free flight
    tpVec3 velocity; // angular: then, and how it changes per substep in free flight
    tpVec3 change;
    // how much it turns by a force at its end: arm over the middle moment of inertia, 1/(kg m)
    double ease;
} tpNodeFlight;

typedef struct tpArticulation {
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
    tpSweepBody* own;       // inverse masses of the bodies alone
    tpNodeMass* felt;       // the masses that contacts feel
    double (*inverses)[36]; // blocks of the inverse matrix
    double (*between)[36];
    tpRows rows, ends; // parts of those of all joints
    tpArticulatedRow* laws;
    double *errors, *lateErrors; // of the rows
    bool* isLoose;               // rows whose state is another for a while
    double* pushes;              // momentum that contacts gave in this substep, 6 numbers per node
    double* last;                // velocities after the last solve
    double* momenta;             // scratch
    double* shifts;              // scratch
    tpNodeFlight* flights;       // of the nodes
    double work;                 // from outside, J
    double size;                 // of the smallest body, m
    double mass;                 // of all bodies, kg
    bool isFast;                 // rows are written anew in each substep of this step
    bool isMidway;               // rows have the directions of the step's middle
    bool isAwake, isOpen;
    bool isDue;   // velocities have not been solved for since the substep began
    int finished; // substeps since rows were written
    int passed;   // since the step began
    int factorisations;
} tpArticulation;

struct tpStepJoints {
    int count;
    tpArticulation* list; // by block
    int32_t* blockStart;  // of each block: the first of its mechanisms, and the end
    tpPose* poses;        // of all bodies
    bool* touches;        // of each number: it has manifolds
};

typedef struct tpArticulationSpan {
    tpArticulation *begin, *end;
} tpArticulationSpan;

static inline tpArticulationSpan tpArticulationsOf(const tpSmallStep* step, int block) {
    const tpStepJoints* joints = step->joints;
    return (tpArticulationSpan){ joints->list + joints->blockStart[block],
                                 joints->list + joints->blockStart[block + 1] };
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

static inline int numberOf(const tpSmallStep* step, const tpArticulation* articulation, int node) {
    return step->state->numbers.data[articulation->bodies[node]];
}

// Rows and factors (articulation_rows.c) ----------------------------------------------------------

// Rows and factors where the bodies are. Rows may have been written already.
void tpArticulation_Open(const tpSmallStep* step, tpArticulation* articulation, bool hasRows);

void tpArticulation_WriteRows(const tpSmallStep* step, tpArticulation* articulation, tpRows* rows);

// The error of position of a row: of what is held, and of limits that are passed.
double tpArticulation_ErrorOf(const tpSmallStep* step, tpRowRole role, double bias);

// How far the fastest body of a mechanism, or the fastest direction of its rows, turns in a second.
double tpArticulation_TurnOf(const tpSmallStep* step, const tpArticulation* articulation);

// Gives bodies that touch something the masses that contacts feel (articulation_weights.c).
void tpArticulation_Weigh(const tpSmallStep* step, tpArticulation* articulation);

// Back to the joints (articulation_moves.c) -------------------------------------------------------

// Takes back the errors of position. What was not there at the start came from turning directions,
// and is a velocity too.
void tpArticulation_Correct(const tpSmallStep* step, tpArticulation* articulation);

// Impulses since rows were written go to the joints.
void tpArticulation_Report(const tpSmallStep* step, tpArticulation* articulation);

// Rows written anew in the middle of a step; armatures go on at their speed.
void tpArticulation_Reopen(const tpSmallStep* step, tpArticulation* articulation);

// The displacements in the step that led to the poses of now.
void tpArticulation_MeasureMoves(const tpSmallStep* step, const tpArticulation* articulation);

#endif
