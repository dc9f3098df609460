// From the document to the world. Whatever the world refuses is reported at the place of the part
// of the scene that asked for it.

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/constants.h"
#include "base/error.h"
#include "scene/build_joints.h"
#include "scene/build_shapes.h"
#include "scene/json.h"
#include "scene/options.h"
#include "scene/text.h"

tpResult tpFailBuilding(const tpScene* scene, tpScenePlace place, tpError* error) {
    char message[sizeof(error->message)];
    if (error->result == tp_outOfMemory) {
        return tp_outOfMemory;
    }
    memcpy(message, error->message, sizeof(message));
    tpFailAt(error, tpScene_GetPath(scene, place), place, "%s", message);
    return tp_badInput;
}

tpQuat tpSceneRotation_Get(const tpSceneRotation* rotation) {
    if (rotation->part.given == 0) {
        return tpIdentityQuat();
    }
    if (!tpScenePart_Gives(&rotation->part, "quaternion")) {
        return tpQuatFromAxisAngle(tpNormalize(rotation->axis),
                                   rotation->degrees * (TP_PI / 180.0));
    }
    // Scaled first: the squares of very large or very small numbers would leave the range.
    const double* q = rotation->quaternion;
    double largest = fmax(fmax(fabs(q[0]), fabs(q[1])), fmax(fabs(q[2]), fabs(q[3])));
    return tpNormalizeQuat(
        tpMakeQuat(q[0] / largest, q[1] / largest, q[2] / largest, q[3] / largest));
}

typedef struct tpBuilder {
    const tpScene* scene;
    const tpAllocator* allocator;
    tpWorld* world;
    tpError* error;
    tpArena arena;           // of the tables below
    tpMaterialId* materials; // by index in the scene
    tpBodyId* bodies;
    tpJointId* joints;
} tpBuilder;

// Materials -----------------------------------------------------------------------------------

static tpFriction makeFriction(const tpSceneFriction* friction) {
    tpFriction made = tpDefaultMaterialDef().friction;
    if (friction->part.record == NULL) {
        made.staticCoefficient = made.dynamicCoefficient = friction->number;
        return made;
    }
    bool hasStatic = tpScenePart_Gives(&friction->part, "static");
    bool hasDynamic = tpScenePart_Gives(&friction->part, "dynamic");
    made.staticCoefficient = hasStatic ? friction->staticCoefficient : friction->dynamicCoefficient;
    made.dynamicCoefficient =
        hasDynamic ? friction->dynamicCoefficient : friction->staticCoefficient;
    made.torsionalArm = friction->torsional;
    made.rollingArm = friction->rolling;
    if (tpScenePart_Gives(&friction->part, "impact")) {
        made.impactReduction = 1.0 - friction->impact / made.dynamicCoefficient;
    }
    made.ellipse[0] = friction->ellipse[0];
    made.ellipse[1] = friction->ellipse[1];
    made.direction = friction->direction;
    return made;
}

static tpCompliance complianceOf(const tpSceneCompliance* contact) {
    return (tpCompliance){ contact->compliance, contact->damping };
}

static tpResult buildMaterials(tpBuilder* builder) {
    const tpSceneMaterials* materials = &builder->scene->materials;
    for (int i = 0; i < materials->count; ++i) {
        const tpSceneMaterial* material = &materials->items[i];
        tpMaterialDef def = tpDefaultMaterialDef();
        def.name = material->name.text;
        def.friction = makeFriction(&material->friction);
        def.restitution = material->restitution;
        def.contact = complianceOf(&material->contact);
        builder->materials[i] = tpCreateMaterial(builder->world, &def, NULL);
        if (builder->materials[i] < 0) {
            return tpError_OutOfMemory(builder->error);
        }
    }
    return tp_success;
}

