// Bodies on joints thrown between walls, h = 1/60 s: joints that hold positions through collisions
// must not give energy, and what keeps them from it must not let bodies overlap. A step may swing
// by a little, as symmetric ones do.

#include <string.h>

#include "papers/paper_world.h"
#include "support/failing_allocator.h"

static void throwJoined(const char* scene, int steps, double largestOverlap) {
    char path[64];
    snprintf(path, sizeof(path), "../tests/laws/%s", scene);
    tpWorld* world = makePaperWorld(path);
    double start = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    double largest = start, rise = 0.0, deepest = 0.0;
    for (int k = 0; k < steps; ++k) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
        double energy = report.kineticAfter + report.potentialAfter;
        largest = fmax(largest, energy);
        rise = fmax(rise, energy - report.kineticBefore - report.potentialBefore);
        deepest = fmax(deepest, report.penetration);
        assert_false(report.undone);
        assert_int_equal(report.failureCount, 0);
        CHECK_BELOW(report.residual, 1e-8);
        CHECK_BELOW(report.jointDrift, 1e-8);
    }
    print_message("%s: %.1f J at the start, %.1e of it the largest rise, overlap %.1e m\n", scene,
                  start, rise / start, deepest);
    CHECK_BELOW(rise, 1e-3 * start);
    CHECK_BELOW(largest, 1.001 * start);
    CHECK_BELOW(deepest, largestOverlap);
    tpDestroyWorld(world);
}

// In pairs on ball joints far from their centres, without friction.
static void joinedPairsGainNothing(void** state) {
    (void)state;
    throwJoined("joined_pairs", 60, 1e-6);
}

// Capsules that turn so fast on their joint that a whole step does not settle, e = 0.8.
static void fastTurnsGainNothing(void** state) {
    (void)state;
    throwJoined("thrown_capsules", 120, 1e-5);
}

// A ball on a long arm of an ellipsoid: the paper's linear rows, a whole step long, overlap by 12
// mm.
static void halvedStepsKeepApart(void** state) {
    (void)state;
    throwJoined("thrown_egg", 120, 1e-5);
}

// A pebble on a rod that ends far outside of it: corrections of a drift leave the joint apart, and
// once it is torn there is no end (1e69 J after ten steps). Such parts are halved until the joint
// holds. (While only their energy was asked the rest of some steps was left out.)
static void jointsAreNotTorn(void** state) {
    (void)state;
    tpWorld* world = makePaperWorld("../tests/laws/long_arms");
    double start = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    for (int k = 0; k < 30; ++k) {
        tpVec3 before = tpBody_GetPosition(world, tpWorld_FindBody(world, "box"));
        tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
        assert_false(report.undone);
        CHECK_BELOW(report.jointDrift, report.limits.jointDrift);
        CHECK_BELOW(report.kineticAfter + report.potentialAfter, 1.001 * start);
        CHECK_NEAR(report.time, (k + 1) / 60.0, 1e-12);
        tpVec3 after = tpBody_GetPosition(world, tpWorld_FindBody(world, "box"));
        double way = tpDistanceBetween(before, after) * 60.0;
        double speed = tpLength(tpBody_GetVelocity(world, tpWorld_FindBody(world, "box")));
        CHECK_BELOW(0.5 * speed, way);
        assert_int_equal(report.failureCount, 0);
    }
    tpDestroyWorld(world);
}

// The egg just before the first step that is taken in parts.
static tpWorld* makeHalving(const tpAllocator* allocator) {
    tpScene* scene = NULL;
    tpWorld* world = NULL;
    assert_int_equal(
        tpReadScene(TIPPE_SOURCE_DIR "/tests/laws/thrown_egg.json", NULL, &scene, NULL),
        tp_success);
    assert_int_equal(tpScene_CreateWorld(scene, allocator, 1, &world, NULL), tp_success);
    tpDestroyScene(scene);
    bool isHalved = false;
    for (int k = 0; k < 120 && !isHalved; ++k) {
        tpSnapshot* before = tpWorld_Snapshot(world);
        isHalved = tpWorld_Step(world, 1.0 / 60.0).substepCount > 1;
        if (isHalved) {
            assert_int_equal(tpWorld_Restore(world, before, NULL), tp_success);
        }
        tpDestroySnapshot(before);
    }
    assert_true(isHalved);
    return world;
}

