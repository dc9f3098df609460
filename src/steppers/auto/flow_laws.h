// Laws of coordinates in a flow: springs, dampers, dry friction, servos, motors and limits.
//
// Between events each of them is smooth. A servo follows its gains, or gives all of its effort one
// way. A motor holds its speed, as a joint holds what it holds, or gives all of its effort. A limit
// holds the coordinate, or is away from it. Which of these it is stays the same all along a flow:
// where it changes, something happens.

#ifndef TIPPE_SRC_STEPPERS_AUTO_FLOW_LAWS_H
#define TIPPE_SRC_STEPPERS_AUTO_FLOW_LAWS_H

#include "steppers/auto/flow_rows.h"

// Parts of a law that end: a servo comes to the edge of its effort or back, a motor to its speed,
// and a coordinate with dry friction to rest.
typedef enum tpLawPart { tp_servoPart, tp_motorPart, tp_frictionPart, tp_lawParts } tpLawPart;

// What a coordinate's laws do at a place, N m or N.
typedef struct tpFlowLawForce {
    tpFlowRow push;
    double rate;                 // of the coordinate
    double stored;               // by the spring
    double taken;                // of dampers and friction, servo and motor: work from outside
    double effort;               // of servo and motor, a part of it
    bool goesOn;                 // the law is still the one of the plan
    double margins[tp_lawParts]; // of each part, 0 or more as long as it goes on; INFINITY: none
} tpFlowLawForce;

// Whether the laws of a coordinate need one in the plan, in the state that the system is in.
bool tpFlowLaw_IsNeeded(const tpJoint* joint, const tpSystem* system, int coordinate);

// Whether the coordinate is held, by its motor or at a limit.
bool tpFlowLaw_Holds(const tpFlowLaw* law);

// The law of a coordinate of the plan's joint `place` in the state that the system is in. False if
// flows have none for it: those of a ball joint, which has no coordinate to measure, and friction
// that holds it fast.
bool tpFlowLaw_Make(tpFlowLaw* law, const tpSystem* system, const tpFlowPlan* plan, int place,
                    int coordinate);

// What the law does in the state that the system is in. The effort of a motor that holds its speed
// is that of its row.
tpFlowLawForce tpFlowLaw_Force(const tpFlowLaw* law, const tpSystem* system,
                               const tpFlowPlan* plan);

// The row of what holds the coordinate.
tpFlowRow tpFlowLaw_Row(const tpFlowLaw* law, const tpSystem* system, const tpFlowPlan* plan);

// How much more its motor can exert than a force, or how much a limit pushes: below 0 it does not
// hold.
double tpFlowLaw_Margin(const tpFlowLaw* law, const tpSystem* system, const tpFlowPlan* plan,
                        double force);

#endif