static tpResult buildPairs(tpBuilder* builder) {
    const tpScenePairs* pairs = &builder->scene->pairs;
    for (int i = 0; i < pairs->count; ++i) {
        const tpScenePair* pair = &pairs->items[i];
        tpPairDef def = {
            .materials = { builder->materials[pair->between[0].index],
                           builder->materials[pair->between[1].index] },
            .hasFriction = tpScenePart_Gives(&pair->part, "friction"),
            .hasRestitution = tpScenePart_Gives(&pair->part, "restitution"),
            .friction = makeFriction(&pair->friction),
            .restitution = pair->restitution,
            .hasContact = tpScenePart_Gives(&pair->part, "contact"),
            .contact = complianceOf(&pair->contact),
        };
        if (tpSetMaterialPair(builder->world, &def, builder->error) != tp_success) {
            return tpFailBuilding(builder->scene, pair->part.place, builder->error);
        }
    }
    return tp_success;
}

// Bodies --------------------------------------------------------------------------------------

static tpKeyframe* makeKeyframes(tpBuilder* builder, const tpSceneBody* body) {
    tpKeyframe* keyframes = TP_SCRATCH(&builder->arena, tpKeyframe, body->keyframes.count);
    for (int i = 0; keyframes != NULL && i < body->keyframes.count; ++i) {
        const tpSceneKeyframe* keyframe = &body->keyframes.items[i];
        bool hasPosition = tpScenePart_Gives(&keyframe->part, "position");
        bool hasRotation = tpScenePart_Gives(&keyframe->part, "rotation");
        keyframes[i].time = keyframe->time;
        keyframes[i].pose =
            tpMakePose(hasPosition ? keyframe->position : body->position,
                       tpSceneRotation_Get(hasRotation ? &keyframe->rotation : &body->rotation));
    }
    return keyframes;
}

static tpMaterialId materialOf(const tpBuilder* builder, const tpSceneBody* body,
                               const tpSceneShape* shape) {
    if (shape->material.name != NULL) {
        return builder->materials[shape->material.index];
    }
    return body->material.name != NULL ? builder->materials[body->material.index] : 0;
}

// The colour of a shape, or its body's; NULL if neither has one.
static const tpColor* colorOf(const tpSceneBody* body, const tpSceneShape* shape) {
    return tpScenePart_Gives(&shape->part, "color")  ? &shape->color
           : tpScenePart_Gives(&body->part, "color") ? &body->color
                                                     : NULL;
}

static tpResult buildSolid(tpBuilder* builder, const tpSceneBody* body, const tpSceneShape* shape,
                           tpBodyId id, const tpGeometry* geometry) {
    tpShapeDef def = tpDefaultShapeDef();
    def.material = materialOf(builder, body, shape);
    def.group = shape->group;
    def.mask = shape->mask;
    def.density = tpShapeDensity(body, shape);
    tpShapeId created = tpCreateShape(builder->world, id, &def, geometry, builder->error);
    if (!tpShape_IsValid(builder->world, created)) {
        return builder->error->result;
    }
    const tpColor* color = colorOf(body, shape);
    return color != NULL ? tpShape_SetColor(builder->world, created, *color, builder->error)
                         : tp_success;
}

static tpResult buildShapes(tpBuilder* builder, const tpSceneBody* body, tpBodyId id,
                            const tpGeometry* geometries) {
    for (int i = 0; i < body->shapes.count; ++i) {
        const tpSceneShape* shape = &body->shapes.items[i];
        tpResult result = shape->visual ? tpBody_AddVisual(builder->world, id, &geometries[i],
                                                           colorOf(body, shape), builder->error)
                                        : buildSolid(builder, body, shape, id, &geometries[i]);
        if (result != tp_success) {
            return tpFailBuilding(builder->scene, shape->part.place, builder->error);
        }
    }
    return tp_success;
}

// The body with its shapes, whose geometries are made.
// A speed whose square is beyond the range of numbers leaves no energy to account for.
static tpResult checkEnergy(tpBuilder* builder, const tpSceneBody* body, const tpBodyDef* def) {
    tpVec3 spin = tpMulMV(def->mass.inertia, def->angularVelocity);
    double twice =
        def->mass.mass * tpDot(def->velocity, def->velocity) + tpDot(def->angularVelocity, spin);
    if (def->kind != tp_dynamicBody || isfinite(twice)) {
        return tp_success;
    }
    tpError_Set(builder->error, tp_badInput,
                "the kinetic energy of the body is beyond the range of numbers");
    return tpFailBuilding(builder->scene, body->part.place, builder->error);
}

