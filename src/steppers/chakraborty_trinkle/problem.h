// The complementarity problem of one island over one step, with closest points eliminated.
//
// Unknowns are the pushed velocities z of the island's bodies (travel.h) and the impulses r of its
// blocks. With J the wrench directions where the bodies are at theta h (those of normal impulses
// made to follow the gap, normal_action.h),
//
//     z - z_free - M^-1 sum J' r = 0                                             momentum
//     r_n - max(0, r_n - rho u_n) = 0,        u_n = (gap at the end - target) / h
//     r_T - P(r_T - rho u_T) = 0,             P onto the ball of radius mu max(0, r_n - rho u_n)
//
// with friction in scaled coordinates (r_t / e_t, e_t u_t, ...), where the paper's ellipsoid is a
// ball [AlartCurnier91]. Divided by rho all equations are velocities. Unlike the Fritz-John form
// (5) they stay regular at r_n = 0. Joints: u = 0, or the one-sided forms of the same equations.

#ifndef TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_PROBLEM_H
#define TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_PROBLEM_H

#include "dynamics/time_step.h"
#include "steppers/chakraborty_trinkle/implicit_contact.h"
#include "steppers/chakraborty_trinkle/normal_action.h"
#include "steppers/chakraborty_trinkle/travel.h"

// What all islands of a step share. Bodies by slot; contacts as the step has them; blocks are those
// of step->rows, which holds the impulses and, after an evaluation, the velocities u.
typedef struct tpStepGeometry {
    tpTimeStep* step;
    double gamma; // part of an overlap at the start that the step takes back
    tpTravel* travels;
    tpPose* middlePoses;
    tpPose* endPoses;
    tpImplicitContact* contacts;
    tpContactPlace* middles;
    tpContactPlace* ends;
    tpNormalAction* actions; // of normal impulses
    double* startGaps;       // m
    bool* frictionAtEnd;     // friction acts against the velocity at the end, not in the middle
    bool* carried;           // an impulse in the last step
    bool* stuck;             // then
    double* targets;         // gaps to be met, m
    double* shifts;          // of rows, m/s: added to u so that redundant contacts agree
    double* rho;             // of blocks
    double* response;        // of rows to their own impulses
    int contactBlocks;       // the first blocks are contacts, block = contact; joints follow
    tpRows jointMiddles;     // joints alone
    tpRows jointEnds;
    bool areJointsPlaced; // once: their rows are there
} tpStepGeometry;

typedef struct tpIslandProblem {
    tpStepGeometry* geometry;
    double theta;
    bool keepsEnergy; // normal impulses follow the gap; not in the paper's step
    int bodyCount, blockCount, rowCount;
    int jointRowCount; // of the rows
    int size;          // unknowns
    int* bodies;       // slots
    int* blocks;       // ascending
    int* bodyAt;       // slot -> number in the island, -1 elsewhere; shared by all islands
    int* firstRow;     // of each block of the island among its rows
    double ownPart;    // of a step's work: once it is spent another stepper has its turn
    bool hasJoints;
} tpIslandProblem;

// Everything but derivatives: travels, places and u at the current z (step->pushed) and r. Writes
// the residual (size numbers, m/s).
void tpIslandProblem_Evaluate(tpIslandProblem* problem, double* residual);

// The length of a residual, and of its rows alone, m/s. What turns counts with the length of the
// scene's units.
// What an equation counts for: those of turning, in rad/s, with the unit of length.
double tpIslandProblem_Weight(const tpIslandProblem* problem, int equation);
double tpIslandProblem_Norm(const tpIslandProblem* problem, const double* residual);
double tpIslandProblem_NormOfRows(const tpIslandProblem* problem, const double* residual);

// Entries of a matrix; those at the same place add up.
typedef struct tpMatrixEntries {
    int count, capacity;
    int* rows;
    int* columns;
    double* values;
} tpMatrixEntries;

// Impulses of a block by z of its two bodies: dr = -(constant + byZ dz). With further bodies, that
// move the velocity of the block's last row alone, there is a part byLast times the change of that
// velocity.
typedef struct tpEliminated {
    double constant[TP_FRICTION_MAX_ROWS];
    double byZ[TP_FRICTION_MAX_ROWS][12];
    double byLast[TP_FRICTION_MAX_ROWS];
} tpEliminated;

// The same with derivatives: the linear system of Newton's step in the z of the island's bodies,
// with `right` on its right, and what gives the impulses once z is known (one per block).
void tpIslandProblem_Linearise(tpIslandProblem* problem, double* residual, tpMatrixEntries* list,
                               double* right, tpEliminated* eliminated);
int tpIslandProblem_EntryBound(const tpIslandProblem* problem);

// Completes a step whose part for z is there.
void tpIslandProblem_Recover(const tpIslandProblem* problem, const tpEliminated* eliminated,
                             double* step);

// The unknowns as numbers: z of all bodies, then r of all blocks.
void tpIslandProblem_Get(const tpIslandProblem* problem, double* x);
void tpIslandProblem_Set(tpIslandProblem* problem, const double* x);

// How far the island is from the contact law, by the natural map of docs/conventions.md plus what
// the momentum is off, m/s: squares, to be summed over islands. Needs an evaluation before.
double tpIslandProblem_Judge(const tpIslandProblem* problem);

// A size of the velocities in play, m/s: what residuals are compared with.
double tpIslandProblem_Scale(const tpIslandProblem* problem);

// Whether joints have as many rows as there are velocities: what moves is held twice.
bool tpIslandProblem_IsHeldTwice(const tpIslandProblem* problem);

// How far a body turns in the step as it moves at the start, at the most, rad.
double tpIslandProblem_LargestTurn(const tpIslandProblem* problem);

// Whether a body, as it moves at the start, turns so far in the step that directions of the start
// tell little about its end.
bool tpIslandProblem_TurnsFar(const tpIslandProblem* problem);

// Whether the step has cost all that it may before this island is solved.
bool tpIslandProblem_IsDear(const tpIslandProblem* problem);

#endif
