// What memory held before it was given to a world does not matter: every bit of a run is the same
// whether blocks and the stack come filled with zeros or with ones; and so is what a snapshot
// holds.

#include <stdlib.h>
#include <string.h>

#include "support/hash.h"
#include "tippe/scene.h"
#include "world/world.h"

// The stack below the caller: what functions leave unset that are called next, padding included.
static void fillStack(unsigned char fill) {
    volatile unsigned char below[8192];
    for (size_t i = 0; i < sizeof(below); ++i) {
        below[i] = fill;
    }
}

// An allocator whose blocks are filled with a byte, when they come and before they go.
static void* allocateFilled(size_t size, void* context) {
    tpAllocator plain = tpDefaultAllocator();
    void* memory = plain.allocate(size, plain.context);
    if (memory != NULL) {
        memset(memory, *(const unsigned char*)context, size);
    }
    return memory;
}

static void releaseFilled(void* memory, size_t size, void* context) {
    memset(memory, *(const unsigned char*)context, size);
    tpAllocator plain = tpDefaultAllocator();
    plain.release(memory, size, plain.context);
}

static const tpStepperId steppers[] = { tp_stewartTrinkle,     tp_anitescu,
                                        tp_mirtichCanny,       tp_benderSchmitt,
                                        tp_chakrabortyTrinkle, tp_penalty,
                                        tp_smallSteps,         tp_auto };
enum { stepperCount = sizeof(steppers) / sizeof(steppers[0]) };

// Zeros; NaN, -1 and true.
static const unsigned char fills[] = { 0x00, 0xff };
enum { fillCount = sizeof(fills) / sizeof(fills[0]) };

// All that a world keeps for its next step.
static void hashSnapshot(uint64_t* hash, tpWorld* world) {
    size_t size;
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    assert_non_null(snapshot);
    const void* bytes = tpSnapshot_GetBytes(snapshot, &size);
    hashBytes(hash, bytes, size);
    tpDestroySnapshot(snapshot);
}

// The part of a snapshot that is the stepper's, written with a stack that is filled.
static void hashSaved(uint64_t* hash, const tpWorld* world, unsigned char fill) {
    const tpStepper* stepper = world->stepper;
    if (stepper->savedSize == NULL) {
        return;
    }
    size_t size = stepper->savedSize(world->stepperState);
    unsigned char* bytes = calloc(size, 1);
    assert_non_null(bytes);
    fillStack(fill);
    stepper->save(world->stepperState, bytes);
    hashBytes(hash, bytes, size);
    free(bytes);
}

static void hashStep(uint64_t* hash, tpWorld* world, const tpStepReport* r) {
    uint64_t state = tpWorld_HashState(world);
    hashBytes(hash, &state, sizeof(state));
    const double numbers[] = { r->residual,      r->penetration,  r->jointDrift,
                               r->externalWork,  r->frictionLoss, r->impactLoss,
                               r->coneViolation, r->contactCount, r->iterationCount,
                               r->kineticAfter,  r->violations,   r->dissipationViolation };
    for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); ++k) {
        hashNumber(hash, numbers[k]);
    }
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    for (int i = 0; i < count; ++i) {
        hashVector(hash, contacts[i].point);
        hashVector(hash, contacts[i].normal);
        hashNumber(hash, contacts[i].gap);
        hashNumber(hash, contacts[i].normalImpulse);
    }
}

static uint64_t runScene(const char* name, tpStepperId stepper, int steps, unsigned char fill) {
    char path[512];
    snprintf(path, sizeof(path), "%s/tests/determinism/scenes/%s.json", TIPPE_SOURCE_DIR, name);
    tpAllocator allocator = { allocateFilled, releaseFilled, &fill };
    tpScene* scene = NULL;
    tpWorld* world = NULL;
    tpError error;
    if (tpReadScene(path, &allocator, &scene, &error) != tp_success ||
        tpScene_CreateWorld(scene, &allocator, 1, &world, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(tpWorld_SetStepper(world, stepper), tp_success);
    uint64_t hash = hashStart;
    for (int k = 0; k < steps; ++k) {
        tpStepReport report = tpWorld_Step(world, scene->simulation.step);
        hashStep(&hash, world, &report);
    }
    hashSnapshot(&hash, world);
    hashSaved(&hash, world, fill);
    tpDestroyScene(scene);
    tpDestroyWorld(world);
    return hash;
}

static void scenesDoNotMind(void** state) {
    (void)state;
    static const struct {
        const char* name;
        int steps;
    } scenes[] = { { "thrown_on_box", 6 }, { "meshes", 4 },    { "round", 8 },
                   { "arms", 4 },          { "linkage_a", 6 }, { "given_gears", 6 } };
    for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); ++i) {
        for (int s = 0; s < stepperCount; ++s) {
            uint64_t first = runScene(scenes[i].name, steppers[s], scenes[i].steps, fills[0]);
            for (int f = 1; f < fillCount; ++f) {
                uint64_t other = runScene(scenes[i].name, steppers[s], scenes[i].steps, fills[f]);
                if (other != first) {
                    fail_msg("%s by %s: filled with %d", scenes[i].name, tpStepperName(steppers[s]),
                             fills[f]);
                }
            }
        }
    }
}

// Worlds that a user changes on the way -----------------------------------------------------------

