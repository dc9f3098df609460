// Contacts are shown with the impulses of least norm that give the same motion.

#include <string.h>

#include "dynamics/least_norm.h"
#include "support/floor.h"
#include "world/world.h"

static const double gravity = 10.0, mu = 0.5;

static tpWorld* makeWorld(tpStepperId stepper, tpVec3 pull) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = stepper;
    worldDef.gravity = pull;
    tpWorld* world = tpCreateWorld(&worldDef);
    addMaterial(world, mu, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    return world;
}

static tpBodyId addBox(tpWorld* world, tpVec3 position, tpVec3 size, double density) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    shapeDef.density = density;
    tpCreateBox(world, body, &shapeDef, &(tpBox){ size }, NULL);
    return body;
}

static void run(tpWorld* world, double h, int count) {
    for (int k = 0; k < count; ++k) {
        tpWorld_Step(world, h);
    }
}

// What contacts do to a body in a step: force and moment about its centre.
static void sumOn(const tpWorld* world, tpBodyId body, tpVec3* force, tpVec3* moment) {
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    *force = *moment = tpZeroVec3();
    for (int i = 0; i < count; ++i) {
        const tpContactInfo* c = &contacts[i];
        double sign = c->bodyA.slot == body.slot ? 1.0 : c->bodyB.slot == body.slot ? -1.0 : 0.0;
        tpVec3 push = tpScale(sign, tpMulAdd(c->frictionImpulse, c->normalImpulse, c->normal));
        tpVec3 arm = tpSub(c->point, tpBody_GetPosition(world, body));
        *force = tpAdd(*force, push);
        *moment = tpAdd(*moment, tpCross(arm, push));
        *moment = tpMulAdd(*moment, sign * c->torsionalImpulse, c->normal);
    }
}

static void sumsAreThoseOfTheWeight(const tpWorld* world, tpBodyId body, double mass, double h,
                                    tpVec3 pull) {
    tpVec3 force, moment;
    sumOn(world, body, &force, &moment);
    assert_true(tpLength(tpMulAdd(force, mass * h, pull)) < 1e-6);
    assert_true(tpLength(moment) < 1e-6);
}

static void boxesAtRestHaveEqualLoads(void** state) {
    (void)state;
    const tpStepperId steppers[] = { tp_anitescu, tp_stewartTrinkle, tp_benderSchmitt };
    const double h = 0.01;
    for (int i = 0; i < 9; ++i) {
        // Of millimetres, of metres, of kilometres; 100 kg, and forces as large.
        double unit = pow(1000.0, i / 3 - 1);
        tpWorld* world = makeWorld(steppers[i % 3], tpMakeVec3(0.0, 0.0, -gravity));
        addBox(world, tpMakeVec3(0.0, 0.0, 0.25 * unit), tpMakeVec3(unit, unit, 0.5 * unit),
               200.0 / (unit * unit * unit));
        run(world, h, 20);
        int count;
        const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
        assert_int_equal(count, 4);
        for (int k = 0; k < 4; ++k) {
            assert_float_equal(contacts[k].normalImpulse, 0.25 * 100.0 * gravity * h, 1e-7);
            assert_true(tpLength(contacts[k].frictionImpulse) < 1e-7);
        }
        tpDestroyWorld(world);
    }
}

// On a slope the loads shift as they must and friction is shared by cones; sums are what the weight
// asks for.
static void boxesOnSlopesKeepTheirSums(void** state) {
    (void)state;
    const double slope = 0.3, h = 0.01, mass = 100.0;
    tpVec3 pull = tpMakeVec3(gravity * sin(slope), 0.0, -gravity * cos(slope));
    tpWorld* world = makeWorld(tp_anitescu, pull);
    tpBodyId box = addBox(world, tpMakeVec3(0.0, 0.0, 0.25), tpMakeVec3(1.0, 1.0, 0.5), 200.0);
    run(world, h, 20);
    sumsAreThoseOfTheWeight(world, box, mass, h, pull);
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    assert_int_equal(count, 4);
    for (int k = 0; k < count; ++k) {
        double friction = tpLength(contacts[k].frictionImpulse);
        assert_true(friction <= mu * contacts[k].normalImpulse * (1.0 + 1e-9));
        // All friction points up the slope and is equal: that is the least norm while no cone
        // binds.
        double side = contacts[k].normal.z; // 1 if the box is body A
        assert_float_equal(side * contacts[k].frictionImpulse.x, -0.25 * mass * h * pull.x, 1e-6);
        assert_float_equal(contacts[k].frictionImpulse.y, 0.0, 1e-6);
    }
    tpDestroyWorld(world);
}

