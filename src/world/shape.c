// Shapes: creation, destruction, and the mass that follows from them.

#include <string.h>

#include "base/error.h"
#include "world/world.h"

tpShapeDef tpDefaultShapeDef(void) {
    tpShapeDef def;
    memset(&def, 0, sizeof(def));
    def.pose = tpIdentityPose();
    def.density = 1000.0;
    def.group = 1u;
    def.mask = 0xffffffffu;
    return def;
}

tpShapeId tpWorld_ShapeId(const tpWorld* world, int index) {
    tpShapeId id = { 0, 0 };
    if (tpIdPool_IsLive(&world->shapeIds, index)) {
        id.slot = (uint32_t)index + 1;
        id.generation = world->shapeIds.generations.data[index];
    }
    return id;
}

// Mass of a body from its shapes, unless it was given. Kinematic and fixed bodies need none: their
// centre stays at the origin of their frame.
static tpResult updateMassFromShapes(tpWorld* world, int index, tpError* error) {
    tpSystem* system = &world->system;
    tpBody* body = &system->bodies.data[index];
    if (body->hasGivenMass || body->kind != tp_dynamicBody) {
        tpSystem_UpdateMass(system, index);
        return tp_success;
    }
    tpMassProperties sum;
    memset(&sum, 0, sizeof(sum));
    for (int i = body->firstShape; i >= 0; i = system->shapes.data[i].next) {
        const tpShape* shape = &system->shapes.data[i];
        tpMassProperties parts[2] = { sum, sum };
        tpResult result = tpGeometry_Mass(&shape->geometry, shape->density, &parts[1], error);
        if (result != tp_success) {
            return result;
        }
        sum = sum.mass > 0.0 ? tpCombineMass(parts, 2) : parts[1];
    }
    body->given = sum;
    tpSystem_UpdateMass(system, index);
    return tp_success;
}

static void appendShape(tpSystem* system, int bodyIndex, int shapeIndex) {
    int* link = &system->bodies.data[bodyIndex].firstShape;
    while (*link >= 0) {
        link = &system->shapes.data[*link].next;
    }
    *link = shapeIndex;
}

static void unlinkShape(tpSystem* system, int shapeIndex) {
    int* link = &system->bodies.data[system->shapes.data[shapeIndex].body].firstShape;
    while (*link != shapeIndex) {
        link = &system->shapes.data[*link].next;
    }
    *link = system->shapes.data[shapeIndex].next;
}

static tpResult checkShapeDef(const tpWorld* world, const tpShapeDef* def, tpError* error) {
    if (def->material < 0 || def->material >= world->system.materials.count) {
        return tpError_Set(error, tp_badInput, "there is no material %d", (int)def->material);
    }
    if (!(def->density >= 0.0) || !isfinite(def->density)) {
        return tpError_Set(error, tp_badInput, "density must be zero or positive");
    }
    double turn = tpDotQQ(def->pose.rotation, def->pose.rotation);
    if (!tpIsFiniteVec3(def->pose.position) || !(fabs(turn - 1.0) < 1e-6)) {
        return tpError_Set(error, tp_badInput, "the pose of a shape must be finite");
    }
    return tp_success;
}

tpShapeId tpCreateShape(tpWorld* world, tpBodyId bodyId, const tpShapeDef* def,
                        const tpGeometry* geometry, tpError* error) {
    tpSystem* system = &world->system;
    tpShapeId none = { 0, 0 };
    int bodyIndex = tpWorld_BodyIndex(world, bodyId);
    if (bodyIndex < 0) {
        tpError_Set(error, tp_badInput, "the body of the shape does not exist");
        return none;
    }
    if (checkShapeDef(world, def, error) != tp_success) {
        return none;
    }
    if (geometry->type == tp_planeShape && system->bodies.data[bodyIndex].kind == tp_dynamicBody &&
        !system->bodies.data[bodyIndex].hasGivenMass) {
        tpError_Set(error, tp_badInput, "a plane has no mass of its own: give the body's mass");
        return none;
    }
    int index = tpIdPool_Take(&world->shapeIds, &system->allocator);
    if (index < 0 || !TP_RESERVE(&system->allocator, system->shapes, index + 1)) {
        if (index >= 0) {
            tpIdPool_GiveBack(&world->shapeIds, index);
        }
        tpError_OutOfMemory(error);
        return none;
    }
    if (index >= system->shapes.count) {
        system->shapes.count = index + 1;
    }
    tpShape* shape = &system->shapes.data[index];
    memset(shape, 0, sizeof(*shape));
    shape->isLive = true;
    shape->body = bodyIndex;
    shape->next = -1;
    shape->geometry = tpRetainGeometry(geometry);
    tpPose own = tpMakePose(def->pose.position, tpNormalizeQuat(def->pose.rotation));
    shape->geometry.pose = tpComposePoses(own, shape->geometry.pose);
    shape->material = def->material;
    shape->density = def->density;
    shape->group = def->group;
    shape->mask = def->mask;
    shape->userData = def->userData;
    appendShape(system, bodyIndex, index);
    if (updateMassFromShapes(world, bodyIndex, error) != tp_success) {
        tpWorld_RemoveShape(world, index, false);
        return none;
    }
    system->layout += 1;
    return tpWorld_ShapeId(world, index);
}