// From a snapshot before a step in parts, and from one in the midst of what follows, the run goes
// on bit for bit.
static void halvedStepsRepeat(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpWorld* world = makeHalving(&allocator);
    uint64_t hashes[20];
    for (int start = 0; start < 3; ++start) {
        tpSnapshot* snapshot = tpWorld_Snapshot(world);
        for (int again = 0; again < 2; ++again) {
            for (int k = 0; k < 20; ++k) {
                tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
                assert_true(start + k > 0 || report.substepCount > 1);
                hashes[k] = again == 0 ? tpWorld_HashState(world) : hashes[k];
                assert_true(tpWorld_HashState(world) == hashes[k]);
            }
            assert_int_equal(tpWorld_Restore(world, snapshot, NULL), tp_success);
        }
        tpDestroySnapshot(snapshot);
        tpWorld_Step(world, 1.0 / 60.0);
    }
    tpDestroyWorld(world);
}

// Memory that runs out anywhere in a step in parts undoes it, and leaks nothing.
static void halvedStepsSurviveFailingMemory(void** state) {
    (void)state;
    bool hasFailed = true;
    int undone = 0;
    for (int n = 1; hasFailed; ++n) {
        tpFailingAllocator heap = { 0 };
        tpAllocator allocator = tpMakeFailingAllocator(&heap);
        tpWorld* world = makeHalving(&allocator);
        uint64_t before = tpWorld_HashState(world);
        heap.requests = 0;
        heap.failAt = n;
        tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
        hasFailed = heap.requests >= n;
        if (report.undone) {
            assert_true(tpWorld_HashState(world) == before);
            undone += 1;
        }
        heap.failAt = 0;
        assert_false(tpWorld_Step(world, 1.0 / 60.0).undone);
        tpDestroyWorld(world);
        assert_int_equal(heap.outstanding, 0);
    }
    print_message("%d requests of a step in parts refused\n", undone);
}

// Bytes that a world of the light ball holds after a second, with a field of that many cells across
// far below, and where the ball is.
static long long runOverField(int cells, tpVec3* ball) {
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    tpScene* scene = NULL;
    tpWorld* world = NULL;
    assert_int_equal(
        tpReadScene(TIPPE_SOURCE_DIR "/tests/laws/light_ball.json", NULL, &scene, NULL),
        tp_success);
    assert_int_equal(tpScene_CreateWorld(scene, &allocator, 1, &world, NULL), tp_success);
    tpDestroyScene(scene);
    double heights[101 * 101] = { 0.0 };
    tpGeometry field;
    tpPose below = { { 0.0, 0.0, -6.0 }, tpIdentityQuat() };
    assert_int_equal(tpMakeHeightField(&allocator, cells + 1, cells + 1, 10.0 / cells, 10.0 / cells,
                                       heights, below, &field, NULL),
                     tp_success);
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.kind = tp_fixedBody;
    tpShapeDef shapeDef = tpDefaultShapeDef();
    tpCreateShape(world, tpCreateBody(world, &bodyDef, NULL), &shapeDef, &field, NULL);
    tpReleaseGeometry(&field);
    long long before = heap.bytes;
    for (int k = 0; k < 60; ++k) {
        assert_false(tpWorld_Step(world, 1.0 / 60.0).undone);
    }
    *ball = tpBody_GetPosition(world, tpWorld_FindBody(world, "ball"));
    long long bytes = heap.bytes - before;
    tpDestroyWorld(world);
    return bytes;
}

// A light ball on a rod far outside of it: the lever of the rod changes its sign within a step, and
// the rounds of its drift diverge. Contacts within what they lead to were sought: all cells of a
// field that nothing comes near (2,000 were rows of one problem), for a try that is taken back.
static void divergingRodsSeekNoContacts(void** state) {
    (void)state;
    tpVec3 few, many;
    long long least = runOverField(1, &few), most = runOverField(100, &many);
    print_message("%lld bytes over one cell, %lld over 10,000\n", least, most);
    CHECK_BELOW((double)most, 2.0 * (double)least);
    CHECK_BELOW(tpDistanceBetween(few, many), 1e-15);
}

