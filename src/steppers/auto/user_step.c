#include "steppers/auto/user_step.h"

#include "dynamics/step_budget.h"

tpGroupRun tpUserStep_MakeRun(const tpUserStep* frame, int group, const tpCarrier* carrier) {
    tpGroupRun run = { .system = frame->system,
                       .options =
                           tpMethod_Options(carrier->method, frame->options, &frame->groups, group),
                       .guard = frame->options->values[tp_energyGuardOption],
                       .groups = &frame->groups,
                       .group = group,
                       .method = carrier->method,
                       .state = carrier->state,
                       .solver = frame->solver,
                       .targets = frame->targets,
                       .limits = *frame->limits,
                       .begin = frame->system->time,
                       .length = frame->h,
                       .lengthScale = frame->lengthScale,
                       .timeScale = frame->timeScale,
                       .accuracy = frame->accuracy,
                       .workLimit = INFINITY,
                       .pace = carrier->pace };
    return run;
}

bool tpUserStep_StartErrors(const tpUserStep* frame, tpGroupRun* run) {
    int count = frame->system->bodyCount;
    run->positionErrors = TP_SCRATCH(&frame->system->arena, double, count);
    run->speedErrors = TP_SCRATCH(&frame->system->arena, double, count);
    if (frame->system->arena.failed) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        const tpCarried* body = &frame->carriersOf->bodies.data[i];
        run->positionErrors[i] = body->positionError;
        run->speedErrors[i] = body->speedError;
    }
    return true;
}

void tpUserStep_GiveShare(const tpUserStep* frame, int group, double part) {
    int total = 0;
    for (int i = 0; i < frame->groups.count; ++i) {
        total += frame->groups.sizes[i];
    }
    tpStepBudget_BeginPart(frame->system, part * frame->groups.sizes[group] / total);
}
