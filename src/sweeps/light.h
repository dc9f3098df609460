// Light sweeps: the contacts of a sweeper that matter, in single precision.
//
// A crowd has thousands of contacts, of which about half carry anything, and each takes hundreds of
// sweeps over all of them. What a sweep costs there is memory: 316 bytes per contact. A light
// sweeper has a copy of those contacts that carry something or may soon do, 136 bytes each, sixteen
// side by side (spheres 92 bytes: light_round.h). It changes their impulses by the same rule
// (sweeper.c) and follows by how much; what they and the velocities were when it was loaded is
// known in double precision:
//
//     u = u(loaded) + J dv,    dv = M^-1 J' dr,    r = r(loaded) + dr
//
// So rounding is that of the changes, which are the smaller the nearer the solution is, and does
// not add up: changes are taken over, velocities made of impulses anew, and the certificate is that
// of the sweeper, in double precision, over all contacts. (With impulses of 24 bits momentum made
// noise of their rounding, thirty times a residual of 1e-7.)
//
// Order of use: Choose, then for each round Load, sweeps, Store; Choose again if contacts outside
// come to matter. Without joints and torsion. Where none of the chosen contacts rubs there are
// normal impulses alone, at a third of the cost.

#ifndef TIPPE_SRC_SWEEPS_LIGHT_H
#define TIPPE_SRC_SWEEPS_LIGHT_H

#include "sweeps/light_round.h"
#include "sweeps/sweeper.h"

// Sixteen contacts. The meaning of all numbers is that of tpContactPack.
typedef struct tpLightPack {
    float normal[3][tp_lightWidth];
    float tangents[2][3][tp_lightWidth];
    float armA[3][tp_lightWidth], armB[3][tp_lightWidth];
    float inverseNormal[tp_lightWidth];
    float crossed[2][tp_lightWidth]; // W: nt no
    float stick[3][tp_lightWidth];
    float slide[tp_lightWidth];
    float muStatic[tp_lightWidth], muDynamic[tp_lightWidth];
    // When it was loaded: u + bias, m/s, and |r_T|^2 - (mu r_N)^2, (N s)^2.
    float speed[3][tp_lightWidth], beyond[tp_lightWidth];
} tpLightPack;

// Packs over the same sixteen pairs of bodies, one after the other. Lanes without a pair have a
// body of their own, behind all others, that nothing moves.
typedef struct tpLightRun {
    int32_t bodyA[tp_lightWidth], bodyB[tp_lightWidth];
    float massA[7][tp_lightWidth], massB[7][tp_lightWidth]; // 1/m, xx yy zz xy xz yz of 1/I
    int32_t first, count;
    int32_t hasLocks; // 1: the centres of some bodies have locked axes
    int32_t padding[13];
} tpLightRun;

typedef struct tpLightSweeper {
    const struct tpLightKernels* kernels;
    tpSweeper* sweeper;
    double damping; // part of each change that is made
    tpLightPack* packs;
    tpLightRun* runs;
    tpRoundPack* rounds; // of each pack, if all contacts are round and of pairs of their own; else
                         // NULL
    int32_t* contacts;   // of each place (sixteen per pack): the sweeper's contact, or -1
    bool* isChosen;      // of each contact of the sweeper
    int packCount, runCount, chosenCount;
    int rowCount;     // of a contact: 3, or 1 where nothing rubs
    int impulseCount; // a multiple of sixteen, as changeCount is
    float* impulses;  // by how much they have changed since they were loaded: of each pack sixteen
                      // of each row
    float* loaded;    // what they were then
    double* from;     // the same in double precision
    int changeCount;
    float* changes; // of velocity since then, eight per body: v v v - w w w -
    float* weight;  // of each impulse: its own response
} tpLightSweeper;

// Chooses the contacts that carry something or part slower than `margin`, m/s, as the sweeper's
// impulses and `speed` of its packs say. False if memory ran out.
bool tpLight_Choose(tpLightSweeper* light, tpSweeper* sweeper, double margin, double damping,
                    tpArena* arena);

// Takes over impulses, and velocities from `speed` of the sweeper's packs.
void tpLight_Load(tpLightSweeper* light);

// One sweep over all chosen contacts.
void tpLight_Sweep(tpLightSweeper* light);

// Makes the changes of velocity of the impulses anew: they may have been changed elsewhere, and
// rounding of sweeps does not add up.
void tpLight_Refresh(tpLightSweeper* light);

// Gives the impulses back. Velocities are the caller's task (tpSweeper_WarmStart).
void tpLight_Store(const tpLightSweeper* light);

// Root of the sum of squares of approaches of contacts outside, m/s, from `speed` of the packs.
double tpLight_MissOutside(const tpLightSweeper* light);

#endif
