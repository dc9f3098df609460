// Who falls asleep and who wakes: one cause at a time, and nobody else.
//
// A ball and its partner, which may be joined in any way, a third one far away that nothing
// concerns, a kinematic ball and a fixed body without a shape.

#include <string.h>

#include "ball_cases.h"
#include "dynamics/loads.h"
#include "dynamics/sleep.h"

static const tpSleepSettings settings = { .speed = 1e-3, .time = 0.45 };
static const double h = 0.1;

enum { ball, partner, stranger, told, ground, bodyCount };

typedef struct Scene {
    tpWorld* world;
    tpSystem* system;
    tpSleep sleep;
    tpContactInfo contact; // there in every step in which its first body is awake
    bool hasContact;
    tpStepReport report;
} Scene;

static tpBodyId idOf(const Scene* scene, int body) {
    return tpWorld_GetBody(scene->world, body);
}

static void makeScene(Scene* scene) {
    *scene = (Scene){ .world = makeEmptyWorld() };
    scene->system = &scene->world->system;
    scene->system->gravity = tpZeroVec3();
    tpShapeDef shape = tpDefaultShapeDef();
    for (int i = 0; i < bodyCount; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        def.kind = i == told ? tp_kinematicBody : i == ground ? tp_fixedBody : tp_dynamicBody;
        def.position = tpMakeVec3(10.0 * i, 0.0, 0.0);
        def.hasMass = true;
        def.mass.mass = ballMass;
        def.mass.inertia = tpDiagonal(tpMakeVec3(ballMoment, ballMoment, ballMoment));
        tpBodyId made = tpCreateBody(scene->world, &def, NULL);
        if (i < ground) {
            tpCreateSphere(scene->world, made, &shape, &(tpSphere){ ballRadius }, NULL);
        }
    }
    assert_true(tpSystem_MeasureScales(scene->system));
    tpSystem_MeasureUnits(scene->system, h);
}

static void destroyScene(Scene* scene) {
    tpSleep_Destroy(&scene->sleep, scene->system);
    tpDestroyWorld(scene->world);
}

static bool sleeps(const Scene* scene, int body) {
    return scene->system->bodies.data[body].isAsleep;
}

static void beginStep(Scene* scene) {
    tpArena_Reset(&scene->system->arena);
    scene->report = (tpStepReport){ .converged = true };
    assert_true(tpSleep_Begin(&scene->sleep, scene->system, h));
}

static void endStepWith(Scene* scene, const tpContactInfo* contacts, int count) {
    tpSystem* system = scene->system;
    assert_true(TP_RESERVE(&system->allocator, system->contacts, count));
    for (int i = 0; i < count; ++i) {
        system->contacts.data[i] = contacts[i];
    }
    system->contacts.count = count;
    assert_true(tpSleep_End(&scene->sleep, system, &settings, h, &scene->report));
    for (int i = 0; i < system->bodyCount; ++i) { // as the world does it
        system->bodies.data[i].isDisturbed = false;
    }
}

static void endStep(Scene* scene) {
    bool isListed = scene->hasContact && !sleeps(scene, tpContactInfo_BodyA(&scene->contact));
    endStepWith(scene, &scene->contact, isListed ? 1 : 0);
}

static void passSteps(Scene* scene, int count) {
    for (int k = 0; k < count; ++k) {
        beginStep(scene);
        endStep(scene);
    }
}

static tpJointId addHinge(Scene* scene, int a, int b) {
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_revoluteJoint;
    def.bodyA = a >= 0 ? idOf(scene, a) : (tpBodyId){ 0 };
    def.bodyB = idOf(scene, b);
    def.anchorA = def.anchorB = scene->system->poses.data[b].position;
    def.axis = tpMakeVec3(0.0, 0.0, 1.0);
    tpJointId joint = tpCreateJoint(scene->world, &def, NULL);
    assert_true(tpJoint_IsValid(scene->world, joint));
    return joint;
}

// Couples two bodies, each on a hinge of its own.
static tpCouplingId couple(Scene* scene, int a, int b) {
    tpCouplingTerm terms[2] = { { addHinge(scene, -1, a), 0, 1.0 },
                                { addHinge(scene, -1, b), 0, -2.0 } };
    tpCouplingDef def = tpDefaultCouplingDef();
    def.terms = terms;
    def.termCount = 2;
    def.hasValue = true;
    tpCouplingId coupling = tpCreateCoupling(scene->world, &def, NULL);
    assert_true(tpCoupling_IsValid(scene->world, coupling));
    return coupling;
}

