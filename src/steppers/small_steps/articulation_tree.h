// Mechanisms that are trees: joints by the axes that they leave free, laws as rows on these axes.
// README.md, "Trees".

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_ARTICULATION_TREE_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_ARTICULATION_TREE_H

#include "steppers/small_steps/articulation.h"

// Where the joints are by the poses of now: arms, axes, values of coordinates, and how far bodies
// are off their joints (articulation_places.c).
void tpTree_Look(const tpSmallStep* step, tpArticulation* articulation);

// Arms and axes after small displacements since the last look, whose values and errors stay.
void tpTree_LookAgain(const tpSmallStep* step, tpArticulation* articulation);

// The tree gets the arms and axes of the last look.
void tpTree_TakePlaces(const tpSmallStep* step, tpArticulation* articulation);

// The tree gets the arms and axes that the velocities of the bodies lead to from the last look, in
// a time in which they turn little. False, and nothing has changed, if joints are not all hinges.
bool tpTree_TakeAhead(const tpSmallStep* step, tpArticulation* articulation, double time);

// The end of the step: reactions go to the joints, and those that are hinges between bodies of the
// tree get their turns, speeds of rotors and drift.
void tpTree_EndJoints(const tpSmallStep* step, tpArticulation* articulation);

// The velocity of each node against its parent that its joint, where it was last looked at, does
// not allow, the other way round: into `jumps`. Six numbers per node; `base` is the velocity of
// what the root is joined to, at the root's centre. Displacements are no different.
void tpTree_FindSlips(const tpSmallStep* step, const tpArticulation* articulation,
                      const double* velocities, const double* base, double* jumps);

// Whether a joint can be a link of a tree, with the laws that it has now.
bool tpTree_Carries(const tpJoint* joint);

static inline int tpTree_AxisCount(const tpJoint* joint) {
    return joint->type == tp_ballJoint ? 3 : joint->coordinateCount;
}

// Errors of position where the bodies are now, of joints and of limits; returns the largest.
double tpTree_FindErrors(const tpSmallStep* step, tpArticulation* articulation);

// What joints carried since axes were placed, in one substep or in the whole step.
void tpTree_AddReactions(const tpSmallStep* step, tpArticulation* articulation);

// The same of the velocities `rate` times `shifts` that a correction gives, which rotors get too;
// the impulses of the rows of axes into `lateErrors`. `errors` of rows if one pass has corrected
// them, or NULL.
void tpTree_AddFedReactions(tpArticulation* articulation, const double* errors, double rate);

// After that: the velocities `shifts` that even out the turn from the middle to the end, and rotors
// with them. README.md, "Positions".
void tpTree_EvenTurn(const tpSmallStep* step, tpArticulation* articulation, double rate);

// What the joint of a link carried in the step goes to it.
void tpTree_ReportReaction(const tpSmallStep* step, const tpArticulation* articulation, int i);

// Rows of the laws of all axes, by the values of the last look (articulation_laws.c).
void tpTree_WriteLaws(const tpSmallStep* step, tpArticulation* articulation);

// The same rows with the values of the last look, in the middle of a step. They keep their states.
void tpTree_RewriteLaws(const tpSmallStep* step, tpArticulation* articulation);

// What the laws did since they were written, and in corrections, goes to the coordinates.
void tpTree_ReportLaws(const tpSmallStep* step, const tpArticulation* articulation);

#endif
