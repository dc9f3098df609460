// Joints as rows: what each type holds fast, and what acts on its coordinates.
//
// A joint is a list of rows, each the velocity of one quantity (a distance, an angle) with the
// present error of that quantity. joint_types.c has what each type holds, joint_laws.c what acts on
// a coordinate; README.md derives both.

#ifndef TIPPE_SRC_DYNAMICS_JOINTS_H
#define TIPPE_SRC_DYNAMICS_JOINTS_H

#include "dynamics/rows.h"
#include "dynamics/steady_efforts.h"

// How errors of position enter the rows.
typedef struct tpJointTreatment {
    double h;                     // length of the step, s
    double gain;                  // part of the error that one step takes back, 0 to 1
    const tpVelocity* linearised; // velocities that led to the poses given, or NULL for the start
    double duration;              // for which motors and dry friction act, s
    double theta;      // part of the impulses in the velocities that bodies move by; 0 stands for 1
    bool isAfterDrift; // the efforts of limits are those of the drift before: limits that pushed
                       // are closed, however much room the drift's solve has left them
} tpJointTreatment;

// To be called at the start of every step of h seconds, before any force of the step has changed
// velocities.
void tpJoints_Begin(tpSystem* system, double h);

// Blocks and rows that all joints of a system may need.
void tpJoints_Count(const tpSystem* system, int* blocks, int* rows);

// Adds the rows of all joints at the given poses; row.bias is set, row.q is not.
void tpJoints_AddRows(tpRows* rows, const tpSystem* system, const tpPose* poses,
                      const tpJointTreatment* treatment);

// Writes the rows of one joint anew in their place: `block` is its first among rows that were added
// at the start of the same step.
void tpJoint_RewriteRows(tpRows* rows, const tpSystem* system, int block, const tpPose* poses,
                         const tpJointTreatment* treatment);

// The same for one joint that may move something, and what it may need.
void tpJoint_AddRows(tpRows* rows, const tpSystem* system, int index, const tpPose* poses,
                     const tpJointTreatment* treatment);
void tpJoint_CountRows(const tpJoint* joint, int* blocks, int* rows);

// The same for one half of a symmetric step. Springs, servos and dampers act by what they are half
// way through the drift, half of the impulse in each half: of second order, stable for any
// stiffness, and exact at rest. Servos and dampers too stiff for the step have a larger share in
// the first half, so that they do not ring. Rows of the second half have none of them;
// tpJoints_KickRest applies what is left.
typedef enum tpStepHalf { tp_firstHalf, tp_secondHalf } tpStepHalf;
// Couplings come with them. `isWanted` tells which joints; NULL: all.
void tpJoints_AddHalfRows(tpRows* rows, const tpSystem* system, const tpPose* poses,
                          const tpJointTreatment* treatment, tpStepHalf half, const bool* isWanted);

// The impulses of springs, servos and dampers in the second half of a step, from those in the rows
// of the first half, and what balances steady efforts. Adds the work of what is not in the
// potential energy, over the way with the velocities `meanVelocities`, to the report. `isWanted`
// tells of which joints, without couplings; NULL: of all.
void tpJoints_KickRest(tpSystem* system, const tpRows* first, const tpVelocity* meanVelocities,
                       const tpStepTimes* times, const bool* isWanted, tpStepReport* report);

// The share of a law's impulse before the drift of a symmetric step, 1/2 or more; more where it is
// stiff for the step.
double tpJoints_Share(const tpSystem* system, const tpBlockInfo* info);

// The row of a joint's block that belongs to bodies: bounded ones have their load first.
int tpRows_ForceRow(const tpRows* rows, int block);

// Adds a force on B, and its moment about the centre of mass, to what the joint reports at its
// anchor.
void tpJoint_AddReaction(const tpSystem* system, tpJoint* joint, tpWrench onB);

// Where rows of joints have come to: of each row from block `firstBlock` on the error of the
// position that it holds, or the way of the coordinate that carries a rotor, at these poses. Rows
// are those of a step's drift; `isHalf`: as tpJoints_AddHalfRows has written them for a first half.
// False if memory ran out.
bool tpJoints_EndErrors(tpSystem* system, const tpRows* rows, int firstBlock, const tpPose* poses,
                        const tpJointTreatment* treatment, bool isHalf, double* errors);

