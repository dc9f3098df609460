// Bodies: creation, destruction and questions.

#include "world/world.h"

#include <string.h>

#include "base/error.h"

void tpCopyName(char destination[tp_nameCapacity], const char* name) {
    size_t length = name != NULL ? strnlen(name, tp_nameCapacity - 1) : 0;
    if (length > 0) {
        memcpy(destination, name, length);
    }
    destination[length] = '\0';
}

tpBodyDef tpDefaultBodyDef(void) {
    tpBodyDef def;
    memset(&def, 0, sizeof(def));
    def.kind = tp_dynamicBody;
    def.rotation = tpIdentityQuat();
    return def;
}

tpBodyId tpWorld_BodyId(const tpWorld* world, int index) {
    tpBodyId id = { 0, 0 };
    if (tpIdPool_IsLive(&world->bodyIds, index)) {
        id.slot = (uint32_t)index + 1;
        id.generation = world->bodyIds.generations.data[index];
    }
    return id;
}

static tpResult checkKeyframes(const tpBodyDef* def, tpError* error) {
    if (def->keyframeCount > 0 && def->kind != tp_kinematicBody) {
        return tpError_Set(error, tp_badInput, "keyframes are for kinematic bodies");
    }
    for (int i = 0; i < def->keyframeCount; ++i) {
        const tpKeyframe* keyframe = &def->keyframes[i];
        double turn = tpDotQQ(keyframe->pose.rotation, keyframe->pose.rotation);
        if (!isfinite(keyframe->time) || !tpIsFiniteVec3(keyframe->pose.position) ||
            !(fabs(turn - 1.0) < 1e-6)) {
            return tpError_Set(error, tp_badInput, "keyframe %d is not a time and a pose", i);
        }
        if (i > 0 && !(keyframe->time > def->keyframes[i - 1].time)) {
            return tpError_Set(error, tp_badInput, "keyframe %d does not come after keyframe %d", i,
                               i - 1);
        }
    }
    return tp_success;
}

static tpResult checkBodyDef(const tpBodyDef* def, tpError* error) {
    double turn = tpDotQQ(def->rotation, def->rotation);
    if (!tpIsFiniteVec3(def->position) || !tpIsFiniteVec3(def->velocity) ||
        !tpIsFiniteVec3(def->angularVelocity)) {
        return tpError_Set(error, tp_badInput, "position and velocities must be finite");
    }
    if (!(fabs(turn - 1.0) < 1e-6)) {
        return tpError_Set(error, tp_badInput, "rotation must be a unit quaternion");
    }
    if (!(def->linearDamping >= 0.0) || !(def->angularDamping >= 0.0) ||
        !isfinite(def->linearDamping) || !isfinite(def->angularDamping)) {
        return tpError_Set(error, tp_badInput, "damping must be zero or positive");
    }
    if (def->hasMass) {
        tpResult result = tpCheckMass(&def->mass, error);
        if (result != tp_success) {
            return result;
        }
    }
    return checkKeyframes(def, error);
}

// Copies the keyframes, with unit quaternions. NULL where there are none or memory ran out.
static tpKeyframe* copyKeyframes(const tpAllocator* allocator, const tpBodyDef* def) {
    size_t size = sizeof(tpKeyframe) * (size_t)def->keyframeCount;
    tpKeyframe* copy = def->keyframeCount > 0 ? tpAllocate(allocator, size) : NULL;
    for (int i = 0; copy != NULL && i < def->keyframeCount; ++i) {
        copy[i] = def->keyframes[i];
        copy[i].pose.rotation = tpNormalizeQuat(copy[i].pose.rotation);
    }
    return copy;
}

