// Mechanisms without loops in joint coordinates: what joints hold has no rows.
//
// The bodies of a tree of hinges move as their parents take them along and about the axes of their
// joints. Velocities under given momenta come from one pass to the root and one back
// (sweeps/joint_tree.h), and so does what contacts feel of each other. The problem that is left has
// the rows of contacts and limits alone. README.md, "Joint coordinates", derives it.
//
// The equations are those of the rows of joints (joints.h): a step with them and one without agree
// to rounding. A system that has something else than such trees has rows.

#ifndef TIPPE_SRC_DYNAMICS_REDUCED_H
#define TIPPE_SRC_DYNAMICS_REDUCED_H

#include "complementarity/friction_solvers.h"
#include "complementarity/friction_states.h"
#include "dynamics/energy_account.h"
#include "dynamics/joint_bends.h"
#include "dynamics/joint_chain.h"
#include "dynamics/joints.h"
#include "sweeps/joint_tree.h"

// Contacts that are worth it, also beside drives, and rows that hold what is no link of a tree.
// Each change of what a drive does costs a solve of all contacts: two soles of 20 corners each and
// 20 joints with dry friction took five times as long as rows.
enum { tp_mostReducedContacts = 80, tp_mostDrivenContacts = 32, tp_mostOtherRows = 60 };

// Laws of a coordinate without bounds; those with bounds are drives (reduced_drives.c). A law gives
// r = -stiffness (u + bias) for the rate u.
typedef enum tpReducedLawKind {
    tp_reducedSpring,
    tp_reducedServo,
    tp_reducedDamper,
    tp_reducedRotor,
    tp_reducedLawCount
} tpReducedLawKind;

typedef struct tpReducedLaw {
    double stiffness, bias; // stiffness 0: there is no such law
    double damping;         // the damper's part of the stiffness
    double impulse;         // after a solve
} tpReducedLaw;

// A body of a tree and its joint to the parent, or to what does not move.
typedef struct tpReducedLink {
    int body;
    int joint;    // -1: a free root
    int other;    // the body on the other side of the joint; -1: the world, or no joint
    int length;   // of a trace from it to the root
    double sign;  // 1 if the body is B of its joint, -1 if it is A
    double value; // of the coordinate, where the link was placed; 0 if nothing depends on it

    // Of the turn at the start of the step, and at the end of the drift.
    tpHalfTurn startHalf, endHalf;
    double endValue; // of the coordinate there, if it has a rotor
    double endError; // there, of what is held, in units of length or rad

    // Where it was placed.
    tpVec3 axis;      // world
    tpVec3 across[2]; // the same of what is held of the turns
    tpVec3 arm;       // from the body's centre to its anchor
    tpVec3 way;       // from the other body's centre to the body's, the anchors being one point
    // Biases of what is held, along the axes of the world and across the axis; then the rotor's.
    double bias[tp_bentRows];
    double written[tp_bentRows]; // before anything was foreseen or corrected
    tpReducedLaw laws[tp_reducedLawCount];
    // What drives add to the row of the coordinate (reduced_drives.c), and give after a solve.
    double driveStiffness, driveStart, driveImpulse;
    double rate;      // of the coordinate, after a solve
    double along;     // impulse along it, of all laws
    tpWrench impulse; // that the body gets through its joint, after a solve
    tpWrench felt;    // reactions on B that have been added, N and N m
} tpReducedLink;

// A law with a bound: what it does as part of its tree, or that it has a row like a contact.
typedef enum tpDriveState {
    tp_driveWithin,
    tp_driveAtMost,
    tp_driveAtLeast,
    tp_driveInRows
} tpDriveState;

typedef struct tpReducedDrive {
    int link, block; // of the rows at hand
    int changes;     // of state, in the solve at work
    tpDriveState state;
    double bound; // of the impulse
} tpReducedDrive;

// The problem as it was last posed since links were placed. The rounds of a drift
// mostly have the same contacts, which do the same.
typedef struct tpKeptProblem {
    int rowRoom, rowCount, blockRoom, blockCount;
    double* key;   // of each block: bodies, law and directions of its rows
    double* other; // the same of the problem at hand
    double* W;
    double* r; // impulses before
    tpFrictionStates states;
} tpKeptProblem;

typedef struct tpReduced {
    tpSystem* system;
    double h;
    int treeCount, linkCount;
    int limitCount; // rows of limits that there may be
    int driveRoom, driveCount;
    tpReducedDrive* drives;
    bool hasAll;    // there are no joints beside those of links
    bool hasOthers; // joints or couplings with rows
    bool* isOther;  // of each joint
    tpJointTree* trees;
    int* firstLinks; // of each tree, one more at the end; links of a tree come before their parents
    tpReducedLink* links;
    int* linkOf;                          // of each body, -1 if it is of no tree
    int* treeOf;                          // of each link
    double *momenta, *jumps, *velocities; // six numbers per link
    const tpVelocity* free;               // velocities of all bodies without impulses
    double* bareQ;                        // q of the rows without trees, if there are drives
    tpKeptProblem kept;
} tpReduced;

// reduced_plant.c: the trees of a system, in its arena. NULL if it has none, or anything that needs
// rows; also if memory ran out.
tpReduced* tpReduced_Create(tpSystem* system, double h);

// Whether trees are worth it with so many contacts.
static inline bool tpReduced_Bears(const tpReduced* reduced, int contactCount) {
    return contactCount <=
           (reduced->driveRoom > 0 ? tp_mostDrivenContacts : tp_mostReducedContacts);
}