// A tall box near the angle at which it would slip: equal friction would be too much for its upper
// corners, which carry little. Cones bind, sums stay.
static void conesBindOnSteepSlopes(void** state) {
    (void)state;
    const double slope = atan(0.45), h = 0.01, mass = 300.0;
    tpVec3 pull = tpMakeVec3(gravity * sin(slope), 0.0, -gravity * cos(slope));
    tpWorld* world = makeWorld(tp_anitescu, pull);
    tpBodyId box = addBox(world, tpMakeVec3(0.0, 0.0, 0.75), tpMakeVec3(1.0, 1.0, 1.5), 200.0);
    run(world, h, 20);
    sumsAreThoseOfTheWeight(world, box, mass, h, pull);
    int count, boundCount = 0;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    assert_int_equal(count, 4);
    for (int k = 0; k < count; ++k) {
        double friction = tpLength(contacts[k].frictionImpulse);
        double most = mu * contacts[k].normalImpulse;
        assert_true(friction <= most * (1.0 + 1e-9));
        boundCount += friction > 0.999 * most ? 1 : 0;
    }
    assert_true(boundCount >= 2);
    tpDestroyWorld(world);
}

// Two boxes in a stack: each layer is equal, and the upper one's weight comes through.
static void stacksShareTheirLoads(void** state) {
    (void)state;
    const double h = 0.01;
    tpWorld* world = makeWorld(tp_anitescu, tpMakeVec3(0.0, 0.0, -gravity));
    addBox(world, tpMakeVec3(0.0, 0.0, 0.25), tpMakeVec3(1.0, 1.0, 0.5), 200.0);
    addBox(world, tpMakeVec3(0.0, 0.0, 0.75), tpMakeVec3(0.8, 0.8, 0.5), 200.0);
    run(world, h, 20);
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    assert_int_equal(count, 8);
    for (int k = 0; k < count; ++k) {
        double mass = contacts[k].point.z < 0.25 ? 164.0 : 64.0;
        assert_float_equal(contacts[k].normalImpulse, 0.25 * mass * gravity * h, 1e-6);
        assert_true(tpLength(contacts[k].frictionImpulse) < 1e-6);
    }
    tpDestroyWorld(world);
}

// Looking at contacts changes nothing.
static void lookingChangesNothing(void** state) {
    (void)state;
    tpVec3 ends[2];
    for (int i = 0; i < 2; ++i) {
        tpWorld* world = makeWorld(tp_anitescu, tpMakeVec3(1.0, 0.3, -gravity));
        tpBodyId box = addBox(world, tpMakeVec3(0.0, 0.0, 0.3), tpMakeVec3(1.0, 1.0, 0.5), 200.0);
        tpBody_SetVelocity(world, box, tpMakeVec3(1.0, 0.0, 0.0), tpMakeVec3(0.3, 0.2, 1.0));
        for (int k = 0; k < 60; ++k) {
            tpWorld_Step(world, 0.01);
            int count;
            if (i == 1) {
                tpWorld_GetContacts(world, &count);
            }
        }
        ends[i] = tpBody_GetPosition(world, box);
        tpDestroyWorld(world);
    }
    assert_true(ends[0].x == ends[1].x && ends[0].y == ends[1].y && ends[0].z == ends[1].z);
}

// Any impulses inside the cones, of contacts with torsion and rolling resistance ------------------

