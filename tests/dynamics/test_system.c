// Bodies of a system: their masses may change under them, and what hangs on them stays in place.

#include "ball_cases.h"

static tpBodyId addLink(tpWorld* world, tpVec3 place) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.rotation = tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), 0.5);
    def.hasMass = true;
    def.mass.mass = 1.0;
    def.mass.inertia = tpDiagonal(tpMakeVec3(0.1, 0.2, 0.25));
    return tpCreateBody(world, &def, NULL);
}

static tpVec3 anchorOf(const tpSystem* system, int body, tpVec3 anchor) {
    return tpTransformPoint(system->poses.data[body], anchor);
}

// The centre of mass moves within the body: its frame and the anchors of joints on either side stay
// where they were, and those of other bodies are left alone.
static void testShift(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_ballJoint;
    joint.bodyA = addLink(world, tpMakeVec3(0.0, 0.0, 0.0));
    joint.bodyB = addLink(world, tpMakeVec3(1.0, 0.0, 0.0));
    joint.anchorA = joint.anchorB = tpMakeVec3(0.4, 0.1, 0.2);
    tpCreateJoint(world, &joint, NULL);
    const tpJoint* made = &system->joints.data[0];
    for (int side = 0; side < 2; ++side) {
        tpPose frame = tpSystem_BodyFrame(system, side);
        tpVec3 before = system->poses.data[side].position;
        tpMassProperties given = system->bodies.data[side].form->given;
        given.center = tpMakeVec3(0.1, -0.2, 0.3);
        given.mass = 2.0;
        assert_true(tpSystem_SetMass(system, side, &given));
        assert_true(tpDistanceBetween(before, system->poses.data[side].position) > 0.3);
        CHECK_VEC3(tpSystem_BodyFrame(system, side).position, frame.position, 1e-15);
        CHECK_VEC3(anchorOf(system, 0, made->anchorA), joint.anchorA, 1e-15);
        CHECK_VEC3(anchorOf(system, 1, made->anchorB), joint.anchorB, 1e-15);
        CHECK_NEAR(system->bodies.data[side].inverseMass, 0.5, 1e-15);
    }
    tpDestroyWorld(world);
}

// The inverse inertia in world axes, and how far shapes reach from the centre of mass.
static void testInertia(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    tpBodyId id = addLink(world, tpMakeVec3(0.0, 0.0, 0.0));
    tpMat33 inverse = tpSystem_InverseInertia(system, 0);
    double c = cos(0.5), s = sin(0.5);
    CHECK_NEAR(inverse.cx.x, c * c / 0.1 + s * s / 0.2, 1e-13);
    CHECK_NEAR(inverse.cx.y, c * s * (1.0 / 0.1 - 1.0 / 0.2), 1e-13);
    CHECK_NEAR(inverse.cz.z, 1.0 / 0.25, 1e-13);
    tpShapeDef shape = tpDefaultShapeDef();
    tpCreateBox(world, id, &shape, &(tpBox){ .size = tpMakeVec3(2.0, 4.0, 4.0) }, NULL);
    CHECK_NEAR(system->bodies.data[0].reach, 3.0, 1e-13);
    tpDestroyWorld(world);
}

// In the plane only the turn about z is left, and a lock takes that, too.
static void testPlanarInertia(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    addLink(world, tpMakeVec3(0.0, 0.0, 0.0));
    system->isPlanar = true;
    tpMat33 inverse = tpSystem_InverseInertia(system, 0);
    CHECK_VEC3(inverse.cx, tpZeroVec3(), 0.0);
    CHECK_VEC3(inverse.cy, tpZeroVec3(), 0.0);
    CHECK_VEC3(inverse.cz, tpMakeVec3(0.0, 0.0, 1.0 / 0.25), 1e-13);
    system->bodies.data[0].locked = tp_lockTurnZ;
    CHECK_VEC3(tpSystem_InverseInertia(system, 0).cz, tpZeroVec3(), 0.0);
    tpDestroyWorld(world);
}

// Free turns for h seconds: in the plane at constant speed about z, whatever the inertia; about a
// principal axis in space likewise; about any other axis the angular momentum stays.
static void testRotate(void** state) {
    (void)state;
    const double h = 0.3;
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makeEmptyWorld();
        tpSystem* system = &world->system;
        addLink(world, tpZeroVec3());
        system->isPlanar = k == 0;
        tpQuat start = tpQuatExp(tpMakeVec3(0.0, 0.0, 0.4)), turned = start;
        tpVec3 spin = k < 2 ? tpMakeVec3(0.0, 0.0, -1.7) : tpMakeVec3(0.9, -0.6, 1.1);
        tpVec3 first = spin;
        const tpInertia* inertia = &system->bodies.data[0].form->inertia;
        tpVec3 momentum = tpInertia_Momentum(inertia, start, spin);
        tpSystem_Rotate(system, 0, h, &turned, &spin);
        if (k < 2) {
            CHECK_VEC3(spin, first, 1e-15);
            CHECK_VEC3(tpQuatLog(tpMulQQ(turned, tpConjugate(start))), tpScale(h, first), 1e-14);
        } else {
            CHECK_VEC3(tpInertia_Momentum(inertia, turned, spin), momentum, 1e-12);
        }
        tpDestroyWorld(world);
    }
}

