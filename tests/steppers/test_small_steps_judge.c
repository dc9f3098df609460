// Figures of small-steps, computed anew from the contacts of a step and the motion of their bodies.
// With one substep the impulses of the step are those of its one solve, and velocities at its end
// are those that its contacts were judged by.

#include "support/check.h"
#include "tippe/queries.h"
#include "tippe/world.h"

enum { bodyCount = 7, stepCount = 40 };

static const double step = 1e-4, gravity = 9.81, friction = 0.4;

typedef struct Motion {
    tpVec3 velocities[bodyCount + 1], spins[bodyCount + 1], places[bodyCount + 1];
} Motion;

// The floor is body 0.
static void look(const tpWorld* world, Motion* motion) {
    for (int i = 0; i <= bodyCount; ++i) {
        tpBodyId body = tpWorld_GetBody(world, i);
        motion->velocities[i] = tpBody_GetVelocity(world, body);
        motion->spins[i] = tpBody_GetAngularVelocity(world, body);
        motion->places[i] = tpBody_GetPosition(world, body);
    }
}

static int indexOf(const tpWorld* world, tpBodyId body) {
    for (int i = 0; i <= bodyCount; ++i) {
        tpBodyId other = tpWorld_GetBody(world, i);
        if (other.slot == body.slot) {
            return i;
        }
    }
    fail_msg("no such body");
    return -1;
}

// A tower that leans and is struck from its side, and something that slides away fast.
static tpWorld* makeWorld(double fast, double push) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.gravity = tpMakeVec3(0.0, 0.0, -gravity);
    tpWorld* world = tpCreateWorld(&def);
    assert_int_equal(tpWorld_SetOption(world, "substeps", "1", NULL), tp_success);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = friction;
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = tpCreateMaterial(world, &material, NULL);
    shape.density = 600.0;
    tpBodyDef body = tpDefaultBodyDef();
    body.kind = tp_fixedBody;
    tpCreatePlane(world, tpCreateBody(world, &body, NULL), &shape,
                  &(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, NULL);
    for (int i = 0; i < bodyCount - 2; ++i) {
        body = tpDefaultBodyDef();
        body.position = tpMakeVec3(0.02 * i, 0.01 * i * i, 0.05 + 0.1 * i - (i == 4 ? 1e-4 : 0.0));
        body.velocity = tpMakeVec3(i == 3 ? 0.3 * push : 0.0, 0.0, 0.0);
        tpCreateBox(world, tpCreateBody(world, &body, NULL), &shape, &(tpBox){ { 0.3, 0.2, 0.1 } },
                    NULL);
    }
    body = tpDefaultBodyDef();
    body.position = tpMakeVec3(-0.3, 0.05, 0.31);
    body.velocity = tpMakeVec3(1.5 * push, 0.0, 0.0);
    tpCreateSphere(world, tpCreateBody(world, &body, NULL), &shape, &(tpSphere){ 0.1 }, NULL);
    body = tpDefaultBodyDef();
    body.position = tpMakeVec3(0.0, 50.0, 0.05);
    body.velocity = tpMakeVec3(0.0, fast, 0.0);
    tpCreateBox(world, tpCreateBody(world, &body, NULL), &shape, &(tpBox){ { 0.2, 0.2, 0.1 } },
                NULL);
    return world;
}

// Velocity of A relative to B where they touch.
static tpVec3 slip(const Motion* motion, int a, int b, tpVec3 point) {
    tpVec3 u =
        tpAdd(motion->velocities[a], tpCross(motion->spins[a], tpSub(point, motion->places[a])));
    tpVec3 v =
        tpAdd(motion->velocities[b], tpCross(motion->spins[b], tpSub(point, motion->places[b])));
    return tpSub(u, v);
}

typedef struct Figures {
    double cone, dissipation, frictionLoss, normalLoss;
    double dissipationOfAll; // of slow ones too
    bool isClose;            // a sliding speed is as slow as the slowest that counts
} Figures;

static Figures figuresOf(const tpWorld* world, const Motion* before, const Motion* after) {
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    double load = 0.0, speed = 0.0;
    Figures found = { 0 };
    // First the largest ones, then the ratios of what is not small beside them.
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < count; ++i) {
            const tpContactInfo* c = &contacts[i];
            int a = indexOf(world, c->bodyA), b = indexOf(world, c->bodyB);
            tpVec3 u = slip(after, a, b, c->point), u0 = slip(before, a, b, c->point);
            double along = tpDot(u, c->normal);
            tpVec3 across = tpSub(u, tpScale(along, c->normal));
            if (round == 0) {
                load = fmax(load, c->normalImpulse);
                speed = fmax(speed, tpLength(across));
                tpVec3 mean = tpScale(0.5, tpAdd(u, u0));
                found.frictionLoss -= tpDot(c->frictionImpulse, mean);
                found.normalLoss -= c->normalImpulse * tpDot(c->normal, mean);
                continue;
            }
            double limit = friction * c->normalImpulse, way = tpLength(across);
            if (c->normalImpulse <= 1e-9 * load) {
                continue;
            }
            double least = fmax(1e-6 * speed, 1e-9);
            double gap = 1.0 + tpDot(c->frictionImpulse, across) / (limit * way);
            found.cone = fmax(found.cone, tpLength(c->frictionImpulse) / limit - 1.0);
            found.isClose = found.isClose || fabs(way / least - 1.0) < 0.05;
            found.dissipationOfAll = fmax(found.dissipationOfAll, gap);
            found.dissipation = way > least ? fmax(found.dissipation, gap) : found.dissipation;
        }
    }
    return found;
}

