#include "dynamics/contact_info.h"

#include <string.h>

tpContactInfo tpContactInfo_Make(const tpContact* contact) {
    tpContactInfo info;
    memset(&info, 0, sizeof(info));
    info.bodyA.slot = (uint32_t)contact->bodyA + 1;
    info.bodyB.slot = (uint32_t)contact->bodyB + 1;
    info.shapeA.slot = (uint32_t)contact->shapeA + 1;
    info.shapeB.slot = (uint32_t)contact->shapeB + 1;
    info.feature = contact->feature;
    info.point = tpScale(0.5, tpAdd(contact->pointA, contact->pointB));
    info.normal = contact->normal;
    info.gap = contact->gap;
    return info;
}

tpContact tpContactInfo_Contact(const tpContactInfo* info) {
    tpContact contact;
    memset(&contact, 0, sizeof(contact));
    contact.bodyA = (int32_t)info->bodyA.slot - 1;
    contact.bodyB = (int32_t)info->bodyB.slot - 1;
    contact.shapeA = (int32_t)info->shapeA.slot - 1;
    contact.shapeB = (int32_t)info->shapeB.slot - 1;
    contact.feature = info->feature;
    contact.pointA = contact.pointB = info->point;
    contact.normal = info->normal;
    contact.gap = info->gap;
    return contact;
}

int tpContactInfo_Compare(const tpContactInfo* a, const tpContactInfo* b) {
    return tpContactKey_Compare(tpContactInfo_Key(a), tpContactInfo_Key(b));
}

void tpContactInfo_AddImpulses(tpContactInfo* info, const tpContactInfo* other) {
    info->torsionalImpulse += other->torsionalImpulse;
    info->rollingImpulse = tpAdd(info->rollingImpulse, other->rollingImpulse);
    if (memcmp(&info->normal, &other->normal, sizeof(tpVec3)) != 0) {
        // The normal has turned in between: what pushed then is friction now, in part.
        tpContactInfo_AddImpulse(
            info, tpMulAdd(other->frictionImpulse, other->normalImpulse, other->normal));
        return;
    }
    info->normalImpulse += other->normalImpulse;
    info->frictionImpulse = tpAdd(info->frictionImpulse, other->frictionImpulse);
}

void tpContactInfo_AddImpulse(tpContactInfo* info, tpVec3 impulse) {
    double normal = tpDot(impulse, info->normal);
    info->normalImpulse += normal;
    info->frictionImpulse = tpAdd(info->frictionImpulse, tpMulAdd(impulse, -normal, info->normal));
}

tpContactState tpContactInfo_StateOf(const tpContactInfo* info, double speedUnit) {
    if (!(info->normalImpulse > 0.0)) {
        return tp_separated;
    }
    return info->slidingSpeed > TP_STICKING_SPEED * speedUnit ? tp_sliding : tp_sticking;
}