static void touch(Scene* scene, int a, int b) {
    scene->hasContact = true;
    scene->contact = (tpContactInfo){ .bodyA = idOf(scene, a),
                                      .bodyB = idOf(scene, b),
                                      .shapeA = tpBody_GetShape(scene->world, idOf(scene, a), 0),
                                      .shapeB = tpBody_GetShape(scene->world, idOf(scene, b), 0),
                                      .normal = { 0.0, 0.0, 1.0 } };
}

static tpForceId push(Scene* scene, int body, double from, double to) {
    tpForceDef def = tpDefaultForceDef();
    def.body = idOf(scene, body);
    def.force = tpMakeVec3(1.0, 0.0, 0.0);
    def.from = from;
    def.to = to;
    return tpCreateForce(scene->world, &def, NULL);
}

// Staying awake -----------------------------------------------------------------------------------

typedef enum Cause {
    slides,
    turns,
    isPushed,
    willBePushed,
    isLoaded,
    touchesTold,
    toldTouches,
    hangsOnTold,
    toldHangsOnIt,
    isCoupledToTold,
    hangsOnPartner,
    touchesPartner,
    isCoupledToPartner,
    lastAwake = isCoupledToPartner,
    isSlow,
    wasPushed,
    willBePushedLater,
    hungOnPartner,
    wasCoupledToPartner,
    toldTouchesPartner,
    causeCount
} Cause;

static void setCause(Scene* scene, Cause cause) {
    tpVelocity* velocities = scene->system->velocities.data;
    tpVec3 fast = { 0.0, 0.1, 0.0 };
    scene->system->time = 5.0;
    if (cause == slides || cause == isSlow) {
        velocities[ball].linear.x = cause == slides ? 1.001e-3 : 0.999e-3;
    } else if (cause == turns) {
        velocities[ball].angular.z = 1.001e-3 / scene->system->bodies.data[ball].reach;
    } else if (cause == isPushed || cause == wasPushed) {
        push(scene, ball, 0.0, cause == isPushed ? 5.001 : 4.999);
    } else if (cause == willBePushed || cause == willBePushedLater) {
        push(scene, ball, cause == willBePushed ? 5.199 : 5.201, 9.0);
    } else if (cause == touchesTold || cause == toldTouches || cause == toldTouchesPartner) {
        int other = cause == toldTouchesPartner ? partner : ball;
        velocities[told].linear.x = 1e-9; // it moves as it is told, however slowly
        if (cause == touchesTold) {
            touch(scene, ball, told);
        } else {
            touch(scene, told, other);
        }
    } else if (cause == hangsOnTold || cause == toldHangsOnIt) {
        velocities[told].angular.x = 1e-9;
        addHinge(scene, cause == hangsOnTold ? told : ball, cause == hangsOnTold ? ball : told);
    } else if (cause == isCoupledToTold) {
        velocities[told].linear.x = 1e-9;
        couple(scene, told, ball);
    } else if (cause != isLoaded) {
        velocities[partner].linear = fast;
        if (cause == touchesPartner) {
            touch(scene, partner, ball);
            scene->contact.normal = tpMakeVec3(0.0, 0.0, 1.0);
        } else if (cause == isCoupledToPartner || cause == wasCoupledToPartner) {
            tpCouplingId coupling = couple(scene, partner, ball);
            if (cause == wasCoupledToPartner) {
                tpDestroyCoupling(scene->world, coupling);
            }
        } else {
            tpJointId joint = addHinge(scene, partner, ball);
            if (cause == hungOnPartner) {
                tpDestroyJoint(scene->world, joint);
            }
        }
    }
}

static void staysAwake(void** state) {
    (void)state;
    for (Cause cause = 0; cause < causeCount; ++cause) {
        Scene scene;
        makeScene(&scene);
        setCause(&scene, cause);
        for (int k = 0; k < 8; ++k) {
            if (cause == isLoaded) {
                tpSystem_ForgetLoads(scene.system);
                tpBody_ApplyForce(scene.world, idOf(&scene, ball), tpMakeVec3(1.0, 0.0, 0.0),
                                  tp_worldFrame);
            }
            passSteps(&scene, 1);
        }
        if (sleeps(&scene, ball) == (cause <= lastAwake) || !sleeps(&scene, stranger)) {
            fail_msg("cause %d: %d sleeps, the stranger %d", (int)cause, sleeps(&scene, ball),
                     sleeps(&scene, stranger));
        }
        int count = sleeps(&scene, ball) + sleeps(&scene, partner) + sleeps(&scene, stranger);
        assert_int_equal(scene.report.sleepingCount, count);
        destroyScene(&scene);
    }
}

