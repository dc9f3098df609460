// What the files of this stepper share: bodies in flight, near pairs, and the frame they live in.
//
// Times are seconds since the start of the frame. Every body has its own clock: system->poses and
// system->velocities hold it at flights[i].time, not all at the same moment. Shapes go by the
// collider's numbers, contacts by the system's.

#ifndef TIPPE_SRC_STEPPERS_MIRTICH_CANNY_FRAME_H
#define TIPPE_SRC_STEPPERS_MIRTICH_CANNY_FRAME_H

#include "base/heap.h"
#include "collision/broad_phase.h"
#include "steppers/memory.h"

// Numbers that hold for a whole frame.
typedef struct tpEventSettings {
    double tolerance;   // eps_c, m: nearer than this two bodies may collide
    double landing;     // m: collisions are located to this
    double deepest;     // m: slow contacts sink no deeper
    double pressed;     // m: contacts that do are pressed by others, and are handed over
    double microSpeed;  // m/s: slower approaches are microcollisions; negative: by the pressure
    double leastSpeed;  // m/s: microcollisions are at least this slow, whatever the pressure
    double pull;        // m/s^2: how fast forces can press bodies together, about
    double period;      // T, s: from one microcollision of a body at rest to the next
    double shortest;    // s: slow contacts are not looked at more often
    bool useStronge;    // restitution by energy instead of impulse
    bool handsOver;     // bodies with too many events go to the time stepper
    int eventLimit;     // events of one body in a frame before it is handed over
    int64_t checkLimit; // checks in a frame before it ends without result
    tpSolveSettings solve;
} tpEventSettings;

typedef enum tpFlightKind {
    tp_standing, // fixed
    tp_told,     // kinematic: constant velocities over the frame
    tp_ballistic,
    tp_stepped // carried by the time stepper: constant velocities over its steps
} tpFlightKind;

// A body between events.
typedef struct tpFlight {
    tpFlightKind kind;
    double time;              // its own clock
    double turned;            // bound on the angle it has turned since the frame began, rad
    double spin;              // bound on its angular speed until the frame ends, rad/s
    tpVec3 acceleration;      // that of gravity, m/s^2
    tpVec3 push, twist;       // what other forces add now, m/s^2 and rad/s^2
    double unsteady;          // bound on |push| over the frame, m/s^2
    double unsteadyTurn;      // bound on |twist| over the frame, rad/s^2
    tpVelocity before, after; // stepped: velocities at both ends of the step
    double kineticBefore, kineticAfter; // and the energies there, J
    bool hasForces;                     // more than gravity acts on it
    bool isBound;                       // by a joint
    bool isSwung;                       // it is at the end of the frame already (mechanisms.c)
    bool joins;                         // is to be handed over, now
    bool leaves;                        // is taken back at the time stepper's next step
    int firstLink;                      // of its near pairs: 2 * pair + side; -1: none
    int eventCount;                     // collisions in this frame
    int hitCount;                       // of these, with bodies of the time stepper
    int64_t mark;                       // the walk over links that met it last (near_pairs.c)
    int markedPair;                     // its pair with the body of that walk
} tpFlight;

// Two shapes whose swept boxes overlap, and what the last question about them told.
typedef struct tpNearShapes {
    int32_t shapeA, shapeB; // shapeA < shapeB
    int next;               // of the same two bodies; -1: the last
    bool isConvex;          // both are
    bool isClose;           // within the tolerance when last asked
    double due;             // when to ask again
    double distance;        // a lower bound at the last question
    double margin;          // close: all contacts with smaller gaps were known
    tpVec3 normal;          // from B to A
    double offset;          // along the normal, of the centres of mass, A less B
    double turnedA, turnedB;
    bool isCurved;             // an edge or a face of one is, other than that of a ball
    bool isBent;               // close, and turning bends the distance by more than forces tell
    tpVec3 nearestA, nearestB; // the closest points at the last question
    double nearest;            // and their distance
    double press;              // bent: the distance's acceleration, m/s^2
    tpPairCache cache;
} tpNearShapes;

// Two bodies with such shapes: an entry of the heap.
typedef struct tpNearPair {
    int32_t body[2];
    int nextLink[2];
    int firstShapes;
} tpNearPair;

// A contact within reach, and how its gap changes.
typedef struct tpNearContact {
    tpContact contact; // with the system's numbers of shapes
    int nearShapes;
    double rate;       // of the gap, m/s
    double bend;       // its acceleration, m/s^2
    double microSpeed; // m/s: slower approaches are microcollisions
    tpVec3 rest;       // relative velocity, A less B, with which a hop of one period ends, m/s
    double torsion;    // moment about the normal on A in the collision in the making, N m s
} tpNearContact;

// What is remembered of a pair of shapes from frame to frame.
typedef struct tpKnownShapes {
    int32_t shapeA, shapeB;
    tpPairCache cache;
} tpKnownShapes;