// reduced_place.c: takes the place of tpJoints_AddHalfRows. Rows receive those of limits.
void tpReduced_Place(tpReduced* reduced, tpRows* rows, const tpPose* poses,
                     const tpJointTreatment* treatment, tpStepHalf half);

// Sums up the laws of a coordinate.
void tpReducedLink_SumLaws(const tpReducedLink* link, tpRowAnswer* answer);

// By how much joints have missed where the drift has ended, in units of length or rad; biases take
// it in. The largest.
double tpReduced_Correct(tpReduced* reduced, const tpPose* poses);

// How far joints were apart where they were placed for the first half, m or rad.
double tpReduced_StartError(const tpReduced* reduced);

// Follows turns past half a turn to where the drift was last corrected. How far joints are apart
// there, in units of length or rad.
double tpReduced_FollowAngles(tpReduced* reduced);

// What biases are likely to need, from the last steps; and what they have needed, for the next.
void tpReduced_Foresee(tpReduced* reduced, const tpJointBendsList* bends);
bool tpReduced_KeepBends(const tpReduced* reduced, tpJointBendsList* bends,
                         const tpAllocator* allocator);

// reduced_move.c

static inline double tpDotSix(const double* a, const double* b) {
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

// Adds the velocities of a block's rows for velocities of bodies, six numbers each.
void tpReduced_ReadBlock(const tpRows* rows, int block, const double* velocities, double* u);

// Velocities under joints alone; q of the rows follows. To be called before a solve, when q is what
// it is without joints.
void tpReduced_MoveFreely(tpReduced* reduced, tpRows* rows);

// The same after drives have changed.
void tpReduced_MoveAgain(tpReduced* reduced, tpRows* rows);

// q of all rows if no drive is part of a tree, nor is from here on until drives begin again. False
// if memory ran out.
bool tpReduced_ReadFreeQ(tpReduced* reduced, tpRows* rows, double* q);

// reduced_solve.c

// Solves the rows, whose q is that under joints: impulses, velocities and what they change of the
// velocities of bodies. False if memory ran out.
bool tpReduced_Solve(tpReduced* reduced, tpRows* rows, const tpFrictionOptions* options,
                     tpSolverMemory* memory, tpSolveReport* report);

// reduced_drives.c

// Which rows drives have, and what drives do at first: what the impulses of the rows tell.
void tpReduced_BeginDrives(tpReduced* reduced, tpRows* rows);

// Impulses and velocities of the rows of drives that are part of trees.
void tpReduced_ReadDrives(tpReduced* reduced, tpRows* rows);

// Drives that do something else than they were taken to do change. Whether there are any.
bool tpReduced_ChangeDrives(tpReduced* reduced, tpRows* rows, double allowed, int round);

// Drives that hold their coordinate have rows: with nothing to move, a contact or coupling cannot
// tell that it is stronger. Whether there are any.
bool tpReduced_FreeHolding(tpReduced* reduced, tpRows* rows);

// All drives have rows.
void tpReduced_FreeDrives(tpReduced* reduced, tpRows* rows);

// What joints transmit no longer has what drives give, which is accounted for with their rows.
void tpReduced_TakeDrives(tpReduced* reduced);

// reduced_others.c: a small problem without the rows that hold, and what these give.
typedef struct tpFreeRows {
    int all, count, restCount; // rows
    int *rows, *rest;
    double *factor, *columns; // of the free rows; W_FF^-1 W_FC and, last, W_FF^-1 q_F
    double *W, *q, *r, *shift;
    int* dimensions;
    unsigned char* kinds;
    double* mu;
    tpMatrix matrix;
    tpFrictionProblem problem; // of the rest
} tpFreeRows;

// False if memory ran out.
bool tpFreeRows_Eliminate(tpFreeRows* free, const tpFrictionProblem* problem, const double* W,
                          const double* r, tpArena* arena);

// Impulses of all rows, with those of the rest.
void tpFreeRows_PutBack(const tpFreeRows* free, double* r, double* shift);

// reduced_response.c: W of the given blocks with the scales of their rows, dense. Scratch comes
// from the arena. False if memory ran out.
bool tpReduced_FormMatrix(const tpReduced* reduced, const tpRows* rows, const int* blocks,
                          int count, tpArena* arena, double* W);

// reduced_states.c

// Makes room for the rows of a step, if they are few. False if memory ran out.
bool tpReduced_ReserveKept(tpReduced* reduced, const tpRows* rows);

// Solves the given blocks by what each contact does, to a residual of `tolerance`; their impulses
// become the solution. False if that does not get there, or memory ran out; they are then as they
// were.
bool tpReduced_SolveByStates(tpReduced* reduced, tpRows* rows, const int* blocks, int count,
                             double tolerance, int* rounds);

// The problem of all rows for whoever looks on: W, as a matrix in the arena of the rows, in the
// place of bodies. False if memory ran out.
bool tpReduced_Pose(tpReduced* reduced, tpRows* rows, tpFrictionProblem* problem, tpMatrix* matrix);

// reduced_account.c: the same for trees as for rows of joints (joints.h, energy_account.h).

void tpReduced_AccountEnergy(const tpReduced* reduced, const tpRowVelocities* velocities,
                             tpStepReport* report);
void tpReduced_AddReactions(tpReduced* reduced);

// Joints get the reactions that have been added: bodies are at the end of the step all the while.
void tpReduced_StoreReactions(tpReduced* reduced);
void tpReduced_KickRest(tpReduced* reduced, const tpVelocity* meanVelocities,
                        const tpStepTimes* times, tpStepReport* report);

// The largest velocity that joints hold and that bodies have, m/s or rad/s.
double tpReduced_HeldSpeed(const tpReduced* reduced, const tpVelocity* velocities);

#endif
