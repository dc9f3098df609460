// What holds a group while nothing changes: joints, and contacts that touch, as velocities that are
// zero and as directions that push.
//
// A contact that sticks, and a joint, push along what they hold. One that slides holds the normal
// alone and pushes along the normal and against the slip, README.md.

#ifndef TIPPE_SRC_STEPPERS_AUTO_FLOW_ROWS_H
#define TIPPE_SRC_STEPPERS_AUTO_FLOW_ROWS_H

#include "dynamics/contact_law.h"
#include "dynamics/contacts.h"
#include "dynamics/couplings.h"
#include "steppers/auto/groups.h"

enum { tp_flowRows = 48, tp_flowContacts = 12, tp_flowLaws = 24, tp_flowCouplings = 4 };

// Rows of friction that a contact has at most: two tangents, spin, and rolling about the tangents.
enum { tp_flowFriction = 5 };

// A coordinate with a spring, a damper, dry friction, a servo or a motor: flow_laws.h.
typedef struct tpFlowLaw {
    int joint; // place in the plan
    int coordinate;
    double direction; // of its rate, 1 or -1, if it has friction
    double servoSign; // 1 or -1: the servo gives all of its effort that way; 0: it follows its
                      // gains
    double motorSign; // the same for a motor that has not come to its speed
    bool holdsSpeed;  // the motor has come to its speed
    double limitSign; // 1 or -1: held at the lower or the upper limit, which pushes that way; 0:
                      // not held
} tpFlowLaw;

// A velocity of bodies A and B, or a force on them. -1: the world.
typedef struct tpFlowRow {
    int bodyA, bodyB;
    int joint; // place in the plan; -1: a contact's
    tpWrench onA, onB;
    double speed; // that it is held at
    int law;      // of motor or limit, of which it is the row: 1 and its place; 0: none
    // Of a rotor that has the rate of the row for its speed, 1/kg or 1/(kg m^2); 0: none.
    double inverseArmature;
    const tpCouplingRow* coupling; // whose bodies it has instead of A and B; NULL: none
} tpFlowRow;

// The bodies of a row, from k = 0 on: what it does to each of them. A body may be -1.
static inline int tpFlowRow_BodyCount(const tpFlowRow* row) {
    return row->coupling != NULL ? row->coupling->bodyCount : 2;
}
static inline const tpWrench* tpFlowRow_On(const tpFlowRow* row, int k, int* body) {
    if (row->coupling != NULL) {
        *body = row->coupling->bodies[k];
        return &row->coupling->on[k];
    }
    *body = k == 0 ? row->bodyA : row->bodyB;
    return k == 0 ? &row->onA : &row->onB;
}

// A coordinate with armature.
typedef struct tpFlowRotor {
    int joint; // place in the plan
    int coordinate;
} tpFlowRotor;

typedef enum tpFlowMode { tp_flowSlick, tp_flowSticks, tp_flowSlides } tpFlowMode;

// Which rows there are: the same all along.
typedef struct tpFlowPlan {
    int bodyCount, jointCount, contactCount, rowCount;
    int* bodies;
    int* places;     // of all bodies in that list, -1: not of the group
    int* joints;     // those that hold something of the group, in order
    double* margins; // of all bodies, within which contacts are looked for
    double* wideMargins;
    double* accelerations; // of all bodies: the largest in the last step, m/s^2; INFINITY: unknown
    int lawCount;
    tpFlowLaw laws[tp_flowLaws];
    int rotorCount, couplingCount;
    tpFlowRotor rotors[tp_flowLaws];
    int couplings[tp_flowCouplings]; // those that hold a value
    tpContactKey keys[tp_flowContacts];
    int droppedCount;
    tpContactKey dropped[tp_flowContacts]; // contacts that come off where the flow begins
    int pairCount;
    tpShapePair pairs[tp_flowContacts]; // of shapes that touch, in order
    tpFlowMode modes[tp_flowContacts];
    double stopSpeed; // slower slips are taken for none, m/s
} tpFlowPlan;

