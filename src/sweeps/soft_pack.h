// Contacts of small steps, laid out for their sweeps, and what is done with them W at once.
//
// The sweeps are bound by memory, not by arithmetic: what describes a contact is kept in single
// precision, which is far below what positions are known to here, and is widened as it is read.
// Velocities, impulses and all arithmetic are in double precision: rounding moves a contact by a
// ten-millionth, the same in every sweep and in the certificate, and takes nothing from momentum or
// energy.
//
//     runs[r]     up to eight manifolds of one colour, a lane each: their bodies, their packs
//     packs[p]    the same point of each: normal x of 8 contacts, normal y of 8 contacts, ...
//
// A manifold keeps its lane from step to step, with its impulses. At the end of a step its geometry
// follows the bodies (soft_follow_lanes.h); only if that is not good enough any more it is found
// anew.

#ifndef TIPPE_SRC_SWEEPS_SOFT_PACK_H
#define TIPPE_SRC_SWEEPS_SOFT_PACK_H

#include <stddef.h>

#include "math/velocity.h"
#include "math/widths.h"
#include "sweeps/sweep_body.h"

// Eight contact points. Lanes without one have no response and never carry anything.
typedef struct tpSoftPack {
    // Read by every sweep; if a run is flat its first pack alone is read.
    _Alignas(64) float normal[3][tp_packWidth]; // unit, from B to A
    float tangents[2][3][tp_packWidth];         // e_t t and e_o o
    // Read by every sweep.
    float armA[3][tp_packWidth]; // from the centre of mass to the contact's point on A, m
    float armB[3][tp_packWidth];
    float coupling[2][tp_packWidth]; // W of the contact alone: nt no, 1/kg
    float stick[3][tp_packWidth];    // inverse of the friction rows' W: tt to oo
    float slide[tp_packWidth];       // 1 / its largest eigenvalue
    float gap[tp_packWidth];         // at the start of the substep, m; after the step: at its end
    float startGap[tp_packWidth];    // at the start of the step, m
    // Once per step. 1: it goes with the body that has no face; 2: with the one that has; -1: there
    // is none
    int32_t isPoint[tp_packWidth];
    // In double precision, so that one sweep solves a lone contact exactly.
    union {
        double inverseNormal[tp_packWidth]; // in a step: 1 / W_nn; 0 if there is no response
        double load[tp_packWidth];          // between steps: the normal impulse of the last one
    };
    double impulse[3][tp_packWidth]; // of the substep, on A
    double total[3][tp_packWidth];   // of all substeps so far; after the step in world axes
    // Between steps.
    uint64_t feature[tp_packWidth];
} tpSoftPack;

_Static_assert(offsetof(tpSoftPack, inverseNormal) % 64 == 0 && sizeof(tpSoftPack) == 20 * 64,
               "wide registers are read from whole lines");

// Velocities of parting of eight contacts, negative, m/s; 0 if one does not collide. Only steps
// with restitution have these.
typedef struct tpSoftBounce {
    _Alignas(64) float speed[tp_packWidth];
    // While a pair strikes: speeds to part with, whether points close in the substep (1 or 0), and
    // impulses on A.
    _Alignas(64) double aim[tp_packWidth];
    double closes[tp_packWidth];
    double struck[3][tp_packWidth];
} tpSoftBounce;

// The fourth row of eight contacts with torsional friction: e_r w_n. Only stores in which some
// contact has torsion have these.
typedef struct tpSoftTorsion {
    _Alignas(64) double impulse[tp_packWidth]; // of the substep, on A; e_r times it is the moment
    double total[tp_packWidth];                // of all substeps so far
    float arm[tp_packWidth];                   // e_r, m; 0: no torsion
    float coupling[tp_packWidth];              // W: nr
    float friction[6][tp_packWidth];           // W of the friction rows: tt to oo tr or rr
} tpSoftTorsion;

// Pairs with this restitution or more strike within the step, in the substep in which they meet.
// Others get their velocity of parting after the last one: where an impact leaves less than a
// quarter of its energy, there is little to hand on, and in dense crowds it costs a lot.
static const float tp_strikingRestitution = 0.5f;

// Tilts of manifolds: see tpSoftRun.
static const float tp_exactTilt = -1.0f, tp_alongTilt = 2.0f;

