#include "steppers/bender_schmitt/attempt.h"

#include <string.h>

bool tpAttempt_Keep(tpAttempt* attempt, const tpBenderStep* step, const tpTally* tally) {
    tpSystem* system = step->system;
    size_t bodies = (size_t)system->bodyCount;
    attempt->poses = TP_SCRATCH(&system->arena, tpPose, bodies);
    attempt->velocities = TP_SCRATCH(&system->arena, tpVelocity, bodies);
    attempt->joints = TP_SCRATCH(&system->arena, tpKeptJoint, system->joints.count);
    if (system->arena.failed) {
        return false;
    }
    if (bodies > 0) {
        memcpy(attempt->poses, system->poses.data, sizeof(tpPose) * bodies);
        memcpy(attempt->velocities, system->velocities.data, sizeof(tpVelocity) * bodies);
    }
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        attempt->joints[i] = (tpKeptJoint){ joint->turn, joint->force, joint->torque };
    }
    attempt->tally = *tally;
    attempt->report = *step->report;
    return true;
}

void tpAttempt_Undo(const tpAttempt* attempt, tpBenderStep* step, tpTally* tally) {
    tpSystem* system = step->system;
    size_t bodies = (size_t)system->bodyCount;
    if (bodies > 0) {
        memcpy(system->poses.data, attempt->poses, sizeof(tpPose) * bodies);
        memcpy(system->velocities.data, attempt->velocities, sizeof(tpVelocity) * bodies);
    }
    for (int i = 0; i < system->joints.count; ++i) {
        tpJoint* joint = &system->joints.data[i];
        joint->turn = attempt->joints[i].turn;
        joint->force = attempt->joints[i].force;
        joint->torque = attempt->joints[i].torque;
    }
    *tally = attempt->tally;
    int solves = step->report->solveCount, iterations = step->report->iterationCount;
    *step->report = attempt->report;
    step->report->solveCount = solves;
    step->report->iterationCount = iterations;
}
