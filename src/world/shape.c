// Shapes: creation, destruction, and the mass that follows from them.

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "dynamics/collider_shapes.h"
#include "geometry/mass.h"
#include "geometry/mesh.h"
#include "world/require.h"

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

// Kinematic and fixed bodies need no mass: their centre stays at the origin of their frame.
tpResult tpWorld_UpdateMass(tpWorld* world, int index, tpError* error) {
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
        tpResult result = tpGeometry_Mass(&shape->form->geometry, shape->density, &parts[1], error);
        if (result != tp_success) {
            return result;
        }
        sum = sum.mass > 0.0 ? tpCombineMass(parts, 2) : parts[1];
    }
    tpVec3 center = tpTransformPoint(tpSystem_BodyFrame(system, index), sum.center);
    if (!tpIsFiniteMass(&sum) || !tpIsFiniteVec3(center)) {
        return tpError_Set(error, tp_badInput,
                           "mass, centre of mass or inertia of the shapes is not finite");
    }
    return tpSystem_SetMass(system, index, &sum) ? tp_success : tpError_OutOfMemory(error);
}

// What a new shape changes. A body whose mass is given gets thousands of shapes one by one: nothing
// here goes through all of them.
static tpResult addShapeMass(tpWorld* world, int bodyIndex, int shapeIndex, tpError* error) {
    const tpBody* body = &world->system.bodies.data[bodyIndex];
    if (!body->hasGivenMass && body->kind == tp_dynamicBody) {
        return tpWorld_UpdateMass(world, bodyIndex, error);
    }
    tpSystem_ExtendReach(&world->system, bodyIndex, shapeIndex);
    return tp_success;
}

// Shapes are mostly created body by body, so the end of a body's list is where the last one went.
static void appendShape(tpWorld* world, int bodyIndex, int shapeIndex) {
    tpSystem* system = &world->system;
    const tpShape* last =
        world->lastShape < system->shapes.count ? &system->shapes.data[world->lastShape] : NULL;
    bool isEnd = last != NULL && last->isLive && last->body == bodyIndex && last->next < 0 &&
                 world->lastShape != shapeIndex;
    int* link = isEnd ? &system->shapes.data[world->lastShape].next
                      : &system->bodies.data[bodyIndex].firstShape;
    while (*link >= 0) {
        link = &system->shapes.data[*link].next;
    }
    *link = shapeIndex;
    world->lastShape = shapeIndex;
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
    if (!tpIsFiniteVec3(def->pose.position) || !tpIsUnitQuat(def->pose.rotation)) {
        return tpError_Set(error, tp_badInput, "the pose of a shape must be finite");
    }
    return tp_success;
}