// A contact in the frame of one of its bodies.
typedef struct tpFlowSpot {
    tpVec3 point, normal;
} tpFlowSpot;

// The rows where the bodies are. Those of joints come first, then those of couplings, of motors
// that hold their speed and of limits that hold, of rotors, and of contacts: normal, tangents,
// spin.
typedef struct tpFlowRows {
    tpFlowRow rows[tp_flowRows];
    tpCouplingRow couplings[tp_flowCouplings];
    tpContact contacts[tp_flowContacts];
    tpContactLaw laws[tp_flowContacts];
    tpFlowSpot spots[tp_flowContacts][2]; // on bodies A and B
    int firstRows[tp_flowContacts];
    int firstCoupling; // row
} tpFlowRows;

// The plan of a group in the state that the system is in, in the arena, and its rows there.
// Contacts slide if `slides` says that some do, and their own slip is not nothing. `isPlain`:
// nothing but joints, their laws and contacts with friction moves the group, and there is room.
// False if memory ran out.
bool tpFlowPlan_Make(tpFlowPlan* plan, tpFlowRows* rows, tpSystem* system, const tpGroups* groups,
                     int group, bool slides, bool* isPlain);

// The rows where the bodies are now. False if a contact of the plan is not found, or memory ran
// out.
bool tpFlowRows_Find(tpFlowRows* rows, const tpFlowPlan* plan, tpSystem* system);

// Takes contacts out of a plan whose rows are where the flow begins: bit i stands for contact i.
void tpFlowPlan_Drop(tpFlowPlan* plan, tpFlowRows* rows, const tpSystem* system, unsigned dropped);

// What is looked for at the ends of steps beside the contacts of the plan: nothing, what touches,
// or also what bodies can meet within half of the step after it, can have met within half of the
// step before it, or both.
typedef enum tpFlowWatch {
    tp_flowBlind,
    tp_flowTouching,
    tp_flowAhead,
    tp_flowBehind,
    tp_flowNear
} tpFlowWatch;
static inline bool tpFlowWatch_IsAhead(tpFlowWatch watch) {
    return watch == tp_flowAhead || watch == tp_flowNear;
}
static inline bool tpFlowWatch_IsBehind(tpFlowWatch watch) {
    return watch == tp_flowBehind || watch == tp_flowNear;
}

// Whether there is such a thing, and for how many seconds it has touched, by its speed; or in how
// many seconds the first one will if none has, INFINITY: nobody knows. And the first of all that
// approach: its gap, below 0 if it overlaps, and when it touches, by its speed. And the deepest
// overlap of all, m: of what parts again, nobody knows when it was met.
typedef struct tpFlowMeeting {
    bool isThere;
    double since, ahead;
    double firstGap, first;
    double deepest;
} tpFlowMeeting;

// The same at an end of a step of h seconds.
bool tpFlowRows_FindAround(tpFlowRows* rows, const tpFlowPlan* plan, tpSystem* system, double h,
                           tpFlowWatch watch, tpFlowMeeting* meeting);

// The velocity of a row.
double tpFlowRow_Speed(const tpFlowRow* row, const tpVelocity* velocities);

// How many rows of friction a contact has: tangents, one of spin, and those of rolling; and the
// place of the first of these, if there are any.
int tpFlowRows_FrictionCount(const tpFlowRows* rows, const tpSystem* system, int contact);
int tpFlowRows_RollingPlace(const tpFlowRows* rows, const tpSystem* system, int contact);

// Rows of friction, from place 0 on, and their scales in the law.
tpFlowRow tpFlowRows_Friction(const tpFlowRows* rows, const tpSystem* system, int contact, int k,
                              double* scale);

// The slip of a contact in the scales of its law, and its size; and with it the rows of friction
// and their scales.
double tpFlowRows_Slip(const tpFlowRows* rows, const tpSystem* system, int contact,
                       double slip[tp_flowFriction]);
double tpFlowRows_SlipAlong(const tpFlowRows* rows, const tpSystem* system, int contact,
                            double slip[tp_flowFriction], tpFlowRow friction[tp_flowFriction],
                            double scales[tp_flowFriction]);

#endif
