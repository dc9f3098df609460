#include "steppers/stewart_trinkle/linearisation.h"

#include <string.h>

bool tpLeading_Begin(tpLeading* leading, const tpTimeStep* step) {
    tpArena* arena = &step->system->arena;
    leading->meanVelocities = TP_SCRATCH(arena, tpVelocity, step->bodyCount);
    leading->towards = TP_SCRATCH(arena, tpVelocity, step->bodyCount);
    return !arena->failed;
}

static bool moveTo(const tpLeading* leading, tpTimeStep* step, const tpStepProblem* problem,
                   tpLinearisation* at) {
    tpTimeStep_Move(step, leading->meanVelocities, at->poses);
    at->meanVelocities = leading->meanVelocities;
    at->towards = leading->towards;
    return tpTimeStep_Latest(step, problem->latest);
}

bool tpLeading_Follow(const tpLeading* leading, tpTimeStep* step, const tpStepProblem* problem,
                      tpLinearisation* at) {
    memcpy(leading->meanVelocities, step->meanVelocities,
           sizeof(tpVelocity) * (size_t)step->bodyCount);
    tpTimeStep_LinearMeanVelocities(step, leading->towards);
    return moveTo(leading, step, problem, at);
}

static void goPart(tpVelocity* velocities, const tpVelocity* to, double part, int count) {
    for (int i = 0; i < count; ++i) {
        tpVelocity* own = &velocities[i];
        own->linear = tpMulAdd(own->linear, part, tpSub(to[i].linear, own->linear));
        own->angular = tpMulAdd(own->angular, part, tpSub(to[i].angular, own->angular));
    }
}

bool tpLeading_FollowPart(const tpLeading* leading, double part, tpTimeStep* step,
                          const tpStepProblem* problem, tpLinearisation* at) {
    tpVelocity* towards = TP_SCRATCH(&step->system->arena, tpVelocity, step->bodyCount);
    if (towards == NULL) {
        return false;
    }
    tpTimeStep_LinearMeanVelocities(step, towards);
    goPart(leading->meanVelocities, step->meanVelocities, part, step->bodyCount);
    goPart(leading->towards, towards, part, step->bodyCount);
    return moveTo(leading, step, problem, at);
}
