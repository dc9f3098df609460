// The rows of a step: contacts and joints as one problem in impulses.
//
// A row measures a velocity, u = Ja . velocity(A) + Jb . velocity(B) + bias, and its impulse r
// pushes along the same directions. Rows come in blocks: a contact is a cone (normal first, then
// friction), a joint one or more free blocks, a limit a nonnegative row. Velocities of bodies have
// 6 numbers (linear, angular), or 3 in planar worlds (x, y, turn). The bias carries what the
// stepper adds to the velocity: gap / h, restitution, stabilisation.
//
// A force of bounded size (a motor, dry friction in a joint) is a cone of two rows whose normal row
// belongs to no body: its compliance is 1 and its q is -limit, so its impulse is the limit.

#ifndef TIPPE_SRC_DYNAMICS_ROWS_H
#define TIPPE_SRC_DYNAMICS_ROWS_H

#include "dynamics/contact_law.h"
#include "tippe/friction.h"

// What a block stands for.
typedef enum tpBlockSource { tp_contactSource, tp_jointSource, tp_boundedSource } tpBlockSource;

// What a block of a joint does.
typedef enum tpRowRole {
    tp_heldRole,
    tp_limitRole,
    tp_springRole,
    tp_servoRole,
    tp_motorRole,
    tp_frictionRole,
    tp_damperRole,
    tp_rotorRole,    // carries armature along: compliance 1 / armature
    tp_turnRotorRole // the same of a ball joint, which turns about three axes
} tpRowRole;

static inline bool tpRowRole_IsRotor(tpRowRole role) {
    return role == tp_rotorRole || role == tp_turnRotorRole;
}

// Whether blocks of this role are laws of a coordinate that act by its rate.
static inline bool tpRowRole_IsLaw(tpRowRole role) {
    return role == tp_springRole || role == tp_servoRole || role == tp_damperRole;
}

typedef struct tpBlockInfo {
    tpBlockSource source;
    int index; // of the contact in the collider's list, or of the joint
    tpRowRole role;
    int coordinate;  // of the joint, where the role is not to hold it
    int part;        // which limit, 0 the lower; which axis of a ball joint
    bool isCoupling; // `index` is that of a coupling
} tpBlockInfo;

// What a row does to a body beyond the two of its block: the rows of couplings have such terms.
typedef struct tpRowTerm {
    int body;
    bool isDynamic;
    double jacobian[6];
} tpRowTerm;

typedef struct tpRows {
    double speedUnit;   // m/s: of tolerances, see scales.h
    double lengthUnit;  // m: the same; a turn of 1 rad counts as this way
    double massUnit;    // kg: the same
    double gapSlack;    // m/s: how far biases may be changed to agree with each other; gap / h
    double h;           // s: of the step whose gaps are in the biases
    int componentCount; // velocities of a body: 6, or 3 in planar worlds
    int bodyCount;
    int blockCount, rowCount;
    int blockCapacity, rowCapacity;

    // Of each block.
    tpBlockInfo* infos;
    int* firstRows;
    int* dimensions;
    unsigned char* kinds; // tpFrictionKind
    double* mu;
    int* bodyA; // -1 if the body does not move by impulses
    int* bodyB;
    int* givenA; // the same, kinematic bodies too; -1: the world
    int* givenB;

    // Of each row.
    double* scale; // semi-axes of friction; of joints lengthUnit if the row measures a turn, else 1
    double* compliance;
    double* damping; // of springs and servos: the damper's part of the impulse, by the velocity
    double* rotor;   // of armatures: speed of the rotor before the impulses
    double* missed;  // part of the bias: what the row does not see of its coordinate's mean rate
    double* bias;
    double* q;         // velocity without impulses, bias included
    double* impulse;   // start of the solve, then its answer
    double* velocity;  // u after the solve
    double* jacobianA; // `componentCount` numbers per row
    double* jacobianB;
    int* firstTerms; // of further bodies
    int* termCounts;

    tpRowTerm* terms;
    int termCount, termCapacity;

    double* inverseMass; // componentCount x componentCount numbers per body

    struct tpReduced* reduced; // what joints do, if they have no rows (reduced.h); else NULL

    // What the impulses of the last solve change of the velocities of bodies, componentCount
    // numbers each; NULL if the solve has not told. It is no longer true if impulses are changed.
    double* solvedChange;
    double* changeRoom; // where that lies
    tpArena* arena;     // where all of this lies
} tpRows;

