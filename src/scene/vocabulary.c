// The keys of scene files, but for those of shapes and joints.

#include "scene/vocabulary.h"
#include "base/assert.h"

#include <stddef.h>
#include <string.h>

#include "scene/checks.h"
#include "scene/vocabulary_table.h"

// Rotations and frictions ---------------------------------------------------------------------

static const tpField rotationFields[] = {
    { "axis", tp_vectorField, AT(tpSceneRotation, axis), .range = tp_notZero,
      .summary = "The axis of the turn; its length does not matter." },
    { "degrees", tp_numberField, AT(tpSceneRotation, degrees), .unit = "degrees",
      .summary = "The angle of the turn, right-handed about the axis." },
    { "quaternion", tp_quaternionField, AT(tpSceneRotation, quaternion), .range = tp_notZero,
      .summary = "Instead of axis and degrees: w, x, y, z, brought to length one." },
};

const tpRecord tpRotationRecord = {
    .name = "rotation",
    .article = "a rotation",
    .summary = "An orientation: an axis and degrees, or a quaternion.",
    FIELDS(rotationFields),
    .check = tpCheckRotation,
};

static const tpField frictionFields[] = {
    { "static", tp_numberField, AT(tpSceneFriction, staticCoefficient), .range = tp_notNegative,
      .byDefault = "dynamic", .summary = "The coefficient of a contact that sticks." },
    { "dynamic", tp_numberField, AT(tpSceneFriction, dynamicCoefficient), .range = tp_notNegative,
      .byDefault = "static",
      .summary = "The coefficient of a contact that slides; steppers with a single coefficient use "
                 "this one." },
    { "torsional", tp_numberField, AT(tpSceneFriction, torsional), .range = tp_notNegative,
      .unit = "m", .byDefault = "0",
      .summary = "The arm e_r of friction against spin: its moment about the normal is at most "
                 "coefficient times arm times normal force." },
    { "rolling", tp_numberField, AT(tpSceneFriction, rolling), .range = tp_notNegative, .unit = "m",
      .byDefault = "0",
      .summary = "The arm of friction against rolling: its moment across the normal is at most "
                 "coefficient times arm times normal force." },
    { "impact", tp_numberField, AT(tpSceneFriction, impact), .range = tp_notNegative,
      .byDefault = "dynamic",
      .summary =
          "The coefficient in impacts, where bodies approach at 0.2 m/s or more; below 0.1 m/s it "
          "is the dynamic one, with a linear transition." },
    { "ellipse", tp_pairField, AT(tpSceneFriction, ellipse), .range = tp_positive,
      .byDefault = "[1, 1]",
      .summary = "Factors [et, eo] of the coefficient along and across `direction`." },
    { "direction", tp_vectorField, AT(tpSceneFriction, direction), .range = tp_notZero,
      .summary =
          "The first axis of the ellipse, in the frame of the body that owns the material." },
};

static void setFrictionDefaults(void* part) {
    tpSceneFriction* friction = part;
    friction->ellipse[0] = friction->ellipse[1] = 1.0;
}

const tpRecord tpFrictionRecord = {
    .name = "friction",
    .article = "a friction",
    .summary = "Friction, number by number. Give at least one of `static` and `dynamic`; above "
               "1000 they act as 1000.",
    FIELDS(frictionFields),
    .setDefaults = setFrictionDefaults,
    .check = tpCheckFriction,
};

// Materials and pairs -------------------------------------------------------------------------

static const tpField complianceFields[] = {
    { "compliance", tp_numberField, AT(tpSceneCompliance, compliance), .isRequired = true,
      .range = tp_notNegative, .unit = "m/N",
      .summary = "Deflection of a contact point per newton, one over its stiffness. 0: rigid." },
    { "damping", tp_numberField, AT(tpSceneCompliance, damping), .range = tp_notNegative,
      .unit = "N s/m", .byDefault = "0",
      .summary = "Force of a contact point per speed at which it is pressed in." },
};