static tpResult buildBodyWith(tpBuilder* builder, int index, const tpGeometry* geometries) {
    const tpSceneBody* body = &builder->scene->bodies.items[index];
    tpBodyDef def = tpDefaultBodyDef();
    def.name = body->name.text;
    def.kind = (tpBodyKind)body->kind;
    def.position = body->position;
    def.rotation = tpSceneRotation_Get(&body->rotation);
    def.velocity = body->velocity;
    def.angularVelocity = body->angularVelocity;
    def.linearDamping = body->damping.linear;
    def.angularDamping = body->damping.angular;
    def.gravityScale = body->gravityScale;
    def.locked = body->locked;
    tpResult result = tpSceneBody_Mass(builder->scene, body, geometries, &def, builder->error);
    if (result != tp_success) {
        return result;
    }
    result = checkEnergy(builder, body, &def);
    if (result != tp_success) {
        return result;
    }
    if (body->keyframes.count > 0) {
        def.keyframes = makeKeyframes(builder, body);
        def.keyframeCount = body->keyframes.count;
        if (def.keyframes == NULL) {
            return tpError_OutOfMemory(builder->error);
        }
    }
    tpBodyId id = tpCreateBody(builder->world, &def, builder->error);
    if (!tpBody_IsValid(builder->world, id)) {
        return tpFailBuilding(builder->scene, body->part.place, builder->error);
    }
    builder->bodies[index] = id;
    return buildShapes(builder, body, id, geometries);
}

static tpResult buildBody(tpBuilder* builder, int index) {
    const tpSceneShapes* shapes = &builder->scene->bodies.items[index].shapes;
    tpArenaMark mark = tpArena_Mark(&builder->arena);
    tpGeometry* geometries = TP_SCRATCH_ZEROED(&builder->arena, tpGeometry, shapes->count);
    if (geometries == NULL) {
        return tpError_OutOfMemory(builder->error);
    }
    int made = 0;
    tpResult result = tp_success;
    while (result == tp_success && made < shapes->count) {
        result = tpMakeSceneShape(builder->scene, &shapes->items[made], builder->allocator,
                                  &geometries[made], builder->error);
        made += result == tp_success ? 1 : 0;
    }
    if (result == tp_success) {
        result = buildBodyWith(builder, index, geometries);
    }
    for (int i = 0; i < made; ++i) {
        tpReleaseGeometry(&geometries[i]);
    }
    tpArena_Release(&builder->arena, mark);
    return result;
}

// Bodies that do not collide, forces, options ---------------------------------------------------

static tpResult buildExclude(tpBuilder* builder, const tpSceneExclude* exclude) {
    const tpSceneReference* pair = exclude->bodies;
    tpResult result = tpBody_SetCollide(builder->world, builder->bodies[pair[0].index],
                                        builder->bodies[pair[1].index], false, builder->error);
    return result == tp_success
               ? tp_success
               : tpFailBuilding(builder->scene, exclude->part.place, builder->error);
}

static tpResult buildForce(tpBuilder* builder, const tpSceneForce* force) {
    tpForceDef def = tpDefaultForceDef();
    def.body = builder->bodies[force->body.index];
    def.force = force->force;
    def.torque = force->torque;
    def.hasPoint = tpScenePart_Gives(&force->part, "at");
    def.point = force->at;
    def.frame = (tpFrame)force->frame;
    def.from = force->from;
    def.to = force->to;
    tpForceId id = tpCreateForce(builder->world, &def, builder->error);
    if (id.generation == 0) {
        return tpFailBuilding(builder->scene, force->part.place, builder->error);
    }
    return tp_success;
}

static tpResult setOptions(tpBuilder* builder) {
    const tpSceneOptions* options = &builder->scene->simulation.options;
    for (int i = 0; i < options->count; ++i) {
        const tpSceneOption* option = &options->items[i];
        // An option of the scene's own stepper does not matter to another that is tried instead.
        if (tpIsRefusedOption(&builder->scene->simulation, option) != NULL) {
            continue;
        }
        if (tpWorld_SetOption(builder->world, option->name.text, option->value, builder->error) !=
            tp_success) {
            return option->place.line > 0
                       ? tpFailBuilding(builder->scene, option->place, builder->error)
                       : builder->error->result;
        }
    }
    return tp_success;
}

