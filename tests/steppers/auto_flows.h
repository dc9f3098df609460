// Flows of worlds with one group, and bodies on joints.

#ifndef TIPPE_TESTS_STEPPERS_AUTO_FLOWS_H
#define TIPPE_TESTS_STEPPERS_AUTO_FLOWS_H

#include "auto_balls.h"
#include "steppers/auto/flow.h"
#include "tippe/joints.h"

// The flow of the only group of a world.
typedef struct Flowing {
    tpFlow flow;
    tpGroups groups;
    tpGroupRun run;
} Flowing;

static inline bool beginFlow(Flowing* flowing, tpWorld* world, bool slides) {
    tpSystem* system = &world->system;
    bool canGo;
    memset(flowing, 0, sizeof(*flowing));
    assert_true(tpGroups_Find(&flowing->groups, system, 1e-2, true));
    flowing->run = (tpGroupRun){ .system = system,
                                 .groups = &flowing->groups,
                                 .pace.knowsPushing = true,
                                 .pace.pushing = slides ? tp_slidingBit : 0 };
    assert_true(tpFlow_Begin(&flowing->flow, &flowing->run, &canGo));
    return canGo;
}

static inline tpTaken takeStep(Flowing* flowing, double h) {
    tpTaken taken;
    assert_true(tpFlow_TakeStep(&flowing->flow, &flowing->run, 0.0, h, &taken, NULL));
    return taken;
}

// A body of 1 kg on a joint with the world at the origin, along y.
static inline tpWorld* makeJointWorld(tpJointType type, tpVec3 place, tpVec3 moments,
                                      tpVec3 velocity, tpVec3 angular) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_auto;
    tpWorld* world = tpCreateWorld(&def);
    tpBodyDef body = tpDefaultBodyDef();
    body.position = place;
    body.hasMass = true;
    body.mass.mass = 1.0;
    body.mass.inertia = tpDiagonal(moments);
    body.velocity = velocity;
    body.angularVelocity = angular;
    tpJointDef joint = tpDefaultJointDef();
    joint.type = type;
    joint.bodyB = tpCreateBody(world, &body, NULL);
    joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
    assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &joint, NULL)));
    // Laws are written straight into the coordinate.
    world->system.lacksRotors = world->system.lacksSprings = false;
    return world;
}

#endif
