// Free flight: bodies move under forces and springs and pass through each other.
//
// Half a kick by the forces, a drift, half a kick. See README.md beside this file.

#include "steppers/free_flight/free_flight.h"

#include <string.h>

#include "dynamics/force_work.h"
#include "dynamics/forces.h"
#include "dynamics/motion.h"

static bool canMove(const tpSystem* system, int body) {
    return body >= 0 && system->bodies.data[body].inverseMass > 0.0;
}

// Whether a joint would have to hold a body that flies.
static bool hasConstraint(const tpSystem* system) {
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (joint->isLive && joint->type != tp_springJoint &&
            (canMove(system, joint->bodyA) || canMove(system, joint->bodyB))) {
            return true;
        }
    }
    return false;
}

// Where all bodies are, and how fast, as the drift begins and ends.
static bool copyState(tpSystem* system, tpPose** poses, tpVelocity** velocities) {
    size_t count = (size_t)system->bodyCount;
    *poses = TP_SCRATCH(&system->arena, tpPose, count);
    *velocities = TP_SCRATCH(&system->arena, tpVelocity, count);
    if (*poses == NULL || *velocities == NULL) {
        return false;
    }
    if (count > 0) {
        memcpy(*poses, system->poses.data, sizeof(tpPose) * count);
        memcpy(*velocities, system->velocities.data, sizeof(tpVelocity) * count);
    }
    return true;
}

// Mean velocities of the drift in place of those at its start.
static void findMeans(const tpSystem* system, const tpPose* starts, double h, tpVelocity* means) {
    for (int i = 0; i < system->bodyCount; ++i) {
        if (tpSystem_IsTumbling(system, i)) {
            tpQuat turn = tpMulQQ(system->poses.data[i].rotation, tpConjugate(starts[i].rotation));
            means[i].angular = tpScale(1.0 / h, tpQuatLog(turn));
        }
    }
}

static void step(tpSystem* system, void* state, const tpOptions* options, double h,
                 tpStepReport* report) {
    (void)state;
    (void)options;
    double time = system->time;
    tpSystem_AimKinematic(system, time, h);
    tpPose *starts, *unused;
    tpVelocity *velocities, *means;
    bool isDone = copyState(system, &starts, &velocities);
    report->externalWork += tpSystem_Kick(system, time, 0.5 * h, tp_forwardSweep);
    if (!isDone || !copyState(system, &unused, &means)) {
        tpStepReport_RunOut(report);
        return;
    }
    tpSystem_Drift(system, h);
    findMeans(system, starts, h, means);
    tpWays ways = { starts, velocities, means, 0.5 * h };
    report->externalWork += tpSystem_ForceWork(system, &ways, time, h);
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
