// Threads that go through the same program side by side.
//
// A loop (tasks.h) waits for all threads at its end: for many short pieces of work in a row that
// costs more than the work. The members of a crew are woken once for all of it, and wait for each
// other by counters of their own (sweeps/schedule.h).

#ifndef TIPPE_SRC_BASE_CREW_H
#define TIPPE_SRC_BASE_CREW_H

#include "base/tasks.h"

typedef struct tpCrew tpCrew;

typedef void (*tpCrewFunction)(void* context, const tpCrew* crew, int member);

// Runs the function once for each member, each on a thread of its own. There are no more members
// than `most`, threads, or processors.
void tpCrew_Run(tpTasks* tasks, int most, tpCrewFunction function, void* context);

int tpCrew_Size(const tpCrew* crew);

// To be called between two looks at what another thread will change, the `turn`-th time: offers the
// processor to others after a while.
void tpCrew_Look(int turn);

#endif
