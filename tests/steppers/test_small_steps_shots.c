// Shots: small bodies that strike plates at tens to hundreds of metres per second, on an edge or a
// tip, and turn by hundreds of radians per step then. Whatever becomes of them, they gain nothing.

#include "support/check.h"
#include "support/floor.h"
#include "support/triangle_box.h"

typedef struct Shot {
    tpGeometry bullet;
    tpBodyDef def;
    double friction, restitution, h;
} Shot;

static tpGeometry randomBullet(tpRandom* random) {
    double size = randomBetween(random, 0.005, 0.05);
    tpGeometry bullet;
    if (randomBits(random) % 3 != 0) {
        tpMakeCone(&(tpCone){ 0.5 * size, 2.0 * size, { 0.0, 0.0, 1.0 } }, tpIdentityPose(),
                   &bullet, NULL);
    } else {
        tpMakeCylinder(
            &(tpCylinder){ size, randomBetween(random, 0.2, 3.0) * size, { 0.0, 0.0, 1.0 } },
            tpIdentityPose(), &bullet, NULL);
    }
    return bullet;
}

static Shot randomShot(tpRandom* random) {
    static const double steps[3] = { 1.0 / 60.0, 1.0 / 120.0, 1.0 / 240.0 };
    Shot shot = { .bullet = randomBullet(random), .def = tpDefaultBodyDef() };
    shot.friction = (double)(randomBits(random) % 3) * 0.4;
    shot.restitution = randomBits(random) % 2 == 0 ? 0.0 : 0.5;
    shot.h = steps[randomBits(random) % 3];
    double speed = pow(10.0, randomBetween(random, 1.5, 3.0));
    double slope = randomBetween(random, 0.0, 1.2), around = randomBetween(random, 0.0, 6.28);
    tpVec3 way = tpMakeVec3(sin(slope) * cos(around), sin(slope) * sin(around), -cos(slope));
    double distance = 0.2 + randomBetween(random, 0.1, 1.5) * speed * shot.h;
    tpVec3 aim =
        tpMakeVec3(randomBetween(random, -0.3, 0.3), randomBetween(random, -0.3, 0.3), 0.0);
    shot.def.position = tpMulAdd(aim, -distance, way);
    shot.def.velocity = tpScale(speed, way);
    shot.def.rotation = randomRotation(random);
    shot.def.angularVelocity = randomVec3(random, -50.0, 50.0);
    return shot;
}

static bool areContactsIdle(const tpWorld* world) {
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    bool areIdle = true;
    for (int i = 0; i < count; ++i) {
        areIdle = areIdle && contacts[i].normalImpulse == 0.0;
    }
    return areIdle;
}

// Returns the largest rise of energy in a step, as a part of the energy of the start. Counts steps
// that end early for a bullet that nothing has pushed yet: it has turned and moved less far, its
// velocity and its energy stay.
static double shoot(const Shot* shot, const tpGeometry* plate, int* held) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, shot->friction, shot->restitution);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpBodyDef fixedDef = tpDefaultBodyDef();
    fixedDef.kind = tp_fixedBody;
    tpCreateShape(world, tpCreateBody(world, &fixedDef, NULL), &shape, plate, NULL);
    tpBodyId bullet = tpCreateBody(world, &shot->def, NULL);
    tpCreateShape(world, bullet, &shape, &shot->bullet, NULL);
    double start = 0.0, rise = 0.0;
    for (int k = 0; k < 12; ++k) {
        tpVec3 place = tpBody_GetPosition(world, bullet);
        tpVec3 velocity = tpBody_GetVelocity(world, bullet);
        tpStepReport report = tpWorld_Step(world, shot->h);
        double way = tpLength(tpSub(tpBody_GetPosition(world, bullet), place));
        if (areContactsIdle(world) && way < 0.999 * shot->h * tpLength(velocity)) {
            *held += 1;
            tpVec3 fallen = velocity;
            fallen.z -= 9.81 * shot->h;
            CHECK_VEC3(tpBody_GetVelocity(world, bullet), fallen, 1e-9 * tpLength(velocity));
            double gain = tpLengthSquared(fallen) - tpLengthSquared(velocity);
            CHECK_NEAR(report.kineticAfter - 0.5 * tpBody_GetMass(world, bullet).mass * gain,
                       report.kineticBefore, 1e-9 * report.kineticBefore);
        }
        double before = report.kineticBefore + report.potentialBefore;
        start = k == 0 ? report.kineticBefore : start;
        rise = fmax(rise, report.kineticAfter + report.potentialAfter - before);
    }
    tpDestroyWorld(world);
    return rise / start;
}