// Bodies tumble if a free turn changes their angular velocity.
static void tumblingIsAChangeOfSpin(void** state) {
    (void)state;
    for (int k = 0; k < 16; ++k) {
        tpWorld* world = makeEmptyWorld();
        tpSystem* system = &world->system;
        bool isBall = k % 2 == 1, isPlanar = k / 2 % 2 == 1, isStill = k / 4 % 2 == 1;
        if (isBall) {
            addBall(world, tpZeroVec3(), tpZeroVec3());
        } else {
            addLink(world, tpZeroVec3());
        }
        system->isPlanar = isPlanar;
        system->bodies.data[0].inverseMass *= isStill ? 0.0 : 1.0;
        tpVec3 first = tpMakeVec3(isPlanar ? 0.0 : 0.9, isPlanar ? 0.0 : -0.6, 1.1), spin = first;
        tpQuat turned = tpIdentityQuat();
        tpSystem_Rotate(system, 0, 0.3, &turned, &spin);
        bool changes = !isStill && tpDistanceBetween(first, spin) > 1e-3;
        assert_int_equal(tpSystem_IsTumbling(system, 0), changes);
        assert_int_equal(changes, !isBall && !isPlanar && !isStill);
        tpDestroyWorld(world);
    }
}

// State lent to others: they see it, what they write comes back, and the system's own memory is
// back in its place.
static void testLentState(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    tpPose poses[2], own[2];
    tpVelocity velocities[2];
    for (int i = 0; i < 2; ++i) {
        addLink(world, tpMakeVec3(i, 2.0, 3.0));
        system->velocities.data[i].angular = tpMakeVec3(0.0, 1.0 + i, 0.0);
        own[i] = system->poses.data[i];
    }
    const tpPose* posesBefore = system->poses.data;
    const tpVelocity* velocitiesBefore = system->velocities.data;
    int capacities[2] = { system->poses.capacity, system->velocities.capacity };
    tpSystem_ReturnState(system); // nothing is lent
    assert_false(tpSystem_IsStateLent(system));
    tpSystem_LendState(system, poses, velocities);
    assert_true(tpSystem_IsStateLent(system));
    assert_true(system->poses.data == poses && system->velocities.data == velocities);
    assert_int_equal(system->poses.capacity, 2);
    assert_int_equal(system->velocities.capacity, 2);
    for (int i = 0; i < 2; ++i) {
        assert_memory_equal(&poses[i], &own[i], sizeof(tpPose));
        CHECK_NEAR(velocities[i].angular.y, 1.0 + i, 0.0);
        poses[i].position.z = 10.0 + i;
        velocities[i].linear.x = 20.0 + i;
    }
    tpSystem_ReturnState(system);
    assert_false(tpSystem_IsStateLent(system));
    assert_true(system->poses.data == posesBefore);
    assert_true(system->velocities.data == velocitiesBefore);
    assert_int_equal(system->poses.capacity, capacities[0]);
    assert_int_equal(system->velocities.capacity, capacities[1]);
    for (int i = 0; i < 2; ++i) {
        CHECK_NEAR(system->poses.data[i].position.z, 10.0 + i, 0.0);
        CHECK_NEAR(system->velocities.data[i].linear.x, 20.0 + i, 0.0);
    }
    tpDestroyWorld(world);
}

// Of two joints on a body only the anchors of that body move with its centre of mass, of a joint to
// the world those of one side.
static void testShiftOfMany(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    tpBodyId links[3];
    for (int i = 0; i < 3; ++i) {
        links[i] = addLink(world, tpMakeVec3(i, 0.0, 0.0));
    }
    tpVec3 where[4];
    for (int i = 0; i < 4; ++i) {
        tpJointDef joint = tpDefaultJointDef();
        joint.type = tp_ballJoint;
        joint.bodyA = i < 3 ? links[i] : (tpBodyId){ 0, 0 };
        joint.bodyB = links[(i + 1) % 3];
        where[i] = joint.anchorA = joint.anchorB = tpMakeVec3(0.4, 0.1 * i, 0.2);
        assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &joint, NULL)));
    }
    tpMassProperties given = system->bodies.data[1].form->given;
    given.center = tpMakeVec3(0.1, -0.2, 0.3);
    assert_true(tpSystem_SetMass(system, 1, &given));
    for (int i = 0; i < 4; ++i) {
        const tpJoint* made = &system->joints.data[i];
        tpVec3 a = made->bodyA < 0 ? made->anchorA : anchorOf(system, made->bodyA, made->anchorA);
        CHECK_VEC3(a, where[i], 1e-15);
        CHECK_VEC3(anchorOf(system, made->bodyB, made->anchorB), where[i], 1e-15);
    }
    tpDestroyWorld(world);
}

