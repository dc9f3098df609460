// Steps of the user in which nothing can happen: all bodies fly, or follow strides, and none can
// meet another one for a while. Then bodies are put where they are, and nothing else is done.

#ifndef TIPPE_SRC_STEPPERS_AUTO_CALM_H
#define TIPPE_SRC_STEPPERS_AUTO_CALM_H

#include "steppers/auto/user_step.h"

// Pairs of shapes that are remembered.
enum { tp_calmPairs = 16 };

typedef struct tpCalm {
    int leftCount;    // steps of the user for which it lasts; 0: it does not
    int lastCount;    // for how many it lasted when it was last found
    int patience;     // steps of the user in which nobody looks for it
    int failureCount; // how often it was not found, in a row
    bool hasFlying;
    int strideCount;
    int strides[tp_groupLimit + 2]; // carriers
    double h, accuracy;
    uint64_t structure;
    tpVec3 gravity;
    int pairCount; // shapes that can touch while it lasts; more than there is room: not known
    tpShapePair pairs[tp_calmPairs];
    // Of all bodies: where they were left, and how far they may go on, m.
    TP_ARRAY(tpPose) poses;
    TP_ARRAY(tpVelocity) velocities;
    TP_ARRAY(double) rooms;
} tpCalm;

void tpCalm_Destroy(tpCalm* calm, tpSystem* system);

// After a step of all groups: finds out for how long nothing can happen. Slower bodies than those
// that rest are about to. Without memory nothing is found out.
void tpCalm_Begin(tpCalm* calm, const tpUserStep* frame, double restSpeed);

// Whether it lasts for the next step: nobody has changed anything.
bool tpCalm_CanGoOn(const tpCalm* calm, const tpSystem* system, double h, double accuracy);

// The same for the step that is taken now: if it does not last it is over.
bool tpCalm_GoesOn(tpCalm* calm, const tpSystem* system, double h, double accuracy);

// The step. Contacts are listed for those who ask. False if memory ran out.
bool tpCalm_Take(tpCalm* calm, const tpUserStep* frame, tpStepReport* report);

// Snapshots.
size_t tpCalm_SavedSize(const tpCalm* calm);
unsigned char* tpCalm_Save(const tpCalm* calm, unsigned char* place);
bool tpCalm_Restore(tpCalm* calm, const tpCarriers* carriers, tpSystem* system,
                    tpSavedReader* reader);

#endif
