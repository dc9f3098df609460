#include "dynamics/trial.h"

#include <string.h>

#include "dynamics/report.h"

bool tpTrial_Begin(tpTrial* trial, tpSystem* system, tpContactHistory* history,
                   tpStepReport* report) {
    memset(trial, 0, sizeof(*trial));
    trial->system = system;
    trial->report = report;
    trial->history = history;
    trial->memoryCount = history != NULL ? history->list.count : 0;
    trial->memoryStep = history != NULL ? history->h : 0.0;
    trial->memories = TP_SCRATCH(&system->arena, tpContactMemory, trial->memoryCount);
    if (!tpKeptMotion_Take(&trial->motion, system)) {
        return false;
    }
    if (trial->memoryCount > 0) {
        memcpy(trial->memories, history->list.data,
               sizeof(tpContactMemory) * (size_t)trial->memoryCount);
    }
    trial->keptReport = *report;
    trial->mark = tpArena_Mark(&system->arena);
    return true;
}

void tpTrial_KeepTally(tpTrial* trial, tpTally* tally) {
    trial->tally = tally;
    trial->keptTally = *tally;
}

void tpTrial_KeepScratch(tpTrial* trial) {
    trial->mark = tpArena_Mark(&trial->system->arena);
}

void tpTrial_Undo(const tpTrial* trial) {
    tpKeptMotion_PutBack(&trial->motion, trial->system);
    if (trial->history != NULL) {
        // There was room for as many before.
        trial->history->list.count = trial->memoryCount;
        trial->history->h = trial->memoryStep;
        if (trial->memoryCount > 0) {
            memcpy(trial->history->list.data, trial->memories,
                   sizeof(tpContactMemory) * (size_t)trial->memoryCount);
        }
    }
    if (trial->tally != NULL) {
        *trial->tally = trial->keptTally;
    }
    tpStepReport_Undo(trial->report, &trial->keptReport);
    tpArena_Release(&trial->system->arena, trial->mark);
}
