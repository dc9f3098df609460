// Joints between two bodies, the coordinates that they leave free, and the laws that act on these
// coordinates.
//
// A joint leaves 0 to 6 coordinates free, each a turn (rad) or a slide (m) of body B relative to
// body A:
//
//     revolute       turn              universal   turn about A's axis, turn about B's axis
//     prismatic      slide             planar      slide, slide, turn about the axis
//     cylindrical    slide, turn       compound    up to three turns and three slides in order
//     screw          turn              fixed, gear none
//     ball           the angle between the axis in A and the axis in B
//     distance, spring   the distance of the two anchors
//
// Turns and slides have the value `zero` when the joint is created; several turns are counted. Each
// coordinate has laws of its own: limits, a spring, a motor, a servo, armature, damping, dry
// friction. They can be changed at any time. Damping, dry friction and armature of a ball joint act
// on all of its turning.

#ifndef TIPPE_JOINTS_H
#define TIPPE_JOINTS_H

#include "tippe/world.h"

typedef enum tpJointType {
    tp_ballJoint,
    tp_revoluteJoint,
    tp_prismaticJoint,
    tp_cylindricalJoint,
    tp_universalJoint,
    tp_fixedJoint,
    tp_distanceJoint,
    tp_planarJoint,
    tp_gearJoint,
    tp_screwJoint,
    tp_springJoint, // a force between two points, no constraint
    tp_compoundJoint,
    tp_jointTypeCount
} tpJointType;

enum { tp_maxCoordinates = 6 };

typedef struct tpSpring {
    double stiffness, damping; // N m/rad, N m s/rad; or N/m, N s/m
    double rest;               // value of the coordinate at which it exerts no force
} tpSpring;

// Drives the speed of a coordinate towards `speed`.
typedef struct tpMotor {
    double speed;  // rad/s or m/s, of B relative to A
    double effort; // N m or N, at most
} tpMotor;

// stiffness (target - value) + damping (speed - rate), at most `effort` either way. Taken
// implicitly: stable for any gains and any step.
typedef struct tpServo {
    double target, speed;      // rad, rad/s; or m, m/s
    double stiffness, damping; // N m/rad, N m s/rad; or N/m, N s/m
    double effort;             // N m or N, at most; INFINITY: no limit
} tpServo;

// What acts on one coordinate.
typedef struct tpCoordinateDef {
    double zero; // value of the coordinate when the joint is made; turns and slides only
    bool hasLimits;
    double limits[2]; // rad or m; may be infinite
    bool hasSpring;
    tpSpring spring;
    bool hasMotor;
    tpMotor motor;
    bool hasServo;
    tpServo servo;
    // kg m^2 or kg: inertia of a motor's rotor, felt by this coordinate alone
    double armature;
    double damping;  // N m s or N s/m
    double friction; // N m or N of dry friction
} tpCoordinateDef;

typedef enum tpAxisKind { tp_turnAxis, tp_slideAxis } tpAxisKind;

// An axis of a compound joint.
typedef struct tpAxisDef {
    const char* name; // copied; may be NULL
    tpAxisKind kind;
    tpVec3 direction; // world axes at creation
    tpCoordinateDef coordinate;
} tpAxisDef;

typedef struct tpJointDef {
    const char* name; // copied; may be NULL
    tpJointType type;
    tpBodyId bodyA, bodyB; // the null id means the world
    tpVec3 anchorA,
        anchorB; // world coordinates at creation; joints with one anchor have both equal
    tpVec3 axis; // world axes at creation: of the turn or the slide; universal: fixed in body A
    tpVec3 secondAxis; // universal: fixed in body B; gear: the axis of body B, zero: as `axis`
    tpCoordinateDef coordinate; // the first coordinate's; others start without laws
    const tpAxisDef* axes; // compound: in order from body A to body B, in place of `coordinate`
    int axisCount;
    double ratio; // gear: turns of B for one of A
    double pitch; // screw: m of slide for a full turn
    bool collide; // whether the two bodies collide with each other
    void* userData;
} tpJointDef;

// The present state of a coordinate, and the mean efforts on it in the last step.
typedef struct tpCoordinateState {
    double value, speed; // rad, rad/s; or m, m/s
    double effort;       // of motor, servo and applied effort together, N m or N
    double limitEffort;  // of its limits
} tpCoordinateState;

typedef struct tpCouplingId {
    uint32_t slot, generation;
} tpCouplingId;

// A coordinate in the sum of a coupling.
typedef struct tpCouplingTerm {
    tpJointId joint;
    int coordinate;
    double factor;
} tpCouplingTerm;

enum { tp_maxCouplingTerms = 64 };

// A linear relation between coordinates, factor times value summed over its terms: gears, mimic
// joints, fixed tendons. The sum is held at a value, or it is limited, sprung or driven.
typedef struct tpCouplingDef {
    const char* name;            // copied; may be NULL
    const tpCouplingTerm* terms; // copied
    int termCount;               // 1 to tp_maxCouplingTerms
    bool hasValue;
    double value; // at which the sum is held
    bool hasLimits;
    double limits[2]; // of the sum; may be infinite
    bool hasSpring;
    tpSpring spring;
    bool hasServo;
    tpServo servo;
} tpCouplingDef;

TP_BEGIN_DECLS

// Joints -----------------------------------------------------------------------------------------