enum { mostInfos = 16 };

typedef struct Wrench {
    tpVec3 force, moment;
} Wrench;

static Wrench wrenchOn(const tpContactInfo* infos, int count, uint32_t slot) {
    Wrench sum = { tpZeroVec3(), tpZeroVec3() };
    for (int i = 0; i < count; ++i) {
        const tpContactInfo* c = &infos[i];
        double sign = c->bodyA.slot == slot ? 1.0 : c->bodyB.slot == slot ? -1.0 : 0.0;
        tpVec3 push = tpScale(sign, tpMulAdd(c->frictionImpulse, c->normalImpulse, c->normal));
        tpVec3 turn = tpMulAdd(c->rollingImpulse, c->torsionalImpulse, c->normal);
        sum.force = tpAdd(sum.force, push);
        sum.moment = tpAdd(sum.moment, tpCross(c->point, push));
        sum.moment = tpMulAdd(sum.moment, sign, turn);
    }
    return sum;
}

static const double torsionArm = 0.04, rollingArm = 0.03;

// The numbers of a contact whose squares are added up, and their cone.
static double normOf(const tpContactInfo* c, double* load) {
    *load = c->normalImpulse;
    double torsion = c->torsionalImpulse / torsionArm;
    return tpLengthSquared(c->frictionImpulse) + torsion * torsion +
           tpLengthSquared(c->rollingImpulse) / (rollingArm * rollingArm);
}

static void anyImpulsesKeepTheirSums(void** state) {
    (void)state;
    tpWorld* world = makeWorld(tp_anitescu, tpMakeVec3(0.0, 0.0, -gravity));
    tpPairDef def = { .friction = tpDefaultMaterialDef().friction };
    def.materials[0] = def.materials[1] = 1;
    def.hasFriction = true;
    def.friction.staticCoefficient = def.friction.dynamicCoefficient = mu;
    def.friction.torsionalArm = torsionArm;
    def.friction.rollingArm = rollingArm;
    assert_int_equal(tpSetMaterialPair(world, &def, NULL), tp_success);
    tpBodyId lower = addBox(world, tpMakeVec3(0.0, 0.0, 0.25), tpMakeVec3(1.0, 1.0, 0.5), 200.0);
    tpBodyId upper = addBox(world, tpMakeVec3(0.1, 0.05, 0.75), tpMakeVec3(0.8, 0.7, 0.5), 200.0);
    run(world, 0.01, 20);
    int count;
    const tpContactInfo* seen = tpWorld_GetContacts(world, &count);
    assert_int_equal(count, 8);
    tpRandom random = { 3 };
    for (int round = 0; round < 40; ++round) {
        tpContactInfo given[mostInfos], infos[mostInfos];
        double before = 0.0, after = 0.0, load;
        bool slides = round % 2 == 1; // along x, as one
        for (int i = 0; i < count; ++i) {
            tpContactInfo* c = &given[i];
            *c = seen[i];
            c->normalImpulse = randomBetween(&random, 1.0, 5.0);
            tpVec3 across = slides ? tpMakeVec3(0.3, 0.0, 0.0) : randomVec3(&random, -0.1, 0.1);
            across.z = 0.0;
            c->frictionImpulse = tpScale(c->normalImpulse, across);
            c->torsionalImpulse =
                torsionArm * c->normalImpulse * (slides ? 0.2 : randomBetween(&random, -0.1, 0.1));
            tpVec3 roll = slides ? tpMakeVec3(0.0, 0.1, 0.0) : randomVec3(&random, -0.1, 0.1);
            roll.z = 0.0;
            c->rollingImpulse = tpScale(rollingArm * c->normalImpulse, roll);
            c->slidingSpeed = slides ? 0.5 : 0.0;
            before += normOf(c, &load) + load * load;
            infos[i] = *c;
        }
        tpSystem_SpreadImpulses(&world->system, infos, count);
        bool isChanged = false;
        for (int i = 0; i < count; ++i) {
            double friction = normOf(&infos[i], &load);
            after += friction + load * load;
            assert_true(load >= 0.0 && friction <= mu * mu * load * load * (1.0 + 1e-9));
            isChanged = isChanged || fabs(load - given[i].normalImpulse) > 1e-3;
            if (slides) { // all goes with the load
                double part = load / given[i].normalImpulse;
                CHECK_VEC3(infos[i].frictionImpulse, tpScale(part, given[i].frictionImpulse),
                           1e-12);
                CHECK_VEC3(infos[i].rollingImpulse, tpScale(part, given[i].rollingImpulse), 1e-12);
                CHECK_NEAR(infos[i].torsionalImpulse, part * given[i].torsionalImpulse, 1e-12);
            }
        }
        assert_true(isChanged && after < before);
        const uint32_t slots[] = { lower.slot, upper.slot };
        for (int k = 0; k < 2; ++k) {
            Wrench old = wrenchOn(given, count, slots[k]), now = wrenchOn(infos, count, slots[k]);
            CHECK_VEC3(now.force, old.force, 1e-9);
            CHECK_VEC3(now.moment, old.moment, 1e-9);
        }
    }
    tpDestroyWorld(world);
}

