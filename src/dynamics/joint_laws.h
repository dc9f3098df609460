// What acts on the coordinates of joints, as rows: limits, springs, servos, motors, dry friction,
// damping, armature. README.md, "Laws of coordinates", derives them.

#ifndef TIPPE_SRC_DYNAMICS_JOINT_LAWS_H
#define TIPPE_SRC_DYNAMICS_JOINT_LAWS_H

#include "dynamics/joint_types.h"
#include "dynamics/joints.h"

// Which impulses of springs, servos and dampers the rows have.
typedef enum tpLawRows {
    tp_wholeLaws,     // all of them: a step with one solve
    tp_firstHalfLaws, // the share before the drift; tpJoints_KickRest applies what is left
    tp_noLaws         // none: in the second half of a step, and in collisions, which take no time
} tpLawRows;

// A row on which a law acts: that of a joint's coordinate, or of a coupling, which moves further
// bodies.
typedef struct tpLawRow {
    int bodyA, bodyB; // -1: the world
    tpJointRow row;   // its error is the value
    int moreCount;
    const int* moreBodies;
    const tpWrench* more; // on them
} tpLawRow;

// stiffness (rest - value) + damping (speed - rate), at most `limit` either way.
typedef struct tpForceLaw {
    double stiffness, damping, rest, speed;
    double limit; // INFINITY: none
} tpForceLaw;

// The same over a time, as a row: r = -stiffness (u + bias).
typedef struct tpSoftLaw {
    double stiffness, bias;
    double damping; // the damper's part of the stiffness
} tpSoftLaw;

// For an impulse over `duration` by the value after `lag`; `stretch` is the value less the rest.
static inline tpSoftLaw tpForceLaw_Soften(const tpForceLaw* law, double duration, double lag,
                                          double stretch) {
    // r = -(a x + b u - c speed) with a = duration stiffness, c = duration damping, b = a lag + c.
    double elastic = duration * law->stiffness, damping = duration * law->damping;
    double implicit = elastic * lag + damping;
    double bias = implicit > 0.0 ? (elastic * stretch - damping * law->speed) / implicit : 0.0;
    return (tpSoftLaw){ implicit, bias, damping };
}

// Rows on which damping, dry friction and armature act: the coordinate itself, or the three turns
// of a ball joint in the axes of A. Returns their number.
int tpJoint_OwnRows(const tpJoint* joint, const tpJointPlace* place, const tpJointRow* row,
                    tpJointRow list[3]);

// Add a block of one row: with its rate alone, with the bias that takes its error back, for the
// limits that count. The first returns the row.
int tpLawRow_AddFree(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row);
void tpLawRow_AddHeld(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row,
                      const tpJointTreatment* treatment);
void tpLawRow_AddLimits(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row,
                        const double limits[2], const tpJointTreatment* treatment);

// An impulse that acts for `part` of the step: in a half of a symmetric step by the value after as
// much of it, else by that at the end (README.md, "Laws of coordinates").
void tpLawRow_AddForce(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row,
                       const tpForceLaw* law, const tpJointTreatment* treatment, double part,
                       bool isHalf);

// Blocks and rows that the coordinates of a joint may need.
void tpJoint_CountLaws(const tpJoint* joint, int* blocks, int* rows);

// Adds the rows of one coordinate; `index` is the joint's.
void tpJoint_AddLaws(tpRows* rows, const tpSystem* system, int index, int coordinate,
                     const tpJointPlace* place, const tpJointTreatment* treatment, tpLawRows laws);

// The same of a joint that is a single turn, about an axis of the world.
void tpHinge_AddLaws(tpRows* rows, const tpSystem* system, int index, tpVec3 axis, double value,
                     const tpJointTreatment* treatment, tpLawRows laws);

// Of these the laws with a bound: limits, a servo whose effort is bounded, motor, dry friction.
void tpHinge_AddBoundedLaws(tpRows* rows, const tpSystem* system, int index, tpVec3 axis,
                            double value, const tpJointTreatment* treatment, tpLawRows laws);

static inline bool tpServo_IsBounded(const tpCoordinateDef* def) {
    return def->hasServo && isfinite(def->servo.effort);
}

// Puts a row into a block: directions, and the bias that takes the error back.
void tpLawRow_Place(tpRows* rows, const tpSystem* system, int block, int k, const tpLawRow* row,
                    double sign, const tpJointTreatment* treatment);

// The share of a law's impulse before the drift of a symmetric step, by its coefficients and the
// velocity that a unit of impulse gives to the coordinate.
double tpLawShare(double h, double stiffness, double damping, double response);

// No less than the velocity that a unit of impulse gives to a coordinate in the mechanism.
double tpCoordinate_Response(const tpSystem* system, const tpJoint* joint,
                             const tpJointPlace* place, int coordinate);

// Whether a coordinate can meet its lower limit (side 0) or its upper one. The angle of a ball
// joint is never negative: a row for a lower limit of 0 would be a wall across the way through
// zero.
static inline bool tpCoordinate_MeetsLimit(const tpJoint* joint, int coordinate, int side) {
    double limit = joint->coordinates[coordinate].def.limits[side];
    return isfinite(limit) && !(joint->type == tp_ballJoint && side == 0 && limit <= 0.0);
}

// By how much a value is past one of two limits, signed; 0 if it is not.
double tpPastLimit(const double limits[2], double value);

// The same, but a value that has been past a limit before is measured from that limit, also within:
// `side` remembers which it was, -1 the lower, 1 the upper, 0 none so far. It may be NULL.
double tpPassedLimit(const double limits[2], double value, signed char* side);

// At the start of a step of h seconds: speeds of armatures, and the shares of impulses before the
// drift. Bodies have the poses and velocities of the start, before any force of the step.
void tpJoints_BeginLaws(tpSystem* system, double h);

// Speeds of armatures alone, for steppers with whole laws, which need no shares, and whose rotors
// have no position.
void tpJoints_BeginRotors(tpSystem* system);

// At the end of a step whose rows have directions of one place only. A coordinate whose axis turns
// with a body gets faster or slower by that turn alone, and its rotor has not been told: it goes on
// at its own speed in the next step, and the bodies have to take it along. Where somebody changes
// velocities in between, rotors start with them.
void tpJoints_EndRotors(tpSystem* system);
void tpJoint_EndRotors(const tpSystem* system, tpJoint* joint);

// The rate of a joint that is a single turn. NULL: the world.
double tpHinge_SpeedAbout(tpVec3 axis, const tpVec3* spinA, const tpVec3* spinB);

// Energies that are not those of bodies.
double tpJoints_KineticEnergy(const tpSystem* system);   // of armatures
double tpJoints_PotentialEnergy(const tpSystem* system); // of springs
double tpJoint_PotentialEnergy(const tpJoint* joint, const tpPose* poses);

#endif
