// The sweep's layout and its wide twins: colours that share nothing, and the same bits at any width.

#include <string.h>

#include "steppers/bender_schmitt/brisk_pack.h"
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

// Starts, sweeps and speeds: everything that has a wide twin.
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
        wide->respondRun(sweeper, run);
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

// Steps in parts ----------------------------------------------------------------------------------

// The contacts of a heap without torsion as those of a step in parts. Some runs are flat.
typedef struct Parts {
    tpBriskSweep sweep;
    tpBriskRun* runs;
    tpVelocity* lines[4]; // velocities, moved, bases, means
    tpCarried* carried;
    tpLaneSums* sums;
    int packCount, runCount;
} Parts;

static void copyPack(const tpContactPack* from, const tpContactPack* framed, tpBriskPack* to) {
    memset(to, 0, sizeof(*to));
    memcpy(to->contact, from->contact, sizeof(to->contact));
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        int i = from->contact[lane];
        if (i < 0) {
            continue;
        }
        for (int k = 0; k < 3; ++k) {
            to->normal[k][lane] = (float)framed->normal[k][lane];
            to->tangents[0][k][lane] = (float)framed->tangents[0][k][lane];
            to->tangents[1][k][lane] = (float)framed->tangents[1][k][lane];
            to->armA[k][lane] = (float)from->armA[k][lane];
            to->armB[k][lane] = (float)from->armB[k][lane];
            to->impulse[k][lane] = from->impulse[k][lane];
        }
        to->muStatic[lane] = (float)framed->muStatic[lane];
        to->muDynamic[lane] = (float)framed->muDynamic[lane];
        to->startGap[lane] = 1e-3f * (float)(i % 7 - 3);
        to->bounce[lane] = i % 5 == 0 ? -0.5f : 0.0f;
    }
}

static Parts makeParts(Heap* heap, uint64_t seed) {
    tpSweeper* sweeper = &heap->sweeper;
    tpArena* arena = &heap->arena;
    Parts parts;
    memset(&parts, 0, sizeof(parts));
    parts.runs = TP_SCRATCH_ZEROED(arena, tpBriskRun, sweeper->runCount);
    parts.sweep.packs = TP_SCRATCH_ZEROED(arena, tpBriskPack, sweeper->packCount);
    parts.carried = TP_SCRATCH_ZEROED(arena, tpCarried, heap->count);
    parts.sums = TP_SCRATCH_ZEROED(arena, tpLaneSums, 1);
    parts.runCount = sweeper->runCount;
    parts.packCount = sweeper->packCount;
    for (int r = 0; r < sweeper->runCount; ++r) {
        tpPackRun from = sweeper->runs[r];
        const tpContactPack* first = &sweeper->packs[from.first];
        tpBriskRun* run = &parts.runs[r];
        *run = (tpBriskRun){ .first = from.first, .count = from.count, .lanes = tp_packWidth };
        run->isFlat = seed > 0 && r % 3 == 0;
        run->isRound = seed > 0 && r % 4 == 1;
        run->movesA = first->movesA;
        run->movesB = first->movesB;
        memcpy(run->bodyA, first->bodyA, sizeof(run->bodyA));
        memcpy(run->bodyB, first->bodyB, sizeof(run->bodyB));
        for (int k = 0; k < from.count; ++k) {
            copyPack(first + k, run->isFlat ? first : first + k,
                     &parts.sweep.packs[from.first + k]);
        }
    }
    tpRandom random = { seed };
    for (int k = 0; k < 4; ++k) {
        parts.lines[k] = TP_SCRATCH_ZEROED(arena, tpVelocity, bodies);
        for (int i = 0; i < bodies; ++i) {
            double size = k == 1 ? 1e-3 : 1.0;
            parts.lines[k][i].linear = randomVec3(&random, -size, size);
            parts.lines[k][i].angular = randomVec3(&random, -size, size);
        }
    }
    parts.sweep.masses = sweeper->bodies;
    parts.sweep.velocities = parts.lines[0];
    parts.sweep.moved = parts.lines[1];
    parts.sweep.bases = parts.lines[2];
    parts.sweep.means = parts.lines[3];
    parts.sweep.softness = (tpSoftness){ 240.0, 20.0, 0.1, 0.9, 0.1 };
    return parts;
}

// Everything that a step does with its runs. Returns how many contacts carried something.
static int stepWith(const Parts* parts, const tpWideBrisk* wide) {
    int carried = 0;
    for (int pass = 0; pass < 7; ++pass) {
        for (int r = 0; r < parts->runCount; ++r) {
            const tpBriskSweep* sweep = &parts->sweep;
            const tpBriskRun* run = &parts->runs[r];
            switch (pass) {
            case 0:
                wide->respondRun(sweep, run);
                wide->startRun(sweep, run);
                break;
            case 1:
            case 2:
                wide->leadRun(sweep, run, pass == 1);
                wide->settleRun(sweep, run, pass == 2);
                break;
            case 3:
                wide->bounceRun(sweep, run);
                break;
            case 4:
                wide->judgeRun(sweep, run, parts->sums);
                break;
            case 5:
                wide->ratioRun(sweep, run, 1e-9, 1e-9, parts->sums);
                break;
            default:
                carried += wide->carryRun(sweep, run, parts->carried);
            }
        }
    }
    return carried;
}

