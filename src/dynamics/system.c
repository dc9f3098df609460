#include "dynamics/system.h"

#include <string.h>

#include "dynamics/collider_shapes.h"
#include "dynamics/locks.h"
#include "geometry/shape.h"

void tpSystem_Create(tpSystem* system, const tpAllocator* allocator) {
    memset(system, 0, sizeof(*system));
    system->allocator = *allocator;
    system->structure = 1;
    system->scales = (tpScales){ .length = 1.0, .reach = 1.0, .smallest = 1.0 };
    system->units = (tpUnits){ 1.0, 1.0, 1.0, 1.0 };
    tpArena_Create(&system->arena, allocator);
    tpCreateSharedPool(&system->forms, allocator, sizeof(tpShapeForm));
    tpCreateSharedPool(&system->bodyForms, allocator, sizeof(tpBodyForm));
}

void tpSystem_Destroy(tpSystem* system) {
    const tpAllocator* allocator = &system->allocator;
    for (int i = 0; i < system->shapes.count; ++i) {
        tpSystem_DropForm(system, i);
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        tpBody* body = &system->bodies.data[i];
        tpRelease(allocator, body->keyframes, sizeof(tpKeyframe) * (size_t)body->keyframeCount);
        tpRelease(allocator, body->name, tp_nameCapacity);
        tpRelease(allocator, body->target, sizeof(tpPose));
    }
    for (int i = 0; i < system->joints.count; ++i) {
        tpJoint* joint = &system->joints.data[i];
        tpRelease(allocator, joint->coordinates,
                  sizeof(tpCoordinate) * (size_t)joint->coordinateCount);
    }
    tpSystem_ReturnState(system);
    TP_FREE_ARRAY(allocator, system->poses);
    TP_FREE_ARRAY(allocator, system->velocities);
    TP_FREE_ARRAY(allocator, system->bodies);
    TP_FREE_ARRAY(allocator, system->shapes);
    tpDestroySharedPool(&system->forms);
    tpDestroySharedPool(&system->bodyForms);
    TP_FREE_ARRAY(allocator, system->forces);
    TP_FREE_ARRAY(allocator, system->loads);
    TP_FREE_ARRAY(allocator, system->joints);
    for (int i = 0; i < system->couplings.count; ++i) {
        tpCoupling* coupling = &system->couplings.data[i];
        tpRelease(allocator, coupling->parts, sizeof(tpCouplingPart) * (size_t)coupling->partCount);
    }
    TP_FREE_ARRAY(allocator, system->couplings);
    TP_FREE_ARRAY(allocator, system->materials);
    TP_FREE_ARRAY(allocator, system->pairs);
    tpExcludedPairs_Destroy(&system->excludes, allocator);
    TP_FREE_ARRAY(allocator, system->contacts);
    TP_FREE_ARRAY(allocator, system->found.poses);
    TP_FREE_ARRAY(allocator, system->found.margins);
    TP_FREE_ARRAY(allocator, system->found.contacts);
    TP_FREE_ARRAY(allocator, system->redundancy.rows);
    tpDestroyCollider(system->collider);
    tpArena_Destroy(&system->arena);
}

void tpSystem_PromiseContacts(tpSystem* system, void (*list)(tpSystem* system, void* context),
                              void* context) {
    system->contacts.count = 0;
    system->listContacts = list;
    system->listContext = context;
}

void tpSystem_ForgetContacts(tpSystem* system) {
    tpSystem_PromiseContacts(system, NULL, NULL);
}

void tpSystem_LendState(tpSystem* system, tpPose* poses, tpVelocity* velocities) {
    size_t count = (size_t)system->bodyCount;
    memcpy(poses, system->poses.data, sizeof(tpPose) * count);
    memcpy(velocities, system->velocities.data, sizeof(tpVelocity) * count);
    TP_SWAP_ARRAYS(system->poses, system->ownPoses);
    TP_SWAP_ARRAYS(system->velocities, system->ownVelocities);
    system->poses.data = poses;
    system->velocities.data = velocities;
    system->poses.capacity = system->velocities.capacity = system->bodyCount;
}

void tpSystem_ReturnState(tpSystem* system) {
    if (!tpSystem_IsStateLent(system)) {
        return;
    }
    size_t count = (size_t)system->bodyCount;
    memcpy(system->ownPoses.data, system->poses.data, sizeof(tpPose) * count);
    memcpy(system->ownVelocities.data, system->velocities.data, sizeof(tpVelocity) * count);
    system->poses.data = NULL;
    system->velocities.data = NULL;
    system->poses.capacity = system->velocities.capacity = 0;
    TP_SWAP_ARRAYS(system->poses, system->ownPoses);
    TP_SWAP_ARRAYS(system->velocities, system->ownVelocities);
}

