// One step of the user, of all groups.

#ifndef TIPPE_SRC_STEPPERS_AUTO_USER_STEP_H
#define TIPPE_SRC_STEPPERS_AUTO_USER_STEP_H

#include "steppers/auto/carriers.h"

typedef struct tpUserStep {
    tpSystem* system;
    tpCarriers* carriersOf;
    tpSolverMemory* solver;
    const tpOptions* options;
    const tpCertificateLimits* limits;
    double h;
    tpGroups groups;
    tpKept start; // motion alone
    tpPose* targets;
    tpPose* poses; // at the end, of the groups that are done
    tpVelocity* velocities;
    const char** carriers;
    double* carrierSteps; // s
    double* motion;
    double *positionErrors, *speedErrors;
    tpTaken taken;
    double lengthScale, timeScale, accuracy;
    int switchCount, rejectedCount;
    bool isAccurate, isCrowded, isLost;
    bool isLeft;  // a crowd has been left to the method for crowds
    bool isTaken; // one has been taken from a method that cannot carry it as it is now
} tpUserStep;

// A run of the group by what carries it.
tpGroupRun tpUserStep_MakeRun(const tpUserStep* frame, int group, const tpCarrier* carrier);

// Errors of the run as they are at the start of the frame. False if memory ran out.
bool tpUserStep_StartErrors(const tpUserStep* frame, tpGroupRun* run);

// Gives a group its share of what the step may cost, or a part of it.
void tpUserStep_GiveShare(const tpUserStep* frame, int group, double part);

#endif
