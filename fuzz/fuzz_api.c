// Fuzzes the public functions on worlds with calls made of the input's bytes: ids that are stale or
// never were, numbers that are not finite, indices out of range, bodies, shapes, joints, couplings,
// sensors and forces that come and go between steps, snapshots, batches. Whatever is called,
// nothing crashes, a call that tells of misuse changes no state, and finite states stay finite.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tippe/tippe.h"

enum { most = 8, mostSteps = 4, mostCalls = 160 };

typedef struct Input {
    const uint8_t* data;
    size_t length, at;
} Input;

// What the calls are about: ids of all kinds, some of them stale.
typedef struct Scene {
    Input input;
    tpWorld* world;
    tpBodyId bodies[most];
    tpShapeId shapes[most];
    tpJointId joints[most];
    tpCouplingId couplings[most];
    tpSensorId sensors[most];
    tpForceId forces[most];
    tpSnapshot* snapshot;
    int stepCount;
} Scene;

static int misuseCount;

static void hear(const char* function, const char* argument, const char* message) {
    REQUIRE(strlen(function) > 0 && strlen(argument) > 0 && strlen(message) > 0);
    misuseCount += 1;
}

// Numbers of the input ----------------------------------------------------------------------------

static int nextByte(Input* input) {
    return input->at < input->length ? input->data[input->at++] : 0;
}

static double nextNumber(Input* input) {
    static const double strange[16] = { NAN,    INFINITY, -INFINITY, -0.0,  1e300, -1e300,
                                        1e-300, 1e12,     -1e12,     1e-12, 0.0,   0.0,
                                        1.0,    -1.0,     1e6,       1e-6 };
    int byte = nextByte(input);
    if (byte >= 240) {
        return strange[byte - 240];
    }
    return (byte - 120) * (byte % 3 == 0 ? 1.0 : 0.01);
}

static tpVec3 nextVector(Input* input) {
    double x = nextNumber(input), y = nextNumber(input);
    return tpMakeVec3(x, y, nextNumber(input));
}

static tpPose nextPose(Input* input) {
    tpPose pose;
    pose.position = nextVector(input);
    pose.rotation.w = nextNumber(input);
    tpVec3 v = nextVector(input);
    pose.rotation.x = v.x;
    pose.rotation.y = v.y;
    pose.rotation.z = v.z;
    if (nextByte(input) % 4 != 0) {
        pose.rotation = tpIdentityQuat();
    }
    return pose;
}

static int nextPlace(Input* input) {
    return nextByte(input) % most;
}

static int nextIndex(Input* input) {
    int byte = nextByte(input);
    return byte < 200 ? byte % 3 : byte < 230 ? byte : -byte;
}

// Calls -------------------------------------------------------------------------------------------

static void createBody(Scene* s) {
    tpBodyDef def = tpDefaultBodyDef();
    int byte = nextByte(&s->input);
    def.kind = (tpBodyKind)(byte % 8 < 6 ? 0 : byte % 4);
    tpPose pose = nextPose(&s->input);
    def.position = pose.position;
    def.rotation = byte % 5 == 0 ? pose.rotation : tpIdentityQuat();
    def.velocity = nextVector(&s->input);
    def.locked = byte % 7 == 0 ? (uint32_t)nextByte(&s->input) : 0;
    if (byte % 3 == 0) {
        def.hasMass = true;
        def.mass.mass = nextNumber(&s->input);
        def.mass.center = nextVector(&s->input);
        def.mass.inertia = tpScaleM(nextNumber(&s->input), tpIdentityMat33());
    }
    s->bodies[nextPlace(&s->input)] = tpCreateBody(s->world, &def, NULL);
}

static void createShape(Scene* s) {
    Input* in = &s->input;
    tpShapeDef def = tpDefaultShapeDef();
    int byte = nextByte(in);
    tpBodyId body = s->bodies[nextPlace(in)];
    tpShapeId* place = &s->shapes[nextPlace(in)];
    def.material = byte % 11 == 0 ? nextIndex(in) : 0;
    def.density = byte % 5 == 0 ? nextNumber(in) : 1000.0;
    def.pose = byte % 3 == 0 ? nextPose(in) : tpIdentityPose();
    double size = 0.1 * nextNumber(in);
    switch (byte % 5) {
    case 0:
        *place = tpCreateSphere(s->world, body, &def, &(tpSphere){ size }, NULL);
        break;
    case 1:
        *place = tpCreateBox(s->world, body, &def, &(tpBox){ { size, 0.2, nextNumber(in) } }, NULL);
        break;
    case 2:
        *place =
            tpCreateCapsule(s->world, body, &def,
                            &(tpCapsule){ size, nextNumber(in), tpMakeVec3(0.0, 0.0, 1.0) }, NULL);
        break;
    case 3:
        *place = tpCreatePlane(s->world, body, &def, &(tpPlane){ nextVector(in), size }, NULL);
        break;
    default:
        *place = tpCreateBox(s->world, body, &def, &(tpBox){ { 0.2, 0.2, 0.2 } }, NULL);
        break;
    }
}

