// Links whose joints are hinges, four at once: where their axes and anchors are, and what is off.
// README.md, "Lanes of links".

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_HINGES_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_HINGES_H

#include "math/widths.h"
#include "steppers/small_steps/articulation.h"

// Lanes of a pack whose values have to be found by the arc tangent, and the half turns of all.
typedef struct tpHingeRest {
    unsigned lanes;
    _Alignas(32) double sines[tp_hingePackWidth];
    double cosines[tp_hingePackWidth];
} tpHingeRest;

static inline tpHalfTurn tpHingeRest_Half(const tpHingeRest* rest, int lane) {
    return (tpHalfTurn){ rest->sines[lane], rest->cosines[lane] };
}

typedef struct tpHingeKernels {
    int width;
    // Places of the links of a pack by these poses. Unless `isWhole`, arms and axes alone. Of the
    // lanes that are asked for values that are near known ones are set; `rest` receives the others.
    void (*look)(const tpHingePack* pack, const tpPose* poses, bool isWhole, unsigned asked,
                 tpNodePlace* nodes, tpAxisPlace* axes, tpHingeRest* rest);
    // Arms and motions of the links as velocities lead to them in a time in which they turn little.
    // `numbers` are those of the nodes.
    void (*takeAhead)(const tpHingePack* pack, const tpVelocity* velocities, const int32_t* numbers,
                      double time, const tpNodePlace* nodes, const tpAxisPlace* axes,
                      tpJointTree* tree);
    // What velocities of nodes have across the links, at the places of the last look.
    void (*slip)(const tpHingePack* pack, const double* velocities, const tpNodePlace* nodes,
                 const tpAxisPlace* axes, double* jumps);
} tpHingeKernels;

// Those of the widest registers that the machine has, up to four numbers.
const tpHingeKernels* tpGetHingeKernels(int width);

extern const tpHingeKernels tp_plainHingeKernels;
extern const tpHingeKernels tp_avx2HingeKernels;

// The table of one width, where its functions stand.
#define TP_HINGE_KERNELS(lanes)                                                                    \
    { .width = lanes, .look = lookAtHinges, .takeAhead = takeHingesAhead, .slip = findHingeSlips }

// Packs of the hinges between two bodies of each tree, into the map. They are made anew only if the
// structure or an anchor has changed: joints are large, and a step that reads all of them waits for
// memory. False if memory ran out.
bool tpHinges_Follow(tpMechanismMap* map, const tpSystem* system);

// Says whether laws ask for the value of the n-th hinge of a tree. Hinges are told in their order.
void tpHinges_Ask(tpArticulation* articulation, int n, bool isAsked);

#endif
