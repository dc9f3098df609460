// Taut joints: distances that carry so much that their directions matter within the step.
//
// A distance under the tension T holds its ends across it too, as a string holds a bead: moved by d
// across a span of length L, it pulls them back with T d / L. Rows with the directions of one place
// know nothing of that. If h^2 T / (m L) is above 1, rows that are written where the last ones lead
// swing from side to side with ever larger impulses. With this stiffness of the tension in the
// problem they are Newton's method on a step whose directions are those of its end, as in
// [Tournier15]. Distances that are pressed together have none: it would be negative.
//
// A net that is stretched flat has no motion at all, and no tension of its rows carries its weight.
// So taut distances give a little: the one that carries most gives by a part of what the
// certificate lets a joint be apart, the others in proportion, and the net comes to rest where it
// sags by as much as that allows.

#ifndef TIPPE_SRC_STEPPERS_STEWART_TRINKLE_TAUT_H
#define TIPPE_SRC_STEPPERS_STEWART_TRINKLE_TAUT_H

#include "dynamics/joints.h"
#include "dynamics/time_step.h"

typedef struct tpTaut {
    double enough; // m: how far distances may be apart
    double most;   // the largest tension, N s over the step
    // Of each joint; 0 if it cannot be taut.
    double* tension;  // N s over the step; 0 if it is pressed together
    double* meant;    // m: how far it is apart at the start, and stays
    double* flexible; // 1 / kg: what it gives per unit of impulse, over h
} tpTaut;

// Whether a system has distances that can be taut.
bool tpTaut_Suits(const tpSystem* system);

// Whether the last step has left distances taut: they are farther apart than others, which are
// closed.
bool tpTaut_IsLeft(const tpSystem* system);

// Marks the dynamic bodies of these, or of all distances that can be taut.
void tpTaut_Mark(const tpSystem* system, bool areAll, bool* isMarked);

// With the tensions of the last step. False if memory ran out.
bool tpTaut_Begin(tpTaut* taut, tpTimeStep* step, double enough);

// Adds the rows of all joints at the given poses, with what tensions do.
void tpTaut_AddJointRows(tpTaut* taut, tpTimeStep* step, const tpPose* poses,
                         const tpJointTreatment* treatment);

// Whether a tension of rows that have been solved is such that its distance would swing faster than
// the step.
bool tpTaut_IsTight(const tpTimeStep* step);

// Takes the tensions over from rows that have been solved.
void tpTaut_Read(tpTaut* taut, const tpTimeStep* step);

#endif