static tpCoordinateDef nextLaws(Input* in) {
    tpCoordinateDef def = tpDefaultCoordinateDef();
    int byte = nextByte(in);
    if (byte & 1) {
        def.hasServo = true;
        def.servo.target = nextNumber(in);
        def.servo.stiffness = 10.0 * nextNumber(in);
        def.servo.damping = nextNumber(in);
        def.servo.effort = byte & 64 ? nextNumber(in) : INFINITY;
    }
    if (byte & 2) {
        def.hasLimits = true;
        def.limits[0] = nextNumber(in);
        def.limits[1] = nextNumber(in);
    }
    if (byte & 4) {
        def.hasSpring = true;
        def.spring.stiffness = nextNumber(in);
        def.spring.damping = nextNumber(in);
    }
    if (byte & 8) {
        def.hasMotor = true;
        def.motor.speed = nextNumber(in);
        def.motor.effort = nextNumber(in);
    }
    def.armature = byte & 16 ? nextNumber(in) : 0.0;
    def.damping = byte & 32 ? nextNumber(in) : 0.0;
    def.friction = byte & 128 ? nextNumber(in) : 0.0;
    return def;
}

static void createJoint(Scene* s) {
    Input* in = &s->input;
    tpJointDef def = tpDefaultJointDef();
    int byte = nextByte(in);
    def.type = (tpJointType)(byte % (tp_jointTypeCount + 1));
    def.bodyA = byte % 3 == 0 ? (tpBodyId){ 0, 0 } : s->bodies[nextPlace(in)];
    def.bodyB = s->bodies[nextPlace(in)];
    def.anchorA = nextVector(in);
    def.anchorB = byte % 4 == 0 ? nextVector(in) : def.anchorA;
    def.axis = byte % 5 == 0 ? nextVector(in) : tpMakeVec3(0.0, 1.0, 0.0);
    def.secondAxis = byte % 7 == 0 ? nextVector(in) : tpMakeVec3(1.0, 0.0, 0.0);
    def.coordinate = nextLaws(in);
    def.ratio = nextNumber(in);
    def.pitch = nextNumber(in);
    tpAxisDef axes[3];
    memset(axes, 0, sizeof(axes));
    for (int i = 0; i < 3; ++i) {
        axes[i].kind = (tpAxisKind)(nextByte(in) % 3);
        axes[i].direction = i == 2 ? nextVector(in) : tpMakeVec3(i == 0, i == 1, 0.0);
        axes[i].coordinate = i == 1 ? nextLaws(in) : tpDefaultCoordinateDef();
    }
    def.axes = byte % 13 == 0 ? NULL : axes;
    def.axisCount = byte % 17 == 0 ? nextIndex(in) % 3 : 3;
    s->joints[nextPlace(in)] = tpCreateJoint(s->world, &def, NULL);
}

static void createCoupling(Scene* s) {
    Input* in = &s->input;
    tpCouplingTerm terms[2];
    for (int i = 0; i < 2; ++i) {
        terms[i] = (tpCouplingTerm){ s->joints[nextPlace(in)], nextIndex(in), nextNumber(in) };
    }
    tpCouplingDef def = tpDefaultCouplingDef();
    def.terms = terms;
    def.termCount = 1 + nextByte(in) % 2;
    tpCoordinateDef laws = nextLaws(in);
    def.hasServo = laws.hasServo;
    def.servo = laws.servo;
    def.hasLimits = laws.hasLimits;
    memcpy(def.limits, laws.limits, sizeof(def.limits));
    def.hasSpring = laws.hasSpring;
    def.spring = laws.spring;
    def.hasValue = laws.hasMotor;
    def.value = laws.motor.speed;
    s->couplings[nextPlace(in)] = tpCreateCoupling(s->world, &def, NULL);
}