static const tpRecord complianceRecord = {
    .name = "contact",
    .article = "a contact",
    .summary =
        "Compliant contact points: a spring and a damper at each point, which push and never pull, "
        "instead of a rigid stop. Springs of two materials are in series: compliances add.",
    FIELDS(complianceFields),
};

static const tpField materialFields[] = {
    { "friction", tp_frictionField, AT(tpSceneMaterial, friction), .range = tp_notNegative,
      .byDefault = "0",
      .summary = "One coefficient (static and dynamic, no torsion), or an object of numbers." },
    { "restitution", tp_numberField, AT(tpSceneMaterial, restitution), .range = tp_zeroToOne,
      .byDefault = "0",
      .summary = "From 0 (no bounce) to 1 (no loss). Compliant contacts ignore it: they bounce by "
                 "their spring." },
    { "contact", tp_recordField, AT(tpSceneMaterial, contact), .record = &complianceRecord,
      .byDefault = "rigid", .summary = "Compliance of contact points." },
};

static const tpRecord materialRecord = {
    .name = "material",
    .article = "a material",
    .summary =
        "What a surface is made of. Two materials in contact take the geometric mean of each "
        "friction number, the larger restitution and the sum of compliances, unless `pairs` says "
        "otherwise.",
    FIELDS(materialFields),
};

static const tpFamily materialFamily = { .name = "material",
                                         .article = "a material",
                                         ONE_RECORD(materialRecord),
                                         .size = sizeof(tpSceneMaterial),
                                         .nameOffset = offsetof(tpSceneMaterial, name) };

static const tpField pairFields[] = {
    { "between", tp_twoMaterialsField, AT(tpScenePair, between), .isRequired = true,
      .summary = "The names of two materials, which may be the same." },
    { "friction", tp_frictionField, AT(tpScenePair, friction), .range = tp_notNegative,
      .byDefault = "by the rule", .summary = "As in a material." },
    { "restitution", tp_numberField, AT(tpScenePair, restitution), .range = tp_zeroToOne,
      .byDefault = "by the rule", .summary = "As in a material." },
    { "contact", tp_recordField, AT(tpScenePair, contact), .record = &complianceRecord,
      .byDefault = "by the rule", .summary = "As in a material." },
};

static const tpRecord pairRecord = {
    .name = "pair",
    .article = "a pair",
    .summary =
        "Numbers of a pair of materials. Keys that are left out follow the rule for materials.",
    FIELDS(pairFields),
};

static const tpFamily pairFamily = {
    .name = "pair", .article = "a pair", ONE_RECORD(pairRecord), .size = sizeof(tpScenePair)
};

// Bodies that do not collide --------------------------------------------------------------------

static const tpField excludeFields[] = {
    { "bodies", tp_twoBodiesField, AT(tpSceneExclude, bodies), .isRequired = true,
      .summary = "The names of two bodies." },
};

static const tpRecord excludeRecord = {
    .name = "exclude",
    .article = "an exclude",
    .summary = "Two bodies that do not collide with each other, whatever the groups of their "
               "shapes say.",
    FIELDS(excludeFields),
};

static const tpFamily excludeFamily = { .name = "exclude",
                                        .article = "an exclude",
                                        ONE_RECORD(excludeRecord),
                                        .size = sizeof(tpSceneExclude) };

// Bodies --------------------------------------------------------------------------------------

static const tpField keyframeFields[] = {
    { "time", tp_numberField, AT(tpSceneKeyframe, time), .isRequired = true, .unit = "s",
      .summary = "When; later than the keyframe before." },
    { "position", tp_vectorField, AT(tpSceneKeyframe, position), .unit = "m",
      .byDefault = "the body's", .summary = "Of the body's frame." },
    { "rotation", tp_recordField, AT(tpSceneKeyframe, rotation), .record = &tpRotationRecord,
      .byDefault = "the body's", .summary = "Of the body's frame." },
};