static void fillBody(tpSystem* system, int index, const tpBodyDef* def, tpKeyframe* keyframes) {
    tpBody* body = &system->bodies.data[index];
    memset(body, 0, sizeof(*body));
    body->isLive = true;
    body->kind = def->kind;
    body->hasGivenMass = def->hasMass;
    body->given = def->mass;
    if (!def->hasMass) {
        memset(&body->given, 0, sizeof(body->given));
    }
    body->linearDamping = def->linearDamping;
    body->angularDamping = def->angularDamping;
    system->mayDamp = system->mayDamp || def->linearDamping > 0.0 || def->angularDamping > 0.0;
    system->mayMoveAsTold = system->mayMoveAsTold || def->kind == tp_kinematicBody;
    body->keyframes = keyframes;
    body->keyframeCount = keyframes != NULL ? def->keyframeCount : 0;
    body->firstShape = -1;
    body->userData = def->userData;
    tpCopyName(body->name, def->name);

    tpPose frame = tpMakePose(def->position, tpNormalizeQuat(def->rotation));
    if (keyframes != NULL) {
        frame = keyframes[0].pose;
    }
    system->poses.data[index] = frame;
    tpVelocity* velocity = &system->velocities.data[index];
    memset(velocity, 0, sizeof(*velocity));
    if (def->kind != tp_fixedBody) {
        velocity->linear = def->velocity;
        velocity->angular = def->angularVelocity;
    }
    if (system->isPlanar) {
        velocity->linear.z = 0.0;
        velocity->angular.x = velocity->angular.y = 0.0;
    }
    tpSystem_UpdateMass(system, index);
}

tpBodyId tpCreateBody(tpWorld* world, const tpBodyDef* def, tpError* error) {
    tpSystem* system = &world->system;
    tpBodyId none = { 0, 0 };
    if (checkBodyDef(def, error) != tp_success) {
        return none;
    }
    tpKeyframe* keyframes = copyKeyframes(&system->allocator, def);
    if (def->keyframeCount > 0 && keyframes == NULL) {
        tpError_OutOfMemory(error);
        return none;
    }
    int index = tpIdPool_Take(&world->bodyIds, &system->allocator);
    if (index < 0 || !tpSystem_ReserveBody(system, index)) {
        if (index >= 0) {
            tpIdPool_GiveBack(&world->bodyIds, index);
        }
        tpRelease(&system->allocator, keyframes, sizeof(tpKeyframe) * (size_t)def->keyframeCount);
        tpError_OutOfMemory(error);
        return none;
    }
    if (index >= system->bodyCount) {
        system->bodyCount = index + 1;
    }
    fillBody(system, index, def, keyframes);
    system->layout += 1;
    return tpWorld_BodyId(world, index);
}

void tpDestroyBody(tpWorld* world, tpBodyId id) {
    int index = tpWorld_BodyIndex(world, id);
    TP_ASSERT(index >= 0);
    if (index < 0) {
        return;
    }
    tpSystem* system = &world->system;
    tpBody* body = &system->bodies.data[index];
    while (body->firstShape >= 0) {
        tpWorld_RemoveShape(world, body->firstShape, false);
    }
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (joint->isLive && (joint->bodyA == index || joint->bodyB == index)) {
            tpWorld_RemoveJoint(world, i);
        }
    }
    for (int i = 0; i < system->forces.count; ++i) {
        if (system->forces.data[i].isLive && system->forces.data[i].body == index) {
            tpWorld_RemoveForce(world, i);
        }
    }
    tpRelease(&system->allocator, body->keyframes,
              sizeof(tpKeyframe) * (size_t)body->keyframeCount);
    // A dead slot is a fixed thing without shapes at the origin.
    memset(body, 0, sizeof(*body));
    body->kind = tp_fixedBody;
    body->firstShape = -1;
    memset(&system->velocities.data[index], 0, sizeof(tpVelocity));
    system->poses.data[index] = tpIdentityPose();
    tpSystem_ForgetContacts(system);
    system->layout += 1;
    tpIdPool_GiveBack(&world->bodyIds, index);
}

bool tpBody_IsValid(const tpWorld* world, tpBodyId id) {
    return tpWorld_BodyIndex(world, id) >= 0;
}

int tpWorld_GetBodyCount(const tpWorld* world) {
    return world->bodyIds.liveCount;
}

tpBodyId tpWorld_GetBody(const tpWorld* world, int number) {
    const tpSystem* system = &world->system;
    if (world->bodyIds.liveCount == system->bodyCount) {
        return tpWorld_BodyId(world, number);
    }
    // There are gaps: count.
    for (int i = 0; i < system->bodyCount; ++i) {
        if (system->bodies.data[i].isLive && number-- == 0) {
            return tpWorld_BodyId(world, i);
        }
    }
    tpBodyId none = { 0, 0 };
    return none;
}

