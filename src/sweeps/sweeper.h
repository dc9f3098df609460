// The sweep: Gauss-Seidel over contacts and joints, on data laid out for it.
//
// A sweep knows no time step and no paper. It is given bodies, contacts and joint rows, wanted
// velocities and a start, and changes impulses until velocities meet the contact law:
//
//     normal     0 <= r_n - low   complementary to   u_n + bias_n >= 0
//     friction   sticks (u_T + bias_T = 0) while |r_T| <= mu_s r_n, else |r_T| = mu_d r_n against
//                u_T
//     joint      u + bias + compliance r = 0, one-sided, or of bounded impulse
//
// u is the velocity of A against B in the contact's frame (n, t, o), friction rows multiplied by
// the semi-axes e_t, e_o, e_r of the friction ellipsoid and their impulses divided by them: in
// these variables elliptic and torsional friction are a round cone.
//
// The layout: a body's velocity is one cache line, its inverse mass another. Contacts lie in packs
// of eight, component by component; the eight share no moving body and are swept at once
// (sweeper_kernels.h) where the machine can, with the same bits as one after the other (sweep.c):
//
//     velocities[i]   v v v - w w w -                    64 bytes
//     bodies[i]       1/m, six numbers of 1/I, -         64 bytes
//     packs[p]        normal x of 8 contacts, normal y of 8 contacts, ...
//
// Order of use: Create, fill in `bodies`, AddContacts, SetJoints; then for each problem on the same
// geometry: set velocities, biases and impulses, WarmStart, sweeps, Judge.

#ifndef TIPPE_SRC_SWEEPS_SWEEPER_H
#define TIPPE_SRC_SWEEPS_SWEEPER_H

#include "base/memory.h"
#include "base/tasks.h"
#include "math/velocity.h"
#include "math/widths.h"
#include "sweeps/sweep_body.h"

// The bias of a contact that takes no part, m/s: no velocity comes near it.
#define TP_SWEEP_OPEN 1e30

// Eight contacts. Lanes without a contact have no bodies' response and never carry anything.
typedef struct tpContactPack {
    int32_t bodyA[tp_packWidth], bodyB[tp_packWidth];
    int32_t contact[tp_packWidth]; // number of the contact in the order added; -1: none
    int32_t torsion;               // the torsion pack that belongs to this one, or -1
    uint8_t movesA, movesB;        // a bit per lane: impulses move its body; none for empty lanes
    uint8_t hasLocks;              // 1: the centre of one of the bodies has locked axes
    uint8_t padding[25];
    double normal[3][tp_packWidth];      // unit, from B to A
    double tangents[2][3][tp_packWidth]; // e_t t and e_o o
    double armA[3][tp_packWidth];        // from the centre of mass to the contact's point on A, m
    double armB[3][tp_packWidth];
    double response[6][tp_packWidth];   // W of the contact alone: nn nt no tt to oo, 1/kg
    double inverseNormal[tp_packWidth]; // 1 / W_nn; 0 if there is no response
    double stick[3][tp_packWidth];      // inverse of the friction rows' W: tt to oo
    double slide[tp_packWidth];         // 1 / its largest eigenvalue: the step of a projection
    double muStatic[tp_packWidth], muDynamic[tp_packWidth];
    double bias[3][tp_packWidth];    // m/s
    double low[tp_packWidth];        // least normal impulse, <= 0, N s
    double impulse[3][tp_packWidth]; // on A
    double speed[3][tp_packWidth];   // of A against B as last asked for, without bias, m/s
} tpContactPack;

// Packs over the same eight pairs of bodies, one after the other.
typedef struct tpPackRun {
    int32_t first, count;
} tpPackRun;

// The fourth row of the contacts of a pack with torsional friction: e_r w_n.
typedef struct tpTorsionPack {
    double arm[tp_packWidth];         // e_r, m
    double response[4][tp_packWidth]; // W: nr tr or rr
    double bias[tp_packWidth];
    double impulse[tp_packWidth]; // moment / e_r
    double speed[tp_packWidth];   // e_r w_n as last asked for
} tpTorsionPack;

// A contact as AddContacts takes it.
typedef struct tpSweepContact {
    int32_t bodyA, bodyB;
    tpVec3 normal;      // unit, from B to A
    tpVec3 tangents[2]; // e_t t and e_o o
    tpVec3 armA, armB;  // from the centres of mass to the contact's points, m
    double muStatic, muDynamic;
    double torsionArm; // e_r, m; 0: no torsional friction
} tpSweepContact;

// What the impulses of a block of joint rows may be.
typedef enum tpSweepJointKind {
    tp_freeSweepJoint,     // anything
    tp_oneSidedSweepJoint, // one row, nonnegative
    tp_boundedSweepJoint   // one row, of bounded size
} tpSweepJointKind;

// What a row does to a body beyond two.
typedef struct tpSweepTerm {
    int32_t body;
    tpWrench on;
    tpWrench change; // of velocity by a unit impulse; found by SetJoints
} tpSweepTerm;

// A block of joint rows (1 to 3 rows) solved together.
typedef struct tpSweepJoint {
    // Given.
    int32_t bodyA, bodyB; // -1: the world
    int32_t block;        // the caller's number
    int32_t rowCount;
    tpSweepJointKind kind;
    double limit; // of the bounded impulse, N s or N m s
    tpWrench onA[3], onB[3];
    double compliance[3], bias[3], impulse[3];
    double scale; // of velocities where joints and contacts are compared: m per rad of turns, or 1
    tpSweepTerm* terms; // further bodies of a block of one row
    int32_t termCount;
    // Found by SetJoints.
    tpWrench changeA[3], changeB[3]; // of velocity by a unit impulse
    double solve[3][3];              // inverse of the block's W, compliance included
    double response;                 // largest entry of the diagonal of W
} tpSweepJoint;

