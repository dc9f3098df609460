// The world: bodies, shapes and forces that move and touch. Joints are in joints.h.
//
// A world is an opaque pointer; the things in it are ids by value, whose zero is null. An id
// carries a generation: an id of a destroyed object is recognised, and never refers to the object
// that took its place. Definitions start from tpDefault...Def() and are copied. There is no global
// state: worlds are independent of each other, and a world may be used by one thread at a time.

#ifndef TIPPE_WORLD_H
#define TIPPE_WORLD_H

#include "tippe/friction.h"
#include "tippe/geometry.h"

typedef struct tpWorld tpWorld;

typedef struct tpBodyId {
    uint32_t slot, generation;
} tpBodyId;
typedef struct tpShapeId {
    uint32_t slot, generation;
} tpShapeId;
typedef struct tpJointId {
    uint32_t slot, generation;
} tpJointId;
typedef struct tpForceId {
    uint32_t slot, generation;
} tpForceId;

// Materials are never destroyed: a plain index, 0 being the default (no friction, no restitution).
typedef int32_t tpMaterialId;

typedef enum tpStepperId {
    tp_freeFlight, // no contacts
    tp_stewartTrinkle,
    tp_anitescu,
    tp_mirtichCanny,
    tp_benderSchmitt,
    tp_chakrabortyTrinkle,
    tp_penalty,
    tp_smallSteps,
    tp_auto,
    tp_stepperCount
} tpStepperId;

// Parts of a scene that a stepper may not support.
typedef enum tpStepperGap {
    tp_lacksStaticFriction = 1, // friction is the dynamic coefficient alone
    tp_lacksFrictionEllipse = 2,
    tp_lacksTorsion = 4,
    tp_lacksJoints = 8,
    tp_lacksRestitution = 16,    // impacts are inelastic, whatever the materials are
    tp_lacksImpactFriction = 32, // impacts have the friction of sliding
    tp_lacksRollingFriction = 64,
    tp_lacksCompliance = 128 // contacts are rigid, whatever the materials are
} tpStepperGap;

typedef struct tpWorldDef {
    tpStepperId stepper;
    tpVec3 gravity;  // m/s^2
    bool planar;     // motion in the x-y plane only
    int threadCount; // 1 or more; results do not depend on it
    tpAllocator allocator;
} tpWorldDef;

// World directions in which the centre of mass of a body cannot move, and world axes about which
// the body cannot turn.
typedef enum tpLock {
    tp_lockX = 1,
    tp_lockY = 2,
    tp_lockZ = 4,
    tp_lockTurnX = 8,
    tp_lockTurnY = 16,
    tp_lockTurnZ = 32,
    tp_lockAll = 63
} tpLock;

typedef enum tpBodyKind {
    tp_dynamicBody,  // moved by forces
    tp_fixedBody,    // never moves
    tp_kinematicBody // moves on a prescribed path
} tpBodyKind;

// A pose that a kinematic body passes through. Between keyframes positions are interpolated
// linearly and orientations about a fixed axis; before the first and after the last it stands
// still.
typedef struct tpKeyframe {
    double time; // s, ascending
    tpPose pose; // of the body's frame
} tpKeyframe;

typedef struct tpBodyDef {
    const char* name; // copied; NULL or "" for none; at most 63 bytes
    tpBodyKind kind;
    tpVec3 position;        // of the body's frame, m
    tpQuat rotation;        // of the body's frame, a unit quaternion
    tpVec3 velocity;        // of the centre of mass, m/s
    tpVec3 angularVelocity; // world axes, rad/s
    bool hasMass; // mass below is given; otherwise it follows from shapes and their density
    tpMassProperties mass;       // in the body's frame
    double linearDamping;        // 1/s: dv/dt = -linearDamping v
    double angularDamping;       // 1/s: dL/dt = -angularDamping L
    double gravityScale;         // factor of the world's gravity; default 1
    uint32_t locked;             // any of tpLock; dynamic bodies only
    const tpKeyframe* keyframes; // kinematic bodies only; NULL: velocity and angularVelocity hold
    int keyframeCount;
    void* userData;
} tpBodyDef;

