// The examples of Chakraborty, Berard, Akella and Trinkle 2007, against closed forms and an
// event-driven solution, and the tippe top.

#include <math.h>
#include <string.h>

#include "papers/paper_world.h"

static const tpContactInfo* contactWith(const tpWorld* world, const char* name) {
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    for (int i = 0; i < count; ++i) {
        if (strcmp(tpBody_GetName(world, contacts[i].bodyA), name) == 0 ||
            strcmp(tpBody_GetName(world, contacts[i].bodyB), name) == 0) {
            return &contacts[i];
        }
    }
    return NULL;
}

static tpStepReport stepWell(tpWorld* world, double h) {
    tpStepReport report = tpWorld_Step(world, h);
    assert_int_equal(report.failureCount, 0);
    assert_null(report.fallback);
    CHECK_BELOW(report.residual, 1e-11);
    return report;
}

// The disc -------------------------------------------------------------------------------------

static void discKeepsItsEnergy(void** state) {
    (void)state;
    static const char* const thetas[] = { "1", "0.5" };
    for (int t = 0; t < 2; ++t) {
        tpWorld* world = makePaperWorld("disc_rolling");
        setOption(world, "theta", thetas[t]);
        for (int k = 0; k < 200; ++k) {
            stepWell(world, .01);
            CHECK_NEAR(tpWorld_GetKineticEnergy(world), 6.75, 1e-12);
            const tpContactInfo* contact = contactWith(world, "disc");
            assert_non_null(contact);
            CHECK_NEAR(contact->normalImpulse / .01, 9.81, 1e-10);
            CHECK_NEAR(tpLength(contact->frictionImpulse), 0.0, 1e-12);
        }
        tpDestroyWorld(world);
    }
}

static void discSlipsThenRolls(void** state) {
    (void)state;
    static const char* const thetas[] = { "1", "0.5" };
    for (int t = 0; t < 2; ++t) {
        tpWorld* world = makePaperWorld("disc_slip");
        setOption(world, "theta", thetas[t]);
        tpBodyId disc = tpWorld_FindBody(world, "disc");
        for (int k = 1; k <= 200; ++k) {
            stepWell(world, .01);
            const tpContactInfo* contact = contactWith(world, "disc");
            // Sliding stops at u0 / (3 mu g) = .254842 s, within step 26.
            bool slides = k < 26;
            assert_int_equal(contact->state, slides ? tp_sliding : tp_sticking);
            double v = slides ? -3.0 + .4 * 9.81 * .01 * k : -2.0;
            double w = slides ? .8 * 9.81 * .01 * k : 2.0;
            CHECK_NEAR(tpBody_GetVelocity(world, disc).x, v, 1e-12);
            CHECK_NEAR(tpBody_GetVelocity(world, disc).y, 0.0, 1e-12);
            CHECK_NEAR(tpBody_GetAngularVelocity(world, disc).z, w, 1e-12);
        }
        CHECK_NEAR(tpWorld_GetKineticEnergy(world), 3.0, 1e-12);
        tpDestroyWorld(world);
    }
}

// The spinning sphere --------------------------------------------------------------------------

static void sphereSpinsDown(void** state) {
    (void)state;
    static const char* const thetas[] = { "1", "0.5" };
    for (int t = 0; t < 2; ++t) {
        tpWorld* world = makePaperWorld("sphere_spinning");
        setOption(world, "theta", thetas[t]);
        tpBodyId sphere = tpWorld_FindBody(world, "sphere");
        for (int k = 1; k <= 20; ++k) {
            stepWell(world, .07);
            double w = k < 15 ? 1.962 * (1.0 - .07 * k) : 0.0;
            double moment = k < 15 ? -.7848 : k == 15 ? -.4 * 1.962 * (1.0 - .98) / .07 : 0.0;
            CHECK_NEAR(tpBody_GetAngularVelocity(world, sphere).z, w, 1e-12);
            CHECK_NEAR(tpLength(tpBody_GetVelocity(world, sphere)), 0.0, 1e-12);
            const tpContactInfo* contact = contactWith(world, "sphere");
            CHECK_NEAR(contact->normalImpulse / .07, 9.81, 1e-11);
            CHECK_NEAR(fabs(contact->torsionalImpulse) / .07, fabs(moment), 1e-11);
            CHECK_NEAR(tpLength(contact->frictionImpulse), 0.0, 1e-12);
        }
        tpDestroyWorld(world);
    }
}

// The sphere on two spheres --------------------------------------------------------------------

enum { exactRows = 501, exactColumns = 11 };
static double exact[exactRows][exactColumns]; // every .01 s: time, v, w, and load and slip twice