static const tpRecord keyframeRecord = {
    .name = "keyframe",
    .article = "a keyframe",
    .summary =
        "A pose that a kinematic body passes through. In between, positions are interpolated "
        "linearly and orientations about a fixed axis, the shorter way; before the first and "
        "after the last the body stands still.",
    FIELDS(keyframeFields),
};

static const tpFamily keyframeFamily = { .name = "keyframe",
                                         .article = "a keyframe",
                                         ONE_RECORD(keyframeRecord),
                                         .size = sizeof(tpSceneKeyframe) };

static const tpField dampingFields[] = {
    { "linear", tp_numberField, AT(tpSceneDamping, linear), .range = tp_notNegative, .unit = "1/s",
      .byDefault = "0", .summary = "Velocity decays at this rate." },
    { "angular", tp_numberField, AT(tpSceneDamping, angular), .range = tp_notNegative,
      .unit = "1/s", .byDefault = "0", .summary = "Angular momentum decays at this rate." },
};

static const tpRecord dampingRecord = {
    .name = "damping",
    .article = "a damping",
    .summary = "Resistance of the medium, proportional to momentum.",
    FIELDS(dampingFields),
};

static const char* const bodyKinds[] = { "dynamic", "fixed", "kinematic", NULL };

// In the order of tpLock's bits.
static const char* const lockNames[] = { "x", "y", "z", "rx", "ry", "rz", NULL };

static const tpField bodyFields[] = {
    { "name", tp_nameField, AT(tpSceneBody, name), .isRequired = true,
      .summary = "Letters, digits, `_` and `-`; no two bodies share one." },
    { "kind", tp_choiceField, AT(tpSceneBody, kind), .choices = bodyKinds,
      .byDefault = "\"dynamic\"",
      .summary = "`dynamic` moves by forces, `fixed` never moves, `kinematic` moves on a "
                 "prescribed path." },
    { "position", tp_vectorField, AT(tpSceneBody, position), .unit = "m", .byDefault = "[0, 0, 0]",
      .summary = "Of the body's frame." },
    { "rotation", tp_recordField, AT(tpSceneBody, rotation), .record = &tpRotationRecord,
      .byDefault = "none", .summary = "Of the body's frame." },
    { "velocity", tp_vectorField, AT(tpSceneBody, velocity), .unit = "m/s",
      .byDefault = "[0, 0, 0]", .summary = "Of the centre of mass." },
    { "angular_velocity", tp_vectorField, AT(tpSceneBody, angularVelocity), .unit = "rad/s",
      .byDefault = "[0, 0, 0]", .summary = "In world axes." },
    { "mass", tp_numberField, AT(tpSceneBody, mass), .range = tp_positive, .unit = "kg",
      .summary = "With `inertia`, the mass properties as given; without, those of the shapes with "
                 "uniform density, scaled to this mass." },
    { "inertia", tp_inertiaField, AT(tpSceneBody, inertia), .unit = "kg m^2",
      .summary =
          "About the centre of mass in body axes: xx, yy, zz, or xx, yy, zz, xy, xz, yz (the "
          "entries of the matrix)." },
    { "center_of_mass", tp_vectorField, AT(tpSceneBody, centerOfMass), .unit = "m",
      .byDefault = "[0, 0, 0]", .summary = "In the body's frame; goes with `mass` and `inertia`." },
    { "density", tp_numberField, AT(tpSceneBody, density), .range = tp_positive, .unit = "kg/m^3",
      .summary =
          "Of the shapes; mass, centre of mass and inertia follow. Not together with `mass`." },
    { "material", tp_materialField, AT(tpSceneBody, material),
      .byDefault = "one without friction or restitution",
      .summary = "Of all shapes that name none of their own." },
    { "shapes", tp_listField, AT(tpSceneBody, shapes), .family = &tpShapeFamily, .byDefault = "[]",
      .summary = "The shapes; those with `visual` are only drawn." },
    { "color", tp_colorField, AT(tpSceneBody, color), .range = tp_zeroToOne,
      .byDefault = "the page chooses",
      .summary = "Of all shapes that have none of their own; for pages and pictures." },
    { "damping", tp_recordField, AT(tpSceneBody, damping), .record = &dampingRecord,
      .byDefault = "none", .summary = "Resistance of the medium." },
    { "gravity_scale", tp_numberField, AT(tpSceneBody, gravityScale), .byDefault = "1",
      .summary = "Factor of the scene's gravity." },
    { "locked", tp_bitsField, AT(tpSceneBody, locked), .choices = lockNames, .byDefault = "[]",
      .summary = "World directions in which the centre of mass cannot move (`x`, `y`, `z`) and "
                 "world axes about which the body cannot turn (`rx`, `ry`, `rz`)." },
    { "keyframes", tp_listField, AT(tpSceneBody, keyframes), .family = &keyframeFamily,
      .byDefault = "[]", .summary = "The path of a kinematic body, instead of its velocities." },
};

