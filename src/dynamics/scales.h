// How large, how heavy and how fast a scene is: what its tolerances are relative to.
//
// The same scene in millimetres or in kilometres has to behave the same, so no tolerance is a plain
// number of metres. Lengths are measured by the sizes of the bodies that can move, speeds by what
// gravity gives over such a length, energies by what the bodies have and by what gravity gives over
// such a length.

#ifndef TIPPE_SRC_DYNAMICS_SCALES_H
#define TIPPE_SRC_DYNAMICS_SCALES_H

#include <stdbool.h>

struct tpSystem;

typedef struct tpScales {
    // m: of the sizes of all bodies that can move, the mean between arithmetic and harmonic mean
    double length;
    double smallest; // m: the smallest of these sizes
    double fall;     // J: sum over the bodies of mass times gravity times size
} tpScales;

// The scales of a system; 1 m if no body has a size. The size of a body is the largest of: the
// farthest point of its shapes from its centre of mass, its radius of gyration, the distance of its
// joints' anchors. False if memory ran out.
bool tpSystem_MeasureScales(struct tpSystem* system);

#endif
