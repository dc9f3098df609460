// All shapes of a world, and the contacts between them.
//
// The collider knows shapes, the bodies that carry them (as indices) and poses; it knows no forces.
// An update runs the broad phase over the bounds of shapes grown by margins, looks up what the last
// update learned about each pair, and asks each pair for its contacts:
//
//     bodyPoses, margins -> bounds -> broad phase -> pairs (sorted) -> pair functions -> contacts
//
// Pairs are sorted by (shapeA, shapeB) with shapeA < shapeB, contacts by pair and then by feature,
// whatever the number of threads. Nothing is allocated once the arrays have grown to what a scene
// needs.

#ifndef TIPPE_SRC_COLLISION_COLLIDER_H
#define TIPPE_SRC_COLLISION_COLLIDER_H

#include <signal.h>

#include "base/memory.h"
#include "collision/broad_phase.h"
#include "tippe/collision.h"

typedef struct tpContact {
    int32_t bodyA, bodyB;   // different bodies; at least one of them can move
    int32_t shapeA, shapeB; // shapeA < shapeB
    uint64_t feature;       // persists while the same features of the same shapes touch
    tpVec3 pointA, pointB;  // on the surfaces, world; pointA - pointB = gap * normal
    tpVec3 normal;          // unit, from B to A
    double gap;             // m, negative overlap
} tpContact;

typedef TP_ARRAY(tpContact) tpContactArray;

typedef struct tpColliderShapeDef {
    const tpGeometry* geometry; // the collider retains it
    tpPose pose;          // of the geometry's body frame in the frame of the body's centre of mass
    int32_t body;         // index into the poses of an update
    bool isMovable;       // false for fixed bodies: two shapes that cannot move never collide
    uint32_t group, mask; // two shapes collide when each has its group in the other's mask
} tpColliderShapeDef;

typedef struct tpColliderDef {
    tpAllocator allocator;
    bool useHash; // broad phase: hierarchical spatial hash instead of the tree
} tpColliderDef;

typedef struct tpCollider tpCollider;

tpResult tpCreateCollider(const tpColliderDef* def, tpCollider** out);
void tpDestroyCollider(tpCollider* collider);

// Shapes have numbers that the caller chooses; a shape that has the number already goes. Putting
// and removing cost the same however many shapes there are.
tpResult tpCollider_PutShape(tpCollider* collider, int32_t shape, const tpColliderShapeDef* def);
bool tpCollider_HasShape(const tpCollider* collider, int32_t shape);
void tpCollider_RemoveShape(tpCollider* collider, int32_t shape);

// The body's index or centre of mass has changed. `pose` is that of the geometry in the frame of
// the body's centre of mass. tp_outOfMemory: it stays as it was.
tpResult tpCollider_MoveShape(tpCollider* collider, int32_t shape, int32_t body, tpPose pose,
                              bool isMovable);

// The geometry of a shape; its pose is in the frame of the body's centre of mass.
const tpGeometry* tpCollider_GetGeometry(const tpCollider* collider, int32_t shape);
int32_t tpCollider_GetBody(const tpCollider* collider, int32_t shape);

// Asked for pairs that nothing else keeps apart, from several threads; it answers the same every
// time. NULL: none.
typedef bool (*tpPairFilter)(void* context, int32_t shapeA, int32_t shapeB);
void tpCollider_SetFilter(tpCollider* collider, tpPairFilter filter, void* context);

// Whether two shapes may collide at all: bodies, groups, masks, joints, and what is known of their
// types.
bool tpCollider_MayCollide(const tpCollider* collider, int32_t shapeA, int32_t shapeB);

// Whether the body of a shape can move by impulses.
bool tpCollider_IsMovable(const tpCollider* collider, int32_t shape);

// Bodies joined by a joint do not collide. Calls are counted: two joints need two calls to undo.
tpResult tpCollider_Exclude(tpCollider* collider, int32_t bodyA, int32_t bodyB);
void tpCollider_Include(tpCollider* collider, int32_t bodyA, int32_t bodyB);

// Updates end at once while `stop` points to a nonzero number, with tp_notSolved. NULL: they do
// not.
void tpCollider_SetStop(tpCollider* collider, const volatile sig_atomic_t* stop);

// Finds pairs and contacts. `bodyPoses` are those of the centres of mass with the body's axes.
// `bodyMargins` (m, or NULL for zeros): a pair is looked at up to the sum of both margins. Contacts
// with larger gaps are not reported. `tasks` may be NULL. On tp_outOfMemory there are no contacts,
// and the next update starts afresh; so on tp_unsupported: there are too many pairs (tpPairLimit),
// and on tp_notSolved: it was stopped.
tpResult tpCollider_Update(tpCollider* collider, const tpPose* bodyPoses, const double* bodyMargins,
                           tpTasks* tasks);

// The first half of an update, without contacts.
tpResult tpCollider_FindPairs(tpCollider* collider, const tpPose* bodyPoses,
                              const double* bodyMargins, tpTasks* tasks);

// Answers of the last update; valid until the next one.
const tpContact* tpCollider_GetContacts(const tpCollider* collider, int* count);
// The contacts of the last update in exchange for an array that the collider may use, of the same
// allocator.
void tpCollider_TakeContacts(tpCollider* collider, tpContactArray* contacts);

const tpShapePair* tpCollider_GetPairs(const tpCollider* collider, int* count);

// One pair of shapes at any poses of their bodies, with what the last update learned about it.
tpResult tpCollider_Closest(const tpCollider* collider, int32_t shapeA, int32_t shapeB,
                            tpPose bodyA, tpPose bodyB, tpClosest* out);

// The contacts of one pair of shapes at any poses of the bodies, within the sum of their two
// margins, as an update finds them: sorted by feature. What the last update learned about the pair
// helps, and nothing is learned. Returns how many there are, or a number beyond `room` if there are
// more, or more than 64: then some are missing.
int tpCollider_CollidePair(const tpCollider* collider, tpShapePair pair, const tpPose* bodyPoses,
                           const double* bodyMargins, tpContact* contacts, int room);

// What updates have learned and the next one will use: to continue bit for bit after a restore, it
// is part of the state. `size` bytes, which change with every update.
size_t tpCollider_StateSize(const tpCollider* collider);
void tpCollider_SaveState(const tpCollider* collider, void* state);
tpResult tpCollider_LoadState(tpCollider* collider, const void* state, size_t size);

#endif
