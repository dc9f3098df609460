#include "dynamics/contacts.h"

#include <string.h>

#include "dynamics/collider_shapes.h"
#include "dynamics/step_budget.h"

// Puts a contact into the plane; false if its normal leaves it.
static bool flatten(tpContact* contact, double z) {
    double length =
        sqrt(contact->normal.x * contact->normal.x + contact->normal.y * contact->normal.y);
    if (length < 0.5) {
        return false;
    }
    contact->normal = tpMakeVec3(contact->normal.x / length, contact->normal.y / length, 0.0);
    contact->pointA.z = contact->pointB.z = z;
    return true;
}

static bool isSamePlace(const tpContact* a, const tpContact* b) {
    double size = fabs(a->pointA.x) + fabs(a->pointA.y) + 1.0;
    return a->shapeA == b->shapeA && a->shapeB == b->shapeB &&
           tpDistanceBetween(a->pointA, b->pointA) < 1e-9 * size &&
           tpDistanceBetween(a->normal, b->normal) < 1e-9;
}

int tpContacts_Flatten(const tpSystem* system, const tpPose* poses, tpContact* contacts,
                       int count) {
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        tpContact contact = contacts[i];
        int plane = tpSystem_IsDynamic(system, contact.bodyA) ? contact.bodyA : contact.bodyB;
        bool isNew = flatten(&contact, poses[plane].position.z);
        for (int k = kept - 1; isNew && k >= 0 && contacts[k].shapeA == contact.shapeA &&
                               contacts[k].shapeB == contact.shapeB;
             --k) {
            isNew = !isSamePlace(&contacts[k], &contact);
        }
        if (isNew) {
            contacts[kept++] = contact;
        }
    }
    return kept;
}

// The contacts of the collider's last answer, in the plane of a planar world.
static void takeContacts(tpSystem* system, const tpPose* poses, tpContactArray* contacts) {
    tpCollider_TakeContacts(system->collider, contacts);
    if (system->isPlanar) {
        contacts->count = tpContacts_Flatten(system, poses, contacts->data, contacts->count);
    }
}

// Contacts are looked for this much farther away than asked: bodies that get faster in the next
// step, which begins where this one ends, find them there.
static const double farther = 1.25;

// Whether the last answer holds: for the same poses, and for margins that are no larger.
static bool areFound(const tpFoundContacts* found, const tpSystem* system, const tpPose* poses,
                     const double* margins) {
    int count = system->bodyCount;
    if (!found->isValid || found->poses.count != count ||
        (count > 0 && memcmp(found->poses.data, poses, sizeof(tpPose) * (size_t)count) != 0)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        if (!(margins[i] <= found->margins.data[i])) {
            return false;
        }
    }
    return true;
}

// Asks the collider and keeps its answer.
static tpResult ask(tpSystem* system, const tpPose* poses, const double* margins) {
    tpFoundContacts* found = &system->found;
    found->isValid = false;
    if (!TP_RESERVE(&system->allocator, found->poses, system->bodyCount) ||
        !TP_RESERVE(&system->allocator, found->margins, system->bodyCount)) {
        return tp_outOfMemory;
    }
    found->poses.count = found->margins.count = system->bodyCount;
    for (int i = 0; i < system->bodyCount; ++i) {
        found->poses.data[i] = poses[i];
        found->margins.data[i] = farther * margins[i];
    }
    system->contactQueryCount += 1;
    tpCollider_SetStop(system->collider, system->stop);
    tpResult result =
        tpCollider_Update(system->collider, poses, found->margins.data, system->tasks);
    system->hasTooManyPairs = system->hasTooManyPairs || result == tp_unsupported;
    if (result == tp_success) {
        takeContacts(system, poses, &found->contacts);
        found->isValid = true;
        tpStepBudget_SpendQuery(system, found->contacts.data, found->contacts.count);
    }
    return result;
}

tpResult tpSystem_FindContacts(tpSystem* system, const tpPose* poses, const double* margins,
                               tpContact** contacts, int* count) {
    *contacts = NULL;
    *count = 0;
    if (tpSystem_IsStopped(system)) {
        return tp_notSolved;
    }
    tpResult result = tpSystem_NeedCollider(system);
    if (result == tp_success && !areFound(&system->found, system, poses, margins)) {
        result = ask(system, poses, margins);
    }
    if (result != tp_success) {
        return result;
    }
    const tpContactArray* found = &system->found.contacts;
    tpContact* near = TP_SCRATCH(&system->arena, tpContact, found->count);
    if (near == NULL) {
        return tp_outOfMemory;
    }
    int number = 0;
    for (int i = 0; i < found->count; ++i) {
        const tpContact* contact = &found->data[i];
        if (contact->gap <= margins[contact->bodyA] + margins[contact->bodyB]) {
            near[number++] = *contact;
        }
    }
    *contacts = near;
    *count = number;
    return tp_success;
}

// Contacts of a few pairs are asked for in this many places each.
enum { roomOfPair = 8 };

tpResult tpSystem_FindContactsOf(tpSystem* system, const tpShapePair* pairs, int pairCount,
                                 const tpPose* poses, const double* margins, tpContact** contacts,
                                 int* count) {
    int room = roomOfPair * pairCount, number = 0;
    *count = 0;
    *contacts = TP_SCRATCH(&system->arena, tpContact, room);
    tpResult result = tpSystem_NeedCollider(system);
    if (*contacts == NULL || result != tp_success) {
        return *contacts == NULL ? tp_outOfMemory : result;
    }
    for (int i = 0; i < pairCount && number <= room; ++i) {
        number += tpCollider_CollidePair(system->collider, pairs[i], poses, margins,
                                         *contacts + number, room - number);
    }
    // A mesh may have more than there is room for.
    if (number > room) {
        return tpSystem_FindContacts(system, poses, margins, contacts, count);
    }
    *count = system->isPlanar ? tpContacts_Flatten(system, poses, *contacts, number) : number;
    tpStepBudget_SpendPairs(system, pairs, pairCount, *count);
    return tp_success;
}

