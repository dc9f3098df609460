// Nodes of a tree that do not hang on each other, four at once: the passes of joint_tree.c in
// lanes, with the same bits.
//
// A pass to the root needs a node's children before itself, and the way back its parent. A pack has
// up to four nodes with as many axes each, whose children are in earlier packs; the root is in
// none. They are filled with the nodes that are farthest from the root and ready, which takes the
// fewest packs [Hu61]: by distances alone a ragdoll of 14 bodies would have five instead of four.
// Impulses of nodes with the same parent are added in the order of the nodes, as they are one by
// one. A chain has no packs.

#ifndef TIPPE_SRC_SWEEPS_TREE_PACKS_H
#define TIPPE_SRC_SWEEPS_TREE_PACKS_H

#include "math/widths.h"
#include "sweeps/joint_tree.h"

enum { tp_treePackWidth = 4 };

typedef struct tpTreePackAxis {
    _Alignas(32) double motion[6][tp_treePackWidth];
    double shown[6][tp_treePackWidth];
    double inverse[tp_treePackWidth];
} tpTreePackAxis;

struct tpTreePack {
    _Alignas(32) double arm[3][tp_treePackWidth];
    double left[21][tp_treePackWidth]; // as tpSpatialInertia has it
    // Lanes without a node repeat the first one.
    int32_t nodes[tp_treePackWidth];
    int32_t at[tp_treePackWidth], parentAt[tp_treePackWidth]; // where six numbers of a node begin
    int32_t count, axisCount;
    tpJointAxis* axes[tp_treePackWidth]; // the first of each
    tpTreePackAxis* own;                 // of its axes
};

struct tpTreeKernels {
    int width;
    // Factors of packs with a node that is marked, whose parents are marked then.
    void (*factorise)(tpJointTree* tree);
    // The passes of all nodes but the root. Jumps may be NULL.
    void (*goDown)(tpJointTree* tree, const double* jumps);
    void (*goUp)(tpJointTree* tree, const double* jumps, double* velocities);
    void (*pushDown)(tpJointTree* tree);
    void (*pushUp)(tpJointTree* tree, double* velocities);
    // tpJointTree_Reactions.
    void (*react)(const tpJointTree* tree, const double* momenta, const double* velocities,
                  double* impulses);
    // Impulses by their components, on their way to the root (joint_tree_traces.c); at the end
    // the products of two traces, which are added to `sum`.
    void (*trace)(const tpJointTree* tree, int node, double (*impulses)[tp_traceWidth],
                  double (*traces)[tp_traceWidth], double (*answers)[tp_traceWidth]);
    // tpJointTree_PushTraced and tpJointTree_ReadTraced.
    void (*push)(tpJointTree* tree, int node, double (*answers)[tp_traceWidth], const double* r);
    void (*read)(const tpJointTree* tree, int node, double (*traces)[tp_traceWidth], double* u);
    void (*multiply)(int count, double (*traces)[tp_traceWidth], double (*answers)[tp_traceWidth],
                     double (*sum)[tp_traceWidth]);
};

#define TP_TREE_KERNELS(lanes)                                                                     \
    {                                                                                              \
        .width = lanes, .factorise = factorisePacks, .goDown = goDownPacks, .goUp = goUpPacks,     \
        .pushDown = pushDownPacks, .pushUp = pushUpPacks, .trace = traceToRoot,                    \
        .push = pushToRoot, .read = readToRoot, .multiply = multiplyTraces, .react = reactPacks    \
    }

extern const tpTreeKernels tp_plainTreeKernels;
extern const tpTreeKernels tp_avx2TreeKernels;

// Kernels for 1 or 4 numbers at once.
const tpTreeKernels* tpGetTreeKernels(int width);

// Puts the nodes into packs, if there are half as many again as the tree is deep. There is room for
// a pack per node and for all axes; `depths` is scratch, one number per node.
void tpJointTree_Pack(tpJointTree* tree, tpTreePack* packs, tpTreePackAxis* axes, int32_t* depths);

#endif
