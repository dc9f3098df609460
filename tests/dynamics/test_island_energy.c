// Energy from nothing is taken from the islands that have gained it, and from no others.

#include "dynamics/island_energy.h"

#include <string.h>

#include "dynamics/forces.h"
#include "support/floor.h"
#include "world/world.h"

static tpBodyId addRunner(tpWorld* world, tpVec3 place) {
    tpBodyDef body = tpDefaultBodyDef();
    body.position = place;
    body.hasMass = true;
    body.mass.mass = 3.0;
    body.mass.inertia = tpDiagonal(tpMakeVec3(0.1, 0.2, 0.1));
    body.velocity = tpMakeVec3(2.0, 0.0, 0.0);
    body.angularVelocity = tpMakeVec3(0.0, 5.0, 0.0);
    return tpCreateBody(world, &body, NULL);
}

// Two bodies on a joint, of which one has become faster, give back what they gained together. One
// that has lost energy, one that has fallen, and one that a force has accelerated are left alone.
static void gainsAreTakenFromThoseThatGained(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    def.gravity = tpMakeVec3(0.0, 0.0, -10.0);
    tpWorld* world = tpCreateWorld(&def);
    tpJointDef joint = tpDefaultJointDef();
    joint.bodyA = addRunner(world, tpZeroVec3());
    joint.bodyB = addRunner(world, tpMakeVec3(1.0, 0.0, 0.0));
    joint.type = tp_ballJoint;
    tpCreateJoint(world, &joint, NULL);
    for (int i = 2; i < 5; ++i) {
        addRunner(world, tpMakeVec3(10.0 * i, 0.0, 0.0));
    }
    tpForceDef force = tpDefaultForceDef();
    force.force = tpMakeVec3(1.0, 0.0, 0.0);
    force.body = tpWorld_BodyId(world, 4);
    tpCreateForce(world, &force, NULL);
    tpSystem* system = &world->system;
    tpKeptMotion start;
    assert_true(tpKeptMotion_Take(&start, system));
    double energy = tpSystem_Energy(system); // 6 + 2.5 J each
    CHECK_NEAR(energy, 5 * 8.5, 1e-12);
    system->velocities.data[1].linear.x = 4.0;  // 18 J more
    system->velocities.data[2].angular.y = 0.0; // 2.5 J less
    system->poses.data[3].position.z = -0.1;    // 3 J of gravity's
    system->velocities.data[3].linear.z = -sqrt(2.0);
    system->velocities.data[4].linear.x = 3.0; // 7.5 J of work
    tpVelocity before[5];
    memcpy(before, system->velocities.data, sizeof(before));
    double rise = tpSystem_Energy(system) - energy - 7.5;
    CHECK_NEAR(rise, 15.5, 1e-12);
    CHECK_NEAR(tpSystem_TakeGains(system, &start, rise), 18.0, 1e-11);
    const double factor = sqrt(17.0 / 35.0);
    for (int i = 0; i < 5; ++i) {
        double part = i < 2 ? factor : 1.0;
        const tpVelocity* now = &system->velocities.data[i];
        CHECK_NEAR(now->linear.x, part * before[i].linear.x, 1e-12);
        CHECK_NEAR(now->linear.z, part * before[i].linear.z, 1e-12);
        CHECK_NEAR(now->angular.y, part * before[i].angular.y, 1e-12);
    }
    tpDestroyWorld(world);
}