// Bennett's linkage: twenty rows hold what seventeen could. Newton's method of chakraborty-trinkle
// lost its way among their impulses, and what came instead took all of the energy in a step.
static void linkagesHeldTwiceKeepTheirEnergy(void** state) {
    (void)state;
    static const int rates[] = { 30, 60 };
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = makePaperWorld("../tests/laws/bennett");
        double start = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
        double largest = 0.0, energy = start;
        for (int i = 0; i < 4 * rates[k]; ++i) {
            tpStepReport report = tpWorld_Step(world, 1.0 / rates[k]);
            assert_int_equal(report.violations, 0);
            assert_int_equal(report.failureCount, 0);
            largest = fmax(largest, report.kineticAfter);
            energy = report.kineticAfter + report.potentialAfter;
        }
        print_message("Bennett's linkage, 1/%d s: %.1e J gained, %.2f J of motion at most\n",
                      rates[k], energy - start, largest);
        CHECK_BELOW(1.0, largest);
        CHECK_NEAR(energy, start, 1e-9 * largest);
        tpDestroyWorld(world);
    }
}

// Four links, of which two hang together by a stiff spring, begin with velocities that their joints
// do not allow: to make them agree takes .26192 J (the limit for short steps, of three steppers).
// Nothing is lost after that. Steps that Newton's method could not solve were taken by implicit
// Euler, and so was the first: 44 J of 160 were gone after 2 s at 1/120 s.
static void linkagesWithSpringsKeepTheirEnergy(void** state) {
    (void)state;
    static const int rates[] = { 60, 120, 240 };
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makePaperWorld("../tests/laws/spring_linkage");
        double later = 0.0, first = 0.0;
        for (int i = 0; i < 2 * rates[k]; ++i) {
            tpStepReport report = tpWorld_Step(world, 1.0 / rates[k]);
            assert_int_equal(report.violations, 0);
            double lost = report.kineticBefore + report.potentialBefore - report.kineticAfter -
                          report.potentialAfter;
            first = i == 0 ? lost : first;
            later = i == 0 ? 0.0 : fmax(later, fabs(lost));
        }
        print_message("linkage with a spring, 1/%d s: %.3f J lost at first, %.1e in a step later\n",
                      rates[k], first, later);
        CHECK_NEAR(first, 0.26192, 20.0 / rates[k]);
        CHECK_BELOW(later, 1e-9);
        tpDestroyWorld(world);
    }
}

// The account of the same motion tells impacts from what the step itself takes. Held rows answer
// the spring's pull at the end of each step: that was counted as 37.9 J of impacts, of which the
// step had given 37.6 back.
static void pullsOfSpringsAreNoImpacts(void** state) {
    (void)state;
    tpWorld* world = makePaperWorld("../tests/laws/spring_linkage");
    assert_int_equal(tpWorld_SetStepper(world, tp_benderSchmitt), tp_success);
    double impacts = 0.0, numerical = 0.0;
    for (int i = 0; i < 240; ++i) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 120.0);
        impacts += report.impactLoss - report.numericalLoss;
        numerical += report.numericalLoss;
    }
    print_message("linkage with a spring: %.4f J in impacts, %.4f J by the step\n", impacts,
                  numerical);
    CHECK_NEAR(impacts, 0.26192, 0.01);
    CHECK_NEAR(numerical, 0.0, 0.05);
    tpDestroyWorld(world);
}

// Eight links whose motion `auto` gives up checking for some steps. These were taken without the
// guard of energy, as steps that are checked are: one of them gained 9.8 J. Short steps of
// anitescu and bender-schmitt end at 388.0 J.
static void stepsWithoutChecksGainNothing(void** state) {
    (void)state;
    tpWorld* world = makePaperWorld("../tests/laws/hopeless_linkage");
    double largest = 0.0;
    for (int i = 0; i < 120; ++i) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
        assert_int_equal(report.violations, 0);
        largest = fmax(largest, report.energyIncrease);
    }
    double energy = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    print_message("linkage that is not checked: at most %.2g J gained in a step, %.2f J at last\n",
                  largest, energy);
    CHECK_BELOW(largest, 0.335);
    CHECK_NEAR(energy, 388.0, 1.0);
    tpDestroyWorld(world);
}