bool tpSystem_ReserveBody(tpSystem* system, int index) {
    const tpAllocator* allocator = &system->allocator;
    if (index >= system->poses.capacity) {
        tpSystem_ReturnState(system);
    }
    return TP_RESERVE(allocator, system->poses, index + 1) &&
           TP_RESERVE(allocator, system->velocities, index + 1) &&
           TP_RESERVE(allocator, system->bodies, index + 1);
}

const tpBodyForm tp_noBodyForm = { .inertia = { .isIsotropic = false } };

const tpBodyForm* tpSystem_TakeBodyForm(tpSystem* system, const tpMassProperties* given) {
    tpInertia inertia = tpMakeInertia(given->inertia);
    tpBodyForm form;
    memset(&form, 0, sizeof(form)); // with the padding
    form.inertia.isIsotropic = inertia.isIsotropic;
    form.inertia.symmetryAxis = inertia.symmetryAxis;
    form.inertia.middleAxis = inertia.middleAxis;
    form.inertia.moments = inertia.moments;
    form.inertia.inverseMoments = inertia.inverseMoments;
    form.inertia.principal = inertia.principal;
    form.given = *given;
    return tpSharedPool_Take(&system->bodyForms, &form);
}

void tpSystem_GiveBackBodyForm(tpSystem* system, const tpBodyForm* form) {
    if (form != NULL && form != &tp_noBodyForm) {
        tpSharedPool_GiveBack(&system->bodyForms, form);
    }
}

const tpShapeForm* tpSystem_TakeForm(tpSystem* system, const tpGeometry* geometry, tpPose pose) {
    tpShapeForm form;
    memset(&form, 0, sizeof(form));
    form.geometry = *geometry;
    form.geometry.pose = tpComposePoses(pose, geometry->pose);
    form.pose = pose;
    const tpShapeForm* shared = tpSharedPool_Take(&system->forms, &form);
    if (shared != NULL) {
        tpRetainGeometry(geometry);
    }
    return shared;
}

void tpSystem_DropForm(tpSystem* system, int index) {
    tpShape* shape = &system->shapes.data[index];
    if (shape->form != NULL) {
        tpGeometry geometry = shape->form->geometry;
        tpReleaseGeometry(&geometry);
        tpSharedPool_GiveBack(&system->forms, shape->form);
        shape->form = NULL;
    }
}

// How far a shape reaches from the centre of mass; 0 for one without end.
static double reachOfShape(const tpBody* body, const tpShape* shape) {
    tpPose center = tpMakePose(tpNeg(body->center), tpIdentityQuat());
    tpBounds bounds = tpGeometry_Bounds(&shape->form->geometry, center);
    tpVec3 corner = tpMaxVec3(tpAbsVec3(bounds.lower), tpAbsVec3(bounds.upper));
    return tpIsFiniteVec3(corner) ? tpLength(corner) : 0.0;
}

static double reachOf(const tpSystem* system, const tpBody* body) {
    double reach = 0.0;
    for (int i = body->firstShape; i >= 0; i = system->shapes.data[i].next) {
        reach = fmax(reach, reachOfShape(body, &system->shapes.data[i]));
    }
    return reach;
}

// The largest radius of gyration.
static double gyration(const tpBody* body) {
    tpVec3 moments = body->form->inertia.moments;
    double largest = fmax(moments.x, fmax(moments.y, moments.z));
    return body->mass > 0.0 ? sqrt(largest / body->mass) : 0.0;
}

static double innerRadiusOf(const tpSystem* system, const tpBody* body) {
    double least = INFINITY;
    for (int i = body->firstShape; i >= 0; i = system->shapes.data[i].next) {
        least = fmin(least, tpGeometry_InnerRadius(&system->shapes.data[i].form->geometry));
    }
    return least;
}

// Anchors of joints count from the centre of mass, which moves by `shift` in the body's frame.
static void moveAnchors(tpSystem* system, int index, tpVec3 shift) {
    system->anchorShifts += 1;
    for (int i = 0; tpLengthSquared(shift) > 0.0 && i < system->joints.count; ++i) {
        tpJoint* joint = &system->joints.data[i];
        if (joint->isLive && joint->bodyA == index) {
            joint->anchorA = tpSub(joint->anchorA, shift);
        }
        if (joint->isLive && joint->bodyB == index) {
            joint->anchorB = tpSub(joint->anchorB, shift);
        }
    }
}

void tpSystem_ExtendReach(tpSystem* system, int index, int shape) {
    tpBody* body = &system->bodies.data[index];
    double inner = tpGeometry_InnerRadius(&system->shapes.data[shape].form->geometry);
    body->innerRadius = fmin(body->innerRadius, inner);
    body->reach = fmax(body->reach, reachOfShape(body, &system->shapes.data[shape]));
    body->size = fmax(body->reach, gyration(body));
}