static void createSensor(Scene* s) {
    Input* in = &s->input;
    tpSensorDef def = tpDefaultSensorDef();
    def.type = (tpSensorType)(nextByte(in) % (tp_sensorTypeCount + 1));
    def.body = s->bodies[nextPlace(in)];
    def.joint = s->joints[nextPlace(in)];
    def.coordinate = nextIndex(in);
    if (nextByte(in) % 3 == 0) {
        def.shape = s->shapes[nextPlace(in)];
        def.pose = nextPose(in);
    }
    s->sensors[nextPlace(in)] = tpCreateSensor(s->world, &def, NULL);
}

static void createForce(Scene* s) {
    Input* in = &s->input;
    tpForceDef def = tpDefaultForceDef();
    def.body = s->bodies[nextPlace(in)];
    def.force = nextVector(in);
    def.torque = nextVector(in);
    def.hasPoint = nextByte(in) % 2;
    def.point = def.force;
    s->forces[nextPlace(in)] = tpCreateForce(s->world, &def, NULL);
}

static void destroy(Scene* s) {
    int kind = nextByte(&s->input) % 6, place = nextPlace(&s->input);
    switch (kind) {
    case 0:
        tpDestroyBody(s->world, s->bodies[place]);
        break;
    case 1:
        tpDestroyShape(s->world, s->shapes[place]);
        break;
    case 2:
        tpDestroyJoint(s->world, s->joints[place]);
        break;
    case 3:
        tpDestroyCoupling(s->world, s->couplings[place]);
        break;
    case 4:
        tpDestroySensor(s->world, s->sensors[place]);
        break;
    default:
        tpDestroyForce(s->world, s->forces[place]);
        break;
    }
}

static void pushBody(Scene* s) {
    Input* in = &s->input;
    int byte = nextByte(in);
    tpBodyId body = s->bodies[nextPlace(in)];
    tpFrame frame = (tpFrame)(byte / 16 % 2);
    switch (byte % 9) {
    case 0:
        tpBody_ApplyForce(s->world, body, nextVector(in), frame);
        break;
    case 1:
        tpBody_ApplyForceAt(s->world, body, nextVector(in), nextVector(in), frame);
        break;
    case 2:
        tpBody_ApplyTorque(s->world, body, nextVector(in), frame);
        break;
    case 3:
        tpBody_ApplyImpulse(s->world, body, nextVector(in), frame);
        break;
    case 4:
        tpBody_ApplyImpulseAt(s->world, body, nextVector(in), nextVector(in), frame);
        break;
    case 5:
        tpBody_ApplyAngularImpulse(s->world, body, nextVector(in), frame);
        break;
    case 6:
        tpBody_SetVelocity(s->world, body, nextVector(in), nextVector(in));
        break;
    case 7:
        tpBody_SetPose(s->world, body, nextPose(in));
        break;
    default:
        tpBody_SetTarget(s->world, body, nextPose(in));
        break;
    }
}

static void setBody(Scene* s) {
    Input* in = &s->input;
    int byte = nextByte(in);
    tpBodyId body = s->bodies[nextPlace(in)];
    tpMassProperties mass = { nextNumber(in), nextVector(in),
                              tpScaleM(nextNumber(in), tpIdentityMat33()) };
    switch (byte % 9) {
    case 0:
        tpBody_SetKind(s->world, body, (tpBodyKind)(byte / 9 % 4), NULL);
        break;
    case 1:
        tpBody_SetMass(s->world, body, byte & 128 ? NULL : &mass, NULL);
        break;
    case 2:
        tpBody_SetDamping(s->world, body, nextNumber(in), nextNumber(in));
        break;
    case 3:
        tpBody_SetGravityScale(s->world, body, nextNumber(in));
        break;
    case 4:
        tpBody_SetLocked(s->world, body, (uint32_t)nextByte(in));
        break;
    case 5:
        tpBody_SetAwake(s->world, body, byte & 128);
        break;
    case 6:
        tpBody_SetCollide(s->world, body, s->bodies[nextPlace(in)], byte & 128, NULL);
        break;
    case 7:
        tpShape_SetFilter(s->world, s->shapes[nextPlace(in)], (uint32_t)byte,
                          (uint32_t)nextByte(in));
        tpShape_SetMaterial(s->world, s->shapes[nextPlace(in)], nextIndex(in));
        tpShape_SetDensity(s->world, s->shapes[nextPlace(in)], nextNumber(in), NULL);
        break;
    default:
        (void)tpBody_GetDef(s->world, body);
        (void)tpBody_GetMass(s->world, body);
        (void)tpBody_GetShape(s->world, body, nextIndex(in));
        (void)tpShape_GetDef(s->world, s->shapes[nextPlace(in)]);
        break;
    }
}

