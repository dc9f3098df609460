// A step at work: what the files of this folder hand each other.

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_STEP_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_STEP_H

#include "base/tasks.h"
#include "collision/over_face.h"
#include "steppers/small_steps/joints.h"
#include "steppers/small_steps/state.h"
#include "sweeps/schedule.h"

// The options, once per step.
typedef struct tpSmallStepsSettings {
    double tolerance; // of contact velocities, m/s
    double pushOut;   // overlaps are taken back no faster, m/s
    double threshold; // slower approaches do not bounce, m/s
    int substeps;     // 0: as many as are needed
} tpSmallStepsSettings;

typedef struct tpSmallStep {
    tpSystem* system;
    tpSmallSteps* state;
    tpSmallStepsSettings settings;
    tpStepReport* report;
    double h;
    int substeps;
    double substepTime; // s
    bool isSlow;        // one substep is enough, and mechanisms turn next to nothing in it
    bool isStill;       // they rest

    // Lines of bodies, by their numbers here. Velocities and places stay until the list of contacts
    // has been made; the others go once the step has been judged.
    int count;
    tpArenaMark judged;
    tpVelocity* starts;     // velocities at the start of the step; then `aheads`
    tpVelocity* kicks;      // what forces add in a substep; then twice the mean velocity
    tpVelocity* bases;      // velocities of the substep without its contacts' impulses
    tpVelocity* velocities; // now
    // first what impulses to start with give; displacements; then those of the whole step
    tpVelocity* moved;
    tpVelocity* places; // positions; in `angular` what bodies.c knows of their flight
    tpSupport* supports;
    tpSweepBody* masses;
    bool* mayRest;    // it turned little at the start: its flight is found at the end, if at
                      // all
    bool* isPushed;   // impulses have changed its velocity in this step
    int32_t* strikes; // impacts that it has had in this step
    int32_t* seen;    // per run: those of its bodies when it was looked at last
    // a user has moved it or changed its velocity, or it is faster than was foreseen
    bool* isDisturbed;
    // Bodies that no impulse moves and that move all the same: as told.
    int32_t* driven;
    int drivenCount;

    const tpSoftKernels* kernels;
    tpSoftSweep sweep;
    tpSchedule schedule;
    tpPhase* phases; // of the substeps
    int phaseCount;
    tpStepJoints* joints; // NULL if there are no mechanisms
    bool* isInside;       // bodies of mechanisms that no sweep touches; NULL: none
    // Of each run, a bit per lane: its contacts are solved exactly (few_contacts.h). NULL: none.
    uint8_t* exactLanes;
    // Contacts whose point moves over its body, and these bodies; NULL: nobody looks for them.
    struct tpTurningPoint* turning;
    int turningCount;
    bool* isTurning;
    bool turnsFar; // some body does (tpSmallStep_TurnsFar)
    bool bounces;
    double restitution; // the largest of its contacts
    bool hasEllipses;   // friction of some materials depends on the direction
    bool hasWoken;      // islands have woken in this step
    bool hasChanged;    // bodies, shapes or joints have come or gone since the last step
    int listed;         // contacts that a list for users would have
    double penetration; // deepest, m
} tpSmallStep;

static inline bool tpIsSameVelocity(const tpVelocity* a, const tpVelocity* b) {
    return a->linear.x == b->linear.x && a->linear.y == b->linear.y && a->linear.z == b->linear.z &&
           a->angular.x == b->angular.x && a->angular.y == b->angular.y &&
           a->angular.z == b->angular.z;
}

// The whole step: `system`, `state`, `settings`, `report` and `h` are given, the rest is zero. It
// lies in the arena: the list of contacts is made of it when somebody asks. False if memory ran
// out.
bool tpSmallStep_Take(tpSmallStep* step);

// How many substeps (need.c): as it begins those of the last step, if they are not asked for; once
// it is known what is swept those that it needs; and at its end, before bodies are moved, notes
// what the next one has to know.
void tpSmallStep_BeginSubsteps(tpSmallStep* step);
void tpSmallStep_ChooseSubsteps(tpSmallStep* step);
void tpSmallStep_EndSubsteps(tpSmallStep* step);

// How the step has ended.
void tpSmallStep_NoteVerdict(const tpSmallStep* step, double residual);

// Gives the bodies their numbers and blocks, if they have none, have changed, or have mixed too
// much. Manifolds are lost then, and found anew with their impulses. False if memory ran out.
bool tpSmallStep_NumberBodies(tpSmallStep* step);

// Forces, free motion, masses and margins of the bodies; says which are disturbed, and returns in
// `isSearch` whether contacts are to be looked for again. False if memory ran out.
bool tpSmallStep_BeginBodies(tpSmallStep* step, bool* isSearch);

// Lines of zeros that only the substeps need: a search before them has their memory. False if
// memory ran out.
bool tpSmallStep_OpenBodies(tpSmallStep* step);

// Moves the bodies to the end of the step, finds mean velocities, and says how they may move in the
// next. False if memory ran out.
bool tpSmallStep_MoveBodies(tpSmallStep* step);

