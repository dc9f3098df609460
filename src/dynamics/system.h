// The mechanical system that steppers move: bodies, forces, joints, materials.
//
// Things live in stable slots: the index of a body is the same from its creation to its
// destruction, and arrays of bodies have the same indices everywhere (poses, velocities, masses,
// contacts). What the inner loops touch lies in arrays of its own, apart from what users ask about.
//
//     poses[i]       centre of mass and orientation of the body's axes, 56 bytes
//     velocities[i]  one cache line per body
//     bodies[i]      mass, inertia, kind and the rest

#ifndef TIPPE_SRC_DYNAMICS_SYSTEM_H
#define TIPPE_SRC_DYNAMICS_SYSTEM_H

#include "base/memory.h"
#include "base/shared_pool.h"
#include "collision/collider.h"
#include "collision/excluded_pairs.h"
#include "dynamics/rotation.h"
#include "dynamics/scales.h"
#include "math/velocity.h"
#include "tippe/joints.h"

enum { tp_nameCapacity = 64 };

// What users apply to a body for one step, see loads.h.
typedef struct tpLoad {
    bool isUsed;
    tpVec3 force, torque;         // world axes; the force at the centre of mass
    tpVec3 bodyForce, bodyTorque; // body axes
    tpMat33 lever; // of forces in world axes: sum of point (from the centre, body axes) times force
} tpLoad;

// What bodies of a crowd have in common: equal forms are kept once (base/shared_pool.h), so that
// loops over all bodies find them in the cache.
typedef struct tpBodyForm {
    tpInertia inertia;
    tpMassProperties given; // in the body's frame, as defined or summed over the shapes
} tpBodyForm;

extern const tpBodyForm tp_noBodyForm; // of nothing

typedef struct tpBody {
    // A line of the cache with what steppers ask of all bodies, several times in a step.
    _Alignas(64) bool isLive;
    bool hasGivenMass;
    bool hasTarget; // kinematic: `target` is where its centre of mass is to be after the next step
    bool isAsleep;  // a stepper leaves it alone until something concerns it
    bool isDisturbed; // a user has changed something about it since the last step: it wakes
    bool wasAsleep;   // when events were last listed
    bool isTired;     // a user wants it to sleep: it counts as quiet for as long as needed
    bool isOffCenter; // its centre of mass is not the origin of its frame
    tpBodyKind kind;
    uint32_t locked;          // tpLock bits
    double mass, inverseMass; // inverse 0 unless dynamic
    double gravityScale;
    double innerRadius;     // least of its shapes', m; infinite if it has none
    double reach;           // farthest point of its finite shapes from the centre of mass, m
    const tpBodyForm* form; // of a dead one: tp_noBodyForm
    // The rest is asked for less often.
    double size;    // the larger of its reach and its radius of gyration, m
    tpVec3 center;  // centre of mass in the body's frame
    int firstShape; // chained through tpShape.next, in order of creation
    int keyframeCount;
    double linearDamping, angularDamping; // 1/s
    tpKeyframe* keyframes;
    uint64_t birth;      // grows from body to body: the order of creation
    const char* carrier; // name of the method that carries it, if the stepper chooses one; else
                         // NULL
    double carrierStep;  // s, of the last step that method took; 0: not known
    double carrierError; // m, estimated error of its position since the start; 0: not known
    tpPose* target;      // if it is kinematic; of others it may be NULL
    void* userData;
    char* name; // tp_nameCapacity bytes; NULL if it has none, as most bodies of crowds
} tpBody;

// Where a kinematic body is to be; of others it means nothing.
static inline tpPose tpBody_Target(const tpBody* body) {
    return body->target != NULL ? *body->target : tpIdentityPose();
}

static inline const char* tpBody_Name(const tpBody* body) {
    return body->name != NULL ? body->name : "";
}

// What shapes of a crowd have in common: equal forms are kept once (base/shared_pool.h).
typedef struct tpShapeForm {
    tpGeometry geometry; // pose in the body's frame
    tpPose pose;         // as the definition gave it; the geometry may have had one of its own
} tpShapeForm;

typedef struct tpShape {
    bool isLive;
    bool isSensor; // of an overlap sensor: it touches nothing
    tpMaterialId material;
    int body;
    int next;                // of the same body, or -1
    const tpShapeForm* form; // NULL unless it is live
    double density;
    uint32_t group, mask;
    void* userData;
} tpShape;

typedef struct tpForce {
    bool isLive;
    int body;
    tpForceDef def;
} tpForce;

