// The frame around the problem of a step: free motion before, moving after.

#include "ball_cases.h"
#include "dynamics/time_step.h"

static const double h = 0.1;

// A ball in flight: the kick, the drift, and the impulse of a contact in between.
static void testBall(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpMakeVec3(2.0, 0.0, 0.0));
    int ground = addFloor(world);
    tpShapeDef shape = tpDefaultShapeDef();
    tpCreateSphere(world, tpWorld_GetBody(world, ball), &shape, &(tpSphere){ ballRadius }, NULL);
    tpCreatePlane(world, tpWorld_GetBody(world, ground), &shape,
                  &(tpPlane){ .normal = tpMakeVec3(0.0, 0.0, 1.0) }, NULL);
    tpContact contact = makeContact(system, ball, ground);
    contact.shapeB = 1;
    tpTimeStep step;
    assert_true(tpTimeStep_Begin(&step, system, h, h));
    CHECK_VEC3(step.kicked[ball].linear, tpMakeVec3(2.0, 0.0, -1.0), 1e-15);
    CHECK_VEC3(step.freeMeanVelocities[ball].linear, tpMakeVec3(2.0, 0.0, -1.0), 1e-15);
    assert_true(tpTimeStep_UseContacts(&step, &contact, 1));
    tpRows_SetMasses(&step.rows, system);
    tpContactLaw law = makeLaw(0.5);
    tpRows_AddContact(&step.rows, system, system->poses.data, &contact, 0, &law, 0.25);
    tpTimeStep_SetFreeVelocities(&step);
    CHECK_NEAR(step.rows.q[0], -1.0 + 0.25, 1e-15);
    CHECK_NEAR(step.rows.q[1], 2.0, 1e-15);
    step.rows.impulse[0] = ballMass;
    step.rows.impulse[1] = -0.4;
    step.rows.impulse[2] = 0.0;
    tpTimeStep_ApplyImpulses(&step);
    CHECK_VEC3(step.pushed[ball].linear, tpMakeVec3(1.8, 0.0, 0.0), 1e-15);
    CHECK_VEC3(step.meanVelocities[ball].linear, tpMakeVec3(1.8, 0.0, 0.0), 1e-15);
    double spin = 0.4 * ballRadius / ballMoment; // (0, 0, -r) x (-.4, 0, .) / I
    CHECK_VEC3(step.pushed[ball].angular, tpMakeVec3(0.0, spin, 0.0), 1e-14);
    tpVec3 low = tpTimeStep_PointVelocity(&step, ball, contact.pointA, step.pushed);
    CHECK_VEC3(low, tpMakeVec3(1.8 - spin * ballRadius, 0.0, 0.0), 1e-14);
    tpTimeStep_Drift(&step);
    CHECK_VEC3(system->poses.data[ball].position, tpMakeVec3(0.18, 0.0, ballRadius), 1e-15);
    CHECK_VEC3(tpQuatLog(system->poses.data[ball].rotation), tpMakeVec3(0.0, h * spin, 0.0), 1e-14);
    CHECK_VEC3(system->poses.data[ground].position, tpZeroVec3(), 0.0);
    tpDestroyWorld(world);
}

// A body that is faster than was looked for gets a larger margin.
static void testOutran(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, 5.0), tpMakeVec3(2.0, 0.0, 0.0));
    tpTimeStep step;
    assert_true(tpTimeStep_Begin(&step, system, h, h));
    step.pushed[ball] = step.kicked[ball];
    tpTimeStep_FollowPushed(&step);
    double margin = step.margins[ball];
    assert_true(margin >= h * 2.0);
    assert_false(tpTimeStep_Outran(&step, NULL));
    step.pushed[ball].linear = tpMakeVec3(0.0, 0.0, 50.0);
    tpTimeStep_FollowPushed(&step);
    assert_true(tpTimeStep_Outran(&step, NULL));
    CHECK_NEAR(step.margins[ball], 1.25 * h * 50.0, 1e-12);
    assert_false(tpTimeStep_Outran(&step, NULL));
    // What has been looked at along the way does not count.
    step.margins[ball] = margin;
    assert_false(tpTimeStep_Outran(&step, step.meanVelocities));
    tpDestroyWorld(world);
}

