// A step over many steps of the user, and the motion between its ends: dense output.
//
// While the same features touch, and the same of them slide, bodies are carried over a stride at
// once, by two steps. In between they are where a polynomial of fifth degree has them, which goes
// through the states at the start, in the middle and at the end, velocities too; rotations as
// vectors of the turn beyond the one that the first spin makes. README.md has the
// orders.

#ifndef TIPPE_SRC_STEPPERS_AUTO_STRIDE_H
#define TIPPE_SRC_STEPPERS_AUTO_STRIDE_H

#include "steppers/auto/groups.h"
#include "steppers/auto/stride_loads.h"

// A state of a body at one of the three times.
typedef struct tpStrideNode {
    tpVec3 position, velocity;
    tpVec3 turn, turnRate; // beyond the spin: rotation vector, and its derivative
} tpStrideNode;

// Places between the nodes where the motion is bent, and the degree of the polynomial without and
// with that.
enum { tp_bendCount = 4, tp_plainDegree = 5, tp_bentDegree = 9 };

typedef struct tpStrideBody {
    int64_t body;
    // A ball without joints: nobody sees how it lies, and its spin alone is followed.
    int64_t isRound;
    tpVec3 spins[5]; // of a ball: at the quarters
    tpQuat start;    // rotation at the start
    tpVec3 spin;     // about its own axis then
    tpStrideNode nodes[3];
    // at odd eighths: what has to be added so that joints are closed there
    tpVec3 positionBends[tp_bendCount], turnBends[tp_bendCount];
    // the same motion as powers of the part of the stride
    tpVec3 positionPowers[tp_bentDegree + 1];
    tpVec3 turnPowers[tp_bentDegree + 1]; // of a ball: of its spin
    double positionError, speedError;     // that the stride adds, m and m/s
    tpPose pose;                          // where it was left, to see what users have changed
    tpVelocity velocity;
} tpStrideBody;

// The most steps of the user in a stride.
enum { tp_maxStride = 128 };

typedef struct tpStride {
    int frameCount, doneCount; // steps of the user: all of it, and those that are over; 0: none
    int degree;                // of the powers
    double h;                  // of the user's step, s
    double begin;              // s
    uint64_t structure;
    tpVec3 gravity;
    TP_ARRAY(tpStrideBody) bodies;
    tpStrideLoads loads;
} tpStride;

void tpStride_Destroy(tpStride* stride, tpSystem* system);

// The part of a body's angular velocity that turns it about an axis of its own: that about its axis
// of symmetry, or all of it if there is none.
tpVec3 tpSystem_OwnSpin(const tpSystem* system, int body);

// Whether nothing moves the group but gravity, forces of the user, a medium, joints with their
// laws, and contacts with each other or with what is steady.
bool tpStride_CanCarry(const tpSystem* system, const tpGroups* groups, int group);

// Whether a coupling holds its value, and does nothing else.
bool tpStride_IsGear(const tpCoupling* coupling);

// Whether a joint of the group has a motor, a servo or armature, it has couplings, or forces or a
// medium act on it. A flow
// alone carries such groups: steps of methods treat stiff servos implicitly, and are not of the
// order that levels are led on by.
bool tpStride_IsDriven(const tpSystem* system, const tpGroups* groups, int group);

// Starts a stride of the group from the state that the system is in. False if memory ran out, and
// there is none.
bool tpStride_Begin(tpStride* stride, tpSystem* system, const tpGroups* groups, int group,
                    int frameCount, double h);

// Takes the state that the system is in now as that of the middle (1) or the end (2).
void tpStride_Set(tpStride* stride, const tpSystem* system, int node);

// The middle is where the polynomial of third degree through start and end has it.
void tpStride_SetMiddle(tpStride* stride);

// The spins of balls, after the start, the middle and the end are set: by those after one quarter
// and after three too, of all bodies, if these are known.
void tpStride_SetSpins(tpStride* stride, const tpVelocity* first, const tpVelocity* last);

// How far a body has turned at most, beyond what its spin makes, rad; and how far it may, so that
// the vector of the turn says enough.
double tpStride_Turn(const tpStride* stride);
static const double tp_largestTurn = 1.0;

// Bends the motion so that it goes through the state that the system is in now, at 1/8, 3/8, 5/8 or
// 7/8 of the stride. Nodes stay as they are, and so do the other three.
double tpStride_BendAt(int which);
void tpStride_Bend(tpStride* stride, const tpSystem* system, int which);

// Whether the stride goes on for a step of h seconds from the state that the system is in.
bool tpStride_IsUnderWay(const tpStride* stride, const tpSystem* system, const tpGroups* groups,
                         int group, double h);

// Puts the bodies where they are at a part s of the stride, as nodes and bends say now.
void tpStride_Place(const tpStride* stride, tpSystem* system, double s);

// Nodes and bends are as they stay.
void tpStride_Settle(tpStride* stride);

// Puts the bodies where they are after the next step of the user. The stride is settled.
void tpStride_Advance(tpStride* stride, tpSystem* system);

// Where a body is at a part s of the stride, which is settled, its velocity, and how far it has
// turned beyond its spin, rad.
tpVec3 tpStride_PositionAt(const tpStride* stride, const tpStrideBody* body, double s);
tpVec3 tpStride_VelocityAt(const tpStride* stride, const tpStrideBody* body, double s);
double tpStride_TurnAt(const tpStride* stride, const tpStrideBody* body, double s);

// Joints that have drifted farther along a stride, m, are put right.
double tpStride_Drift(double accuracy, double lengthScale);

// Marks the state that the system is in as the one that the step has come to.
void tpStride_Leave(tpStride* stride, const tpSystem* system);

// Adds the impulses of joints, work and losses of the step that has been advanced; and its contacts
// where the bodies are now. False if memory ran out.
void tpStride_AddLoads(const tpStride* stride, const tpSystem* system, double* reactions,
                       tpStepReport* report);
bool tpStride_AddContacts(const tpStride* stride, tpSystem* system, tpTally* tally);

// Snapshots.
size_t tpStride_SavedSize(const tpStride* stride);
unsigned char* tpStride_Save(const tpStride* stride, unsigned char* place);
bool tpStride_Restore(tpStride* stride, tpSystem* system, tpSavedReader* reader);

#endif