// Solves a contact with torsion alone: 0 <= r in the cone of mu, A r + b in its dual; see
// tpFriction_SolveOne. The sweeps know no solver of their own for it.
typedef bool (*tpSolveCone)(int rows, const double* A, const double* b, double mu, double* r);

typedef struct tpSweeper {
    const struct tpSweepKernels* wide; // how runs are swept on this machine
    int bodyCount;
    tpVelocity* velocities; // the caller's, aligned to 64 bytes: what the sweep changes
    tpSweepBody* bodies;    // filled in by the caller
    // Of each body 1 along the axes that its centre may move along, 0 along locked ones; the
    // caller's, before AddContacts. NULL: all centres may go anywhere.
    const tpVec3* freeAxes;
    tpSolveCone solveCone;
    double speedUnit; // m/s: slips below 1e-9 of it are rounding; 1 unless the caller says

    int contactCount, contactCapacity;
    int32_t* places; // of each contact: pack * tp_packWidth + lane
    int32_t* order;  // the contact of each place; -1: none
    tpContactPack* packs;
    tpTorsionPack* torsions;
    int packCount, torsionCount; // the last torsionCount packs have torsion
    tpPackRun* runs;
    // the first run of each colour, and the end; runs of a colour share no moving body
    int32_t* colours;
    int runCount, colourCount;

    tpSweepJoint* joints;
    int jointCount;
} tpSweeper;

// What the certificate of a problem says; see sweeper_judge.c.
typedef struct tpSweepVerdict {
    double velocity;    // natural map in contact velocities, root of the sum of squares, m/s
    double worst;       // of a single block, m/s
    double cone;        // largest |r_T| - mu r_n, relative to mu r_n
    double dissipation; // largest gap of maximal dissipation, relative
} tpSweepVerdict;

// Empty, with room for contacts, in the arena; bodies are zeros. False if memory ran out.
bool tpSweeper_Create(tpSweeper* sweeper, tpArena* arena, int bodyCount, int contactCapacity,
                      tpSolveCone solveCone);

// Puts contacts into packs, those of a pair of bodies side by side. Biases, low and impulses are
// zero. False if memory ran out.
bool tpSweeper_AddContacts(tpSweeper* sweeper, const tpSweepContact* contacts, int count,
                           tpTasks* tasks, tpArena* arena);

// Gives every contact its place in the packs and cuts the packs into runs and colours
// (sweeper_colour.c), the first part of AddContacts. False if memory ran out.
bool tpSweeper_Colour(tpSweeper* sweeper, const tpSweepContact* contacts, int count,
                      tpArena* arena);

// Takes over blocks of joint rows, the caller's array, and finds what follows from them.
void tpSweeper_SetJoints(tpSweeper* sweeper, tpSweepJoint* joints, int count);

// One contact's place in its pack.
static inline tpContactPack* tpSweeper_PackOf(const tpSweeper* sweeper, int contact, int* lane) {
    int32_t place = sweeper->places[contact];
    *lane = place % tp_packWidth;
    return &sweeper->packs[place / tp_packWidth];
}

// Velocity of A against B in the scaled frame: n, t, o, and r where there is torsion (else 0).
void tpSweeper_ContactVelocity(const tpSweeper* sweeper, int contact, double u[4]);

// Velocity of the rows of a joint, bias and compliance included.
void tpSweeper_JointVelocity(const tpSweeper* sweeper, const tpSweepJoint* joint, double u[3]);

// The velocities of all contacts, into `speed` of their packs.
void tpSweeper_FindSpeeds(tpSweeper* sweeper);

// Adds the impulses that contacts and joints start with to the velocities.
void tpSweeper_WarmStart(tpSweeper* sweeper);

// One sweep over joints and all contacts; returns the largest change of a contact's or joint's
// velocity that one of its updates made, m/s.
double tpSweeper_Sweep(tpSweeper* sweeper);

// The same over joints and some contacts, in the order of the list.
double tpSweeper_SweepSome(tpSweeper* sweeper, const int* contacts, int count);

// What an impulse is to the centre of a body: without its part along locked axes.
static inline tpVec3 tpSweeper_Free(const tpSweeper* sweeper, int body, tpVec3 impulse) {
    if (sweeper->freeAxes == NULL) {
        return impulse;
    }
    tpVec3 free = sweeper->freeAxes[body];
    return tpMakeVec3(free.x * impulse.x, free.y * impulse.y, free.z * impulse.z);
}

// Whether a body's centre has locked axes.
static inline bool tpSweeper_IsLocked(const tpSweeper* sweeper, int body) {
    return sweeper->freeAxes != NULL &&
           sweeper->freeAxes[body].x * sweeper->freeAxes[body].y * sweeper->freeAxes[body].z == 0.0;
}

// Parts of the above, for other rules and orders.
double tpSweeper_SweepJoints(tpSweeper* sweeper);
void tpSweeper_Push(tpSweeper* sweeper, const tpContactPack* pack, int lane,
                    const double change[4]);

// Norm of the velocities that contacts and joints have at present, biases included: without
// impulses this is |q|.
double tpSweeper_FreeSpeed(tpSweeper* sweeper);

// `velocity` of the verdict alone, in less time.
double tpSweeper_Miss(tpSweeper* sweeper);

// How far the impulses and velocities are from a solution.
tpSweepVerdict tpSweeper_Judge(tpSweeper* sweeper);

#endif
