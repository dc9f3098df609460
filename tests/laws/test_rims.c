// Coins that roll on their rims: steady motions in closed form.
//
// A disc of mass m, radius R and thickness 2 t leans: its axis e makes the angle a with the
// vertical z and turns about it at the rate W. With u the unit vector in the plane of the disc to
// its lowest point, and y = e x u, the disc turns at w = w3 e - W sin(a) u, touches the floor at
// r = R u - t e, and rolls if its centre moves at v = V y, V = W sin(a) t - w3 R. The contact
// forces m g z + m W z x v and the change of angular momentum W z x L, L = C w3 e - A W sin(a) u,
// agree if
//
//     w3 W (C sin a + m R (R sin a + t cos a)) =
//         A W^2 sin a cos a + m W^2 t sin a (R sin a + t cos a) - m g (R cos a - t sin a).
//
// Where the centre stands still (Euler's disc) w3 = W sin(a) t / R, which gives W. Nothing is lost.

#include "support/floor.h"

static const double pi = 3.14159265358979323846, g = 9.81, radius = 0.0375, half = 0.001;

typedef struct Steady {
    double tilt, rate; // rate 0: Euler's disc, its own
} Steady;

typedef struct Coin {
    tpWorld* world;
    tpBodyId body;
    double rate;
} Coin;

static double ownRate(double a) {
    double A = radius * radius / 4.0 + half * half / 3.0, C = radius * radius / 2.0;
    return sqrt(g * (radius * cos(a) - half * sin(a)) /
                (A * sin(a) * cos(a) - C * half / radius * sin(a) * sin(a)));
}

