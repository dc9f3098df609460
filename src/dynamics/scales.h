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

// The units in which tolerances count: 1, or a power of 1024 of it for scenes that are far larger,
// smaller, faster or slower than a table with things on it. Tolerances need not follow a scene more
// closely than that: they are far below what anyone measures and far above rounding. Powers of two
// keep all digits, so that a scene in other units of that kind gives the same digits too; and
// scenes of the usual size have tolerances that are plain SI.
typedef struct tpUnits {
    double length; // m: 1 for bodies that reach 8 mm to 8 m
    double time;   // s: 1 for times of 16 ms to 16 s
    double speed;  // m/s: length per time
    double mass;   // kg: 1 for bodies of 1/32 to 32 kg
} tpUnits;

typedef struct tpScales {
    // m: of the sizes of all bodies that can move, the mean between arithmetic and harmonic mean
    double length;
    // m: the same of how far their shapes reach, or of sizes for bodies without shapes
    double reach;
    double smallest; // m: the smallest of these sizes
    double mass;     // kg: the same mean of their masses
    double fall;     // J: sum over the bodies of mass times gravity times size
} tpScales;

// The sizes of all bodies that can move, m, in the system's arena; 0 for the others. The size of a
// body is the largest of: the farthest point of its shapes from its centre of mass, its radius of
// gyration, the distance of its joints' anchors. NULL if memory ran out.
double* tpSystem_BodySizes(struct tpSystem* system);

// The scales of a system; 1 m if no body has a size. False if memory ran out.
bool tpSystem_MeasureScales(struct tpSystem* system);

// The units of a coordinate's rate and of its value: rad per unit of time and rad if it is a turn.
static inline double tpUnits_OfRate(const tpUnits* units, bool isSlide) {
    return isSlide ? units->speed : 1.0 / units->time;
}

static inline double tpUnits_OfValue(const tpUnits* units, bool isSlide) {
    return isSlide ? units->length : 1.0;
}

// The units for a step of h seconds. The time of a scene is that in which gravity moves a body by
// its reach; without gravity the step is all that tells of time, and 512 of them count.
void tpSystem_MeasureUnits(struct tpSystem* system, double h);

#endif
