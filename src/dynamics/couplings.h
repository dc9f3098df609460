// Couplings as rows: the sum of factor times coordinate has the sum of the coordinates' rows for
// its rate, and the laws of a coordinate act on it.

#ifndef TIPPE_SRC_DYNAMICS_COUPLINGS_H
#define TIPPE_SRC_DYNAMICS_COUPLINGS_H

#include "dynamics/joint_laws.h"

enum { tp_maxCouplingBodies = 2 * tp_maxCouplingTerms };

// Where a coupling is: its sum, and what it does to each of its bodies, dynamic ones first.
typedef struct tpCouplingRow {
    double value;
    int bodyCount;
    int bodies[tp_maxCouplingBodies];
    tpWrench on[tp_maxCouplingBodies];
} tpCouplingRow;

void tpCoupling_Place(const tpSystem* system, const tpCoupling* coupling, const tpPose* poses,
                      tpCouplingRow* row);

// Rate of the sum for the velocities of all bodies.
double tpCouplingRow_Speed(const tpCouplingRow* row, const tpVelocity* velocities);

// Applies an impulse on the sum to all its bodies.
void tpCouplingRow_Apply(tpSystem* system, const tpCouplingRow* row, double impulse);

// Bodies of the coupling's joints one after the other, from k = 0 on; false after the last. A body
// may be -1 or come twice.
bool tpCoupling_BodyAt(const tpSystem* system, int index, int k, int* body);

// A dynamic body of it, or -1: nothing in it moves, or it is not live.
int tpCoupling_AnyBody(const tpSystem* system, int index);

// Room that the rows of all couplings need.
void tpCouplings_Count(const tpSystem* system, int* blocks, int* rows);
int tpCouplings_TermCapacity(const tpSystem* system);

// As those of joints.h and joint_laws.h, whose functions call these. Begin tells whether a servo is
// stiff for the step.
bool tpCouplings_Begin(tpSystem* system, double h);
// The same for one coupling of which something moves, and what it may need.
void tpCoupling_AddRows(tpRows* rows, const tpSystem* system, int index, const tpPose* poses,
                        const tpJointTreatment* treatment, tpLawRows laws);
void tpCoupling_Count(const tpCoupling* coupling, int* blocks, int* rows, int* terms);
void tpCouplings_AddRows(tpRows* rows, const tpSystem* system, const tpPose* poses,
                         const tpJointTreatment* treatment, tpLawRows laws);
// Rows of errors of position; `sides` as tpPassedLimit has it, of each coupling, or NULL.
void tpCouplings_AddErrors(tpRows* rows, const tpSystem* system, const tpJointTreatment* treatment,
                           signed char* sides);
// By how much one of them, or the worst of all, misses its value or is past its limits.
double tpCoupling_PositionError(const tpSystem* system, int index, const tpPose* poses);
double tpCouplings_PositionError(const tpSystem* system, const tpPose* poses);
void tpCouplings_ClearEfforts(tpSystem* system);
// What holds the value of a coupling, and what its joints get of it.
void tpCoupling_AddHold(tpSystem* system, int index, double effort);
void tpCoupling_AddEffort(tpSystem* system, const tpRows* rows, int block, double h);
void tpCoupling_KickRest(tpSystem* system, const tpRows* first, int block, double share,
                         const tpVelocity* meanVelocities, const tpStepTimes* times,
                         tpStepReport* report);
double tpCouplings_PotentialEnergy(const tpSystem* system);

#endif