static double speedOf(const tpVelocity* velocity, double reach) {
    return tpLength(velocity->linear) + reach * tpLength(velocity->angular);
}

double tpVelocity_LargestSpeed(const tpSystem* system, int body, const tpVelocity* velocity) {
    const tpBody* own = &system->bodies.data[body];
    // A body without shapes turns about its radius of gyration.
    double gyration =
        own->mass > 0.0 ? sqrt(tpMaxPart(own->form->inertia.moments) / own->mass) : 0.0;
    return speedOf(velocity, gyration > own->reach ? gyration : own->reach);
}

double tpSystem_Margin(const tpSystem* system, int index, const tpVelocity* velocity,
                       const tpVelocity* other, double h) {
    return tpSystem_MarginUnder(system, tpLength(system->gravity), index, velocity, other, h);
}

double tpSystem_MarginUnder(const tpSystem* system, double gravity, int index,
                            const tpVelocity* velocity, const tpVelocity* other, double h) {
    const tpBody* body = &system->bodies.data[index];
    double speed = speedOf(velocity, body->reach);
    if (other != NULL) {
        double last = speedOf(other, body->reach);
        speed = last > speed ? last : speed;
    }
    return tpBody_MarginAt(body, gravity, speed, h);
}

double* tpSystem_Margins(tpSystem* system, const tpVelocity* velocities, const tpVelocity* others,
                         double h) {
    double* margins = TP_SCRATCH(&system->arena, double, system->bodyCount);
    for (int i = 0; margins != NULL && i < system->bodyCount; ++i) {
        margins[i] =
            tpSystem_Margin(system, i, &velocities[i], others != NULL ? &others[i] : NULL, h);
    }
    return margins;
}

int tpContactKey_Compare(tpContactKey a, tpContactKey b) {
    if (a.shapeA != b.shapeA) {
        return (a.shapeA > b.shapeA) - (a.shapeA < b.shapeA);
    }
    if (a.shapeB != b.shapeB) {
        return (a.shapeB > b.shapeB) - (a.shapeB < b.shapeB);
    }
    return (a.feature > b.feature) - (a.feature < b.feature);
}

const tpContact* tpContacts_FindSame(tpContactKey key, const tpContact* list, int count,
                                     int* cursor) {
    for (; *cursor < count; *cursor += 1) {
        int order = tpContactKey_Compare(tpContact_Key(&list[*cursor]), key);
        if (order >= 0) {
            return order == 0 ? &list[*cursor] : NULL;
        }
    }
    return NULL;
}

double tpContacts_Deepest(const tpContact* list, int count, const tpContact* contact) {
    double deepest = 0.0;
    for (int i = 0; i < count; ++i) {
        if (list[i].shapeA == contact->shapeA && list[i].shapeB == contact->shapeB) {
            deepest = fmin(deepest, list[i].gap);
        }
    }
    return deepest;
}

bool tpContactHistory_Merge(tpContactHistory* history, const tpAllocator* allocator,
                            const tpContactMemory* list, int count) {
    int own = history->list.count, place = own + count;
    if (!TP_RESERVE(allocator, history->list, place)) {
        return false;
    }
    // From the last on, so that nothing is written over before it has been moved.
    tpContactMemory* data = history->list.data;
    history->list.count = place;
    while (count > 0) {
        bool isOwn = own > 0 && tpContactKey_Compare(data[own - 1].key, list[count - 1].key) > 0;
        data[--place] = isOwn ? data[--own] : list[--count];
    }
    return true;
}

const tpContactMemory* tpContactHistory_Find(const tpContactHistory* history,
                                             const tpContact* contact, int* cursor) {
    tpContactKey key = tpContact_Key(contact);
    for (; *cursor < history->list.count; *cursor += 1) {
        const tpContactMemory* memory = &history->list.data[*cursor];
        int order = tpContactKey_Compare(memory->key, key);
        if (order >= 0) {
            return order == 0 ? memory : NULL;
        }
    }
    return NULL;
}

const tpContactMemory* tpContactHistory_FindNear(const tpContactHistory* history,
                                                 const tpContact* contact, int* cursor) {
    const tpContactMemory* same = tpContactHistory_Find(history, contact, cursor);
    if (same != NULL) {
        return same;
    }
    // The cursor stands among those of the same shapes, if there are any.
    const tpContactMemory *list = history->list.data, *nearest = NULL;
    double least = INFINITY;
    for (int direction = -1; direction <= 1; direction += 2) {
        int i = direction > 0 ? *cursor : *cursor - 1;
        for (; i >= 0 && i < history->list.count; i += direction) {
            if (list[i].key.shapeA != contact->shapeA || list[i].key.shapeB != contact->shapeB) {
                break;
            }
            double distance = tpDistanceBetween(list[i].point, contact->pointA);
            nearest = distance < least ? &list[i] : nearest;
            least = fmin(least, distance);
        }
    }
    return nearest;
}

bool tpContacts_AreIn(const tpSystem* system, const tpContact* contacts, int count) {
    for (int i = 0; i < count; ++i) {
        const tpContact* contact = &contacts[i];
        bool isIn = contact->bodyA >= 0 && contact->bodyA < system->bodyCount &&
                    contact->bodyB >= 0 && contact->bodyB < system->bodyCount &&
                    contact->shapeA >= 0 && contact->shapeA < system->shapes.count &&
                    contact->shapeB >= 0 && contact->shapeB < system->shapes.count;
        if (!isIn) {
            return false;
        }
    }
    return true;
}