// Of islands on which forces act only the work of all together is known: what they have gained
// beyond it is taken in proportion to their gains.
static void drivenIslandsShareWhatIsTaken(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    def.gravity = tpZeroVec3();
    tpWorld* world = tpCreateWorld(&def);
    tpForceDef force = tpDefaultForceDef();
    force.force = tpMakeVec3(1.0, 0.0, 0.0);
    for (int i = 0; i < 3; ++i) {
        tpBodyId body = addRunner(world, tpMakeVec3(10.0 * i, 0.0, 0.0));
        if (i < 2) {
            force.body = body;
            tpCreateForce(world, &force, NULL);
        }
    }
    tpSystem* system = &world->system;
    tpKeptMotion start;
    assert_true(tpKeptMotion_Take(&start, system));
    system->velocities.data[0].linear.x = 4.0;                               // 18 J more
    system->velocities.data[1].linear.x = sqrt(4.0 + 6.0);                   // 9 J more
    CHECK_NEAR(tpSystem_TakeGains(system, &start, 27.0 - 9.0), 18.0, 1e-11); // 9 J of work
    CHECK_NEAR(tpSystem_BodyKineticEnergy(system, 0), 8.5 + 18.0 - 12.0, 1e-12);
    CHECK_NEAR(tpSystem_BodyKineticEnergy(system, 1), 8.5 + 9.0 - 6.0, 1e-12);
    CHECK_NEAR(system->velocities.data[2].linear.x, 2.0, 0.0);
    tpDestroyWorld(world);
}

// What may do work on the first body, or only hold it.
typedef enum Cause {
    byForce,
    byLoad,
    byLinearDamping,
    byAngularDamping,
    bySpringJoint,
    bySpring,
    byMotor,
    byServo,
    byArmature,
    byDamping,
    byFriction,
    byEffort,
    byKinematicA,
    byKinematicB,
    byTouchedKinematicA,
    byTouchedKinematicB,
    byContactThatGives,
    byCouplingSpring,
    byCouplingServo,
    lastDriving = byCouplingServo,
    byPlainJoint,
    byFixedBody,
    byCouplingValue,
    byContact,
    byForceThatIsGone,
    byMotorThatIsGone,
    byCouplingThatIsGone,
    causeCount
} Cause;

static tpBodyId addOther(tpWorld* world, tpBodyKind kind) {
    tpBodyDef body = tpDefaultBodyDef();
    body.kind = kind;
    body.position = tpMakeVec3(0.0, 1.0, 0.0);
    return tpCreateBody(world, &body, NULL);
}

static void touch(tpWorld* world, tpBodyId a, tpBodyId b) {
    tpSystem* system = &world->system;
    assert_true(TP_RESERVE(&system->allocator, system->contacts, 1));
    system->contacts.data[0] = (tpContactInfo){ .bodyA = a, .bodyB = b };
    system->contacts.count = 1;
}

static tpJointId join(tpWorld* world, tpBodyId a, tpBodyId b, Cause cause) {
    tpJointDef def = tpDefaultJointDef();
    def.type = cause == bySpringJoint ? tp_springJoint : tp_revoluteJoint;
    def.bodyA = a;
    def.bodyB = b;
    def.axis = tpMakeVec3(0.0, 0.0, 1.0);
    def.coordinate.hasSpring = cause == bySpring || cause == bySpringJoint;
    def.coordinate.spring.stiffness = 1.0;
    def.coordinate.hasMotor = cause == byMotor || cause == byMotorThatIsGone;
    def.coordinate.motor.effort = 1.0;
    def.coordinate.hasServo = cause == byServo;
    def.coordinate.servo.stiffness = 1.0;
    def.coordinate.armature = cause == byArmature ? 0.5 : 0.0;
    def.coordinate.damping = cause == byDamping ? 0.5 : 0.0;
    def.coordinate.friction = cause == byFriction ? 0.5 : 0.0;
    tpJointId joint = tpCreateJoint(world, &def, NULL);
    assert_true(tpJoint_IsValid(world, joint));
    if (cause == byEffort) {
        tpJoint_ApplyEffort(world, joint, 0, 1.0);
    }
    return joint;
}

static void couple(tpWorld* world, tpJointId joint, Cause cause) {
    tpCouplingTerm term = { joint, 0, 1.0 };
    tpCouplingDef def = tpDefaultCouplingDef();
    def.terms = &term;
    def.termCount = 1;
    def.hasValue = cause == byCouplingValue;
    def.hasSpring = cause == byCouplingSpring || cause == byCouplingThatIsGone;
    def.spring.stiffness = 1.0;
    def.hasServo = cause == byCouplingServo;
    def.servo.stiffness = 1.0;
    tpCouplingId coupling = tpCreateCoupling(world, &def, NULL);
    assert_true(tpCoupling_IsValid(world, coupling));
    if (cause == byCouplingThatIsGone) {
        tpDestroyCoupling(world, coupling);
    }
}