// The same of one row, from rows that were written at the end with h = 1.
double tpJoints_ErrorOf(const tpRows* end, int block, int row);

// By how much the position that a row of a joint holds is missed where the drift of h seconds has
// ended, with the impulse and velocity of the row and its error there. 0 for rows that hold no
// position. The row of a limit that is open takes its miss in as well: of the two limits of a
// coordinate one misses what the other has too much, and if only the one that has pushed learned of
// it, drifts that swing from one to the other would leave rows that no velocity fulfils.
double tpJoints_Miss(const tpRows* rows, int block, int row, double impulse, double velocity,
                     double error, double h);

// Whether that miss is one of the drift: a limit that is open there holds nothing.
bool tpJoints_IsMissFelt(const tpRows* rows, int block, double impulse, double error);

// By how much the way of a coordinate with a spring, servo or damper in a symmetric step differs
// from what the row of its law has measured, which sees slides and later turns of a chain along the
// axes of the start: with those the law would be of first order. `poses` are where the drift of h
// seconds has ended. 0 for other rows, and where the row sees its coordinate right.
double tpJoints_LawMiss(const tpSystem* system, const tpPose* poses, const tpRows* rows, int block,
                        int row, double h);

// Largest error of position over all joints, m; a turn of 1 rad counts as the unit of length.
double tpJoints_PositionError(const tpSystem* system, const tpPose* poses);

// That of one joint.
double tpJoint_PositionError(const tpSystem* system, const tpJoint* joint, const tpPose* poses);

// The same of a joint that is a single turn in space: `gap` is between its anchors, `twist` what
// its turn does not explain, in the axes of A.
double tpHinge_Drift(const tpJoint* joint, tpVec3 gap, tpVec3 twist, double value, double unit);

// Follows the turns of joints past half a turn; once a step, after bodies have moved.
void tpJoints_FollowAngles(tpSystem* system);

// The end of a step, of joints that are not done: follows their turns, ends their rotors, and
// returns the largest error of position. `isDone` is by joint.
double tpJoints_End(tpSystem* system, const bool* isDone);

// The impulses of efforts that users have applied for this step, over `duration` seconds at the
// current poses.
void tpJoints_KickEfforts(tpSystem* system, double duration);

// When a step is over: efforts of this step come into what coordinates and reactions tell, and are
// forgotten.
void tpJoints_FinishEfforts(tpSystem* system);

// Moves bodies, by the least kinetic-energy metric, until every joint is within `tolerance` (m; of
// turns rad per unit of length). Returns the iterations used, or -1 if it did not get there (the
// best poses are kept).
int tpJoints_Correct(tpSystem* system, tpSolverMemory* memory, double tolerance);

// The same; returns the error of position that is left, as tpJoints_PositionError has it.
double tpJoints_CorrectAndMeasure(tpSystem* system, tpSolverMemory* memory, double tolerance);

// The same, but errors up to `slack`, which is below the tolerance, stay as they are.
double tpJoints_CorrectBeyond(tpSystem* system, tpSolverMemory* memory, double slack,
                              double tolerance);

// Changes velocities, by the least kinetic energy, so that joints stay closed where they are. False
// if memory ran out.
bool tpJoints_CorrectVelocities(tpSystem* system, tpSolverMemory* memory);

// Takes over the impulses of a solve that is kept, as means over a step of h seconds: the reactions
// on body B, the efforts of coordinates, and the speeds of armatures. Those of one solve, or added
// to those of an earlier one.
void tpJoints_StoreReactions(tpSystem* system, const tpRows* rows, double h);
void tpJoints_ClearReactions(tpSystem* system);
void tpJoints_AddReactions(tpSystem* system, const tpRows* rows, double h);

// The same for the impulse of one law of a coordinate.
void tpCoordinate_AddEffort(tpCoordinate* coordinate, tpRowRole role, int part, double impulse,
                            double h);

#endif
