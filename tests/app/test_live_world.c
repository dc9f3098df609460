// A world that is looked at: it steps when it is told, goes back and on with the same bits, and
// keeps changed numbers.

#include "page/live_world.h"

#include <math.h>
#include <string.h>

#include "support/check.h"
#include "tippe/joints.h"

static const char text[] =
    "{ \"tippe\": 1, \"gravity\": [0, 0, -9.81], \"materials\": { \"wood\": { \"friction\": {"
    " \"static\": 0.6, \"dynamic\": 0.3 } } },\n"
    "  \"bodies\": [ { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"wood\","
    " \"shapes\": [ { \"type\": \"plane\", \"normal\": [0, 0, 1] } ] },\n"
    "    { \"name\": \"box\", \"density\": 1000, \"material\": \"wood\", \"position\": [0, 0, 0.2],"
    " \"velocity\": [2, 0, 0], \"angular_velocity\": [0, 3, 1],"
    " \"shapes\": [ { \"type\": \"box\", \"size\": [0.2, 0.3, 0.2] } ] } ],\n"
    "  \"simulation\": { \"stepper\": \"anitescu\", \"step\": 0.01, \"until\": 0.5 } }";

static tpScene* scene;

static tpLiveWorld open(void) {
    tpError error;
    tpLiveWorld live = { 0 };
    if (tpParseScene(text, sizeof(text) - 1, "scene.json", NULL, &scene, &error) != tp_success ||
        openLiveWorld(&live, scene, 1, 100 << 20, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    return live;
}

static void close(tpLiveWorld* live) {
    closeLiveWorld(live);
    tpDestroyScene(scene);
}

static void order(tpLiveWorld* live, const char* words) {
    tpLiveOrder order;
    tpError error;
    if (readLiveOrder(words, strlen(words), &order, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    obeyLiveOrder(live, &order, 0.0);
}

// Takes steps as long as they are due at a clock; how many.
static int advance(tpLiveWorld* live, double clock) {
    int count = 0;
    for (double wait; isLiveStepDue(live, clock, &wait); ++count) {
        tpLiveStep step = startLiveStep(live);
        takeLiveStep(live, &step);
        finishLiveStep(live, &step);
    }
    return count;
}

static void stepsWhenItIsTold(void** state) {
    (void)state;
    tpLiveWorld live = open();
    assert_int_equal(advance(&live, 1.0), 0);
    order(&live, "{ \"steps\": 3 }");
    assert_int_equal(advance(&live, 0.0), 3);
    order(&live, "{ \"begin\": true }"); // it has stepped: too late to begin
    assert_false(live.status.isRunning);
    order(&live, "{ \"running\": true, \"speed\": 2 }");
    // 20 steps of 0.01 s in 0.1 s at twice the pace, within a step; then the clock is 0.2 s behind
    // at most.
    int count = advance(&live, 0.1001);
    assert_true(count >= 19 && count <= 21);
    // The end of the scene stops it, and it goes on from there.
    for (int k = 1; k < 100; ++k) {
        advance(&live, 0.1 * k);
    }
    assert_false(live.status.isRunning);
    assert_float_equal(tpWorld_GetTime(live.world), 0.5, 1e-9);
    order(&live, "{ \"running\": true }");
    assert_true(advance(&live, 0.05) > 0);
    assert_true(tpWorld_GetTime(live.world) > 0.5);
    close(&live);
}

// A world that follows another one stands where it is told to, and goes on when that moves.
static void standsAtALimit(void** state) {
    (void)state;
    tpLiveWorld live = open();
    order(&live, "{ \"running\": true, \"limit\": 0.1, \"speed\": 100 }");
    advance(&live, 0.1);
    assert_true(live.status.isRunning);
    assert_float_equal(tpWorld_GetTime(live.world), 0.1, 1e-9);
    order(&live, "{ \"limit\": 0.204 }");
    advance(&live, 0.1);
    assert_float_equal(tpWorld_GetTime(live.world), 0.2, 1e-9);
    close(&live);
}

static void beginsOnce(void** state) {
    (void)state;
    tpLiveWorld live = open();
    order(&live, "{ \"begin\": true }");
    assert_true(live.status.isRunning);
    order(&live, "{ \"running\": false }");
    order(&live, "{ \"begin\": true }");
    assert_false(live.status.isRunning);
    close(&live);
}

// From a frame of the past it goes the same way again, bit for bit, unless something is changed.
static void goesBackAndOn(void** state) {
    (void)state;
    tpLiveWorld live = open();
    order(&live, "{ \"steps\": 40 }");
    advance(&live, 0.0);
    assert_int_equal(live.status.frameCount, 41);
    uint64_t first = tpWorld_HashState(live.world);
    order(&live, "{ \"fork\": 12 }");
    assert_int_equal(live.status.frameCount, 13);
    assert_int_equal(live.status.epoch, 1);
    assert_float_equal(tpWorld_GetTime(live.world), 0.12, 1e-12);
    order(&live, "{ \"steps\": 28 }");
    advance(&live, 0.0);
    assert_true(tpWorld_HashState(live.world) == first);

    order(&live, "{ \"fork\": 12, \"material\": { \"name\": \"wood\", \"friction\": 0.05 } }");
    order(&live, "{ \"steps\": 28 }");
    advance(&live, 0.0);
    assert_true(tpWorld_HashState(live.world) != first);

    // With another stepper since, and back to a frame of the first one.
    order(&live, "{ \"stepper\": \"stewart-trinkle\", \"steps\": 5 }");
    advance(&live, 0.0);
    order(&live, "{ \"fork\": 3 }");
    assert_string_equal(live.status.message, "");
    assert_int_equal(live.status.frameCount, 4);
    assert_int_equal(tpWorld_GetStepper(live.world), tp_stewartTrinkle);
    order(&live, "{ \"fork\": 9999 }");
    assert_int_equal(live.status.frameCount, 4);
    close(&live);
}

static void changesOutliveARestart(void** state) {
    (void)state;
    tpLiveWorld live = open();
    order(&live,
          "{ \"material\": { \"name\": \"wood\", \"friction\": 0.1, \"restitution\": 0.5 } }");
    order(&live, "{ \"material\": { \"name\": \"wood\", \"torsional\": 0.01 } }");
    order(&live, "{ \"mass\": { \"body\": 1, \"mass\": 3 } }");
    order(&live, "{ \"gravity\": [0, 0, -1] }");
    order(&live, "{ \"restart\": true, \"running\": true }");
    assert_int_equal(live.status.epoch, 1);
    assert_true(live.status.isRunning);
    tpMaterialDef def = tpMaterial_GetDef(live.world, tpWorld_FindMaterial(live.world, "wood"));
    assert_true(def.friction.dynamicCoefficient == 0.1 && def.restitution == 0.5);
    assert_float_equal(def.friction.staticCoefficient, 0.2, 1e-15); // keeps its ratio
    assert_true(def.friction.torsionalArm == 0.01);
    tpMassProperties mass = tpBody_GetMass(live.world, tpWorld_GetBody(live.world, 1));
    assert_true(mass.mass == 3.0);
    assert_float_equal(mass.inertia.cx.x, 3.0 / 12.0 * (0.09 + 0.04), 1e-12);
    assert_true(tpWorld_GetGravity(live.world).z == -1.0);
    close(&live);
}

// The target of a servo can be moved while the run goes on, and stays when it starts again.
static void drivesJoints(void** state) {
    (void)state;
    static const char arm[] =
        "{ \"tippe\": 1, \"gravity\": [0, 0, -9.81], \"bodies\": [ { \"name\": \"arm\", "
        "\"density\": 500, \"position\": [0.2, 0, 0], \"shapes\": [ { \"type\": \"box\", "
        "\"size\": [0.4, 0.1, 0.1] } ] } ],\n"
        "  \"joints\": [ { \"name\": \"elbow\", \"type\": \"revolute\", \"bodies\": [null, "
        "\"arm\"], \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0], \"servo\": { \"target\": 0, "
        "\"stiffness\": 1e5, \"damping\": 1e3 } } ],\n"
        "  \"simulation\": { \"stepper\": \"anitescu\", \"step\": 0.01, \"until\": 5 } }";
    tpError error;
    tpLiveWorld live = { 0 };
    assert_int_equal(tpParseScene(arm, sizeof(arm) - 1, "arm.json", NULL, &scene, &error),
                     tp_success);
    assert_int_equal(openLiveWorld(&live, scene, 1, 100 << 20, &error), tp_success);
    tpText settings = { .allocator = &live.allocator };
    order(&live, "{ \"target\": { \"joint\": 0, \"coordinate\": 0, \"value\": 0.75 } }");
    writeLiveSettings(live.world, &live.roster, &settings);
    assert_non_null(strstr(settings.bytes.data, "\"joints\":[[{\"name\":\"\",\"unit\":\"rad\","
                                                "\"limits\":[null,null],\"target\":0.75}]]"));
    tpText_Free(&settings);
    for (int round = 0; round < 2; ++round) {
        order(&live, "{ \"steps\": 300 }");
        advance(&live, 0.0);
        double value = tpJoint_GetValue(live.world, live.roster.joints[0].id, 0);
        assert_float_equal(value, 0.75, 1e-3);
        // The newest frame has the coordinate: value, speed, target, effort against the weight.
        const double* kept =
            findLiveFrame(&live.frames, countLiveFrames(&live.frames) - 1)->coordinates;
        assert_true(kept[0] == value && kept[2] == 0.75);
        assert_true(kept[1] == tpJoint_GetSpeed(live.world, live.roster.joints[0].id, 0));
        assert_float_equal(kept[3], -2.0 * 9.81 * 0.2 * cos(0.75), 0.05);
        order(&live, "{ \"restart\": true }");
    }
    static const char* const wrong[] = {
        "{ \"target\": { \"joint\": 7, \"coordinate\": 0, \"value\": 1 } }",
        "{ \"target\": { \"joint\": 0, \"coordinate\": 3, \"value\": 1 } }",
        "{ \"motor\": { \"joint\": 0, \"coordinate\": 0, \"value\": 1 } }",
    };
    for (int i = 0; i < 3; ++i) {
        order(&live, wrong[i]);
        assert_true(live.status.message[0] != '\0');
    }
    close(&live);
}

// Two slides whose sum is driven: the target of the coupling can be moved, and stays as well.
static void drivesCouplings(void** state) {
    (void)state;
    static const char jaws[] =
        "{ \"tippe\": 1, \"gravity\": [0, 0, 0], \"bodies\": [ { \"name\": \"a\", \"density\": "
        "500, "
        "\"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] }, { \"name\": \"b\", "
        "\"density\": 500, \"position\": [0, 1, 0], \"shapes\": [ { \"type\": \"sphere\", "
        "\"radius\": 0.1 } ] } ],\n"
        "  \"joints\": [ { \"name\": \"p\", \"type\": \"prismatic\", \"bodies\": [null, \"a\"], "
        "\"anchor\": [0, 0, 0], \"axis\": [1, 0, 0] }, { \"name\": \"q\", \"type\": "
        "\"prismatic\", \"bodies\": [null, \"b\"], \"anchor\": [0, 1, 0], \"axis\": [1, 0, 0] } "
        "],\n"
        "  \"couplings\": [ { \"name\": \"held\", \"of\": [[\"p\", 1], [\"q\", -1]], \"value\": 0 "
        "}, { \"name\": \"grip\", \"of\": [[\"p\", 1], [\"q\", 2]], \"limits\": [-1, 1], "
        "\"servo\": { "
        "\"target\": 0, \"stiffness\": 1e4, \"damping\": 1e3 } } ],\n"
        "  \"simulation\": { \"stepper\": \"anitescu\", \"step\": 0.01, \"until\": 5 } }";
    tpError error;
    tpLiveWorld live = { 0 };
    assert_int_equal(tpParseScene(jaws, sizeof(jaws) - 1, "jaws.json", NULL, &scene, &error),
                     tp_success);
    assert_int_equal(openLiveWorld(&live, scene, 1, 100 << 20, &error), tp_success);
    tpText settings = { .allocator = &live.allocator };
    order(&live, "{ \"target\": { \"coupling\": 1, \"value\": 0.6 } }");
    writeLiveSettings(live.world, &live.roster, &settings);
    assert_non_null(strstr(settings.bytes.data,
                           "{\"name\":\"grip\",\"terms\":[[\"p\",0,1],[\"q\",0,2]],"
                           "\"unit\":\"m\",\"limits\":[-1,1],\"target\":0.6}]"));
    tpText_Free(&settings);
    for (int round = 0; round < 2; ++round) {
        order(&live, "{ \"steps\": 300 }");
        advance(&live, 0.0);
        for (int i = 0; i < 2; ++i) {
            double value = tpJoint_GetValue(live.world, live.roster.joints[i].id, 0);
            assert_float_equal(value, 0.2, 1e-3); // p = q, p + 2 q = 0.6
        }
        order(&live, "{ \"restart\": true }");
    }
    static const char* const wrong[] = {
        "{ \"target\": { \"coupling\": 7, \"value\": 1 } }",
        "{ \"target\": { \"coupling\": 0, \"value\": 1 } }",
    };
    for (int i = 0; i < 2; ++i) {
        order(&live, wrong[i]);
        assert_true(live.status.message[0] != '\0');
    }
    close(&live);
}

static void wrongOrdersAreTold(void** state) {
    (void)state;
    tpLiveWorld live = open();
    static const char* const orders[][2] = {
        { "{ \"material\": { \"name\": \"gold\", \"friction\": 0.1 } }", "no material \"gold\"" },
        { "{ \"mass\": { \"body\": 0, \"mass\": 3 } }", "dynamic" },
        { "{ \"mass\": { \"body\": 77, \"mass\": 3 } }", "dynamic" },
        { "{ \"option\": { \"name\": \"no-such\", \"value\": \"1\" } }", "no-such" },
    };
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); ++i) {
        order(&live, "{ \"running\": true }");
        order(&live, orders[i][0]);
        assert_non_null(strstr(live.status.message, orders[i][1]));
        assert_false(live.status.isRunning);
    }
    close(&live);
}

// A hand lifts the box, and a body that is not there is not pulled.
static void handsPull(void** state) {
    (void)state;
    tpLiveWorld live = open();
    order(&live, "{ \"drag\": { \"body\": 1, \"point\": [0, 0, 0], \"target\": [0, 0, 1] } }");
    order(&live, "{ \"steps\": 100 }");
    advance(&live, 0.0);
    assert_float_equal(tpBody_GetPosition(live.world, tpWorld_GetBody(live.world, 1)).z, 1.0, 0.02);
    order(&live, "{ \"drop\": true }");
    order(&live, "{ \"drag\": { \"body\": 99, \"point\": [0, 0, 0], \"target\": [0, 0, 1] } }");
    order(&live, "{ \"steps\": 100 }");
    advance(&live, 0.0);
    assert_true(tpBody_GetPosition(live.world, tpWorld_GetBody(live.world, 1)).z < 0.2);
    close(&live);
}

// Beyond the limit the oldest frames are forgotten, and what is kept can still be gone back to.
static void memoryIsBounded(void** state) {
    (void)state;
    tpLiveWorld live = open();
    live.frames.memoryLimit = 100000;
    order(&live, "{ \"steps\": 400 }");
    advance(&live, 0.0);
    assert_true(live.status.firstFrame > 100 && live.status.frameCount == 401);
    assert_true(live.frames.memoryUsed <= 100000);
    size_t total = 0; // what the frames that are left really hold
    for (int64_t k = live.status.firstFrame; k < live.status.frameCount; ++k) {
        const tpLiveFrame* kept = findLiveFrame(&live.frames, k);
        size_t size = 0;
        tpSnapshot_GetBytes(kept->snapshot, &size);
        total += size + kept->blockSize + sizeof(*kept);
    }
    assert_true(total > 20000 && total <= live.frames.memoryUsed);
    order(&live, "{ \"fork\": 5 }"); // gone
    assert_true(live.status.message[0] != '\0');
    int64_t frame = live.status.firstFrame + 3;
    char words[60];
    snprintf(words, sizeof(words), "{ \"fork\": %lld }", (long long)frame);
    order(&live, words);
    assert_int_equal(live.status.frameCount, frame + 1);
    close(&live);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stepsWhenItIsTold),
        cmocka_unit_test(standsAtALimit),
        cmocka_unit_test(beginsOnce),
        cmocka_unit_test(goesBackAndOn),
        cmocka_unit_test(changesOutliveARestart),
        cmocka_unit_test(drivesJoints),
        cmocka_unit_test(drivesCouplings),
        cmocka_unit_test(wrongOrdersAreTold),
        cmocka_unit_test(handsPull),
        cmocka_unit_test(memoryIsBounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
