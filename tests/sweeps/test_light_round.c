// Light sweeps over contacts of spheres: their rule, and the same bits at any width.

#include "heap.h"
#include "sweeps/light_kernels.h"

// One contact per pair, between spheres of different sizes and masses and one body that does not
// move.
static void addRoundContact(Heap* heap, tpRandom* random, int a, int b) {
    tpSweepContact* contact = &heap->contacts[heap->count];
    addManifold(heap, random, a, b, 1, false);
    contact->armA = tpScale(-0.1 - 0.001 * a, contact->normal);
    contact->armB = tpScale(0.1 + 0.001 * b, contact->normal);
    contact->muDynamic = 0.1 + 0.01 * (a % 50);
    contact->muStatic = contact->muDynamic + (a % 2 == 0 ? 0.2 : 0.0);
    contact->tangents[1] = tpCross(contact->normal, contact->tangents[0]);
}

// What is wrong with one of its contacts or bodies.
typedef enum Flaw { noFlaw, armBeside, longBody, twoPoints, ellipse } Flaw;

static Heap* makeRoundHeap(uint64_t seed, Flaw flaw) {
    tpRandom random = { seed };
    Heap* heap = makeBodies(&random);
    memset(&heap->velocities[0], 0, sizeof(tpVelocity));
    for (int i = 1; i < bodies; ++i) {
        double* inertia = heap->sweeper.bodies[i].inverseInertia;
        inertia[1] = inertia[2] = inertia[0];
        inertia[3] = inertia[4] = inertia[5] = 0.0;
        addRoundContact(heap, &random, 0, i);
        for (int k = 1; k < 4 && i + k * k < bodies; ++k) {
            addRoundContact(heap, &random, i, i + k * k);
        }
    }
    tpSweepContact* odd = &heap->contacts[heap->count / 2];
    if (flaw == armBeside) {
        odd->armA = tpMulAdd(odd->armA, 1e-3, odd->tangents[0]);
    } else if (flaw == longBody) {
        heap->sweeper.bodies[bodies / 2].inverseInertia[2] *= 1.01;
    } else if (flaw == twoPoints) {
        addRoundContact(heap, &random, bodies - 2, bodies - 1);
        addRoundContact(heap, &random, bodies - 2, bodies - 1);
    } else if (flaw == ellipse) {
        odd->tangents[1] = tpScale(0.5, odd->tangents[1]);
    }
    prepare(heap);
    for (int i = 0; i < heap->count; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(&heap->sweeper, i, &lane);
        pack->bias[0][lane] = 0.05 * (i % 3);
    }
    tpSweeper_FindSpeeds(&heap->sweeper);
    return heap;
}

static void sweepSome(tpLightSweeper* light) {
    tpLight_Load(light);
    for (int sweep = 0; sweep < 12; ++sweep) {
        tpLight_Sweep(light);
    }
}

// A contact as the rule sees it, in double precision.
typedef struct Stepped {
    double r[3], u[4], step[2], muStatic, muDynamic;
} Stepped;

// The nearest point of the cone in the norm of the inverse steps, said by its conditions: what is
// taken away is normal to the cone at that point.
static void checkNearest(const Stepped* c, const double aim[3], const double r[3]) {
    double force = hypot(aim[1], aim[2]), size = 1e-6 * (force + fabs(aim[0]) + 1e-6);
    double away[3], along = 0.0;
    if (aim[0] >= 0.0 && force <= c->muStatic * aim[0]) {
        for (int k = 0; k < 3; ++k) {
            CHECK_NEAR(r[k], aim[k], size);
        }
        return;
    }
    for (int k = 0; k < 3; ++k) {
        away[k] = (r[k] - aim[k]) / c->step[k > 0];
        along += away[k] * r[k];
    }
    assert_true(r[0] >= 0.0);
    CHECK_BELOW(hypot(r[1], r[2]) - c->muDynamic * r[0], size);
    CHECK_NEAR(along, 0.0, size / c->step[0] * (hypot(r[1], r[2]) + r[0] + 1e-6));
    CHECK_BELOW(c->muDynamic * hypot(away[1], away[2]) - away[0], size / c->step[0]);
}

static Stepped readStepped(const Heap* heap, const tpLightSweeper* light, int place) {
    int pack = place / tp_lightWidth, to = place % tp_lightWidth, lane;
    const tpRoundPack* round = &light->rounds[pack];
    const tpContactPack* from = tpSweeper_PackOf(&heap->sweeper, light->contacts[place], &lane);
    Stepped c = { .step = { round->stepNormal[to], round->stepTangent[to] },
                  .muStatic = from->muStatic[lane],
                  .muDynamic = from->muDynamic[lane] };
    tpSweeper_ContactVelocity(&heap->sweeper, light->contacts[place], c.u);
    for (int k = 0; k < 3; ++k) {
        c.r[k] = from->impulse[k][lane];
        c.u[k] += from->bias[k][lane];
    }
    // Sticking contacts are stopped by the tangential step, to a fifth.
    CHECK_NEAR(c.step[1] * from->response[3][lane], 1.0, 0.2);
    return c;
}