static tpBodyId addShape(tpWorld* world, int kind, tpVec3 position) {
    static const tpVec3 points[] = { { -0.2, -0.2, -0.15 },
                                     { 0.25, -0.2, -0.15 },
                                     { 0.0, 0.3, -0.15 },
                                     { 0.0, 0.0, 0.25 },
                                     { 0.2, 0.2, 0.1 } };
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    def.rotation = tpQuatFromAxisAngle(tpMakeVec3(0.6, 0.0, 0.8), 0.3 * kind);
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    tpGeometry hull;
    tpAllocator heap = tpDefaultAllocator();
    switch (kind % 5) {
    case 0:
        tpCreateSphere(world, body, &shape, &(tpSphere){ 0.25 }, NULL);
        break;
    case 1:
        tpCreateBox(world, body, &shape, &(tpBox){ { 0.5, 0.4, 0.3 } }, NULL);
        break;
    case 2:
        assert_int_equal(tpMakeHull(&heap, points, 5, tpIdentityPose(), &hull, NULL), tp_success);
        tpCreateShape(world, body, &shape, &hull, NULL);
        tpReleaseGeometry(&hull);
        break;
    case 3:
        tpCreateCapsule(world, body, &shape, &(tpCapsule){ 0.2, 0.3, { 1.0, 0.0, 0.0 } }, NULL);
        break;
    default:
        tpCreateCylinder(world, body, &shape, &(tpCylinder){ 0.2, 0.4, { 0.0, 0.0, 1.0 } }, NULL);
        break;
    }
    return body;
}

// Spheres; then, step by step, boxes, hulls, capsules and cylinders among them, of which the oldest
// go again, and spheres alone in the end: what a stepper keeps of pairs begins, ends, begins anew.
static uint64_t runChanges(tpStepperId stepper, unsigned char fill) {
    enum { steps = 36, most = 64 };
    tpWorldDef def = tpDefaultWorldDef();
    def.allocator = (tpAllocator){ allocateFilled, releaseFilled, &fill };
    def.stepper = stepper;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    tpShapeDef shape = tpDefaultShapeDef();
    tpBodyDef floor = tpDefaultBodyDef();
    floor.kind = tp_fixedBody;
    tpCreatePlane(world, tpCreateBody(world, &floor, NULL), &shape,
                  &(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, NULL);
    tpBodyId others[most];
    int count = 0, gone = 0;
    for (int i = 0; i < 9; ++i) {
        addShape(world, 0, tpMakeVec3(0.49 * (i % 3), 0.49 * (i / 3), 0.249));
    }
    uint64_t hash = hashStart;
    for (int k = 0; k < steps; ++k) {
        int phase = k % 22;
        if (phase >= 3 && phase < 11) {
            int kind = 1 + (phase + k / 22) % 4;
            others[count] = addShape(
                world, kind, tpMakeVec3(0.3 * (phase % 4), 0.3 * (phase / 4), 0.75 + 0.05 * phase));
            ++count;
        } else if (phase >= 13 && gone < count) {
            tpDestroyBody(world, others[gone++]);
        }
        tpStepReport report = tpWorld_Step(world, 0.01);
        hashStep(&hash, world, &report);
        hashSnapshot(&hash, world);
        hashSaved(&hash, world, fill);
    }
    tpDestroyWorld(world);
    return hash;
}

static void changesDoNotMind(void** state) {
    (void)state;
    for (int s = 0; s < stepperCount; ++s) {
        uint64_t first = runChanges(steppers[s], fills[0]);
        for (int f = 1; f < fillCount; ++f) {
            if (runChanges(steppers[s], fills[f]) != first) {
                fail_msg("%s: filled with %d", tpStepperName(steppers[s]), fills[f]);
            }
        }
    }
}

// A pile of all kinds, after a few steps.
static tpWorld* makePile(tpStepperId stepper) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    tpShapeDef shape = tpDefaultShapeDef();
    tpBodyDef floor = tpDefaultBodyDef();
    floor.kind = tp_fixedBody;
    tpCreatePlane(world, tpCreateBody(world, &floor, NULL), &shape,
                  &(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, NULL);
    for (int i = 0; i < 10; ++i) {
        addShape(world, i, tpMakeVec3(0.4 * (i % 3), 0.4 * (i / 3), 0.2 + 0.05 * (i % 2)));
    }
    return world;
}

static uint64_t changeAndGoOn(tpWorld* world) {
    uint64_t hash = hashStart;
    addShape(world, 2, tpMakeVec3(0.3, 0.5, 0.9));
    for (int k = 0; k < 4; ++k) {
        tpWorld_Step(world, 0.01);
        uint64_t state = tpWorld_HashState(world);
        hashBytes(&hash, &state, sizeof(state));
    }
    tpDestroyWorld(world);
    return hash;
}

// A snapshot that goes on in another world, whose hulls lie elsewhere in memory: a body that comes
// later finds the same contacts there, and the same impulses to begin with.
static void restoredWorldsChangeAlike(void** state) {
    (void)state;
    for (int s = 0; s < stepperCount; ++s) {
        tpWorld *world = makePile(steppers[s]), *other = makePile(steppers[s]);
        for (int k = 0; k < 5; ++k) {
            tpWorld_Step(world, 0.01);
        }
        tpSnapshot* snapshot = tpWorld_Snapshot(world);
        assert_int_equal(tpWorld_Restore(other, snapshot, NULL), tp_success);
        tpDestroySnapshot(snapshot);
        if (changeAndGoOn(world) != changeAndGoOn(other)) {
            fail_msg("%s", tpStepperName(steppers[s]));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenesDoNotMind),
        cmocka_unit_test(changesDoNotMind),
        cmocka_unit_test(restoredWorldsChangeAlike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
