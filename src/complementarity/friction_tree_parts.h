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

// Rows that close loops, or couple joints, that are worth it.
enum { tp_maxCutRows = 80 };

// Contacts of one pair of bodies that take part together at first.
enum { tp_manyContacts = 8 };

// What a block is to the tree: joints and drives are eliminated along it; cut ones hold as joints
// do, but close a loop or act on more than two bodies, and are eliminated from what is left.
typedef enum tpTreeRole {
    tp_jointInTree,
    tp_driveInTree,
    tp_contactInTree,
    tp_cutInTree
} tpTreeRole;

// Rows of joints between a body and its parent.
typedef struct tpTreeRow {
    int row;                                 // of the planted ones
    int child;                               // where g begins in G
    int above;                               // the same of the parent's side
    double size;                             // its response to itself without the tree
    double left;                             // if it gives: what d_0 leaves of b
    double a[tp_treeWidth], Y[tp_treeWidth]; // as in body_tree.h
} tpTreeRow;

// A link by the motions that it leaves free, as friction_tree_link.c has it.
typedef struct tpTreeMotion {
    int freeCount, moveCount, turnCount, softCount;
    unsigned char moving[3], turning[3], soft[tp_maxLinkRows]; // rows of the link
    bool areAxes; // rows that move do so along the axes of the world
    double moveDuals[3][3], turnDuals[3][3];
    double way[3]; // from the parent's centre to the child's
    double N[tp_treeWidth][tp_treeWidth], U[tp_treeWidth][tp_treeWidth];
    double D[tp_treeWidth][tp_treeWidth]; // its factor, diagonals inverted
    double start[tp_treeWidth];           // d_0
    double y[tp_treeWidth];               // D^-1 e
    double more[tp_treeWidth];            // the same of forces that came later
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

// What the tree of the last problem was made from. Blocks that come first and are contacts (the
// leading ones) change from step to step and are no part of it; all others are planted. A tree
// stands as long as bodies and planted blocks stay the same, its factors as long as their numbers
// do, bit for bit: in the rounds of a drift they do, and from the end of a step to the start of the
// next one.
typedef struct tpTreeKey {
    int bodyCount, blockCount, rowCount;
    int *dimensions, *bodyA, *bodyB; // of each planted block
    unsigned char *kinds, *role;     // tpFrictionKind, tpTreeRole
    bool* isMoving;                  // of each body
    bool* isHeld;                    // of each planted block, when the links were factorised
    double *jacobianA, *jacobianB;   // of each planted row
    double *compliance, *scale;      // 0 and 1 if the problem has none
    double* inverseMass;             // of each body
} tpTreeKey;

// The last S, and the rows that it was made of. The rounds of a drift mostly have the same
// contacts.
typedef struct tpKeptResponse {
    unsigned long factors; // number of the factorisation, 0: nothing is kept
    size_t keySize, keyRoom, room;
    double* key; // of each block: its number and its rows
    double* S;
} tpKeptResponse;

struct tpFrictionTree {
    tpAllocator allocator;
    tpArena kept;          // what lives on after a solve
    unsigned long lastUse; // counts uses of all trees of a memory

    // Of the solve under way.
    const tpFrictionProblem* problem;
    const tpFrictionBodies* given; // the problem's bodies
    tpArena* arena;
    int bodyCount, blockCount, rowCount;
    int leadBlocks, leadRows;
    int* first;          // row of each block, one more at the end
    int* pair;           // moving bodies of each block, -1 if there is none
    unsigned char* role; // tpTreeRole of each block
    bool* isHeld;        // of each block
    double* leadG;       // as G, of leading rows
    double* termG;       // of further bodies of rows, as G; NULL if no row has any

    // Kept.
    tpTreeKey key;
    bool hasKey;     // blocks of the key are known
    bool isSuited;   // its loops are few, if all bodies move
    bool isPlanted;  // bodies are in order
    bool* isCut;     // of each planted block that is a joint's or drive's: it closes a loop
    bool hasNumbers; // numbers of the key are known
    bool isFactored; // by them
    bool areWhole;   // no direction of a body is locked
    bool isUnitMass; // bodies are brought to unit mass
    double work;     // of the factorisation
    unsigned long factorisations; // counts them
    tpKeptResponse response;
    double* roots; // of each body: L, nine numbers
    double* G;     // of each planted row: of its first body, of its second
    int placeCount;
    int* place;         // of each body, -1 if it does not move
    tpTreeBody* bodies; // by places, parents first; one more at the end
    int* links;         // planted blocks by places
    tpTreeRow* rows;
    double* K;
    tpTreeMotion* motions; // by places
    double* force;         // of each place, then its velocity
    double* load;          // of each place: the force on it, and what it feels of its children
    double* x;             // of each row of links

    // The blocks that the elimination leaves: they may carry impulses, and do not hold as joints
    // do.
    bool* isActive; // of each block
    int otherCount, otherRows;
    int* others; // cut ones first
    int* otherFirst;
    int cutCount, cutRows; // of them
    double* cutL;          // lower half of the factor of their part of S, diagonals inverted
    double* p;             // of each row: its velocity under joints alone
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

// What a row of a block does to its first or second body.
static inline const double* tpTree_Row(const tpFrictionTree* tree, int row, int side) {
    const double* rows = row < tree->leadRows ? tree->leadG : tree->G;
    int at = row < tree->leadRows ? row : row - tree->leadRows;
    return rows + (size_t)(2 * at + side) * tp_treeWidth;
}

// Further bodies of a row, as numbers in the list of terms.
static inline int tpTree_FirstTerm(const tpFrictionTree* tree, int row) {
    return tree->given->firstTerms != NULL ? tree->given->firstTerms[row] : 0;
}

static inline bool tpTree_HasTerms(const tpFrictionTree* tree, int b) {
    return tpTree_FirstTerm(tree, tree->first[b]) < tpTree_FirstTerm(tree, tree->first[b + 1]);
}

static inline bool tpTree_IsLink(int role) {
    return role == tp_jointInTree || role == tp_driveInTree;
}

// Masses of links that are eliminated by rows: x <- L^-1 x.
static inline void tpTree_LowerMass(const double* L, double* x) {
    for (int i = 0; i < tp_treeWidth; ++i) {
        x[i] = (x[i] - tpTree_Dot(i, L + (size_t)(i * tp_treeWidth), x)) * L[i * tp_treeWidth + i];
    }
}

// One body on the way to the root, as in body_tree.c.
static inline void tpTree_GoUp(const tpFrictionTree* tree, int k, double* y, double* z,
                               double* parent) {
    const tpTreeBody* own = &tree->bodies[k];
    const tpTreeRow* rows = tree->rows + own->firstRow;
    const double* K = tree->K + own->firstFactor;
    int m = own[1].firstRow - own->firstRow;
    if (!own->isUnit) {
        tpTree_LowerMass(own->mass, y);
    }
    for (int i = 0; i < m; ++i) {
        const double* row = K + (size_t)(i * m);
        z[i] = (z[i] - tpTree_Dot6(rows[i].a, y) - tpTree_Dot(i, row, z)) * row[i];
        if (parent != NULL) {
            tpTree_AddScaled6(z[i], rows[i].Y, parent);
        }
    }
}

// friction_tree_plant.c

// The roots of all inverse masses, and which bodies move. False if a mass is not that of a body.
bool tpFrictionTree_FindRoots(tpFrictionTree* tree, bool* isMoving);

// Finds the joints and drives that close loops, later ones rather than earlier ones. False if they
// have too many rows, or memory ran out.
bool tpFrictionTree_CutLoops(tpFrictionTree* tree);

// Puts bodies in order, without what is cut. False if memory ran out.
bool tpFrictionTree_Plant(tpFrictionTree* tree, const bool* isMoving);

// G of planted or of leading rows, as they are or with unit masses.
void tpFrictionTree_WriteRows(tpFrictionTree* tree, bool isLeading);

// The mass of a body as it is, by rows.
void tpFrictionTree_MassOf(const tpFrictionTree* tree, int body, double* mass);

// friction_tree.c

// Adds the velocities of a block's rows for those of bodies, `velocity` of each place.
void tpFrictionTree_ReadOther(const tpFrictionTree* tree, int b, const double* velocity, double* u);

// friction_tree_passes.c

// Factorises for the blocks that hold, if that has not been done. False if there are too many rows.
bool tpFrictionTree_Factorise(tpFrictionTree* tree);

// G_e v + C x = b for b in `x` and f in `force`: x becomes the impulses if these are wanted, force
// the velocities.
void tpFrictionTree_Pass(tpFrictionTree* tree, bool wantsImpulses);

// The same with the forces of contacts, in `force`, added to those of the last pass: only
// places between a contact and the root have something to pass on. Links must be eliminated by
// their motions.
void tpFrictionTree_PassMore(tpFrictionTree* tree);

// friction_tree_response.c

// S = W_cc - W_ce W_ee^-1 W_ec of the blocks that take part, by columns; NULL if memory ran out.
const double* tpFrictionTree_FormMatrix(tpFrictionTree* tree);

// friction_tree_cut.c

// What is left when the cut rows are eliminated as well.
typedef struct tpCutSystem {
    const double* S; // without cut rows, by columns
    const double* q;
    double *Y, *y;  // of the elimination
    double* missed; // of each cut row: how fast it goes on though no impulse moves it
    double* stuck;  // of each other block: how fast it closes, if no impulse moves it; else 0
} tpCutSystem;

// What a row gives way by under an impulse of its own, without joints.
double tpFrictionTree_ResponseOf(const tpFrictionTree* tree, int b, int row);

// Eliminates the cut rows, the first of S and p. False if memory ran out.
bool tpFrictionTree_EliminateCuts(tpFrictionTree* tree, const double* S, const double* p,
                                  tpCutSystem* left);

// The impulses of the cut rows, the first of `own`, for those of the others.
void tpFrictionTree_SolveCuts(const tpFrictionTree* tree, const tpCutSystem* left, double* own);

// x <- the impulses that take the velocities x out of cut rows.
void tpFrictionTree_HoldCuts(const tpFrictionTree* tree, double* x);

// friction_tree_choose.c

// A block takes part if it is nearly closed, or carries something to begin with, and is not locked.
// Returns the number of drives that had to be let go.
int tpFrictionTree_Choose(tpFrictionTree* tree, double goal, double* r);

// Lists the blocks that take part, cut ones first.
void tpFrictionTree_ListOthers(tpFrictionTree* tree);

// Blocks that are approached by more than `least` now, with the velocities in `force`, join.
// Returns their number.
int tpFrictionTree_JoinApproached(tpFrictionTree* tree, double least);

// Cut rows that drives hold against what closes their loops, and contacts and limits that close
// though nothing moves them: the drives are let go. Returns their number.
int tpFrictionTree_UnlockCuts(tpFrictionTree* tree, const tpCutSystem* left, double goal);

// friction_tree_link.c

// Factorises the link of a place by the motions that it leaves free, and adds what it gives to the
// mass of the parent. False if it is not that of a joint.
bool tpTreeMotion_Factorise(tpFrictionTree* tree, int k);

// On the way to the root: f is the force on the body, z what the rows are to be. Adds to the force
// on the parent, NULL if that is the world. What was there of forces that come later is forgotten.
void tpTreeMotion_GoUp(tpFrictionTree* tree, int k, const double* f, double* z, double* parent);

// The same for a force that comes later, which changes no row.
void tpTreeMotion_GoUpMore(tpFrictionTree* tree, int k, const double* f, double* parent);

// On the way back: f becomes the velocity of the body, z the impulses of the rows unless it is
// NULL.
void tpTreeMotion_GoDown(tpFrictionTree* tree, int k, double* f, double* z, const double* parent);

// What `count` rows leave in the free motions of a place on their way to the root: for each motion
// one number per row, `stride` apart. Forces, `step` apart, become those on the parent.
void tpTreeMotion_TraceRows(const tpFrictionTree* tree, int k, int count, int step,
                            double (*force)[tp_treeWidth], double* parts, size_t stride);

#endif
