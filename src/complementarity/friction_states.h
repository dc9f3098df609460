// Small dense problems of contacts, solved by what each contact does: it is open, sticks or slides.
//
// Rows that have no velocity, all of those that stick and the normal ones of those that slide, are
// eliminated: with H these rows and T the tangential rows of contacts that slide,
//
//     r_H = -W_HH^-1 (q_H + W_HT r_T),     u_T = S r_T + ...,   S = W_TT - W_TH W_HH^-1 W_HT
//
// and what is left, r_T against u_T with |r_T| = mu r_n, is a problem of a few rows, on which
// Newton's method with Alart and Curnier's function takes next to nothing (friction_newton.c). The
// factors of W_HH and S last as long as W does and contacts do the same. Then contacts are looked
// at: one that pulls opens, one that goes into the other body sticks, one that sticks beyond its
// cone slides, until nothing changes.
//
// A drive (dry friction of a joint, a motor, a servo with an effort limit) is one row whose impulse
// is bounded. Drives are rows T: which of them are at their bounds is a quadratic program in a box
// as long as contacts do what they do (box_qp.h).

#ifndef TIPPE_SRC_COMPLEMENTARITY_FRICTION_STATES_H
#define TIPPE_SRC_COMPLEMENTARITY_FRICTION_STATES_H

#include "base/memory.h"
#include "complementarity/held_rows.h"

typedef enum tpFrictionState {
    tp_openContact,
    tp_stickingContact,
    tp_slidingContact
} tpFrictionState;

// Rows of a contact that can be solved so: its normal, one or two tangents, and torsion. Problems
// of other steppers are given to it up to the tangents.
enum { tp_mostStatedRows = 3, tp_statedRowRoom = 4 };

// A contact: a normal row, and tangential ones if it has friction. Or a drive: one row.
typedef struct tpStatedContact {
    int32_t row, rows;
    bool isDrive;
    double bound; // of a drive's impulse, either way
    double muStatic, muDynamic;
    double mu;                       // the one of them that holds in the problem at work
    tpFrictionState state;           // as far as is known
    int32_t heldPlace, slidingPlace; // of its first rows of these kinds
} tpStatedContact;

typedef struct tpFrictionStates {
    int contactCount, rowCount;
    tpStatedContact* contacts;
    const double* W; // dense and symmetric, row by row
    double* u;       // velocities with `solved`, and the biases
    double* solved;  // impulses
    // Rows that have no velocity and tangential rows of contacts that slide, and what is known of
    // them as long as W and the states stay.
    int32_t *heldRows, *slidingRows;
    int heldCount, slidingCount;
    int driveCount; // those that are drives come first
    const tpHeldKernels* kernels;
    double* factor;
    tpHeldBlock* blocks; // of the factors
    double* shifts;      // of the diagonal of W_HH
    double* follows;     // W_HH^-1 W_HT, row by row: how held rows follow those that slide
    size_t followStride;
    double* S;
    bool isFactored;
    double shift;   // of the diagonal of W_HH, of its numbers; 0: next to nothing
    double slack;   // velocity at which a contact that is open may close; 0: what is allowed
    int creepSteps; // that contacts with torsion are worth (friction_creep.h); 0: none
    bool isSettled; // nothing changes any more, but velocities that contradict each other are left
    double *heldChange, *change, *kept, *ways, *slidingScratch;
    struct tpSlidingLook* looks; // of the contacts that slide (friction_sliding.h)
    // Where the states settled with the first shift.
    double *settledImpulses, *settledVelocities;
    tpStatedContact* settledContacts;
    int* pivots;
} tpFrictionStates;

// Room for so many contacts and rows, without W; the counts are 0. False if memory ran out.
bool tpFrictionStates_Reserve(tpFrictionStates* states, tpArena* arena, int contacts, int rows);

// What a contact does with these impulses.
tpFrictionState tpStatedContact_StateOf(const tpStatedContact* contact, const double* r);

// Contacts do what the impulses in `solved` tell.
void tpFrictionStates_Read(tpFrictionStates* states);

// Whether the contact law is met with r and the velocities u with it, to a velocity that is
// allowed.
bool tpFrictionStates_AreMet(const tpFrictionStates* states, const double* r, const double* u,
                             double allowed);

// Solves to a velocity that is allowed, from `solved`, u and the states, in so many rounds.
// `rounds` becomes how many it took. `last` are the impulses before, which tell what slid. False if
// it does not get there.
bool tpFrictionStates_Solve(tpFrictionStates* states, const double* last, double allowed,
                            int* rounds);

// friction_states_factor.c

// Contacts may share a load in many ways: the diagonal of W_HH is larger by this part, and what
// that leaves is taken up by another round.
static const double tp_leastStateShift = 1e-9;

// Lists the rows that are held and those that slide, and factorises W for them, if the states have
// changed.
void tpFrictionStates_Factorise(tpFrictionStates* states);

// Numbers that the factors of so many rows take.
size_t tpFrictionStates_FactorRoom(int rows);

// x = W_HH^-1 x, of the rows that are held; numbers behind them become zero.
void tpFrictionStates_SolveHeld(const tpFrictionStates* states, double* x);

// friction_states.c

// What is allowed in velocities may be beyond the cone by more than its rounding, and is brought
// back: beyond the friction of sliding a contact counts as one that sticks.
void tpFrictionStates_KeepInCones(const tpFrictionStates* states);

#endif
