// What every time stepper does around its problem: free motion before, moving and reporting after.
//
// A step works on velocities: forces change them at the start of the step (`kicked`), impulses too
// (`pushed`), then bodies drift: straight, and in free rotation. For bodies with three equal
// moments and in planar worlds that is all. The angular velocity of others changes as they tumble:
// `meanVelocities` are the mean velocities of the drift and `velocities` those at its end,
// `freeMeanVelocities` and `freeVelocities` the same without impulses.

#ifndef TIPPE_SRC_DYNAMICS_TIME_STEP_H
#define TIPPE_SRC_DYNAMICS_TIME_STEP_H

#include "dynamics/contacts.h"
#include "dynamics/solve.h"
#include "dynamics/tally.h"

typedef struct tpTimeStep {
    tpSystem* system;
    double h;
    double kick;        // time of the forces in `kicked`, s
    bool isFlightExact; // bodies without a row fall as in two half kicks, whatever `kick` is
    int bodyCount;
    tpPose* startPoses;
    tpVelocity* startVelocities;
    tpVelocity* steadied; // start velocities without steady efforts (dynamics/steady_efforts.h)
    tpVelocity* kicked;
    tpVelocity* undamped; // what the kick made of them before damping; NULL if nothing is damped
    tpVelocity* freeVelocities;
    tpVelocity* freeMeanVelocities;
    tpVelocity* pushed;
    tpVelocity* velocities;
    tpVelocity* meanVelocities;
    bool* hasRow; // of bodies, where flight is exact
    double* margins;

    tpContact* contacts;
    tpContactLaw* laws;
    int contactCount;
    tpContact* endContacts; // where the step ends, once they have been looked for
    int endCount;
    tpRows rows;
    struct tpReduced* reduced; // trees of joints, which then have no rows (reduced.h); else NULL
    const bool* swinging;      // joints with half of their law in the rows, the rest of which is
                               // left for the end of the drift; NULL: none
    double jointSlack;         // m: joints that are apart by no more at the end are left as they
                               // are
    tpVelocity* wholeKick;     // `kicked` before bodies that swing left half of it for the end;
                               // NULL: none does
} tpTimeStep;

// Copies the state, applies the impulses that forces have in `kick` seconds, finds the free motion
// over h. False if memory ran out.
bool tpTimeStep_Begin(tpTimeStep* step, tpSystem* system, double h, double kick);
// The same for a step in two halves, which balances steady efforts (steady_efforts.h).
bool tpTimeStep_BeginSymmetric(tpTimeStep* step, tpSystem* system, double h, double kick);

// Takes the forces back and applies those of `kick` seconds instead, before anything is solved.
// Margins stay as they are. False if memory ran out.
bool tpTimeStep_KickAnew(tpTimeStep* step, double kick);

// The drift of all bodies from the start with the given velocities: its mean velocities, and the
// velocities at its end.
void tpTimeStep_FindDrift(const tpTimeStep* step, const tpVelocity* from,
                          tpVelocity* meanVelocities, tpVelocity* atEnd);

// Poses after moving from the start at the given velocities for h; kinematic bodies where they have
// to be. `poses` may be the system's.
void tpTimeStep_Move(const tpTimeStep* step, const tpVelocity* meanVelocities, tpPose* poses);

// Contacts at the given poses within the margins, their laws, and empty rows with room for them and
// for the joints.
bool tpTimeStep_FindContacts(tpTimeStep* step, const tpPose* poses);

// The same for contacts that have been found already: they become those of the step.
bool tpTimeStep_UseContacts(tpTimeStep* step, tpContact* contacts, int count);

// Row velocities without impulses: q = J v + bias, with freeMeanVelocities in normal and joint rows
// and freeVelocities in friction rows.
void tpTimeStep_SetFreeVelocities(tpTimeStep* step);

// Start of the solve from a part of what the contacts carried in the last step.
void tpTimeStep_WarmStart(tpTimeStep* step, const tpContactHistory* history, double part);

