// Redundant joints: rows that depend on each other.
//
// A closed chain of joints may hold some directions twice (Bennett's linkage, a slider-crank in
// space). Its rows are dependent, W is singular, and what the biases of the rows ask for is
// consistent only to second order in the step: no impulses meet all of them. The motion is
// determined all the same. Rows that depend on others are set aside: where the others hold, they
// hold as well, and the errors of all joints are judged where the step ends.

#ifndef TIPPE_SRC_DYNAMICS_REDUNDANCY_H
#define TIPPE_SRC_DYNAMICS_REDUNDANCY_H

#include "dynamics/rows.h"

typedef struct tpRedundancy {
    int* rows; // that are set aside, in order
    int count;
    // What they were.
    double *jacobianA, *jacobianB; // `componentCount` numbers per row
    double* biases;
    double* q;
} tpRedundancy;

// Finds the rigid rows of joints in loops that depend on rows before them and sets them aside: they
// take no impulse. None if there are too many rows to look at. They are looked for once per step.
// False if memory ran out.
bool tpRedundancy_SetAside(tpRedundancy* redundancy, tpRows* rows, tpSystem* system);

// Looks for them in rows at poses that joints allow, before a step whose rows are written
// elsewhere: there the rows of a linkage that can move only just are independent. False if memory
// ran out.
bool tpRedundancy_Find(const tpRows* rows, tpSystem* system);

// After the solve: they are again what they were, but for a bias by which they are met. False if
// memory ran out.
bool tpRedundancy_PutBack(const tpRedundancy* redundancy, tpRows* rows, tpSystem* system);

#endif