static void setJoint(Scene* s) {
    Input* in = &s->input;
    int byte = nextByte(in), coordinate = nextIndex(in);
    tpJointId joint = s->joints[nextPlace(in)];
    tpCoordinateDef laws = nextLaws(in);
    tpVec3 force, torque;
    switch (byte % 8) {
    case 0:
        tpJoint_SetValue(s->world, joint, coordinate, nextNumber(in), NULL);
        break;
    case 1:
        tpJoint_SetSpeed(s->world, joint, coordinate, nextNumber(in), NULL);
        break;
    case 2:
        tpJoint_SetCoordinate(s->world, joint, coordinate, &laws, NULL);
        break;
    case 3:
        tpJoint_SetTarget(s->world, joint, coordinate, nextNumber(in), nextNumber(in));
        break;
    case 4:
        tpJoint_SetMotorSpeed(s->world, joint, coordinate, nextNumber(in));
        break;
    case 5:
        tpJoint_ApplyEffort(s->world, joint, coordinate, nextNumber(in));
        break;
    case 6:
        tpCoupling_SetTarget(s->world, s->couplings[nextPlace(in)], nextNumber(in), nextNumber(in));
        (void)tpCoupling_GetState(s->world, s->couplings[nextPlace(in)]);
        (void)tpCoupling_GetTerm(s->world, s->couplings[nextPlace(in)], coordinate);
        break;
    default:
        (void)tpJoint_GetState(s->world, joint, coordinate);
        (void)tpJoint_GetAxis(s->world, joint, coordinate);
        (void)tpJoint_GetDef(s->world, joint);
        tpJoint_GetReaction(s->world, joint, &force, &torque);
        break;
    }
}

static void setWorld(Scene* s) {
    Input* in = &s->input;
    int byte = nextByte(in);
    tpMaterialDef material = tpDefaultMaterialDef();
    switch (byte % 6) {
    case 0:
        tpWorld_SetGravity(s->world, nextVector(in));
        break;
    case 1:
        tpWorld_SetStepper(s->world, (tpStepperId)(byte / 6 % (tp_stepperCount + 1)));
        break;
    case 2:
        material.friction.staticCoefficient = nextNumber(in);
        material.friction.dynamicCoefficient = nextNumber(in);
        material.restitution = nextNumber(in);
        tpMaterial_SetDef(s->world, nextIndex(in), &material, NULL);
        break;
    case 3:
        tpWorld_SetHitSpeed(s->world, nextNumber(in));
        break;
    case 4:
        tpWorld_SetOption(s->world, "sleep", byte & 128 ? "true" : "nonsense", NULL);
        break;
    default:
        (void)tpWorld_CastRay(s->world, nextVector(in), nextVector(in), UINT32_MAX);
        break;
    }
}

static void passArrays(Scene* s) {
    Input* in = &s->input;
    double numbers[256];
    for (int i = 0; i < 256; ++i) {
        numbers[i] = i < 12 ? nextNumber(in) : 0.0;
    }
    int byte = nextByte(in);
    bool fits = 4 * tpWorld_GetMovingCount(s->world) <= 256 &&
                tpWorld_GetCoordinateCount(s->world) <= 256 &&
                tpWorld_GetSensorValueCount(s->world) <= 256;
    if (!fits) {
        return;
    }
    tpStateArrays arrays = { .velocities = numbers };
    switch (byte % 6) {
    case 0:
        tpWorld_WriteState(s->world, &arrays, NULL);
        break;
    case 1:
        tpWorld_WriteCoordinates(s->world, numbers, NULL, NULL);
        break;
    case 2:
        tpWorld_WriteCoordinates(s->world, NULL, numbers, NULL);
        break;
    case 3:
        tpWorld_WriteTargets(s->world, numbers, NULL, NULL);
        break;
    case 4:
        tpWorld_ApplyEfforts(s->world, numbers, NULL);
        break;
    default:
        tpWorld_ReadSensors(s->world, numbers);
        (void)tpSensor_GetValues(s->world, s->sensors[nextPlace(in)], numbers);
        tpWorld_ReadCoordinates(s->world, numbers, NULL, NULL);
        break;
    }
}