// Friction numbers of one material, or of a pair. Coefficients above 1000 act as 1000.
typedef struct tpFriction {
    double staticCoefficient, dynamicCoefficient;
    // Moments about the normal and across it are at most coefficient * arm * normal force, m.
    double torsionalArm, rollingArm;
    // Reduction of friction in impacts. Approaches of 0.2 m/s or more have (1 - impactReduction)
    // times the coefficients, approaches of 0.1 m/s or less the coefficients themselves. At most 1;
    // 0: no reduction; negative: more friction in impacts.
    double impactReduction;
    double ellipse[2]; // e_t, e_o: factors of the coefficient along and across `direction`
    tpVec3 direction; // first axis of the ellipse, in the frame of the body that owns the material;
                      // zero: any (a circular cone needs none)
} tpFriction;

// Compliant contacts: each contact point is a spring and a damper that only push, instead of a
// rigid stop.
typedef struct tpCompliance {
    double compliance; // m/N, of each contact point; 0: rigid
    double damping;    // N s/m, of each contact point; needs compliance
} tpCompliance;

typedef struct tpMaterialDef {
    const char* name; // copied; may be NULL
    tpFriction friction;
    double restitution; // 0 to 1; not used by compliant contacts, which bounce by their spring
    tpCompliance contact;
} tpMaterialDef;

// Numbers of a pair of materials, instead of the rule (geometric mean of each friction number, the
// larger restitution, springs and dampers of both in series).
typedef struct tpPairDef {
    tpMaterialId materials[2];
    bool hasFriction, hasRestitution, hasContact; // what is not given follows the rule
    tpFriction friction;
    double restitution;
    tpCompliance contact;
} tpPairDef;

typedef struct tpShapeDef {
    tpPose pose; // in the body's frame
    tpMaterialId material;
    double density;       // kg/m^3, used if the body's mass is not given
    uint32_t group, mask; // two shapes collide if the group of each is in the mask of the other
    void* userData;
} tpShapeDef;

typedef enum tpFrame { tp_worldFrame, tp_bodyFrame } tpFrame;

typedef struct tpForceDef {
    tpBodyId body;
    tpVec3 force, torque; // N, N m
    bool hasPoint;        // otherwise the force acts at the centre of mass
    tpVec3 point;         // in the body's frame
    tpFrame frame;        // of force and torque
    double from, to;      // s, active while from <= t < to
} tpForceDef;

// Contacts and reports ---------------------------------------------------------------------------

typedef enum tpContactState { tp_separated, tp_sliding, tp_sticking } tpContactState;

// A contact of the last step. Impulses are over the step and act on body A; the normal points from
// body B to body A; the gap is that at the end of the step.
typedef struct tpContactInfo {
    tpBodyId bodyA, bodyB;
    tpShapeId shapeA, shapeB;
    uint64_t feature; // which features touch; stays the same while they do
    tpVec3 point, normal;
    double gap;              // m
    double normalImpulse;    // N s
    tpVec3 frictionImpulse;  // N s, world axes
    double torsionalImpulse; // N m s
    tpVec3 rollingImpulse;   // N m s, world axes, across the normal
    double slidingSpeed;     // m/s
    tpContactState state;
    // Of steppers driven by events, within the step; 0 for others.
    int collisionCount;      // collisions at this contact
    int microcollisionCount; // those that stand for lasting contact
    double energyLost;       // J, kinetic energy that both took
} tpContactInfo;

// Figures that only some steppers report (events, budgets, hand-overs) are in a block of the report
// that belongs to the stepper. They have one list of names for all steppers: tpFigure.
typedef struct tpFigureInfo {
    const char* name;    // as in the summary of a run
    const char* summary; // one line
    bool isLevel;        // a value at the end of the step; otherwise a count within the step
} tpFigureInfo;

// The four laws that a step's certificate is about. A law that is violated is a bit of
// tpStepReport.violations, 1 << law.
typedef enum tpLaw {
    tp_contactLaw, // residual
    tp_energyLaw,  // energyIncrease and energyExcess
    tp_jointLaw,   // jointDrift
    tp_overlapLaw, // penetration
    tp_lawCount
} tpLaw;

// How far a step may be from each of these laws; docs/conventions.md says how the limits follow the
// scene's scale.
typedef struct tpCertificateLimits {
    double residual;    // relative
    double energy;      // J
    double jointDrift;  // m or rad
    double penetration; // m
} tpCertificateLimits;

