// Bodies: what they are and where, read and set, and forces for one step.

#include "base/assert.h"
#include "base/error.h"
#include "dynamics/collider_shapes.h"
#include "dynamics/loads.h"
#include "world/require.h"

// The body behind an id. A body that does not exist is told, and answered for by a fixed one at the
// origin.
static const tpBody* bodyOf(const tpWorld* world, tpBodyId id, int* index, const char* function) {
    static const tpBody nobody = { .kind = tp_fixedBody, .firstShape = -1, .form = &tp_noBodyForm };
    *index = tpRequireBody(world, id, function);
    return *index >= 0 ? &world->system.bodies.data[*index] : &nobody;
}
#define BODY_OF(world, id, index) bodyOf(world, id, index, __func__)

void tpSystem_Disturb(tpSystem* system, int index) {
    system->bodies.data[index].isDisturbed = true;
    system->bodies.data[index].isTired = false;
    system->hasDisturbed = true;
}

// Questions --------------------------------------------------------------------------------------

const char* tpBody_GetName(const tpWorld* world, tpBodyId id) {
    TP_NEED(world, NULL);
    int index;
    return tpBody_Name(BODY_OF(world, id, &index));
}

tpBodyDef tpBody_GetDef(const tpWorld* world, tpBodyId id) {
    TP_NEED(world, (tpBodyDef){ 0 });
    int index;
    const tpBody* body = BODY_OF(world, id, &index);
    tpBodyDef def = tpDefaultBodyDef();
    if (index < 0) {
        return def;
    }
    tpPose frame = tpSystem_BodyFrame(&world->system, index);
    const tpVelocity* velocity = &world->system.velocities.data[index];
    def.name = tpBody_Name(body);
    def.kind = body->kind;
    def.position = frame.position;
    def.rotation = frame.rotation;
    def.velocity = velocity->linear;
    def.angularVelocity = velocity->angular;
    def.hasMass = body->hasGivenMass;
    def.mass = body->form->given;
    def.linearDamping = body->linearDamping;
    def.angularDamping = body->angularDamping;
    def.gravityScale = body->gravityScale;
    def.locked = body->locked;
    def.keyframes = body->keyframes;
    def.keyframeCount = body->keyframeCount;
    def.userData = body->userData;
    return def;
}

tpBodyKind tpBody_GetKind(const tpWorld* world, tpBodyId id) {
    TP_NEED(world, (tpBodyKind){ 0 });
    int index;
    return BODY_OF(world, id, &index)->kind;
}

tpVec3 tpBody_GetPosition(const tpWorld* world, tpBodyId id) {
    TP_NEED(world, (tpVec3){ 0 });
    int index;
    BODY_OF(world, id, &index);
    return index >= 0 ? world->system.poses.data[index].position : tpZeroVec3();
}

tpPose tpBody_GetPose(const tpWorld* world, tpBodyId id) {
    TP_NEED(world, (tpPose){ 0 });
    int index;
    BODY_OF(world, id, &index);
    return index >= 0 ? tpSystem_BodyFrame(&world->system, index) : tpIdentityPose();
}

tpQuat tpBody_GetRotation(const tpWorld* world, tpBodyId id) {
    TP_NEED(world, (tpQuat){ 0 });
    int index;
    BODY_OF(world, id, &index);
    return index >= 0 ? world->system.poses.data[index].rotation : tpIdentityQuat();
}

tpVec3 tpBody_GetVelocity(const tpWorld* world, tpBodyId id) {
    TP_NEED(world, (tpVec3){ 0 });
    int index;
    BODY_OF(world, id, &index);
    return index >= 0 ? world->system.velocities.data[index].linear : tpZeroVec3();
}

tpVec3 tpBody_GetAngularVelocity(const tpWorld* world, tpBodyId id) {
    TP_NEED(world, (tpVec3){ 0 });
    int index;
    BODY_OF(world, id, &index);
    return index >= 0 ? world->system.velocities.data[index].angular : tpZeroVec3();
}