// Stiff servos throw a slide from one of its limits to the other while its bodies turn. Corrections
// of a drift told only the limit that had just pushed what its row had missed; in the end the two
// rows contradicted each other, no solve met them, and the second step gained 20,000 J of 128.
// Short steps of anitescu end at 129.013 J.
static void limitsOfASlideAgree(void** state) {
    (void)state;
    tpWorld* world = makePaperWorld("../tests/laws/driven_slides");
    double largest = 0.0;
    for (int i = 0; i < 12; ++i) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 120.0);
        assert_int_equal(report.violations, 0);
        CHECK_BELOW(report.residual, 1e-8);
        largest = fmax(largest, report.energyExcess);
    }
    double energy = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    print_message("driven slides: at most %.2g J gained in a step, %.2f J at last\n", largest,
                  energy);
    CHECK_NEAR(energy, 129.013, 0.1);
    tpDestroyWorld(world);
}

static tpBodyId addNode(tpWorld* world, tpVec3 place) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.density = 3000.0;
    tpSphere sphere = { 0.015 };
    tpCreateSphere(world, body, &shape, &sphere, NULL);
    return body;
}

static void joinNodes(tpWorld* world, tpJointType type, const tpBodyId* bodies, tpVec3 from,
                      tpVec3 to) {
    tpJointDef def = tpDefaultJointDef();
    def.type = type;
    def.bodyA = bodies[0];
    def.bodyB = bodies[1];
    def.anchorA = from;
    def.anchorB = to;
    tpCreateJoint(world, &def, NULL);
}

// A taut net of 5 x 5 links that are joined half way between them, pinned at its corners. Links in
// a straight line between fixed points have no finite motion: steps of the net are cut short or end
// with their work. (Rods between balls would be held by their tension.)
static void addNet(tpWorld* world) {
    enum { side = 5 };
    tpBodyId nodes[side][side];
    tpVec3 places[side][side];
    for (int i = 0; i < side; ++i) {
        for (int j = 0; j < side; ++j) {
            places[i][j] = tpMakeVec3(0.1 * i, 0.1 * j, 0.5);
            nodes[i][j] = addNode(world, places[i][j]);
            tpBodyId pinned[2] = { { 0 }, nodes[i][j] };
            if (i % (side - 1) == 0 && j % (side - 1) == 0) {
                joinNodes(world, tp_ballJoint, pinned, places[i][j], places[i][j]);
            }
            tpBodyId along[2] = { nodes[i > 0 ? i - 1 : 0][j], nodes[i][j] };
            if (i > 0) {
                tpVec3 middle = tpScale(0.5, tpAdd(places[i - 1][j], places[i][j]));
                joinNodes(world, tp_ballJoint, along, middle, middle);
            }
            tpBodyId across[2] = { nodes[i][j > 0 ? j - 1 : 0], nodes[i][j] };
            if (j > 0) {
                tpVec3 middle = tpScale(0.5, tpAdd(places[i][j - 1], places[i][j]));
                joinNodes(world, tp_ballJoint, across, middle, middle);
            }
        }
    }
}

// Far from the net, if there is one: a ball in the air, one that lies on the floor, and a pendulum.
typedef struct Neighbours {
    tpWorld* world;
    tpBodyId falling, resting, swinging;
} Neighbours;

static Neighbours makeNeighbours(tpStepperId stepper, bool hasNet) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    Neighbours all = { .world = tpCreateWorld(&def) };
    if (hasNet) {
        addNet(all.world);
    }
    all.falling = addNode(all.world, tpMakeVec3(5.0, 5.0, 5.0));
    all.resting = addNode(all.world, tpMakeVec3(-5.0, 0.0, 0.015));
    all.swinging = addNode(all.world, tpMakeVec3(5.3, 0.0, 3.0));
    tpBodyId pinned[2] = { { 0 }, all.swinging };
    joinNodes(all.world, tp_ballJoint, pinned, tpMakeVec3(5.0, 0.0, 3.0),
              tpMakeVec3(5.0, 0.0, 3.0));
    tpBodyDef floorDef = tpDefaultBodyDef();
    floorDef.kind = tp_fixedBody;
    tpBodyId floor = tpCreateBody(all.world, &floorDef, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    tpCreatePlane(all.world, floor, &shape, &(tpPlane){ .normal = { 0.0, 0.0, 1.0 } }, NULL);
    return all;
}

static double distanceOf(const tpWorld* a, tpBodyId inA, const tpWorld* b, tpBodyId inB) {
    return tpDistanceBetween(tpBody_GetPosition(a, inA), tpBody_GetPosition(b, inB));
}