enum { tp_noteCapacity = 4, tp_figureCapacity = 16, tp_reportSize = 512 };

// What every step reports, whatever the stepper. The struct keeps its size, and its fields keep
// their places; new fields are taken from the start of `reserved`. So a program built with an older
// header still works.
typedef struct tpStepReport {
    double time; // at the end of the step, s

    // The certificate: figures, their limits, and which limits are exceeded.
    double residual;       // of the contact law at the end of the step, see docs/conventions.md
    double energyIncrease; // J: energy after - energy before - externalWork
    double energyExcess;   // J: how far energy minus work done is above its lowest value so far
    double jointDrift;     // largest joint error, m or rad
    double penetration;    // deepest, m, positive if bodies overlap
    tpCertificateLimits limits;
    uint32_t violations; // 0: the step is certified

    int contactCount;
    int solveCount;        // problems solved
    int iterationCount;    // of all solves
    int failureCount;      // solves that did not reach their tolerance, without those that ended on
                           // a budget
    int substepCount;      // steps inside this one
    int contactQueryCount; // how often the contacts of all bodies were computed
    int sleepingCount;     // bodies asleep at the end of the step
    int noteCount;
    bool converged; // every solve reached its tolerance
    bool undone;    // a number would not have been finite; the step was taken back

    double coneViolation;        // largest |r_T| - mu r_N, relative to mu r_N
    double dissipationViolation; // largest mu r_N |u_T| + r_T . u_T, relative to its first term
    double kineticBefore, kineticAfter;     // J
    double potentialBefore, potentialAfter; // J, gravity and springs, those of contacts too
    double externalWork; // J, of forces, motors, dampers and kinematic bodies; not gravity
    double frictionLoss; // J, and of dampers in contacts
    double impactLoss;   // J, in normal directions and in joints; swings of joints have either sign

    const char* fallback;               // NULL, or the name of the fallback that took the step
    const char* notes[tp_noteCapacity]; // what the user should know, constant strings
    int figures[tp_figureCapacity];     // the stepper's own, in the order of tpFigure

    double numericalLoss; // J, part of impactLoss: numerical damping of the step, negative if it
                          // added energy

    // m: estimated error of positions since the start, by `auto`; 0 for other steppers
    double errorEstimate;
    double work; // of `auto`: counted work of the step, in nanoseconds of a reference machine

    // If contacts are compliant: residual of the impulses under rigid contact. `residual` is the
    // residual of the law with springs.
    double rigidResidual;
    double errorAsked; // m: error of positions that the option `accuracy` of `auto` means in this
                       // scene

    // Redundant contacts may contradict each other slightly. m: largest change of a gap that made
    // them agree.
    double gapShift;
    // A proved lower bound of the residual of a solve (`solved to rounding`); 0: none.
    double rounding;

    double reserved[20]; // zero
} tpStepReport;

// Options of steppers -----------------------------------------------------------------------------

typedef enum tpOptionKind {
    tp_numberOption,
    tp_integerOption,
    tp_booleanOption,
    tp_choiceOption
} tpOptionKind;

typedef struct tpOptionInfo {
    const char* name;
    tpOptionKind kind;
    double defaultValue;        // number, integer, boolean (0 or 1), or the index of the choice
    double minimum, maximum;    // of numbers and integers
    const char* const* choices; // NULL-terminated, for choices
    const char* unit;
    const char* summary;
} tpOptionInfo;

TP_BEGIN_DECLS

// Worlds -----------------------------------------------------------------------------------------

TP_API tpWorldDef tpDefaultWorldDef(void);
TP_API tpWorld* tpCreateWorld(const tpWorldDef* def); // NULL if memory ran out or `def` is wrong
TP_API void tpDestroyWorld(tpWorld* world);

// One step of h seconds. Never crashes on a hard problem: what went wrong is in the report.
TP_API tpStepReport tpWorld_Step(tpWorld* world, double h);

// Installs a hook that receives every friction problem of a step right after its solve; NULL
// removes it. The problem and its arrays are valid during the call. The hook must not call the
// world. Problems of one step come in order, whatever the number of threads.
TP_API void tpWorld_SetProblemHook(tpWorld* world, tpProblemHook hook, void* context);