static tpResult buildAll(tpBuilder* builder) {
    const tpScene* scene = builder->scene;
    builder->materials = TP_SCRATCH(&builder->arena, tpMaterialId, scene->materials.count);
    builder->bodies = TP_SCRATCH_ZEROED(&builder->arena, tpBodyId, scene->bodies.count);
    builder->joints = TP_SCRATCH_ZEROED(&builder->arena, tpJointId, scene->joints.count);
    if (builder->materials == NULL || builder->bodies == NULL || builder->joints == NULL) {
        return tpError_OutOfMemory(builder->error);
    }
    tpResult result = setOptions(builder);
    if (result == tp_success) {
        result = buildMaterials(builder);
    }
    if (result == tp_success) {
        result = buildPairs(builder);
    }
    for (int i = 0; result == tp_success && i < scene->bodies.count; ++i) {
        result = buildBody(builder, i);
    }
    for (int i = 0; result == tp_success && i < scene->joints.count; ++i) {
        result = tpBuildSceneJoint(scene, &scene->joints.items[i], builder->bodies, builder->world,
                                   &builder->joints[i], builder->error);
    }
    for (int i = 0; result == tp_success && i < scene->couplings.count; ++i) {
        result = tpBuildSceneCoupling(scene, &scene->couplings.items[i], builder->joints,
                                      builder->world, builder->error);
    }
    for (int i = 0; result == tp_success && i < scene->sensors.count; ++i) {
        result = tpBuildSceneSensor(scene, &scene->sensors.items[i], builder->bodies,
                                    builder->joints, builder->world, builder->error);
    }
    for (int i = 0; result == tp_success && i < scene->excludes.count; ++i) {
        result = buildExclude(builder, &scene->excludes.items[i]);
    }
    for (int i = 0; result == tp_success && i < scene->forces.count; ++i) {
        result = buildForce(builder, &scene->forces.items[i]);
    }
    return result;
}

static tpResult checkAvailable(const tpScene* scene, tpError* error) {
    tpStepperId stepper = tpScene_GetStepper(scene);
    if (tpStepperIsAvailable(stepper)) {
        return tp_success;
    }
    tpError_Set(error, tp_badInput, "the stepper \"%s\" is not in this build",
                tpStepperName(stepper));
    tpScenePlace place = scene->simulation.stepper.place;
    return place.line > 0 ? tpFailBuilding(scene, place, error) : tp_badInput;
}

tpResult tpScene_CreateWorld(const tpScene* scene, const tpAllocator* allocator, int threadCount,
                             tpWorld** world, tpError* error) {
    TP_NEED(scene, tp_badInput);
    tpAllocator heap = tpDefaultAllocator();
    tpError unheard;
    error = error != NULL ? error : &unheard;
    *world = NULL;
    tpResult result = checkAvailable(scene, error);
    if (result != tp_success) {
        return result;
    }
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tpScene_GetStepper(scene);
    def.gravity = scene->gravity;
    def.planar = scene->planar;
    def.threadCount = threadCount;
    def.allocator = allocator != NULL ? *allocator : heap;
    tpBuilder builder = { .scene = scene, .allocator = &def.allocator, .error = error };
    tpLocaleScope locale;
    builder.world = tpCreateWorld(&def);
    if (builder.world == NULL) {
        return tpError_OutOfMemory(error);
    }
    result = tp_outOfMemory;
    if (tpEnterCLocale(&locale)) { // options are numbers in words
        tpArena_Create(&builder.arena, &def.allocator);
        result = buildAll(&builder);
        tpArena_Destroy(&builder.arena);
        tpLeaveCLocale(&locale);
    } else {
        tpError_OutOfMemory(error);
    }
    if (result != tp_success) {
        tpDestroyWorld(builder.world);
        return result;
    }
    *world = builder.world;
    return tp_success;
}