// Waking ------------------------------------------------------------------------------------------

typedef enum Call {
    byVelocity,
    bySpin,
    byPlace,
    byDisturbance,
    byForce,
    byToldNear,
    byToldJoint,
    byToldJointBehind,
    byToldCoupling,
    bySupportGone,
    bySupportOfA,
    lastWaking = bySupportOfA,
    byNothing,
    byForceLater,
    byToldFar,
    byToldPassing,
    callCount
} Call;

// The kinematic ball sets off along y.
static void sendOff(Scene* scene, double speed) {
    tpBody* body = &scene->system->bodies.data[told];
    body->hasTarget = true;
    *body->target = scene->system->poses.data[told];
    body->target->position.y += speed * h;
    scene->system->mayMoveAsTold = true;
}

static void prepareCall(Scene* scene, Call call) {
    tpSystem* system = scene->system;
    addHinge(scene, ball, partner);
    if (call == byForce || call == byForceLater) {
        system->time = 3.0;
        push(scene, ball, 5.0, 6.0);
    } else if (call == byToldJoint) {
        addHinge(scene, told, ball);
    } else if (call == byToldJointBehind) {
        addHinge(scene, ball, told);
    } else if (call == byToldCoupling) {
        couple(scene, told, ball);
    } else if (call == byToldNear || call == byToldPassing) {
        // Twice the way of a step from the ball, a little less or more.
        double apart = 2.0 * ballRadius + 2.0 * h * 0.5 + (call == byToldNear ? -1e-4 : 1e-4);
        system->poses.data[told].position = tpMakeVec3(0.0, 0.0, apart);
    } else if (call == bySupportGone) {
        touch(scene, ball, ground - 1);
    } else if (call == bySupportOfA) {
        touch(scene, told, ball);
    }
}

static void makeCall(Scene* scene, Call call) {
    tpSystem* system = scene->system;
    if (call == byVelocity) {
        system->velocities.data[partner].linear.z = 1e-9;
    } else if (call == bySpin) {
        system->velocities.data[partner].angular.z = 1e-9;
    } else if (call == byPlace) {
        system->poses.data[partner].position.z += 1e-9;
    } else if (call == byDisturbance) {
        system->bodies.data[partner].isDisturbed = true;
    } else if (call == byForce || call == byForceLater) {
        system->time = call == byForce ? 4.901 : 4.899;
    } else if (call == bySupportGone || call == bySupportOfA) {
        tpDestroyBody(scene->world, idOf(scene, told));
    } else if (call != byNothing) {
        sendOff(scene, 0.5);
    }
}

static void wakesByACall(void** state) {
    (void)state;
    for (Call call = 0; call < callCount; ++call) {
        Scene scene;
        makeScene(&scene);
        prepareCall(&scene, call);
        passSteps(&scene, 6);
        assert_true(sleeps(&scene, ball) && sleeps(&scene, partner) && sleeps(&scene, stranger));
        makeCall(&scene, call);
        beginStep(&scene);
        bool wakes = call <= lastWaking;
        if (sleeps(&scene, ball) == wakes || sleeps(&scene, partner) == wakes ||
            !sleeps(&scene, stranger)) {
            fail_msg("call %d: %d %d %d", (int)call, sleeps(&scene, ball), sleeps(&scene, partner),
                     sleeps(&scene, stranger));
        }
        CHECK_NEAR(scene.system->bodies.data[ball].inverseMass, wakes ? 1.0 / ballMass : 0.0, 0.0);
        CHECK_NEAR(scene.system->bodies.data[stranger].inverseMass, 0.0, 0.0);
        bool hadContact = call == bySupportGone || call == bySupportOfA;
        assert_int_equal(scene.sleep.woken.count, hadContact ? 1 : 0);
        assert_int_equal(scene.sleep.contacts.count, 0);
        destroyScene(&scene);
    }
    // A fixed body that is moved wakes all.
    Scene scene;
    makeScene(&scene);
    passSteps(&scene, 6);
    scene.system->poses.data[ground].position.x += 1.0;
    beginStep(&scene);
    assert_true(!sleeps(&scene, ball) && !sleeps(&scene, stranger));
    assert_int_equal(scene.sleep.sleepingCount, 0);
    destroyScene(&scene);
}