tpVec3 tpBody_GetPointVelocity(const tpWorld* world, tpBodyId id, tpVec3 point) {
    TP_NEED(world, (tpVec3){ 0 });
    int index;
    BODY_OF(world, id, &index);
    bool isGood = index >= 0 && TP_FINITE_VEC3(point);
    return isGood ? tpSystem_PointVelocity(&world->system, index, point) : tpZeroVec3();
}

tpMassProperties tpBody_GetMass(const tpWorld* world, tpBodyId id) {
    TP_NEED(world, (tpMassProperties){ 0 });
    int index;
    return BODY_OF(world, id, &index)->form->given;
}

const char* tpBody_GetCarrier(const tpWorld* world, tpBodyId id) {
    TP_NEED(world, NULL);
    int index;
    return BODY_OF(world, id, &index)->carrier;
}

double tpBody_GetCarrierStep(const tpWorld* world, tpBodyId id) {
    TP_NEED(world, 0.0);
    int index;
    return BODY_OF(world, id, &index)->carrierStep;
}

double tpBody_GetErrorEstimate(const tpWorld* world, tpBodyId id) {
    TP_NEED(world, 0.0);
    int index;
    return BODY_OF(world, id, &index)->carrierError;
}

bool tpBody_IsAsleep(const tpWorld* world, tpBodyId id) {
    TP_NEED(world, false);
    int index;
    return BODY_OF(world, id, &index)->isAsleep;
}

void* tpBody_GetUserData(const tpWorld* world, tpBodyId id) {
    TP_NEED(world, NULL);
    int index;
    return BODY_OF(world, id, &index)->userData;
}

// Changes ----------------------------------------------------------------------------------------

void tpBody_SetPose(tpWorld* world, tpBodyId id, tpPose pose) {
    TP_NEED(world, );
    int index;
    const tpBody* body = BODY_OF(world, id, &index);
    if (index >= 0 && tpRequirePose(&pose, "pose", __func__)) {
        tpVec3 center = tpTransformPoint(pose, body->center);
        world->system.poses.data[index] = tpMakePose(center, pose.rotation);
        tpSystem_Disturb(&world->system, index);
    }
}

void tpBody_SetVelocity(tpWorld* world, tpBodyId id, tpVec3 velocity, tpVec3 angularVelocity) {
    TP_NEED(world, );
    int index;
    const tpBody* body = BODY_OF(world, id, &index);
    if (index < 0 || !TP_FINITE_VEC3(velocity) || !TP_FINITE_VEC3(angularVelocity) ||
        body->kind == tp_fixedBody) {
        return;
    }
    tpSystem_SetVelocity(&world->system, index, velocity, angularVelocity);
    tpSystem_Disturb(&world->system, index);
}

// Mass, collider and what steppers remember follow from the kind: it counts as a change of
// structure.
tpResult tpBody_SetKind(tpWorld* world, tpBodyId id, tpBodyKind kind, tpError* error) {
    TP_NEED(world, tp_badInput);
    tpSystem* system = &world->system;
    int index = TP_BODY(world, id);
    if (index < 0 || !TP_REQUIRE((unsigned)kind <= (unsigned)tp_kinematicBody, "kind",
                                 "is %d, which stands for nothing", (int)kind)) {
        return tpError_Set(error, tp_badInput,
                           index < 0 ? "the body does not exist"
                                     : "there is no such kind of bodies");
    }
    tpBody* body = &system->bodies.data[index];
    if (body->kind == kind) {
        return tp_success;
    }
    if (body->keyframeCount > 0) {
        return tpError_Set(error, tp_badInput, "a body with keyframes stays kinematic");
    }
    if (kind == tp_kinematicBody && body->target == NULL) {
        body->target = tpAllocateZeroed(&system->allocator, sizeof(tpPose));
        if (body->target == NULL) {
            return tpError_OutOfMemory(error);
        }
    }
    tpBodyKind before = body->kind;
    body->kind = kind;
    tpResult result = tpWorld_UpdateMass(world, index, error);
    if (result != tp_success) {
        body->kind = before;
        return result;
    }
    if (kind == tp_fixedBody) {
        tpSystem_SetVelocity(system, index, tpZeroVec3(), tpZeroVec3());
    }
    body->hasTarget = false;
    system->mayMoveAsTold = system->mayMoveAsTold || kind == tp_kinematicBody;
    tpWorld_ChangeStructure(world);
    return tp_success;
}