TP_API tpJointDef tpDefaultJointDef(void);
TP_API tpCoordinateDef tpDefaultCoordinateDef(void); // no laws; a servo without limit of its effort
TP_API tpJointId tpCreateJoint(tpWorld* world, const tpJointDef* def, tpError* error);
TP_API void tpDestroyJoint(tpWorld* world, tpJointId joint);
TP_API bool tpJoint_IsValid(const tpWorld* world, tpJointId joint);
TP_API int tpWorld_GetJointCount(const tpWorld* world);
TP_API tpJointId tpWorld_GetJoint(const tpWorld* world, int index); // in order of slots
TP_API tpJointId tpWorld_FindJoint(const tpWorld* world, const char* name);
TP_API const char* tpJoint_GetName(const tpWorld* world, tpJointId joint); // "" if it has none
TP_API const char* tpJointTypeName(tpJointType type);                      // as scenes spell it

// The present definition, with the present anchors and axes and the laws of the first coordinate.
// `axes` is NULL; see tpJoint_GetAxis.
TP_API tpJointDef tpJoint_GetDef(const tpWorld* world, tpJointId joint);
// Force and torque that the joint exerted on body B in the last step, mean over the step; at anchor
// B. Either may be NULL.
TP_API void tpJoint_GetReaction(const tpWorld* world, tpJointId joint, tpVec3* force,
                                tpVec3* torque);

// Coordinates -------------------------------------------------------------------------------------

TP_API int tpJoint_GetCoordinateCount(const tpWorld* world, tpJointId joint);
// Kind, direction now, name (in the world) and laws. The first coordinate of a joint that is not
// compound has the name "".
TP_API tpAxisDef tpJoint_GetAxis(const tpWorld* world, tpJointId joint, int coordinate);
// -1 if there is none of that name; "" is the first of a joint that is not compound.
TP_API int tpJoint_FindCoordinate(const tpWorld* world, tpJointId joint, const char* name);
TP_API tpCoordinateState tpJoint_GetState(const tpWorld* world, tpJointId joint, int coordinate);
TP_API double tpJoint_GetValue(const tpWorld* world, tpJointId joint, int coordinate);
TP_API double tpJoint_GetSpeed(const tpWorld* world, tpJointId joint, int coordinate);

// Move body B with everything attached to it, or body A if only B is attached to the world. The
// other coordinates, and the speeds of all joints, do not change. tp_unsupported if the joint
// closes a loop, or its type leaves nothing to set.
TP_API tpResult tpJoint_SetValue(tpWorld* world, tpJointId joint, int coordinate, double value,
                                 tpError* error);
TP_API tpResult tpJoint_SetSpeed(tpWorld* world, tpJointId joint, int coordinate, double speed,
                                 tpError* error);

// The laws of a coordinate. A new `zero` changes the value of the coordinate, not the poses of the
// bodies.
TP_API tpCoordinateDef tpJoint_GetCoordinate(const tpWorld* world, tpJointId joint, int coordinate);
TP_API tpResult tpJoint_SetCoordinate(tpWorld* world, tpJointId joint, int coordinate,
                                      const tpCoordinateDef* def, tpError* error);

// Short ways for what changes from step to step: target and speed of the servo, speed of the motor.
TP_API void tpJoint_SetTarget(tpWorld* world, tpJointId joint, int coordinate, double target,
                              double speed);
TP_API void tpJoint_SetMotorSpeed(tpWorld* world, tpJointId joint, int coordinate, double speed);

// An effort that acts all through the next step and is then forgotten; calls add up.
TP_API void tpJoint_ApplyEffort(tpWorld* world, tpJointId joint, int coordinate, double effort);

// Couplings ---------------------------------------------------------------------------------------

TP_API tpCouplingDef tpDefaultCouplingDef(void);
TP_API tpCouplingId tpCreateCoupling(tpWorld* world, const tpCouplingDef* def, tpError* error);
TP_API void tpDestroyCoupling(tpWorld* world, tpCouplingId coupling);
TP_API bool tpCoupling_IsValid(const tpWorld* world, tpCouplingId coupling);
TP_API int tpWorld_GetCouplingCount(const tpWorld* world);
TP_API tpCouplingId tpWorld_GetCoupling(const tpWorld* world, int index); // in order of slots
TP_API tpCouplingId tpWorld_FindCoupling(const tpWorld* world, const char* name);
TP_API const char* tpCoupling_GetName(const tpWorld* world, tpCouplingId coupling);

// The present definition; `terms` is NULL, see tpCoupling_GetTerm.
TP_API tpCouplingDef tpCoupling_GetDef(const tpWorld* world, tpCouplingId coupling);
TP_API tpCouplingTerm tpCoupling_GetTerm(const tpWorld* world, tpCouplingId coupling, int term);

// Sets everything but name and terms.
TP_API tpResult tpCoupling_SetLaws(tpWorld* world, tpCouplingId coupling, const tpCouplingDef* def,
                                   tpError* error);
TP_API void tpCoupling_SetTarget(tpWorld* world, tpCouplingId coupling, double target,
                                 double speed); // of the servo

// The sum, its rate, the effort of the servo, and in `limitEffort` the effort of the limits or of
// the held value. An effort e on the sum is an effort of factor times e on each coordinate.
TP_API tpCoordinateState tpCoupling_GetState(const tpWorld* world, tpCouplingId coupling);

TP_END_DECLS

#endif