// Of several shapes: the farthest reach, the least inner radius, and the size that a body without
// shapes has by its inertia. Shapes that come one by one and all of them anew give the same.
static void testSizes(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    tpBodyId id = addLink(world, tpMakeVec3(0.0, 0.0, 0.0));
    const tpBody* body = &system->bodies.data[0];
    CHECK_NEAR(body->reach, 0.0, 0.0);
    CHECK_NEAR(body->size, sqrt(0.25), 1e-15); // the largest moment at a mass of 1
    assert_true(isinf(body->innerRadius));
    // Boxes of 1 : 2 : 2, whose corners are three halves of their shortest edge from their middle.
    const double edges[3] = { 0.2, 0.6, 0.4 }, places[3] = { 0.0, 0.4, 0.9 };
    const double reaches[3] = { 0.3, hypot(0.7, 0.6 * sqrt(2.0)), hypot(1.1, 0.4 * sqrt(2.0)) };
    const double inner[3] = { 0.1, 0.1, 0.1 };
    for (int i = 0; i < 3; ++i) {
        tpShapeDef shape = tpDefaultShapeDef();
        shape.pose.position = tpMakeVec3(places[i], 0.0, 0.0);
        tpBox box = { tpMakeVec3(edges[i], 2.0 * edges[i], 2.0 * edges[i]) };
        tpCreateBox(world, id, &shape, &box, NULL);
        for (int anew = 0; anew < 2; ++anew) {
            CHECK_NEAR(body->reach, reaches[i], 1e-15);
            CHECK_NEAR(body->innerRadius, inner[i], 1e-15);
            CHECK_NEAR(body->size, fmax(reaches[i], 0.5), 1e-15);
            tpSystem_UpdateMass(system, 0);
        }
    }
    tpDestroyWorld(world);
    // The largest of the moments, whichever it is.
    const double moments[3] = { 0.16, 0.25, 0.2 };
    for (int k = 0; k < 6; ++k) {
        world = makeEmptyWorld();
        tpBodyDef def = tpDefaultBodyDef();
        int first = k % 3, second = k < 3 ? (k + 1) % 3 : (k + 2) % 3;
        def.hasMass = true;
        def.mass.mass = 4.0;
        def.mass.inertia =
            tpDiagonal(tpMakeVec3(moments[first], moments[second], moments[3 - first - second]));
        tpCreateBody(world, &def, NULL);
        CHECK_NEAR(world->system.bodies.data[0].size, sqrt(0.25 / 4.0), 1e-15);
        tpDestroyWorld(world);
    }
}

static double mean(double a, double b) {
    return a > 0.0 && b > 0.0 ? exp(0.5 * (log(a) + log(b))) : 0.0;
}

// Materials of which every second has an ellipse, each with a direction of its own.
static void makeMaterials(tpWorld* world, int count, tpMaterialDef* defs, tpMaterialId* ids) {
    tpRandom random = { 9 };
    for (int i = 0; i < count; ++i) {
        defs[i] = tpDefaultMaterialDef();
        tpFriction* f = &defs[i].friction;
        f->dynamicCoefficient = i == 0 ? 0.0 : randomBetween(&random, 0.1, 0.9);
        f->staticCoefficient = f->dynamicCoefficient + randomBetween(&random, 0.0, 0.5);
        f->torsionalArm = randomBetween(&random, 0.0, 0.01);
        f->rollingArm = randomBetween(&random, 0.0, 0.01);
        f->impactReduction = randomBetween(&random, 0.0, 0.9);
        f->ellipse[0] = 1.0;
        f->ellipse[1] = i % 2 == 0 ? 1.0 : randomBetween(&random, 0.2, 0.8);
        f->direction = tpNormalize(randomVec3(&random, -1.0, 1.0));
        defs[i].restitution = randomBetween(&random, 0.0, 0.9);
        ids[i] = tpCreateMaterial(world, &defs[i], NULL);
    }
}