tpShapeId tpCreateShape(tpWorld* world, tpBodyId bodyId, const tpShapeDef* def,
                        const tpGeometry* geometry, tpError* error) {
    TP_NEED(world, (tpShapeId){ 0 });
    tpSystem* system = &world->system;
    tpShapeId none = { 0, 0 };
    if (!TP_REQUIRE(def != NULL, "def", "is NULL") ||
        !TP_REQUIRE(geometry != NULL, "geometry", "is NULL")) {
        return none;
    }
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
    if (geometry->type == tp_meshShape && geometry->mesh->isOpen) {
        tpError_Set(error, tp_badInput, "an open surface can only be seen: tpBody_AddVisual");
        return none;
    }
    tpPose own = tpMakePose(def->pose.position, tpNormalizeQuat(def->pose.rotation));
    int index = tpIdPool_Take(&world->shapeIds, &system->allocator);
    bool hasRoom = index >= 0 && TP_RESERVE(&system->allocator, system->shapes, index + 1);
    const tpShapeForm* form = hasRoom ? tpSystem_TakeForm(system, geometry, own) : NULL;
    if (form == NULL) {
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
    shape->form = form;
    shape->material = def->material;
    shape->density = def->density;
    shape->group = def->group;
    shape->mask = def->mask;
    shape->userData = def->userData;
    appendShape(world, bodyIndex, index);
    if (addShapeMass(world, bodyIndex, index, error) != tp_success) {
        tpWorld_RemoveShape(world, index, false);
        return none;
    }
    tpSystem_PutShape(system, index);
    tpSystem_Disturb(system, bodyIndex);
    tpWorld_ChangeStructure(world);
    return tpWorld_ShapeId(world, index);
}

void tpWorld_RemoveShape(tpWorld* world, int index, bool updateMass) {
    tpSystem* system = &world->system;
    int bodyIndex = system->shapes.data[index].body;
    tpWorld_RemoveSensors(world, -1, index, -1);
    tpSystem_TakeShape(system, index);
    tpSystem_Disturb(system, bodyIndex);
    unlinkShape(system, index);
    tpSystem_DropForm(system, index);
    memset(&system->shapes.data[index], 0, sizeof(tpShape));
    system->shapes.data[index].next = -1;
    tpAppearance_ForgetShape(&world->appearance, index);
    tpIdPool_GiveBack(&world->shapeIds, index);
    if (updateMass) {
        tpWorld_UpdateMass(world, bodyIndex, NULL);
    }
    tpSystem_ForgetContacts(system);
    tpWorld_ChangeStructure(world);
}

void tpDestroyShape(tpWorld* world, tpShapeId id) {
    TP_NEED(world, );
    int index = TP_SHAPE(world, id);
    if (index >= 0) {
        tpWorld_RemoveShape(world, index, true);
    }
}

bool tpShape_IsValid(const tpWorld* world, tpShapeId id) {
    TP_NEED(world, false);
    return tpWorld_ShapeIndex(world, id) >= 0;
}

int tpBody_GetShapeCount(const tpWorld* world, tpBodyId id) {
    TP_NEED(world, 0);
    int count = 0;
    int body = TP_BODY(world, id);
    int shape = body >= 0 ? world->system.bodies.data[body].firstShape : -1;
    for (; shape >= 0; shape = world->system.shapes.data[shape].next) {
        count += 1;
    }
    return count;
}

tpShapeId tpBody_GetShape(const tpWorld* world, tpBodyId id, int number) {
    TP_NEED(world, (tpShapeId){ 0 });
    int body = TP_BODY(world, id);
    int shape = body >= 0 && number >= 0 ? world->system.bodies.data[body].firstShape : -1;
    for (int i = 0; shape >= 0 && i < number; ++i) {
        shape = world->system.shapes.data[shape].next;
    }
    if (body >= 0 && shape < 0) {
        tpMisused(__func__, "index", "is %d, of %d", number, tpBody_GetShapeCount(world, id));
    }
    return tpWorld_ShapeId(world, shape);
}

static const tpShape* shapeOf(const tpWorld* world, tpShapeId id, const char* function) {
    int index = tpRequireShape(world, id, function);
    return index >= 0 ? &world->system.shapes.data[index] : NULL;
}

const tpGeometry* tpShape_GetGeometry(const tpWorld* world, tpShapeId id) {
    TP_NEED(world, NULL);
    const tpShape* shape = shapeOf(world, id, __func__);
    return shape != NULL ? &shape->form->geometry : NULL;
}

tpBodyId tpShape_GetBody(const tpWorld* world, tpShapeId id) {
    TP_NEED(world, (tpBodyId){ 0 });
    const tpShape* shape = shapeOf(world, id, __func__);
    return tpWorld_BodyId(world, shape != NULL ? shape->body : -1);
}

tpMaterialId tpShape_GetMaterial(const tpWorld* world, tpShapeId id) {
    TP_NEED(world, (tpMaterialId){ 0 });
    const tpShape* shape = shapeOf(world, id, __func__);
    return shape != NULL ? shape->material : 0;
}

tpShapeDef tpShape_GetDef(const tpWorld* world, tpShapeId id) {
    TP_NEED(world, (tpShapeDef){ 0 });
    tpShapeDef def = tpDefaultShapeDef();
    const tpShape* shape = shapeOf(world, id, __func__);
    if (shape != NULL) {
        def.pose = shape->form->pose;
        def.material = shape->material;
        def.density = shape->density;
        def.group = shape->group;
        def.mask = shape->mask;
        def.userData = shape->userData;
    }
    return def;
}

void* tpShape_GetUserData(const tpWorld* world, tpShapeId id) {
    TP_NEED(world, NULL);
    const tpShape* shape = shapeOf(world, id, __func__);
    return shape != NULL ? shape->userData : NULL;
}

void tpShape_SetUserData(tpWorld* world, tpShapeId id, void* userData) {
    TP_NEED(world, );
    int index = TP_SHAPE(world, id);
    if (index >= 0) {
        world->system.shapes.data[index].userData = userData;
    }
}

void tpShape_SetMaterial(tpWorld* world, tpShapeId id, tpMaterialId material) {
    TP_NEED(world, );
    int index = TP_SHAPE(world, id);
    if (index >= 0 && tpRequireMaterial(world, material, "material", __func__)) {
        world->system.shapes.data[index].material = material;
        tpWorld_DisturbAll(world);
    }
}

void tpShape_SetFilter(tpWorld* world, tpShapeId id, uint32_t group, uint32_t mask) {
    TP_NEED(world, );
    int index = TP_SHAPE(world, id);
    if (index >= 0) {
        world->system.shapes.data[index].group = group;
        world->system.shapes.data[index].mask = mask;
        tpSystem_PutShape(&world->system, index); // the collider keeps both
        tpWorld_ChangePairs(world);
        tpSystem_Disturb(&world->system, world->system.shapes.data[index].body);
    }
}

static bool askFilter(void* context, int32_t a, int32_t b) {
    const tpWorld* world = context;
    int low = a < b ? a : b, high = a < b ? b : a;
    return world->shapeFilter(world, tpWorld_ShapeId(world, low), tpWorld_ShapeId(world, high),
                              world->shapeFilterContext);
}

void tpWorld_SetShapeFilter(tpWorld* world, tpShapeFilter filter, void* context) {
    TP_NEED(world, );
    tpSystem* system = &world->system;
    world->shapeFilter = filter;
    world->shapeFilterContext = context;
    system->pairFilter = filter != NULL ? askFilter : NULL;
    system->pairFilterContext = world;
    // What is known of pairs may not hold any more.
    tpSystem_DropCollider(system);
    tpWorld_ChangePairs(world);
    tpWorld_DisturbAll(world);
}

tpResult tpShape_SetDensity(tpWorld* world, tpShapeId id, double density, tpError* error) {
    TP_NEED(world, tp_badInput);
    int index = TP_SHAPE(world, id);
    if (index < 0) {
        return tpError_Set(error, tp_badInput, "the shape does not exist");
    }
    if (!(density >= 0.0) || !isfinite(density)) {
        return tpError_Set(error, tp_badInput, "density must be zero or positive");
    }
    tpShape* shape = &world->system.shapes.data[index];
    const tpBody* body = &world->system.bodies.data[shape->body];
    double before = shape->density;
    shape->density = density;
    tpResult result = tp_success;
    if (!body->hasGivenMass) {
        result = tpBody_SetMass(world, tpWorld_BodyId(world, shape->body), NULL, error);
        shape->density = result == tp_success ? density : before;
    }
    return result;
}

// Short ways to the shapes that need no further data. The geometry is not shared, so there is
// nothing to release.

tpShapeId tpCreateSphere(tpWorld* world, tpBodyId body, const tpShapeDef* def,
                         const tpSphere* sphere, tpError* error) {
    TP_NEED(world, (tpShapeId){ 0 });
    tpGeometry geometry;
    bool isGood = TP_REQUIRE(sphere != NULL, "sphere", "is NULL") &&
                  tpMakeSphere(sphere, tpIdentityPose(), &geometry, error) == tp_success;
    return isGood ? tpCreateShape(world, body, def, &geometry, error) : tpWorld_ShapeId(world, -1);
}

tpShapeId tpCreateBox(tpWorld* world, tpBodyId body, const tpShapeDef* def, const tpBox* box,
                      tpError* error) {
    TP_NEED(world, (tpShapeId){ 0 });
    tpGeometry geometry;
    bool isGood = TP_REQUIRE(box != NULL, "box", "is NULL") &&
                  tpMakeBox(box, tpIdentityPose(), &geometry, error) == tp_success;
    return isGood ? tpCreateShape(world, body, def, &geometry, error) : tpWorld_ShapeId(world, -1);
}

tpShapeId tpCreateCapsule(tpWorld* world, tpBodyId body, const tpShapeDef* def,
                          const tpCapsule* capsule, tpError* error) {
    TP_NEED(world, (tpShapeId){ 0 });
    tpGeometry geometry;
    bool isGood = TP_REQUIRE(capsule != NULL, "capsule", "is NULL") &&
                  tpMakeCapsule(capsule, tpIdentityPose(), &geometry, error) == tp_success;
    return isGood ? tpCreateShape(world, body, def, &geometry, error) : tpWorld_ShapeId(world, -1);
}

tpShapeId tpCreateCylinder(tpWorld* world, tpBodyId body, const tpShapeDef* def,
                           const tpCylinder* cylinder, tpError* error) {
    TP_NEED(world, (tpShapeId){ 0 });
    tpGeometry geometry;
    bool isGood = TP_REQUIRE(cylinder != NULL, "cylinder", "is NULL") &&
                  tpMakeCylinder(cylinder, tpIdentityPose(), &geometry, error) == tp_success;
    return isGood ? tpCreateShape(world, body, def, &geometry, error) : tpWorld_ShapeId(world, -1);
}

tpShapeId tpCreatePlane(tpWorld* world, tpBodyId body, const tpShapeDef* def, const tpPlane* plane,
                        tpError* error) {
    TP_NEED(world, (tpShapeId){ 0 });
    tpGeometry geometry;
    bool isGood = TP_REQUIRE(plane != NULL, "plane", "is NULL") &&
                  tpMakePlane(plane, tpIdentityPose(), &geometry, error) == tp_success;
    return isGood ? tpCreateShape(world, body, def, &geometry, error) : tpWorld_ShapeId(world, -1);
}
