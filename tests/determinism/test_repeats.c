// The same scene gives the same bits: run after run, and on one thread and on two.

#include <string.h>

#include "support/check.h"
#include "tippe/scene.h"
#include "tippe/world.h"

// FNV-1a over the bits of all poses and velocities.
static uint64_t hashOf(const tpWorld* world, uint64_t hash) {
    for (int i = 0; i < tpWorld_GetBodyCount(world); ++i) {
        tpBodyId body = tpWorld_GetBody(world, i);
        double numbers[13];
        tpVec3 position = tpBody_GetPosition(world, body);
        tpQuat rotation = tpBody_GetRotation(world, body);
        tpVec3 velocity = tpBody_GetVelocity(world, body);
        tpVec3 spin = tpBody_GetAngularVelocity(world, body);
        memcpy(numbers, &position, sizeof(position));
        memcpy(numbers + 3, &rotation, sizeof(rotation));
        memcpy(numbers + 7, &velocity, sizeof(velocity));
        memcpy(numbers + 10, &spin, sizeof(spin));
        const unsigned char* bytes = (const unsigned char*)numbers;
        for (size_t k = 0; k < sizeof(numbers); ++k) {
            hash = (hash ^ bytes[k]) * UINT64_C(0x100000001b3);
        }
    }
    return hash;
}

static uint64_t runScene(const char* name, tpStepperId stepper, int threads, int steps) {
    char path[512];
    snprintf(path, sizeof(path), "%s/scenes/%s.json", TIPPE_SOURCE_DIR, name);
    tpAllocator allocator = tpDefaultAllocator();
    tpScene* scene = NULL;
    tpWorld* world = NULL;
    tpError error;
    if (tpReadScene(path, &allocator, &scene, &error) != tp_success ||
        tpScene_CreateWorld(scene, &allocator, threads, &world, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(tpWorld_SetStepper(world, stepper), tp_success);
    assert_true(tpWorld_GetBodyCount(world) > 0);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int k = 0; k < steps; ++k) {
        tpWorld_Step(world, scene->simulation.step);
        hash = hashOf(world, hash);
    }
    tpDestroyScene(scene);
    tpDestroyWorld(world);
    return hash;
}

static void scenesRepeat(void** state) {
    (void)state;
    static const char* const names[] = { "discs66", "card_house", "disc_pyramid", "chain",
                                         "four_balls" };
    static const tpStepperId steppers[] = { tp_stewartTrinkle, tp_anitescu };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        for (int s = 0; s < 2; ++s) {
            uint64_t first = runScene(names[i], steppers[s], 1, 40);
            assert_true(first == runScene(names[i], steppers[s], 1, 40));
            assert_true(first == runScene(names[i], steppers[s], 2, 40));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(scenesRepeat) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