// `stop` points to a number that a signal handler or another thread may set. Once it is not zero,
// the current step ends within a tenth of a second and is taken back (note `stopped`), and further
// steps do nothing. NULL removes it. The number must exist as long as the world, or until another
// one is set.
TP_API void tpWorld_SetStop(tpWorld* world, const volatile sig_atomic_t* stop);

TP_API double tpWorld_GetTime(const tpWorld* world);
TP_API int64_t tpWorld_GetStepCount(const tpWorld* world);
TP_API tpVec3 tpWorld_GetGravity(const tpWorld* world);
TP_API void tpWorld_SetGravity(tpWorld* world, tpVec3 gravity);
TP_API bool tpWorld_IsPlanar(const tpWorld* world);
TP_API tpStepperId tpWorld_GetStepper(const tpWorld* world);
TP_API tpResult tpWorld_SetStepper(tpWorld* world, tpStepperId stepper);
TP_API const tpAllocator* tpWorld_GetAllocator(const tpWorld* world);

TP_API double tpWorld_GetKineticEnergy(const tpWorld* world);
TP_API double tpWorld_GetPotentialEnergy(const tpWorld* world);
TP_API tpVec3 tpWorld_GetLinearMomentum(const tpWorld* world);
TP_API tpVec3 tpWorld_GetAngularMomentum(const tpWorld* world, tpVec3 about);

// The contacts of the last step; valid until the next call that changes the world. `small-steps`
// makes the list at the first call after a step: this first call must not be made by several
// threads at once.
TP_API const tpContactInfo* tpWorld_GetContacts(const tpWorld* world, int* count);

// Steppers and options. Names are those of scenes and of the command line.
TP_API const char* tpStepperName(tpStepperId stepper);
TP_API const char* tpStepperSummary(tpStepperId stepper);
TP_API bool tpStepperIsAvailable(tpStepperId stepper);
TP_API bool tpFindStepper(const char* name, tpStepperId* stepper);
// Whether it may hand bodies over to other methods (tpBody_GetCarrier).
TP_API bool tpStepperHasCarriers(tpStepperId stepper);
TP_API int tpOptionCount(void);
TP_API const tpOptionInfo* tpOption(int index);
TP_API bool tpStepperUsesOption(tpStepperId stepper, int optionIndex);
// What the stepper does not support, with its default options: bits of tpStepperGap. Reports of
// steps say so if the scene has it.
TP_API unsigned tpStepperLacks(tpStepperId stepper);
// The same for the stepper of the world with its present options: stewart-trinkle uses
// restitution if impact_law is set.
TP_API unsigned tpWorld_GetLacks(const tpWorld* world);
// The name of the stepper that has the option instead, if setting it for this stepper is an error;
// else NULL.
TP_API const char* tpStepperRefusesOption(tpStepperId stepper, int optionIndex);
TP_API tpResult tpWorld_SetOption(tpWorld* world, const char* name, const char* text,
                                  tpError* error);
TP_API double tpWorld_GetOption(const tpWorld* world, const char* name);

// Figures of steppers. The names are those of the summary of a run.
TP_API int tpFigureCount(void);
TP_API const tpFigureInfo* tpFigure(int index);
TP_API bool tpStepperUsesFigure(tpStepperId stepper, int figureIndex);
TP_API int tpStepReport_GetFigure(const tpStepReport* report, const char* name); // -1: no such name

// Snapshots: the whole state of a world, to continue bit for bit: motion, time, what the stepper
// keeps, and every number that can be set while it runs (gravity, options, masses, materials, laws
// of joints, forces). A snapshot goes into any world of the same structure and stepper: this one,
// or one that another process has built from the same scene with the same version of the library.
typedef struct tpSnapshot tpSnapshot;
#define TP_SNAPSHOT_VERSION 20
TP_API int tpSnapshotVersion(void); // of the library that is linked: TP_SNAPSHOT_VERSION
TP_API tpSnapshot* tpWorld_Snapshot(const tpWorld* world); // NULL if memory ran out
// tp_badInput, and nothing has changed, if bodies, shapes, joints, forces or the stepper are
// different.
TP_API tpResult tpWorld_Restore(tpWorld* world, const tpSnapshot* snapshot, tpError* error);
TP_API void tpDestroySnapshot(tpSnapshot* snapshot);
// The snapshot as bytes, which exist as long as the snapshot; and a snapshot from bytes. Version
// and checksum are checked: NULL with a message if they are wrong. NULL for the allocator is the C
// library's heap.
TP_API const void* tpSnapshot_GetBytes(const tpSnapshot* snapshot, size_t* size);
TP_API tpSnapshot* tpCreateSnapshot(const void* bytes, size_t size, const tpAllocator* allocator,
                                    tpError* error);

