// Scene files: documents that remember the place of every key, and the worlds they describe.
//
// Reading gives a tpScene: every key of the file in plain structs, with its line and column, so
// that errors found later name their place too. Writing a scene and reading it back gives the same
// document, to the last bit of every number. Messages start with "file:line:column: "; lines and
// columns count from one, columns in characters.
//
//     tpScene* scene;
//     tpError error;
//     if (tpReadScene("rod.json", NULL, &scene, &error) != tp_success) {
//         fprintf(stderr, "%s\n", error.message);
//     }

#ifndef TIPPE_SCENE_H
#define TIPPE_SCENE_H

#include "tippe/batch.h"
#include "tippe/joints.h"
#include "tippe/sensors.h"

typedef struct tpScenePlace {
    int32_t line, column; // from one; zero: not from a file
    int32_t file;         // of tpScene.files: 0 is the scene itself, others are included
} tpScenePlace;

// What every part of a scene starts with. Keys that the file left out hold their defaults;
// tpScenePart_Gives says which keys were given.
typedef struct tpScenePart {
    const struct tpRecord* record; // its description in the vocabulary
    tpScenePlace place;            // of its opening brace
    uint32_t given;                // a bit per key, in the vocabulary's order
} tpScenePart;

typedef struct tpSceneText {
    const char* text; // UTF-8; NULL if it is not given
    tpScenePlace place;
} tpSceneText;

// The name of a body or a material, and its index in the scene; -1 for none, or the world.
typedef struct tpSceneReference {
    const char* name;
    int32_t index;
    tpScenePlace place;
} tpSceneReference;

// Numbers in rows: `count` rows of as many numbers as the key has.
typedef struct tpSceneNumbers {
    double* values;
    int32_t count;
    tpScenePlace place;
} tpSceneNumbers;

// Axis and degrees, or a quaternion that need not have length one, as the file gives it.
typedef struct tpSceneRotation {
    tpScenePart part;
    tpVec3 axis;
    double degrees;
    double quaternion[4]; // w, x, y, z
} tpSceneRotation;

// One number, or the numbers one by one.
typedef struct tpSceneFriction {
    tpScenePart part; // part.record is NULL if a single number is given
    double number;
    double staticCoefficient, dynamicCoefficient;
    double torsional; // m
    double rolling;   // m
    double impact;    // coefficient
    double ellipse[2];
    tpVec3 direction;
} tpSceneFriction;

typedef struct tpSceneCompliance {
    tpScenePart part;
    double compliance, damping;
} tpSceneCompliance;

typedef struct tpSceneMaterial {
    tpScenePart part;
    tpSceneText name;
    tpSceneFriction friction;
    double restitution;
    tpSceneCompliance contact;
} tpSceneMaterial;

typedef struct tpScenePair {
    tpScenePart part;
    tpSceneReference between[2];
    tpSceneFriction friction;
    double restitution;
    tpSceneCompliance contact;
} tpScenePair;

typedef struct tpSceneShape tpSceneShape;

typedef struct tpSceneShapes {
    tpSceneShape* items;
    int32_t count;
} tpSceneShapes;

// A shape of any type; only the keys of its type are used.
struct tpSceneShape {
    tpScenePart part;
    int32_t type; // tpShapeType
    bool visual;  // only seen
    tpColor color;
    tpVec3 position;
    tpSceneRotation rotation;
    tpSceneReference material;
    double density;
    uint32_t group, mask;
    double radius, length, offset;
    tpVec3 axis, size, radii, normal;
    double exponents[2];
    tpSceneNumbers points; // rows of three (hull) or two (prism)
    tpSceneText file;
    uint32_t columns, rows;
    double spacing[2];
    tpSceneNumbers heights;
    tpSceneShapes of;
};

typedef struct tpSceneKeyframe {
    tpScenePart part;
    double time;
    tpVec3 position;
    tpSceneRotation rotation;
} tpSceneKeyframe;

typedef struct tpSceneKeyframes {
    tpSceneKeyframe* items;
    int32_t count;
} tpSceneKeyframes;