static void setBodyDefaults(void* part) {
    ((tpSceneBody*)part)->gravityScale = 1.0;
}

static const tpRecord bodyRecord = {
    .name = "body",
    .article = "a body",
    .summary = "A rigid body. A dynamic one needs `mass` or `density`.",
    FIELDS(bodyFields),
    .setDefaults = setBodyDefaults,
    .check = tpCheckBody,
};

static const tpFamily bodyFamily = {
    .name = "body", .article = "a body", ONE_RECORD(bodyRecord), .size = sizeof(tpSceneBody)
};

// Forces --------------------------------------------------------------------------------------

static const char* const frames[] = { "world", "body", NULL };

static const tpField forceFields[] = {
    { "body", tp_bodyField, AT(tpSceneForce, body), .isRequired = true,
      .summary = "The name of the body it acts on." },
    { "force", tp_vectorField, AT(tpSceneForce, force), .unit = "N", .byDefault = "[0, 0, 0]",
      .summary = "The force." },
    { "torque", tp_vectorField, AT(tpSceneForce, torque), .unit = "N m", .byDefault = "[0, 0, 0]",
      .summary = "The torque." },
    { "at", tp_vectorField, AT(tpSceneForce, at), .unit = "m", .byDefault = "the centre of mass",
      .summary = "Where the force acts, in the body's frame." },
    { "frame", tp_choiceField, AT(tpSceneForce, frame), .choices = frames, .byDefault = "\"world\"",
      .summary = "The axes of force and torque; those of `body` turn." },
    { "from", tp_numberField, AT(tpSceneForce, from), .unit = "s", .byDefault = "the start",
      .summary = "Active from this time on." },
    { "to", tp_numberField, AT(tpSceneForce, to), .unit = "s", .byDefault = "the end",
      .summary = "Active until this time." },
};

static void setForceDefaults(void* part) {
    tpSceneForce* force = part;
    tpForceDef def = tpDefaultForceDef();
    force->from = def.from;
    force->to = def.to;
}

static const tpRecord forceRecord = {
    .name = "force",
    .article = "a force",
    .summary = "A force and a torque on a body, always or for a while.",
    FIELDS(forceFields),
    .setDefaults = setForceDefaults,
    .check = tpCheckForce,
};

static const tpFamily forceFamily = {
    .name = "force", .article = "a force", ONE_RECORD(forceRecord), .size = sizeof(tpSceneForce)
};

// Closed forms --------------------------------------------------------------------------------

static const char* const coordinates[] = { "x",  "y",  "z",  "qw", "qx", "qy", "qz",
                                           "vx", "vy", "vz", "wx", "wy", "wz", NULL };