static void act(tpWorld* world, tpBodyId body, tpBodyId partner, Cause cause) {
    if (cause == byForce || cause == byForceThatIsGone) {
        tpForceDef force = tpDefaultForceDef();
        force.force = tpMakeVec3(1.0, 0.0, 0.0);
        force.body = body;
        tpForceId made = tpCreateForce(world, &force, NULL);
        if (cause == byForceThatIsGone) {
            tpDestroyForce(world, made);
        }
    } else if (cause == byLoad) {
        tpBody_ApplyForce(world, body, tpMakeVec3(1.0, 0.0, 0.0), tp_worldFrame);
    } else if (cause == byLinearDamping || cause == byAngularDamping) {
        tpBody* own = &world->system.bodies.data[0];
        own->linearDamping = cause == byLinearDamping ? 0.1 : 0.0;
        own->angularDamping = cause == byAngularDamping ? 0.1 : 0.0;
    } else if (cause == byKinematicA) {
        join(world, addOther(world, tp_kinematicBody), body, cause);
    } else if (cause == byKinematicB) {
        join(world, body, addOther(world, tp_kinematicBody), cause);
    } else if (cause == byFixedBody) {
        join(world, body, addOther(world, tp_fixedBody), cause);
    } else if (cause == byTouchedKinematicA) {
        touch(world, addOther(world, tp_kinematicBody), body);
    } else if (cause == byTouchedKinematicB) {
        touch(world, body, addOther(world, tp_kinematicBody));
    } else if (cause == byContact || cause == byContactThatGives) {
        touch(world, body, partner);
        world->system.gives = cause == byContactThatGives;
    } else {
        tpJointId joint = join(world, partner, body, cause);
        if (cause == byCouplingSpring || cause == byCouplingServo || cause == byCouplingValue ||
            cause == byCouplingThatIsGone) {
            couple(world, joint, cause);
        }
        if (cause == byMotorThatIsGone) {
            tpDestroyJoint(world, joint);
        }
    }
}

// The first body gains 18 J, the second, which may hang on it, loses 3 J, the third, which is
// alone, gains 9 J; 5 J are work where something does any. The third gives back what it gained. If
// nothing does work on the first it gives back what its island gained; otherwise what is left of
// the rise, which losses of those that nothing drives make larger.
static void whateverDoesWorkIsAllowedFor(void** state) {
    (void)state;
    for (Cause cause = 0; cause < causeCount; ++cause) {
        tpWorldDef def = tpDefaultWorldDef();
        def.gravity = tpZeroVec3();
        tpWorld* world = tpCreateWorld(&def);
        tpSystem* system = &world->system;
        tpBodyId body = addRunner(world, tpZeroVec3());
        tpBodyId partner = addRunner(world, tpMakeVec3(0.5, 0.0, 0.0));
        addRunner(world, tpMakeVec3(20.0, 0.0, 0.0));
        act(world, body, partner, cause);
        tpKeptMotion start;
        assert_true(tpKeptMotion_Take(&start, system));
        system->velocities.data[0].linear.x = 4.0;
        system->velocities.data[1].linear.x = sqrt(2.0);
        system->velocities.data[2].linear.x = sqrt(10.0);
        bool isDriven = cause <= lastDriving;
        bool isAlone = cause <= byAngularDamping || cause == byFixedBody || cause == byKinematicA ||
                       cause == byKinematicB || cause == byTouchedKinematicA ||
                       cause == byTouchedKinematicB || cause == byForceThatIsGone ||
                       cause == byMotorThatIsGone;
        double given = isAlone ? (isDriven ? 13.0 : 18.0) : (isDriven ? 10.0 : 15.0);
        double taken = tpSystem_TakeGains(system, &start, 24.0 - (isDriven ? 5.0 : 0.0));
        CHECK_NEAR(taken, given + 9.0, 1e-11);
        double left = tpSystem_BodyKineticEnergy(system, 0);
        double other = tpSystem_BodyKineticEnergy(system, 1);
        CHECK_NEAR(tpSystem_BodyKineticEnergy(system, 2), 8.5, 1e-12);
        CHECK_NEAR(left + other, 32.0 - given, 1e-11);
        if (isAlone) {
            CHECK_NEAR(other, 5.5, 1e-14);
        }
        tpDestroyWorld(world);
    }
}