typedef struct tpSoftRun {
    // Read by every sweep. Empty lanes have bodies that nothing moves.
    _Alignas(64) int32_t bodyA[tp_packWidth];
    int32_t bodyB[tp_packWidth];
    tpSoftPack* packs;
    tpSoftTorsion* torsions; // one per pack; NULL if the store has none
    int16_t count;           // packs: the most points that a lane has
    int16_t room;            // packs that it has, at least as many
    int16_t active;          // the last of them with a contact that can close in this step, and one
    uint8_t movesA, movesB;  // a bit per lane: impulses move its body
    uint8_t used;            // a bit per lane: it has a manifold
    bool isFlat;             // the points of each of its manifolds share normal and friction
    bool isRound;            // its bodies turn as easily about any axis
    bool areBalls;           // both shapes are spheres about their bodies' centres
    bool bounces;            // some restitution is not 0
    bool strikes;            // some is tp_strikingRestitution or more
    bool parts;              // some of its points get a velocity of parting in this step
    bool isFast;             // some of its bodies meet faster than soft rows can stop them
    uint8_t stale;           // a bit per lane: its manifold is to be found anew
    uint8_t uneven;          // a bit per lane: its points have normals of their own
    uint8_t unround;         // a bit per lane: one of its bodies is not round
    uint8_t elastic;         // a bit per lane: its restitution is not 0
    uint8_t torsional;       // a bit per lane: its friction has an arm
    uint8_t points[tp_packWidth];
    int32_t listed; // contacts that carried something in the step or touch at its end
    // Where it belongs (pack_store.h).
    int32_t first, group, colour, next;
    // Of the lanes' manifolds. Friction is read by every sweep.
    _Alignas(64) float muStatic[tp_packWidth];
    float muDynamic[tp_packWidth];
    float restitution[tp_packWidth];
    // of the turning of its normal that is body A's: 1, if the face is A's
    float share[tp_packWidth];
    float deepest[tp_packWidth]; // overlap of its points at the end of the step, m
    // Outward normal of the side of the other body that is over the face; zero if none is known.
    float incident[3][tp_packWidth];
    // How long it may be followed: see tpSoftLimits.
    float slack[tp_packWidth], slip[tp_packWidth], turn[tp_packWidth];
    // Of the surfaces against each other, rad; tp_exactTilt, or half of it: gaps stay exact. Slack
    // is along the normal for tp_exactTilt, and for tilts that are larger by tp_alongTilt.
    float tilt[tp_packWidth];
    float size[tp_packWidth];     // of the smaller body, m
    float age[tp_packWidth];      // steps
    float approach[tp_packWidth]; // of its points at the start of the step, the fastest, m/s
    int32_t slots[tp_packWidth];
    // Radii of balls, m. Of others: about which the surface is round at the contact, if it rolls on
    // a flat one; 0 if it does not.
    _Alignas(64) double radiusA[tp_packWidth];
    double radiusB[tp_packWidth];
} tpSoftRun;

// How far a manifold may be followed before it is found anew. Points that a manifold does not have
// are at least `slack` away when it is found; motion takes from it, and if less is left than bodies
// may move in the next step, or one of the rest is reached, the manifold is stale.
typedef struct tpSoftLimits {
    float slip;  // of the points along the surface, of the smaller shape's size
    float turn;  // of the bodies against each other, rad
    float gap;   // error of a gap, slip times (tilt and turn), of that size
    float age;   // steps: roundings add up
    float apart; // of the shapes, beyond what the next step may need, of that size
} tpSoftLimits;

// How the normal row of a substep is softened if bodies overlap: u_n is led towards -rate * gap, no
// faster than `push`, by a spring with damping of which `mass` and `impulse` are what the row's
// mass and its present impulse are multiplied by. A soft row lets a part of the approach through:
// one faster than `fast` times the smaller body's size is stopped by a rigid one, or bodies would
// be through a thin plate before the spring has stopped them.
typedef struct tpSoftness {
    double inverseTime; // 1 / the substep's duration: open gaps may close in it
    double rate, push;
    double mass, impulse;
    double fast; // 1/s
} tpSoftness;

// The faces that carried most of a body against gravity in the last step: a manifold of one normal
// with three points or more under load. The body cannot tilt against them.
typedef struct tpSupport {
    float turned[3]; // how the arms of the body turned in the last step, rad
    int32_t carrier; // the body that has the faces; -1: none
    float normal[3]; // theirs, of any length and sign
    float load;      // N s
} tpSupport;

