// The law of one contact: friction, restitution and compliance of its two materials, and the frame
// in which it is written.

#ifndef TIPPE_SRC_DYNAMICS_CONTACT_LAW_H
#define TIPPE_SRC_DYNAMICS_CONTACT_LAW_H

#include "dynamics/system.h"

typedef struct tpContactLaw {
    double mu; // dynamic coefficient
    double muStatic;
    double ellipse[2], arm; // e_t, e_o; e_r in m
    double rollingArm;      // m
    double restitution;
    double stiffness, damping; // N/m and N s/m of the contact point; stiffness 0: it is rigid
    double impactReduction;    // share of mu and muStatic that impacts miss
    tpVec3 tangents[2];        // unit, world axes, with the normal a right-handed frame (n, t, o)
} tpContactLaw;

// Friction numbers and frame of a contact. The first tangent lies along the ellipse's direction
// if there is one; otherwise along x where the normal is vertical, and along z cross n
// elsewhere.
tpContactLaw tpMakeContactLaw(const tpSystem* system, const tpContact* contact);

// The size of a friction impulse and a moment about the normal in the scales of the law: the limit
// is mu times the normal impulse.
double tpContactLaw_FrictionSize(const tpContactLaw* law, tpVec3 friction, double torsion);

// What friction asks of a stepper beyond one coefficient in all directions, as tp_lacks bits.
unsigned tpFriction_Asks(const tpFriction* friction);

// The speed at which the bodies of a contact approach each other at it, m/s; negative if they part.
double tpContact_Approach(const tpContact* contact, const tpPose* poses,
                          const tpVelocity* velocities);

// The law of a contact at which the bodies approach at this speed, m/s: friction of impacts may
// differ from that of sliding.
void tpContactLaw_Meet(tpContactLaw* law, double approach);

#endif