// Forces of users do work over the way of the drift.
static void testWork(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, 5.0), tpMakeVec3(2.0, 0.0, 0.0));
    addFloor(world);
    tpForceDef force = tpDefaultForceDef();
    force.force = tpMakeVec3(6.0, 0.0, 0.0);
    for (int i = 0; i < 2; ++i) { // on a fixed body it does none
        force.body = tpWorld_GetBody(world, i);
        tpCreateForce(world, &force, NULL);
    }
    tpTimeStep step;
    assert_true(tpTimeStep_Begin(&step, system, h, h));
    step.pushed[ball] = step.kicked[ball];
    step.pushed[1].linear = tpMakeVec3(100.0, 0.0, 0.0);
    tpTimeStep_FollowPushed(&step);
    step.meanVelocities[1].linear = tpMakeVec3(100.0, 0.0, 0.0);
    CHECK_NEAR(tpTimeStep_ForceWork(&step), 6.0 * h * (2.0 + 6.0 * h / ballMass), 1e-13);
    assert_false(tpTimeStep_HasRestitution(&step));
    tpDestroyWorld(world);
}

// The gyroscopic part of mean velocities is that of the velocities at the start, not of the kick.
static void testLinearised(void** state) {
    (void)state;
    const tpVec3 starts[] = { { 0.0, 0.0, 0.0 }, { 3.0, -2.0, 1.0 } };
    for (int i = 0; i < 2; ++i) {
        tpWorld* world = makeEmptyWorld();
        tpBodyDef def = tpDefaultBodyDef();
        def.hasMass = true;
        def.mass.mass = 1.0;
        def.mass.inertia = tpDiagonal(tpMakeVec3(0.001, 0.002, 0.0025));
        def.angularVelocity = starts[i];
        tpBodyId body = tpCreateBody(world, &def, NULL);
        tpForceDef force = tpDefaultForceDef();
        force.body = body;
        force.torque = tpMakeVec3(1.0, 1.0, 1.0);
        tpCreateForce(world, &force, NULL);
        tpTimeStep step;
        assert_true(tpTimeStep_Begin(&step, &world->system, h, h));
        tpVec3 kick = tpSub(step.kicked[0].angular, starts[i]);
        CHECK_VEC3(kick, tpMakeVec3(100.0, 50.0, 40.0), 1e-11);
        tpVelocity mean, end;
        tpTimeStep_FindDrift(&step, step.startVelocities, &mean, &end);
        tpTimeStep_LineariseAtStart(&step);
        CHECK_VEC3(step.freeMeanVelocities[0].angular, tpAdd(mean.angular, kick), 1e-11);
        tpDestroyWorld(world);
    }
}

// The largest change of any body, in parts of its speed and one.
static void testChanges(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    addBall(world, tpMakeVec3(0.0, 0.0, 1.0), tpZeroVec3());
    addBall(world, tpMakeVec3(0.0, 0.0, 2.0), tpZeroVec3());
    tpTimeStep step;
    assert_true(tpTimeStep_Begin(&step, &world->system, h, h));
    tpVelocity a[2] = { 0 }, b[2] = { 0 };
    CHECK_NEAR(tpTimeStep_LargestChange(&step, a, b), 0.0, 0.0);
    a[0].linear = tpMakeVec3(0.0, 3.0, 4.0);
    a[0].angular = tpMakeVec3(1.0, 0.0, 0.0);
    CHECK_NEAR(tpTimeStep_LargestChange(&step, a, b), 6.0, 1e-15);
    CHECK_NEAR(tpTimeStep_LargestChange(&step, b, a), 6.0 / 7.0, 1e-15);
    b[1].linear = tpMakeVec3(0.0, 50.0, 0.0);
    b[1].angular = tpMakeVec3(0.0, 0.0, 49.0);
    CHECK_NEAR(tpTimeStep_LargestChange(&step, b, a), 99.0, 1e-15);
    CHECK_NEAR(tpTimeStep_LargestChange(&step, a, b), 6.0, 1e-15);
    tpDestroyWorld(world);
}

