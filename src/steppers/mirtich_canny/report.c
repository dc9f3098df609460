// What a frame tells: its contacts with the impulses they have carried.

#include "steppers/mirtich_canny/frame.h"

static tpNearShapes* findShapes(tpEvents* events, const tpContactInfo* info) {
    int bodyA = tpContactInfo_BodyA(info), bodyB = tpContactInfo_BodyB(info);
    int from = tpEvents_IsMovable(events, bodyA) ? bodyA : bodyB;
    for (int link = events->flights.data[from].firstLink; link >= 0;) {
        const tpNearPair* pair = &events->nearPairs.data[link / 2];
        for (int i = pair->firstShapes; i >= 0; i = events->nearShapes.data[i].next) {
            tpNearShapes* shapes = &events->nearShapes.data[i];
            tpContactKey key = tpContactInfo_Key(info);
            if (shapes->shapeA == key.shapeA && shapes->shapeB == key.shapeB) {
                return shapes;
            }
        }
        link = pair->nextLink[link % 2];
    }
    return NULL;
}

// All contacts of close pairs as they are now, into the tally. Those that are not there yet carry
// nothing.
static bool measureGaps(tpEvents* events) {
    for (int i = 0; i < events->tally.count; ++i) {
        events->tally.data[i].info.gap = NAN;
    }
    events->touches.count = 0;
    for (int i = 0; i < events->nearShapes.count; ++i) {
        if (events->nearShapes.data[i].isClose &&
            !tpEvents_CollectTouches(events, i, events->settings.tolerance)) {
            return false;
        }
    }
    const tpTallied nothing = { .impulse = { 0.0, 0.0, 0.0 } };
    for (int i = 0; i < events->touches.count; ++i) {
        const tpContact* contact = &events->touches.data[i].contact;
        if (!tpEvents_Tally(events, contact, &nothing)) {
            return false;
        }
        events->report->penetration = fmax(events->report->penetration, -contact->gap);
    }
    return true;
}

// Contacts whose features no longer touch: how far apart the shapes are.
static double gapOf(tpEvents* events, const tpContactInfo* info) {
    tpNearShapes* shapes = findShapes(events, info);
    const tpSystem* system = events->system;
    tpClosest closest = { .distance = 0.0 };
    if (shapes != NULL) {
        const tpCollider* collider = system->collider;
        tpPose poseA = system->poses.data[tpCollider_GetBody(collider, shapes->shapeA)];
        tpPose poseB = system->poses.data[tpCollider_GetBody(collider, shapes->shapeB)];
        tpClosestPoints(tpCollider_GetGeometry(collider, shapes->shapeA), poseA,
                        tpCollider_GetGeometry(collider, shapes->shapeB), poseB, &shapes->cache,
                        &closest);
    }
    return closest.distance;
}

// Hops turn the velocity of a contact that holds there and back; what tells is whether friction was
// at its limit.
static tpContactState stateOf(const tpEvents* events, const tpContactInfo* info) {
    if (!(info->normalImpulse > 0.0)) {
        return tp_separated;
    }
    tpContact contact = tpContactInfo_Contact(info);
    tpContactLaw law = tpMakeContactLaw(events->system, &contact);
    double limit = law.mu * info->normalImpulse;
    double size = tpContactLaw_FrictionSize(&law, info->frictionImpulse, info->torsionalImpulse);
    bool isBelow = size < (1.0 - 1e-6) * limit;
    return isBelow || info->slidingSpeed < TP_STICKING_SPEED * events->system->units.speed
               ? tp_sticking
               : tp_sliding;
}

bool tpEvents_ListContacts(tpEvents* events) {
    tpSystem* system = events->system;
    system->contacts.count = 0;
    if (!measureGaps(events) ||
        !TP_RESERVE(&system->allocator, system->contacts, events->tally.count)) {
        return false;
    }
    for (int i = 0; i < events->tally.count; ++i) {
        tpContactInfo* info = &events->tally.data[i].info;
        info->gap = isnan(info->gap) ? gapOf(events, info) : info->gap;
        int bodyA = tpContactInfo_BodyA(info), bodyB = tpContactInfo_BodyB(info);
        tpVec3 u = tpSub(tpSystem_PointVelocity(system, bodyA, info->point),
                         tpSystem_PointVelocity(system, bodyB, info->point));
        info->slidingSpeed = tpLength(tpMulAdd(u, -tpDot(u, info->normal), info->normal));
        info->state = stateOf(events, info);
        if (info->normalImpulse > 0.0 || info->gap <= TP_TOUCH_DISTANCE * system->units.length) {
            system->contacts.data[system->contacts.count++] = *info;
        }
    }
    events->report->contactCount = system->contacts.count;
    return true;
}
