#include "dynamics/trial.h"

#include <string.h>

#include "dynamics/joint_state.h"

bool tpTrial_Begin(tpTrial* trial, tpSystem* system, tpContactHistory* history,
                   tpStepReport* report) {
    size_t bodies = (size_t)system->bodyCount;
    memset(trial, 0, sizeof(*trial));
    trial->system = system;
    trial->report = report;
    trial->history = history;
    trial->memoryCount = history != NULL ? history->list.count : 0;
    trial->poses = TP_SCRATCH(&system->arena, tpPose, bodies);
    trial->velocities = TP_SCRATCH(&system->arena, tpVelocity, bodies);
    trial->reactions = TP_SCRATCH(&system->arena, double, tpJoints_ReactionCount(system));
    trial->motion = TP_SCRATCH(&system->arena, double, tpJoints_MotionCount(system));
    trial->memories = TP_SCRATCH(&system->arena, tpContactMemory, trial->memoryCount);
    if (system->arena.failed) {
        return false;
    }
    if (bodies > 0) {
        memcpy(trial->poses, system->poses.data, sizeof(tpPose) * bodies);
        memcpy(trial->velocities, system->velocities.data, sizeof(tpVelocity) * bodies);
    }
    tpJoints_ReadReactions(system, trial->reactions);
    tpJoints_ReadMotion(system, trial->motion);
    if (trial->memoryCount > 0) {
        memcpy(trial->memories, history->list.data,
               sizeof(tpContactMemory) * (size_t)trial->memoryCount);
    }
    trial->kept = *report;
    trial->mark = tpArena_Mark(&system->arena);
    return true;
}

void tpTrial_Undo(const tpTrial* trial) {
    tpSystem* system = trial->system;
    size_t bodies = (size_t)system->bodyCount;
    if (bodies > 0) {
        memcpy(system->poses.data, trial->poses, sizeof(tpPose) * bodies);
        memcpy(system->velocities.data, trial->velocities, sizeof(tpVelocity) * bodies);
    }
    tpJoints_WriteReactions(system, trial->reactions);
    tpJoints_WriteMotion(system, trial->motion);
    if (trial->history != NULL) {
        // There was room for as many before.
        trial->history->list.count = trial->memoryCount;
        if (trial->memoryCount > 0) {
            memcpy(trial->history->list.data, trial->memories,
                   sizeof(tpContactMemory) * (size_t)trial->memoryCount);
        }
    }
    int solves = trial->report->solveCount, iterations = trial->report->iterationCount;
    *trial->report = trial->kept;
    trial->report->solveCount = solves;
    trial->report->iterationCount = iterations;
    tpArena_Release(&system->arena, trial->mark);
}
