// Contacts that slide, by how fast they do: the law that friction is as large as it may be and
// against the velocity, on problems whose rows are of very different sizes.

#include "complementarity/friction_creep.h"

#include <math.h>
#include <string.h>

#include "support/check.h"

enum { most = 4, rows = 3 * most };

// S = G G' of a random G whose third rows, those of torsion, are shorter by `size`.
static void fill(tpRandom* random, int n, double size, double* S, double* b) {
    double G[rows][rows];
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < n; ++k) {
            G[i][k] = (i % 3 == 2 ? size : 1.0) * randomBetween(random, -1.0, 1.0);
        }
        b[i] = (i % 3 == 2 ? size : 1.0) * randomBetween(random, -1.0, 1.0);
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            S[i * n + j] = 0.0;
            for (int k = 0; k < n; ++k) {
                S[i * n + j] += G[i][k] * G[j][k];
            }
        }
    }
}

// Friction of one contact: within its bound without a velocity, or at it and against the velocity.
static void checkContact(const tpCreepingContact* contact, int n, const double* S, const double* b,
                         const double* r, int* sliding) {
    double friction = 0.0, speed = 0.0, power = 0.0, normal = contact->normal, size = 0.0;
    for (int k = 0; k < n; ++k) {
        normal -= contact->follows[k] * r[k];
    }
    for (int i = contact->first; i < contact->first + contact->rows; ++i) {
        double u = -b[i];
        for (int k = 0; k < n; ++k) {
            u += S[i * n + k] * r[k];
            size = fmax(size, fabs(S[i * n + k] * r[k]));
        }
        friction += r[i] * r[i];
        speed += u * u;
        power += u * r[i];
    }
    friction = sqrt(friction);
    speed = sqrt(speed);
    double bound = contact->mu * normal;
    assert_true(friction <= bound * (1.0 + 1e-9));
    if (speed > 1e-11 * size) {
        CHECK_NEAR(friction, bound, 1e-9 * bound);
        CHECK_NEAR(power, -speed * friction, 1e-6 * speed * friction);
        *sliding += 1;
    }
}

// Random contacts with torsion rows shorter by `size` (every third: as long), which are to be found
// in so many steps. Returns how many problems were.
static int findMany(uint64_t seed, double size, int steps, int* sliding, int* all) {
    tpRandom random = { seed };
    int found = 0;
    for (int trial = 0; trial < 200; ++trial) {
        int count = 1 + trial % most, n = 3 * count;
        double S[rows * rows], b[rows], r[rows], follows[rows * most];
        tpCreepingContact contacts[most];
        fill(&random, n, trial % 3 == 0 ? 1.0 : size, S, b);
        for (int c = 0; c < count; ++c) {
            for (int k = 0; k < n; ++k) {
                follows[c * n + k] = 0.02 * randomBetween(&random, -1.0, 1.0);
            }
            contacts[c] = (tpCreepingContact){ .first = 3 * c,
                                               .rows = 3,
                                               .mu = 0.5,
                                               .normal = randomBetween(&random, 0.2, 2.0),
                                               .follows = follows + c * n };
        }
        if (tpFriction_Creep(n, S, b, count, contacts, steps, r)) {
            found += 1;
            for (int c = 0; c < count; ++c) {
                checkContact(&contacts[c], n, S, b, r, sliding);
                *all += 1;
            }
        }
    }
    return found;
}

static void lawsAreMet(void** state) {
    (void)state;
    int sliding = 0, all = 0;
    assert_true(findMany(23, 0.05, 100, &sliding, &all) == 200);
    assert_true(sliding > all / 4 && sliding < all);
}

// Feet that others hold answer to moments about their normals with a millionth of what they answer
// to pushes with. Some of them hold and some slide.
static void someHoldAndSomeSlide(void** state) {
    (void)state;
    int sliding = 0, all = 0;
    assert_true(findMany(31, 1e-3, 25, &sliding, &all) == 200);
    assert_true(sliding > all / 4 && sliding < all);
}

// A contact that carries nothing has no friction to be found here.
static void nothingIsFoundWithoutALoad(void** state) {
    (void)state;
    const double S[4] = { 1.0, 0.0, 0.0, 1.0 }, b[2] = { 1.0, 0.0 }, follows[2] = { 0.0, 0.0 };
    double r[2] = { 7.0, 8.0 };
    tpCreepingContact contact = {
        .first = 0, .rows = 2, .mu = 0.5, .normal = -1.0, .follows = follows
    };
    assert_false(tpFriction_Creep(2, S, b, 1, &contact, 100, r));
    assert_true(r[0] == 7.0 && r[1] == 8.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lawsAreMet),
        cmocka_unit_test(someHoldAndSomeSlide),
        cmocka_unit_test(nothingIsFoundWithoutALoad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