tpResult tpBody_SetMass(tpWorld* world, tpBodyId id, const tpMassProperties* mass, tpError* error) {
    TP_NEED(world, tp_badInput);
    tpSystem* system = &world->system;
    int index = TP_BODY(world, id);
    if (index < 0) {
        return tpError_Set(error, tp_badInput, "the body does not exist");
    }
    if (mass != NULL && tpCheckMass(mass, error) != tp_success) {
        return tp_badInput;
    }
    tpBody* body = &system->bodies.data[index];
    bool wasGiven = body->hasGivenMass;
    // Held, so that it can come back without asking for memory.
    const tpBodyForm* before = tpSharedPool_Take(&system->bodyForms, body->form);
    // The velocity is that of the body's frame: the centre of mass may move in it.
    tpVec3 old = system->poses.data[index].position;
    body->hasGivenMass = mass != NULL;
    tpResult result = mass == NULL || tpSystem_SetMass(system, index, mass)
                          ? tpWorld_UpdateMass(world, index, error)
                          : tpError_OutOfMemory(error);
    if (result != tp_success) {
        body->hasGivenMass = wasGiven;
        tpSystem_GiveBackBodyForm(system, before);
        return result;
    }
    tpVelocity* velocity = &system->velocities.data[index];
    tpVec3 shift = tpSub(system->poses.data[index].position, old);
    tpVec3 linear = tpAdd(velocity->linear, tpCross(velocity->angular, shift));
    if (!tpIsFiniteVec3(linear) || !tpIsFiniteVec3(system->poses.data[index].position)) {
        body->hasGivenMass = wasGiven;
        tpSystem_GiveBackBodyForm(system, body->form);
        body->form = before;
        tpSystem_UpdateMass(system, index);
        system->poses.data[index].position = old;
        return tpError_Set(error, tp_badInput,
                           "the place or the velocity of the centre of mass is not finite");
    }
    tpSystem_GiveBackBodyForm(system, before);
    tpSystem_SetVelocity(system, index, linear, velocity->angular);
    tpSystem_Disturb(system, index);
    return tp_success;
}

void tpBody_SetDamping(tpWorld* world, tpBodyId id, double linear, double angular) {
    TP_NEED(world, );
    int index = TP_BODY(world, id);
    if (index < 0 ||
        !TP_REQUIRE(linear >= 0.0 && isfinite(linear), "linear", "must be zero or positive") ||
        !TP_REQUIRE(angular >= 0.0 && isfinite(angular), "angular", "must be zero or positive")) {
        return;
    }
    world->system.bodies.data[index].linearDamping = linear;
    world->system.bodies.data[index].angularDamping = angular;
    world->system.mayDamp = world->system.mayDamp || linear > 0.0 || angular > 0.0;
    tpSystem_Disturb(&world->system, index);
}

void tpBody_SetGravityScale(tpWorld* world, tpBodyId id, double scale) {
    TP_NEED(world, );
    int index = TP_BODY(world, id);
    if (index >= 0 && TP_FINITE(scale)) {
        world->system.bodies.data[index].gravityScale = scale;
        tpSystem_Disturb(&world->system, index);
    }
}