// What of a body's turn over the step is sag of the contacts that carry it; from then on its arms
// turn without that.
tpVec3 tpSmallStep_Sag(tpSmallStep* step, int n, int body, tpVec3 turn);

// Whether a body has turned by sag.
static inline bool tpHasSag(const tpBodyWay* way) {
    return way->sag[0] != 0.0f || way->sag[1] != 0.0f || way->sag[2] != 0.0f;
}

// An arm as contacts have it, without the sag of its body.
tpVec3 tpArmWithoutSag(const tpBodyWay* way, tpVec3 arm);

// Whether turning moves points of a body by more than half its thickness in a step.
static inline bool tpSmallStep_TurnsFar(const tpSmallStep* step, int n, int body) {
    return step->state->ways.data[n].turning > 0.5 * step->system->bodies.data[body].innerRadius;
}

// Bodies that would have passed through others are put back to where they met; a note tells of
// those that joints do not let go back. False if memory ran out.
bool tpSmallStep_HoldPassing(tpSmallStep* step);

// Takes what a step has gained beyond the work done from the spins of bodies that turn by more than
// half a turn.
void tpSmallStep_LimitSpins(tpSmallStep* step);

// Finds pairs and manifolds where the bodies are now: stale manifolds are found anew, those of new
// pairs come, others go. False if memory ran out.
bool tpSmallStep_Search(tpSmallStep* step);

// Energies and certificate, into the report; then lets manifolds follow the bodies, and marks those
// that are stale. False if memory ran out.
bool tpSmallStep_Judge(tpSmallStep* step);

// The contacts that the last step left, in the arena. False if memory ran out.
bool tpSmallStep_CopyContacts(tpSmallStep* step, tpContact** contacts, int* count);

// Promises the list of contacts. False if memory ran out.
bool tpSmallStep_Promise(tpSmallStep* step);

// Manifolds in lanes (manifold.c) -----------------------------------------------------------------

// Friction and restitution of a pair of materials, for a few pairs: most scenes have no more.
enum { tp_lawMemoSize = 16 };
typedef struct tpLawMemo {
    tpMaterialId a, b;
    bool isKnown;
    tpFriction friction;
    double restitution;
} tpLawMemo;

// What a manifold is written from.
typedef struct tpFoundManifold {
    tpShapePair shapes; // the system's
    int32_t bodyA, bodyB;
    const tpContactPoint* points;
    int count;
    double slack;           // points that are not here are at least so far away, m
    const tpOverFace* over; // of two boxes: what is known of the face
} tpFoundManifold;

// Contacts that carried something in the step and are gone at its end.
typedef struct tpDeparted {
    tpContactInfo* list; // has room
    int count;
} tpDeparted;

// Points that were there before, with what they carried.
typedef struct tpKeptPoint {
    uint64_t feature;
    tpVec3 place, normal; // on A, world
    tpVec3 impulse;       // of the last substep, world
    tpVec3 total;         // of the last step, world
    double load;          // its normal part
    double twist,
        twisted;  // moments about the normal, of the last substep and of the last step, N m s
    bool isTaken; // a new point has it
} tpKeptPoint;

typedef struct tpKeptManifold {
    tpKeptPoint* points; // have room for all that there were
    int count;
} tpKeptManifold;

void tpKeepManifold(const tpSmallStep* step, const tpSoftRun* run, int lane, tpKeptManifold* kept);

// Writes a manifold into a lane that has room for it. Impulses of points that were there before are
// handed on; those of points that are gone go into `departed`.
void tpWriteManifold(const tpSmallStep* step, const tpFoundManifold* found, tpLawMemo* memo,
                     tpKeptManifold* kept, tpSoftRun* run, int lane, tpDeparted* departed);

// Whether the point of contact runs over the shape as this turns, other than straight below a
// centre or an axis: where it is then depends on the curvature.
bool tpIsCurved(const tpShape* shape);

// Radii of a lane's manifold in which a round surface rolls on a flat one, and whose normal it is.
void tpDescribeRolling(const tpSystem* system, const tpFoundManifold* found, tpSoftRun* run,
                       int lane);

// Contacts of a lane that a list for users has, and the deepest overlap among them.
int tpCountListed(const tpSmallStep* step, const tpSoftRun* run, int lane, double* deepest);
bool tpIsListed(const tpSmallStep* step, const tpSoftRun* run, int lane, int point);

// Contacts that carry nothing are listed up to this gap, m.
static inline double tpSmallStep_TouchDistance(const tpSmallStep* step) {
    return TP_TOUCH_DISTANCE * step->system->units.length;
}

// One contact of a lane, between bodies whose centres are there.
tpContact tpReadContact(const tpSmallSteps* state, const tpSoftRun* run, int lane, int point,
                        tpVec3 centerA, tpVec3 centerB);

// The same as users see it.
tpContactInfo tpDescribeContact(const tpSmallStep* step, const tpSoftRun* run, int lane, int point);

#endif
