// Everything that touches at one configuration, and the solve of its contact law.
//
// A step has two such problems: the resting contacts during the step, at the poses of its start,
// and the velocities at its end. Both are swept until the certificate is met.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_TOUCH_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_TOUCH_H

#include "dynamics/energy_account.h"
#include "dynamics/joints.h"
#include "steppers/bender_schmitt/state.h"
#include "sweeps/sweeper.h"

// The options, once a step.
typedef struct tpBenderSettings {
    double tolerance; // of contact velocities, m/s
    double gamma;     // part of an overlap that one step takes back
    double pushOut;   // overlaps are taken back no faster, m/s
    double epsilon;   // the paper's eps_c: contacts with smaller gaps touch, m
    double calm;      // speed that gravity gives in two steps, m/s
    double flow;      // slower bodies keep what holds them in a step, m/s
    double threshold; // slower approaches are resting contacts, m/s
    int budget;       // contact updates a step
    bool isLocated;   // steps end at the first impact
    bool isPaperRule; // the paper's incremental friction
    bool isShocked;   // shock propagation
    bool isGuarded;   // energy may not rise
    bool isWaiting;   // the portfolio has failed lately
} tpBenderSettings;

typedef struct tpTouch {
    tpSystem* system;
    const tpPose* poses;
    const tpVelocity* before; // read by tpTouch_Create alone
    tpContact* contacts;
    tpContactLaw* laws;
    int contactCount;
    tpRows rows; // those of the joints; contacts join them when the sweeps are not enough
    int jointBlocks, jointRows;
    tpSweeper sweeper;
    bool isSmall;    // few enough contacts to be solved to the tolerance whatever it takes
    bool isWhole;    // few enough for all the work that the step may cost
    bool isExact;    // few enough that the portfolio may end what sweeps do not
    bool isLost;     // it could not
    bool isEnd;      // at the end of a step or of a part of it
    bool hasStalled; // sweeps have not been enough for a problem of this step
} tpTouch;

// At the poses where the contacts were found, which are the system's own. `before` are velocities
// without the forces that act from there on: those that say how fast contacts meet. Of what was in
// `touch` only `hasStalled` stays; the step begins with zeros. False if memory ran out.
bool tpTouch_Create(tpTouch* touch, tpSystem* system, const tpPose* poses, const tpVelocity* before,
                    tpContact* contacts, int count, const tpBenderSettings* settings);

// Adds the joints' rows of one half of the step; `velocities` say how bodies move that move as
// told. False if memory ran out.
bool tpTouch_AddJoints(tpTouch* touch, const tpJointTreatment* treatment, tpStepHalf half,
                       const tpVelocity* velocities);

// A contact's start: an impulse on A in world axes.
void tpTouch_SetStart(tpTouch* touch, int contact, tpVec3 impulse, double torsion);

// A contact's answer.
tpVec3 tpTouch_Friction(const tpTouch* touch, int contact);
double tpTouch_Normal(const tpTouch* touch, int contact);
double tpTouch_Torsion(const tpTouch* touch, int contact);

// Starts of the joints' impulses from a part of those kept, and back.
void tpTouch_StartJoints(tpTouch* touch, const double* kept, int count, double share);
bool tpTouch_KeepJoints(const tpTouch* touch, const tpAllocator* allocator, double share,
                        double** kept, int* count, int* capacity);

// Writes the impulses of joints back to their rows.
void tpTouch_StoreJoints(tpTouch* touch);

// Adds a contact to rows (its own or others), with the impulses that it has; without them the
// bodies move as `start` says. And back: impulses of a block that was added so.
void tpTouch_AddContactRows(const tpTouch* touch, tpRows* rows, int contact,
                            const tpVelocity* start);
void tpTouch_TakeContactRows(tpTouch* touch, const tpRows* rows, int block);

// Whether this is a crowd without joints under a certificate that the user has chosen.
bool tpTouch_IsCertifiedCrowd(const tpTouch* touch, const tpBenderSettings* settings);

// Solves: `velocities` receive `start` (another array) changed by the impulses. At most
// `sweepLimit` sweeps, none of them wasted once the certificate is met. Adds to the report. False
// if memory ran out.
bool tpTouch_Solve(tpTouch* touch, const tpBenderSettings* settings, tpSolverMemory* memory,
                   const tpVelocity* start, tpVelocity* velocities, int sweepLimit,
                   tpStepReport* report);

// Adds the energies that the impulses changed between two states to the report.
bool tpTouch_AccountEnergy(tpTouch* touch, const tpRowVelocities* velocities, tpStepReport* report);

// Takes off them what is only exchanged with a kick before the impulses; see tpRows_AccountKick.
// Comes after tpTouch_AccountEnergy.
bool tpTouch_AccountKick(tpTouch* touch, const tpVelocity* start, const tpVelocity* kicked,
                         double share, tpStepReport* report);

#endif