// A hash of positions and velocities, bit for bit: equal states give equal hashes.
TP_API uint64_t tpWorld_HashState(const tpWorld* world);

// Bodies -----------------------------------------------------------------------------------------

TP_API tpBodyDef tpDefaultBodyDef(void);
// The null id if the definition is wrong or memory ran out; `error` (may be NULL) says which.
TP_API tpBodyId tpCreateBody(tpWorld* world, const tpBodyDef* def, tpError* error);
TP_API void tpDestroyBody(tpWorld* world, tpBodyId body); // with its shapes, joints and forces
TP_API bool tpBody_IsValid(const tpWorld* world, tpBodyId body);
TP_API int tpWorld_GetBodyCount(const tpWorld* world);
TP_API tpBodyId tpWorld_GetBody(const tpWorld* world, int index); // in order of creation
TP_API tpBodyId tpWorld_FindBody(const tpWorld* world, const char* name);

TP_API const char* tpBody_GetName(const tpWorld* world, tpBodyId body); // "" if it has none
// The present definition, with the present position, rotation and velocity; name and keyframes
// point into the world.
TP_API tpBodyDef tpBody_GetDef(const tpWorld* world, tpBodyId body);
TP_API tpBodyKind tpBody_GetKind(const tpWorld* world, tpBodyId body);
TP_API tpVec3 tpBody_GetPosition(const tpWorld* world, tpBodyId body); // of the centre of mass
TP_API tpPose tpBody_GetPose(const tpWorld* world, tpBodyId body);     // of the body's frame
TP_API tpQuat tpBody_GetRotation(const tpWorld* world, tpBodyId body);
TP_API tpVec3 tpBody_GetVelocity(const tpWorld* world, tpBodyId body);
TP_API tpVec3 tpBody_GetAngularVelocity(const tpWorld* world, tpBodyId body);
// Velocity of the point of the body that is at `point` (world coordinates).
TP_API tpVec3 tpBody_GetPointVelocity(const tpWorld* world, tpBodyId body, tpVec3 point);
TP_API tpMassProperties tpBody_GetMass(const tpWorld* world, tpBodyId body); // in the body's frame
TP_API void tpBody_SetPose(tpWorld* world, tpBodyId body, tpPose pose);
TP_API void tpBody_SetVelocity(tpWorld* world, tpBodyId body, tpVec3 velocity,
                               tpVec3 angularVelocity);
// A body that becomes dynamic needs a mass, given or from its shapes. The velocity is kept, unless
// the body becomes fixed.
TP_API tpResult tpBody_SetKind(tpWorld* world, tpBodyId body, tpBodyKind kind, tpError* error);
// NULL: the mass follows from the shapes again. The body's frame stays where it is.
TP_API tpResult tpBody_SetMass(tpWorld* world, tpBodyId body, const tpMassProperties* mass,
                               tpError* error);
TP_API void tpBody_SetDamping(tpWorld* world, tpBodyId body, double linear, double angular);
TP_API void tpBody_SetGravityScale(tpWorld* world, tpBodyId body, double scale);
TP_API void tpBody_SetLocked(tpWorld* world, tpBodyId body, uint32_t locked); // any of tpLock
// Whether two bodies collide with each other; by default they do. Joints (tpJointDef.collide) and
// groups of shapes can exclude collisions as well.
TP_API tpResult tpBody_SetCollide(tpWorld* world, tpBodyId body, tpBodyId other, bool collide,
                                  tpError* error);
