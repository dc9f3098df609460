// Rows between the bodies of a mechanism, solved together and directly.
//
// A row measures a velocity u = J v between two bodies and answers with an impulse (row_answers.h).
// With M the masses and p the momenta without these impulses, v solves (M + sum of J' stiffness J)
// v = p + sum of J' (offset - stiffness bias): a positive definite matrix of one 6 x 6 block per
// body and one per pair of bodies with a row, whatever rows are redundant. In a tree, bodies in an
// order from the leaves to the root, its factors have no other blocks: a solve costs as much per
// joint in a long chain as in a short one. Rows that are at a bound push with a constant impulse
// and are no part of the matrix; which ones are is found by trial.

#ifndef TIPPE_SRC_SWEEPS_MECHANISM_H
#define TIPPE_SRC_SWEEPS_MECHANISM_H

#include "sweeps/row_answers.h"

// Mass of a body in world axes. What is not free neither moves nor takes part in rows.
typedef struct tpNodeMass {
    double mass[3];
    double inertia[9]; // rows of a symmetric matrix
    double free[6];    // 1 or 0: directions and axes in which it moves
} tpNodeMass;

// What a row does to a node beyond its two.
typedef struct tpMechanismTerm {
    double on[6];
    int32_t node;
} tpMechanismTerm;

typedef struct tpMechanismRow {
    double onA[6], onB[6];
    int32_t nodeA, nodeB; // -1: a body that does not belong to the mechanism
    int32_t place;        // of the pair's block in the pattern; -1: one of the two is not there
    // Rows of one direction stand together: all but the first share its `onA` and `onB`, times this
    // sign; 0: it has its own.
    double sharedSign;
    const tpMechanismTerm* terms; // rows of couplings have further nodes
    int32_t termCount;
    double placed; // stiffness of its direction in the factors; of the first row of a direction
} tpMechanismRow;

typedef struct tpMechanism {
    int nodeCount, rowCount;
    // The pattern: blocks below the diagonal by columns, rows ascending, in an order of
    // elimination. It holds all blocks that elimination makes.
    const int32_t* starts; // nodeCount + 1
    const int32_t* below;
    const tpNodeMass* masses;
    tpMechanismRow* rows;
    tpRowAnswer* answers; // of the rows
    double (
        *diagonal)[36];   // of each node; after factorising the inverses of their Cholesky factors
    double (*blocks)[36]; // of the pattern: multipliers
    bool* isStale;        // of each node: its factors are to be made again
} tpMechanism;

// Numbers of the matrix and its factors, for the states that rows have.
void tpMechanism_Factorise(tpMechanism* mechanism);

// Velocities for the given momenta, 6 numbers per node, by the factors; sets velocity and impulse
// of all rows.
void tpMechanism_Solve(tpMechanism* mechanism, const double* momenta, double* velocities);

// The same with the bounds of rows; factorises again if states change. Returns how often.
int tpMechanism_SolveBounded(tpMechanism* mechanism, const double* momenta, double* velocities);

// The velocities that impulses alone make, by the factors; they take the place of the impulses.
void tpMechanism_Answer(const tpMechanism* mechanism, double* impulses);

// Blocks of the inverse of the matrix, by the factors: those of the nodes, and those of the pattern
// [TakahashiEtAl73]. The first are the velocities of a node under unit impulses on it.
void tpMechanism_Invert(const tpMechanism* mechanism, double (*inverses)[36],
                        double (*between)[36]);

// Displacements that take back the errors of rows, one number per row (0: nothing is asked), in the
// metric of the matrix.
void tpMechanism_Correct(const tpMechanism* mechanism, const double* errors, double* shifts);

// The impulses of rows if such displacements are changes of velocity: `impulses` may be `errors`.
void tpMechanism_CorrectingImpulses(const tpMechanism* mechanism, const double* errors,
                                    const double* shifts, double* impulses);

#endif