// Empty rows with room, in the system's arena. False if memory ran out.
bool tpRows_Create(tpRows* rows, tpSystem* system, int blockCapacity, int rowCapacity);

// The same in any arena, without bodies and masses, in units of 1.
bool tpRows_Reserve(tpRows* rows, tpArena* arena, int componentCount, int blockCapacity,
                    int rowCapacity);

// Takes the system's units; tpRows_Create does.
void tpRows_SetUnits(tpRows* rows, const tpSystem* system);

// Says that biases are gaps over a step of h seconds, and so known to a gap's slack over h only.
void tpRows_AllowSlack(tpRows* rows, const tpSystem* system, double h);

// Takes all blocks out; the room stays.
void tpRows_Clear(tpRows* rows);

// Inverse masses of all bodies at their current orientation.
void tpRows_SetMasses(tpRows* rows, const tpSystem* system);

// The same of one body; others keep theirs, none after tpRows_Create.
void tpRows_SetMass(tpRows* rows, const tpSystem* system, int body);

// The friction rows of a contact's block come in this order: sliding (1 in the plane, 2 in space),
// torsion (1, in space only), rolling (1 in the plane, 2 in space). These are their numbers and
// first places; no row of a kind: count 0.
typedef struct tpFrictionRows {
    int slidingCount; // from place 1 on
    int torsion;      // place, or 0
    int rolling;      // first place, or 0
    int rollingCount;
} tpFrictionRows;
tpFrictionRows tpRows_FrictionRows(const tpRows* rows, int block);

// The axis of rolling row k: a tangent, or the plane's normal.
tpVec3 tpContactLaw_RollingAxis(const tpContactLaw* law, const tpRows* rows, int k);

// Adds a contact as a block; poses are those at which it was found. `bias` belongs to the normal
// row. Returns the block's number.
int tpRows_AddContact(tpRows* rows, const tpSystem* system, const tpPose* poses,
                      const tpContact* contact, int contactIndex, const tpContactLaw* law,
                      double bias);

// Writes the directions and scales of a contact's rows anew, for contact, law and poses that have
// moved.
void tpRows_SetContact(tpRows* rows, int block, const tpPose* poses, const tpContact* contact,
                       const tpContactLaw* law);

// What the errors of a row's position count in: the unit of length, or 1 if it measures a turn.
double tpRows_ErrorUnit(const tpRows* rows, int row);

// Adds an empty block of joint rows, to be filled by tpRows_SetRow. Returns its number.
int tpRows_AddBlock(tpRows* rows, const tpSystem* system, tpBlockInfo info, tpFrictionKind kind,
                    int dimension, int bodyA, int bodyB);

// The same without directions: all of its rows must be written.
int tpRows_OpenBlock(tpRows* rows, const tpSystem* system, tpBlockInfo info, tpFrictionKind kind,
                     int dimension, int bodyA, int bodyB);

// Row k of a block: directions on A and B (linear and angular about each centre of mass).
void tpRows_SetRow(tpRows* rows, int block, int k, tpWrench onA, tpWrench onB);

// Makes rows of turns count as ways where the unit of length is not 1 m: friction problems sum
// and compare rows in this scale.
void tpRows_ScaleTurn(tpRows* rows, int row);