// Where islands on which forces act have only lost energy, they give by what they have; and none
// gives more than that, nor anything for what is rounding of its energies, that of its height (300
// J of the second body) among them.
static void losersGiveByWhatTheyHave(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    def.gravity = tpMakeVec3(0.0, 0.0, -10.0);
    for (int k = 0; k < 5; ++k) {
        tpWorld* world = tpCreateWorld(&def);
        tpSystem* system = &world->system;
        tpForceDef force = tpDefaultForceDef();
        force.force = tpMakeVec3(1.0, 0.0, 0.0);
        for (int i = 0; i < 3; ++i) {
            tpBodyId body = addRunner(world, tpMakeVec3(10.0 * i, 0.0, 0.0));
            force.body = body;
            if (i < 2) {
                tpCreateForce(world, &force, NULL);
            }
        }
        tpKeptMotion start;
        assert_true(tpKeptMotion_Take(&start, system));
        system->velocities.data[0].linear.x = k < 4 ? 1.0 : 0.0; // 4 J of 8.5
        system->velocities.data[0].angular.y = k < 4 ? 5.0 : 0.0;
        system->velocities.data[1].linear.x = 0.0; // 2.5 J
        system->velocities.data[1].angular.y = k < 4 ? 5.0 : 0.0;
        const double rises[5] = { 1.3, 2e-13, 1e-12, 100.0, 1.3 };
        const double taken[5] = { 1.3, 0.0, 1e-12 * 4.0 / 6.5, 6.5, 0.0 };
        CHECK_NEAR(tpSystem_TakeGains(system, &start, rises[k]), taken[k],
                   k == 0 || k == 3 ? 1e-12 : 1e-20);
        double factor = k < 4 ? 1.0 - taken[k] / 6.5 : 0.0;
        CHECK_NEAR(tpSystem_BodyKineticEnergy(system, 0), 4.0 * factor, 1e-11);
        CHECK_NEAR(tpSystem_BodyKineticEnergy(system, 1), 2.5 * factor, 1e-11);
        CHECK_NEAR(tpSystem_BodyKineticEnergy(system, 2), 8.5, 0.0);
        tpDestroyWorld(world);
    }
}

// A gyroscope on a ball joint, in steps that are too long for how fast it turns, without a guard.
static int countBreaches(bool hasFlywheel) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_stewartTrinkle;
    tpWorld* world = tpCreateWorld(&def);
    assert_int_equal(tpWorld_SetOption(world, "energy_guard", "false", NULL), tp_success);
    tpBodyDef body = tpDefaultBodyDef();
    body.position.x = 0.15;
    body.hasMass = true;
    body.mass.mass = 1.3;
    body.mass.inertia = tpDiagonal(tpMakeVec3(0.012, 0.009, 0.009));
    body.velocity.y = 0.2;
    body.angularVelocity = tpMakeVec3(140.0, 0.0, 1.3);
    tpJointDef joint = tpDefaultJointDef();
    joint.bodyB = tpCreateBody(world, &body, NULL);
    joint.type = tp_ballJoint;
    assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &joint, NULL)));
    if (hasFlywheel) { // of 8 MJ
        body.position.x = 50.0;
        body.mass.mass = 1000.0;
        body.mass.inertia = tpDiagonal(tpMakeVec3(100.0, 100.0, 160.0));
        body.velocity.y = 0.0;
        body.angularVelocity = tpMakeVec3(0.0, 0.0, 316.0);
        body.gravityScale = 0.0;
        tpCreateBody(world, &body, NULL);
    }
    int breaches = 0;
    for (int k = 0; k < 8; ++k) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 30.0);
        breaches += (report.violations & (1u << tp_energyLaw)) != 0;
    }
    tpDestroyWorld(world);
    return breaches;
}