TP_API bool tpBody_GetCollide(const tpWorld* world, tpBodyId body, tpBodyId other);
// The pose of a kinematic body at the end of the next step, whatever its velocity and keyframes
// are. Without another target it then stands still.
TP_API void tpBody_SetTarget(tpWorld* world, tpBodyId body, tpPose pose);
// The name of the method that moves the body, if it is not the world's stepper itself; else NULL.
TP_API const char* tpBody_GetCarrier(const tpWorld* world, tpBodyId body);
// The step of that method in seconds, and the estimated error of the body's position since the
// start in metres. Zero for steppers without such numbers.
TP_API double tpBody_GetCarrierStep(const tpWorld* world, tpBodyId body);
TP_API double tpBody_GetErrorEstimate(const tpWorld* world, tpBodyId body);
// Whether the body is asleep (option `sleep`). A body that is put to sleep loses its velocity. It
// sleeps from the next step on if its stepper supports sleep and its whole island is at rest.
TP_API bool tpBody_IsAsleep(const tpWorld* world, tpBodyId body);
TP_API void tpBody_SetAwake(tpWorld* world, tpBodyId body, bool isAwake);
TP_API void* tpBody_GetUserData(const tpWorld* world, tpBodyId body);
TP_API void tpBody_SetUserData(tpWorld* world, tpBodyId body, void* userData);

// Forces for one step. They act all through the next step and are then forgotten; they add up.
// Points belong to the body: a force at a point moves with it. `frame` is that of the force and of
// the point.
TP_API void tpBody_ApplyForce(tpWorld* world, tpBodyId body, tpVec3 force, tpFrame frame);
TP_API void tpBody_ApplyForceAt(tpWorld* world, tpBodyId body, tpVec3 force, tpVec3 point,
                                tpFrame frame);
TP_API void tpBody_ApplyTorque(tpWorld* world, tpBodyId body, tpVec3 torque, tpFrame frame);
// Impulses change the velocity at once.
TP_API void tpBody_ApplyImpulse(tpWorld* world, tpBodyId body, tpVec3 impulse, tpFrame frame);
TP_API void tpBody_ApplyImpulseAt(tpWorld* world, tpBodyId body, tpVec3 impulse, tpVec3 point,
                                  tpFrame frame);
TP_API void tpBody_ApplyAngularImpulse(tpWorld* world, tpBodyId body, tpVec3 impulse,
                                       tpFrame frame);

// Shapes -----------------------------------------------------------------------------------------

TP_API tpShapeDef tpDefaultShapeDef(void);
// Takes a reference of its own to the geometry. The geometry's pose and the definition's compose.
TP_API tpShapeId tpCreateShape(tpWorld* world, tpBodyId body, const tpShapeDef* def,
                               const tpGeometry* geometry, tpError* error);
TP_API tpShapeId tpCreateSphere(tpWorld* world, tpBodyId body, const tpShapeDef* def,
                                const tpSphere* sphere, tpError* error);
TP_API tpShapeId tpCreateBox(tpWorld* world, tpBodyId body, const tpShapeDef* def, const tpBox* box,
                             tpError* error);
TP_API tpShapeId tpCreateCapsule(tpWorld* world, tpBodyId body, const tpShapeDef* def,
                                 const tpCapsule* capsule, tpError* error);
TP_API tpShapeId tpCreateCylinder(tpWorld* world, tpBodyId body, const tpShapeDef* def,
                                  const tpCylinder* cylinder, tpError* error);
TP_API tpShapeId tpCreatePlane(tpWorld* world, tpBodyId body, const tpShapeDef* def,
                               const tpPlane* plane, tpError* error);
TP_API void tpDestroyShape(tpWorld* world, tpShapeId shape);
TP_API bool tpShape_IsValid(const tpWorld* world, tpShapeId shape);
TP_API int tpBody_GetShapeCount(const tpWorld* world, tpBodyId body);
TP_API tpShapeId tpBody_GetShape(const tpWorld* world, tpBodyId body, int index);
TP_API const tpGeometry* tpShape_GetGeometry(const tpWorld* world, tpShapeId shape);
TP_API tpBodyId tpShape_GetBody(const tpWorld* world, tpShapeId shape);
TP_API tpMaterialId tpShape_GetMaterial(const tpWorld* world, tpShapeId shape);
TP_API tpShapeDef tpShape_GetDef(const tpWorld* world, tpShapeId shape); // as it is now
TP_API void tpShape_SetMaterial(tpWorld* world, tpShapeId shape, tpMaterialId material);
TP_API void tpShape_SetFilter(tpWorld* world, tpShapeId shape, uint32_t group, uint32_t mask);
// Whether two shapes may touch. Called for pairs that groups, masks, joints and tpBody_SetCollide
// allow, before they are near enough to touch. The shape in the lower slot comes first.
typedef bool (*tpShapeFilter)(const tpWorld* world, tpShapeId a, tpShapeId b, void* context);
// Installs a filter; NULL removes it. Steps and tpWorld_FindOverlaps use it, rays and other queries
// do not. It is not specified for which pairs, how often, in which order and on which thread of the
// world it is called: it must always give the same answer for the same two shapes, may be called by
// several threads at once if the world has more than one, and must not change the world. Then
// contacts and events come in their fixed order on any number of threads. To change its answers,
// install it again. It is not part of snapshots.
TP_API void tpWorld_SetShapeFilter(tpWorld* world, tpShapeFilter filter, void* context);

