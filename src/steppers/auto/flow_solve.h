// What a flow keeps from stage to stage, and the forces of a stage: J v = 0 at the next one.

#ifndef TIPPE_SRC_STEPPERS_AUTO_FLOW_SOLVE_H
#define TIPPE_SRC_STEPPERS_AUTO_FLOW_SOLVE_H

#include "math/profile_lu.h"
#include "steppers/auto/flow_surface.h"

enum { tp_flowStages = 5 };

// What a body is in at a stage.
typedef struct FlowState {
    tpVec3 velocity; // of its centre
    tpQuat turnRate; // of the turn beyond the spin
    tpQuat turn;
    tpWrench force; // all that acts
} FlowState;

// What a body is in at the start of the step.
typedef struct FlowStart {
    tpVec3 position, momentum, angularMomentum;
    tpVec3 spin; // in the axes of the body, which turns with it, and a little beyond
    tpQuat rotation;
} FlowStart;

struct tpFlowMemory {
    tpFlowRows *now, *next; // of the stage that pushes, and of the one that holds
    tpFlowRows rows[2];     // these two, but for the start
    tpFlowRows first;       // where the flow was begun, kept for all steps that start there
    tpFlowPushes pushes;
    double matrix[tp_flowRows * tp_flowRows];
    bool isRedundant;                            // something is held twice
    double softening[tp_flowRows];               // of the diagonal then
    double ownSoftening[tp_flowRows];            // the same by what each row gives alone
    double shares[tp_flowRows];                  // factors of that: friction is shared by loads
    double impulses[tp_flowStages][tp_flowRows]; // forces of stages, by rows
    int pivots[tp_flowRows];
    tpLuProfile profile; // of the factors
    tpFlowSlip firstSlips[tp_flowContacts];
    double slips[tp_flowStages][tp_flowContacts]; // at stages, along the first ones
    tpFlowSurface surfaces[tp_flowContacts][2];   // that contacts are on, of bodies A and B
    tpPose* poses; // of all bodies, while they are moved to look ahead
    double firstLawMargins[tp_flowLaws][tp_lawParts];
    double rotorSpeeds[tp_flowRows]; // of rotors at the start of the step, by rows
    double firstMargins[tp_flowContacts + tp_flowLaws]; // of contacts, then of laws
    tpFlowLoads loads, early;                           // of the step, and of its first half
    bool isEarlyAsked;
    FlowStart* starts;
    FlowState* states;        // stage by stage, all bodies
    tpMat33* inverseInertias; // of all bodies of the group where they are
    // Rows of each body of the group, as lists: 2 times the row, and 1 for its body B; -1: the end.
    int* rowLists;
    int nextRows[tp_flowRows][2];
    tpPose* given; // of bodies that move as told, at the start
};

static inline bool tpFlow_IsOurs(const tpFlowPlan* plan, int body) {
    return body >= 0 && plan->places[body] >= 0;
}

// The forces of a stage, along its pushes, after which rows of the next stage keep what they hold,
// `part` seconds later. False if they are not determined.
bool tpFlow_Solve(tpFlow* flow, const tpSystem* system, int stage, double part);

// Takes from the velocities of the system what the rows of the plan do not allow where the flow
// begins, by impulses along the pushes: slips of contacts that stick. The impulses are in `taken`,
// which has been started. False if they are not determined.
bool tpFlow_Stop(tpFlow* flow, tpSystem* system, tpTaken* taken);

// The speeds of rotors at the next stage, after the forces of the stages up to `stage`, which act
// for h seconds times their coefficients: what bodies get from a row its rotor loses.
void tpFlow_SetRotors(tpFlow* flow, int stage, double h, const double* coefficients);

// Finds out whether something is held twice where the rows are now.
void tpFlow_FindRedundancy(tpFlow* flow, const tpSystem* system);

// Whether the motion is the same however forces are shared among what is held twice: pushes are
// known. Not if a contact slides whose friction goes by its share, unless all of them slide alike,
// nor if a row moves nothing at all.
bool tpFlow_IsDetermined(tpFlow* flow, const tpSystem* system);

// The largest accelerations of surfaces in the step that has been taken, by the forces of its
// stages: for what bodies can meet (flow_rows.h).
void tpFlow_FindAccelerations(tpFlow* flow, const tpSystem* system);

#endif