// Seven of these gained energy, the worst 16 times what it had.
static void noShotGainsEnergy(void** state) {
    (void)state;
    tpRandom random = { 20261117 };
    double worst = 0.0;
    int gains = 0, held = 0;
    for (int i = 0; i < 200; ++i) {
        Shot shot = randomShot(&random);
        tpVec3 size = tpMakeVec3(20.0, 20.0, randomBetween(&random, 0.001, 0.02));
        tpGeometry plate;
        if (i % 4 == 0) {
            tpMakeBox(&(tpBox){ size }, tpIdentityPose(), &plate, NULL);
        } else {
            plate = makeTriangleBox(size);
        }
        double rise = shoot(&shot, &plate, &held);
        worst = fmax(worst, rise);
        gains += rise > 1e-3 ? 1 : 0;
        tpReleaseGeometry(&plate);
    }
    print_message("%d of 200 shots gain energy, %.2g of what they had at most\n", gains, worst);
    print_message("%d steps held them\n", held);
    CHECK_BELOW(worst, 1e-3);
    assert_true(held > 0);
}

// A box strikes the floor in a step of a few microseconds, the next step is a thousand times as
// long: what the floor gave it in the impact is no load that lasts.
static void impactsAreNoLoadsOfLongerSteps(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, 0.5, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.position.z = 0.1 + 4.5e-5; // in the last substep
    bodyDef.velocity = tpMakeVec3(3.0, 0.0, -5.0);
    tpBodyId box = tpCreateBody(world, &bodyDef, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpCreateBox(world, box, &shape, &(tpBox){ { 1.0, 0.6, 0.2 } }, NULL);
    tpWorld_Step(world, 1e-5);
    for (int k = 0; k < 3; ++k) {
        tpStepReport report = tpWorld_Step(world, 1e-2);
        CHECK_BELOW(report.kineticAfter + report.potentialAfter,
                    (1.0 + 1e-6) * (report.kineticBefore + report.potentialBefore));
    }
    tpDestroyWorld(world);
}

// A ball rolls away at 130 m/s beside a box that lies still. Its contact shares packs with those of
// the box, which has more points: arms of points that the ball does not have were turned along, by
// 50 rad in each step, until they were no numbers.
static void fastBallsRollForLong(void** state) {
    (void)state;
    const double radius = 0.04, speed = 130.0;
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, 0.8, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.position = tpMakeVec3(0.0, 2.0, 0.1);
    tpCreateBox(world, tpCreateBody(world, &bodyDef, NULL), &shape, &(tpBox){ { 1.0, 1.0, 0.2 } },
                NULL);
    bodyDef.position = tpMakeVec3(0.0, 0.0, radius);
    bodyDef.velocity.x = speed;
    bodyDef.angularVelocity.y = speed / radius;
    tpBodyId ball = tpCreateBody(world, &bodyDef, NULL);
    tpCreateSphere(world, ball, &shape, &(tpSphere){ radius }, NULL);
    const int steps = 60;
    for (int k = 0; k < steps; ++k) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
        assert_false(report.undone);
    }
    CHECK_NEAR(tpBody_GetPosition(world, ball).x, speed * steps / 60.0, 1e-3 * speed);
    CHECK_NEAR(tpBody_GetVelocity(world, ball).x, speed, 1e-3 * speed);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noShotGainsEnergy),
        cmocka_unit_test(impactsAreNoLoadsOfLongerSteps),
        cmocka_unit_test(fastBallsRollForLong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
