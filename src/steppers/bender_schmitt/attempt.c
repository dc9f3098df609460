#include "steppers/bender_schmitt/attempt.h"

#include <string.h>

#include "dynamics/joint_state.h"

bool tpAttempt_Keep(tpAttempt* attempt, const tpBenderStep* step, const tpTally* tally) {
    tpSystem* system = step->system;
    size_t bodies = (size_t)system->bodyCount;
    attempt->poses = TP_SCRATCH(&system->arena, tpPose, bodies);
    attempt->velocities = TP_SCRATCH(&system->arena, tpVelocity, bodies);
    attempt->reactions = TP_SCRATCH(&system->arena, double, tpJoints_ReactionCount(system));
    attempt->motion = TP_SCRATCH(&system->arena, double, tpJoints_MotionCount(system));
    if (system->arena.failed) {
        return false;
    }
    if (bodies > 0) {
        memcpy(attempt->poses, system->poses.data, sizeof(tpPose) * bodies);
        memcpy(attempt->velocities, system->velocities.data, sizeof(tpVelocity) * bodies);
    }
    tpJoints_ReadReactions(system, attempt->reactions);
    tpJoints_ReadMotion(system, attempt->motion);
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
    tpJoints_WriteReactions(system, attempt->reactions);
    tpJoints_WriteMotion(system, attempt->motion);
    *tally = attempt->tally;
    int solves = step->report->solveCount, iterations = step->report->iterationCount;
    *step->report = attempt->report;
    step->report->solveCount = solves;
    step->report->iterationCount = iterations;
}
