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
    double hitSpeed;                        // m/s: approaches faster than this are hits
    TP_ARRAY(tpTouchingPair) pairs, before; // by their shapes, ascending
    TP_ARRAY(tpEvent) events;
} tpWatch;

void tpWatch_Destroy(tpWatch* watch, const tpAllocator* allocator);

// After a step from these poses and velocities.
void tpWorld_ListEvents(tpWorld* world, const tpPose* poses, const tpVelocity* velocities);

#endif
