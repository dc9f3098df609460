// Bodies of a tree four at once: how they turn until rows are written again, where they are then,
// and how corrections move them. README.md, "Lanes of bodies".

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_FLIGHTS_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_FLIGHTS_H

#include "math/widths.h"
#include "steppers/small_steps/articulation.h"

enum { tp_flightPackWidth = 4 };

// Four bodies of a tree, or fewer, for a step. Lanes without a body repeat the first one, and
// nobody reads what they come to.
typedef struct tpFlightPack {
    _Alignas(32) double moments[3][tp_flightPackWidth];
    // (I_y - I_z) / I_x and so on: how fast Euler's equations turn w.
    double ratios[3][tp_flightPackWidth];
    double principal[4][tp_flightPackWidth]; // axes: w x y z
    double isEven[tp_flightPackWidth];       // 1: its moments are the same; 0: they differ
    double tumbles[tp_flightPackWidth];      // 1: it may; 0: it cannot
    // Since rows were written: inertias xx yy zz xy xz yz, and how free flight changes angular
    // velocities in a substep. Of the step: what forces change in it.
    double inertia[6][tp_flightPackWidth];
    double change[3][tp_flightPackWidth];
    double kick[6][tp_flightPackWidth];
    double mass[tp_flightPackWidth];
    const tpPose* starts[tp_flightPackWidth]; // when the step began
    tpPose* poses[tp_flightPackWidth];        // now
    tpVelocity* velocities[tp_flightPackWidth];
    tpVelocity* moved[tp_flightPackWidth]; // displacements since the step began
    // Of the first; those of the others follow.
    tpNodeFlight* flights;
    tpNodeMass* masses;
    tpJointNode* nodes;
    int count;
    unsigned left; // lanes that kernels are not for: some of their moments are zero
} tpFlightPack;

// What belongs to a lane.
static inline int tpFlightPack_Lane(const tpFlightPack* pack, int lane) {
    return lane < pack->count ? lane : 0;
}

typedef struct tpFlightTimes {
    double substep;   // s
    double untilRows; // until rows are written again, s
    double step;      // s
    double leastTurn; // in a step: turning less is as good as none, rad
    double mostTurn;  // until then: what turns more has a long flight, rad
    bool isOpen;      // rows have been written before in this step
} tpFlightTimes;

typedef struct tpFlightKernels {
    int width;
    // Inertias and flights of the bodies where they are. `tumbling` receives the lanes that tumble,
    // and `isShort` those of them whose flight is known by its beginning; of the others flights are
    // not found yet.
    void (*open)(tpFlightPack* pack, const tpFlightTimes* times, unsigned* tumbling,
                 unsigned* isShort);
    // The start of a substep: velocities `last` and what forces change, into `bases`, and their
    // momenta with `pushes`. Six numbers per lane each.
    void (*addUp)(const tpFlightPack* pack, const double* last, const double* pushes,
                  bool isTumbling, double* bases, double* momenta);
    // The momenta of so many substeps as if they were one, from the velocities before them: with
    // what forces change in all of them, and what bodies are given.
    void (*sumUp)(const tpFlightPack* pack, double substeps, const double* begun,
                  const double* given, bool isTumbling, double* momenta);
    // sum += factor x, of so many numbers.
    void (*follow)(int count, double factor, const double* x, double* sum);
    // The ends of flights that are short or none, after `count` substeps. Returns the lanes that
    // have other ones, or that have turned far, which are left.
    unsigned (*land)(const tpFlightPack* pack, double substep, double count);
    // Displacements of the poses, six numbers per lane. Returns the lanes that turn far by it,
    // which are left.
    unsigned (*shift)(const tpFlightPack* pack, const double* by);
    // Displacements from the start of the step to the poses of now, into `moved`. Returns the lanes
    // that have turned far, whose turns mean nothing.
    unsigned (*measure)(const tpFlightPack* pack);
} tpFlightKernels;

// Those of the widest registers that the machine has, up to four numbers.
const tpFlightKernels* tpGetFlightKernels(int width);

extern const tpFlightKernels tp_plainFlightKernels;
extern const tpFlightKernels tp_avx2FlightKernels;

// The table of one width, where its functions stand.
#define TP_FLIGHT_KERNELS(lanes)                                                                   \
    {                                                                                              \
        .width = lanes, .open = openFlights, .addUp = addUpBodies, .follow = followBodies,         \
        .land = landFlights, .shift = shiftPoses, .sumUp = sumUpBodies, .measure = measureBodies   \
    }

// What follows from the masses of the bodies of a mechanism, once it has been placed: their flights
// and masses as far as these stay, and of a tree the packs, into its room for them.
void tpFlights_Pack(const tpSmallStep* step, tpArticulation* articulation);

// Packs find the lines of bodies of this step.
void tpFlights_Follow(const tpSmallStep* step, tpArticulation* articulation);

// Packs of trees of so many bodies.
static inline int tpFlights_PackCount(int nodes) {
    return (nodes + tp_flightPackWidth - 1) / tp_flightPackWidth;
}

#endif