// A contact and what it has carried in this frame.
typedef struct tpTallyEntry {
    tpContactInfo info;
    tpVec3 last; // the impulse of its last collision together with others
    double lastTorsion;
} tpTallyEntry;

// Energies of a step, J.
typedef struct tpStepLosses {
    double external, friction, impact;
} tpStepLosses;

// Work of a look for touches of two shapes that are in a step of the time stepper, at least.
static const double tp_touchesWork = 80.0;

typedef struct tpEvents {
    tpAllocator allocator;
    tpSystem* system;
    tpStepperMemory* memory;     // solver, contacts of the time stepper
    tpStepperMemory* mechanisms; // of the stepper that swings them
    tpBroadPhase* hash;
    TP_ARRAY(tpKnownShapes) known; // sorted
    uint64_t knownStructure;
    int awayCount;  // frames from here on that one step of another stepper makes
    int awayLength; // how many they were, the last time that a frame cost too much
    int awayBodies; // that could move in that frame: parts of the scene go by events

    // Of the frame.
    tpEventSettings settings;
    tpStepReport* report;
    double length;     // s
    bool hasJoiners;   // some flight joins
    int64_t mark;      // walks over links so far
    bool isTooDear;    // the frame's budget of checks or of work is used up
    double work;       // of its checks and collisions, in the unit of tpStepBudget_Spend
    double startWork;  // of the step, before this frame
    double share;      // of what a step of the world may cost, for this frame
    double givenShare; // of that, to the time stepper so far
    double searchWork; // of new times for pairs and of boxes that are compared, in the same unit
    bool outOfMemory;
    TP_ARRAY(tpFlight) flights;
    TP_ARRAY(tpBounds) boxes; // swept, a shape each
    TP_ARRAY(uint8_t) kinds;  // tpProxyKind
    TP_ARRAY(double) radii;   // about the centre of mass, of what turning moves
    tpPairArray pairs;
    TP_ARRAY(tpNearShapes) nearShapes;
    TP_ARRAY(tpNearPair) nearPairs;
    tpHeap heap; // near pairs by number + 1; 0 is the time stepper

    // The time stepper.
    double stepTime;              // of its next step; INFINITY: none
    double stepStart, stepLength; // of the step under way
    double historyLength;         // of the step that the history of contacts is from; 0: not known
    bool isStepping;              // one is: its bodies drift
    int stepCount;                // in this frame
    double steppingWork;          // of these beside their solves
    int exhaustedCount;           // of these, such that had no work budget left for their
                                  // solves
    bool hasNewcomers;            // pairs have been found that the step under way does not know
    tpStepLosses stepLosses;      // of all of the step under way
    double stepTaken;             // energy that all of it takes, J
    TP_ARRAY(tpContactInfo) carried; // what its contacts carry
    TP_ARRAY(double) reactions;      // of joints before it, and room to blend them with those after

    // Scratch.
    TP_ARRAY(tpNearContact) touches;
    TP_ARRAY(tpContactPoint) points;
    TP_ARRAY(int) island;
    TP_ARRAY(tpTallyEntry) tally; // impulses over the frame, sorted
    tpSystem pair;                // the two bodies of a collision with several contacts
} tpEvents;

// flight.c: bodies between events -----------------------------------------------------------------

bool tpEvents_StartFlights(tpEvents* events);

// Velocities of the body have changed: bounds and forces follow.
void tpEvents_RefreshFlight(tpEvents* events, int body);

// Brings a body to a later time.
void tpEvents_Advance(tpEvents* events, int body, double time);

// Where its centre of mass is at a time and how fast, without moving it.
tpVec3 tpEvents_PlaceAt(const tpEvents* events, int body, double time);
tpVec3 tpEvents_VelocityAt(const tpEvents* events, int body, double time);

// How fast turning moves the surface of a shape against n at most, m/s.
double tpEvents_TurningSpeed(const tpEvents* events, int32_t shape, tpVec3 n, double radius);

// A box around a shape for the rest of the frame.
tpBounds tpEvents_SweptBox(const tpEvents* events, int32_t shape);

// near_pairs.c: what may collide in this frame ----------------------------------------------------

bool tpEvents_FindNearPairs(tpEvents* events);
bool tpEvents_KeepKnown(tpEvents* events);

// A time before which two shapes at least `distance` apart at `time` cannot touch; INFINITY for the
// rest of the frame.
double tpEvents_Bound(const tpEvents* events, const tpNearShapes* shapes, double time,
                      double distance);

// The velocities of a pair that was just asked have changed: bounds for what is not among its
// touches.
void tpEvents_UpdateAsked(tpEvents* events, int pair, double time);

// The body's velocity has changed: new box, new pairs, new times for all its pairs but one (-1:
// all).
void tpEvents_UpdateBody(tpEvents* events, int body, double time, int except);

// check.c: the question at the top of the heap ----------------------------------------------------

void tpEvents_Check(tpEvents* events, int pair, double time);

// Acceleration of a body's surface at a contact that moves on with `velocity`.
tpVec3 tpEvents_SurfaceAcceleration(const tpEvents* events, int body, tpVec3 point,
                                    tpVec3 velocity);