// Changes the mass of a body whose mass follows from its shapes.
TP_API tpResult tpShape_SetDensity(tpWorld* world, tpShapeId shape, double density, tpError* error);
TP_API void* tpShape_GetUserData(const tpWorld* world, tpShapeId shape);
TP_API void tpShape_SetUserData(tpWorld* world, tpShapeId shape, void* userData);

// Appearance -------------------------------------------------------------------------------------
//
// For pages and pictures; it has no effect on a step.

// As screens show it (sRGB), each part from 0 to 1.
typedef struct tpColor {
    double red, green, blue;
} tpColor;

// A shape of a body that is only drawn.
typedef struct tpVisual {
    const tpGeometry* geometry; // the world's, in the body's frame; NULL: there is none
    bool hasColor;
    tpColor color;
} tpVisual;

// A shape without a colour is drawn in one that the page chooses.
TP_API tpResult tpShape_SetColor(tpWorld* world, tpShapeId shape, tpColor color, tpError* error);
TP_API bool tpShape_GetColor(const tpWorld* world, tpShapeId shape, tpColor* color);

// A shape that touches nothing and has no mass. `color` may be NULL.
TP_API tpResult tpBody_AddVisual(tpWorld* world, tpBodyId body, const tpGeometry* geometry,
                                 const tpColor* color, tpError* error);
TP_API int tpBody_GetVisualCount(const tpWorld* world, tpBodyId body);
TP_API tpVisual tpBody_GetVisual(const tpWorld* world, tpBodyId body, int index);

// Materials --------------------------------------------------------------------------------------

TP_API tpMaterialDef tpDefaultMaterialDef(void);
// -1 if the definition is wrong or memory ran out.
TP_API tpMaterialId tpCreateMaterial(tpWorld* world, const tpMaterialDef* def, tpError* error);
TP_API int tpWorld_GetMaterialCount(const tpWorld* world);
TP_API tpMaterialId tpWorld_FindMaterial(const tpWorld* world, const char* name); // -1: none
TP_API tpMaterialDef tpMaterial_GetDef(const tpWorld* world, tpMaterialId material);
TP_API tpResult tpMaterial_SetDef(tpWorld* world, tpMaterialId material, const tpMaterialDef* def,
                                  tpError* error); // all but its name
TP_API tpResult tpSetMaterialPair(tpWorld* world, const tpPairDef* def, tpError* error);
// The numbers of a pair of materials: its own, or those by the rule.
TP_API void tpGetMaterialPair(const tpWorld* world, tpMaterialId a, tpMaterialId b,
                              tpFriction* friction, double* restitution);
TP_API tpCompliance tpGetPairCompliance(const tpWorld* world, tpMaterialId a, tpMaterialId b);

// Forces -----------------------------------------------------------------------------------------

TP_API tpForceDef tpDefaultForceDef(void);
TP_API tpForceId tpCreateForce(tpWorld* world, const tpForceDef* def, tpError* error);
TP_API void tpDestroyForce(tpWorld* world, tpForceId force);
TP_API bool tpForce_IsValid(const tpWorld* world, tpForceId force);
TP_API int tpWorld_GetForceCount(const tpWorld* world);
TP_API tpForceId tpWorld_GetForce(const tpWorld* world, int index);
TP_API tpForceDef tpForce_GetDef(const tpWorld* world, tpForceId force);
TP_API tpResult tpForce_SetDef(tpWorld* world, tpForceId force, const tpForceDef* def,
                               tpError* error); // all but its body

TP_END_DECLS

#endif