// The same by the number of the row.
static inline void tpRows_WriteRow(tpRows* rows, int row, const tpWrench* onA,
                                   const tpWrench* onB) {
    size_t place = (size_t)row * (size_t)rows->componentCount;
    double *a = rows->jacobianA + place, *b = rows->jacobianB + place;
    a[0] = onA->linear.x;
    a[1] = onA->linear.y;
    b[0] = onB->linear.x;
    b[1] = onB->linear.y;
    if (rows->componentCount == 3) {
        a[2] = onA->angular.z;
        b[2] = onB->angular.z;
    } else {
        a[2] = onA->linear.z;
        a[3] = onA->angular.x;
        a[4] = onA->angular.y;
        a[5] = onA->angular.z;
        b[2] = onB->linear.z;
        b[3] = onB->angular.x;
        b[4] = onB->angular.y;
        b[5] = onB->angular.z;
    }
    if (rows->lengthUnit != 1.0) {
        tpRows_ScaleTurn(rows, row);
    }
}

// What row k of a block does to a further body. There must be room: tpRows_Create makes it for all
// couplings.
void tpRows_AddTerm(tpRows* rows, const tpSystem* system, int block, int k, int body, tpWrench on);

// Adds a block of other rows as it is; terms of couplings are shared with them.
void tpRows_CopyBlock(tpRows* rows, const tpRows* from, int block);

// The same of all blocks from `begin` on.
void tpRows_CopyBlocks(tpRows* rows, const tpRows* from, int begin);

// The same terms as the row of other rows has.
void tpRows_CopyTerms(tpRows* rows, int row, const tpRows* from, int fromRow);

// The bodies that a block moves, one after the other, from k = 0 on: false after the last. A body
// may be -1.
bool tpRows_BodyAt(const tpRows* rows, int block, int k, int* body);

// J v of one row for the given velocities of the two bodies, which need not be dynamic; -1: at
// rest. Further bodies are counted always.
double tpRows_RowVelocity(const tpRows* rows, int row, const tpVelocity* velocities, int bodyA,
                          int bodyB);

// The same of all rows of a block, with all its bodies.
void tpRows_ReadBlock(const tpRows* rows, int block, const tpVelocity* velocities, double* u);

// The same of all rows of a block of a joint and of the blocks after it that have the same bodies,
// into u by the number of the row. Returns the block after them.
int tpRows_ReadJoint(const tpRows* rows, int block, const tpVelocity* velocities, double* u);

// The part of J v that comes from bodies which do not move by impulses.
double tpRows_KinematicVelocity(const tpRows* rows, int block, int row,
                                const tpVelocity* velocities);

// Adds the changes of velocity that the impulses make to `velocities`.
void tpRows_ApplyImpulses(const tpRows* rows, tpVelocity* velocities);

// The same of the impulses that a solve has just left, with what it has told.
void tpRows_ApplySolved(const tpRows* rows, tpVelocity* velocities);

// Velocity of a row under a unit of its own impulse, W_kk.
double tpRows_Response(const tpRows* rows, int block, int row);

// |q| in scaled rows, as the judge divides by it.
double tpRows_FreeSize(const tpRows* rows);

// How far a block's impulse and velocity are from its law: the square of the natural map that
// tpFriction_Judge sums, in (m/s)^2.
double tpRows_ResidualSquared(const tpRows* rows, int block);

// W of rows of two blocks, without compliance: J_b M^-1 J_c'.
void tpRows_Coupling(const tpRows* rows, int b, int c,
                     double W[TP_FRICTION_MAX_ROWS][TP_FRICTION_MAX_ROWS]);

// As the solvers of the cone problem take it. Points into `bodies`, which the caller keeps; where a
// row moves more than two bodies W is a matrix in the arena of the rows. Without blocks where
// memory ran out.
tpFrictionProblem tpRows_FrictionProblem(const tpRows* rows, tpFrictionBodies* bodies);

// The same without W: for asking whether it is a mechanism.
tpFrictionProblem tpRows_Mechanism(const tpRows* rows, tpFrictionBodies* bodies);

#endif