// What moves meets what sleeps if it can come there in the step: by its approach and by twice what
// gravity adds; what is quiet meets it only if they touch.
static void meetsWhatComes(void** state) {
    (void)state;
    tpRandom random = { 8 };
    int met = 0;
    for (int n = 0; n < 200; ++n) {
        Scene scene;
        makeScene(&scene);
        scene.system->gravity = tpMakeVec3(0.0, 0.6 * 0.5, -0.8 * 0.5);
        scene.sleep.gravity = scene.system->gravity;
        passSteps(&scene, 6);
        bool isFast = n % 4 != 0;
        tpVec3 velocity = tpScale(isFast ? 1.0 : 1e-4, randomVec3(&random, -1.0, 1.0));
        scene.system->velocities.data[stranger].linear = velocity;
        beginStep(&scene);
        assert_true(sleeps(&scene, ball) && !sleeps(&scene, stranger));
        double gap = n % 8 == 0 ? 0.5e-6 : randomBetween(&random, 0.0, 0.1);
        tpContact contact = { .bodyA = ball, .bodyB = stranger, .gap = gap };
        contact.normal = tpNormalize(randomVec3(&random, -1.0, 1.0));
        if (n % 2 == 0) {
            contact.bodyA = stranger;
            contact.bodyB = ball;
        }
        contact.pointA = contact.pointB = scene.system->poses.data[stranger].position;
        double closing = tpDot(contact.normal, velocity) * (n % 2 == 0 ? -h : h);
        double way = isFast ? 2.0 * h * h * 0.5 + fmax(0.0, closing) : 0.0;
        bool meets = gap <= way + 1e-6;
        assert_int_equal(tpSleep_Meet(&scene.sleep, scene.system, &contact, 1, 1e-3, h), meets);
        assert_int_equal(sleeps(&scene, ball), !meets);
        assert_true(sleeps(&scene, partner));
        assert_false(tpSleep_Meet(&scene.sleep, scene.system, &contact, 1, 1e-3, h));
        met += meets;
        destroyScene(&scene);
    }
    assert_in_range(met, 50, 150);
}

// Who is struck may be thrown against others in the same step, at twice the speed at most.
static void thosePushedWakeOthers(void** state) {
    (void)state;
    for (int n = 0; n < 2; ++n) {
        Scene scene;
        makeScene(&scene);
        passSteps(&scene, 6);
        scene.system->velocities.data[stranger].linear = tpMakeVec3(1.0, 0.0, 0.0);
        beginStep(&scene);
        tpContact near = { .bodyA = partner, .bodyB = stranger, .gap = 0.05 };
        tpContact behind = { .bodyA = ball, .bodyB = partner, .gap = n == 0 ? 0.19 : 0.21 };
        near.normal = behind.normal = tpMakeVec3(1.0, 0.0, 0.0);
        near.pointA = near.pointB = scene.system->poses.data[stranger].position;
        behind.pointA = behind.pointB = scene.system->poses.data[partner].position;
        assert_false(tpSleep_Meet(&scene.sleep, scene.system, &behind, 1, 1e-3, h));
        assert_true(tpSleep_Meet(&scene.sleep, scene.system, &near, 1, 1e-3, h));
        assert_true(!sleeps(&scene, partner) && sleeps(&scene, ball));
        assert_int_equal(tpSleep_Meet(&scene.sleep, scene.system, &behind, 1, 1e-3, h), n == 0);
        assert_int_equal(sleeps(&scene, ball), n == 1);
        destroyScene(&scene);
    }
}