// One sweep, contact by contact: a step against the velocity, to which the speed of sliding has
// been added, then the nearest point of the cone.
static void contactsGoToTheNearestPointOfTheCone(void** state) {
    (void)state;
    int open = 0, sticking = 0, sliding = 0;
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        Heap* heap = makeRoundHeap(seed, noFlaw);
        tpLightSweeper light;
        assert_true(tpLight_Choose(&light, &heap->sweeper, INFINITY, 0.9, &heap->arena));
        assert_non_null(light.rounds);
        sweepSome(&light);
        tpLight_Store(&light);
        tpSweeper_WarmStart(&heap->sweeper);
        tpSweeper_FindSpeeds(&heap->sweeper);
        tpLight_Load(&light);
        tpLight_Sweep(&light);
        for (int place = 0; place < tp_lightWidth * light.packCount; ++place) {
            int contact = light.contacts[place], lane;
            if (contact < 0) {
                continue;
            }
            Stepped c = readStepped(heap, &light, place);
            ptrdiff_t first =
                (ptrdiff_t)3 * tp_lightWidth * (place / tp_lightWidth) + place % tp_lightWidth;
            double slip = c.muDynamic * hypot(c.u[1], c.u[2]), aim[3], r[3], change[4] = { 0.0 };
            bool isOpen = !(light.loaded[first] + light.impulses[first] > 0.0f);
            for (int k = 0; k < 3; ++k) {
                ptrdiff_t at = first + (ptrdiff_t)k * tp_lightWidth;
                aim[k] = c.r[k] - c.step[k > 0] * (c.u[k] + (k == 0 ? slip : 0.0));
                r[k] = isOpen ? 0.0 : c.r[k] + light.impulses[at];
                change[k] = r[k] - c.r[k];
            }
            checkNearest(&c, aim, r);
            open += r[0] == 0.0;
            bool slides = hypot(aim[1], aim[2]) > c.muStatic * fmax(0.0, aim[0]);
            sliding += r[0] > 0.0 && slides;
            sticking += r[0] > 0.0 && !slides;
            // Go on with what the sweep has made of it.
            const tpContactPack* pack = tpSweeper_PackOf(&heap->sweeper, contact, &lane);
            tpSweeper_Push(&heap->sweeper, pack, lane, change);
        }
        destroyHeap(heap);
    }
    print_message("%d open, %d sticking, %d sliding\n", open, sticking, sliding);
    assert_true(open > 100 && sticking > 100 && sliding > 100);
}

// Velocities made anew are those of the impulses.
static void velocitiesAreThoseOfTheImpulses(void** state) {
    (void)state;
    Heap* heap = makeRoundHeap(2, noFlaw);
    tpLightSweeper light;
    assert_true(tpLight_Choose(&light, &heap->sweeper, INFINITY, 0.9, &heap->arena));
    sweepSome(&light);
    float* followed = TP_SCRATCH(&heap->arena, float, light.changeCount);
    double sum = 0.0;
    memcpy(followed, light.changes, sizeof(float) * (size_t)light.changeCount);
    tpLight_Refresh(&light);
    for (int i = 0; i < light.changeCount; ++i) {
        CHECK_NEAR(followed[i], light.changes[i], 1e-4 * (1.0 + fabs((double)followed[i])));
        sum += fabs((double)followed[i]);
    }
    assert_true(sum > 1.0);
    destroyHeap(heap);
}

static void widthsGiveTheSameBits(void** state) {
    (void)state;
    for (int width = 4; width <= 8; width *= 2) {
        const tpLightKernels* wide = tpGetLightKernels(width);
        if (wide == NULL) {
            print_message("this machine or build has no light sweeps of that width\n");
            continue;
        }
        Heap* heap = makeRoundHeap(7, noFlaw);
        tpLightSweeper lights[2];
        for (int k = 0; k < 2; ++k) {
            assert_true(tpLight_Choose(&lights[k], &heap->sweeper, INFINITY, 0.9, &heap->arena));
            lights[k].kernels = k == 0 ? &tp_plainLightKernels : wide;
            sweepSome(&lights[k]);
        }
        for (int k = 0; k < 2; ++k) {
            assert_memory_equal(lights[0].impulses, lights[1].impulses,
                                sizeof(float) * (size_t)lights[0].impulseCount);
            assert_memory_equal(lights[0].changes, lights[1].changes, sizeof(float) * 8 * bodies);
            tpLight_Refresh(&lights[0]);
            tpLight_Refresh(&lights[1]);
        }
        destroyHeap(heap);
    }
}

// One contact that is not round, or one pair with two, makes all of them ordinary ones.
static void otherContactsAreNotTakenForRound(void** state) {
    (void)state;
    for (int flaw = noFlaw; flaw <= ellipse; ++flaw) {
        Heap* heap = makeRoundHeap(3, (Flaw)flaw);
        tpLightSweeper light;
        assert_true(tpLight_Choose(&light, &heap->sweeper, INFINITY, 0.9, &heap->arena));
        assert_true((light.rounds != NULL) == (flaw == noFlaw));
        destroyHeap(heap);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contactsGoToTheNearestPointOfTheCone),
        cmocka_unit_test(velocitiesAreThoseOfTheImpulses),
        cmocka_unit_test(widthsGiveTheSameBits),
        cmocka_unit_test(otherContactsAreNotTakenForRound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