// A ball that lies on a floor, with their shapes.
static void addBallOnFloor(tpWorld* world, int* ball, int* ground) {
    tpShapeDef shape = tpDefaultShapeDef();
    *ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpZeroVec3());
    *ground = addFloor(world);
    tpCreateSphere(world, tpWorld_GetBody(world, *ball), &shape, &(tpSphere){ ballRadius }, NULL);
    tpCreatePlane(world, tpWorld_GetBody(world, *ground), &shape,
                  &(tpPlane){ .normal = tpMakeVec3(0.0, 0.0, 1.0) }, NULL);
}

// What a contact gave in the last step it is to give at first: the same force for as long as this
// step takes, and no pull.
static void testWarmStart(void** state) {
    (void)state;
    tpRandom random = { 31 };
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball, ground;
    addBallOnFloor(world, &ball, &ground);
    tpContact contact = makeContact(system, ball, ground);
    contact.shapeB = 1;
    for (int n = 0; n < 100; ++n) {
        contact.normal = tpNormalize(randomVec3(&random, -1.0, 1.0));
        tpContactLaw law = makeLaw(0.5);
        tpMakeTangents(contact.normal, &law.tangents[0], &law.tangents[1]);
        tpContactMemory memory = { .key = tpContact_Key(&contact),
                                   .impulse = randomVec3(&random, -1.0, 1.0) };
        tpContactHistory history = { .list = { &memory, 1, 1 }, .h = n % 3 == 0 ? 0.0 : 0.5 * h };
        tpTimeStep step;
        assert_true(tpTimeStep_Begin(&step, system, h, h));
        assert_true(tpTimeStep_UseContacts(&step, &contact, 1));
        tpRows_SetMasses(&step.rows, system);
        tpRows_AddContact(&step.rows, system, system->poses.data, &contact, 0, &law, 0.0);
        step.laws[0] = law;
        double part = randomBetween(&random, 0.5, 1.0);
        tpTimeStep_WarmStart(&step, &history, part);
        tpVec3 wanted = tpScale(part * (n % 3 == 0 ? 1.0 : 2.0), memory.impulse);
        double pull = fmin(0.0, tpDot(wanted, contact.normal));
        tpVec3 given = tpScale(step.rows.impulse[0], contact.normal);
        given = tpMulAdd(given, step.rows.impulse[1], law.tangents[0]);
        given = tpMulAdd(given, step.rows.impulse[2], law.tangents[1]);
        CHECK_VEC3(given, tpMulAdd(wanted, -pull, contact.normal), 1e-14);
        // Another contact, of other shapes, gives nothing.
        memory.key.shapeB += 1;
        memory.impulse = tpScale(7.0, memory.impulse);
        tpTimeStep_WarmStart(&step, &history, part);
        CHECK_NEAR(tpDot(contact.normal, given), step.rows.impulse[0], 1e-14);
    }
    tpDestroyWorld(world);
}

// The list of a step's parts has each contact once, in order, with the sum of its impulses: of two
// rows of one part, and of all parts.
static void testTally(void** state) {
    (void)state;
    enum { keys = 8 };
    tpRandom random = { 32 };
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball, ground;
    addBallOnFloor(world, &ball, &ground);
    for (int n = 0; n < 200; ++n) {
        double sums[keys] = { 0.0 }, slips[keys] = { 0.0 };
        bool isThere[keys] = { false };
        tpTally tally = { NULL, 0 };
        for (int part = 0; part < 3; ++part) {
            tpContact contacts[2 * keys];
            int count = 0;
            for (int key = 0; key < keys; ++key) {
                for (unsigned k = (unsigned)(randomBits(&random) % 3); k > 0; --k) {
                    contacts[count] = makeContact(system, ball, ground);
                    contacts[count].shapeB = 1;
                    contacts[count++].feature = (uint64_t)key;
                    isThere[key] = true;
                }
            }
            tpTimeStep step;
            assert_true(tpTimeStep_Begin(&step, system, h, h));
            assert_true(tpTimeStep_UseContacts(&step, contacts, count));
            tpRows_SetMasses(&step.rows, system);
            tpContactLaw law = makeLaw(0.5);
            for (int i = 0; i < count; ++i) {
                tpRows_AddContact(&step.rows, system, system->poses.data, &contacts[i], i, &law,
                                  0.0);
                step.laws[i] = law;
                step.rows.impulse[3 * i] = randomBetween(&random, 0.0, 1.0);
                step.rows.impulse[3 * i + 1] = randomBetween(&random, -1.0, 1.0);
                step.rows.impulse[3 * i + 2] = 0.0;
                sums[contacts[i].feature] += step.rows.impulse[3 * i];
                slips[contacts[i].feature] += step.rows.impulse[3 * i + 1];
            }
            tpTimeStep_SetFreeVelocities(&step);
            tpTimeStep_ApplyImpulses(&step);
            assert_true(tpTimeStep_Tally(&step, &tally));
        }
        int place = 0;
        for (int key = 0; key < keys; ++key) {
            if (isThere[key]) {
                assert_true(place < tally.count && tally.list[place].feature == (uint64_t)key);
                CHECK_NEAR(tally.list[place].normalImpulse, sums[key], 1e-14);
                CHECK_NEAR(tally.list[place].frictionImpulse.x, slips[key], 1e-14);
                place += 1;
            }
        }
        assert_int_equal(place, tally.count);
    }
    tpDestroyWorld(world);
}