static Coin makeCoin(tpStepperId stepper, Steady steady) {
    double a = steady.tilt, W = steady.rate > 0.0 ? steady.rate : ownRate(a);
    double A = radius * radius / 4.0 + half * half / 3.0, C = radius * radius / 2.0;
    double height = radius * sin(a) + half * cos(a), arm = radius * cos(a) - half * sin(a);
    double spin = (A * W * W * sin(a) * cos(a) + W * W * half * sin(a) * height - g * arm) /
                  (W * (C * sin(a) + radius * height));
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = stepper;
    worldDef.gravity = tpMakeVec3(0.0, 0.0, -g);
    Coin coin = { .world = tpCreateWorld(&worldDef), .rate = W };
    addMaterial(coin.world, 0.6, 0.0);
    addFloor(coin.world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyDef def = tpDefaultBodyDef();
    def.position.z = height;
    def.rotation = tpQuatExp(tpMakeVec3(0.0, a, 0.0));
    def.velocity = tpMakeVec3(0.0, W * sin(a) * half - spin * radius, 0.0);
    def.angularVelocity =
        tpMakeVec3(-W * sin(a) * cos(a) + spin * sin(a), 0.0, W * sin(a) * sin(a) + spin * cos(a));
    coin.body = tpCreateBody(coin.world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    shape.density = 1000.0;
    tpGeometry geometry;
    tpCylinder cylinder = { .radius = radius, .length = 2.0 * half };
    assert_int_equal(tpMakeCylinder(&cylinder, tpIdentityPose(), &geometry, NULL), tp_success);
    tpCreateShape(coin.world, coin.body, &shape, &geometry, NULL);
    tpReleaseGeometry(&geometry);
    return coin;
}

static double azimuth(const Coin* coin) {
    tpVec3 axis = tpRotate(tpBody_GetRotation(coin->world, coin->body), tpMakeVec3(0.0, 0.0, 1.0));
    return atan2(axis.y, axis.x);
}

typedef struct Rolled {
    double lost;    // of the energy of the start
    double rateOff; // relative
    int uncertified;
} Rolled;

static Rolled roll(tpStepperId stepper, Steady steady, double h, double seconds) {
    Coin coin = makeCoin(stepper, steady);
    tpWorld* world = coin.world;
    double start = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    double turned = 0.0, last = 0.0;
    Rolled result = { .uncertified = 0 };
    int count = (int)lround(seconds / h);
    for (int k = 0; k < count; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        double now = azimuth(&coin);
        // Of the angles that give this azimuth, the one that is nearest to the steady rate's.
        double step = now - last - coin.rate * h;
        turned += step - 2.0 * pi * round(step / (2.0 * pi)) + coin.rate * h;
        last = now;
        result.uncertified += report.violations != 0;
    }
    double end = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    result.lost = (start - end) / start;
    result.rateOff = turned / (coin.rate * seconds) - 1.0;
    tpDestroyWorld(world);
    return result;
}

// Euler's disc at 15 and 5 degrees, and coins that roll on circles, leaning and nearly upright.
static const Steady motions[] = {
    { 0.2618, 0.0 }, { 0.0873, 0.0 }, { 1.0472, 5.0 }, { 1.3090, 3.0 }
};

static void rimsLoseNothing(void** state) {
    (void)state;
    static const double steps[] = { 1.0 / 30.0, 1.0 / 60.0, 1.0 / 240.0 };
    for (int i = 0; i < 12; ++i) {
        Steady steady = motions[i / 3];
        double h = steps[i % 3];
        Rolled rolled = roll(tp_chakrabortyTrinkle, steady, h, 1.0);
        print_message("tilt %.0f degrees, h = 1/%.0f: lost %.1e, rate off by %.1e\n",
                      steady.tilt * 180.0 / pi, 1.0 / h, rolled.lost, rolled.rateOff);
        assert_int_equal(rolled.uncertified, 0);
        CHECK_BELOW(fabs(rolled.lost), 1e-12);
        CHECK_BELOW(fabs(rolled.rateOff), 40.0 * h * h);
    }
}

// RATTLE on the gap of the lowest point: energy swings about its mean, more if the contact runs far
// in a step.
static void rimsSwingAboutAMean(void** state) {
    (void)state;
    static const double steps[] = { 1.0 / 60.0, 1.0 / 240.0 }, limits[] = { 5e-3, 1e-3 };
    for (int i = 0; i < 8; ++i) {
        Steady steady = motions[i / 2];
        double h = steps[i % 2];
        Rolled rolled = roll(tp_anitescu, steady, h, 1.0);
        print_message("anitescu, tilt %.0f degrees, h = 1/%.0f: lost %.1e, rate off by %.1e\n",
                      steady.tilt * 180.0 / pi, 1.0 / h, rolled.lost, rolled.rateOff);
        assert_int_equal(rolled.uncertified, 0);
        CHECK_BELOW(fabs(rolled.lost), limits[i % 2]);
        CHECK_BELOW(fabs(rolled.rateOff), 60.0 * h * h);
    }
}

// The same drift in parts that keep the energy. While fixed points of the rim were asked too it
// drained: Euler's disc at 5 degrees had lost 1.5 % after 5 s at 1/60 and 1/240 s.
static void rimsDoNotDrain(void** state) {
    (void)state;
    static const double steps[] = { 1.0 / 30.0, 1.0 / 60.0, 1.0 / 240.0 };
    for (int i = 0; i < 12; ++i) {
        Steady steady = motions[i / 3];
        double h = steps[i % 3];
        Rolled rolled = roll(tp_benderSchmitt, steady, h, 5.0);
        print_message(
            "bender-schmitt, tilt %.0f degrees, h = 1/%.0f: lost %.1e, rate off by %.1e\n",
            steady.tilt * 180.0 / pi, 1.0 / h, rolled.lost, rolled.rateOff);
        assert_int_equal(rolled.uncertified, 0);
        CHECK_BELOW(fabs(rolled.lost), 2e-3);
        CHECK_BELOW(fabs(rolled.rateOff), 60.0 * h * h);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rimsLoseNothing),
        cmocka_unit_test(rimsSwingAboutAMean),
        cmocka_unit_test(rimsDoNotDrain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
