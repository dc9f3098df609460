#include "world/fingerprint.h"

#include <string.h>

uint64_t tpFingerprint_Add(uint64_t hash, const void* bytes, size_t size) {
    const unsigned char* place = bytes;
    for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ place[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

static uint64_t hashInt(uint64_t hash, int64_t number) {
    return tpFingerprint_Add(hash, &number, sizeof(number));
}

static uint64_t hashDouble(uint64_t hash, double number) {
    return tpFingerprint_Add(hash, &number, sizeof(number));
}

static uint64_t hashVec3(uint64_t hash, tpVec3 v) {
    return hashDouble(hashDouble(hashDouble(hash, v.x), v.y), v.z);
}

static uint64_t hashQuat(uint64_t hash, tpQuat q) {
    return hashDouble(hashVec3(hash, tpMakeVec3(q.x, q.y, q.z)), q.w);
}

static uint64_t hashPose(uint64_t hash, tpPose pose) {
    return hashQuat(hashVec3(hash, pose.position), pose.rotation);
}

static uint64_t hashName(uint64_t hash, const char* name) {
    return tpFingerprint_Add(hash, name, strlen(name) + 1);
}

static uint64_t hashBody(uint64_t hash, const tpBody* body) {
    hash = hashInt(hash, body->isLive);
    if (!body->isLive) {
        return hash;
    }
    hash = hashName(hashInt(hash, body->kind), tpBody_Name(body));
    hash = hashInt(hash, body->keyframeCount);
    for (int i = 0; i < body->keyframeCount; ++i) {
        hash = hashPose(hashDouble(hash, body->keyframes[i].time), body->keyframes[i].pose);
    }
    return hash;
}

static uint64_t hashShape(uint64_t hash, const tpShape* shape) {
    hash = hashInt(hash, shape->isLive);
    if (!shape->isLive) {
        return hash;
    }
    tpBounds bounds = tpGeometry_Bounds(&shape->form->geometry, tpIdentityPose());
    hash = hashInt(hashInt(hash, shape->body), shape->form->geometry.type);
    hash = hashPose(hash, shape->form->geometry.pose);
    return hashVec3(hashVec3(hash, bounds.lower), bounds.upper);
}

// Anchors are relative to the centre of mass, which can be set: not they, but what does not change.
static uint64_t hashJoint(uint64_t hash, const tpJoint* joint) {
    hash = hashInt(hash, joint->isLive);
    if (!joint->isLive) {
        return hash;
    }
    hash = hashInt(hashInt(hashInt(hash, joint->type), joint->bodyA), joint->bodyB);
    hash = hashName(hash, joint->name);
    hash = hashVec3(hashVec3(hash, joint->frameA.cx), joint->frameB.cx);
    hash = hashQuat(hash, joint->relativeRotation);
    hash = hashDouble(hashDouble(hash, joint->def.ratio), joint->def.pitch);
    hash = hashInt(hashInt(hash, joint->def.collide), joint->coordinateCount);
    for (int i = 0; i < joint->coordinateCount; ++i) {
        const tpCoordinate* coordinate = &joint->coordinates[i];
        hash = hashVec3(hashInt(hash, coordinate->kind), coordinate->axis);
        hash = hashName(hash, coordinate->name);
    }
    return hash;
}

static uint64_t hashCoupling(uint64_t hash, const tpCoupling* coupling) {
    hash = hashInt(hashInt(hash, coupling->isLive), coupling->partCount);
    for (int i = 0; i < coupling->partCount; ++i) {
        const tpCouplingPart* part = &coupling->parts[i];
        hash = hashDouble(hashInt(hashInt(hash, part->joint), part->coordinate), part->factor);
    }
    return hashName(hash, coupling->name);
}

uint64_t tpWorld_Fingerprint(const tpWorld* world) {
    const tpSystem* system = &world->system;
    uint64_t hash = hashInt(TP_HASH_START, system->isPlanar);
    hash = hashInt(hash, system->bodyCount);
    for (int i = 0; i < system->bodyCount; ++i) {
        hash = hashBody(hash, &system->bodies.data[i]);
    }
    hash = hashInt(hash, system->shapes.count);
    for (int i = 0; i < system->shapes.count; ++i) {
        hash = hashShape(hash, &system->shapes.data[i]);
    }
    hash = hashInt(hash, system->joints.count);
    for (int i = 0; i < system->joints.count; ++i) {
        hash = hashJoint(hash, &system->joints.data[i]);
    }
    hash = hashInt(hash, system->couplings.count);
    for (int i = 0; i < system->couplings.count; ++i) {
        hash = hashCoupling(hash, &system->couplings.data[i]);
    }
    hash = hashInt(hash, world->sensors.count);
    for (int i = 0; i < world->sensors.count; ++i) {
        const tpSensor* sensor = &world->sensors.data[i];
        hash = hashInt(hashInt(hashInt(hash, sensor->isLive), sensor->type), sensor->body);
        hash = hashInt(hashInt(hash, sensor->shape), sensor->joint);
        hash = hashPose(hashName(hash, sensor->name), sensor->pose);
    }
    hash = hashInt(hash, system->forces.count);
    for (int i = 0; i < system->forces.count; ++i) {
        hash = hashInt(hash, system->forces.data[i].isLive);
        hash = hashInt(hash, system->forces.data[i].body);
    }
    return hashInt(hash, system->materials.count);
}
