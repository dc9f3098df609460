// One impact of two rigid bodies with friction, resolved exactly.
//
// An impact takes no time: positions stay, velocities change. Its course is followed as a function
// of the normal impulse so far, through compression and restitution, with Coulomb's law at every
// moment: the bodies may slide, stick, and slide off again in another direction [MirtichCanny94,
// sec. 4]. All vectors and matrices of one impact are in the same axes, which may be any; the
// normal points from the second body to the first, and impulses are those on the first.

#ifndef TIPPE_IMPACT_H
#define TIPPE_IMPACT_H

#include "tippe/base.h"
#include "tippe/math.h"

// What the coefficient of restitution e says. The two agree if the direction of slip stays the same
// or there is no friction; elsewhere only Stronge's law never creates energy for every e <= 1.
typedef enum tpRestitution {
    tp_poissonRestitution, // restitution's normal impulse is e times that of compression
    tp_strongeRestitution  // restitution's normal work is e^2 times the work of compression
} tpRestitution;

// One of the bodies at the moment of the impact.
typedef struct tpImpactBody {
    double inverseMass; // 1/kg; 0 for a body that cannot be moved
    // about the centre of mass, 1/(kg m^2); 0 for a body that cannot be turned
    tpMat33 inverseInertia;
    tpVec3 arm;             // from the centre of mass to the contact, m
    tpVec3 velocity;        // of the centre of mass, m/s
    tpVec3 angularVelocity; // rad/s
} tpImpactBody;

typedef struct tpImpact {
    // Change of the relative velocity for an impulse, 1/kg: symmetric, positive definite. Only the
    // mean of it and its transpose counts.
    tpMat33 collisionMatrix;
    tpVec3 velocity;    // of the first body relative to the second at the contact, m/s
    tpVec3 normal;      // unit vector from the second body to the first
    double friction;    // Coulomb's coefficient, at least 0
    double restitution; // e, at least 0; above 1 the law itself creates energy
    tpRestitution law;
} tpImpact;

typedef enum tpImpactMode {
    tp_impactSlides,  // slips from the start, in a direction that may turn
    tp_impactSticks,  // does not slip
    tp_impactSlipsOff // slips away from rest, in the one direction that leaves it
} tpImpactMode;

typedef struct tpImpactPhase {
    tpImpactMode mode;
    bool isRestitution;
    double normalImpulse; // at its end, N s
} tpImpactPhase;

// An impact has at most slide, stick or slip off, each cut in two where compression ends; more only
// if a jam compresses again.
#define TP_IMPACT_PHASES 8

typedef struct tpImpactResult {
    tpVec3 impulse;            // on the first body, N s; the second gets its opposite
    tpVec3 velocity;           // relative velocity after the impact, m/s
    double compressionImpulse; // normal impulse at maximum compression, N s
    double energyLost;         // kinetic energy of both bodies before less that after, J
    int phaseCount;
    tpImpactPhase phases[TP_IMPACT_PHASES];
    int stepCount; // steps of the integration; 0 if all was closed form
} tpImpactResult;

TP_BEGIN_DECLS

// No friction, no restitution, Poisson's law, the normal along z, and nothing that moves.
TP_API tpImpact tpDefaultImpact(void);

// The impact of two bodies: collision matrix and relative velocity, the rest as by default.
TP_API tpImpact tpMakeImpact(const tpImpactBody* first, const tpImpactBody* second, tpVec3 normal);

// The impulse of an impact. Bodies that do not approach get none. tp_badInput if a number is not
// finite, a coefficient negative, the normal no unit vector or the matrix not positive definite,
// and tp_notSolved if numbers leave the range of doubles; the result is all zeros then.
TP_API tpResult tpImpact_Resolve(const tpImpact* impact, tpImpactResult* result);

// The impulse that turns the relative velocity into its opposite, which does no work: what
// [MirtichCanny94, sec. 4.5] applies in place of a collision that is too weak to be one. False, and
// no result, if it lies outside the friction cone or the bodies do not approach.
TP_API bool tpImpact_Reverse(const tpImpact* impact, tpImpactResult* result);

// A body after the impulse p at its contact: give the first body p and the second -p.
TP_API void tpImpactBody_Apply(tpImpactBody* body, tpVec3 p);

TP_END_DECLS

#endif
