// Contacts as the collider finds them and as users see them, one made from the other.

#ifndef TIPPE_SRC_DYNAMICS_CONTACT_INFO_H
#define TIPPE_SRC_DYNAMICS_CONTACT_INFO_H

#include "dynamics/contacts.h"

// Contacts nearer than this at the end of a step are listed even if they carry nothing, in units of
// length.
#define TP_TOUCH_DISTANCE 1e-6

// Slower contacts stick, in units of speed.
#define TP_STICKING_SPEED 1e-8

// What users see of a contact that carries nothing: slots without generations, which the world
// fills in.
tpContactInfo tpContactInfo_Make(const tpContact* contact);

// The contact again, both of its points in the middle between the surfaces.
tpContact tpContactInfo_Contact(const tpContactInfo* info);

static inline int tpContactInfo_BodyA(const tpContactInfo* info) {
    return (int)info->bodyA.slot - 1;
}

static inline int tpContactInfo_BodyB(const tpContactInfo* info) {
    return (int)info->bodyB.slot - 1;
}

// The order of contacts: -1, 0 or 1.
int tpContactInfo_Compare(const tpContactInfo* a, const tpContactInfo* b);

// Adds the impulses of the same contact at another time, as vectors: its normal may have turned in
// between.
void tpContactInfo_AddImpulses(tpContactInfo* info, const tpContactInfo* other);

// Adds an impulse on body A, split into its normal and friction parts.
void tpContactInfo_AddImpulse(tpContactInfo* info, tpVec3 impulse);

// Whether it is separated, sliding or sticking, by its normal impulse and its sliding speed.
tpContactState tpContactInfo_StateOf(const tpContactInfo* info, double speedUnit);

#endif
