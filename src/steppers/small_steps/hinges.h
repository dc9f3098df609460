// Links whose joints are hinges, four at once: where their axes and anchors are, and what is off.
// README.md, "Lanes of links".

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_HINGES_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_HINGES_H

#include "math/widths.h"
#include "steppers/small_steps/articulation.h"

enum { tp_hingePackWidth = 4 };

// Four links of a tree, or fewer. Lanes without a link repeat the first one, and nobody reads what
// they come to.
typedef struct tpHingePack {
    _Alignas(32) double anchorA[3][tp_hingePackWidth];
    double anchorB[3][tp_hingePackWidth];
    double axis[3][tp_hingePackWidth];     // in A
    double relative[4][tp_hingePackWidth]; // rotation of B in A when the joint was made: w x y z
    double sign[tp_hingePackWidth];        // 1: the link's own body is B; -1: it is A
    int32_t bodyA[tp_hingePackWidth], bodyB[tp_hingePackWidth];
    int32_t numberOwn[tp_hingePackWidth], numberOther[tp_hingePackWidth]; // of the step
    int32_t node[tp_hingePackWidth], axisPlace[tp_hingePackWidth];
    uint8_t asked; // lanes whose laws ask for the value of the coordinate
    uint8_t count;
} tpHingePack;

// Lanes of a pack whose values have to be found by the arc tangent, and the half turns of all.
typedef struct tpHingeRest {
    unsigned lanes;
    tpHalfTurn halves[tp_hingePackWidth];
} tpHingeRest;

typedef struct tpHingeKernels {
    int width;
    // Places of the links of a pack by these poses. Unless `isWhole`, arms and axes alone. Of the
    // lanes that are asked for values that are near known ones are set; `rest` receives the others.
    void (*look)(const tpHingePack* pack, const tpPose* poses, bool isWhole, unsigned asked,
                 tpNodePlace* nodes, tpAxisPlace* axes, tpHingeRest* rest);
    // Arms and motions of the links as velocities lead to them in a time in which they turn little.
    void (*takeAhead)(const tpHingePack* pack, const tpVelocity* velocities, double time,
                      const tpNodePlace* nodes, const tpAxisPlace* axes, tpJointTree* tree);
} tpHingeKernels;

// Those of the widest registers that the machine has, up to four numbers.
const tpHingeKernels* tpGetHingeKernels(int width);

extern const tpHingeKernels tp_plainHingeKernels;
extern const tpHingeKernels tp_avx2HingeKernels;

// The table of one width, where its functions stand.
#define TP_HINGE_KERNELS(lanes)                                                                    \
    { .width = lanes, .look = lookAtHinges, .takeAhead = takeHingesAhead }

// Packs of the hinges between two bodies of a tree, into its room for as many as it may have.
void tpHinges_Pack(const tpSmallStep* step, tpArticulation* articulation);

// Packs that trees of so many bodies may have.
static inline int tpHinges_MostPacks(int nodes) {
    return (nodes + tp_hingePackWidth - 1) / tp_hingePackWidth;
}

#endif
