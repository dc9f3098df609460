#include "dynamics/parts.h"

#include "dynamics/contacts.h"
#include "dynamics/joint_state.h"

bool tpParts_Begin(tpParts* parts, tpSystem* system, double duration) {
    int numbers = tpJoints_ReactionCount(system);
    *parts = (tpParts){ .system = system,
                        .duration = duration,
                        .reactions = TP_SCRATCH_ZEROED(&system->arena, double, numbers),
                        .last = TP_SCRATCH(&system->arena, double, numbers),
                        .reactionCount = numbers };
    return !system->arena.failed;
}

bool tpParts_Add(tpParts* parts, double h, const tpArenaMark* mark) {
    tpSystem* system = parts->system;
    if (system->listContacts != NULL) {
        system->listContacts(system, system->listContext); // promises are kept now
        system->listContacts = NULL;
    }
    if (mark != NULL) {
        tpArena_Release(&system->arena, *mark);
    }
    double share = h / parts->duration;
    tpJoints_ReadReactions(system, parts->last);
    for (int i = 0; i < parts->reactionCount; ++i) {
        parts->reactions[i] += share * parts->last[i];
    }
    tpJoints_WriteReactions(system, parts->reactions);
    return tpTally_Merge(&parts->tally, system->contacts.data, system->contacts.count,
                         &system->arena);
}

bool tpParts_List(tpParts* parts, tpStepReport* report) {
    tpSystem* system = parts->system;
    double* margins = tpSystem_Margins(system, system->velocities.data, NULL, parts->duration);
    return margins != NULL && tpTally_List(&parts->tally, system, margins, report);
}
