// Contact points that give: a spring and a damper that push and never pull. README.md derives the
// laws.

#ifndef TIPPE_SRC_DYNAMICS_CONTACT_SPRING_H
#define TIPPE_SRC_DYNAMICS_CONTACT_SPRING_H

#include "dynamics/contacts.h"
#include "dynamics/solve.h"

// One contact point in one step. `u` below is the velocity of its normal row, mean over the step.
typedef struct tpPointSpring {
    double stiffness, damping; // N/m, N s/m
    double gap;                // at the start of the step, m; negative if it is pressed in
    double h;                  // s
    double share;              // of the damper's impulse that acts before the drift
} tpPointSpring;

tpPointSpring tpMakePointSpring(const tpContactLaw* law, double gap, double h, double response);

// The energy of a point at this gap, J.
double tpPointSpring_Energy(double stiffness, double gap);

// The symmetric step: the impulse before the drift, N s, and what it changes by with u (zero or
// negative).
double tpPointSpring_FirstImpulse(const tpPointSpring* spring, double u, double* slope);

// The impulse of the whole step, N s.
double tpPointSpring_WholeImpulse(const tpPointSpring* spring, double u);

// The u of the symmetric step at which free + response r = u, for a point alone.
double tpPointSpring_Settle(const tpPointSpring* spring, double response, double free);

// Writes the tangent of the first impulse at u into a contact's normal row: compliance and bias.
void tpPointSpring_Linearise(const tpPointSpring* spring, double u, tpRows* rows, int row);

// The same for a step with one solve: implicit Euler, exactly linear where it pushes.
void tpPointSpring_WriteImplicit(const tpContactLaw* law, double gap, double h, tpRows* rows,
                                 int row);

// u without compliance and bias of the row.
double tpRows_BareVelocity(const tpRows* rows, int row);

// How far the impulses are from the law of rigid contact: the judge's relative residual with the
// normal rows of contacts that give made rigid. `laws` and `gaps` are by contact. False if
// memory ran out.
bool tpRows_JudgeRigid(tpRows* rows, const tpContactLaw* laws, const double* gaps, double h,
                       tpArena* arena, tpSolverMemory* memory, double* residual);

// Whether the system has materials that give and a stepper that knows them.
bool tpSystem_Gives(const tpSystem* system);

// How deep a contact overlaps where bodies are, m. One that gives is pressed in, which is no
// overlap.
double tpContact_Overlap(const tpContact* contact, const tpSystem* system);

// Sums the energy of the springs at these contacts into the system.
void tpSystem_SetContactEnergy(tpSystem* system, const tpContact* contacts, int count);

// The same for where the bodies are. False if memory ran out.
bool tpSystem_FindContactEnergy(tpSystem* system);

#endif
