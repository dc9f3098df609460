// Contacts of a step in parts, laid out for its sweeps, and what is done with them W at once.
//
// The sweeps are bound by memory, not by arithmetic: what describes a contact is kept in single precision,
// which is far below what positions are known to here, and is widened as it is read. Velocities, impulses and
// all arithmetic are in double precision: rounding moves a contact by a ten-millionth, the same in every
// sweep and in the certificate, and takes nothing from momentum or energy.
//
//     runs[r]    up to eight manifolds of one colour: their bodies, their packs
//     packs[p]   the same point of each: normal x of 8 contacts, normal y of 8 contacts, ...

#ifndef TIPPE_SRC_SWEEPS_SOFT_PACK_H
#define TIPPE_SRC_SWEEPS_SOFT_PACK_H

#include <stddef.h>

#include "math/velocity.h"
#include "math/widths.h"
#include "sweeps/sweep_body.h"

// Eight contacts. Lanes without one have no response and never carry anything.
typedef struct tpSoftPack {
    // Read by every sweep; where a run is flat its first pack alone has them.
    _Alignas(64) float normal[3][tp_packWidth]; // unit, from B to A
    float tangents[2][3][tp_packWidth];         // e_t t and e_o o
    float muStatic[tp_packWidth], muDynamic[tp_packWidth];
    // Read by every sweep.
    float armA[3][tp_packWidth]; // from the centre of mass to the contact's point on A, m
    float armB[3][tp_packWidth];
    float coupling[2][tp_packWidth]; // W of the contact alone: nt no, 1/kg
    float stick[3][tp_packWidth];    // inverse of the friction rows' W: tt to oo
    float slide[tp_packWidth];       // 1 / its largest eigenvalue
    float gap[tp_packWidth];         // at the start of the part, m
    float startGap[tp_packWidth];    // at the start of the step, m
    float bounce[tp_packWidth]; // velocity of parting, negative, m/s; 0 where it does not collide
    // In double precision, so that one sweep solves a lone contact exactly.
    double inverseNormal[tp_packWidth]; // 1 / W_nn; 0 where there is no response
    double impulse[3][tp_packWidth];    // of the part, on A
    double total[3][tp_packWidth];      // of all parts so far
    // Once a step.
    float diagonal[3][tp_packWidth]; // W: nn tt oo
    int32_t contact[tp_packWidth];   // its number; -1: none
} tpSoftPack;

_Static_assert(offsetof(tpSoftPack, inverseNormal) % 64 == 0 && sizeof(tpSoftPack) % 64 == 0,
               "wide registers are read from whole lines");

typedef struct tpSoftRun {
    int32_t first, count;   // packs
    int32_t manifold;       // the first of its manifolds, in their order
    int32_t lanes;          // manifolds
    bool isFlat;            // the contacts of each of its pairs share normal and friction
    bool isRound;           // its bodies turn as easily about any axis
    uint8_t movesA, movesB; // a bit a lane: impulses move its body; none for empty lanes
    int32_t bodyA[tp_packWidth], bodyB[tp_packWidth]; // empty lanes have those of the first
} tpSoftRun;

// What a pack is filled from, a lane each. Lanes without a contact have a number of -1, no impulse, and the rest from
// some contact, whatever it is: they get no response.
typedef struct tpPackSource {
    // Of the run.
    _Alignas(64) double centerA[3][tp_packWidth]; // of mass, m
    double centerB[3][tp_packWidth];
    // Of the pack, or of an earlier one: directions and friction. Tangents are those of tpMakeContactLaw where
    // they are given; otherwise the filling finds them, and normals.
    double normal[3][tp_packWidth];
    double tangents[2][3][tp_packWidth];
    double ellipse[2][tp_packWidth];
    double muStatic[tp_packWidth], muDynamic[tp_packWidth], restitution[tp_packWidth];
    // Of the pack.
    double impulse[3][tp_packWidth];      // that contacts start with, world axes
    const double* contacts[tp_packWidth]; // from pointA on
    int32_t numbers[tp_packWidth];
    bool isFramed, isAligned; // directions are found anew; tangents are given
    bool isPlanar, bounces;   // friction has one direction; some restitution is not 0
    double threshold;         // approaches slower than this do not bounce, m/s
    const tpVelocity* starts; // velocities before the step
} tpPackSource;