// A step of several parts reports the worst of each: the deepest overlap at its end, wherever it is
// in the list, and what was there before if that is worse.
static void testWorstIsReported(void** state) {
    (void)state;
    const double depths[] = { 0.01, 0.03, 0.02 };
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    tpShapeDef shape = tpDefaultShapeDef();
    tpCreatePlane(world, tpWorld_GetBody(world, addFloor(world)), &shape,
                  &(tpPlane){ .normal = tpMakeVec3(0.0, 0.0, 1.0) }, NULL);
    for (int k = 0; k < 3; ++k) {
        int ball = addBall(world, tpMakeVec3(3.0 * k, 0.0, ballRadius - depths[k]), tpZeroVec3());
        tpCreateSphere(world, tpWorld_GetBody(world, ball), &shape, &(tpSphere){ ballRadius },
                       NULL);
    }
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    for (int k = 0; k < 2; ++k) {
        tpContactHistory history = { 0 };
        tpTally tally = { NULL, 0 };
        tpTimeStep step;
        assert_true(tpTimeStep_Begin(&step, system, h, h));
        assert_true(tpTimeStep_UseContacts(&step, NULL, 0));
        assert_true(tpTimeStep_Tally(&step, &tally));
        tpStepReport report = { .jointDrift = 0.5 * k, .penetration = 0.25 * k };
        assert_true(tpTimeStep_Report(&step, &tally, memory, &history, &report));
        assert_true(report.jointDrift == 0.5 * k);
        CHECK_NEAR(report.penetration, k == 0 ? 0.03 : 0.25, 1e-15);
    }
    tpDestroySolverMemory(memory);
    tpDestroyWorld(world);
}

// The velocity of a point that moves with a body.
static tpVec3 velocityAt(tpPose pose, tpVelocity v, tpVec3 point) {
    return tpAdd(v.linear, tpCross(v.angular, tpSub(point, pose.position)));
}

