// What acts on the bodies in a stride: impulses of joints and contacts, work and losses.
//
// A stride is two steps in halves: each quarter tells what it has carried. What has acted up to
// some time is the polynomial of fourth degree through the sums at the ends of the quarters.

#ifndef TIPPE_SRC_STEPPERS_AUTO_STRIDE_LOADS_H
#define TIPPE_SRC_STEPPERS_AUTO_STRIDE_LOADS_H

#include "base/saved_reader.h"
#include "dynamics/tally.h"

typedef struct tpStrideLoads {
    TP_ARRAY(double) sums;            // of each quarter: impulses of joints, work and losses
    TP_ARRAY(tpContactInfo) contacts; // of each quarter the same ones
    double residual, penetration;     // the worst
} tpStrideLoads;

void tpStrideLoads_Destroy(tpStrideLoads* loads, tpSystem* system);

// Nothing yet. False if memory ran out.
bool tpStrideLoads_Begin(tpStrideLoads* loads, tpSystem* system);

// What a quarter has done: impulses of joints, its report and its contacts. False if other contacts
// were there than in the first quarter, or memory ran out.
bool tpStrideLoads_Set(tpStrideLoads* loads, tpSystem* system, int quarter, const double* reactions,
                       const tpStepReport* report, const tpTally* tally);

// Puts sums of second order right to the fourth, those of contacts apart, by what two steps have
// done, each over two quarters.
void tpStrideLoads_Extrapolate(tpStrideLoads* loads, const tpSystem* system,
                               const double* firstReactions, const tpStepReport* first,
                               const double* secondReactions, const tpStepReport* second);

// How many there are.
int tpStrideLoads_ContactCount(const tpStrideLoads* loads);

// Looks at the contacts where the bodies are now, somewhere in the stride: how deep they overlap.
// False if memory ran out.
bool tpStrideLoads_Look(tpStrideLoads* loads, tpSystem* system);

// Adds what has acted from one part of the stride to a later one.
void tpStrideLoads_Add(const tpStrideLoads* loads, const tpSystem* system, double from, double to,
                       double* reactions, tpStepReport* report);

// Its contacts, where the bodies are now, in the arena. False if memory ran out.
bool tpStrideLoads_ListContacts(const tpStrideLoads* loads, tpSystem* system, double from,
                                double to, tpTally* list);

// Margins of bodies within which they touch, in the arena. NULL if memory ran out.
double* tpSystem_TouchMargins(tpSystem* system);

// All contacts within them, of the pairs of shapes of a list in order, where the bodies are now, in
// the arena. False if memory ran out.
bool tpSystem_FindTouching(tpSystem* system, const tpContactInfo* list, int listCount,
                           tpContact** contacts, int* count);

// Snapshots.
size_t tpStrideLoads_SavedSize(const tpStrideLoads* loads);
unsigned char* tpStrideLoads_Save(const tpStrideLoads* loads, unsigned char* place);
bool tpStrideLoads_Restore(tpStrideLoads* loads, tpSystem* system, tpSavedReader* reader);

#endif