void tpBody_SetLocked(tpWorld* world, tpBodyId id, uint32_t locked) {
    TP_NEED(world, );
    int index = TP_BODY(world, id);
    if (index < 0 || !TP_REQUIRE((locked & ~(uint32_t)tp_lockAll) == 0, "locked",
                                 "has bits that stand for no direction")) {
        return;
    }
    tpBody* body = &world->system.bodies.data[index];
    if ((body->locked != 0) != (locked != 0)) {
        tpWorld_ChangeStructure(world); // steppers hold such bodies by other means
    }
    body->locked = locked;
    const tpVelocity* velocity = &world->system.velocities.data[index];
    tpSystem_SetVelocity(&world->system, index, velocity->linear, velocity->angular);
    tpSystem_Disturb(&world->system, index);
}

tpResult tpBody_SetCollide(tpWorld* world, tpBodyId body, tpBodyId other, bool collide,
                           tpError* error) {
    TP_NEED(world, tp_badInput);
    int a = tpWorld_BodyIndex(world, body), b = tpWorld_BodyIndex(world, other);
    if (a < 0 || b < 0 || a == b) {
        return tpError_Set(error, tp_badInput, "%s",
                           a < 0   ? "body: there is no such body"
                           : b < 0 ? "other: there is no such body"
                                   : "other: a body does not collide with itself");
    }
    tpSystem* system = &world->system;
    if (collide) {
        tpSystem_Include(system, a, b);
    } else if (!tpSystem_Exclude(system, a, b)) {
        return tpError_OutOfMemory(error);
    }
    tpWorld_ChangePairs(world);
    tpSystem_Disturb(system, a);
    tpSystem_Disturb(system, b);
    return tp_success;
}

bool tpBody_GetCollide(const tpWorld* world, tpBodyId body, tpBodyId other) {
    TP_NEED(world, false);
    int a = TP_BODY(world, body), b = TP_BODY(world, other);
    return a >= 0 && b >= 0 && a != b && !tpExcludedPairs_Has(&world->system.excludes, a, b);
}

void tpBody_SetTarget(tpWorld* world, tpBodyId id, tpPose pose) {
    TP_NEED(world, );
    int index;
    const tpBody* body = BODY_OF(world, id, &index);
    if (index < 0 || !tpRequirePose(&pose, "pose", __func__) ||
        !TP_REQUIRE(body->kind == tp_kinematicBody, "body", "is not kinematic")) {
        return;
    }
    tpBody* told = &world->system.bodies.data[index];
    *told->target = tpMakePose(tpTransformPoint(pose, body->center), pose.rotation);
    told->hasTarget = true;
    tpSystem_Disturb(&world->system, index);
}

void tpBody_SetAwake(tpWorld* world, tpBodyId id, bool isAwake) {
    TP_NEED(world, );
    int index = TP_BODY(world, id);
    if (index < 0 || world->system.bodies.data[index].isAsleep == !isAwake) {
        return;
    }
    if (isAwake) {
        tpSystem_Disturb(&world->system, index);
        return;
    }
    tpSystem_SetVelocity(&world->system, index, tpZeroVec3(), tpZeroVec3());
    world->system.bodies.data[index].isTired = true;
    world->system.hasDisturbed = true;
}

void tpBody_SetUserData(tpWorld* world, tpBodyId id, void* userData) {
    TP_NEED(world, );
    int index = TP_BODY(world, id);
    if (index >= 0) {
        world->system.bodies.data[index].userData = userData;
    }
}

// Forces for one step ----------------------------------------------------------------------------

static bool isFrame(tpFrame frame, const char* function) {
    if (frame != tp_worldFrame && frame != tp_bodyFrame) {
        tpMisused(function, "frame", "is %d, which stands for nothing", (int)frame);
        return false;
    }
    return true;
}

// The load to add to, or NULL if an argument is wrong.
static tpLoad* loadOf(tpWorld* world, tpBodyId id, tpVec3 amount, const char* argument,
                      tpFrame frame, int* index, const char* function) {
    *index = tpRequireBody(world, id, function);
    if (*index < 0 || !tpRequireFiniteVec3(amount, argument, function) ||
        !isFrame(frame, function)) {
        return NULL;
    }
    if (!tpSystem_StartLoads(&world->system)) {
        tpMisused(function, argument, "cannot be kept: out of memory");
        return NULL;
    }
    tpSystem_Disturb(&world->system, *index);
    return &world->system.loads.data[*index];
}

