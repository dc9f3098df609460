// One impact with friction that is elliptic or resists spin.
//
// Friction has up to three components: sliding along t and o, scaled by e_t and e_o, and spin about
// the normal, scaled by the arm e_r. In scaled velocities y = (e_t u_t, e_o u_o, e_r w_n) and
// scaled impulses (p_t / e_t, p_o / e_o, p_r / e_r) the limit of friction is a ball and the law of
// greatest dissipation is Coulomb's: with ' the derivative by the normal impulse
//
//     y' = w - mu T y / |y|,   u_z' = k - mu w . y / |y|
//
// which is [MirtichCanny94, eq. 9] in one more dimension; k, w and T are the blocks of the response
// of the four velocities to the four impulses. README.md of steppers/mirtich_canny has the rest.

#ifndef TIPPE_SRC_DYNAMICS_WIDE_IMPACT_H
#define TIPPE_SRC_DYNAMICS_WIDE_IMPACT_H

#include "dynamics/contact_law.h"
#include "tippe/impact.h"

// The components of a wide impact: normal, t, o, spin.
enum { TP_WIDE = 4 };

typedef struct tpWideImpact {
    double response[TP_WIDE][TP_WIDE]; // of scaled velocities to scaled impulses
    double velocity[TP_WIDE];          // scaled
    tpVec3 axes[3];                    // n, t, o
    double scales[TP_WIDE];            // 1, e_t, e_o, e_r; a scale of 0 leaves its component out
    double friction, restitution;
    tpRestitution law;
} tpWideImpact;

typedef struct tpWideImpactResult {
    double impulse[TP_WIDE]; // scaled
    double compressionImpulse;
    double energyLost; // J
    int stepCount;     // of the integration
} tpWideImpactResult;

// Whether a law of friction needs one.
bool tpContactLaw_IsWide(const tpContactLaw* law);

// The impact of two bodies with the friction of a law; no restitution, Poisson's law.
tpWideImpact tpMakeWideImpact(const tpImpactBody* first, const tpImpactBody* second, tpVec3 normal,
                              const tpContactLaw* law);

// Bodies that do not approach get no impulse. tp_notSolved, and no impulse, if numbers leave the
// range of doubles.
tpResult tpWideImpact_Resolve(const tpWideImpact* impact, tpWideImpactResult* result);

// The scaled impulse that changes the scaled velocities by so much. Components that nothing moves
// get none.
void tpWideImpact_ImpulseFor(const tpWideImpact* impact, const double change[TP_WIDE],
                             double impulse[TP_WIDE]);

// response times impulse.
void tpWideImpact_Change(const tpWideImpact* impact, const double impulse[TP_WIDE],
                         double change[TP_WIDE]);

// Force and moment about the normal of a scaled impulse, on the first body, N s and N m s.
tpVec3 tpWideImpact_Force(const tpWideImpact* impact, const double impulse[TP_WIDE]);
double tpWideImpact_Torsion(const tpWideImpact* impact, const double impulse[TP_WIDE]);

#endif
