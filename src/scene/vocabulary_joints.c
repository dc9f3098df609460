// The keys of joints: what they hold, the axes of compound ones, and what acts on coordinates;
// couplings and sensors.

#include <math.h>

#include "scene/checks.h"
#include "scene/vocabulary_table.h"

const char* const tpJointNames[] = { "ball",   "revolute", "prismatic", "cylindrical", "universal",
                                     "fixed",  "distance", "planar",    "gear",        "screw",
                                     "spring", "compound", NULL };

const char* const tpJointSummaries[] = {
    "a common point, free turns",
    "a common axis, one turn about it",
    "one slide along the axis",
    "a turn about the axis and a slide along it",
    "turns about two axes, one fixed in each body",
    "no relative motion",
    "two points at a fixed distance, or at one within limits",
    "two slides across the axis and a turn about it",
    "turns about two axes in a fixed ratio",
    "a slide along the axis in proportion to the turn about it",
    "a force between two points, with stiffness, damping and rest length; no constraint",
    "up to three turns and three slides in a given order (`axes`), with nothing in between",
};

// What acts on a coordinate -----------------------------------------------------------------------

static const tpField motorFields[] = {
    { "speed", tp_numberField, AT(tpSceneMotor, speed), .isRequired = true, .unit = "rad/s or m/s",
      .summary = "Of the second body relative to the first." },
    { "effort", tp_numberField, AT(tpSceneMotor, effort), .isRequired = true,
      .range = tp_notNegative, .unit = "N m or N", .summary = "The largest effort of the motor." },
};

static const tpRecord motorRecord = {
    .name = "motor",
    .article = "a motor",
    .summary = "Drives the coordinate to a speed.",
    FIELDS(motorFields),
};

static const tpField springFields[] = {
    { "stiffness", tp_numberField, AT(tpSceneSpring, stiffness), .range = tp_notNegative,
      .unit = "N/m or N m/rad", .byDefault = "0", .summary = "Force per deflection." },
    { "damping", tp_numberField, AT(tpSceneSpring, damping), .range = tp_notNegative,
      .unit = "N s/m or N m s/rad", .byDefault = "0", .summary = "Force per speed." },
    { "rest", tp_numberField, AT(tpSceneSpring, rest), .unit = "m or rad", .byDefault = "0",
      .summary = "The value of the coordinate without force: a length or an angle." },
};

static const tpRecord springRecord = {
    .name = "spring",
    .article = "a spring",
    .summary = "A spring and a damper on the coordinate.",
    FIELDS(springFields),
};

static const tpField servoFields[] = {
    { "target", tp_numberField, AT(tpSceneServo, target), .unit = "rad or m", .byDefault = "0",
      .summary = "The value to hold." },
    { "speed", tp_numberField, AT(tpSceneServo, speed), .unit = "rad/s or m/s", .byDefault = "0",
      .summary = "The speed to hold." },
    { "stiffness", tp_numberField, AT(tpSceneServo, stiffness), .range = tp_notNegative,
      .unit = "N/m or N m/rad", .byDefault = "0", .summary = "Effort per difference of value." },
    { "damping", tp_numberField, AT(tpSceneServo, damping), .range = tp_notNegative,
      .unit = "N s/m or N m s/rad", .byDefault = "0",
      .summary = "Effort per difference of speed." },
    { "effort", tp_numberField, AT(tpSceneServo, effort), .range = tp_notNegative,
      .unit = "N m or N", .byDefault = "unlimited", .summary = "The largest effort of the servo." },
};

static void setServoDefaults(void* part) {
    ((tpSceneServo*)part)->effort = INFINITY;
}

static const tpRecord servoRecord = {
    .name = "servo",
    .article = "a servo",
    .summary = "Drives the coordinate by stiffness (target - value) + damping (speed - rate), at "
               "most `effort`; stable for any gains.",
    FIELDS(servoFields),
    .setDefaults = setServoDefaults,
};