// Those that wake within a step have their masses again, the others when it has ended; a joint on
// the world alone hides nobody.
static void massesComeBack(void** state) {
    (void)state;
    Scene scene;
    makeScene(&scene);
    tpSystem* system = scene.system;
    addHinge(&scene, -1, ball);
    passSteps(&scene, 6);
    system->velocities.data[stranger].linear = tpMakeVec3(1.0, 0.0, 0.0);
    beginStep(&scene);
    const tpBody* bodies = system->bodies.data;
    assert_true(bodies[ball].inverseMass == 0.0 && bodies[partner].inverseMass == 0.0);
    assert_true(bodies[stranger].inverseMass == 1.0 / ballMass);
    assert_false(tpCollider_IsMovable(system->collider, bodies[partner].firstShape));
    tpContact near = { .bodyA = partner, .bodyB = stranger, .gap = 0.0 };
    near.normal = tpMakeVec3(1.0, 0.0, 0.0);
    near.pointA = near.pointB = system->poses.data[stranger].position;
    assert_true(tpSleep_Meet(&scene.sleep, system, &near, 1, 1e-3, h));
    assert_true(bodies[ball].inverseMass == 0.0 && bodies[partner].inverseMass == 1.0 / ballMass);
    assert_true(tpCollider_IsMovable(system->collider, bodies[partner].firstShape));
    assert_false(tpCollider_IsMovable(system->collider, bodies[ball].firstShape));
    endStep(&scene);
    assert_true(bodies[ball].inverseMass == 1.0 / ballMass);
    assert_true(bodies[told].inverseMass == 0.0 && bodies[ground].inverseMass == 0.0);
    assert_true(sleeps(&scene, ball) && !sleeps(&scene, partner) && !sleeps(&scene, stranger));
    destroyScene(&scene);
}

// Contacts of islands that wake are listed in order, in whichever order the islands wake.
static void wokenContactsAreInOrder(void** state) {
    (void)state;
    static const int wakers[3][3] = { { 0, 1, 2 }, { 2, 0, 1 }, { 2, 1, 0 } };
    for (int n = 0; n < 3; ++n) {
        Scene scene;
        makeScene(&scene);
        tpSystem* system = scene.system;
        enum { count = 6 };
        tpContactInfo infos[count];
        for (int i = 0; i < count; ++i) { // two contacts of each ball with the kinematic one
            touch(&scene, i / 2, told);
            infos[i] = scene.contact;
            infos[i].feature = (uint64_t)(i + 1);
            infos[i].normalImpulse = 1.0 + i;
        }
        for (int k = 0; k < 6; ++k) {
            beginStep(&scene);
            endStepWith(&scene, infos, sleeps(&scene, ball) ? 0 : count);
            assert_int_equal(system->contacts.count, count);
        }
        assert_true(sleeps(&scene, ball) && sleeps(&scene, stranger));
        beginStep(&scene);
        for (int k = 0; k < 3; ++k) {
            // Something fast that touches one of them; the last one's place may be anywhere.
            tpContact near = { .bodyA = wakers[n][k], .bodyB = told };
            near.normal = tpMakeVec3(1.0, 0.0, 0.0);
            near.pointA = near.pointB = system->poses.data[told].position;
            assert_true(tpSleep_Meet(&scene.sleep, system, &near, 1, 1e-3, h));
            assert_int_equal(scene.sleep.woken.count, 2 * (k + 1));
            assert_int_equal(scene.sleep.contacts.count, count - 2 * (k + 1));
            for (int i = 1; i < scene.sleep.woken.count; ++i) {
                const tpContactInfo* woken = &scene.sleep.woken.data[i];
                assert_true(tpContactInfo_Compare(woken - 1, woken) < 0);
            }
        }
        for (int i = 0; i < count; ++i) {
            assert_true(scene.sleep.woken.data[i].normalImpulse == 1.0 + i);
        }
        destroyScene(&scene);
    }
}

// In how many steps a ball of such a speed falls asleep; 0: not in twenty.
static int stepsToSleep(const tpSleepSettings* given, double speed, bool isTired) {
    Scene scene;
    makeScene(&scene);
    tpSystem* system = scene.system;
    int steps = 0;
    for (int k = 1; k <= 20 && steps == 0; ++k) {
        beginStep(&scene);
        system->velocities.data[ball].linear = tpMakeVec3(0.0, speed, 0.0);
        system->bodies.data[ball].isTired = isTired;
        system->contacts.count = 0;
        assert_true(tpSleep_End(&scene.sleep, system, given, h, &scene.report));
        steps = sleeps(&scene, ball) ? k : 0;
    }
    destroyScene(&scene);
    return steps;
}

