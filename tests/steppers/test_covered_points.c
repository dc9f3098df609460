// Corners of fine hulls that a step cannot reach have no rows, and truly cannot touch.

#include "steppers/covered_points.h"

#include "support/floor.h"
#include "world/world.h"

enum { corners = 400, table = 0, pebble = 1, bodies = 2 };

// An ellipsoid of many corners. Returns how far down it reaches if it is turned so.
static double makePebble(tpRandom* random, tpVec3 radii, tpQuat rotation, tpPose pose,
                         tpGeometry* out) {
    tpVec3 points[corners];
    double lowest = 0.0;
    for (int i = 0; i < corners; ++i) {
        tpVec3 n = tpNormalize(randomVec3(random, -1.0, 1.0));
        points[i] = tpMakeVec3(radii.x * n.x, radii.y * n.y, radii.z * n.z);
        lowest = fmin(lowest, tpRotate(rotation, points[i]).z);
    }
    tpAllocator allocator = tpDefaultAllocator();
    assert_int_equal(tpMakeHull(&allocator, points, corners, pose, out, NULL), tp_success);
    return lowest;
}

// A pebble on a table; both can move.
static tpWorld* makeWorld(tpRandom* random, double gap) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&worldDef);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    tpBodyDef def = tpDefaultBodyDef();
    def.position.z = -0.5;
    tpBodyId top = tpCreateBody(world, &def, NULL);
    tpCreateBox(world, top, &shapeDef, &(tpBox){ { 2.0, 2.0, 1.0 } }, NULL);
    tpGeometry stone;
    def.rotation = randomRotation(random);
    tpVec3 radii = randomVec3(random, 0.05, 0.2);
    def.position.z = gap - makePebble(random, radii, def.rotation, tpIdentityPose(), &stone);
    tpCreateShape(world, tpCreateBody(world, &def, NULL), &shapeDef, &stone, NULL);
    tpReleaseGeometry(&stone);
    return world;
}

// A motion of which no point is longer than `way`.
static tpPose moved(tpRandom* random, const tpSystem* system, int body, double way) {
    double part = randomBetween(random, 0.0, 1.0);
    tpVec3 shift = tpScale((1.0 - part) * way, tpNormalize(randomVec3(random, -1.0, 1.0)));
    tpVec3 axis = tpNormalize(randomVec3(random, -1.0, 1.0));
    double angle = part * way / system->bodies.data[body].reach;
    tpPose pose = system->poses.data[body];
    pose.position = tpAdd(pose.position, shift);
    pose.rotation = tpMulQQ(tpQuatFromAxisAngle(axis, angle), pose.rotation);
    return pose;
}

// The height of a contact's corner above the table after a motion.
static double heightAfter(const tpSystem* system, const tpContact* contact, const tpPose* poses) {
    tpVec3 point = contact->bodyA == pebble ? contact->pointA : contact->pointB;
    tpVec3 own = tpUntransformPoint(system->poses.data[pebble], point);
    tpVec3 there = tpTransformPoint(poses[pebble], own);
    return tpUntransformPoint(poses[table], there).z - 0.5;
}

static bool isAmong(const tpContact* contact, const tpContact* contacts, int count) {
    for (int i = 0; i < count; ++i) {
        if (contacts[i].feature == contact->feature) {
            return true;
        }
    }
    return false;
}

// Whatever the bodies do within twice their margins: no corner that was left out is below all that
// stay. Most are left out.
static void coveredCornersCannotTouch(void** state) {
    (void)state;
    tpRandom random = { 7 };
    int all = 0, left = 0;
    for (int trial = 0; trial < 200; ++trial) {
        tpWorld* world = makeWorld(&random, randomBetween(&random, -1e-3, 1e-3));
        tpSystem* system = &world->system;
        double margins[bodies];
        for (int i = 0; i < bodies; ++i) {
            margins[i] = pow(10.0, randomBetween(&random, -4.0, -2.0));
        }
        tpContact *contacts, before[corners];
        int count;
        assert_int_equal(
            tpSystem_FindContacts(system, system->poses.data, margins, &contacts, &count),
            tp_success);
        memcpy(before, contacts, sizeof(tpContact) * (size_t)count);
        int kept = tpContacts_DropCovered(system, margins, contacts, count);
        all += count;
        left += kept;
        for (int motion = 0; motion < 50; ++motion) {
            tpPose poses[bodies] = { moved(&random, system, table, 2.0 * margins[table]),
                                     moved(&random, system, pebble, 2.0 * margins[pebble]) };
            double lowest = INFINITY;
            for (int i = 0; i < kept; ++i) {
                lowest = fmin(lowest, heightAfter(system, &contacts[i], poses));
            }
            for (int i = 0; i < count; ++i) {
                if (!isAmong(&before[i], contacts, kept)) {
                    assert_true(heightAfter(system, &before[i], poses) > lowest - 1e-12);
                }
            }
        }
        tpDestroyWorld(world);
    }
    print_message("%d of %d corners stay\n", left, all);
    assert_true(left > 0 && 2 * left < all);
}

// The most contacts that one solve has had.
static void count(const tpPosedProblem* posed, void* context) {
    int* most = context;
    *most = posed->problem->blockCount > *most ? posed->problem->blockCount : *most;
}

// A stool on four round feet of many corners lands, slides and comes to rest. Without the choice a
// solve had 115 contacts.
static void roundFeetHaveFewRows(void** state) {
    (void)state;
    tpRandom random = { 3 };
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_anitescu;
    worldDef.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&worldDef);
    addMaterial(world, 0.5, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(0.0, 0.0, 0.33);
    def.velocity = tpMakeVec3(0.4, 0.1, 0.0);
    tpBodyId stool = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    tpCreateBox(world, stool, &shapeDef, &(tpBox){ { 0.4, 0.4, 0.04 } }, NULL);
    for (int i = 0; i < 4; ++i) {
        tpPose pose = tpIdentityPose();
        pose.position = tpMakeVec3(i % 2 ? 0.18 : -0.18, i / 2 ? 0.18 : -0.18, -0.3);
        tpGeometry foot;
        makePebble(&random, tpMakeVec3(0.03, 0.03, 0.02), tpIdentityQuat(), pose, &foot);
        tpCreateShape(world, stool, &shapeDef, &foot, NULL);
        tpReleaseGeometry(&foot);
    }
    int most = 0, uncertified = 0;
    tpWorld_SetProblemHook(world, count, &most);
    for (int k = 0; k < 200; ++k) {
        uncertified += tpWorld_Step(world, 0.005).violations != 0;
    }
    print_message("%d contacts in a solve, %d steps uncertified\n", most, uncertified);
    assert_int_equal(uncertified, 0);
    assert_true(most <= 24);
    CHECK_BELOW(tpLength(tpBody_GetVelocity(world, stool)), 1e-9);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coveredCornersCannotTouch),
        cmocka_unit_test(roundFeetHaveFewRows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
