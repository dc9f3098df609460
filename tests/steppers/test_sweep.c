// The sweep's layout and its wide twins: colours that share nothing, and the same bits at any width.

#include <string.h>

#include "steppers/bender_schmitt/sweep_wide.h"
#include "support/check.h"

enum { bodies = 300, mostContacts = 4000 };

// A heap of bodies: body 0 does not move, body 1 touches nearly all others, the rest their neighbours.
typedef struct Heap {
    tpSystem system; // of which the sweep asks nothing but whether it is planar
    tpArena arena;
    tpAllocator allocator;
    tpSweeper sweeper;
    tpPose poses[bodies];
    tpVelocity* velocities;
    tpContact contacts[mostContacts];
    tpContactLaw laws[mostContacts];
    int count;
} Heap;

static void addManifold(Heap* heap, tpRandom* random, int a, int b, int points, bool torsional) {
    tpVec3 normal = tpRotate(randomRotation(random), tpMakeVec3(0.0, 0.0, 1.0));
    for (int k = 0; k < points; ++k) {
        tpContact* contact = &heap->contacts[heap->count];
        memset(contact, 0, sizeof(*contact));
        contact->bodyA = a;
        contact->bodyB = b;
        contact->feature = (uint64_t)k;
        contact->normal = normal;
        contact->pointA = tpAdd(heap->poses[a].position, randomVec3(random, -0.5, 0.5));
        contact->pointB = contact->pointA;
        tpContactLaw* law = &heap->laws[heap->count++];
        memset(law, 0, sizeof(*law));
        law->mu = randomBetween(random, 0.0, 1.0);
        law->muStatic = law->mu + (k % 2 == 0 ? 0.2 : 0.0);
        law->ellipse[0] = 1.0;
        law->ellipse[1] = randomBetween(random, 0.5, 1.0);
        law->arm = torsional ? 0.01 : 0.0;
        tpMakeTangents(normal, &law->tangents[0], &law->tangents[1]);
    }
}

static void fillBodies(Heap* heap, tpRandom* random) {
    for (int i = 0; i < bodies; ++i) {
        tpSweepBody* body = &heap->sweeper.bodies[i];
        heap->poses[i] = tpMakePose(randomVec3(random, -0.3, 0.3), tpIdentityQuat());
        heap->velocities[i].linear = randomVec3(random, -1.0, 1.0);
        heap->velocities[i].angular = randomVec3(random, -1.0, 1.0);
        if (i == 0) {
            continue;
        }
        body->inverseMass = randomBetween(random, 0.5, 2.0);
        for (int k = 0; k < 6; ++k) {
            body->inverseInertia[k] =
                k < 3 ? randomBetween(random, 4.0, 8.0) : randomBetween(random, -1.0, 1.0);
        }
    }
}

static void prepare(Heap* heap) {
    assert_true(tpSweeper_AddContacts(&heap->sweeper, &heap->system, heap->poses, heap->contacts,
                                      heap->laws, heap->count, &heap->arena));
    heap->sweeper.velocities = heap->velocities;
}

static Heap* makeHeap(uint64_t seed, bool withTorsion) {
    tpAllocator allocator = tpDefaultAllocator();
    Heap* heap = tpAllocateZeroed(&allocator, sizeof(Heap));
    heap->allocator = allocator;
    tpArena_Create(&heap->arena, &heap->allocator);
    tpRandom random = { seed };
    heap->velocities = TP_SCRATCH_ZEROED(&heap->arena, tpVelocity, bodies);
    assert_true(tpSweeper_Create(&heap->sweeper, &heap->arena, bodies, mostContacts));
    fillBodies(heap, &random);
    for (int i = 1; i < bodies; ++i) {
        bool turns = withTorsion && i % 7 == 0;
        addManifold(heap, &random, 0, i, (int)(randomBits(&random) % 3), turns);
        if (i > 1 && i < 200) {
            addManifold(heap, &random, 1, i, 1 + (int)(randomBits(&random) % 4), false);
        }
        for (int k = 1; k < 4 && i + k * k < bodies; ++k) {
            addManifold(heap, &random, i, i + k * k, (int)(randomBits(&random) % 5), turns);
        }
    }
    prepare(heap);
    return heap;
}

