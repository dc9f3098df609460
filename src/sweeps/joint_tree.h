// Bodies that joints connect to a tree: velocities for given momenta in one pass to the root and
// one back [Featherstone08, ch. 7].
//
// A body moves as its parent takes it along, and along the axes that its joint leaves free. With v
// the velocity of a body at its centre (linear, angular; world axes), X v_p that of its parent
// carried over to the same point, and s an axis of the joint,
//
//     v = X v_p + sum of s q',     momentum of the body and all beyond it = I v - p
//
// I is the inertia that a body shows to its joint. An axis with the stiffness k of its rows and
// their impulse t gives
//
//     U = I s,   d = s . U + k,   q' = (t + s . p - U . v) / d,    I <- I - U U' / d,
//     p <- p - U (t + s . p) / d
//
// and what is left of I and p, moved to the parent's centre, adds to the parent's. Axes of a joint
// are taken one after the other, from the body to the parent: as if there were bodies without mass
// between them. Nothing is stiff in what joints hold: velocities fulfil them to rounding.

#ifndef TIPPE_SRC_SWEEPS_JOINT_TREE_H
#define TIPPE_SRC_SWEEPS_JOINT_TREE_H

#include <stddef.h>

#include "sweeps/row_answers.h"

// A symmetric 6 x 6 matrix: (linear, angular) momentum of a velocity.
typedef struct tpSpatialInertia {
    double mass[6];     // xx yy zz xy xz yz
    double coupling[9]; // rows: linear momentum by angular velocity
    double inertia[6];
} tpSpatialInertia;

typedef struct tpJointAxis {
    double motion[6]; // s: of the body, at its centre
    double shown[6];  // U
    double inverse;   // 1 / d
    double stiffness; // k
    double load;      // t: impulse of its rows before anything moves
    double rate;      // q' after a solve
    double push;      // (t + s . p) / d of the solve at work
    // A rotor that turns with the axis and with nothing else: a row of that stiffness, which leads
    // to its speed.
    double rotor, rotorSpeed;
    // Of a tree with bounds: between these rates all its rows are where they are asked to be.
    double lowest, highest;
    double farLowest, farHighest; // the same of its rows that are far
} tpJointAxis;

typedef struct tpJointNode {
    int32_t parent; // a later node; -1: the root
    // The last of its children, and the one of its parent's before itself; -1: none.
    int32_t child, sibling;
    int32_t axis, axisEnd;   // of its joint to the parent, or of the root's to what does not move
    bool isDirty;            // its factors are not those of its rows
    bool isWanted;           // its block of the inverse is asked for, or it is pushed
    double arm[3];           // from the parent's centre to its own
    double mass, inertia[6]; // its own; xx yy zz xy xz yz
    tpSpatialInertia left;   // I, of itself and all beyond it, after its axes
    tpSpatialInertia lent;   // the same at the parent's centre
} tpJointNode;

// A row that acts on an axis: its velocity is the axis's, times the sign.
typedef struct tpAxisRow {
    int32_t node, axis;
    double sign;
    bool isIn;  // it was within when the factors were made
    bool isFar; // it gives nothing as long as its axis stays between farLowest and farHighest
} tpAxisRow;

// Rows without bounds that are all within, side by side. They give their axes -stiffness bias.
typedef struct tpPlainRows {
    int count; // 0: the rows are asked one by one
    const int32_t* axes;
    const double *stiffness, *bias;
} tpPlainRows;

// An axis along which next to nothing moves, as two of three turns in gimbal lock, counts as held.
static const double tp_leastPivot = 1e-12;

// Nodes side by side (tree_packs.h).
typedef struct tpTreePack tpTreePack;
typedef struct tpTreeKernels tpTreeKernels;

typedef struct tpJointTree {
    int nodeCount, rowCount;
    bool isFree;    // the root has no joint
    bool hasBounds; // some of its rows have, see tpJointTree_Factorise
    bool isCarried; // what the root is joined to moves: `base` is not zero
    tpJointNode* nodes;
    tpJointAxis* axes;
    tpAxisRow* rows;
    tpRowAnswer* answers; // of the rows
    tpPlainRows plain;    // all rows, if they are such
    // Rows that are not far, one after the other; NULL: none is far, and `nearCount` is not asked.
    int32_t* near;
    int nearCount;
    double base[6];        // velocity of what the root is joined to, at the root's centre
    double rootFactor[36]; // of a free root
    double rootPush[6];    // what the solve at work leaves there, as if it had six axes
    // If not NULL, what each node is asked to move by against its parent beyond what their joint
    // allows, at its centre: of solves with bounds.
    const double* jumps;
    double* impulses; // scratch, six numbers per node
    // If it has packs, passes go over these; `left` of their nodes is not written.
    tpTreePack* packs;
    int packCount;
    const tpTreeKernels* kernels;
} tpJointTree;

// The rows that may give something: the n-th of so many.
static inline int tpJointTree_NearCount(const tpJointTree* tree) {
    return tree->near != NULL ? tree->nearCount : tree->rowCount;
}