// The impulses that the rows have now, for other rows of the same step to start from. The list is
// in the system's arena. False if memory ran out.
bool tpTimeStep_Latest(const tpTimeStep* step, tpContactHistory* history);

// pushed, meanVelocities and velocities from the impulses.
void tpTimeStep_ApplyImpulses(tpTimeStep* step);

// The same if the impulses are as a solve has just left them.
void tpTimeStep_ApplySolved(tpTimeStep* step);

// meanVelocities and velocities from `pushed`, which the caller has set.
void tpTimeStep_FollowPushed(tpTimeStep* step);

// Bodies that no impulse has touched go by the mean of their velocities before and after the kick:
// they fall as in two half kicks, whatever `kick` is. After tpTimeStep_FollowPushed.
void tpTimeStep_FlyUntouched(tpTimeStep* step);

// The drift's mean velocities as rows have them: linear in the impulses, which those of tumbling
// bodies are not. A row written at the end of the drift, u = gap / h + J (v - these), is right
// there.
void tpTimeStep_LinearMeanVelocities(const tpTimeStep* step, tpVelocity* meanVelocities);

// freeMeanVelocities of bodies that were kicked to another angular velocity, with the gyroscopic
// part of the velocities at the start. A servo that holds a load through stiff steps kicks light
// links to tens of rad/s before other rows stop them: what gyroscopic torques would do at that
// speed was in the rows, and took two more solves to correct.
void tpTimeStep_LineariseAtStart(tpTimeStep* step);

// Puts the system where it is after the drift.
void tpTimeStep_Drift(tpTimeStep* step);

// Velocity of body A's surface against body B's at a contact half way through the drift, m/s: the
// contact as it was at the start and as it is at the end, where the bodies are now.
tpVec3 tpTimeStep_SlipHalfWay(const tpTimeStep* step, const tpContact* start, const tpContact* end);

// The largest difference of a body's two velocities, as a share of 1 + the second one.
double tpTimeStep_LargestChange(const tpTimeStep* step, const tpVelocity* a, const tpVelocity* b);

// Velocity of a point of a body at its pose at the start.
tpVec3 tpTimeStep_PointVelocity(const tpTimeStep* step, int body, tpVec3 point,
                                const tpVelocity* velocities);

// Contacts within the margins where `meanVelocities` lead.
bool tpTimeStep_FindEndContacts(tpTimeStep* step);

// True if a body moves farther than its margin from where contacts were looked for, having moved
// there by `linearised` (NULL: not at all). Its margin is then enlarged.
bool tpTimeStep_Outran(tpTimeStep* step, const tpVelocity* linearised);

// Adds the impulses of the rows just solved; sliding speeds are those of the system's velocities.
bool tpTimeStep_Tally(const tpTimeStep* step, tpTally* tally);

// Corrects joints, measures penetration and gaps where the bodies are now, lists the contacts and
// remembers them. The system has its final poses and velocities.
bool tpTimeStep_Report(tpTimeStep* step, tpTally* tally, tpSolverMemory* memory,
                       tpContactHistory* history, tpStepReport* report);

// The rest of the laws of joints that swing, where the drift has ended; `whole` is the step of
// which this one is a part, s.
void tpTimeStep_KickSwings(const tpTimeStep* step, double whole, tpStepReport* report);

// Whether a contact of the step has restitution.
bool tpTimeStep_HasRestitution(const tpTimeStep* step);

// Work of what users apply, and of the damping in the kick, over the way of the drift.
double tpTimeStep_ForceWork(const tpTimeStep* step);

// If all forces act before the drift, bodies that are touched go at the velocity after it and not
// at the mean of those before and after. What gravity gives less because of that, J.
double tpTimeStep_WayLoss(const tpTimeStep* step);

// Energies of the impulses that led from `kicked` to `pushed`, and work of what users apply.
void tpTimeStep_AccountEnergy(const tpTimeStep* step, tpStepReport* report);

// For steppers with a single solve: takes velocities and mean velocities over into the system and
// reports.
bool tpTimeStep_Finish(tpTimeStep* step, tpSolverMemory* memory, tpContactHistory* history,
                       tpStepReport* report);

#endif
