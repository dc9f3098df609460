// From the shapes of a system to its contacts, and what is remembered of them from step to step.

#ifndef TIPPE_SRC_DYNAMICS_CONTACTS_H
#define TIPPE_SRC_DYNAMICS_CONTACTS_H

#include "dynamics/system.h"

// Contacts are asked for once per pose: the last answer of tpSystem_FindContacts serves again while
// poses and structure are the same and margins are no larger. The report says how often the
// collider was asked.
//
// All contacts at the given poses whose gap is at most the sum of the two bodies' margins, with the
// system's own shape numbers, in the collider's order. In planar worlds contacts lie in the plane,
// and points that differ only in depth are one. The list lies in the system's arena.
tpResult tpSystem_FindContacts(tpSystem* system, const tpPose* poses, const double* margins,
                               tpContact** contacts, int* count);

// The same of some pairs of shapes alone, in order, each named once: for those who know that no
// others can touch. Bounds are not looked at, and nothing is remembered.
tpResult tpSystem_FindContactsOf(tpSystem* system, const tpShapePair* pairs, int pairCount,
                                 const tpPose* poses, const double* margins, tpContact** contacts,
                                 int* count);

// Puts the contacts of a planar world (one pair's after the other) into the plane; returns how many
// remain.
int tpContacts_Flatten(const tpSystem* system, const tpPose* poses, tpContact* contacts, int count);

// Margins within which two bodies can meet in h seconds: the way of any point of the body at the
// larger of its speeds in `velocities` and `others` (may be NULL), plus what gravity adds. In the
// arena.
double* tpSystem_Margins(tpSystem* system, const tpVelocity* velocities, const tpVelocity* others,
                         double h);

// The margin of one of them.
double tpSystem_Margin(const tpSystem* system, int body, const tpVelocity* velocity,
                       const tpVelocity* other, double h);

// The same if the length of gravity is known, for those who ask for many bodies.
double tpSystem_MarginUnder(const tpSystem* system, double gravity, int body,
                            const tpVelocity* velocity, const tpVelocity* other, double h);

// The same by the speed of the body's fastest point.
static inline double tpBody_MarginAt(const tpBody* body, double gravity, double speed, double h) {
    if (!body->isLive || body->kind == tp_fixedBody) {
        return 0.0;
    }
    double scale = body->gravityScale < 0.0 ? -body->gravityScale : body->gravityScale;
    double fall = body->inverseMass > 0.0 ? 2.0 * h * h * scale * gravity : 0.0;
    // A millionth of the body's size more: what touches is found whatever its speed.
    return h * speed + fall + 1e-6 * body->reach;
}

// The largest speed of any point of a body that moves so.
double tpVelocity_LargestSpeed(const tpSystem* system, int body, const tpVelocity* velocity);

// What makes a contact the same from one moment to the next; contacts are kept in the order of
// keys.
typedef struct tpContactKey {
    int32_t shapeA, shapeB;
    uint64_t feature;
} tpContactKey;

// -1, 0 or 1.
int tpContactKey_Compare(tpContactKey a, tpContactKey b);

static inline tpContactKey tpContact_Key(const tpContact* contact) {
    return (tpContactKey){ contact->shapeA, contact->shapeB, contact->feature };
}

static inline tpContactKey tpContactInfo_Key(const tpContactInfo* info) {
    return (tpContactKey){ (int32_t)info->shapeA.slot - 1, (int32_t)info->shapeB.slot - 1,
                           info->feature };
}

static inline int tpContact_CompareKeys(const tpContact* a, const tpContact* b) {
    return tpContactKey_Compare(tpContact_Key(a), tpContact_Key(b));
}

// The contact of a list with the same shapes and features, or NULL. Both the list and the contacts
// asked for are in the collider's order; `cursor` starts at 0.
const tpContact* tpContacts_FindSame(tpContactKey key, const tpContact* list, int count,
                                     int* cursor);

// The deepest gap of a list between the two shapes of a contact, m; 0 if they do not overlap there.
double tpContacts_Deepest(const tpContact* list, int count, const tpContact* contact);

// What a contact carries over to the next step.
typedef struct tpContactMemory {
    tpContactKey key;
    tpVec3 point;       // half way between the two surfaces
    tpVec3 impulse;     // on A, world axes, normal and friction
    double torsion;     // N m s
    tpVec3 rolling;     // N m s, world axes
    double normalSpeed; // of the approach before the step, m/s
    bool hasHit;        // it collided in the last step
    uint8_t unused[7];  // zero: memories are saved byte for byte
} tpContactMemory;

// Sorted as the collider sorts contacts.
typedef struct tpContactHistory {
    TP_ARRAY(tpContactMemory) list;
    double h; // of the step that the impulses belong to, s; 0: unknown
} tpContactHistory;

// Adds contacts of other shapes, in order. False if memory ran out.
bool tpContactHistory_Merge(tpContactHistory* history, const tpAllocator* allocator,
                            const tpContactMemory* list, int count);

// The memory of a contact, or NULL. Contacts are asked for in order; `cursor` starts at 0.
const tpContactMemory* tpContactHistory_Find(const tpContactHistory* history,
                                             const tpContact* contact, int* cursor);

// The same, or where features have changed (edges that lie on each other are called now this, now
// that) the memory of the same two shapes that comes nearest. For starts of solves.
const tpContactMemory* tpContactHistory_FindNear(const tpContactHistory* history,
                                                 const tpContact* contact, int* cursor);

// Whether contacts that were saved name bodies and shapes of the system.
bool tpContacts_AreIn(const tpSystem* system, const tpContact* contacts, int count);

#endif