static const tpField closedFormFields[] = {
    { "body", tp_bodyField, AT(tpSceneClosedForm, body), .isRequired = true,
      .summary = "The name of a body that moves." },
    { "coordinate", tp_choiceField, AT(tpSceneClosedForm, coordinate), .isRequired = true,
      .choices = coordinates,
      .summary = "Which of its coordinates, named as in the columns of `--csv`." },
    { "formula", tp_formulaField, AT(tpSceneClosedForm, formula), .isRequired = true,
      .summary = "Its value as a function of the time t in seconds: numbers, + - * / ^, < <= > >=, "
                 "pi, if(c, a, b) and the usual functions." },
    { "from", tp_numberField, AT(tpSceneClosedForm, from), .unit = "s", .byDefault = "the start",
      .summary = "It holds from this time on." },
    { "to", tp_numberField, AT(tpSceneClosedForm, to), .unit = "s", .byDefault = "the end",
      .summary = "It holds until this time." },
};

static void setClosedFormDefaults(void* part) {
    tpSceneClosedForm* form = part;
    form->from = -INFINITY;
    form->to = INFINITY;
}

static const tpRecord closedFormRecord = {
    .name = "closed_form",
    .article = "a closed form",
    .summary = "A coordinate of a body that is known as a formula, for `tippe compare`.",
    FIELDS(closedFormFields),
    .setDefaults = setClosedFormDefaults,
    .check = tpCheckClosedForm,
};

static const tpFamily closedFormFamily = { .name = "closed_form",
                                           .article = "a closed form",
                                           ONE_RECORD(closedFormRecord),
                                           .size = sizeof(tpSceneClosedForm) };

// The scene -----------------------------------------------------------------------------------

static const tpField simulationFields[] = {
    { "stepper", tp_stepperField, AT(tpSceneSimulation, stepper), .byDefault = "\"anitescu\"",
      .summary = "The stepper; `tippe list steppers` has the names." },
    { "step", tp_numberField, AT(tpSceneSimulation, step), .isRequired = true, .range = tp_positive,
      .unit = "s", .summary = "The length of a step." },
    { "until", tp_numberField, AT(tpSceneSimulation, until), .isRequired = true,
      .range = tp_notNegative, .unit = "s",
      .summary = "The end; the run has round(until / step) steps." },
    { "options", tp_optionsField, AT(tpSceneSimulation, options), .byDefault = "{}",
      .summary = "Options of steppers by name, as `tippe list` shows them. Options that the "
                 "stepper does not use are ignored; unknown options are errors." },
};

static const tpRecord simulationRecord = {
    .name = "simulation",
    .article = "a simulation",
    .summary = "Stepper, step and end.",
    FIELDS(simulationFields),
    .check = tpCheckSimulation,
};