// How the normal row of a part of a step is softened where bodies overlap: u_n is led towards
// -rate * gap, no faster than `push`, by a spring with damping of which `mass` and `impulse` are what the
// row's mass and its present impulse are multiplied by.
typedef struct tpSoftness {
    double inverseTime; // 1 / the part's duration: open gaps may close in it
    double rate, push;
    double mass, impulse;
} tpSoftness;

// What the sweeps work on.
typedef struct tpSoftSweep {
    tpSoftPack* packs;
    const tpSweepBody* masses;
    tpVelocity* velocities;  // what a sweep changes; now
    const tpVelocity* moved; // displacements since the start of the step
    const tpVelocity* bases; // velocities of the last part without its impulses
    const tpVelocity* means; // twice the mean of those before and after the step
    tpSoftness softness;
} tpSoftSweep;

// Sums and largest values of the contacts in each lane; aligned to 64 bytes.
typedef struct tpLaneSums {
    double squares[tp_packWidth];     // of the natural map, m^2/s^2
    double freeSquares[tp_packWidth]; // of velocities without the last part's impulses
    double normalWork[tp_packWidth], frictionWork[tp_packWidth]; // of the totals over `means`
    double load[tp_packWidth], speed[tp_packWidth];
    double cone[tp_packWidth], dissipation[tp_packWidth];
} tpLaneSums;

// What a contact has carried, for the list of contacts and the next step.
typedef struct tpCarried {
    tpVec3 last;   // impulse of the last part on A, world axes
    double normal; // of the whole step
} tpCarried;

typedef struct tpSoftKernels {
    int width; // contacts at once
    // Geometry, friction, the impulses that the contacts start with, and whether they will bounce. Returns whether
    // one of them will.
    bool (*fillPack)(const tpSoftRun* run, tpPackSource* source, tpSoftPack* pack);
    // What follows from masses, directions and arms: coupling, diagonal, inverseNormal, stick and slide.
    void (*respondRun)(const tpSoftSweep* sweep, const tpSoftRun* run);
    // Adds the impulses that the contacts start with.
    void (*startRun)(const tpSoftSweep* sweep, const tpSoftRun* run);
    // The first sweep of a part: finds the gaps, and takes back overlaps; backward: the last pack first.
    void (*leadRun)(const tpSoftSweep* sweep, const tpSoftRun* run, bool isBackward);
    // The second: true velocities. Adds to the totals.
    void (*settleRun)(const tpSoftSweep* sweep, const tpSoftRun* run, bool isBackward);
    // What collides gets its velocity of parting.
    void (*bounceRun)(const tpSoftSweep* sweep, const tpSoftRun* run);
    // Work and certificate; then cone and dissipation of what carries more and slides faster than the least.
    void (*judgeRun)(const tpSoftSweep* sweep, const tpSoftRun* run, tpLaneSums* sums);
    void (*ratioRun)(const tpSoftSweep* sweep, const tpSoftRun* run, double leastLoad,
                     double leastSpeed, tpLaneSums* sums);
    // Writes down what the contacts have carried, in the order of their numbers; returns how many did.
    int (*carryRun)(const tpSoftSweep* sweep, const tpSoftRun* run, tpCarried* carried);
} tpSoftKernels;

// Kernels of width 1, 4 or 8; NULL if this build or this machine lacks that width.
const tpSoftKernels* tpGetSoftKernels(int width);

extern const tpSoftKernels tp_plainSoftKernels;
extern const tpSoftKernels tp_avx2SoftKernels;
extern const tpSoftKernels tp_avx512SoftKernels;

#endif
