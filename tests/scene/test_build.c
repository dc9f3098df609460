// From scene to world: what the file says is what the world has, and what it refuses has a place.

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "full_scene.h"
#include "marked_text.h"
#include "scene/vocabulary.h"
#include "support/check.h"
#include "support/failing_allocator.h"

static tpScene* parse(const char* text, const char* path) {
    tpScene* scene;
    tpError error;
    if (tpParseScene(text, strlen(text), path, NULL, &scene, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    return scene;
}

static tpWorld* build(const tpScene* scene) {
    tpWorld* world;
    tpError error;
    if (tpScene_CreateWorld(scene, NULL, 1, &world, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    return world;
}

static void buildWhole(void** state) {
    (void)state;
    tpScene* scene = parse(fullScene, "scene.json");
    tpWorld* world = build(scene);
    assert_int_equal(tpWorld_GetBodyCount(world), 6);
    assert_int_equal(tpWorld_GetJointCount(world), 5);
    CHECK_VEC3(tpWorld_GetGravity(world), tpMakeVec3(0.0, -9.81, 0.1), 0.0);
    for (int i = 0; i < 6; ++i) {
        tpBodyId body = tpWorld_GetBody(world, i);
        assert_string_equal(tpBody_GetName(world, body), scene->bodies.items[i].name.text);
        assert_int_equal(tpBody_GetKind(world, body), scene->bodies.items[i].kind);
        assert_int_equal(tpBody_GetShapeCount(world, body) + tpBody_GetVisualCount(world, body),
                         scene->bodies.items[i].shapes.count);
        for (int k = 0; k < tpBody_GetShapeCount(world, body); ++k) {
            tpShapeId shape = tpBody_GetShape(world, body, k);
            assert_int_equal(tpShape_GetGeometry(world, shape)->type,
                             scene->bodies.items[i].shapes.items[k].type);
        }
    }
    assert_string_equal(tpJoint_GetName(world, tpWorld_GetJoint(world, 0)), "hinge");
    tpDestroyWorld(world);
    tpDestroyScene(scene);
}

static void placeBodies(void** state) {
    (void)state;
    tpScene* scene = parse(fullScene, "scene.json");
    tpWorld* world = build(scene);
    tpBodyId top = tpWorld_FindBody(world, "top");
    // A quarter turn about z takes the centre of mass from +y to -x.
    CHECK_VEC3(tpBody_GetPosition(world, top), tpMakeVec3(0.9, 2.0, 3.0), 1e-15);
    CHECK_VEC3(tpBody_GetPose(world, top).position, tpMakeVec3(1.0, 2.0, 3.0), 1e-15);
    CHECK_VEC3(tpBody_GetVelocity(world, top), tpMakeVec3(0.1, 0.2, 0.3), 0.0);
    CHECK_VEC3(tpBody_GetAngularVelocity(world, top), tpMakeVec3(1.0, 2.0, 3.0), 1e-15);
    tpQuat turn = tpBody_GetRotation(world, top);
    CHECK_NEAR(fabs(tpDotQQ(turn, tpMakeQuat(sqrt(0.5), 0.0, 0.0, sqrt(0.5)))), 1.0, 1e-15);
    tpMassProperties mass = tpBody_GetMass(world, top);
    CHECK_NEAR(mass.mass, 2.0, 0.0);
    CHECK_NEAR(mass.inertia.cx.z, -0.02, 1e-15);
    CHECK_NEAR(mass.inertia.cz.y, 0.03, 1e-15);
    CHECK_VEC3(mass.center, tpMakeVec3(0.0, 0.1, 0.0), 1e-15);
    tpDestroyWorld(world);
    tpDestroyScene(scene);
}

static void buildMaterials(void** state) {
    (void)state;
    tpScene* scene = parse(fullScene, "scene.json");
    tpWorld* world = build(scene);
    // Material 0 is the world's own default; those of the scene follow in order.
    tpFriction friction;
    double restitution;
    tpGetMaterialPair(world, 1, 2, &friction, &restitution); // wood on steel: the rule
    CHECK_NEAR(friction.staticCoefficient, sqrt(0.6 * 0.5), 1e-15);
    CHECK_NEAR(friction.dynamicCoefficient, sqrt(0.6 * 0.4), 1e-15);
    CHECK_NEAR(restitution, 0.25, 0.0);
    tpGetMaterialPair(world, 3, 1, &friction, &restitution); // ice on wood: the pair's friction
    CHECK_NEAR(friction.dynamicCoefficient, 0.1, 0.0);
    CHECK_NEAR(restitution, 0.25, 0.0);
    tpGetMaterialPair(world, 3, 3, &friction, &restitution);
    CHECK_NEAR(friction.dynamicCoefficient, 0.02, 0.0); // static alone stands for both
    CHECK_NEAR(restitution, 1.0, 0.0);
    tpBodyId top = tpWorld_FindBody(world, "top");
    assert_int_equal(tpShape_GetMaterial(world, tpBody_GetShape(world, top, 0)), 3); // its own
    tpBodyId ground = tpWorld_FindBody(world, "ground");
    assert_int_equal(tpShape_GetMaterial(world, tpBody_GetShape(world, ground, 0)), 1);
    tpDestroyWorld(world);
    tpDestroyScene(scene);
}

#define AROUND(inside)                                                                             \
    "{ \"tippe\": 1, \"simulation\": { \"step\": 0.01, \"until\": 1 },\n  \"bodies\": [\n" inside  \
    " ] }"

// Density gives the closed forms; a mass alone scales them.
static void deriveMass(void** state) {
    (void)state;
    tpScene* scene = parse(
        AROUND(
            "{ \"name\": \"a\", \"density\": 3, \"shapes\": [ { \"type\": \"box\", \"size\": [1, "
            "2, 4], \"position\": [5, 0, 0] } ] },\n"
            "{ \"name\": \"b\", \"mass\": 10, \"shapes\": [ { \"type\": \"sphere\", \"radius\": 2 "
            "} ] },\n"
            "{ \"name\": \"c\", \"density\": 1, \"shapes\": [ { \"type\": \"box\", \"size\": [1, "
            "1, 1], \"position\": [-1, 0, 0] }, { \"type\": \"box\", \"size\": [1, 1, 1], "
            "\"density\": 3, \"position\": [1, 0, 0] } ] }"),
        "scene.json");
    tpWorld* world = build(scene);
    tpMassProperties box = tpBody_GetMass(world, tpWorld_FindBody(world, "a"));
    CHECK_NEAR(box.mass, 24.0, 1e-13);
    CHECK_VEC3(box.center, tpMakeVec3(5.0, 0.0, 0.0), 1e-14);
    CHECK_NEAR(box.inertia.cx.x, 24.0 * (4.0 + 16.0) / 12.0, 1e-12);
    tpMassProperties ball = tpBody_GetMass(world, tpWorld_FindBody(world, "b"));
    CHECK_NEAR(ball.mass, 10.0, 0.0);
    CHECK_NEAR(ball.inertia.cy.y, 0.4 * 10.0 * 4.0, 1e-13);
    tpMassProperties two = tpBody_GetMass(world, tpWorld_FindBody(world, "c"));
    CHECK_NEAR(two.mass, 4.0, 1e-14);
    CHECK_VEC3(two.center, tpMakeVec3(0.5, 0.0, 0.0), 1e-14);
    CHECK_NEAR(two.inertia.cy.y, 4.0 / 6.0 + 1.0 * 2.25 + 3.0 * 0.25, 1e-13);
    tpDestroyWorld(world);
    tpDestroyScene(scene);
}

// Very long and very short quaternions and axes are as good as any.
static void normaliseRotations(void** state) {
    (void)state;
    static const char* const rotations[] = {
        "{ \"quaternion\": [1e300, 0, 0, 1e300] }",
        "{ \"quaternion\": [1e-300, 0, 0, 1e-300] }",
        "{ \"quaternion\": [5e-324, 0, 0, 5e-324] }",
        "{ \"axis\": [0, 0, 1e-310], \"degrees\": 90 }",
        "{ \"axis\": [0, 0, 1e308], \"degrees\": 450 }",
        "{ \"axis\": [0, 0, -1], \"degrees\": -90 }",
    };
    for (int i = 0; i < 6; ++i) {
        char text[400];
        snprintf(text, sizeof(text),
                 AROUND("{ \"name\": \"a\", \"kind\": \"fixed\", \"rotation\": %s }"),
                 rotations[i]);
        tpScene* scene = parse(text, "scene.json");
        tpWorld* world = build(scene);
        tpQuat turn = tpBody_GetRotation(world, tpWorld_GetBody(world, 0));
        CHECK_NEAR(fabs(turn.w), sqrt(0.5), 1e-15);
        CHECK_NEAR(fabs(turn.z), sqrt(0.5), 1e-15);
        CHECK_BELOW(0.0, turn.w * turn.z);
        tpDestroyWorld(world);
        tpDestroyScene(scene);
    }
}

typedef struct tpCase {
    const char* text; // '@' marks the place
    const char* message;
} tpCase;

static void refuseWithPlace(void** state) {
    (void)state;
    static const tpCase cases[] = {
        { AROUND("@{ \"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 3] }"), "triangle" },
        { AROUND("@{ \"name\": \"a\", \"mass\": 1, \"inertia\": [1, -1, 1] }"), "" },
        { AROUND("{ \"name\": \"a\", \"density\": 1, \"shapes\": [\n"
                 "@{ \"type\": \"plane\", \"normal\": [0, 0, 1] } ] }"),
          "" },
        { AROUND("{ \"name\": \"a\", \"density\": 1, \"shapes\": [\n @{ \"type\": \"hull\", "
                 "\"points\": [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]] } ] }"),
          "" },
        { AROUND("{ \"name\": \"a\", \"density\": 1, \"shapes\": [ @{ \"type\": \"prism\", "
                 "\"points\": [[0, 0], [1, 0]], \"length\": 1 } ] }"),
          "" },
        { AROUND("{ \"name\": \"a\", \"density\": 1, \"shapes\": [ { \"type\": \"mesh\", \"file\": "
                 "@\"no_such.obj\" } ] }"),
          "no_such.obj cannot be read: No such file" },
        { AROUND("{ \"name\": \"a\", \"density\": 1, \"shapes\": [ { \"type\": \"hull\", \"file\": "
                 "@\"/dev/zero\" } ] }"),
          "/dev/zero is not a file" },
        { AROUND("{ \"name\": \"a\", \"density\": 1, \"shapes\": [ { \"type\": \"intersection\", "
                 "\"of\": [\n { \"type\": \"sphere\", \"radius\": 1 },\n  @{ \"type\": \"prism\", "
                 "\"points\": [[0, 0], [1, 0]], \"length\": 1 } ] } ] }"),
          "" },
        { "{ \"tippe\": 1, \"bodies\": [ { \"name\": \"a\", \"mass\": @-1 } ] }", "" },
    };
    for (size_t i = 0; i + 1 < sizeof(cases) / sizeof(cases[0]); ++i) {
        char text[1000], expected[40];
        tpScenePlace place;
        takeMark(cases[i].text, text, &place);
        tpScene* scene = parse(text, "dir/scene.json");
        tpWorld* world;
        tpError error = { tp_success, "" };
        tpResult result = tpScene_CreateWorld(scene, NULL, 1, &world, &error);
        snprintf(expected, sizeof(expected), "dir/scene.json:%d:%d: ", place.line, place.column);
        if (result == tp_success || world != NULL ||
            strncmp(error.message, expected, strlen(expected)) != 0 ||
            strstr(error.message, cases[i].message) == NULL ||
            strlen(error.message) < strlen(expected) + 10) {
            fail_msg("of\n%s\nexpected %s...%s...\nfound    %s", cases[i].text, expected,
                     cases[i].message, error.message);
        }
        tpDestroyScene(scene);
    }
}

static void writeFile(const char* path, const char* text) {
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

// Files of meshes are found beside the scene.
static void readMeshes(void** state) {
    (void)state;
    char directory[] = "/tmp/tippe_build_XXXXXX";
    assert_non_null(mkdtemp(directory));
    char scenePath[64], meshPath[64];
    snprintf(scenePath, sizeof(scenePath), "%s/scene.json", directory);
    snprintf(meshPath, sizeof(meshPath), "%s/corner.obj", directory);
    writeFile(meshPath, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                        "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    tpScene* scene = parse(
        AROUND(
            "{ \"name\": \"a\", \"density\": 6, \"shapes\": [ { \"type\": \"mesh\", \"file\": "
            "\"corner.obj\" } ] },\n{ \"name\": \"b\", \"density\": 6, \"shapes\": [ { \"type\": "
            "\"hull\", \"file\": \"corner.obj\" } ] }"),
        scenePath);
    tpWorld* world = build(scene);
    for (int i = 0; i < 2; ++i) {
        tpMassProperties mass = tpBody_GetMass(world, tpWorld_GetBody(world, i));
        CHECK_NEAR(mass.mass, 1.0, 1e-14);
        CHECK_VEC3(mass.center, tpMakeVec3(0.25, 0.25, 0.25), 1e-14);
    }
    tpDestroyWorld(world);
    // An open mesh is refused at the place that names its file.
    writeFile(meshPath, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n");
    tpError error;
    assert_int_not_equal(tpScene_CreateWorld(scene, NULL, 1, &world, &error), tp_success);
    assert_non_null(strstr(error.message, "/scene.json:3:68: "));
    tpDestroyScene(scene);
    remove(meshPath);
    assert_int_equal(rmdir(directory), 0);
}

static void surviveFailingMemory(void** state) {
    (void)state;
    tpScene* scene = parse(plainScene, "scene.json");
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    for (int n = 1;; ++n) {
        heap.requests = 0;
        heap.failAt = n;
        tpWorld* world;
        tpError error;
        tpResult result = tpScene_CreateWorld(scene, &allocator, 1, &world, &error);
        assert_int_equal(result, world != NULL ? tp_success : tp_outOfMemory);
        tpDestroyWorld(world);
        assert_int_equal(heap.outstanding, 0);
        assert_int_equal(heap.bytes, 0);
        if (heap.requests < n) {
            assert_int_equal(result, tp_success);
            break;
        }
    }
    tpDestroyScene(scene);
}

// The vocabulary and the library spell the same names.
static void shareNames(void** state) {
    (void)state;
    for (int i = 0; i < tp_jointTypeCount; ++i) {
        assert_string_equal(tpJointNames[i], tpJointTypeName((tpJointType)i));
    }
    for (int i = 0; i < tpShapeFamily.memberCount; ++i) {
        const tpRecord* shape = tpShapeFamily.members[i];
        assert_string_equal(shape->name, tpShapeTypeName((tpShapeType)shape->type));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buildWhole),         cmocka_unit_test(placeBodies),
        cmocka_unit_test(buildMaterials),     cmocka_unit_test(deriveMass),
        cmocka_unit_test(normaliseRotations), cmocka_unit_test(refuseWithPlace),
        cmocka_unit_test(readMeshes),         cmocka_unit_test(surviveFailingMemory),
        cmocka_unit_test(shareNames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