// What the sweeps work on: lines of bodies.
typedef struct tpSoftSweep {
    const tpSweepBody* masses; // `spare` is how far a body may move in the step, m
    tpVelocity* velocities;    // what a sweep changes; now
    tpVelocity* given;         // what the impulses that contacts start with make of the velocities
    const tpVelocity* starts;  // velocities before the step
    const tpVelocity* kicks;   // what forces add in a substep
    tpSupport* supports;       // found by prepareRun
    tpSoftBounce* bounces;     // of each pack of the store; NULL if no run bounces
    double up[3];              // against gravity, unit; zero without
    const tpVelocity* moved;   // displacements since the start of the step
    tpVelocity* bases;         // velocities of the last substep without its impulses
    const tpVelocity* means;   // twice the mean of those before and after the step
    // After the step. Displacements over it; padding0 is how far turning moved any point, m;
    // padding1 the body's reach, m.
    const tpVelocity* shifts;
    // Displacements that the next step begins with; padding0 the same of its turning, padding1 how
    // far the body may move at all, m. `angular`: of the turn over this step, what arms leave out.
    const tpVelocity* aheads;
    const tpVelocity* places; // positions of the centres of mass, in `linear`
    tpSoftness softness;
    tpSoftLimits limits;
    double h, time;  // of the step and of a substep, s
    double striking; // restitution from which impacts happen in the substeps, not after them
    int substeps;
    double warm;      // of the last step's impulses that a substep starts from
    double threshold; // approaches slower than this do not bounce, m/s
    double touching;  // contacts with smaller gaps touch, m
} tpSoftSweep;

// Sums and largest values of the contacts in each lane; aligned to 64 bytes.
typedef struct tpLaneSums {
    _Alignas(64) double squares[tp_packWidth]; // of the natural map, m^2/s^2
    double freeSquares[tp_packWidth];          // of velocities without the last substep's impulses
    double normalWork[tp_packWidth], frictionWork[tp_packWidth]; // of the totals over `means`
    double load[tp_packWidth], speed[tp_packWidth];
    double cone[tp_packWidth], dissipation[tp_packWidth];
} tpLaneSums;

typedef struct tpSoftKernels {
    int width; // contacts at once
    // Before the substeps: which points can close, what follows from masses, directions and arms,
    // velocities of parting, and the impulses that contacts start with.
    void (*prepareRun)(const tpSoftSweep* sweep, tpSoftRun* run);
    // The first sweep of a substep: finds the gaps, and takes back overlaps; backward: the last
    // pack first.
    void (*leadRun)(const tpSoftSweep* sweep, const tpSoftRun* run, bool isBackward);
    // The second: true velocities. Adds to the totals.
    void (*settleRun)(const tpSoftSweep* sweep, const tpSoftRun* run, bool isBackward);
    // Impacts of pairs that meet in the next substep, one after the other; in the first one bodies
    // have not moved. A bit per lane: it strikes.
    unsigned (*strikeRun)(const tpSoftSweep* sweep, const tpSoftRun* run, bool isFirst);
    // What collides gets its velocity of parting.
    void (*bounceRun)(const tpSoftSweep* sweep, const tpSoftRun* run);
    // Work and certificate; then cone and dissipation of what carries more and slides faster than
    // the least.
    void (*judgeRun)(const tpSoftSweep* sweep, const tpSoftRun* run, tpLaneSums* sums);
    void (*ratioRun)(const tpSoftSweep* sweep, const tpSoftRun* run, double leastLoad,
                     double leastSpeed, tpLaneSums* sums);
    // Lets manifolds follow their bodies to the end of the step, and marks those that are stale.
    void (*followRun)(const tpSoftSweep* sweep, tpSoftRun* run);
} tpSoftKernels;

// Kernels of width 1, 4 or 8; NULL if this build or this machine lacks that width.
const tpSoftKernels* tpGetSoftKernels(int width);

// The table of one width, where its functions stand.
#define TP_SOFT_KERNELS                                                                            \
    {                                                                                              \
        .width = W, .prepareRun = prepareRun, .leadRun = leadRun, .settleRun = settleRun,          \
        .strikeRun = strikeRun, .bounceRun = bounceRun, .judgeRun = judgeRun,                      \
        .ratioRun = ratioRun, .followRun = followRun,                                              \
    }

extern const tpSoftKernels tp_plainSoftKernels;
extern const tpSoftKernels tp_avx2SoftKernels;
extern const tpSoftKernels tp_avx512SoftKernels;

// soft_run.c

// Sets what a run says of all its lanes (count, isFlat, isRound, bounces) from each of them.
void tpSoftRun_Summarise(tpSoftRun* run);

// Marks a lane as having one normal for all points or not. False frames of other lanes are put
// right.
void tpSoftRun_SetUneven(tpSoftRun* run, int lane, bool isUneven);

// Copies a manifold from one lane to another, empty one with the same bodies, slot and room.
void tpSoftRun_CopyLane(const tpSoftRun* from, int fromLane, tpSoftRun* to, int toLane);

// Two lanes of runs with the same colour, of which one may be empty, change places with all that
// they have. Both runs have room.
void tpSoftRun_ExchangeLanes(tpSoftRun* a, int i, tpSoftRun* b, int k);

// Empties a lane: numbers, packs, and its bits of the masks.
void tpSoftRun_ClearLane(tpSoftRun* run, int lane);

#endif