void tpSystem_UpdateMass(tpSystem* system, int index) {
    tpBody* body = &system->bodies.data[index];
    tpPose frame = tpSystem_BodyFrame(system, index);
    moveAnchors(system, index, tpSub(body->form->given.center, body->center));
    body->mass = body->form->given.mass;
    body->center = body->form->given.center;
    body->isOffCenter = body->center.x != 0.0 || body->center.y != 0.0 || body->center.z != 0.0;
    bool isMovable = body->kind == tp_dynamicBody && body->mass > 0.0;
    body->inverseMass = isMovable ? 1.0 / body->mass : 0.0;
    system->poses.data[index].position = tpTransformPoint(frame, body->center);
    body->reach = reachOf(system, body);
    body->size = fmax(body->reach, gyration(body));
    tpSystem_MoveShapes(system, index, isMovable);
    body->innerRadius = innerRadiusOf(system, body);
}

bool tpSystem_SetMass(tpSystem* system, int index, const tpMassProperties* given) {
    tpBody* body = &system->bodies.data[index];
    const tpBodyForm* form = tpSystem_TakeBodyForm(system, given);
    if (form == NULL) {
        return false;
    }
    tpSystem_GiveBackBodyForm(system, body->form);
    body->form = form;
    tpSystem_UpdateMass(system, index);
    return true;
}

tpPose tpSystem_BodyFrame(const tpSystem* system, int index) {
    tpPose pose = system->poses.data[index];
    tpVec3 center = tpRotate(pose.rotation, system->bodies.data[index].center);
    return tpMakePose(tpSub(pose.position, center), pose.rotation);
}

tpMat33 tpSystem_InverseInertia(const tpSystem* system, int index) {
    const tpBody* body = &system->bodies.data[index];
    if (body->inverseMass == 0.0) {
        return tpZeroMat33();
    }
    tpQuat rotation = system->poses.data[index].rotation;
    if (system->isPlanar) {
        // Only the turn about z is free.
        double moment = tpInertia_World(&body->form->inertia, rotation).cz.z;
        bool isFree = moment > 0.0 && !(body->locked & tp_lockTurnZ);
        return tpDiagonal(tpMakeVec3(0.0, 0.0, isFree ? 1.0 / moment : 0.0));
    }
    return tpLocks_InverseInertia(&body->form->inertia, body->locked, rotation);
}

void tpSystem_Rotate(const tpSystem* system, int index, double h, tpQuat* rotation,
                     tpVec3* angularVelocity) {
    const tpBody* body = &system->bodies.data[index];
    if (system->isPlanar) {
        // A turn about z at constant speed, whatever the inertia.
        *rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(tpScale(h, *angularVelocity)), *rotation));
    } else if (tpLocks_Turns(body->locked)) {
        tpLocks_Rotate(&body->form->inertia, body->locked, h, rotation, angularVelocity);
    } else {
        tpRotateFreely(&body->form->inertia, h, rotation, angularVelocity);
    }
}

bool tpSystem_IsTumbling(const tpSystem* system, int index) {
    const tpBody* body = &system->bodies.data[index];
    return body->inverseMass > 0.0 && !system->isPlanar && !body->form->inertia.isIsotropic;
}

tpVec3 tpSystem_Gravity(const tpSystem* system, int index) {
    const tpBody* body = &system->bodies.data[index];
    tpVec3 g = tpLocks_Linear(body->locked, tpScale(body->gravityScale, system->gravity));
    g.z = system->isPlanar ? 0.0 : g.z;
    return g;
}

tpVec3 tpSystem_PointVelocity(const tpSystem* system, int body, tpVec3 point) {
    if (body < 0) {
        return tpZeroVec3();
    }
    const tpVelocity* velocity = &system->velocities.data[body];
    tpVec3 arm = tpSub(point, system->poses.data[body].position);
    return tpAdd(velocity->linear, tpCross(velocity->angular, arm));
}

void tpSystem_SetVelocity(tpSystem* system, int index, tpVec3 linear, tpVec3 angular) {
    const tpBody* body = &system->bodies.data[index];
    if (system->isPlanar) {
        linear.z = angular.x = angular.y = 0.0;
    }
    bool isLocked = body->kind == tp_dynamicBody;
    tpVelocity* velocity = &system->velocities.data[index];
    velocity->linear = isLocked ? tpLocks_Linear(body->locked, linear) : linear;
    velocity->angular = isLocked ? tpLocks_Angular(body->locked, angular) : angular;
}