typedef struct tpSceneDamping {
    tpScenePart part;
    double linear, angular; // 1/s
} tpSceneDamping;

typedef struct tpSceneInertia {
    double values[6]; // xx yy zz xy xz yz
    int32_t count;    // 3 or 6; 0 if it is not given
} tpSceneInertia;

typedef struct tpSceneBody {
    tpScenePart part;
    tpSceneText name;
    int32_t kind;  // tpBodyKind
    tpColor color; // of shapes without a colour of their own
    tpVec3 position;
    tpSceneRotation rotation;
    tpVec3 velocity, angularVelocity;
    double mass, density;
    tpSceneInertia inertia;
    tpVec3 centerOfMass;
    tpSceneReference material;
    tpSceneShapes shapes;
    tpSceneDamping damping;
    double gravityScale;
    uint32_t locked; // tpLock bits
    tpSceneKeyframes keyframes;
} tpSceneBody;

typedef struct tpSceneMotor {
    tpScenePart part;
    double speed, effort;
} tpSceneMotor;

typedef struct tpSceneSpring {
    tpScenePart part;
    double stiffness, damping, rest;
} tpSceneSpring;

typedef struct tpSceneServo {
    tpScenePart part;
    double target, speed, stiffness, damping, effort;
} tpSceneServo;

// What acts on one coordinate of a joint.
typedef struct tpSceneLaws {
    double zero, limits[2];
    tpSceneMotor motor;
    tpSceneSpring spring;
    tpSceneServo servo;
    double armature, damping, friction;
} tpSceneLaws;

// A turn or a slide of a compound joint.
typedef struct tpSceneAxis {
    tpScenePart part;
    tpSceneText name;
    tpVec3 turn, slide; // one of them is given
    tpSceneLaws laws;
} tpSceneAxis;

typedef struct tpSceneAxes {
    tpSceneAxis* items;
    int32_t count;
} tpSceneAxes;

typedef struct tpSceneJoint {
    tpScenePart part;
    tpSceneText name;
    int32_t type; // tpJointType
    tpSceneReference bodies[2];
    tpVec3 anchor, anchors[2];
    tpVec3 axis, axis2;
    tpSceneLaws laws; // of the first coordinate
    tpSceneAxes axes; // of compound joints
    double ratio, pitch;
    bool collide;
} tpSceneJoint;

// A coordinate of a joint, as "joint" or "joint.axis".
typedef struct tpSceneCoordinate {
    const char* name; // as the file has it
    tpScenePlace place;
    int32_t joint;    // its number in the scene; -1: none
    const char* axis; // its name, "" for the first of a joint that is not compound
} tpSceneCoordinate;

typedef struct tpSceneTerm {
    tpSceneCoordinate of;
    double factor;
} tpSceneTerm;

typedef struct tpSceneTerms {
    tpSceneTerm* items;
    int32_t count;
} tpSceneTerms;

// A linear relation between coordinates of joints.
typedef struct tpSceneCoupling {
    tpScenePart part;
    tpSceneText name;
    tpSceneTerms of;
    double value, limits[2];
    tpSceneSpring spring;
    tpSceneServo servo;
} tpSceneCoupling;

typedef struct tpSceneSensor {
    tpScenePart part;
    tpSceneText name;
    int32_t type; // tpSensorType
    tpSceneReference body;
    tpSceneCoordinate joint;
    tpVec3 position;
    tpSceneRotation rotation;
} tpSceneSensor;

// Two bodies that do not collide.
typedef struct tpSceneExclude {
    tpScenePart part;
    tpSceneReference bodies[2];
} tpSceneExclude;

typedef struct tpSceneForce {
    tpScenePart part;
    tpSceneReference body;
    tpVec3 force, torque, at;
    int32_t frame; // tpFrame
    double from, to;
} tpSceneForce;

// A coordinate of a body that is known as a function of time, for comparisons.
typedef struct tpSceneClosedForm {
    tpScenePart part;
    tpSceneReference body;
    int32_t coordinate;  // of a state: 0 is x, 12 is wz
    tpSceneText formula; // of t in seconds
    double from, to;     // s, while it holds
} tpSceneClosedForm;