// Two balls that rub against each other. The list has the speed of their slip after the impulses;
// what the next step starts from has the whole impulse, and the speed at which they came together
// before it. Each step forgets what the one before it has left.
static void testRubbing(void** state) {
    (void)state;
    tpRandom random = { 33 };
    tpShapeDef shape = tpDefaultShapeDef();
    for (int n = 0; n < 50; ++n) {
        tpWorld* world = makeEmptyWorld();
        tpSystem* system = &world->system;
        for (int i = 0; i < 2; ++i) {
            int ball = addBall(world, tpMakeVec3(0.0, 0.0, 0.5 - 2.0 * ballRadius * i),
                               randomVec3(&random, -2.0, 2.0));
            tpBodyId id = tpWorld_GetBody(world, ball);
            tpBody_SetVelocity(world, id, randomVec3(&random, -2.0, 2.0),
                               randomVec3(&random, -9.0, 9.0));
            tpCreateSphere(world, id, &shape, &(tpSphere){ ballRadius }, NULL);
        }
        tpContact contact = makeContact(system, 0, 1);
        contact.shapeB = 1;
        tpContactLaw law = makeLaw(0.5);
        tpTimeStep step;
        assert_true(tpTimeStep_Begin(&step, system, h, h));
        assert_true(tpTimeStep_UseContacts(&step, &contact, 1));
        tpRows_SetMasses(&step.rows, system);
        tpRows_AddContact(&step.rows, system, system->poses.data, &contact, 0, &law, 0.0);
        step.laws[0] = law;
        tpVec3 impulse = randomVec3(&random, 0.1, 1.0);
        step.rows.impulse[0] = impulse.z;
        step.rows.impulse[1] = impulse.x;
        step.rows.impulse[2] = impulse.y;
        tpTimeStep_SetFreeVelocities(&step);
        tpTimeStep_ApplyImpulses(&step);

        tpContactHistory latest;
        assert_true(tpTimeStep_Latest(&step, &latest));
        assert_int_equal(latest.list.count, 1);
        const tpContactMemory* kept = &latest.list.data[0];
        assert_true(latest.h == h && kept->key.shapeA == 0 && kept->key.shapeB == 1);
        CHECK_VEC3(kept->impulse, impulse, 1e-15);
        CHECK_VEC3(kept->point, contact.pointA, 0.0);
        tpVec3 came =
            tpSub(velocityAt(step.startPoses[0], step.startVelocities[0], contact.pointA),
                  velocityAt(step.startPoses[1], step.startVelocities[1], contact.pointA));
        CHECK_NEAR(kept->normalSpeed, came.z, 1e-14);

        system->velocities.data[0] = step.pushed[0];
        system->velocities.data[1] = step.pushed[1];
        tpVec3 slip = tpSub(velocityAt(step.startPoses[0], step.pushed[0], contact.pointA),
                            velocityAt(step.startPoses[1], step.pushed[1], contact.pointA));
        tpContactHistory history = { 0 };
        tpSolverMemory* memory = tpCreateSolverMemory(NULL);
        for (int k = 0; k < 2; ++k) {
            tpTally tally = { NULL, 0 };
            assert_true(tpTimeStep_Tally(&step, &tally));
            assert_int_equal(tally.count, 1);
            CHECK_NEAR(tally.list[0].slidingSpeed, hypot(slip.x, slip.y), 1e-13);
            tpStepReport report = { 0 };
            assert_true(tpTimeStep_Report(&step, &tally, memory, &history, &report));
            assert_int_equal(history.list.count, 1);
            CHECK_VEC3(history.list.data[0].impulse, impulse, 1e-15);
        }
        TP_FREE_ARRAY(&system->allocator, history.list);
        tpDestroySolverMemory(memory);
        tpDestroyWorld(world);
    }
}

// Bodies of random motions that fall by factors of their own, with damping if asked; a floor is the
// last one.
static tpWorld* makeCrowd(tpRandom* random, bool isDamped) {
    tpWorld* world = makeEmptyWorld();
    for (int i = 0; i < 6; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        def.position = randomVec3(random, -3.0, 3.0);
        def.velocity = randomVec3(random, -2.0, 2.0);
        def.angularVelocity = randomVec3(random, -2.0, 2.0);
        def.hasMass = true;
        def.mass.mass = randomBetween(random, 0.5, 3.0);
        def.mass.inertia = tpDiagonal(randomVec3(random, 0.2, 0.3));
        def.gravityScale = randomBetween(random, -1.0, 2.0);
        def.linearDamping = isDamped ? randomBetween(random, 0.0, 2.0) : 0.0;
        def.angularDamping = isDamped ? randomBetween(random, 0.0, 2.0) : 0.0;
        tpCreateBody(world, &def, NULL);
    }
    addFloor(world);
    return world;
}