void tpSystem_ApplyImpulse(tpSystem* system, int index, tpVec3 impulse, tpVec3 moment) {
    if (!tpSystem_IsDynamic(system, index)) {
        return;
    }
    tpVelocity* velocity = &system->velocities.data[index];
    if (system->isPlanar) {
        impulse.z = 0.0;
    }
    impulse = tpLocks_Linear(system->bodies.data[index].locked, impulse);
    velocity->linear = tpMulAdd(velocity->linear, system->bodies.data[index].inverseMass, impulse);
    velocity->angular =
        tpAdd(velocity->angular, tpMulMV(tpSystem_InverseInertia(system, index), moment));
}

int tpComparePairs(const tpMaterialId a[2], const tpMaterialId b[2]) {
    tpMaterialId lowA = a[0] < a[1] ? a[0] : a[1], highA = a[0] < a[1] ? a[1] : a[0];
    tpMaterialId lowB = b[0] < b[1] ? b[0] : b[1], highB = b[0] < b[1] ? b[1] : b[0];
    return lowA != lowB ? (lowA > lowB) - (lowA < lowB) : (highA > highB) - (highA < highB);
}

// A pair's place in the sorted list, or -1.
static int findPair(const tpSystem* system, const tpMaterialId wanted[2]) {
    int low = 0, high = system->pairs.count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (tpComparePairs(system->pairs.data[middle].materials, wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool isThere =
        low < system->pairs.count && tpComparePairs(system->pairs.data[low].materials, wanted) == 0;
    return isThere ? low : -1;
}

// Larger coefficients act as this one. Cones that are wider hold nothing else to a thousandth, but
// their impulses no longer fit into one scale with those along the normal: a box fell through a
// floor with 1e6, which users write for "does not slide".
static const double largestCoefficient = 1e3;

static double geometricMean(double a, double b) {
    return a == b ? a : sqrt(a * b);
}

static bool isRound(const tpFriction* friction) {
    return friction->ellipse[0] == friction->ellipse[1];
}

int tpSystem_MixMaterials(const tpSystem* system, tpMaterialId a, tpMaterialId b,
                          tpFriction* friction, double* restitution) {
    const tpMaterial* first = &system->materials.data[a];
    const tpMaterial* second = &system->materials.data[b];
    const tpFriction* f = &first->friction;
    const tpFriction* g = &second->friction;
    friction->staticCoefficient = geometricMean(f->staticCoefficient, g->staticCoefficient);
    friction->dynamicCoefficient = geometricMean(f->dynamicCoefficient, g->dynamicCoefficient);
    friction->torsionalArm = geometricMean(f->torsionalArm, g->torsionalArm);
    friction->rollingArm = geometricMean(f->rollingArm, g->rollingArm);
    friction->ellipse[0] = geometricMean(f->ellipse[0], g->ellipse[0]);
    friction->ellipse[1] = geometricMean(f->ellipse[1], g->ellipse[1]);
    friction->impactReduction =
        1.0 - geometricMean(1.0 - f->impactReduction, 1.0 - g->impactReduction);
    // The ellipse is aligned by the material that has one; the first where both have.
    int owner = isRound(f) && !isRound(g) ? 1 : 0;
    friction->direction = owner == 1 ? g->direction : f->direction;
    *restitution = fmax(first->restitution, second->restitution);

    const tpMaterialId wanted[2] = { a, b };
    int pair = findPair(system, wanted);
    if (pair >= 0) {
        const tpPairDef* own = &system->pairs.data[pair];
        if (own->hasFriction) {
            *friction = own->friction;
            owner = own->materials[0] == a ? 0 : 1; // the first material of the pair
        }
        if (own->hasRestitution) {
            *restitution = own->restitution;
        }
    }
    friction->staticCoefficient = fmin(friction->staticCoefficient, largestCoefficient);
    friction->dynamicCoefficient = fmin(friction->dynamicCoefficient, largestCoefficient);
    return owner;
}

tpCompliance tpSystem_MixCompliance(const tpSystem* system, tpMaterialId a, tpMaterialId b) {
    const tpMaterialId wanted[2] = { a, b };
    int pair = findPair(system, wanted);
    if (pair >= 0 && system->pairs.data[pair].hasContact) {
        return system->pairs.data[pair].contact;
    }
    const tpCompliance* first = &system->materials.data[a].contact;
    const tpCompliance* second = &system->materials.data[b].contact;
    tpCompliance mixed = { first->compliance + second->compliance, 0.0 };
    if (mixed.compliance > 0.0) {
        // Each is pressed in by its part of the way, and what both dissipate adds up.
        double part = first->compliance / mixed.compliance;
        double other = second->compliance / mixed.compliance;
        mixed.damping = first->damping * part * part + second->damping * other * other;
    }
    return mixed;
}