static void copyMotion(const Neighbours* from, tpBodyId body, const Neighbours* to, tpBodyId twin) {
    tpBody_SetPose(to->world, twin, tpBody_GetPose(from->world, body));
    tpBody_SetVelocity(to->world, twin, tpBody_GetVelocity(from->world, body),
                       tpBody_GetAngularVelocity(from->world, body));
}

static bool saysLeftOut(const tpStepReport* report) {
    bool isSaid = false;
    for (int i = 0; i < report->noteCount; ++i) {
        isSaid = isSaid || strstr(report->notes[i], "the rest of the step was left out") != NULL;
    }
    return isSaid;
}

// Sum of the normal impulses of all contacts.
static double pushedBy(const tpWorld* world) {
    double sum = 0.0;
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    for (int i = 0; i < count; ++i) {
        sum += contacts[i].normalImpulse;
    }
    return sum;
}

// What happens in one island is of no concern to the others. A net held a free ball in the air: the
// steps of all bodies were cut short with those of the net, and the energy that the end of a step
// gained was taken from all bodies. A step that is cut short for the net is not certified; in it
// the pendulum goes as far as it does alone.
static void checkNeighbours(tpStepperId stepper, double h) {
    Neighbours net = makeNeighbours(stepper, true);
    Neighbours plain = makeNeighbours(stepper, false);
    int cut = 0;
    double gravity = tpLength(tpWorld_GetGravity(net.world));
    for (int k = 1; k <= 6; ++k) {
        copyMotion(&net, net.swinging, &plain, plain.swinging);
        tpStepReport report = tpWorld_Step(net.world, h);
        tpWorld_Step(plain.world, h);
        assert_false(report.undone);
        bool isCut = saysLeftOut(&report);
        assert_true(!isCut || report.violations != 0);
        cut += isCut;
        double t = k * h;
        CHECK_NEAR(tpBody_GetPosition(net.world, net.falling).z, 5.0 - 0.5 * gravity * t * t,
                   1e-14);
        CHECK_NEAR(tpBody_GetVelocity(net.world, net.falling).z, -gravity * t, 1e-14);
        CHECK_BELOW(distanceOf(net.world, net.resting, plain.world, plain.resting), 1e-14);
        double apart = distanceOf(net.world, net.swinging, plain.world, plain.swinging);
        CHECK_BELOW(isCut ? apart : 0.0, 1e-8);
        CHECK_NEAR(pushedBy(net.world), pushedBy(plain.world), 1e-9 * gravity * h);
    }
    assert_true(cut > 0); // else the net shows nothing
    tpDestroyWorld(net.world);
    tpDestroyWorld(plain.world);
}

static void islandsAreCutShortAlone(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_anitescu, tp_chakrabortyTrinkle, tp_benderSchmitt,
                                            tp_mirtichCanny };
    for (int i = 0; i < 4; ++i) {
        checkNeighbours(steppers[i], 1.0 / 120.0);
    }
    // How the net goes astray is chance: its solves fail within their work, joints are apart only
    // within the step, or the pendulum is torn along with it. It is not to take parts as short as
    // those of the net, nor the ball on the floor to be told what it has carried before.
    static const double rates[] = { 60.0, 90.0, 100.0, 110.0, 150.0 };
    for (int i = 0; i < 5; ++i) {
        checkNeighbours(tp_benderSchmitt, 1.0 / rates[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joinedPairsGainNothing),
        cmocka_unit_test(fastTurnsGainNothing),
        cmocka_unit_test(halvedStepsKeepApart),
        cmocka_unit_test(jointsAreNotTorn),
        cmocka_unit_test(halvedStepsRepeat),
        cmocka_unit_test(halvedStepsSurviveFailingMemory),
        cmocka_unit_test(divergingRodsSeekNoContacts),
        cmocka_unit_test(linkagesHeldTwiceKeepTheirEnergy),
        cmocka_unit_test(linkagesWithSpringsKeepTheirEnergy),
        cmocka_unit_test(pullsOfSpringsAreNoImpacts),
        cmocka_unit_test(stepsWithoutChecksGainNothing),
        cmocka_unit_test(limitsOfASlideAgree),
        cmocka_unit_test(islandsAreCutShortAlone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
