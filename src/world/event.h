// What happens in steps, for users who want to be told.

#ifndef TIPPE_SRC_WORLD_EVENT_H
#define TIPPE_SRC_WORLD_EVENT_H

#include "base/memory.h"
#include "math/velocity.h"
#include "tippe/sensors.h"

// Two shapes that touch.
typedef struct tpTouchingPair {
    int shapeA, shapeB;
    tpVec3 point, normal; // of the contact with the largest impulse
    double largest;       // that impulse, N s
    double impulse;       // of all contacts, N s
    double speed;         // largest speed of approach at the start of the step, m/s
} tpTouchingPair;

typedef struct tpWatch {
    bool isOn;
    bool isCurrent;  // nobody watches, but `before` and the marks of sensors, joints and bodies are
                     // those of the last step
    double hitSpeed; // m/s: approaches faster than this are hits
    TP_ARRAY(tpTouchingPair) pairs, before; // by their shapes, ascending
    TP_ARRAY(tpEvent) events;
} tpWatch;

void tpWatch_Destroy(tpWatch* watch, const tpAllocator* allocator);

// Makes the memory of what touches, overlaps, is at a limit or asleep that of the last step, also
// if nobody watches: snapshots keep it, so that steps after them tell the same events.
void tpWorld_RememberTouches(tpWorld* world);

// After a step from these poses and velocities.
void tpWorld_ListEvents(tpWorld* world, const tpPose* poses, const tpVelocity* velocities);

#endif
