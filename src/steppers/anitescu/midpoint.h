// The second-order step of the Anitescu stepper, theta = 1/2.

#ifndef TIPPE_SRC_STEPPERS_ANITESCU_MIDPOINT_H
#define TIPPE_SRC_STEPPERS_ANITESCU_MIDPOINT_H

#include "steppers/drift.h"

typedef struct tpMidpointSettings {
    tpDriftSettings drift;
    double threshold;   // approaches slower than this do not bounce, m/s
    double restitution; // factor of the restitution, 1 unless the energy guard lowers it
    bool asksApart;     // tpMidpointTrial.apart is wanted
} tpMidpointSettings;

// What one try of the step was like.
typedef struct tpMidpointTrial {
    bool isForeseen;  // the try ended before its first solve, for an impact that is to be located
    bool bounces;     // with restitution
    bool isLively;    // it gives back more than a quarter of the energy of some approach
    bool mayBounce;   // or a shorter part would, and say when; or a hard impact without
    double overlap;   // the deepest at the start, m
    double apart;     // the largest error of a joint there, m or rad, if it is wanted
    double miss;      // of the drift, m or rad
    bool isLost;      // so was the drift: the try ended with it
    bool isTouched;   // contacts or limits have pushed
    bool hasCollided; // some of them against an approach
} tpMidpointTrial;

// One step of h seconds; leaves the system at its end. False if memory ran out.
bool tpMidpoint_Step(tpSystem* system, tpStepperMemory* memory, const tpMidpointSettings* settings,
                     double h, tpMidpointTrial* trial, tpStepReport* report);

#endif