static void flywheelsHideNoGains(void** state) {
    (void)state;
    int alone = countBreaches(false);
    print_message("%d of 8 steps gain energy\n", alone);
    assert_true(alone > 3);
    assert_true(countBreaches(true) >= alone);
}

// What one island gains and another loses has been handed on between bodies that met within the
// step and are apart again, if the account lacks nothing. (chakraborty-trinkle, a crowd of elastic
// balls: 119 steps of 253 were said to gain.)
static void whatIsHandedOnIsNoGain(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    def.gravity = tpZeroVec3();
    tpWorld* world = tpCreateWorld(&def);
    addRunner(world, tpZeroVec3());
    addRunner(world, tpMakeVec3(10.0, 0.0, 0.0));
    tpSystem* system = &world->system;
    tpKeptMotion start;
    assert_true(tpKeptMotion_Take(&start, system));
    system->velocities.data[0].linear.x = sqrt(8.0); // 6 J more
    system->velocities.data[1].linear.x = 0.0;       // 6 J less
    tpIslandWork explained = { 0.0, 0.0, 0.0 }, given = { 0.0, 0.0, 6.0 };
    assert_false(tpSystem_HasIslandGained(system, start.poses, start.velocities, 1e-3, explained));
    assert_true(tpSystem_HasIslandGained(system, start.poses, start.velocities, 1e-3, given));
    assert_false(tpSystem_HasIslandGained(system, start.poses, start.velocities, 0.5, given));
    tpDestroyWorld(world);
}

// The scale of an island is the larger one of its kinetic energies before and after, and what
// gravity gives it over the size of its bodies.
static void islandsAreJudgedByTheirOwnScale(void** state) {
    (void)state;
    static const double kinetics[3][2] = { { 6.0, 0.5 }, { 0.5, 6.0 }, { 4.0, 4.0 } };
    for (int n = 0; n < 12; ++n) {
        const double* kinetic = kinetics[n % 3];
        double pull = n / 3 % 2 == 0 ? 10.0 : 0.01, part = 0.05;
        tpWorldDef def = tpDefaultWorldDef();
        def.gravity = tpMakeVec3(0.0, 0.0, -pull);
        tpWorld* world = tpCreateWorld(&def);
        addRunner(world, tpZeroVec3());
        addRunner(world, tpMakeVec3(10.0, 0.0, 0.0));
        tpSystem* system = &world->system;
        system->velocities.data[0].angular = tpZeroVec3();
        system->velocities.data[0].linear.x = sqrt(2.0 * kinetic[0] / 3.0);
        tpKeptMotion start;
        assert_true(tpKeptMotion_Take(&start, system));
        double fall = 3.0 * pull * tpSystem_BodySizes(system)[0];
        double limit = part * (fmax(kinetic[0], kinetic[1]) + fall);
        double gain = limit * (n / 6 == 0 ? 0.99 : 1.01);
        system->velocities.data[0].linear.x = sqrt(2.0 * kinetic[1] / 3.0);
        system->poses.data[0].position.z = (gain - kinetic[1] + kinetic[0]) / (3.0 * pull);
        tpIslandWork given = { gain, 0.0, gain };
        assert_int_equal(
            tpSystem_HasIslandGained(system, start.poses, start.velocities, part, given),
            n / 6 == 1);
        // Nor if less than half of it is missing from the account.
        given.given = 0.49 * gain;
        assert_false(tpSystem_HasIslandGained(system, start.poses, start.velocities, part, given));
        tpDestroyWorld(world);
    }
}

