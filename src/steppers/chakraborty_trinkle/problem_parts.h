// What the residual and its Jacobian share.

#ifndef TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_PROBLEM_PARTS_H
#define TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_PROBLEM_PARTS_H

#include "steppers/chakraborty_trinkle/problem.h"

// Velocities as numbers: 6, or x, y and the turn in the plane.
void tpToComponents(int componentCount, const tpVelocity* velocity, double* out);
void tpFromComponents(int componentCount, const double* x, tpVelocity* out);

// Travels, places and joint rows at the current unknowns; then what they leave of the equations.
void tpIslandProblem_Travel(tpIslandProblem* problem, bool withDerivatives);
void tpIslandProblem_Move(tpIslandProblem* problem, bool withDerivatives);
void tpIslandProblem_Residual(const tpIslandProblem* problem, double* residual);

// Takes M^-1 wrench off the momentum equation of a body; -1: of none.
void tpIslandProblem_TakeImpulse(const tpIslandProblem* problem, int slot, const tpWrench* wrench,
                                 double* residual);

// The velocity that friction acts against, and where.
typedef struct tpContactSlip {
    const tpContactPlace* place;
    const tpWaypoint* a;
    const tpWaypoint* b;
    tpVec3 velocity, spin; // of A relative to B
} tpContactSlip;
tpContactSlip tpSlipOf(const tpIslandProblem* problem, int block);

// Impulse of a contact on A at its point, and the moment of friction.
tpVec3 tpContactForce(const tpIslandProblem* problem, int block, tpVec3* moment);

// The equations of a block's cone, in m/s, and their derivatives by its u and r.
typedef struct tpConeEquations {
    double value[TP_FRICTION_MAX_ROWS];
    double byVelocity[TP_FRICTION_MAX_ROWS][TP_FRICTION_MAX_ROWS];
    double byImpulse[TP_FRICTION_MAX_ROWS][TP_FRICTION_MAX_ROWS];
} tpConeEquations;
tpConeEquations tpConeEquationsOf(const tpIslandProblem* problem, int block);

#endif
