// The tree of a mechanism between its planting (friction_tree_plant.c) and its solution
// (friction_tree.c). Links of joints are eliminated by the motions that they leave free
// (friction_tree_link.c), in velocities and masses as they are; if a link or a body is of another
// kind, all links are eliminated by their rows, with bodies brought to unit mass.

#ifndef TIPPE_SRC_COMPLEMENTARITY_FRICTION_TREE_PARTS_H
#define TIPPE_SRC_COMPLEMENTARITY_FRICTION_TREE_PARTS_H

#include "complementarity/friction_tree.h"

// Velocities of a body.
enum { tp_treeWidth = 6 };

// Rows of one link that are worth it.
enum { tp_maxLinkRows = 16 };

// What a block is to the tree.
typedef enum tpTreeRole { tp_jointInTree, tp_driveInTree, tp_contactInTree } tpTreeRole;

// Rows of joints between a body and its parent.
typedef struct tpTreeRow {
    int row;                                 // of the problem
    int child;                               // where g begins in G
    int above;                               // the same of the parent's side
    double size;                             // its response to itself without the tree
    double a[tp_treeWidth], Y[tp_treeWidth]; // as in body_tree.h
} tpTreeRow;

// A link by the motions that it leaves free, as friction_tree_link.c has it.
typedef struct tpTreeMotion {
    int freeCount, moveCount, turnCount, softCount;
    unsigned char moving[3], turning[3], soft[tp_maxLinkRows]; // rows of the link
    double moveDuals[3][3], turnDuals[3][3];
    double way[3]; // from the parent's centre to the child's
    double N[tp_treeWidth][tp_treeWidth], U[tp_treeWidth][tp_treeWidth];
    double D[tp_treeWidth][tp_treeWidth]; // its factor, diagonals inverted
    double start[tp_treeWidth];           // d_0
    double y[tp_treeWidth];               // D^-1 e
} tpTreeMotion;

typedef struct tpTreeBody {
    int body;
    int parent;                               // place, -1 if it has none
    int firstBlock;                           // in the list of blocks of links
    int firstRow;                             // in the list of rows of links
    int firstFactor;                          // where K begins
    bool isUnit;                              // its mass is one: nothing hangs on it
    bool isMotion;                            // its link is eliminated by the motions left free
    double mass[tp_treeWidth * tp_treeWidth]; // articulated; then, if its link is eliminated by
                                              // rows, L: lower half, diagonals inverted
} tpTreeBody;

struct tpFrictionTree {
    const tpFrictionProblem* problem;
    tpArena* arena;
    int bodyCount, blockCount, rowCount;
    int* first;          // row of each block, one more at the end
    int* pair;           // moving bodies of each block, -1 if there is none
    unsigned char* role; // tpTreeRole of each block
    bool* isHeld;        // of each block
    bool isUnitMass;     // bodies are brought to unit mass
    double* roots;       // of each body: L, nine numbers
    double* G;           // of each row: of its first body, of its second

    int placeCount;
    int* place;         // of each body, -1 if it does not move
    tpTreeBody* bodies; // by places, parents first; one more at the end
    int* links;         // blocks by places
    tpTreeRow* rows;
    double* K;
    tpTreeMotion* motions; // by places
    double* force;         // of each place, then its velocity
    double* x;             // of each row of links

    // The blocks that the elimination leaves: they may carry impulses, and do not hold as joints
    // do.
    bool* isActive; // of each block
    int otherCount, otherRows;
    int* others;
    int* otherFirst;
    double* p; // of each row: its velocity under joints alone
};

static inline double tpTree_Dot6(const double* x, const double* y) {
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3] + x[4] * y[4] + x[5] * y[5];
}

static inline double tpTree_Dot(int n, const double* x, const double* y) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += x[i] * y[i];
    }
    return sum;
}

static inline void tpTree_AddScaled6(double factor, const double* x, double* y) {
    for (int i = 0; i < tp_treeWidth; ++i) {
        y[i] += factor * x[i];
    }
}

static inline double tpTree_Scale(const tpFrictionTree* tree, int row) {
    return tree->problem->scale != NULL ? tree->problem->scale[row] : 1.0;
}

// Compliance and q in scaled rows.
static inline double tpTree_Compliance(const tpFrictionTree* tree, int row) {
    double e = tpTree_Scale(tree, row);
    return tree->problem->compliance != NULL ? e * e * tree->problem->compliance[row] : 0.0;
}

static inline double tpTree_FreeVelocity(const tpFrictionTree* tree, int row) {
    return tpTree_Scale(tree, row) * tree->problem->q[row];
}

// -1 if the body does not move, or there is none.
static inline int tpTree_PlaceOf(const tpFrictionTree* tree, int body) {
    return body >= 0 ? tree->place[body] : -1;
}

static inline int tpTree_RowsOfBlock(const tpFrictionTree* tree, int b) {
    return tree->first[b + 1] - tree->first[b];
}

// friction_tree_plant.c

// Brings rows and bodies to unit mass.
void tpFrictionTree_UseUnitMass(tpFrictionTree* tree);

// The mass of a body as it is, by rows.
void tpFrictionTree_MassOf(const tpFrictionTree* tree, int body, double* mass);

// friction_tree_link.c

// Factorises the link of a place by the motions that it leaves free, and adds what it gives to the
// mass of the parent. False if it is not that of a joint.
bool tpTreeMotion_Factorise(tpFrictionTree* tree, int k);

// On the way to the root: f is the force on the body, z what the rows are to be. Adds to the force
// on the parent, NULL if that is the world.
void tpTreeMotion_GoUp(tpFrictionTree* tree, int k, const double* f, double* z, double* parent);

// On the way back: f becomes the velocity of the body, z the impulses of the rows.
void tpTreeMotion_GoDown(tpFrictionTree* tree, int k, double* f, double* z, const double* parent);

// The way to the root of a force alone; e becomes D^-1/2 N^T f.
void tpTreeMotion_Trace(const tpFrictionTree* tree, int k, const double* f, double* e,
                        double* parent);

#endif
