// Bodies: creation, destruction and the order in which they are counted. body_state.c has the rest.

#include "base/assert.h"
#include "world/world.h"

#include <string.h>

#include "base/error.h"
#include "dynamics/collider_shapes.h"
#include "dynamics/locks.h"
#include "world/require.h"

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
    def.gravityScale = 1.0;
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
    if (def->keyframeCount < 0 || (def->keyframeCount > 0 && def->keyframes == NULL)) {
        return tpError_Set(error, tp_badInput, "keyframeCount is %d, which the keyframes are not",
                           def->keyframeCount);
    }
    if (def->keyframeCount > 0 && def->kind != tp_kinematicBody) {
        return tpError_Set(error, tp_badInput, "keyframes are for kinematic bodies");
    }
    for (int i = 0; i < def->keyframeCount; ++i) {
        const tpKeyframe* keyframe = &def->keyframes[i];
        if (!isfinite(keyframe->time) || !tpIsFiniteVec3(keyframe->pose.position) ||
            !tpIsUnitQuat(keyframe->pose.rotation)) {
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
    if ((unsigned)def->kind > (unsigned)tp_kinematicBody) {
        return tpError_Set(error, tp_badInput, "there is no kind %d of bodies", (int)def->kind);
    }
    if (!tpIsFiniteVec3(def->position) || !tpIsFiniteVec3(def->velocity) ||
        !tpIsFiniteVec3(def->angularVelocity)) {
        return tpError_Set(error, tp_badInput, "position and velocities must be finite");
    }
    if (!tpIsUnitQuat(def->rotation)) {
        return tpError_Set(error, tp_badInput, "rotation must be a unit quaternion");
    }
    if (!isfinite(def->gravityScale)) {
        return tpError_Set(error, tp_badInput, "gravityScale must be finite");
    }
    if ((def->locked & ~(uint32_t)tp_lockAll) != 0) {
        return tpError_Set(error, tp_badInput, "locked has bits that stand for no direction");
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

// Copies the keyframes, with unit quaternions. NULL if there are none or memory ran out.
static tpKeyframe* copyKeyframes(const tpAllocator* allocator, const tpBodyDef* def) {
    size_t size = sizeof(tpKeyframe) * (size_t)def->keyframeCount;
    tpKeyframe* copy = def->keyframeCount > 0 ? tpAllocate(allocator, size) : NULL;
    for (int i = 0; copy != NULL && i < def->keyframeCount; ++i) {
        copy[i] = def->keyframes[i];
        copy[i].pose.rotation = tpNormalizeQuat(copy[i].pose.rotation);
    }
    return copy;
}

// What a body has memory of its own for.
typedef struct OwnParts {
    tpKeyframe* keyframes;
    char* name;
    tpPose* target;
    const tpBodyForm* form;
} OwnParts;

static void releaseParts(tpSystem* system, const OwnParts* parts, int keyframeCount) {
    const tpAllocator* allocator = &system->allocator;
    tpSystem_GiveBackBodyForm(system, parts->form);
    tpRelease(allocator, parts->target, sizeof(tpPose));
    tpRelease(allocator, parts->keyframes, sizeof(tpKeyframe) * (size_t)keyframeCount);
    tpRelease(allocator, parts->name, tp_nameCapacity);
}

// False if memory ran out.
static bool copyParts(tpSystem* system, const tpBodyDef* def, OwnParts* parts) {
    const tpAllocator* allocator = &system->allocator;
    bool isNamed = def->name != NULL && def->name[0] != '\0';
    bool isKinematic = def->kind == tp_kinematicBody;
    static const tpMassProperties none = { 0 };
    parts->form = tpSystem_TakeBodyForm(system, def->hasMass ? &def->mass : &none);
    parts->target = isKinematic ? tpAllocateZeroed(allocator, sizeof(tpPose)) : NULL;
    parts->keyframes = copyKeyframes(allocator, def);
    parts->name = isNamed ? tpAllocate(allocator, tp_nameCapacity) : NULL;
    if ((def->keyframeCount > 0 && parts->keyframes == NULL) || (isNamed && parts->name == NULL) ||
        (isKinematic && parts->target == NULL) || parts->form == NULL) {
        releaseParts(system, parts, def->keyframeCount);
        return false;
    }
    if (isNamed) {
        tpCopyName(parts->name, def->name);
    }
    return true;
}

static void fillBody(tpSystem* system, int index, const tpBodyDef* def, const OwnParts* parts) {
    tpBody* body = &system->bodies.data[index];
    memset(body, 0, sizeof(*body));
    body->isLive = true;
    body->kind = def->kind;
    body->hasGivenMass = def->hasMass;
    body->form = parts->form;
    body->target = parts->target;
    body->linearDamping = def->linearDamping;
    body->angularDamping = def->angularDamping;
    system->mayDamp = system->mayDamp || def->linearDamping > 0.0 || def->angularDamping > 0.0;
    system->mayMoveAsTold = system->mayMoveAsTold || def->kind == tp_kinematicBody;
    body->gravityScale = def->gravityScale;
    body->locked = def->locked;
    body->keyframes = parts->keyframes;
    body->keyframeCount = parts->keyframes != NULL ? def->keyframeCount : 0;
    body->firstShape = -1;
    body->userData = def->userData;
    body->name = parts->name;

    tpPose frame = tpMakePose(def->position, tpNormalizeQuat(def->rotation));
    if (parts->keyframes != NULL) {
        frame = parts->keyframes[0].pose;
    }
    system->poses.data[index] = frame;
    tpVelocity* velocity = &system->velocities.data[index];
    memset(velocity, 0, sizeof(*velocity));
    if (def->kind != tp_fixedBody) {
        tpSystem_SetVelocity(system, index, def->velocity, def->angularVelocity);
    }
    tpSystem_UpdateMass(system, index);
}

void tpWorld_ListBodies(const tpWorld* constant) {
    tpWorld* world = (tpWorld*)constant; // the lists are a cache
    const tpSystem* system = &world->system;
    if (world->listStructure == world->system.structure) {
        return;
    }
    int count = 0;
    world->moving.count = 0;
    for (int i = 0; i < world->births.count; ++i) {
        tpBirth birth = world->births.data[i];
        const tpBody* body = &system->bodies.data[birth.slot];
        if (body->isLive && body->birth == birth.number) {
            world->births.data[count++] = birth;
            if (body->kind != tp_fixedBody) {
                world->moving.data[world->moving.count++] = birth.slot;
            }
        }
    }
    world->births.count = count;
    world->listStructure = world->system.structure;
}

// A place in the lists for one more body. False if memory ran out.
static bool reserveBirth(tpWorld* world) {
    const tpAllocator* allocator = &world->system.allocator;
    if (world->births.count > 2 * world->bodyIds.liveCount + 64) {
        tpWorld_ListBodies(world);
    }
    return TP_RESERVE(allocator, world->births, world->births.count + 1) &&
           TP_RESERVE(allocator, world->moving, world->births.count + 1);
}

// Memory of a crowd's steps is asked for as its bodies come: the first step would take half as
// long again if the system had to give it memory then. The block for 640 bodies has room for 1,280
// (tpArena_Prepare); with one for 512, 1,000 balls need another block in their first step.
static void prepareScratch(tpWorld* world) {
    enum { fewest = 640 };
    size_t count = (size_t)world->system.bodyCount, atOnce = count < 8192 ? 128 : 1024;
    if (count >= fewest && count % atOnce == 0 && world->stepper->bodyScratch > 0) {
        tpArena_Prepare(&world->system.arena, count * (size_t)world->stepper->bodyScratch);
        int begin = count == fewest ? 0 : (int)(count - atOnce);
        if (world->stepper->prepare != NULL) {
            world->stepper->prepare(&world->system, world->stepperState, begin, (int)count);
        }
    }
}

tpBodyId tpCreateBody(tpWorld* world, const tpBodyDef* def, tpError* error) {
    TP_NEED(world, (tpBodyId){ 0 });
    tpSystem* system = &world->system;
    tpBodyId none = { 0, 0 };
    if (!TP_REQUIRE(def != NULL, "def", "is NULL")) {
        return none;
    }
    if (checkBodyDef(def, error) != tp_success) {
        return none;
    }
    OwnParts parts;
    if (!copyParts(system, def, &parts)) {
        tpError_OutOfMemory(error);
        return none;
    }
    int index = tpIdPool_Take(&world->bodyIds, &system->allocator);
    if (index < 0 || !tpSystem_ReserveBody(system, index) || !reserveBirth(world)) {
        if (index >= 0) {
            tpIdPool_GiveBack(&world->bodyIds, index);
        }
        releaseParts(system, &parts, def->keyframeCount);
        tpError_OutOfMemory(error);
        return none;
    }
    if (index >= system->bodyCount) {
        system->bodyCount = index + 1;
        prepareScratch(world);
    }
    fillBody(system, index, def, &parts);
    if (system->hasLoads && index < system->loads.count) {
        // Of a body that was there before.
        memset(&system->loads.data[index], 0, sizeof(tpLoad));
    }
    tpBirth birth = { index, ++world->lastBirth };
    system->bodies.data[index].birth = birth.number;
    world->births.data[world->births.count++] = birth;
    tpWorld_ChangeStructure(world);
    return tpWorld_BodyId(world, index);
}

void tpDestroyBody(tpWorld* world, tpBodyId id) {
    TP_NEED(world, );
    int index = TP_BODY(world, id);
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
    tpWorld_RemoveSensors(world, index, -1, -1);
    for (int i = 0; i < system->forces.count; ++i) {
        if (system->forces.data[i].isLive && system->forces.data[i].body == index) {
            tpWorld_RemoveForce(world, i);
        }
    }
    tpSystem_IncludeAll(system, index);
    tpRelease(&system->allocator, body->keyframes,
              sizeof(tpKeyframe) * (size_t)body->keyframeCount);
    tpRelease(&system->allocator, body->name, tp_nameCapacity);
    tpRelease(&system->allocator, body->target, sizeof(tpPose));
    tpSystem_GiveBackBodyForm(system, body->form);
    // A dead slot is a fixed thing without shapes at the origin.
    memset(body, 0, sizeof(*body));
    body->form = &tp_noBodyForm;
    body->kind = tp_fixedBody;
    body->firstShape = -1;
    memset(&system->velocities.data[index], 0, sizeof(tpVelocity));
    system->poses.data[index] = tpIdentityPose();
    tpSystem_ForgetContacts(system);
    tpWorld_ChangeStructure(world);
    tpAppearance_ForgetBody(&world->appearance, index);
    tpIdPool_GiveBack(&world->bodyIds, index);
}

bool tpBody_IsValid(const tpWorld* world, tpBodyId id) {
    TP_NEED(world, false);
    return tpWorld_BodyIndex(world, id) >= 0;
}

int tpWorld_GetBodyCount(const tpWorld* world) {
    TP_NEED(world, 0);
    return world->bodyIds.liveCount;
}

tpBodyId tpWorld_GetBody(const tpWorld* world, int number) {
    TP_NEED(world, (tpBodyId){ 0 });
    tpWorld_ListBodies(world);
    bool isThere = TP_INDEX(number, world->births.count);
    return tpWorld_BodyId(world, isThere ? world->births.data[number].slot : -1);
}

tpBodyId tpWorld_FindBody(const tpWorld* world, const char* name) {
    TP_NEED(world, (tpBodyId){ 0 });
    const tpSystem* system = &world->system;
    bool isGiven = TP_REQUIRE(name != NULL, "name", "is NULL");
    for (int i = 0; isGiven && i < system->bodyCount; ++i) {
        if (system->bodies.data[i].isLive &&
            strcmp(tpBody_Name(&system->bodies.data[i]), name) == 0) {
            return tpWorld_BodyId(world, i);
        }
    }
    tpBodyId none = { 0, 0 };
    return none;
}
