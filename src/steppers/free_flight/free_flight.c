// Free flight: bodies move under forces and springs and pass through each other.
//
// Half a kick by the forces, a drift, half a kick. See README.md beside this file.

#include "steppers/free_flight/free_flight.h"

#include "dynamics/forces.h"
#include "dynamics/motion.h"

static bool hasConstraint(const tpSystem* system) {
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (joint->isLive && joint->type != tp_springJoint) {
            return true;
        }
    }
    return false;
}

static void step(tpSystem* system, void* state, const tpOptions* options, double h,
                 tpStepReport* report) {
    (void)state;
    (void)options;
    double time = system->time;
    tpSystem_AimKinematic(system, time, h);
    report->externalWork += tpSystem_Kick(system, time, 0.5 * h, tp_forwardSweep);
    tpSystem_Drift(system, h);
    tpSystem_MoveKinematic(system, time, h);
    report->externalWork += tpSystem_Kick(system, time + 0.5 * h, 0.5 * h, tp_backwardSweep);
    system->contacts.count = 0;
    if (hasConstraint(system)) {
        tpStepReport_AddNote(report, "free-flight does not hold joints");
    }
}

const tpStepper tpFreeFlightStepper = {
    .name = "free-flight",
    .summary = "no contacts, no joints: forces, springs and exact free rotation",
    .seesCrossings = true,
    .step = step,
};