typedef struct tpMaterial {
    tpFriction friction;
    double restitution;
    tpCompliance contact;
    char name[tp_nameCapacity];
} tpMaterial;

// What a servo has done lately, N m or N; see steady_efforts.h.
typedef struct tpServoMemory {
    double last;   // its effort in the last step
    double steady; // the part of it that the step before had too
} tpServoMemory;

// A coordinate that a joint leaves free, and what acts on it.
typedef struct tpCoordinate {
    tpCoordinateDef def;
    tpAxisKind kind;
    tpVec3 axis;         // unit, in the axes of body A when the joint was made
    double displacement; // since then, followed past half a turn, at the end of the last step
    double applied;      // effort that a user has applied for this step, N m or N
    double effort, limitEffort; // of drives and of limits in the last step, means
    double rotorSpeed[3];       // of the armature; a ball joint has it about three axes
    double endSpeed[3];         // of the coordinate where the last step ended, if its rotor goes on
    tpServoMemory servoMemory;  // of symmetric steps
    bool wasAtLimit;            // when events were last listed

    // Of the step that is being taken.
    double startValue; // at its start, if there is armature
    tpQuat startTurn;  // of B seen from A, of a ball joint instead
    // parts of the impulses that act before the drift of a symmetric step, see joint_laws.c
    double springShare;
    double servoShare, damperShare;
    char name[tp_nameCapacity];
} tpCoordinate;

typedef struct tpJoint {
    // What every step asks for comes first, side by side: loops over joints wait for memory.
    bool isLive;
    tpJointType type;
    int bodyA, bodyB; // -1: the world
    int coordinateCount;
    tpCoordinate* coordinates;
    tpVec3 force, torque;    // reaction on B over the last step, mean
    tpVec3 anchorA, anchorB; // in the centre-of-mass frame of each body
    tpQuat relativeRotation; // of B seen from A when the joint was made
    tpMat33 frameA, frameB;  // columns: joint axes in body axes; cx is the axis
    double startLength;      // distance of the anchors when the joint was made
    tpJointDef def;          // without what the coordinates have
    char name[tp_nameCapacity];
} tpJoint;

// A coordinate of a joint in a coupling.
typedef struct tpCouplingPart {
    int joint, coordinate;
    double factor;
} tpCouplingPart;

// A linear relation between coordinates, and what acts on the sum.
typedef struct tpCoupling {
    bool isLive;
    tpCouplingDef def; // without name and terms
    tpCouplingPart* parts;
    int partCount;
    double effort,
        limitEffort; // of its servo, and of limits or held value, in the last step, means
    double springShare, servoShare; // as those of coordinates
    tpServoMemory servoMemory;
    char name[tp_nameCapacity];
} tpCoupling;

// The last answer to the question for contacts, see contacts.h.
typedef struct tpFoundContacts {
    bool isValid;
    TP_ARRAY(tpPose) poses;
    TP_ARRAY(double) margins; // within which contacts were looked for, m
    tpContactArray contacts;
} tpFoundContacts;

// Rows of joints that depend on others, as found at the first solve of a step, see redundancy.h.
typedef struct tpFoundRedundancy {
    bool isKnown;
    int64_t step;
    int rigidCount;
    TP_ARRAY(int) rows;
} tpFoundRedundancy;