static void destroyHeap(Heap* heap) {
    tpAllocator allocator = heap->allocator;
    tpArena_Destroy(&heap->arena);
    tpRelease(&allocator, heap, sizeof(Heap));
}

// Every contact has a place of its own, and no two manifolds of a colour share a moving body.
static void coloursShareNoBody(void** state) {
    (void)state;
    Heap* heap = makeHeap(11, true);
    const tpSweeper* sweeper = &heap->sweeper;
    int seen = 0;
    for (int c = 0; c < sweeper->colourCount; ++c) {
        int owner[bodies];
        memset(owner, -1, sizeof(owner));
        for (int r = sweeper->colours[c]; r < sweeper->colours[c + 1]; ++r) {
            for (int p = 0; p < sweeper->runs[r].count; ++p) {
                const tpContactPack* pack = &sweeper->packs[sweeper->runs[r].first + p];
                for (int lane = 0; lane < tp_packWidth; ++lane) {
                    int contact = pack->contact[lane];
                    if (contact < 0) {
                        continue;
                    }
                    ++seen;
                    int id = r * tp_packWidth + lane;
                    int both[2] = { heap->contacts[contact].bodyA, heap->contacts[contact].bodyB };
                    assert_int_equal(pack->bodyA[lane], both[0]);
                    assert_int_equal(pack->bodyB[lane], both[1]);
                    for (int k = 0; k < 2; ++k) {
                        bool isFree = both[k] == 0 || owner[both[k]] < 0 || owner[both[k]] == id;
                        assert_true(isFree);
                        owner[both[k]] = id;
                    }
                }
            }
        }
    }
    assert_int_equal(seen, heap->count);
    // Body 1 has more neighbours than there are colours in a mask.
    assert_true(sweeper->colourCount > 64);
    destroyHeap(heap);
}

// Starts, sweeps of either kind, bounces and speeds: everything that has a wide twin.
static void sweepWith(Heap* heap, const tpWideSweep* wide, int sweeps, double* changes) {
    tpSweeper* sweeper = &heap->sweeper;
    sweeper->wide = wide;
    for (int i = 0; i < heap->count; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(sweeper, i, &lane);
        pack->impulse[0][lane] = 0.01 * (i % 5);
        pack->impulse[1][lane] = 0.001 * (i % 3);
        pack->bias[0][lane] = i % 11 == 0 ? TP_SWEEP_OPEN : 0.05 * (i % 4 - 2);
        pack->low[lane] = i % 13 == 0 ? -0.02 : 0.0;
        pack->startGap[lane] = 1e-3 * (i % 7 - 3);
    }
    tpSweeper_WarmStart(sweeper);
    for (int k = 0; k < sweeps; ++k) {
        changes[k] = tpSweeper_Sweep(sweeper);
    }
    for (int r = 0; r < sweeper->runCount; ++r) {
        const tpPackRun* run = &sweeper->runs[r];
        if (sweeper->packs[run->first].torsion >= 0) {
            continue;
        }
        tpSoftness soft = { 240.0, 20.0, 0.1, 0.9, 0.1 };
        wide->respondRun(sweeper, run);
        wide->gapRun(sweeper, run);
        wide->softRun(sweeper, run, &soft, r % 2 == 0);
        wide->bounceRun(sweeper, run);
        wide->speedRun(sweeper, run);
    }
}

static void assertSameBits(const Heap* plain, const Heap* other) {
    for (int i = 0; i < bodies; ++i) {
        const tpVelocity *v = &plain->velocities[i], *w = &other->velocities[i];
        assert_memory_equal(&v->linear, &w->linear, sizeof(tpVec3));
        assert_memory_equal(&v->angular, &w->angular, sizeof(tpVec3));
    }
    for (int i = 0; i < plain->count; ++i) {
        int lane;
        const tpContactPack* p = tpSweeper_PackOf(&plain->sweeper, i, &lane);
        const tpContactPack* q = tpSweeper_PackOf(&other->sweeper, i, &lane);
        for (int k = 0; k < 3; ++k) {
            assert_memory_equal(&p->impulse[k][lane], &q->impulse[k][lane], sizeof(double));
            assert_memory_equal(&p->speed[k][lane], &q->speed[k][lane], sizeof(double));
            assert_memory_equal(&p->stick[k][lane], &q->stick[k][lane], sizeof(double));
        }
        for (int k = 0; k < 6; ++k) {
            assert_memory_equal(&p->response[k][lane], &q->response[k][lane], sizeof(double));
        }
        assert_memory_equal(&p->gap[lane], &q->gap[lane], sizeof(double));
    }
}