// A contact that carried nothing gets a share if it is closed and at rest; not if its bodies come
// together there or part, or if there is a gap.
static void onlyContactsAtRestShare(void** state) {
    (void)state;
    static const struct {
        double speed, gap;
        bool shares;
    } cases[] = { { 0.0, 0.0, true },   { 0.9e-7, 0.0, true },   { -0.9e-7, 0.0, true },
                  { 1e-6, 0.0, false }, { -1e-6, 0.0, false },   { 1.0, 0.0, false },
                  { -1.0, 0.0, false }, { 0.0, 0.9e-8, true },   { 0.0, -1e-3, true },
                  { 0.0, 1e-7, false }, { -0.9e-7, 1e-7, false } };
    tpWorld* world = makeWorld(tp_anitescu, tpMakeVec3(0.0, 0.0, -gravity));
    tpBodyId box = addBox(world, tpMakeVec3(0.0, 0.0, 0.25), tpMakeVec3(1.0, 1.0, 0.5), 200.0);
    run(world, 0.01, 20);
    int count;
    const tpContactInfo* seen = tpWorld_GetContacts(world, &count);
    assert_int_equal(count, 4);
    tpContactInfo given[4];
    memcpy(given, seen, sizeof(given));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        // Two corners that lie across from each other carry all.
        tpContactInfo infos[4];
        for (int k = 0; k < 4; ++k) {
            infos[k] = given[k];
            bool isFirst = given[k].point.x * given[k].point.y > 0.0;
            infos[k].normalImpulse = isFirst ? 50.0 : 0.0;
            infos[k].frictionImpulse = infos[k].rollingImpulse = tpZeroVec3();
            infos[k].torsionalImpulse = infos[k].slidingSpeed = 0.0;
            infos[k].gap = isFirst ? 0.0 : cases[i].gap;
        }
        tpBody_SetVelocity(world, box, tpMakeVec3(0.0, 0.0, cases[i].speed), tpZeroVec3());
        tpSystem_SpreadImpulses(&world->system, infos, 4);
        for (int k = 0; k < 4; ++k) {
            bool isFirst = given[k].point.x * given[k].point.y > 0.0;
            CHECK_NEAR(infos[k].normalImpulse, cases[i].shares ? 25.0 : isFirst ? 50.0 : 0.0, 1e-6);
        }
    }
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxesAtRestHaveEqualLoads), cmocka_unit_test(boxesOnSlopesKeepTheirSums),
        cmocka_unit_test(conesBindOnSteepSlopes),    cmocka_unit_test(stacksShareTheirLoads),
        cmocka_unit_test(lookingChangesNothing),     cmocka_unit_test(anyImpulsesKeepTheirSums),
        cmocka_unit_test(onlyContactsAtRestShare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
