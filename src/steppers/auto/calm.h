// Steps of the user in which nothing can happen: all bodies fly, follow strides or sleep, and none
// can meet another one for a while. Then bodies are put where they are, and nothing else is done.
// If all bodies sleep there is nothing to do at all.

#ifndef TIPPE_SRC_STEPPERS_AUTO_CALM_H
#define TIPPE_SRC_STEPPERS_AUTO_CALM_H

#include "dynamics/sleep.h"
#include "steppers/auto/user_step.h"

// How often calm was not found in a row, at most.
enum { tp_calmFailures = 6 };

typedef struct tpCalm {
    int leftCount;    // steps of the user for which it lasts; 0: it does not
    int lastCount;    // for how many it lasted when it was last found
    int patience;     // steps of the user in which nobody looks for it
    int failureCount; // how often it was not found, in a row
    bool hasFlying;
    bool isStill;     // all bodies sleep
    int contactCount; // what the report says of them then
    double residual, jointDrift;
    double penetration; // of those that sleep, m
    int strideCount;
    int strides[tp_groupLimit + 2]; // carriers
    double h, accuracy;
    uint64_t structure;
    tpVec3 gravity;
    // Of all bodies: where they were left, where they were a step before, and how far they may go
    // on, m.
    TP_ARRAY(tpPose) poses;
    TP_ARRAY(tpVelocity) velocities;
    TP_ARRAY(tpPose) formerPoses;
    TP_ARRAY(tpVelocity) formerVelocities;
    TP_ARRAY(double) rooms;
    double kinetic, potential; // energies of where they were left, J
} tpCalm;

void tpCalm_Destroy(tpCalm* calm, tpSystem* system);

// After a step of all groups: finds out for how long nothing can happen. Slower bodies than those
// that rest are about to. Without memory nothing is found out.
void tpCalm_Begin(tpCalm* calm, const tpUserStep* frame, const tpSleep* sleep, double restSpeed);

// It lasts for so many steps of h from where all bodies are now.
void tpCalm_Last(tpCalm* calm, const tpSystem* system, int count, double h, double accuracy);

// The energies of where all bodies are: those asleep count when they are back in the system.
void tpCalm_FindEnergies(tpCalm* calm, const tpSystem* system);

// After a step in which all bodies slept from its start, by its report.
void tpCalm_Rest(tpCalm* calm, tpSystem* system, const tpStepReport* report, double h,
                 double accuracy);

// Whether it lasts for the step that is taken now: nobody has changed anything. If it does not it
// is over.
bool tpCalm_GoesOn(tpCalm* calm, const tpSystem* system, double h, double accuracy);

void tpCalm_End(tpCalm* calm);

// The step, with the energies of its ends. Contacts are listed for those who ask. False if memory
// ran out.
bool tpCalm_Take(tpCalm* calm, tpSystem* system, tpCarriers* carriers, const tpSleep* sleep,
                 tpSolverMemory* solver, tpStepReport* report);

// Where it began.
tpStepStart tpCalm_Start(const tpCalm* calm);

// Room for all bodies. False if memory ran out.
bool tpCalm_MakeRoom(tpCalm* calm, tpSystem* system);

// Snapshots: calm_saved.c.
size_t tpCalm_SavedSize(const tpCalm* calm);
unsigned char* tpCalm_Save(const tpCalm* calm, unsigned char* place);
bool tpCalm_Restore(tpCalm* calm, const tpCarriers* carriers, tpSystem* system,
                    tpSavedReader* reader);

#endif