// Keys that a joint has for its first coordinate, and an axis for its own.
#define LAW_FIELDS(type)                                                                           \
    { "zero",                                                                                      \
      tp_numberField,                                                                              \
      AT(type, laws.zero),                                                                         \
      .unit = "rad or m",                                                                          \
      .byDefault = "0",                                                                            \
      .summary = "The coordinate's value at the start: limits, targets and readings count from "   \
                 "it. Of turns and slides." },                                                     \
        { "limits",                                                                                \
          tp_pairField,                                                                            \
          AT(type, laws.limits),                                                                   \
          .range = tp_ascending,                                                                   \
          .unit = "rad or m",                                                                      \
          .byDefault = "none",                                                                     \
          .summary = "[low, high] of the coordinate; of a distance: of the distance itself." },    \
        { "motor",                                                                                 \
          tp_recordField,                                                                          \
          AT(type, laws.motor),                                                                    \
          .record = &motorRecord,                                                                  \
          .byDefault = "none",                                                                     \
          .summary = "Drives the coordinate to a speed." },                                        \
        { "servo",                                                                                 \
          tp_recordField,                                                                          \
          AT(type, laws.servo),                                                                    \
          .record = &servoRecord,                                                                  \
          .byDefault = "none",                                                                     \
          .summary = "Drives the coordinate to a value." },                                        \
        { "spring",                                                                                \
          tp_recordField,                                                                          \
          AT(type, laws.spring),                                                                   \
          .record = &springRecord,                                                                 \
          .byDefault = "none",                                                                     \
          .summary = "Pulls the coordinate towards its rest." },                                   \
        { "armature",                                                                              \
          tp_numberField,                                                                          \
          AT(type, laws.armature),                                                                 \
          .range = tp_notNegative,                                                                 \
          .unit = "kg m^2 or kg",                                                                  \
          .byDefault = "0",                                                                        \
          .summary = "Inertia of a motor's rotor, felt by this coordinate alone." },               \
        { "damping",                                                                               \
          tp_numberField,                                                                          \
          AT(type, laws.damping),                                                                  \
          .range = tp_notNegative,                                                                 \
          .unit = "N m s or N s/m",                                                                \
          .byDefault = "0",                                                                        \
          .summary = "Resistance, by the speed of the coordinate." },                              \
    {                                                                                              \
        "friction", tp_numberField, AT(type, laws.friction),                                       \
            .range = tp_notNegative, .unit = "N m or N", .byDefault = "0",                         \
            .summary = "Dry friction on the coordinate."                                           \
    }

// Axes of compound joints -------------------------------------------------------------------------

static const tpField axisFields[] = {
    { "name", tp_nameField, AT(tpSceneAxis, name), .byDefault = "its number, from 0",
      .summary = "Letters, digits, `_` and `-`; no two axes of a joint share one." },
    { "turn", tp_vectorField, AT(tpSceneAxis, turn), .range = tp_notZero,
      .summary = "The axis of a turn, in world axes at the start." },
    { "slide", tp_vectorField, AT(tpSceneAxis, slide), .range = tp_notZero,
      .summary = "The direction of a slide, in world axes at the start." },
    LAW_FIELDS(tpSceneAxis),
};

static const tpRecord axisRecord = {
    .name = "axis",
    .article = "an axis",
    .summary = "One coordinate of a compound joint: a `turn` or a `slide`, and what acts on it.",
    FIELDS(axisFields),
    .check = tpCheckAxis,
};

static const tpFamily axisFamily = {
    .name = "axis", .article = "an axis", ONE_RECORD(axisRecord), .size = sizeof(tpSceneAxis)
};

// Joints ------------------------------------------------------------------------------------------

static const tpField jointFields[] = {
    { "name", tp_nameField, AT(tpSceneJoint, name),
      .summary = "Letters, digits, `_` and `-`; no two joints share one." },
    { "type", tp_choiceField, AT(tpSceneJoint, type), .isRequired = true, .choices = tpJointNames,
      .summary = "The type of the joint." },
    { "bodies", tp_twoBodiesField, AT(tpSceneJoint, bodies), .isRequired = true,
      .summary = "The names of two bodies; `null` is the world." },
    { "anchor", tp_vectorField, AT(tpSceneJoint, anchor), .unit = "m",
      .summary =
          "Where the bodies are joined, in world coordinates at the start. Of a distance or a "
          "spring: the end on the first body (or the world), the other end being the origin "
          "of the other body." },
    { "anchors", tp_twoPointsField, AT(tpSceneJoint, anchors), .unit = "m",
      .summary = "Instead of `anchor`, for `distance` and `spring`: the ends on both bodies, in "
                 "world coordinates at the start." },
    { "axis", tp_vectorField, AT(tpSceneJoint, axis), .range = tp_notZero, .byDefault = "[0, 0, 1]",
      .summary = "Of the turn or the slide, in world axes at the start; of `universal`: the one "
                 "fixed in the first body." },
    { "axis2", tp_vectorField, AT(tpSceneJoint, axis2), .range = tp_notZero, .byDefault = "axis",
      .summary = "Of `universal`: the axis fixed in the second body; of `gear`: that of the second "
                 "body." },
    { "axes", tp_listField, AT(tpSceneJoint, axes), .family = &axisFamily, .byDefault = "[]",
      .summary = "Of `compound`: its turns and slides, in order from the first body to the second, "
                 "all through the anchor at the start." },
    LAW_FIELDS(tpSceneJoint),
    { "ratio", tp_numberField, AT(tpSceneJoint, ratio), .byDefault = "1",
      .summary = "Of `gear`: turns of the second body for one of the first." },
    { "pitch", tp_numberField, AT(tpSceneJoint, pitch), .unit = "m",
      .summary = "Of `screw`: the slide of a full turn." },
    { "collide", tp_booleanField, AT(tpSceneJoint, collide), .byDefault = "false",
      .summary = "Whether the two bodies collide with each other." },
};