static void widthsGiveTheSameBits(void** state) {
    (void)state;
    enum { sweeps = 12 };
    for (int width = 4; width <= 8; width *= 2) {
        const tpWideSweep* wide = tpGetWideSweep(width);
        if (wide == NULL) {
            print_message("this machine or build does not sweep %d contacts at once\n", width);
            continue;
        }
        for (uint64_t seed = 1; seed <= 6; ++seed) {
            Heap* plain = makeHeap(seed, seed % 2 == 0);
            Heap* other = makeHeap(seed, seed % 2 == 0);
            double plainChanges[sweeps], changes[sweeps];
            sweepWith(plain, &tp_plainSweep, sweeps, plainChanges);
            sweepWith(other, wide, sweeps, changes);
            assert_memory_equal(plainChanges, changes, sizeof(changes));
            assertSameBits(plain, other);
            destroyHeap(plain);
            destroyHeap(other);
        }
    }
}

// The wide certificate is that of sweep_judge.c, at any width with the same bits.
static void certificatesAgree(void** state) {
    (void)state;
    Heap* heap = makeHeap(3, false);
    tpSweeper* sweeper = &heap->sweeper;
    for (int k = 0; k < 5; ++k) {
        tpSweeper_Sweep(sweeper);
    }
    tpSweepVerdict verdict = tpSweeper_Judge(sweeper);
    double free = tpSweeper_FreeSpeed(sweeper);
    tpLaneSums* sums = TP_SCRATCH(&heap->arena, tpLaneSums, 9);
    for (int width = 1; width <= 8; width *= 2) {
        const tpWideSweep* wide = tpGetWideSweep(width);
        if (wide == NULL) {
            continue;
        }
        tpLaneSums *judged = &sums[width], *empty = &sums[0];
        memset(judged, 0, sizeof(*judged));
        memset(empty, 0, sizeof(*empty));
        for (int r = 0; r < sweeper->runCount; ++r) {
            wide->judgeRun(sweeper, &sweeper->runs[r], judged);
            wide->freeRun(sweeper, &sweeper->runs[r], empty);
        }
        double squares = 0.0, freeSquares = 0.0, load = 0.0, speed = 0.0;
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            squares += judged->squares[lane];
            freeSquares += empty->squares[lane];
            load = fmax(load, judged->load[lane]);
            speed = fmax(speed, judged->speed[lane]);
        }
        for (int r = 0; r < sweeper->runCount; ++r) {
            wide->ratioRun(sweeper, &sweeper->runs[r], 1e-9 * load, fmax(1e-9, 1e-6 * speed),
                           judged);
        }
        double dissipation = 0.0;
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            dissipation = fmax(dissipation, judged->dissipation[lane]);
        }
        CHECK_NEAR(sqrt(squares), verdict.velocity, 1e-12 * verdict.velocity);
        CHECK_NEAR(sqrt(freeSquares), free, 1e-12 * free);
        CHECK_NEAR(dissipation, verdict.dissipation, 1e-12);
        assert_memory_equal(judged, &sums[1], sizeof(*judged));
    }
    destroyHeap(heap);
}

// The sweeps lead to the contact law, whatever the colours do to their order.
static void sweepsConverge(void** state) {
    (void)state;
    // At rest the ground holds everything; as large as friction may be, it has one coefficient.
    Heap* heap = makeHeap(5, false);
    memset(&heap->velocities[0], 0, sizeof(tpVelocity));
    for (int i = 0; i < heap->count; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(&heap->sweeper, i, &lane);
        pack->muStatic[lane] = pack->muDynamic[lane];
    }
    double free = tpSweeper_FreeSpeed(&heap->sweeper);
    for (int k = 0; k < 3000; ++k) {
        tpSweeper_Sweep(&heap->sweeper);
    }
    CHECK_BELOW(tpSweeper_Judge(&heap->sweeper).velocity, 1e-3 * free);
    destroyHeap(heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coloursShareNoBody),
        cmocka_unit_test(widthsGiveTheSameBits),
        cmocka_unit_test(certificatesAgree),
        cmocka_unit_test(sweepsConverge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