static void partsGiveTheSameBits(void** state) {
    (void)state;
    for (int width = 4; width <= 8; width *= 2) {
        const tpWideBrisk* wide = tpGetWideBrisk(width);
        if (wide == NULL) {
            print_message("this machine or build does not step %d contacts at once\n", width);
            continue;
        }
        for (uint64_t seed = 1; seed <= 4; ++seed) {
            Heap* heap = makeHeap(seed, false);
            Parts plain = makeParts(heap, seed), other = makeParts(heap, seed);
            int carried = stepWith(&plain, &tp_plainBrisk);
            assert_true(carried > heap->count / 10);
            assert_int_equal(stepWith(&other, wide), carried);
            size_t packs = sizeof(tpBriskPack) * (size_t)plain.packCount;
            assert_memory_equal(plain.sweep.packs, other.sweep.packs, packs);
            assert_memory_equal(plain.lines[0], other.lines[0], sizeof(tpVelocity) * bodies);
            assert_memory_equal(plain.carried, other.carried,
                                sizeof(tpCarried) * (size_t)heap->count);
            assert_memory_equal(plain.sums, other.sums, sizeof(tpLaneSums));
            destroyHeap(heap);
        }
    }
}

// Eight contacts, some lanes empty, as what a pack is filled from.
static void makeSource(tpRandom* random, tpContact* contacts, tpPackSource* source) {
    memset(source, 0, sizeof(*source));
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        tpContact* c = &contacts[lane];
        memset(c, 0, sizeof(*c));
        // Some lie on a table, where tangents are found another way.
        c->normal = lane % 3 == 0 ? tpMakeVec3(0.0, 0.0, 1.0)
                                  : tpRotate(randomRotation(random), tpMakeVec3(1.0, 0.0, 0.0));
        c->gap = randomBetween(random, -0.01, 0.01);
        c->pointB = randomVec3(random, -1.0, 1.0);
        c->pointA = tpMulAdd(c->pointB, c->gap, c->normal);
        source->contacts[lane] = &c->pointA.x;
        source->numbers[lane] = lane % 4 == 3 ? -1 : 7 * lane;
        for (int k = 0; k < 3; ++k) {
            source->centerA[k][lane] = randomBetween(random, -1.0, 1.0);
            source->centerB[k][lane] = randomBetween(random, -1.0, 1.0);
            source->impulse[k][lane] = lane % 4 == 3 ? 0.0 : randomBetween(random, -1.0, 1.0);
        }
        source->ellipse[0][lane] = source->ellipse[1][lane] = 1.0;
        source->muDynamic[lane] = lane % 5 == 0 ? 0.0 : randomBetween(random, 0.1, 1.0);
        source->muStatic[lane] = 1.5 * source->muDynamic[lane];
        source->restitution[lane] = lane % 2 == 0 ? 0.0 : 0.5;
    }
    source->isFramed = source->bounces = true;
    source->threshold = 0.1;
}

// Packs are the same whichever width fills them; their tangents are level, or along x on a table.
static void fillsGiveTheSameBits(void** state) {
    (void)state;
    tpRandom random = { 71 };
    Heap* heap = makeHeap(2, false);
    for (int round = 0; round < 50; ++round) {
        tpContact contacts[tp_packWidth];
        tpPackSource plain, other;
        makeSource(&random, contacts, &plain);
        plain.starts = heap->velocities;
        tpBriskRun run = { .lanes = tp_packWidth };
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            run.bodyA[lane] = 1 + 2 * lane;
            run.bodyB[lane] = 2 + 2 * lane;
        }
        other = plain;
        tpBriskPack packs[2];
        memset(packs, 0, sizeof(packs));
        bool bounces = tp_plainBrisk.fillPack(&run, &plain, &packs[0]);
        for (int width = 4; width <= 8; width *= 2) {
            const tpWideBrisk* wide = tpGetWideBrisk(width);
            if (wide != NULL) {
                assert_int_equal(wide->fillPack(&run, &other, &packs[1]), bounces);
                assert_memory_equal(&packs[0], &packs[1], sizeof(packs[0]));
            }
        }
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            const tpContact* c = &contacts[lane];
            tpVec3 t = tpMakeVec3(plain.tangents[0][0][lane], plain.tangents[0][1][lane],
                                  plain.tangents[0][2][lane]);
            tpVec3 o = tpMakeVec3(plain.tangents[1][0][lane], plain.tangents[1][1][lane],
                                  plain.tangents[1][2][lane]);
            CHECK_NEAR(tpLength(t), 1.0, 1e-14);
            CHECK_VEC3(tpCross(c->normal, t), o, 1e-14);
            CHECK_NEAR(tpDot(t, c->normal), 0.0, 1e-14);
            assert_true(lane % 3 == 0 ? t.x == 1.0 : t.z == 0.0);
            tpVec3 impulse =
                tpMakeVec3(plain.impulse[0][lane], plain.impulse[1][lane], plain.impulse[2][lane]);
            CHECK_NEAR(packs[0].impulse[0][lane], fmax(0.0, tpDot(impulse, c->normal)), 1e-14);
            CHECK_NEAR(packs[0].startGap[lane], c->gap, 1e-9);
            CHECK_NEAR(packs[0].armA[0][lane], c->pointA.x - plain.centerA[0][lane], 1e-6);
            assert_true(packs[0].contact[lane] >= 0 || packs[0].bounce[lane] == 0.0f);
        }
    }
    destroyHeap(heap);
}