static void setJointDefaults(void* part) {
    tpSceneJoint* joint = part;
    joint->axis = tpMakeVec3(0.0, 0.0, 1.0);
    joint->ratio = 1.0;
}

static const tpRecord jointRecord = {
    .name = "joint",
    .article = "a joint",
    .summary =
        "Holds two bodies together, or drives them. Keys from `zero` to `friction` are those "
        "of its first coordinate: of the slide of `cylindrical`, of the turn about `axis` of "
        "`universal`, of the angle between the axes of `ball` (whose armature, damping and "
        "friction act on all of its turning).",
    FIELDS(jointFields),
    .setDefaults = setJointDefaults,
    .check = tpCheckJoint,
};

const tpFamily tpJointFamily = {
    .name = "joint", .article = "a joint", ONE_RECORD(jointRecord), .size = sizeof(tpSceneJoint)
};

// Couplings ---------------------------------------------------------------------------------------

static const tpField couplingFields[] = {
    { "name", tp_nameField, AT(tpSceneCoupling, name),
      .summary = "Letters, digits, `_` and `-`; no two couplings share one." },
    { "of", tp_termsField, AT(tpSceneCoupling, of), .isRequired = true,
      .summary =
          "The terms of the sum: `[\"joint\", factor]`, or `[\"joint.axis\", factor]` for an "
          "axis of a compound joint." },
    { "value", tp_numberField, AT(tpSceneCoupling, value), .byDefault = "none",
      .summary = "The value at which the sum is held: gears, mimic joints." },
    { "limits", tp_pairField, AT(tpSceneCoupling, limits), .range = tp_ascending,
      .byDefault = "none", .summary = "[low, high] of the sum." },
    { "spring", tp_recordField, AT(tpSceneCoupling, spring), .record = &springRecord,
      .byDefault = "none", .summary = "Pulls the sum towards its rest." },
    { "servo", tp_recordField, AT(tpSceneCoupling, servo), .record = &servoRecord,
      .byDefault = "none", .summary = "Drives the sum to a value." },
};

static const tpRecord couplingRecord = {
    .name = "coupling",
    .article = "a coupling",
    .summary = "The sum of factor times coordinate over some joints is held at a `value`, limited, "
               "sprung or driven.",
    FIELDS(couplingFields),
    .check = tpCheckCoupling,
};

const tpFamily tpCouplingFamily = { .name = "coupling",
                                    .article = "a coupling",
                                    ONE_RECORD(couplingRecord),
                                    .size = sizeof(tpSceneCoupling) };

// Sensors -----------------------------------------------------------------------------------------

static const char* const sensorNames[] = {
    "accelerometer", "gyroscope", "force_torque", "contact_force", "joint_state", "overlap", NULL
};

static const tpField sensorFields[] = {
    { "name", tp_nameField, AT(tpSceneSensor, name), .isRequired = true,
      .summary = "Letters, digits, `_` and `-`; no two sensors share one. Columns are `NAME.x` and "
                 "so on." },
    { "type", tp_choiceField, AT(tpSceneSensor, type), .isRequired = true, .choices = sensorNames,
      .summary =
          "`accelerometer` (`.x .y .z`: acceleration minus gravity, mean over the step), "
          "`gyroscope` (`.x .y .z`), `force_torque` (`.fx .fy .fz .tx .ty .tz`: of a joint on its "
          "second body, at the anchor), `contact_force` (`.n`: sum of the normal forces on a body, "
          "`.fx .fy .fz`: all contact forces, world axes), `joint_state` (`.q .qd .effort`), "
          "`overlap` (`.on`: 1 while another body is in the body, whose shapes touch nothing)." },
    { "body", tp_bodyField, AT(tpSceneSensor, body),
      .summary = "Of accelerometer, gyroscope, contact force and overlap." },
    { "joint", tp_coordinateField, AT(tpSceneSensor, joint),
      .summary = "Of force-torque and joint state; `joint.axis` for an axis of a compound joint." },
    { "position", tp_vectorField, AT(tpSceneSensor, position), .unit = "m",
      .byDefault = "[0, 0, 0]", .summary = "Where it sits, in the body's frame." },
    { "rotation", tp_recordField, AT(tpSceneSensor, rotation), .record = &tpRotationRecord,
      .byDefault = "none",
      .summary = "Of its axes relative to the body's; of force-torque: to those of the joint's "
                 "second body." },
};

static const tpRecord sensorRecord = {
    .name = "sensor",
    .article = "a sensor",
    .summary = "Measures without noise.",
    FIELDS(sensorFields),
    .check = tpCheckSensor,
};

const tpFamily tpSensorFamily = {
    .name = "sensor", .article = "a sensor", ONE_RECORD(sensorRecord), .size = sizeof(tpSceneSensor)
};