typedef enum tpSceneOptionKind { tp_sceneNumber, tp_sceneBoolean, tp_sceneWord } tpSceneOptionKind;

typedef struct tpSceneOption {
    tpSceneText name;
    tpSceneOptionKind kind;
    const char* value;  // as tpWorld_SetOption takes it
    tpScenePlace place; // of the value
} tpSceneOption;

typedef struct tpSceneOptions {
    tpSceneOption* items;
    int32_t count;
} tpSceneOptions;

typedef struct tpSceneSimulation {
    tpScenePart part;
    tpSceneText stepper;
    double step, until; // s
    tpSceneOptions options;
} tpSceneSimulation;

typedef struct tpSceneMaterials {
    tpSceneMaterial* items;
    int32_t count;
} tpSceneMaterials;
typedef struct tpScenePairs {
    tpScenePair* items;
    int32_t count;
} tpScenePairs;
typedef struct tpSceneExcludes {
    tpSceneExclude* items;
    int32_t count;
} tpSceneExcludes;
typedef struct tpSceneBodies {
    tpSceneBody* items;
    int32_t count;
} tpSceneBodies;
typedef struct tpSceneJoints {
    tpSceneJoint* items;
    int32_t count;
} tpSceneJoints;
typedef struct tpSceneCouplings {
    tpSceneCoupling* items;
    int32_t count;
} tpSceneCouplings;
typedef struct tpSceneSensors {
    tpSceneSensor* items;
    int32_t count;
} tpSceneSensors;
typedef struct tpSceneForces {
    tpSceneForce* items;
    int32_t count;
} tpSceneForces;

typedef struct tpSceneClosedForms {
    tpSceneClosedForm* items;
    int32_t count;
} tpSceneClosedForms;

typedef struct tpScene {
    tpScenePart part;
    tpSceneText schema;
    uint32_t version;
    tpSceneText name, about, reference;
    bool planar;
    tpVec3 gravity;
    tpSceneMaterials materials;
    tpScenePairs pairs;
    tpSceneBodies bodies;
    tpSceneJoints joints;
    tpSceneCouplings couplings;
    tpSceneSensors sensors;
    tpSceneExcludes excludes;
    tpSceneForces forces;
    tpSceneClosedForms closedForms;
    tpSceneSimulation simulation;

    const char* path;         // of the file, as it was given; starts every message
    const char* const* files; // `path`, then those of the files that are included
    int32_t fileCount;
    const char* text; // the file as it was read
    size_t textLength;
    struct tpSceneStorage* storage; // owns all of the above
} tpScene;

// Files that a scene consists of or refers to.
typedef enum tpSceneFileKind {
    tp_sceneFile,     // the scene itself
    tp_includedFile,  // a part of it
    tp_surfaceFile,   // of a mesh or a hull
    tp_referenceFile, // known results, for comparisons
} tpSceneFileKind;

typedef void tpSceneFileVisitor(void* context, tpSceneFileKind kind, const char* path);

// Values that replace those of the file. Zero and NULL: as in the file.
typedef struct tpSceneOverrides {
    const char* stepper;
    double step, until;
    bool hasUntil;
    const char* const* options; // "name=value"
    int optionCount;
} tpSceneOverrides;

// Largest number of errors reported for one scene.
#define TP_MOST_SCENE_ERRORS 20

// The errors of a scene: the one that tpReadScene reports, then independent ones, in the order of
// their places in the file.
typedef struct tpSceneErrors {
    int count;
    bool isCut; // reading ended here; there may be more
    tpError list[TP_MOST_SCENE_ERRORS];
} tpSceneErrors;

// The longest file that is read in bytes (large surfaces belong in files of meshes), and how deep
// its brackets may nest.
#define TP_LONGEST_SCENE ((size_t)64 * 1024 * 1024)
#define TP_DEEPEST_SCENE 64

// The entries that the repeats of a scene may make.
#define TP_MOST_SCENE_PARTS (1 << 22)

// Times are k * step with k exact in a double.
#define TP_MOST_STEPS 1e15

