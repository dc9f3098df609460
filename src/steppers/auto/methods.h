// The methods that `auto` chooses from: which groups each can carry, and what a step of it costs in
// counted work.

#ifndef TIPPE_SRC_STEPPERS_AUTO_METHODS_H
#define TIPPE_SRC_STEPPERS_AUTO_METHODS_H

#include "steppers/auto/groups.h"
#include "steppers/stepper.h"

typedef enum tpMethod {
    tp_flyingMethod,   // free-flight
    tp_standardMethod, // anitescu
    tp_eventMethod,    // mirtich-canny
    tp_rollingMethod,  // chakraborty-trinkle
    tp_pileMethod,     // bender-schmitt
    tp_crowdMethod,    // small-steps
    tp_methodCount
} tpMethod;

// Groups of more bodies with contacts are crowds: whom a small change leads elsewhere after a few
// collisions.
enum { tp_crowdSize = 24 };

const tpStepper* tpMethod_Stepper(tpMethod method);

// Whether the method can carry a group as its laws ask: it leaves out nothing that the group has.
bool tpMethod_CanCarry(tpMethod method, const tpSystem* system, const tpGroups* groups, int group);

// The method that groups of this kind start with.
tpMethod tpMethod_First(const tpSystem* system, const tpGroups* groups, int group);

// Whether the method is of second order where motion is smooth, and symmetric in time.
bool tpMethod_IsSymmetric(tpMethod method);

// The options as the method has them for a group: where nothing can collide the control of the
// error is all the guard that energy needs.
tpOptions tpMethod_Options(tpMethod method, const tpOptions* options, const tpGroups* groups,
                           int group);

// Whether the method has left bodies to another one in a step: that is the choice of `auto`.
bool tpMethod_HasPassedOn(tpMethod method, const tpStepReport* report);

// Work of a step from what was counted, in nanoseconds of a certain machine. README.md says how the
// weights were found.
double tpMethod_Work(tpMethod method, const tpSystem* system, const tpStepReport* report,
                     const tpGroups* groups, int group);

#endif