// Slower approaches than this are microcollisions where gaps fall with the acceleration `fall`,
// m/s.
double tpEvents_MicroSpeed(const tpEventSettings* settings, double fall);

// Contacts of two shapes with gaps of at most `margin`, appended to the touches.
bool tpEvents_CollectTouches(tpEvents* events, int nearShapes, double margin);

// collide.c: collisions ---------------------------------------------------------------------------

// Collides two bodies at all touches within the tolerance. Returns whether anything was pushed.
bool tpEvents_Collide(tpEvents* events, int pair);

// What an event adds to a contact.
typedef struct tpTallied {
    tpVec3 impulse; // on body A
    double torsion; // N m s
    double energyLost;
    int collisionCount, microcollisionCount;
} tpTallied;

// Adds it to what the contact has carried in this frame.
bool tpEvents_Tally(tpEvents* events, const tpContact* contact, const tpTallied* tallied);

// The contact's entry in the tally, or NULL.
tpTallyEntry* tpEvents_FindTallied(tpEvents* events, const tpContact* contact);

// together.c: several contacts of one pair at once ------------------------------------------------

// Impulses (on body A of each) that bring a pair which hops on all touches listed to the start of
// the next hop. False if there are none in the friction cones, or they would do work.
bool tpEvents_HopTogether(tpEvents* events, const int* chosen, int count, double restitution,
                          tpVec3* impulses);
// Impulses that end compression at all touches listed; their moments about normals are left in the
// touches, as those of friction below are.
bool tpEvents_SolveTogether(tpEvents* events, const int* chosen, int count, tpVec3* impulses);
// two_contacts.c: impulses that leave two contacts with the relative velocities given, A less B of
// each. False if there are none in the friction cones, or they would do work.
bool tpEvents_HoldTwo(tpEvents* events, const int* chosen, const tpVec3* after, tpVec3* impulses);
// Friction while restitution goes on with the normal impulses given; adds it to them.
bool tpEvents_SolveFriction(tpEvents* events, const int* chosen, int count,
                            const double* normalImpulses, tpVec3* impulses);

// time_stepper.c: bodies that were handed over ----------------------------------------------------

// Chooses the length of the step from `time` on, a whole part of what is left of the frame, and
// counts its work.
void tpEvents_ChooseStep(tpEvents* events, double time);
double tpEvents_LongestStep(const tpEvents* events); // s

// Its next step is at this time, and ends the one under way.
void tpEvents_ScheduleStep(tpEvents* events, double time);
// The next step.
bool tpEvents_StepTime(tpEvents* events, double time);
// Ends the step under way, if there is one: all its bodies are then at `time`, with their own
// velocities instead of those of the drift. False if memory ran out.
bool tpEvents_EndStep(tpEvents* events, double time);

// Whether there have been so many in this frame, for as many bodies, that there should be few more.
// Of what a step of the world may cost: what is left for events and for the steps between them.
double tpEvents_LeftShare(const tpEvents* events);

bool tpEvents_HasManySteps(const tpEvents* events);

// hand_over.c: bodies with too many events --------------------------------------------------------

// Leaves a body to the time stepper, or takes it back.
void tpSystem_HandOver(tpSystem* system, int body, bool isHandedOver);

// Marks who is with the time stepper as the frame begins; false if nobody is.
bool tpEvents_StartTimeStepper(tpEvents* events);
// Marks the island of a body to be handed over, and hands over what is marked.
void tpEvents_HandOver(tpEvents* events, int body);
void tpEvents_TakeOver(tpEvents* events, double time);
// After the last event of the frame: joints and velocities of stepped bodies.
bool tpEvents_FinishTimeStepper(tpEvents* events);

// A frame that cost too much, or one that follows it: one step of another stepper.
void tpEvents_StepAway(tpEvents* events, const tpOptions* options);

// Tells that another stepper has made the whole frame for all bodies of joints.
void tpEvents_TellWhole(tpEvents* events);

// mechanisms.c: mechanisms that nothing comes near ------------------------------------------------

// Brings them to the end of the frame, once near pairs are known. `areAll`: nothing else can move,
// and the frame is done. False if memory ran out.
bool tpEvents_SwingMechanisms(tpEvents* events, const tpOptions* options, bool* areAll);

// report.c: what the frame tells ------------------------------------------------------------------

// Lists the contacts of the frame, all bodies being at its end.
bool tpEvents_ListContacts(tpEvents* events);

static inline bool tpEvents_IsMovable(const tpEvents* events, int body) {
    return events->flights.data[body].kind >= tp_ballistic;
}

// A pair of bodies that leaves its contacts to the time stepper: nobody in flight.
static inline bool tpEvents_IsStepped(const tpEvents* events, int pair) {
    const tpNearPair* bodies = &events->nearPairs.data[pair];
    return events->flights.data[bodies->body[0]].kind != tp_ballistic &&
           events->flights.data[bodies->body[1]].kind != tp_ballistic;
}

#endif