// The version that scene files have in their key "tippe".
#define TP_SCENE_VERSION 1

TP_BEGIN_DECLS

// The newest version of scene files that the library reads: TP_SCENE_VERSION. Files of older
// versions are read too; newer ones are refused with a message.
TP_API int tpSceneVersion(void);

// Reads a file. `allocator` may be NULL: the C library's heap. On failure *out is NULL and `error`
// says where and what was expected.
TP_API tpResult tpReadScene(const char* path, const tpAllocator* allocator, tpScene** out,
                            tpError* error);

// Reads a text, which need not end in a zero. `name` is the name of the file in messages, and files
// that the scene refers to are searched beside it.
TP_API tpResult tpParseScene(const char* text, size_t length, const char* name,
                             const tpAllocator* allocator, tpScene** out, tpError* error);

// The same, but reading continues after an error, to find more; a text that is not JSON has one
// error. Returns the result of the first error.
TP_API tpResult tpReadSceneErrors(const char* path, const tpAllocator* allocator, tpScene** out,
                                  tpSceneErrors* errors);
TP_API tpResult tpParseSceneErrors(const char* text, size_t length, const char* name,
                                   const tpAllocator* allocator, tpScene** out,
                                   tpSceneErrors* errors);

TP_API void tpDestroyScene(tpScene* scene); // NULL is fine

// The scene as text, ended by a zero that `length` (may be NULL) does not count. Released with
// tpReleaseSceneText.
TP_API tpResult tpFormatScene(const tpScene* scene, const tpAllocator* allocator, char** text,
                              size_t* length, tpError* error);
TP_API void tpReleaseSceneText(const tpAllocator* allocator, char* text, size_t length);

// Writes the scene to a file. It is written beside the file first and then moved into place, so
// that the file is never incomplete.
TP_API tpResult tpWriteScene(const tpScene* scene, const char* path, tpError* error);

// Whether the file gave this key of a part, such as "mass" of a body.
TP_API bool tpScenePart_Gives(const tpScenePart* part, const char* key);

// Replaces stepper, step, end and options, with the same checks as for a file.
TP_API tpResult tpScene_Override(tpScene* scene, const tpSceneOverrides* overrides, tpError* error);

// The stepper the scene names, or the library's default.
TP_API tpStepperId tpScene_GetStepper(const tpScene* scene);

// round(until / step)
TP_API int64_t tpScene_GetStepCount(const tpScene* scene);

// The world at time zero. Bodies, joints and forces are created in the order of the scene, so that
// tpWorld_GetBody(world, i) is scene->bodies.items[i]. Reads the files of meshes and hulls.
TP_API tpResult tpScene_CreateWorld(const tpScene* scene, const tpAllocator* allocator,
                                    int threadCount, tpWorld** world, tpError* error);

// `worldCount` worlds at time zero as a batch (tippe/batch.h) that owns them, stepped by
// `threadCount` threads.
TP_API tpResult tpScene_CreateBatch(const tpScene* scene, const tpAllocator* allocator,
                                    int worldCount, int threadCount, tpBatch** batch,
                                    tpError* error);

// The path of the file of a place, for messages.
TP_API const char* tpScene_GetPath(const tpScene* scene, tpScenePlace place);

// Visits every file that the scene is read from or refers to, with its path joined to that of the
// scene. A file that is named several times may be visited several times.
TP_API void tpScene_VisitFiles(const tpScene* scene, tpSceneFileVisitor* visit, void* context);

// The value of closed form `index` at a time; may be infinite or NaN.
TP_API double tpScene_EvaluateClosedForm(const tpScene* scene, int index, double time);

// A JSON Schema (draft 7) of scene files, and the same vocabulary as a page of Markdown. Released
// with tpReleaseSceneText.
TP_API tpResult tpFormatSceneSchema(const tpAllocator* allocator, char** text, size_t* length,
                                    tpError* error);
TP_API tpResult tpFormatSceneVocabulary(const tpAllocator* allocator, char** text, size_t* length,
                                        tpError* error);

TP_END_DECLS

#endif