// How deep shapes are in each other, asked of the world as it stands.
static double deepestOf(tpWorld* world) {
    tpOverlap overlaps[32];
    int count = tpWorld_FindOverlaps(world, 0.0, overlaps, 32);
    double deepest = 0.0;
    assert_true(count <= 32);
    for (int i = 0; i < count; ++i) {
        deepest = fmax(deepest, overlaps[i].depth);
    }
    return deepest;
}

// Speeds of what slides away: beside the faster ones what creeps in the tower does not slide.
static void figuresAreThoseOfTheContacts(void** state) {
    (void)state;
    static const struct {
        double fast, push; // m/s
    } cases[] = { { 3.0, 1.0 }, { 30.0, 1.0 },  { 300.0, 1.0 },
                  { 3e4, 1.0 }, { 1e-4, 1e-4 }, { 1e-7, 1e-7 } };
    int shown = 0, leftOut = 0;
    for (int k = 0; k < 6; ++k) {
        tpWorld* world = makeWorld(cases[k].fast, cases[k].push);
        Motion before, after;
        for (int i = 0; i < stepCount; ++i) {
            look(world, &before);
            for (int b = 1; b <= bodyCount; ++b) {
                before.velocities[b].z -= gravity * step; // as contacts meet it
            }
            tpStepReport report = tpWorld_Step(world, step);
            look(world, &after);
            Figures f = figuresOf(world, &before, &after);
            CHECK_NEAR(report.coneViolation, f.cone, 1e-4);
            double size = fabs(f.frictionLoss);
            CHECK_NEAR(report.frictionLoss, f.frictionLoss, 1e-3 * size + 1e-10);
            CHECK_NEAR(report.impactLoss - report.numericalLoss, f.normalLoss,
                       1e-3 * fabs(f.normalLoss) + 1e-6 * size + 1e-7);
            CHECK_NEAR(report.penetration, deepestOf(world), 1e-7);
            if (!f.isClose) {
                CHECK_NEAR(report.dissipationViolation, f.dissipation, k < 4 ? 3e-3 : 0.1);
                shown += f.dissipation > 0.5;
                leftOut += f.dissipationOfAll > f.dissipation + 0.5;
            }
        }
        tpDestroyWorld(world);
    }
    print_message("%d steps with a contact that is off, %d with one that is slow\n", shown,
                  leftOut);
    assert_true(shown > 60 && leftOut > 20);
}

// A ball that spins and a box, on a platform that moves and turns as told; which of them is body A
// follows the order in which they are made.
static tpWorld* makeCarried(bool isFirst, int bodies[3]) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.gravity = tpMakeVec3(0.0, 0.0, -gravity);
    tpWorld* world = tpCreateWorld(&def);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = friction;
    material.friction.torsionalArm = 0.03;
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = tpCreateMaterial(world, &material, NULL);
    for (int i = 0; i < 3; ++i) {
        int which = isFirst ? i : 2 - i;
        bodies[which] = i;
        tpBodyDef body = tpDefaultBodyDef();
        body.kind = which == 0 ? tp_kinematicBody : tp_dynamicBody;
        body.position = which == 0   ? tpZeroVec3()
                        : which == 1 ? tpMakeVec3(0.4, 0.3, 0.2)
                                     : tpMakeVec3(-0.5, 0.2, 0.1501);
        body.velocity = which == 0 ? tpMakeVec3(0.7, -0.4, 0.3) : tpZeroVec3();
        body.angularVelocity = which == 0   ? tpMakeVec3(0.1, 0.2, 2.0)
                               : which == 1 ? tpMakeVec3(0.0, 0.0, -30.0)
                                            : tpZeroVec3();
        tpBodyId made = tpCreateBody(world, &body, NULL);
        if (which == 1) {
            tpCreateSphere(world, made, &shape, &(tpSphere){ 0.1 }, NULL);
        } else {
            tpVec3 size = which == 0 ? tpMakeVec3(2.0, 2.0, 0.2) : tpMakeVec3(0.2, 0.3, 0.1);
            tpCreateBox(world, made, &shape, &(tpBox){ size }, NULL);
        }
    }
    return world;
}

// Impulses on a body that moves as told, times its velocity where they act, come from outside.
static void platformsDoTheWorkOfTheirContacts(void** state) {
    (void)state;
    for (int order = 0; order < 2; ++order) {
        int bodies[3];
        tpWorld* world = makeCarried(order == 0, bodies);
        tpBodyId platform = tpWorld_GetBody(world, bodies[0]);
        double total = 0.0, twisting = 0.0;
        for (int i = 0; i < stepCount; ++i) {
            tpVec3 velocity = tpBody_GetVelocity(world, platform);
            tpVec3 spin = tpBody_GetAngularVelocity(world, platform);
            tpStepReport report = tpWorld_Step(world, step);
            tpVec3 place = tpBody_GetPosition(world, platform);
            double work = 0.0;
            int count;
            const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
            for (int k = 0; k < count; ++k) {
                const tpContactInfo* c = &contacts[k];
                tpVec3 impulse = tpAdd(tpScale(c->normalImpulse, c->normal), c->frictionImpulse);
                tpVec3 moment = tpScale(c->torsionalImpulse, c->normal);
                double side = c->bodyA.slot == platform.slot ? -1.0 : 1.0;
                tpVec3 there = tpAdd(velocity, tpCross(spin, tpSub(c->point, place)));
                work += side * (tpDot(impulse, there) + tpDot(moment, spin));
                twisting += side * tpDot(moment, spin);
            }
            CHECK_NEAR(report.externalWork, work, 1e-3 * fabs(work) + 1e-7);
            total += work;
        }
        print_message("%.3e J of work, %.3e of them by torsion\n", total, twisting);
        assert_true(fabs(total) > 1e-3 && fabs(twisting) > 1e-4);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figuresAreThoseOfTheContacts),
        cmocka_unit_test(platformsDoTheWorkOfTheirContacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