static const tpField sceneFields[] = {
    { "tippe", tp_versionField, AT(tpScene, version), .isRequired = true,
      .summary = "The version of the format: 1." },
    { "$schema", tp_textField, AT(tpScene, schema),
      .summary = "Where the JSON Schema is, for editors; not used." },
    { "name", tp_textField, AT(tpScene, name), .byDefault = "the name of the file",
      .summary = "A title." },
    { "about", tp_textField, AT(tpScene, about), .summary = "A description." },
    { "reference", tp_fileField, AT(tpScene, reference),
      .summary = "A file of known results for `tippe compare`, relative to the scene." },
    { "include", tp_includeField, .byDefault = "[]",
      .summary =
          "The path of a file, relative to this one, or an array of them: their keys are added to "
          "the scene, lists are joined, and keys of the scene itself take precedence." },
    { "parameters", tp_parametersField, .byDefault = "{}",
      .summary = "Numbers by name, or formulas in quotes, for formulas everywhere else." },
    { "planar", tp_booleanField, AT(tpScene, planar), .byDefault = "false",
      .summary = "Motion in the x-y plane only." },
    { "gravity", tp_vectorField, AT(tpScene, gravity), .unit = "m/s^2", .byDefault = "[0, 0, 0]",
      .summary = "The acceleration of free fall." },
    { "materials", tp_mapField, AT(tpScene, materials), .family = &materialFamily,
      .byDefault = "{}", .summary = "Materials by name." },
    { "pairs", tp_listField, AT(tpScene, pairs), .family = &pairFamily, .byDefault = "[]",
      .summary = "Exceptions to the rule for two materials." },
    { "bodies", tp_listField, AT(tpScene, bodies), .family = &bodyFamily, .isRequired = true,
      .summary = "The bodies, in the order of columns and recordings." },
    { "joints", tp_listField, AT(tpScene, joints), .family = &tpJointFamily, .byDefault = "[]",
      .summary = "The joints." },
    { "couplings", tp_listField, AT(tpScene, couplings), .family = &tpCouplingFamily,
      .byDefault = "[]", .summary = "Linear relations between coordinates of joints." },
    { "sensors", tp_listField, AT(tpScene, sensors), .family = &tpSensorFamily, .byDefault = "[]",
      .summary = "The sensors: columns of `--csv` after those of the bodies." },
    { "excludes", tp_listField, AT(tpScene, excludes), .family = &excludeFamily, .byDefault = "[]",
      .summary = "Pairs of bodies that do not collide, beside those of joints." },
    { "forces", tp_listField, AT(tpScene, forces), .family = &forceFamily, .byDefault = "[]",
      .summary = "The forces, besides gravity." },
    { "closed_form", tp_listField, AT(tpScene, closedForms), .family = &closedFormFamily,
      .byDefault = "[]", .summary = "Exact solutions, for `tippe compare`." },
    { "simulation", tp_recordField, AT(tpScene, simulation), .isRequired = true,
      .record = &simulationRecord, .summary = "Stepper, step and end." },
};

const tpRecord tpSceneRecord = {
    .name = "scene",
    .article = "a scene",
    .summary = "A scene: bodies, joints and forces, and how to simulate them. SI units, "
               "right-handed axes.",
    FIELDS(sceneFields),
};

// Asking --------------------------------------------------------------------------------------

const tpRangeInfo* tpRangeOf(tpNumberRange range) {
    static const tpRangeInfo ranges[tp_rangeCount] = {
        [tp_anyNumber] = { "", -INFINITY, INFINITY, false },
        [tp_positive] = { "greater than zero", 0.0, INFINITY, true },
        [tp_notNegative] = { "zero or more", 0.0, INFINITY, false },
        [tp_zeroToOne] = { "from 0 to 1", 0.0, 1.0, false },
        [tp_zeroToTwo] = { "greater than 0 and at most 2", 0.0, 2.0, true },
        [tp_notZero] = { "not zero", -INFINITY, INFINITY, false },
        [tp_ascending] = { "the lower first", -INFINITY, INFINITY, false },
        [tp_atLeastTwo] = { "2 or more", 2.0, INFINITY, false },
    };
    return &ranges[range];
}

int tpRecord_FieldCount(const tpRecord* record) {
    return record->fieldCount + (record->base != NULL ? record->base->fieldCount : 0);
}

const tpField* tpRecord_Field(const tpRecord* record, int index) {
    int baseCount = record->base != NULL ? record->base->fieldCount : 0;
    return index < baseCount ? &record->base->fields[index] : &record->fields[index - baseCount];
}

int tpRecord_Find(const tpRecord* record, const char* key) {
    for (int i = tpRecord_FieldCount(record) - 1; i >= 0; --i) {
        if (strcmp(tpRecord_Field(record, i)->key, key) == 0) {
            return i;
        }
    }
    return -1;
}

bool tpScenePart_Gives(const tpScenePart* part, const char* key) {
    TP_NEED(part, false);
    int index = part->record != NULL ? tpRecord_Find(part->record, key) : -1;
    return index >= 0 && (part->given >> index & 1) != 0;
}