// An island that something drives is judged by its own energies and the work done, whatever their
// size: at 1e-5 J as at 10 and at 1e7.
static void drivenGainsAreJudgedByTheirEnergies(void** state) {
    (void)state;
    for (int n = 0; n < 6; ++n) {
        const double scales[] = { 1e-3, 1.0, 1e3 }, gain = n % 2 == 0 ? 1.2 : 1.33;
        double scale = scales[n / 2], unit = scale * scale;
        tpWorldDef def = tpDefaultWorldDef();
        def.gravity = tpZeroVec3();
        tpWorld* world = tpCreateWorld(&def);
        tpSystem* system = &world->system;
        tpBodyId body = addRunner(world, tpZeroVec3());
        addRunner(world, tpMakeVec3(20.0, 0.0, 0.0));
        act(world, body, body, byForce);
        for (int i = 0; i < 2; ++i) { // 8.5 units of energy
            system->velocities.data[i].linear = tpMakeVec3(2.0 * scale, 0.0, 0.0);
            system->velocities.data[i].angular = tpMakeVec3(0.0, 5.0 * scale, 0.0);
        }
        tpKeptMotion start;
        assert_true(tpKeptMotion_Take(&start, system));
        system->velocities.data[0].linear.x = scale * sqrt(4.0 + 2.0 * gain / 3.0);
        // Known are 8.5, the gain and a work of 3: a tenth of that is 1.27 or 1.28.
        tpIslandWork work = { gain * unit, -3.0 * unit, gain * unit };
        bool hasGained = tpSystem_HasIslandGained(system, start.poses, start.velocities, 0.1, work);
        assert_int_equal(hasGained, gain > 0.1 * (8.5 + gain + 3.0));
        tpDestroyWorld(world);
    }
}

// Work of a force that a user applies for one step is no gain; nor is what one body hands on to
// another in an impact, and what gravity gives.
static void workIsNoGain(void** state) {
    (void)state;
    const tpStepperId steppers[] = { tp_anitescu,           tp_benderSchmitt, tp_stewartTrinkle,
                                     tp_chakrabortyTrinkle, tp_mirtichCanny,  tp_auto };
    for (int s = 0; s < 6; ++s) {
        tpWorld* world = worldWithFloor(steppers[s], 0.3, 0.8);
        tpBodyId balls[6];
        for (int i = 0; i < 6; ++i) {
            tpBodyDef body = tpDefaultBodyDef();
            body.position = tpMakeVec3(0.5 * i, i == 3 ? 0.05 : 0.0, 0.1 + 0.2 * (i % 2));
            body.velocity = tpMakeVec3(i == 0 ? 8.0 : -0.5, 0.0, 0.0);
            balls[i] = tpCreateBody(world, &body, NULL);
            tpShapeDef shape = tpDefaultShapeDef();
            shape.material = 1;
            tpCreateSphere(world, balls[i], &shape, &(tpSphere){ 0.1 }, NULL);
        }
        for (int k = 0; k < 90; ++k) {
            if (k % 10 == 5) {
                tpBody_ApplyForce(world, balls[k % 6], tpMakeVec3(0.0, 300.0, 0.0), tp_worldFrame);
            }
            tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
            if (report.violations != 0) {
                fail_msg("%s, step %d: %x, %s", tpStepperName(steppers[s]), k, report.violations,
                         report.noteCount > 0 ? report.notes[0] : "");
            }
        }
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flywheelsHideNoGains),
        cmocka_unit_test(whatIsHandedOnIsNoGain),
        cmocka_unit_test(islandsAreJudgedByTheirOwnScale),
        cmocka_unit_test(drivenGainsAreJudgedByTheirEnergies),
        cmocka_unit_test(workIsNoGain),
        cmocka_unit_test(gainsAreTakenFromThoseThatGained),
        cmocka_unit_test(drivenIslandsShareWhatIsTaken),
        cmocka_unit_test(whateverDoesWorkIsAllowedFor),
        cmocka_unit_test(losersGiveByWhatTheyHave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