static inline int tpJointTree_NearRow(const tpJointTree* tree, int n) {
    return tree->near != NULL ? tree->near[n] : n;
}

// Factors of all nodes that are marked or have rows whose states have changed, and of those between
// them and the root.
void tpJointTree_Factorise(tpJointTree* tree);
void tpJointTree_MarkAll(tpJointTree* tree);

// Velocities for given momenta, six numbers per node, by the factors; sets velocity and impulse of
// all rows.
void tpJointTree_Solve(tpJointTree* tree, const double* momenta, double* velocities);

// The same without bounds and rows, if nodes jump against their parents: `jumps` has for each node,
// at its centre, the velocity that it has beyond what its parent and its joint give it.
void tpJointTree_SolveJumping(tpJointTree* tree, const double* momenta, const double* jumps,
                              double* velocities);

// The same with the bounds of rows; factorises again if states change. Returns how often.
// Velocities and impulses of rows are set by tpJointTree_ReadRows: not every solve is asked for
// them. If an axis leaves the rates at which its far rows give nothing, these are far no more.
int tpJointTree_SolveBounded(tpJointTree* tree, const double* momenta, double* velocities);
void tpJointTree_ReadRows(tpJointTree* tree);
static inline void tpJointTree_ReadRow(tpJointTree* tree, int k) {
    const tpAxisRow* row = &tree->rows[k];
    tpRowAnswer_Set(&tree->answers[k], row->sign * tree->axes[row->axis].rate);
}

// Rotors go on with the speeds that their axes have after a solve.
void tpJointTree_TurnRotors(tpJointTree* tree);

// The same after momenta of some nodes have changed: `changes`, which `momenta` have already. Only
// nodes that are wanted may have any, and all between them and the root are wanted (see
// tpJointTree_Want). Costs less: nothing comes from elsewhere.
int tpJointTree_PushBounded(tpJointTree* tree, const double* momenta, const double* changes,
                            double* velocities);

// The two halves of tpJointTree_SolveBounded: what momenta leave at the axes, and the velocities by
// that. Between them impulses along traced rows may be added (tpJointTree_PushTraced), which
// `momenta` have for the second half, and velocities along such rows may be asked for.
void tpJointTree_Begin(tpJointTree* tree, const double* momenta);
int tpJointTree_End(tpJointTree* tree, const double* momenta, double* velocities);

// The same for the changes of velocities by impulses along traced rows alone; rows keep their
// states.
void tpJointTree_BeginChange(tpJointTree* tree);
void tpJointTree_EndChange(tpJointTree* tree, double* changes);

// All nodes between wanted ones and the root become wanted too.
void tpJointTree_Want(tpJointTree* tree);

// Changes of velocities by impulses on the axes, one number each, and a twist of the root; rows
// keep their states.
void tpJointTree_PushAxes(tpJointTree* tree, const double* pushes, const double* twist,
                          double* changes);

// Displacements that take back errors in the metric of the masses: `jumps` has for each node, at
// its centre, what it is to be displaced by against its parent beyond what its joint allows,
// `errors` what each row within is to be moved by, the other way.
void tpJointTree_Correct(tpJointTree* tree, const double* jumps, const double* errors,
                         double* shifts);

// Impulses that nodes get from their parents, linear and about their centres, for momenta and the
// velocities that were found for them; NULL: no momenta. `impulses` of a joint to what does not
// move is what that gives.
void tpJointTree_Reactions(const tpJointTree* tree, const double* momenta, const double* velocities,
                           double* impulses);

// The same without bounds: rows keep their states. Velocities change by what `changes` do.
void tpJointTree_Push(tpJointTree* tree, const double* changes, double* velocities);

// Up to four impulses on one node, followed to the root (joint_tree_traces.c). `traces` receives
// what each axis on the way gets of them, a free root counting as six axes, and `answers` what the
// axes do about it. The velocity along an impulse under another one is the sum of the products of
// the trace of one and the answer of the other over their last tpJointTree_SharedLength places.
enum { tp_traceWidth = 4 };
int tpJointTree_TraceLength(const tpJointTree* tree, int node);
void tpJointTree_Trace(const tpJointTree* tree, int node, double (*impulses)[6], int count,
                       double (*traces)[tp_traceWidth], double (*answers)[tp_traceWidth]);

// Between the halves of a solve: impulses r along the rows that were traced from a node, and the
// velocities along these rows, u. What the root is joined to does not move.
// Behind the answers there is room for two more.
void tpJointTree_PushTraced(tpJointTree* tree, int node, double (*answers)[tp_traceWidth],
                            const double* r);
void tpJointTree_ReadTraced(const tpJointTree* tree, int node, double (*traces)[tp_traceWidth],
                            double* u);

// Axes, and six for a free root, from where the ways of two nodes to the root meet. That of node a
// has so many.
int tpJointTree_SharedLength(const tpJointTree* tree, int a, int length, int b);

// Velocities of nodes under unit impulses on them, blocks of the inverse matrix, which are
// symmetric as inertias are: of those that are wanted (tpJointTree_Want).
void tpJointTree_Invert(tpJointTree* tree, tpSpatialInertia* inverses);

#endif