typedef struct tpSystem {
    tpAllocator allocator;
    tpArena arena; // scratch of one step

    // Bodies, one slot each.
    int bodyCount; // slots in use, dead ones included
    TP_ARRAY(tpPose) poses;
    TP_ARRAY(tpVelocity) velocities;
    TP_ARRAY(tpBody) bodies;
    // The system's own memory of poses and velocities while these lie elsewhere; else without data.
    TP_ARRAY(tpPose) ownPoses;
    TP_ARRAY(tpVelocity) ownVelocities;

    TP_ARRAY(tpShape) shapes;
    tpSharedPool forms;     // of shapes
    tpSharedPool bodyForms; // of bodies
    TP_ARRAY(tpForce) forces;
    TP_ARRAY(tpLoad) loads; // of bodies, while hasLoads
    bool hasLoads;
    TP_ARRAY(tpJoint) joints;
    TP_ARRAY(tpCoupling) couplings;
    TP_ARRAY(tpMaterial) materials;
    TP_ARRAY(tpPairDef) pairs; // sorted by the smaller and then the larger material
    tpExcludedPairs excludes;  // bodies that do not collide, beside those of joints
    tpPairFilter pairFilter;   // of the user's, or NULL
    void* pairFilterContext;

    TP_ARRAY(tpContactInfo)
    contacts; // of the last step; steppers fill in slots (index + 1), the world the generations
    // Fills in the contacts where they have only been promised; else NULL.
    void (*listContacts)(struct tpSystem* system, void* context);
    void* listContext;

    tpFoundContacts found;
    tpFoundRedundancy redundancy;

    tpCollider* collider; // NULL until contacts are asked for; collider_shapes.h keeps it in step
    tpTasks* tasks;       // threads to share work with, or NULL

    tpVec3 gravity;
    bool isPlanar;
    bool mayDamp, mayMoveAsTold; // a body with damping, a kinematic one has been there
    bool carriesRotors;          // a step goes on with the speeds that armatures have
    bool hasEfforts;             // users have applied efforts to coordinates for this step
    // No coordinate has armature, or a spring: loops that look for them are left out. False: some
    // may have. See tpSystem_NoteLaws.
    bool lacksRotors, lacksSprings;
    uint64_t anchorShifts;  // how often anchors of joints have been moved in their bodies
    uint64_t lawChanges;    // how often coordinates have got other laws
    bool hasTooManyPairs;   // a search for contacts of this step was given up (tpPairLimit)
    bool hasDisturbed;      // bodies are disturbed, tired, or have a target
    double time, timeError; // the error of the sum, to be taken off the next step
    int64_t stepCount;
    double stepDuration;   // s, of the world's step at hand; 0: none is
    unsigned leftOut;      // tpStepperGap: what the stepper at work leaves out of contact laws
    bool gives;            // contacts may have springs; contact_spring.h
    double contactEnergy;  // J, of these springs where the last step or trial has ended
    double driftTolerance; // units: symmetric steps meet joints and gaps to it; 0: to 1e-12
    double certificate;    // relative residual that a solve has to reach; solve.h
    double solveWork;      // multiply-adds of this step's solves so far
    int solveRows;         // rows of the largest of them
    double stepWork;       // of everything in this step so far; step_budget.h
    double largestWork;    // of one solve or query among it
    double stepShare;      // of a step's budget that is its limit; 0: all of it
    double givenShare;     // of the budget, to all parts of the step so far
    double usedShare;      // of the budget, by parts before this one
    bool wasSpent;         // a part of this step has cost its share
    int stepSize;          // contacts of its largest query
    int stepBodies;        // dynamic ones at its start
    bool stepBounces;      // whether some contacts may give back what they take
    int contactQueryCount; // how often the collider has been asked in this step
    const volatile sig_atomic_t* stop; // not zero there: the step is to end at once, and is undone.
                                       // NULL: nobody may stop it, and between steps
    tpProblemHook problemHook; // sees every friction problem of a step, or NULL; posed_problem.h
    void* problemContext;
    int problemCount; // problems of this step that it has seen
    tpScales scales;
    tpUnits units;            // of the tolerances of this step; 1 each before the first
    uint64_t scalesStructure; // for which the scales were measured
    double energyPeak;        // J: largest kinetic and spring energy of late, see certificate.c
    double energyExcess;      // J: of energy less the work done above its lowest value so far
    uint32_t breaches;  // laws that the step at hand does not meet whatever its figures say, as in
                        // tpStepReport.violations
    uint64_t structure; // grows whenever bodies, shapes or joints come or go; never 0
} tpSystem;

// A coordinate gets these laws.
static inline void tpSystem_NoteLaws(tpSystem* system, const tpCoordinateDef* def) {
    system->lacksRotors = system->lacksRotors && !(def->armature > 0.0);
    system->lacksSprings = system->lacksSprings && !def->hasSpring;
    system->lawChanges += 1;
}

void tpSystem_Create(tpSystem* system, const tpAllocator* allocator);
void tpSystem_Destroy(tpSystem* system);

// Threads for a loop over all bodies that does little for each; NULL where few are not worth waking
// them.
static inline tpTasks* tpSystem_BodyTasks(const tpSystem* system) {
    return system->bodyCount > 4096 ? system->tasks : NULL;
}
enum { tp_bodiesPerChunk = 1024 };

// A stepper may promise the contacts of the step instead of listing them: the function is called
// when they are asked for, or never. There is room for them, and what `context` points to lasts
// until the next step.
void tpSystem_PromiseContacts(tpSystem* system, void (*list)(tpSystem* system, void* context),
                              void* context);

