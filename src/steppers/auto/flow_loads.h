// What joints and contacts do in a step of a flow: impulses, work and losses, and whether they were
// able to.

#ifndef TIPPE_SRC_STEPPERS_AUTO_FLOW_LOADS_H
#define TIPPE_SRC_STEPPERS_AUTO_FLOW_LOADS_H

#include "steppers/auto/check.h"
#include "steppers/auto/flow_laws.h"
#include "steppers/auto/flow_rows.h"

// The slip of a contact: its direction, in the rows of friction, and its size.
typedef struct tpFlowSlip {
    double direction[tp_flowFriction];
    double size;
} tpFlowSlip;

// What pushes at a stage.
typedef struct tpFlowPushes {
    tpFlowRow rows[tp_flowRows];
    double givenPowers[tp_flowRows]; // of forces of a unit, on bodies that move as told
    tpFlowSlip slips[tp_flowContacts];
} tpFlowPushes;

// Sums over a step.
typedef struct tpFlowLoads {
    tpWrench* joints;                 // on B, in the arena
    tpVec3 contacts[tp_flowContacts]; // on A
    double spins[tp_flowContacts];    // about the normal
    tpVec3 rolls[tp_flowContacts];    // across it
    // of servos and motors, and of limits, by laws
    double efforts[tp_flowLaws], limitEfforts[tp_flowLaws];
    double couplings[tp_flowCouplings]; // on their sums
    double frictionLoss;
    double work; // of bodies that move as told, dampers, servos, motors and joints with friction
} tpFlowLoads;

void tpFlowLoads_Clear(tpFlowLoads* loads, const tpFlowPlan* plan);

// Adds what the forces of rows do in `part` seconds where the rows are.
void tpFlowLoads_Add(tpFlowLoads* loads, const tpFlowPlan* plan, const tpSystem* system,
                     const tpFlowRows* rows, const tpFlowPushes* pushes, const double* forces,
                     double part);

// Adds what the law of a coordinate does in `part` seconds, with the power that comes from outside,
// W.
void tpFlowLoads_AddLaw(tpFlowLoads* loads, const tpFlowLawForce* law, int which, double power,
                        double part);

// For how many seconds a joint has been beyond a limit, by its rate; 0: none is.
double tpFlowPlan_TimeBeyondLimits(const tpFlowPlan* plan, const tpSystem* system);

// Tells what was done in a step of h seconds that has ended where the rows are. The step is bad if
// a contact has pulled, one that sticks has lacked friction, a motor has lacked effort, or a joint
// is beyond a limit. False if memory ran out.
bool tpFlowLoads_Report(const tpFlowLoads* loads, const tpFlowPlan* plan, tpSystem* system,
                        const tpFlowRows* rows, double h, tpTaken* taken);

#endif