// Runs of round bodies are swept the short way, with the same numbers.
static void roundBodiesMoveAlike(void** state) {
    (void)state;
    Heap* heap = makeHeap(6, false);
    for (int i = 0; i < bodies; ++i) {
        double* j = heap->sweeper.bodies[i].inverseInertia;
        j[1] = j[2] = j[0];
        j[3] = j[4] = j[5] = 0.0;
    }
    Parts parts[2] = { makeParts(heap, 6), makeParts(heap, 6) };
    for (int k = 0; k < 2; ++k) {
        for (int r = 0; r < parts[k].runCount; ++r) {
            parts[k].runs[r].isRound = k == 1;
        }
        stepWith(&parts[k], &tp_plainBrisk);
    }
    for (int i = 0; i < bodies; ++i) {
        tpVelocity a = parts[0].sweep.velocities[i], b = parts[1].sweep.velocities[i];
        assert_true(a.linear.x == b.linear.x && a.linear.y == b.linear.y &&
                    a.linear.z == b.linear.z && a.angular.x == b.angular.x &&
                    a.angular.y == b.angular.y && a.angular.z == b.angular.z);
    }
    destroyHeap(heap);
}

// The certificate of a step in parts is that of sweep_judge.c, but for the rounding of geometry to single
// precision.
static void certificatesAgree(void** state) {
    (void)state;
    Heap* heap = makeHeap(3, false);
    tpSweeper* sweeper = &heap->sweeper;
    // Coefficients that single precision has: whether friction is at its limit is asked to the last digit.
    for (int i = 0; i < heap->count; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(sweeper, i, &lane);
        pack->muStatic[lane] = (float)pack->muStatic[lane];
        pack->muDynamic[lane] = (float)pack->muDynamic[lane];
    }
    for (int k = 0; k < 5; ++k) {
        tpSweeper_Sweep(sweeper);
    }
    tpSweepVerdict verdict = tpSweeper_Judge(sweeper);
    double free = tpSweeper_FreeSpeed(sweeper);
    Parts parts = makeParts(heap, 0);
    parts.sweep.velocities = heap->velocities;
    parts.sweep.bases = heap->velocities;
    tpLaneSums* sums = parts.sums;
    for (int p = 0; p < parts.packCount; ++p) {
        memset(parts.sweep.packs[p].bounce, 0, sizeof(parts.sweep.packs[p].bounce));
    }
    for (int r = 0; r < parts.runCount; ++r) {
        tp_plainBrisk.respondRun(&parts.sweep, &parts.runs[r]);
        tp_plainBrisk.judgeRun(&parts.sweep, &parts.runs[r], sums);
    }
    double squares = 0.0, freeSquares = 0.0, load = 0.0, speed = 0.0, dissipation = 0.0;
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        squares += sums->squares[lane];
        freeSquares += sums->freeSquares[lane];
        load = fmax(load, sums->load[lane]);
        speed = fmax(speed, sums->speed[lane]);
    }
    for (int r = 0; r < parts.runCount; ++r) {
        tp_plainBrisk.ratioRun(&parts.sweep, &parts.runs[r], 1e-9 * load, fmax(1e-9, 1e-6 * speed),
                               sums);
    }
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        dissipation = fmax(dissipation, sums->dissipation[lane]);
    }
    CHECK_NEAR(sqrt(squares), verdict.velocity, 1e-6 * verdict.velocity);
    CHECK_NEAR(sqrt(freeSquares), free, 1e-6 * free);
    CHECK_NEAR(dissipation, verdict.dissipation, 1e-5);
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
        cmocka_unit_test(coloursShareNoBody),   cmocka_unit_test(widthsGiveTheSameBits),
        cmocka_unit_test(partsGiveTheSameBits), cmocka_unit_test(fillsGiveTheSameBits),
        cmocka_unit_test(roundBodiesMoveAlike), cmocka_unit_test(certificatesAgree),
        cmocka_unit_test(sweepsConverge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