// There are none any more.
void tpSystem_ForgetContacts(tpSystem* system);

// The last answer to the question for contacts does not hold any more.
static inline void tpSystem_ForgetFound(tpSystem* system) {
    system->found.isValid = false;
}

// Moves poses and velocities into memory of somebody else's, with room for all slots: many systems
// may then lie in one array. They come back when the system grows, or at the owner's word. There
// must be bodies.
void tpSystem_LendState(tpSystem* system, tpPose* poses, tpVelocity* velocities);
void tpSystem_ReturnState(tpSystem* system);

static inline bool tpSystem_IsStateLent(const tpSystem* system) {
    return system->ownPoses.data != NULL;
}

// Room for a body in slot `index`; false if memory ran out (nothing has changed then).
bool tpSystem_ReserveBody(tpSystem* system, int index);

// The form of a body with these mass properties; NULL if memory ran out.
const tpBodyForm* tpSystem_TakeBodyForm(tpSystem* system, const tpMassProperties* given);
void tpSystem_GiveBackBodyForm(tpSystem* system, const tpBodyForm* form);

// The form of a shape with this geometry, which is retained, at this pose in its body's frame; NULL
// if memory ran out.
const tpShapeForm* tpSystem_TakeForm(tpSystem* system, const tpGeometry* geometry, tpPose pose);

// Gives back the form of a shape, if it has one.
void tpSystem_DropForm(tpSystem* system, int index);

// The part of an overlap or of an error of position at its start that a part of a step, h seconds
// of it, takes back. All of it in no time would throw bodies: a part of a step may be as short as
// one likes.
static inline double tpSystem_ShareOfStep(const tpSystem* system, double h) {
    return h < system->stepDuration ? h / system->stepDuration : 1.0;
}

static inline bool tpSystem_IsDynamic(const tpSystem* system, int body) {
    return body >= 0 && system->bodies.data[body].inverseMass > 0.0;
}

// Mass properties from `given`: inverse mass, principal frame, centre. Keeps the body's frame in
// place. Then how far its shapes reach; to be called whenever its shapes have changed.
void tpSystem_UpdateMass(tpSystem* system, int body);

// The same with other mass properties. False if memory ran out: the body stays as it was.
bool tpSystem_SetMass(tpSystem* system, int body, const tpMassProperties* given);
// The same for a shape that a body has got and that does not change its mass.
void tpSystem_ExtendReach(tpSystem* system, int body, int shape);

// The frame of the body as the scene gives it, from the centre of mass.
tpPose tpSystem_BodyFrame(const tpSystem* system, int body);

// Inverse inertia in world axes at the current orientation; what is locked is zero.
tpMat33 tpSystem_InverseInertia(const tpSystem* system, int body);

// Turns a body freely for h seconds: in space, in the plane, or as its locks allow.
void tpSystem_Rotate(const tpSystem* system, int body, double h, tpQuat* rotation,
                     tpVec3* angularVelocity);

// Whether a dynamic body's angular velocity changes while it turns freely.
bool tpSystem_IsTumbling(const tpSystem* system, int body);

// What gravity makes of the velocity of a body in a second: scaled, and nothing in locked
// directions.
tpVec3 tpSystem_Gravity(const tpSystem* system, int body);

// Velocity of a point that moves with the body; zero for body -1, the world.
tpVec3 tpSystem_PointVelocity(const tpSystem* system, int body, tpVec3 point);

// Sets the velocity of a body, without what the plane and its locks do not allow.
void tpSystem_SetVelocity(tpSystem* system, int body, tpVec3 linear, tpVec3 angular);

// Adds an impulse (and moment about the centre of mass) to a dynamic body.
void tpSystem_ApplyImpulse(tpSystem* system, int body, tpVec3 impulse, tpVec3 moment);

// Order of pairs of materials, whichever of the two comes first: -1, 0 or 1.
int tpComparePairs(const tpMaterialId a[2], const tpMaterialId b[2]);

// Friction and restitution between two materials: the pair's own numbers or the rule. Returns 0 or
// 1: which of the two owns the direction of the ellipse.
int tpSystem_MixMaterials(const tpSystem* system, tpMaterialId a, tpMaterialId b,
                          tpFriction* friction, double* restitution);

// The same for springs and dampers of contact points. By the rule those of the two materials lie
// one behind the other.
tpCompliance tpSystem_MixCompliance(const tpSystem* system, tpMaterialId a, tpMaterialId b);

#endif
