// The smooth motion of a group: a differential equation with velocities that are held, and steps of
// fourth order along it.
//
//     p' = f + B l,   v = M^-1 p,   q' = v,   J v = 0
//
// with the momenta p, the impulses l of joints and contacts, the rows J that these hold and the
// directions B along which they push, all of them at q. Steps are half-explicit: README.md.

#ifndef TIPPE_SRC_STEPPERS_AUTO_FLOW_H
#define TIPPE_SRC_STEPPERS_AUTO_FLOW_H

#include "steppers/auto/flow_loads.h"

typedef struct tpFlowMemory tpFlowMemory;

typedef struct tpFlow {
    tpFlowPlan plan;
    tpFlowMemory* memory; // in the arena
    tpFlowWatch watch;    // of the next steps
    bool isFar;           // its steps are not tries to land on a moment: slips may not go evenly
    bool isAtStart;       // the next step starts where the flow was begun
    bool hasMet;          // a step is bad since shapes touch that are not held
    bool slipHasTurned;   // the same since a slip has turned far, or ended
    double momentPart;    // of a step that is bad: the part of it after which something happens, as
                          // far as rates tell; -1: nobody knows
    double laterPart;     // of a step that is good: when something happens if rates go on as they
                          // do,
                          // 1 or more; INFINITY: nothing
    unsigned pulls;       // of a step that is bad from its first stage on: contacts that pull
                          // there,
                          // as bits
    double endingSlip;    // of a step that is good: the least slip that has lost most of its speed,
                          // m/s; INFINITY: none has
    double aheadPart;     // of a step that is bad for what is near: the part of it, or more, after
                          // which that is met if it goes on as it does; -1: nothing is
} tpFlow;

// Prepares the flow of a group from the state that the system is in. `canGo`: it has one, and its
// motion does not depend on how forces are shared among what is held twice. If nothing is known of
// the group, contacts with a slip slide, and velocities must keep what is held. False if memory ran
// out.
bool tpFlow_Begin(tpFlow* flow, const tpGroupRun* run, bool* canGo);

// Takes a step of h seconds from the state that the system is in, `start` seconds after the begin
// of the run. The step is bad if what was held has come off, slips, stops, or is at a limit, or if
// something else touches: then something happens in it. It goes on from where the last step has
// ended, or starts where the flow was begun. `early` may be NULL: what the first half of the step
// has carried, and worked. False if memory ran out.
bool tpFlow_TakeStep(tpFlow* flow, tpGroupRun* run, double start, double h, tpTaken* taken,
                     tpTaken* early);

// Leaves out contacts that pull from where the flow begins: they come off there. The system is put
// back to `start`, where it began. False if none pulls, or all do, or memory ran out. `canGo`:
// there is a flow without them.
bool tpFlow_LetGo(tpFlow* flow, tpGroupRun* run, const tpKeptMotion* start, bool* canGo);

// Whether a contact slides in it, and whether joints or contacts hold anything: if not, bodies fly.
bool tpFlow_Slides(const tpFlow* flow);
bool tpFlow_Holds(const tpFlow* flow);

// Whether something that is not held can be met, as `watch` asks, within so many seconds of the
// state that the system is in. False if memory ran out.
bool tpFlow_LookAround(tpFlow* flow, tpSystem* system, double time, tpFlowWatch watch,
                       bool* isNear);

// What is met within so many seconds, or overlaps: the first of what approaches, and the deepest
// overlap. Without one `first` is INFINITY. False if memory ran out.
bool tpFlow_LookAhead(tpFlow* flow, tpSystem* system, double time, tpFlowMeeting* meeting);

#endif