// Means of what two materials have, in a second way; the ellipse lies as the material has it that
// is not round, the first of two. Whoever is asked first is the other way round with them
// exchanged.
static void testMixtures(void** state) {
    (void)state;
    enum { count = 6 };
    tpWorld* world = makeEmptyWorld();
    tpMaterialDef defs[count];
    tpMaterialId ids[count];
    makeMaterials(world, count, defs, ids);
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) {
            const tpFriction *a = &defs[i].friction, *b = &defs[j].friction;
            tpFriction mixed;
            double restitution;
            int owner = tpSystem_MixMaterials(&world->system, ids[i], ids[j], &mixed, &restitution);
            CHECK_NEAR(mixed.staticCoefficient, mean(a->staticCoefficient, b->staticCoefficient),
                       1e-14);
            CHECK_NEAR(mixed.dynamicCoefficient, mean(a->dynamicCoefficient, b->dynamicCoefficient),
                       1e-14);
            CHECK_NEAR(mixed.torsionalArm, mean(a->torsionalArm, b->torsionalArm), 1e-15);
            CHECK_NEAR(mixed.rollingArm, mean(a->rollingArm, b->rollingArm), 1e-15);
            CHECK_NEAR(1.0 - mixed.impactReduction,
                       mean(1.0 - a->impactReduction, 1.0 - b->impactReduction), 1e-14);
            CHECK_NEAR(mixed.ellipse[0], mean(a->ellipse[0], b->ellipse[0]), 1e-14);
            CHECK_NEAR(mixed.ellipse[1], mean(a->ellipse[1], b->ellipse[1]), 1e-14);
            CHECK_NEAR(restitution, fmax(defs[i].restitution, defs[j].restitution), 0.0);
            if (i % 2 != 0 || j % 2 != 0) {
                assert_int_equal(owner, i % 2 != 0 ? 0 : 1);
                CHECK_VEC3(mixed.direction, owner == 0 ? a->direction : b->direction, 0.0);
            }
        }
    }
    tpDestroyWorld(world);
}

// Every pair of materials has its own law, set in any order and replaced once; asked for from
// either side it is the same, and lies as the first material of its definition.
static void testPairsOfMaterials(void** state) {
    (void)state;
    enum { count = 6 };
    tpWorld* world = makeEmptyWorld();
    tpMaterialDef defs[count];
    tpMaterialId ids[count];
    makeMaterials(world, count, defs, ids);
    for (int n = 0; n < 2 * count * count; ++n) {
        int i = n * 7 % (count * count) / count, j = n * 7 % (count * count) % count;
        if (i <= j && (i + j) % 4 != 3) {
            bool isTurned = (i + j) % 2 == 0;
            tpPairDef pair;
            memset(&pair, 0, sizeof(pair));
            pair.materials[0] = ids[isTurned ? j : i];
            pair.materials[1] = ids[isTurned ? i : j];
            pair.hasFriction = i % 2 == 0;
            pair.friction = tpDefaultMaterialDef().friction;
            pair.friction.dynamicCoefficient = 0.01 * i + 0.1 * j;
            pair.friction.staticCoefficient = 1.0;
            pair.hasRestitution = j % 2 == 0;
            pair.restitution = 0.01 * i + 0.1 * j + (n < count * count ? 0.003 : 0.0);
            assert_int_equal(tpSetMaterialPair(world, &pair, NULL), tp_success);
        }
    }
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) {
            int low = i < j ? i : j, high = i < j ? j : i;
            bool isSet = (i + j) % 4 != 3;
            tpFriction mixed;
            double restitution;
            int owner = tpSystem_MixMaterials(&world->system, ids[i], ids[j], &mixed, &restitution);
            bool hasFriction = isSet && low % 2 == 0;
            double own = 0.01 * low + 0.1 * high;
            CHECK_NEAR(mixed.dynamicCoefficient,
                       hasFriction ? own
                                   : mean(defs[i].friction.dynamicCoefficient,
                                          defs[j].friction.dynamicCoefficient),
                       1e-14);
            CHECK_NEAR(restitution,
                       isSet && high % 2 == 0 ? own
                                              : fmax(defs[i].restitution, defs[j].restitution),
                       1e-15);
            if (hasFriction && i != j) {
                int first = (i + j) % 2 == 0 ? high : low;
                assert_int_equal(owner, first == i ? 0 : 1);
            }
        }
    }
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testMixtures),  cmocka_unit_test(testPairsOfMaterials),
        cmocka_unit_test(testLentState), cmocka_unit_test(testShiftOfMany),
        cmocka_unit_test(testSizes),     cmocka_unit_test(testShift),
        cmocka_unit_test(testInertia),   cmocka_unit_test(testPlanarInertia),
        cmocka_unit_test(testRotate),    cmocka_unit_test(tumblingIsAChangeOfSpin)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
