// Islands that have come to rest are left alone until something concerns them.
//
// An island (bodies that hang together through contacts and joints) falls asleep when for some time
// all its bodies have been slower than a given speed, and the law of all its contacts has been met
// to the same speed. Asleep its bodies have no velocity and no inverse mass: to a stepper they are
// fixed, and pairs of them are no pairs to the collider. What they carried in their last step stays
// in the list of contacts. Between steps the system is as if nobody slept.
//
// An island wakes as a whole: when a body that moves comes near, a user has moved one of its bodies
// or given it a velocity, a force begins to act, a kinematic body sets off, gravity changes, or a
// shape, joint, force or support of one of its bodies has come or gone. A change of a fixed body
// wakes all.
//
//     Begin, Meet until nothing wakes, the step, End

#ifndef TIPPE_SRC_DYNAMICS_SLEEP_H
#define TIPPE_SRC_DYNAMICS_SLEEP_H

#include "base/saved_reader.h"
#include "dynamics/contact_info.h"

typedef struct tpSleepSettings {
    double speed; // slower bodies, of which no point is faster, are quiet, m/s
    double time;  // for which all of an island are quiet before it sleeps, s
    // A body that is quiet for a while only because it turns round is slow for 2 v / a seconds,
    // with the acceleration a. So a shorter time tells as much if the speed is less by as much; s,
    // 0: there is none.
    double shortTime;
} tpSleepSettings;

// What a joint did in the last step before its bodies fell asleep.
typedef struct tpJointRest {
    tpVec3 force, torque;
    double efforts[tp_maxCoordinates], limitEfforts[tp_maxCoordinates];
} tpJointRest;

typedef struct tpSleep {
    // Of each body: the number of the island with which it sleeps, 0 awake; for how long it has
    // been quiet, s; its state at the end of the last step, to see what users have changed.
    TP_ARRAY(int) islands;
    TP_ARRAY(double) quiet;
    TP_ARRAY(uint64_t) births; // which body it is: slots are used again
    TP_ARRAY(tpPose) poses;
    TP_ARRAY(tpVelocity) velocities;
    TP_ARRAY(tpJointRest) joints; // reactions of the joints of sleeping islands
    TP_ARRAY(double)
    thrown; // of those that something has come near in this step: how far it
            // may throw them, m; of others 0

    TP_ARRAY(tpContactInfo) contacts; // of sleeping islands, in the collider's order
    TP_ARRAY(tpContactInfo) woken;    // of those that have woken in this step, likewise
    int lastIsland, sleepingCount;
    bool isTaken; // the sleeping are out of the system, within a step
    double h;     // of the step that the contacts' impulses belong to, s
    tpVec3 gravity;
    uint64_t structure;
} tpSleep;

// How far a contact of the last step is from Coulomb's law, as a velocity, m/s: by its impulse and
// the velocity now, whoever found them.
double tpContactInfo_Residual(const tpSystem* system, const tpContactInfo* info);

void tpSleep_Destroy(tpSleep* sleep, tpSystem* system);

// Wakes what has been disturbed since the last step and takes the sleeping out of the system. False
// if memory ran out (all are awake then).
bool tpSleep_Begin(tpSleep* sleep, tpSystem* system, double h);

// Whether nothing in the system moves, within a step.
bool tpSleep_IsAll(const tpSystem* system);

// Wakes islands that bodies come near, by contacts found within the margins of the step. True if
// one has: its contacts are to be looked for then, and there may be others beside it, which it may
// be thrown against.
bool tpSleep_Meet(tpSleep* sleep, tpSystem* system, const tpContact* contacts, int count,
                  double speed, double h);

// Puts the sleeping back into the system and its list of contacts; islands that have been quiet
// long enough fall asleep. False if memory ran out (all are awake then).
bool tpSleep_End(tpSleep* sleep, tpSystem* system, const tpSleepSettings* settings, double h,
                 tpStepReport* report);

// Puts the contacts of those asleep among the others of the system's list. False if memory ran out.
bool tpSleep_ListContacts(const tpSleep* sleep, tpSystem* system);

// Marks those that sleep: steppers that another one has called within the step keep nobody asleep,
// and have said so.
void tpSleep_Mark(const tpSleep* sleep, tpSystem* system);

void tpSleep_WakeAll(tpSleep* sleep, tpSystem* system);

// Snapshots.
size_t tpSleep_SavedSize(const tpSleep* sleep);
void tpSleep_Save(const tpSleep* sleep, void* saved);
bool tpSleep_Restore(tpSleep* sleep, tpSystem* system, tpSavedReader* reader);

#endif