// Bodies that are slow enough for the shorter time fall asleep after that; those that a user wants
// to sleep as soon as they are quiet.
static void slowerBodiesFallAsleepSooner(void** state) {
    (void)state;
    tpSleepSettings given = { .speed = 1e-3, .time = 0.65 };
    assert_int_equal(stepsToSleep(&given, 0.9e-3, false), 7);
    assert_int_equal(stepsToSleep(&given, 0.0, false), 7);
    given.shortTime = 0.65 / 4.0; // for a quarter of the speed
    assert_int_equal(stepsToSleep(&given, 0.3e-3, false), 7);
    assert_int_equal(stepsToSleep(&given, 0.2e-3, false), 2);
    given.shortTime = 2.0; // no longer than without it
    assert_int_equal(stepsToSleep(&given, 0.9e-3, false), 7);
    assert_int_equal(stepsToSleep(&given, 0.9e-3, true), 1);
    assert_int_equal(stepsToSleep(&given, 1.1e-3, true), 0);
    assert_int_equal(stepsToSleep(&given, 1.1e-3, false), 0);
}

// What is kept ------------------------------------------------------------------------------------

// Reactions of joints and contacts of those asleep stay what they were; what is left of their
// motion is lost; saved and restored all of it is the same.
static void keepsWhatItHeld(void** state) {
    (void)state;
    Scene scene;
    makeScene(&scene);
    tpSystem* system = scene.system;
    addHinge(&scene, -1, stranger);
    addHinge(&scene, ball, partner);
    touch(&scene, ball, told);
    system->velocities.data[ball].linear.x = 0.5e-3;
    system->velocities.data[partner].angular.y = 0.7e-3;
    double energy = 0.5 * (ballMass * 0.5e-3 * 0.5e-3 + ballMoment * 0.7e-3 * 0.7e-3);
    tpVec3 force = { 1.0, 2.0, 3.0 }, torque = { 4.0, 5.0, 6.0 };
    for (int k = 0; k < 6; ++k) {
        beginStep(&scene);
        tpJoint* joint = &system->joints.data[1];
        joint->force = k < 5 ? force : tpZeroVec3();
        joint->torque = k < 5 ? torque : tpZeroVec3();
        joint->coordinates[0].effort = k < 5 ? 7.0 : 0.0;
        joint->coordinates[0].limitEffort = k < 5 ? 8.0 : 0.0;
        endStep(&scene);
        CHECK_NEAR(scene.report.impactLoss, k == 4 ? energy : 0.0, 1e-18);
        assert_int_equal(scene.report.contactCount, 1);
        CHECK_VEC3(joint->force, force, 0.0);
        CHECK_VEC3(joint->torque, torque, 0.0);
        CHECK_NEAR(joint->coordinates[0].effort, 7.0, 0.0);
        CHECK_NEAR(joint->coordinates[0].limitEffort, 8.0, 0.0);
    }
    CHECK_NEAR(tpLength(system->velocities.data[ball].linear), 0.0, 0.0);
    unsigned char saved[2][8192];
    size_t size = tpSleep_SavedSize(&scene.sleep);
    assert_true(size <= sizeof(saved[0]));
    memset(saved, 0xa5, sizeof(saved));
    tpSleep_Save(&scene.sleep, saved[0]);
    assert_true(saved[0][size] == 0xa5);
    tpSleep other = { 0 };
    tpSavedReader reader = { saved[0], size, false };
    for (int i = 0; i < bodyCount; ++i) { // marks are set anew, on those asleep alone
        system->bodies.data[i].isAsleep = i == told;
    }
    assert_true(tpSleep_Restore(&other, system, &reader));
    assert_int_equal(reader.left, 0);
    assert_int_equal(tpSleep_SavedSize(&other), size);
    tpSleep_Save(&other, saved[1]);
    assert_memory_equal(saved[0], saved[1], size);
    assert_true(sleeps(&scene, ball) && sleeps(&scene, stranger) && !sleeps(&scene, told));
    // Cut off anywhere it is refused.
    for (size_t cut = 0; cut < size; cut += 7) {
        reader = (tpSavedReader){ saved[0], cut, false };
        assert_false(tpSleep_Restore(&other, system, &reader));
    }
    tpSleep_Destroy(&other, system);
    destroyScene(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(staysAwake),
                                        cmocka_unit_test(wakesByACall),
                                        cmocka_unit_test(meetsWhatComes),
                                        cmocka_unit_test(thosePushedWakeOthers),
                                        cmocka_unit_test(massesComeBack),
                                        cmocka_unit_test(wokenContactsAreInOrder),
                                        cmocka_unit_test(slowerBodiesFallAsleepSooner),
                                        cmocka_unit_test(keepsWhatItHeld) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
