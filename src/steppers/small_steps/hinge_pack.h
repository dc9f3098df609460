// Links whose joints are hinges in packs of four, as they follow from the structure of a scene.

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_HINGE_PACK_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_HINGE_PACK_H

#include <stdint.h>

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
    int32_t node[tp_hingePackWidth], parent[tp_hingePackWidth], axisPlace[tp_hingePackWidth];
    uint8_t asked; // lanes whose laws ask for the value of the coordinate, in this step
    uint8_t count;
} tpHingePack;

#endif