tpBodyId tpWorld_FindBody(const tpWorld* world, const char* name) {
    const tpSystem* system = &world->system;
    for (int i = 0; i < system->bodyCount; ++i) {
        if (system->bodies.data[i].isLive && strcmp(system->bodies.data[i].name, name) == 0) {
            return tpWorld_BodyId(world, i);
        }
    }
    tpBodyId none = { 0, 0 };
    return none;
}

// The body behind an id; an id that is not live is a programming mistake.
static const tpBody* bodyOf(const tpWorld* world, tpBodyId id, int* index) {
    static const tpBody nobody = { .kind = tp_fixedBody, .firstShape = -1 };
    *index = tpWorld_BodyIndex(world, id);
    TP_ASSERT(*index >= 0);
    return *index >= 0 ? &world->system.bodies.data[*index] : &nobody;
}

const char* tpBody_GetName(const tpWorld* world, tpBodyId id) {
    int index;
    return bodyOf(world, id, &index)->name;
}

tpBodyKind tpBody_GetKind(const tpWorld* world, tpBodyId id) {
    int index;
    return bodyOf(world, id, &index)->kind;
}

tpVec3 tpBody_GetPosition(const tpWorld* world, tpBodyId id) {
    int index;
    bodyOf(world, id, &index);
    return index >= 0 ? world->system.poses.data[index].position : tpZeroVec3();
}

tpPose tpBody_GetPose(const tpWorld* world, tpBodyId id) {
    int index;
    bodyOf(world, id, &index);
    return index >= 0 ? tpSystem_BodyFrame(&world->system, index) : tpIdentityPose();
}

tpQuat tpBody_GetRotation(const tpWorld* world, tpBodyId id) {
    int index;
    bodyOf(world, id, &index);
    return index >= 0 ? world->system.poses.data[index].rotation : tpIdentityQuat();
}

tpVec3 tpBody_GetVelocity(const tpWorld* world, tpBodyId id) {
    int index;
    bodyOf(world, id, &index);
    return index >= 0 ? world->system.velocities.data[index].linear : tpZeroVec3();
}

tpVec3 tpBody_GetAngularVelocity(const tpWorld* world, tpBodyId id) {
    int index;
    bodyOf(world, id, &index);
    return index >= 0 ? world->system.velocities.data[index].angular : tpZeroVec3();
}

tpMassProperties tpBody_GetMass(const tpWorld* world, tpBodyId id) {
    int index;
    return bodyOf(world, id, &index)->given;
}

void tpBody_SetPose(tpWorld* world, tpBodyId id, tpPose frame) {
    int index;
    const tpBody* body = bodyOf(world, id, &index);
    if (index >= 0) {
        frame.rotation = tpNormalizeQuat(frame.rotation);
        tpVec3 center = tpTransformPoint(frame, body->center);
        world->system.poses.data[index] = tpMakePose(center, frame.rotation);
    }
}

void tpBody_SetVelocity(tpWorld* world, tpBodyId id, tpVec3 velocity, tpVec3 angularVelocity) {
    int index;
    const tpBody* body = bodyOf(world, id, &index);
    if (index < 0 || body->kind == tp_fixedBody) {
        return;
    }
    if (world->system.isPlanar) {
        velocity.z = angularVelocity.x = angularVelocity.y = 0.0;
    }
    world->system.velocities.data[index].linear = velocity;
    world->system.velocities.data[index].angular = angularVelocity;
}

const char* tpBody_GetCarrier(const tpWorld* world, tpBodyId id) {
    int index;
    return bodyOf(world, id, &index)->carrier;
}

bool tpBody_IsAsleep(const tpWorld* world, tpBodyId id) {
    int index;
    return bodyOf(world, id, &index)->isAsleep;
}

void* tpBody_GetUserData(const tpWorld* world, tpBodyId id) {
    int index;
    return bodyOf(world, id, &index)->userData;
}
