// Nets of rigid rods that are stretched flat between fixed corners: they have no motion, and no
// tension of rods in a plane carries a weight. By every exact stepper they come to rest, loaded or
// not, where they sag by what the certificate lets their rods be apart.

#include "support/floor.h"
#include "tippe/joints.h"

enum { knots = 8 };

static const double spacing = 0.05, level = 0.5, radius = 0.012, ballRadius = 0.06;

// `sag`: half of the depth of the net's middle, m.
static tpBodyId addKnot(tpWorld* world, int i, int k, double sag) {
    tpShapeDef shape = tpDefaultShapeDef();
    tpBodyDef def = tpDefaultBodyDef();
    double half = 0.5 * spacing * (knots - 1);
    bool isCorner = i % (knots - 1) == 0 && k % (knots - 1) == 0;
    double x = spacing * i - half, y = spacing * k - half;
    double part = 2.0 - (x / half) * (x / half) - (y / half) * (y / half);
    def.position = tpMakeVec3(x, y, level - sag * part);
    def.kind = isCorner ? tp_fixedBody : tp_dynamicBody;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    shape.material = 1;
    tpCreateSphere(world, body, &shape, &(tpSphere){ radius }, NULL);
    return body;
}

static tpJointId tie(tpWorld* world, tpBodyId a, tpBodyId b) {
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_distanceJoint;
    joint.bodyA = a;
    joint.bodyB = b;
    joint.anchorA = tpBody_GetPosition(world, a);
    joint.anchorB = tpBody_GetPosition(world, b);
    return tpCreateJoint(world, &joint, NULL);
}

typedef struct Net {
    tpWorld* world;
    tpBodyId bodies[knots][knots];
    tpJointId rods[2 * knots * (knots - 1)];
    bool isOfCorner[2 * knots * (knots - 1)][2];
    double mass; // of what hangs, kg
    double worst, fastest;
    int uncertified;
} Net;

static void makeNet(Net* net, tpStepperId stepper, double sag, bool isLoaded) {
    net->world = worldWithFloor(stepper, 0.4, 0.0);
    net->mass = net->worst = net->fastest = 0.0;
    net->uncertified = 0;
    for (int i = 0; i < knots; ++i) {
        for (int k = 0; k < knots; ++k) {
            net->bodies[i][k] = addKnot(net->world, i, k, sag);
        }
    }
    int count = 0;
    for (int i = 0; i < knots; ++i) {
        for (int k = 0; k + 1 < knots; ++k) {
            bool isEdge = i % (knots - 1) == 0, isFirst = k == 0, isLast = k + 2 == knots;
            for (int way = 0; way < 2; ++way) {
                tpBodyId a = way == 0 ? net->bodies[i][k] : net->bodies[k][i];
                tpBodyId b = way == 0 ? net->bodies[i][k + 1] : net->bodies[k + 1][i];
                net->isOfCorner[count][0] = isEdge && isFirst;
                net->isOfCorner[count][1] = isEdge && isLast;
                net->rods[count++] = tie(net->world, a, b);
            }
        }
    }
    if (isLoaded) {
        tpBodyDef def = tpDefaultBodyDef();
        tpShapeDef shape = tpDefaultShapeDef();
        def.position = tpMakeVec3(0.01, 0.015, level + radius + ballRadius + 0.02);
        tpBodyId ball = tpCreateBody(net->world, &def, NULL);
        shape.material = 1;
        shape.density = 2000.0;
        tpCreateSphere(net->world, ball, &shape, &(tpSphere){ ballRadius }, NULL);
    }
    for (int i = 0; i < tpWorld_GetBodyCount(net->world); ++i) {
        tpBodyId body = tpWorld_GetBody(net->world, i);
        bool isHung = tpBody_GetKind(net->world, body) == tp_dynamicBody;
        net->mass += isHung ? tpBody_GetMass(net->world, body).mass : 0.0;
    }
}

// The longest step counts by what it is off of what the certificate allows.
static void run(Net* net, int stepCount) {
    for (int k = 0; k < stepCount; ++k) {
        tpStepReport report = tpWorld_Step(net->world, 0.01);
        net->uncertified += report.violations != 0;
        net->worst = fmax(net->worst, report.jointDrift / report.limits.jointDrift);
    }
    for (int i = 0; i < tpWorld_GetBodyCount(net->world); ++i) {
        tpBodyId body = tpWorld_GetBody(net->world, i);
        net->fastest = fmax(net->fastest, tpLength(tpBody_GetVelocity(net->world, body)));
    }
}

// The vertical force of the rods at the four corners, N.
static double carriedAtCorners(const Net* net) {
    double sum = 0.0;
    for (int i = 0; i < 2 * knots * (knots - 1); ++i) {
        tpVec3 onB;
        tpJoint_GetReaction(net->world, net->rods[i], &onB, NULL);
        sum += net->isOfCorner[i][0] ? onB.z : 0.0;
        sum -= net->isOfCorner[i][1] ? onB.z : 0.0;
    }
    return sum;
}

static const tpStepperId all[] = { tp_anitescu, tp_stewartTrinkle, tp_benderSchmitt,
                                   tp_chakrabortyTrinkle };

// 48 to 60 of 60 steps had no certificate, and the net hung in the air, for steps were left out.
static void flatNetsComeToRest(void** state) {
    (void)state;
    for (int s = 0; s < 4; ++s) {
        Net net;
        makeNet(&net, all[s], 0.0, false);
        run(&net, 60);
        double weight = 9.81 * net.mass, carried = carriedAtCorners(&net);
        print_message("%s: %d of 60 uncertified, %.2g of the drift allowed, at the end %.1e m/s, "
                      "corners carry %.9f of the weight\n",
                      tpStepperName(all[s]), net.uncertified, net.worst, net.fastest,
                      carried / weight);
        assert_true(net.uncertified <= 3);
        CHECK_BELOW(net.fastest, 1e-9);
        CHECK_NEAR(carried, weight, 1e-8 * weight);
        tpDestroyWorld(net.world);
    }
}

// A ball of 1.8 kg that falls on a net whose knots weigh 7 g each. 52 to 58 of 60 steps had no
// certificate.
static void flatNetsCatchBalls(void** state) {
    (void)state;
    for (int s = 0; s < 4; ++s) {
        Net net;
        makeNet(&net, all[s], 0.0, true);
        run(&net, 60);
        print_message("%s: %d of 60 uncertified\n", tpStepperName(all[s]), net.uncertified);
        assert_true(net.uncertified <= 8);
        tpDestroyWorld(net.world);
    }
}

// Nets that sag swing faster than the step once they are caught: steps that found no end were found
// anew, step by step. 44 and 53 of 60 had no certificate; `anitescu` has other troubles with the
// ball.
static void saggingNetsGoOn(void** state) {
    (void)state;
    static const tpStepperId two[] = { tp_stewartTrinkle, tp_chakrabortyTrinkle };
    for (int s = 0; s < 2; ++s) {
        Net net;
        makeNet(&net, two[s], 0.028, true);
        run(&net, 60);
        print_message("%s: %d of 60 uncertified\n", tpStepperName(two[s]), net.uncertified);
        assert_true(net.uncertified <= 8);
        tpDestroyWorld(net.world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(flatNetsComeToRest),
                                        cmocka_unit_test(flatNetsCatchBalls),
                                        cmocka_unit_test(saggingNetsGoOn) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
