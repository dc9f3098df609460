#include "base/crew.h"

#include <sched.h>

// Looks before the processor is offered to others.
enum { spinTurns = 4000 };

struct tpCrew {
    int size;
    tpCrewFunction function;
    void* context;
};

int tpCrew_Size(const tpCrew* crew) {
    return crew->size;
}

void tpCrew_Look(int turn) {
    if (turn >= spinTurns) {
        sched_yield();
    } else {
        tpPauseProcessor();
    }
}

static void takePart(void* context, int chunk, int worker) {
    (void)worker;
    const tpCrew* crew = context;
    crew->function(crew->context, crew, chunk);
}

void tpCrew_Run(tpTasks* tasks, int most, tpCrewFunction function, void* context) {
    // No more chunks than workers: each worker comes for a chunk of its own, so that members that
    // wait for others do not keep these from beginning. More members than processors would wait for
    // those that do not run.
    int size = tpTasks_GetActiveCount(tasks);
    size = size < most ? size : most;
    tpCrew crew = { .size = size > 1 ? size : 1, .function = function, .context = context };
    tpTasks_Run(tasks, takePart, &crew, crew.size);
}