static int readExact(void** state) {
    (void)state;
    FILE* file = fopen(TIPPE_SOURCE_DIR "/tests/papers/data/sphere_on_two_spheres.csv", "r");
    char head[256];
    bool isRead = file != NULL && fgets(head, sizeof(head), file) != NULL;
    for (int i = 0; isRead && i < exactRows; ++i) {
        for (int j = 0; j < exactColumns; ++j) {
            isRead = isRead && fscanf(file, j > 0 ? ",%lf" : "%lf", &exact[i][j]) == 1;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return isRead ? 0 : -1;
}

typedef struct Errors {
    double velocity, spin, load, slip; // largest over 5 s
    double slides, leavesLarge, leavesOther;
} Errors;

static void compareContact(const tpWorld* world, const char* name, const double* load, double h,
                           Errors* errors, double* last) {
    const tpContactInfo* contact = contactWith(world, name);
    bool isLoaded = contact != NULL && contact->normalImpulse > 0.0;
    double force = isLoaded ? contact->normalImpulse / h : 0.0;
    double slip = isLoaded ? contact->slidingSpeed : 0.0;
    if (isLoaded) {
        *last = tpWorld_GetTime(world);
    }
    errors->load = fmax(errors->load, fabs(force - load[0]));
    if (isLoaded && load[0] > 0.0) {
        errors->slip = fmax(errors->slip, fabs(slip - load[1]));
    }
}

static Errors runTwoSpheres(const char* theta, double h) {
    tpWorld* world = makePaperWorld("sphere_on_two_spheres");
    setOption(world, "theta", theta);
    tpBodyId small = tpWorld_FindBody(world, "small");
    Errors errors = { .slides = 0.0 };
    int steps = (int)lround(5.0 / h), stride = (int)lround(h / .01);
    for (int k = 1; k <= steps; ++k) {
        stepWell(world, h);
        const double* row = exact[k * stride];
        CHECK_NEAR(row[0], k * h, 1e-9);
        tpVec3 v = tpBody_GetVelocity(world, small), w = tpBody_GetAngularVelocity(world, small);
        const double found[6] = { v.x, v.y, v.z, w.x, w.y, w.z };
        for (int i = 0; i < 6; ++i) {
            double* worst = i < 3 ? &errors.velocity : &errors.spin;
            *worst = fmax(*worst, fabs(found[i] - row[1 + i]));
        }
        compareContact(world, "large", row + 7, h, &errors, &errors.leavesLarge);
        compareContact(world, "other", row + 9, h, &errors, &errors.leavesOther);
        const tpContactInfo* other = contactWith(world, "other");
        if (errors.slides == 0.0 && other != NULL && other->state == tp_sliding) {
            errors.slides = tpWorld_GetTime(world);
        }
    }
    tpDestroyWorld(world);
    printf("theta %s, h %.2f: v %.4f w %.4f load %.4f slip %.4f; slides %.3f, last %.3f %.3f\n",
           theta, h, errors.velocity, errors.spin, errors.load, errors.slip, errors.slides,
           errors.leavesLarge, errors.leavesOther);
    return errors;
}

static void sphereOnTwoSpheresByEuler(void** state) {
    (void)state;
    static const double steps[] = { .1, .05, .01 };
    static const double velocity[] = { 1.22, .60, .118 }, spin[] = { .37, .19, .037 };
    static const double slides[] = { 2.9, 2.9, 2.94 };
    static const double leavesLarge[] = { 3.1, 3.15, 3.20 }, leavesOther[] = { 3.6, 3.65, 3.69 };
    Errors errors[3];
    for (int i = 0; i < 3; ++i) {
        errors[i] = runTwoSpheres("1", steps[i]);
        CHECK_NEAR(errors[i].velocity, velocity[i], .02 * velocity[i]);
        // The reference has two digits of these.
        CHECK_NEAR(errors[i].spin, spin[i], .02 * spin[i] + .5e-2 * (i < 2));
        CHECK_NEAR(errors[i].slides, slides[i], 1e-9);
        CHECK_NEAR(errors[i].leavesLarge, leavesLarge[i], 1e-9);
        CHECK_NEAR(errors[i].leavesOther, leavesOther[i], 1e-9);
    }
    CHECK_NEAR(errors[0].velocity / errors[1].velocity, 2.0, .1);
    CHECK_NEAR(errors[1].velocity / errors[2].velocity, 5.0, .15);
}

static void sphereOnTwoSpheresByMidpoint(void** state) {
    (void)state;
    Errors coarse = runTwoSpheres("0.5", .1);
    Errors middle = runTwoSpheres("0.5", .05);
    Errors fine = runTwoSpheres("0.5", .01);
    // A hundredth of the error of implicit Euler, and second order.
    CHECK_BELOW(coarse.velocity, .012);
    CHECK_BELOW(coarse.spin, .01);
    CHECK_BELOW(middle.velocity, .003);
    CHECK_BELOW(fine.velocity, 2e-4);
    CHECK_BELOW(fine.spin, 2e-4);
    // Events, to the step that contains them: 2.944807, 3.21321 and 3.70160 s.
    CHECK_NEAR(fine.slides, 2.95, 1e-9);
    CHECK_NEAR(fine.leavesLarge, 3.21, .01 + 1e-9);
    CHECK_NEAR(fine.leavesOther, 3.70, .01 + 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discKeepsItsEnergy),
        cmocka_unit_test(discSlipsThenRolls),
        cmocka_unit_test(sphereSpinsDown),
        cmocka_unit_test_setup(sphereOnTwoSpheresByEuler, readExact),
        cmocka_unit_test_setup(sphereOnTwoSpheresByMidpoint, readExact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
