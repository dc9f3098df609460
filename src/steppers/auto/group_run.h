// Steps of one group by one method, as short as the accuracy asks.
//
// A step of h is taken once whole and once in two halves. The difference of the two ends is the
// estimate of the error of the halves, which are kept. README.md has the norms.

#ifndef TIPPE_SRC_STEPPERS_AUTO_GROUP_RUN_H
#define TIPPE_SRC_STEPPERS_AUTO_GROUP_RUN_H

#include "dynamics/tally.h"
#include "steppers/auto/methods.h"
#include "steppers/auto/stride.h"
#include "steppers/kept.h"

// What one or more steps have done.
typedef struct tpTaken {
    tpStepReport report;
    tpTally tally;
    double* reactions; // of joints: sums of means times lengths
    double work;
    double energyPart; // of what the certificate lets the energy rise by, in a step without checks
    bool isBad;        // beyond a limit of the certificate, or undone
    bool hasTurned; // a joint or a slip has turned round, or has come to an edge of its law or back
} tpTaken;

// How a group is carried, from step to step of the user.
typedef struct tpPace {
    double step;                    // s: the last that was accepted; 0: none yet
    double ceiling;                 // s: longer strides were refused lately; 0: none was
    double momentGuess;             // s: when something is thought to happen that strides met
    double momentBound;             // s: it happens before this time; 0: nothing is known
    int patience;                   // steps of the user before strides are tried again
    int refusedCount;               // strides that were refused in a row
    double checkedError;            // of the last check, in parts of what is allowed
    int trust;                      // steps that need not be checked after it
    int uncheckedCount;             // steps since then
    double positionRate, speedRate; // of errors in steps that are not checked, m/s and m/s^2
    bool knowsPushing;
    bool isTold;        // a stride of a new group was refused for a moment in the user's step to
                        // come; nobody knows what pushes up to it
    bool awaitsSlip;    // what is thought to happen is the end of a slip
    uint64_t pushing;   // which shapes pushed each other in the last step
    uint64_t features;  // and with which of their features
    double givenRate;   // what contacts that give did to velocities in it, m/s^2
    double momentError; // of the last step that was checked in which contacts came or went, m
    int momentTrust;    // such steps that need not be checked after it
    int momentCount;    // of them since then
    double flowCost, levelCost; // of strides by the flow and by levels of steps: work per second, 0
                                // not known
    int levelCount;             // strides by levels since a flow was tried
    int shortCount;             // strides of the flow in a row that were short for their error
    double flowLength;          // s: of flows within a step of the user, which strides are longer
                                // than; 0: none
    double flowStep, flowError; // s: a step of the flow in the last stride, and what it is off by,
                                // m;
                                // 0: nothing is known
    int flowWait;               // steps of the user before they are tried again
    int flowFailures;           // such tries in a row that came nowhere
    int hopelessCount; // steps of the user for which nothing is checked, since no step was short
                       // enough
    int hopelessLast;  // so many it was last time
    int failedCount;   // for which methods are not compared again, since none was within the limits
    int badCount;      // steps of the user in a row beyond a limit of the certificate
} tpPace;

typedef struct tpGroupRun {
    tpSystem* system;
    tpOptions options;
    double guard; // the user's option for the energy guard, for steps that nobody checks
    const tpGroups* groups;
    int group;
    tpMethod method;
    void* state;
    tpSolverMemory* solver; // for joints after an extrapolation
    const tpPose* targets;  // of kinematic bodies at the end of the whole step
    tpCertificateLimits limits;
    double begin, length; // of the user's step, s
    double lengthScale, timeScale, accuracy;
    // where it costs more than the limit, or the method leaves bodies to another one
    bool mayGiveUp;
    double workLimit;

    tpPace pace;
    double refusedStart, refusedError; // of the last step that was taken back
    bool wasBad;                       // it was beyond a limit
    tpTaken taken;
    double *positionErrors, *speedErrors; // of bodies, added up: m, m/s
    int rejectedCount, cutCount;
    double lastWork;  // of the last step that was taken
    double lastStep;  // its length, s
    bool isAccurate;  // no step had to be accepted with a larger error than allowed
    bool isAtSlipEnd; // the flow has come near to the end of a slip
    double stopSpeed; // slips that flows take for none as they begin, m/s
    int strikeCount;  // impacts on the way of flows, in the user's step
    bool isByEvents;  // the method of events has taken a step of balls that fly
    bool isPassedOn;  // the method has left bodies to another one
    bool isGivenUp;
    bool hasMemory;
} tpGroupRun;

// Whether the paths of the group cannot be followed any more: its bodies touch, and one is
// estimated to be off by more than the length of the scene.
bool tpGroupRun_IsLost(const tpGroupRun* run);

// Whether the last error was so small that most steps need no check.
bool tpPace_IsTrusted(const tpPace* pace);

// Whether bodies of the group fly towards something, as methods do exactly, with nothing that
// touches.
bool tpGroupRun_FliesTowards(const tpGroupRun* run);

// Carries the group over the user's step.
void tpGroupRun_Take(tpGroupRun* run);

// When a force of the user on the group next begins or ends after `start`, both from the start of
// the user's step; INFINITY: never.
double tpGroupRun_ForcesUntil(const tpGroupRun* run, double start);

// Half of the first stride of a group of which nothing is known, s.
double tpGroupRun_FirstStep(const tpGroupRun* run);

// Tries to carry the group over several steps of the user at once, as many as the pace allows. True
// if the stride has begun; nothing has moved then, and advancing is the stride's matter. Otherwise
// all is as it was, but for the pace.
bool tpGroupRun_TryStride(tpGroupRun* run, tpStride* stride);

// Goes on with a stride for the user's step. What is taken has been started.
void tpGroupRun_FollowStride(tpGroupRun* run, tpStride* stride);

// What a step of the user like this one costs from now on. The first steps of a method that knows
// nothing of the group yet cost more, the last one tells; but where a step had to be cut, all that
// it took counts.
double tpGroupRun_LastingWork(const tpGroupRun* run);

// Room for what is taken. False if memory ran out.
bool tpTaken_Start(tpTaken* taken, tpSystem* system, const tpCertificateLimits* limits);

// Adds what was taken next. False if memory ran out.
bool tpTaken_Append(tpTaken* taken, tpSystem* system, const tpTaken* next);

#endif
