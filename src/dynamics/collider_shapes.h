// Keeps the collider in step with the system's shapes and joints, one change at a time.
//
// A shape has the same number in the collider as in the system. The collider is made when contacts
// are first asked for; from then on every change is passed on to it at once. If memory runs out on
// the way, the collider is dropped and made anew when it is next needed.

#ifndef TIPPE_SRC_DYNAMICS_COLLIDER_SHAPES_H
#define TIPPE_SRC_DYNAMICS_COLLIDER_SHAPES_H

#include "dynamics/system.h"

// Makes the collider if there is none.
tpResult tpSystem_NeedCollider(tpSystem* system);

// There is none any more.
void tpSystem_DropCollider(tpSystem* system);

// A shape has come, or its filter has changed; a shape goes.
void tpSystem_PutShape(tpSystem* system, int shape);
void tpSystem_TakeShape(tpSystem* system, int shape);

// Whether the shapes of a body can move, or their places relative to its centre of mass, may have
// changed.
void tpSystem_MoveShapes(tpSystem* system, int body, bool isMovable);

// The two bodies of a joint collide no more, or again.
void tpSystem_PutJoint(tpSystem* system, int joint);
void tpSystem_TakeJoint(tpSystem* system, int joint);

// Two bodies collide no more, or again, whatever joints say; false if memory ran out (nothing
// has changed then).
bool tpSystem_Exclude(tpSystem* system, int bodyA, int bodyB);
void tpSystem_Include(tpSystem* system, int bodyA, int bodyB);
// A body goes: it may collide with all.
void tpSystem_IncludeAll(tpSystem* system, int body);

// Whether a joint keeps its bodies from colliding.
bool tpJoint_Excludes(const tpJoint* joint);

#endif