static void passSnapshot(Scene* s) {
    int byte = nextByte(&s->input);
    if (s->snapshot == NULL || byte % 3 == 0) {
        tpDestroySnapshot(s->snapshot);
        s->snapshot = tpWorld_Snapshot(s->world);
        return;
    }
    if (byte % 3 == 1) {
        tpWorld_Restore(s->world, s->snapshot, NULL);
        return;
    }
    // Through bytes, some of them changed.
    size_t size;
    const void* bytes = tpSnapshot_GetBytes(s->snapshot, &size);
    uint8_t* copy = malloc(size);
    REQUIRE(copy != NULL);
    memcpy(copy, bytes, size);
    if (byte >= 128) {
        copy[(size_t)nextByte(&s->input) * 7 % size] ^= (uint8_t)nextByte(&s->input);
    }
    tpSnapshot* other = tpCreateSnapshot(copy, byte >= 192 ? size / 2 : size, NULL, NULL);
    if (other != NULL) {
        tpWorld_Restore(s->world, other, NULL);
        tpDestroySnapshot(other);
    }
    free(copy);
}

static void passBatch(Scene* s) {
    Input* in = &s->input;
    tpWorldDef worldDef = tpDefaultWorldDef();
    tpWorld* second = nextByte(in) % 2 == 0 ? s->world : tpCreateWorld(&worldDef);
    tpWorld* worlds[2] = { s->world, second };
    tpBatchDef def = tpDefaultBatchDef();
    def.worlds = worlds;
    def.worldCount = 1 + nextByte(in) % 2;
    tpBatch* batch = tpCreateBatch(&def, NULL);
    if (batch != NULL) {
        tpBatchField field = (tpBatchField)(nextByte(in) % (tp_batchFieldCount + 1));
        int width = tpBatch_GetWidth(batch, field);
        double* numbers = calloc((size_t)width * 2 + 1, sizeof(double));
        REQUIRE(numbers != NULL);
        tpBatch_Read(batch, field, numbers, NULL);
        for (int i = 0; i < width; ++i) {
            numbers[i] = nextByte(in) % 3 == 0 ? nextNumber(in) : numbers[i];
        }
        tpBatch_Write(batch, field, numbers, NULL);
        tpBatch_Reset(batch, NULL, NULL);
        tpBatchView view;
        tpBatch_ViewState(batch, &view, NULL);
        free(numbers);
        tpDestroyBatch(batch);
    }
    if (second != s->world) {
        tpDestroyWorld(second);
    }
}

static bool isFinite(const tpWorld* world) {
    for (int i = 0; i < tpWorld_GetMovingCount(world); ++i) {
        tpBodyId body = tpWorld_GetMoving(world, i);
        if (!tpIsFiniteVec3(tpBody_GetPosition(world, body)) ||
            !tpIsFiniteVec3(tpBody_GetVelocity(world, body)) ||
            !tpIsFiniteVec3(tpBody_GetAngularVelocity(world, body))) {
            return false;
        }
    }
    return true;
}

static void step(Scene* s) {
    static const double lengths[4] = { 1.0 / 60.0, 1e-3, 0.01, 0.0 };
    int byte = nextByte(&s->input);
    double h = byte % 16 == 0 ? nextNumber(&s->input) : lengths[byte % 3];
    if (s->stepCount >= mostSteps || h > 0.1) {
        return;
    }
    s->stepCount += 1;
    tpWorld_Step(s->world, h);
    int count;
    (void)tpWorld_GetContacts(s->world, &count);
    (void)tpWorld_GetEvents(s->world, &count);
}

static void (*const calls[])(Scene*) = {
    createBody, createShape, createShape, createJoint, createCoupling, createSensor, createForce,
    destroy,    pushBody,    setBody,     setJoint,    setWorld,       passArrays,   passSnapshot,
    passBatch,  step,        step,        step,        createBody,
};

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t length) {
    tpSetMisuseHook(hear);
    Scene scene;
    memset(&scene, 0, sizeof(scene));
    scene.input = (Input){ data, length, 0 };
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = (tpStepperId)(nextByte(&scene.input) % tp_stepperCount);
    scene.world = tpCreateWorld(&def);
    REQUIRE(scene.world != NULL);
    for (int i = 0; i < mostCalls && scene.input.at < length; ++i) {
        int call = nextByte(&scene.input) % (int)(sizeof(calls) / sizeof(calls[0]));
        misuseCount = 0;
        uint64_t before = tpWorld_HashState(scene.world);
        bool wasFinite = isFinite(scene.world);
        calls[call](&scene);
        bool isSingle = calls[call] == pushBody || calls[call] == setWorld || calls[call] == step;
        REQUIRE(!isSingle || misuseCount == 0 || tpWorld_HashState(scene.world) == before);
        REQUIRE(!wasFinite || isFinite(scene.world));
    }
    tpDestroySnapshot(scene.snapshot);
    tpDestroyWorld(scene.world);
    return 0;
}