void tpWorld_RemoveShape(tpWorld* world, int index, bool updateMass) {
    tpSystem* system = &world->system;
    int bodyIndex = system->shapes.data[index].body;
    unlinkShape(system, index);
    tpReleaseGeometry(&system->shapes.data[index].geometry);
    memset(&system->shapes.data[index], 0, sizeof(tpShape));
    system->shapes.data[index].next = -1;
    tpIdPool_GiveBack(&world->shapeIds, index);
    if (updateMass) {
        updateMassFromShapes(world, bodyIndex, NULL);
    }
    tpSystem_ForgetContacts(system);
    system->layout += 1;
}

void tpDestroyShape(tpWorld* world, tpShapeId id) {
    int index = tpWorld_ShapeIndex(world, id);
    TP_ASSERT(index >= 0);
    if (index >= 0) {
        tpWorld_RemoveShape(world, index, true);
    }
}

bool tpShape_IsValid(const tpWorld* world, tpShapeId id) {
    return tpWorld_ShapeIndex(world, id) >= 0;
}

int tpBody_GetShapeCount(const tpWorld* world, tpBodyId id) {
    int count = 0;
    int body = tpWorld_BodyIndex(world, id);
    int shape = body >= 0 ? world->system.bodies.data[body].firstShape : -1;
    for (; shape >= 0; shape = world->system.shapes.data[shape].next) {
        count += 1;
    }
    return count;
}

tpShapeId tpBody_GetShape(const tpWorld* world, tpBodyId id, int number) {
    int body = tpWorld_BodyIndex(world, id);
    int shape = body >= 0 ? world->system.bodies.data[body].firstShape : -1;
    while (shape >= 0 && number-- > 0) {
        shape = world->system.shapes.data[shape].next;
    }
    return tpWorld_ShapeId(world, shape);
}

static const tpShape* shapeOf(const tpWorld* world, tpShapeId id) {
    int index = tpWorld_ShapeIndex(world, id);
    TP_ASSERT(index >= 0);
    return index >= 0 ? &world->system.shapes.data[index] : NULL;
}

const tpGeometry* tpShape_GetGeometry(const tpWorld* world, tpShapeId id) {
    const tpShape* shape = shapeOf(world, id);
    return shape != NULL ? &shape->geometry : NULL;
}

tpBodyId tpShape_GetBody(const tpWorld* world, tpShapeId id) {
    const tpShape* shape = shapeOf(world, id);
    return tpWorld_BodyId(world, shape != NULL ? shape->body : -1);
}

tpMaterialId tpShape_GetMaterial(const tpWorld* world, tpShapeId id) {
    const tpShape* shape = shapeOf(world, id);
    return shape != NULL ? shape->material : 0;
}

// Short ways to the shapes that need no further data. The geometry is not shared, so there is nothing
// to release.

tpShapeId tpCreateSphere(tpWorld* world, tpBodyId body, const tpShapeDef* def,
                         const tpSphere* sphere) {
    tpGeometry geometry;
    tpResult result = tpMakeSphere(sphere, tpIdentityPose(), &geometry, NULL);
    return result == tp_success ? tpCreateShape(world, body, def, &geometry, NULL)
                                : tpWorld_ShapeId(world, -1);
}

tpShapeId tpCreateBox(tpWorld* world, tpBodyId body, const tpShapeDef* def, const tpBox* box) {
    tpGeometry geometry;
    tpResult result = tpMakeBox(box, tpIdentityPose(), &geometry, NULL);
    return result == tp_success ? tpCreateShape(world, body, def, &geometry, NULL)
                                : tpWorld_ShapeId(world, -1);
}

tpShapeId tpCreateCapsule(tpWorld* world, tpBodyId body, const tpShapeDef* def,
                          const tpCapsule* capsule) {
    tpGeometry geometry;
    tpResult result = tpMakeCapsule(capsule, tpIdentityPose(), &geometry, NULL);
    return result == tp_success ? tpCreateShape(world, body, def, &geometry, NULL)
                                : tpWorld_ShapeId(world, -1);
}

tpShapeId tpCreateCylinder(tpWorld* world, tpBodyId body, const tpShapeDef* def,
                           const tpCylinder* cylinder) {
    tpGeometry geometry;
    tpResult result = tpMakeCylinder(cylinder, tpIdentityPose(), &geometry, NULL);
    return result == tp_success ? tpCreateShape(world, body, def, &geometry, NULL)
                                : tpWorld_ShapeId(world, -1);
}

tpShapeId tpCreatePlane(tpWorld* world, tpBodyId body, const tpShapeDef* def,
                        const tpPlane* plane) {
    tpGeometry geometry;
    tpResult result = tpMakePlane(plane, tpIdentityPose(), &geometry, NULL);
    return result == tp_success ? tpCreateShape(world, body, def, &geometry, NULL)
                                : tpWorld_ShapeId(world, -1);
}