// From the centre of mass to a point, both in the frame's axes.
static tpVec3 armTo(const tpWorld* world, int index, tpVec3 point, tpFrame frame) {
    return tpSub(point, frame == tp_bodyFrame ? world->system.bodies.data[index].center
                                              : world->system.poses.data[index].position);
}

void tpBody_ApplyForce(tpWorld* world, tpBodyId id, tpVec3 force, tpFrame frame) {
    TP_NEED(world, );
    int index;
    tpLoad* load = loadOf(world, id, force, "force", frame, &index, __func__);
    if (load != NULL) {
        tpLoad_AddForce(load, frame, world->system.poses.data[index].rotation, force, tpZeroVec3());
    }
}

void tpBody_ApplyForceAt(tpWorld* world, tpBodyId id, tpVec3 force, tpVec3 point, tpFrame frame) {
    TP_NEED(world, );
    int index;
    tpLoad* load =
        TP_FINITE_VEC3(point) ? loadOf(world, id, force, "force", frame, &index, __func__) : NULL;
    if (load != NULL) {
        tpVec3 arm = armTo(world, index, point, frame);
        tpLoad_AddForce(load, frame, world->system.poses.data[index].rotation, force, arm);
    }
}

void tpBody_ApplyTorque(tpWorld* world, tpBodyId id, tpVec3 torque, tpFrame frame) {
    TP_NEED(world, );
    int index;
    tpLoad* load = loadOf(world, id, torque, "torque", frame, &index, __func__);
    if (load != NULL) {
        tpLoad_AddTorque(load, frame, torque);
    }
}

// Impulses and moments in the frame's axes.
static void push(tpWorld* world, int index, tpVec3 impulse, tpVec3 moment, tpFrame frame,
                 const char* function) {
    tpQuat rotation = world->system.poses.data[index].rotation;
    if (frame == tp_bodyFrame) {
        impulse = tpRotate(rotation, impulse);
        moment = tpRotate(rotation, moment);
    }
    tpVelocity* velocity = &world->system.velocities.data[index];
    tpVelocity before = *velocity;
    tpSystem_ApplyImpulse(&world->system, index, impulse, moment);
    // A light body and a large impulse: more than numbers can hold.
    if (!tpIsFiniteVec3(velocity->linear) || !tpIsFiniteVec3(velocity->angular)) {
        *velocity = before;
        tpMisused(function, "impulse", "makes a velocity that is not finite");
        return;
    }
    tpSystem_Disturb(&world->system, index);
}

void tpBody_ApplyImpulse(tpWorld* world, tpBodyId id, tpVec3 impulse, tpFrame frame) {
    TP_NEED(world, );
    int index = TP_BODY(world, id);
    if (index >= 0 && TP_FINITE_VEC3(impulse) && isFrame(frame, __func__)) {
        push(world, index, impulse, tpZeroVec3(), frame, __func__);
    }
}

void tpBody_ApplyImpulseAt(tpWorld* world, tpBodyId id, tpVec3 impulse, tpVec3 point,
                           tpFrame frame) {
    TP_NEED(world, );
    int index = TP_BODY(world, id);
    if (index >= 0 && TP_FINITE_VEC3(impulse) && TP_FINITE_VEC3(point) &&
        isFrame(frame, __func__)) {
        push(world, index, impulse, tpCross(armTo(world, index, point, frame), impulse), frame,
             __func__);
    }
}

void tpBody_ApplyAngularImpulse(tpWorld* world, tpBodyId id, tpVec3 impulse, tpFrame frame) {
    TP_NEED(world, );
    int index = TP_BODY(world, id);
    if (index >= 0 && TP_FINITE_VEC3(impulse) && isFrame(frame, __func__)) {
        push(world, index, tpZeroVec3(), impulse, frame, __func__);
    }
}
