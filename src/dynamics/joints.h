// Joints as rows: what each type holds fast, and what limits, motors, springs and friction add.
//
// A joint is a list of rows, each the velocity of one quantity (a distance, an angle) with the present
// error of that quantity. Types are entries of a table; each only says which rows it has.

#ifndef TIPPE_SRC_DYNAMICS_JOINTS_H
#define TIPPE_SRC_DYNAMICS_JOINTS_H

#include "dynamics/rows.h"

enum { tp_maxJointRows = 12, tp_maxJointBlocks = 9 };

// How errors of position enter the rows.
typedef struct tpJointTreatment {
    double h;                     // length of the step, s
    double gain;                  // part of the error that one step takes back, 0 to 1
    const tpVelocity* linearised; // velocities that led to the poses given, or NULL for the start
    double duration;              // for which motors and dry friction act, s
} tpJointTreatment;

// Blocks and rows that all joints of a system may need.
void tpJoints_Count(const tpSystem* system, int* blocks, int* rows);

// Adds the rows of all joints at the given poses; row.bias is set, row.q is not.
void tpJoints_AddRows(tpRows* rows, const tpSystem* system, const tpPose* poses,
                      const tpJointTreatment* treatment);

// The same for one half of a symmetric step, whose springs act by the mean of their lengths at both ends, half
// of the impulse in each half: of second order, stable for any stiffness, and exact at rest. In the second
// half the rows have only what dampers do implicitly; tpJoints_KickSprings applies the rest.
typedef enum tpStepHalf { tp_firstHalf, tp_secondHalf } tpStepHalf;
void tpJoints_AddHalfRows(tpRows* rows, const tpSystem* system, const tpPose* poses,
                          const tpJointTreatment* treatment, tpStepHalf half);

// The springs' impulses in the second half of a step of h seconds, from those in the rows of the first half
// and the velocities of the drift. Adds the work of what is not in the potential energy to the report.
void tpJoints_KickSprings(tpSystem* system, const tpRows* first, const tpVelocity* moves, double h,
                          tpStepReport* report);

// Largest error of position over all joints, m or rad.
double tpJoints_Drift(const tpSystem* system, const tpPose* poses);

// Follows the turns of joints past half a turn; once a step, after bodies have moved.
void tpJoints_FollowAngles(tpSystem* system);

// Moves bodies, by the least kinetic-energy metric, until every joint is within `tolerance` (m, rad).
// Returns the iterations used, or -1 where it did not get there (the best poses are kept).
int tpJoints_Correct(tpSystem* system, tpSolverMemory* memory, double tolerance);

// The reactions on body B from the impulses of a step of h seconds: those of one solve, or added to
// those of an earlier one.
void tpJoints_StoreReactions(tpSystem* system, const tpRows* rows, double h);
void tpJoints_ClearReactions(tpSystem* system);
void tpJoints_AddReactions(tpSystem* system, const tpRows* rows, double h);

#endif