// Forces that are applied anew are those of a step that has begun so.
static void testKickAnew(void** state) {
    (void)state;
    for (int k = 0; k < 8; ++k) {
        tpTimeStep steps[2];
        tpWorld* worlds[2];
        double kick = k % 4 < 2 ? 0.5 * h : 0.25 * h;
        for (int i = 0; i < 2; ++i) {
            tpRandom random = { 40 };
            worlds[i] = makeCrowd(&random, k < 4);
            tpSystem* system = &worlds[i]->system;
            assert_true(tpTimeStep_Begin(&steps[i], system, h, i == 0 ? kick : h));
        }
        assert_true(tpTimeStep_KickAnew(&steps[1], kick));
        assert_true(steps[1].kick == kick);
        for (int i = 0; i < steps[0].bodyCount; ++i) {
            const tpVelocity* pairs[4][2] = {
                { &steps[0].kicked[i], &steps[1].kicked[i] },
                { &steps[0].freeVelocities[i], &steps[1].freeVelocities[i] },
                { &steps[0].freeMeanVelocities[i], &steps[1].freeMeanVelocities[i] },
                { &worlds[0]->system.velocities.data[i], &worlds[1]->system.velocities.data[i] },
            };
            for (int n = 0; n < 4; ++n) {
                CHECK_VEC3(pairs[n][0]->linear, pairs[n][1]->linear, 0.0);
                CHECK_VEC3(pairs[n][0]->angular, pairs[n][1]->angular, 0.0);
            }
        }
        tpDestroyWorld(worlds[0]);
        tpDestroyWorld(worlds[1]);
    }
}

// A servo has an effort that lasts: what acted of it at the end of a symmetric step, (share h -
// kick) times it, is taken back where the next one starts, from both bodies. A step that is not
// symmetric starts from the velocities that bodies have.
static void testSteadyStart(void** state) {
    (void)state;
    const double kick = 0.5 * h, effort = 4.0;
    for (int isSymmetric = 0; isSymmetric < 2; ++isSymmetric) {
        tpWorld* world = makeEmptyWorld();
        tpSystem* system = &world->system;
        int a = addBall(world, tpMakeVec3(0.0, 0.0, 1.0), tpMakeVec3(1.0, 2.0, 3.0));
        int b = addBall(world, tpMakeVec3(1.0, 0.0, 1.0), tpMakeVec3(3.0, 2.0, 1.0));
        tpJointDef def = tpDefaultJointDef();
        def.type = tp_prismaticJoint;
        def.bodyA = tpWorld_GetBody(world, a);
        def.bodyB = tpWorld_GetBody(world, b);
        def.axis = tpMakeVec3(1.0, 0.0, 0.0);
        def.coordinate.hasServo = true;
        def.coordinate.servo.stiffness = 1e4;
        def.coordinate.servo.damping = 500.0;
        assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &def, NULL)));
        tpCoordinate* coordinate = &system->joints.data[0].coordinates[0];
        coordinate->servoMemory.steady = effort;
        tpTimeStep step;
        assert_true(isSymmetric ? tpTimeStep_BeginSymmetric(&step, system, h, kick)
                                : tpTimeStep_Begin(&step, system, h, kick));
        double share = coordinate->servoShare; // of this step
        assert_true(share > 0.6);
        double change = isSymmetric ? (share * h - kick) * effort / ballMass : 0.0;
        tpVec3 fall = tpScale(kick, system->gravity);
        const int bodies[2] = { a, b };
        for (int i = 0; i < 2; ++i) {
            tpVec3 start = i == 0 ? tpMakeVec3(1.0, 2.0, 3.0) : tpMakeVec3(3.0, 2.0, 1.0);
            tpVec3 steadied = tpMulAdd(start, i == 0 ? change : -change, tpMakeVec3(1.0, 0.0, 0.0));
            CHECK_VEC3(step.startVelocities[bodies[i]].linear, start, 0.0);
            CHECK_VEC3(step.steadied[bodies[i]].linear, steadied, 1e-15);
            CHECK_VEC3(step.kicked[bodies[i]].linear, tpAdd(steadied, fall), 1e-15);
        }
        tpDestroyWorld(world);
    }
}

