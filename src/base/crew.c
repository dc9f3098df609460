#include "base/crew.h"

#include <sched.h>
#include <stdatomic.h>

// Less work than this for each member is not worth a meeting, contacts.
enum { leastWork = 1000 };

// Turns of the waiting loop before the processor is offered to others.
enum { spinTurns = 2000 };

struct tpCrew {
    int size;
    tpCrewFunction function;
    void* context;
    atomic_int arrived;
    atomic_int meeting; // number of the next one
};

tpRange tpCrew_Share(const tpCrew* crew, int member, int begin, int end) {
    tpRange range = tpChunkRange(end - begin, member, crew->size);
    range.begin += begin;
    range.end += begin;
    return range;
}

void tpCrew_Wait(tpCrew* crew) {
    if (crew->size == 1) {
        return;
    }
    int meeting = atomic_load_explicit(&crew->meeting, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&crew->arrived, 1, memory_order_acq_rel) == crew->size - 1) {
        atomic_store_explicit(&crew->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&crew->meeting, meeting + 1, memory_order_release);
        return;
    }
    for (int turn = 0; atomic_load_explicit(&crew->meeting, memory_order_acquire) == meeting;
         ++turn) {
        if (turn >= spinTurns) {
            sched_yield();
        }
    }
}

static void takePart(void* context, int chunk, int worker) {
    (void)worker;
    tpCrew* crew = context;
    crew->function(crew->context, crew, chunk);
}

void tpCrew_Run(tpTasks* tasks, int work, tpCrewFunction function, void* context) {
    // As many chunks as workers: none finishes before all have begun, so each has a thread of its own.
    int size = tpTasks_GetWorkerCount(tasks);
    int useful = work / leastWork;
    size = size < useful ? size : useful;
    tpCrew crew = { .size = size > 1 ? size : 1, .function = function, .context = context };
    tpTasks_Run(tasks, takePart, &crew, crew.size);
}
