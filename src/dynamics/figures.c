#include "dynamics/figures.h"
#include "base/assert.h"

#include <string.h>

const tpFigureInfo tpFigureTable[tp_figureCount] = {
    [tp_checkFigure] = { "checks", "distances of two shapes that were computed", false },
    [tp_collisionFigure] = { "collisions", "impacts, without resting contacts", false },
    [tp_microcollisionFigure] = { "microcollisions", "tiny impacts that represent resting contact",
                                  false },
    [tp_heapOperationFigure] = { "heap_operations", "changes of the event queue", false },
    [tp_handedOverFigure] = { "handed_over",
                              "bodies moved by another method at the end of the step", true },
    [tp_budgetEndFigure] = { "budget_ends",
                             "solves that ended on their budget, above their tolerance", false },
    [tp_switchFigure] = { "switches", "groups of bodies that changed their method", false },
    [tp_rejectedFigure] = { "rejected_steps", "steps taken back because their error was too large",
                            false },
};

int tpFigureCount(void) {
    return tp_figureCount;
}

const tpFigureInfo* tpFigure(int index) {
    return index >= 0 && index < tp_figureCount ? &tpFigureTable[index] : NULL;
}

int tpStepReport_GetFigure(const tpStepReport* report, const char* name) {
    TP_NEED(report, 0);
    for (int i = 0; i < tp_figureCount; ++i) {
        if (strcmp(tpFigureTable[i].name, name) == 0) {
            return report->figures[i];
        }
    }
    return -1;
}