// What damping has taken in the kick does its work on the way of the drift, whatever that is.
static void testDampingWork(void** state) {
    (void)state;
    tpRandom random = { 41 };
    for (int k = 0; k < 20; ++k) {
        tpWorld* world = makeCrowd(&random, k % 4 != 0);
        tpSystem* system = &world->system;
        tpTimeStep step;
        assert_true(tpTimeStep_Begin(&step, system, h, k % 2 == 0 ? h : 0.5 * h));
        double work = 0.0;
        for (int i = 0; i < step.bodyCount; ++i) {
            step.meanVelocities[i].linear = randomVec3(&random, -2.0, 2.0);
            step.meanVelocities[i].angular = randomVec3(&random, -2.0, 2.0);
            const tpBody* body = &system->bodies.data[i];
            if (body->inverseMass > 0.0) {
                tpVec3 fall = tpScale(step.kick * body->gravityScale, system->gravity);
                tpVec3 free = tpAdd(step.startVelocities[i].linear, fall);
                tpVec3 slower = tpSub(step.kicked[i].linear, free);
                tpVec3 spin = tpSub(step.kicked[i].angular, step.startVelocities[i].angular);
                tpVec3 moment =
                    tpInertia_Momentum(&body->form->inertia, system->poses.data[i].rotation, spin);
                work += body->mass * tpDot(slower, step.meanVelocities[i].linear) +
                        tpDot(moment, step.meanVelocities[i].angular);
            }
        }
        assert_true(k % 4 == 0 ? fabs(work) < 1e-13 : fabs(work) > 1e-3);
        CHECK_NEAR(tpTimeStep_ForceWork(&step), work, 1e-12);
        // A report of several steps adds it up.
        assert_true(tpTimeStep_UseContacts(&step, NULL, 0));
        tpStepReport report = { .externalWork = 3.0 };
        tpTimeStep_AccountEnergy(&step, &report);
        CHECK_NEAR(report.externalWork, 3.0 + work, 1e-12);
        tpDestroyWorld(world);
    }
}

// Bodies that nothing pushes or turns go by the mean of their velocities before and after the kick.
// What gravity does on the way of the others beyond what it does on that mean is lost.
static void testWays(void** state) {
    (void)state;
    tpRandom random = { 42 };
    for (int k = 0; k < 20; ++k) {
        tpWorld* world = makeCrowd(&random, false);
        tpSystem* system = &world->system;
        tpTimeStep step;
        assert_true(tpTimeStep_Begin(&step, system, h, h));
        double loss = 0.0;
        for (int i = 0; i < step.bodyCount; ++i) {
            step.pushed[i] = step.kicked[i];
            if (i % 3 == 1) {
                step.pushed[i].linear = tpAdd(step.pushed[i].linear, randomVec3(&random, 0.1, 1.0));
            } else if (i % 3 == 2) {
                step.pushed[i].angular =
                    tpAdd(step.pushed[i].angular, randomVec3(&random, 0.1, 1.0));
            }
        }
        tpTimeStep_FollowPushed(&step);
        tpTimeStep_FlyUntouched(&step);
        for (int i = 0; i < step.bodyCount; ++i) {
            const tpBody* body = &system->bodies.data[i];
            bool isFree = i % 3 == 0 && i < 6;
            tpVec3 pushed = step.pushed[i].linear, start = step.startVelocities[i].linear;
            tpVec3 mean = isFree ? tpScale(0.5, tpAdd(start, pushed)) : pushed;
            CHECK_VEC3(step.meanVelocities[i].linear, mean, 1e-15);
            step.meanVelocities[i].linear = randomVec3(&random, -2.0, 2.0);
            tpVec3 more = tpSub(step.meanVelocities[i].linear, tpScale(0.5, tpAdd(start, pushed)));
            loss +=
                i < 6 ? body->mass * body->gravityScale * h * tpDot(system->gravity, more) : 0.0;
        }
        CHECK_NEAR(tpTimeStep_WayLoss(&step), loss, 1e-12);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testKickAnew),
                                        cmocka_unit_test(testDampingWork),
                                        cmocka_unit_test(testWays),
                                        cmocka_unit_test(testBall),
                                        cmocka_unit_test(testOutran),
                                        cmocka_unit_test(testWork),
                                        cmocka_unit_test(testLinearised),
                                        cmocka_unit_test(testChanges),
                                        cmocka_unit_test(testTally),
                                        cmocka_unit_test(testWarmStart),
                                        cmocka_unit_test(testWorstIsReported),
                                        cmocka_unit_test(testSteadyStart),
                                        cmocka_unit_test(testRubbing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
