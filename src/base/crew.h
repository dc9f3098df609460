// Threads that go through the same program side by side, with meeting points.
//
// Waking threads for every colour of every sweep would cost more than the sweep: a crew is woken once for a
// whole solve, and its members wait for each other by spinning at the end of each colour.

#ifndef TIPPE_SRC_BASE_CREW_H
#define TIPPE_SRC_BASE_CREW_H

#include "base/tasks.h"

typedef struct tpCrew tpCrew;

typedef void (*tpCrewFunction)(void* context, tpCrew* crew, int member);

// Runs the function once for each member. `work` is how much there is to do (contacts): little is done by
// one member alone.
void tpCrew_Run(tpTasks* tasks, int work, tpCrewFunction function, void* context);

// Returns when all members have come here.
void tpCrew_Wait(tpCrew* crew);

// The member's part of a range.
tpRange tpCrew_Share(const tpCrew* crew, int member, int begin, int end);

#endif
