// Soft packs: the same bits at any width, filled and swept, and a certificate that agrees with that of the sweeper.

#include "heap.h"
#include "sweeps/soft_pack.h"

// The contacts of a heap without torsion as soft packs. Some runs are flat.
typedef struct Parts {
    tpSoftSweep sweep;
    tpSoftRun* runs;
    tpVelocity* lines[4]; // velocities, moved, bases, means
    tpCarried* carried;
    tpLaneSums* sums;
    int packCount, runCount;
} Parts;

static void copyPack(const tpContactPack* from, const tpContactPack* framed, tpSoftPack* to) {
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
    parts.runs = TP_SCRATCH_ZEROED(arena, tpSoftRun, sweeper->runCount);
    parts.sweep.packs = TP_SCRATCH_ZEROED(arena, tpSoftPack, sweeper->packCount);
    parts.carried = TP_SCRATCH_ZEROED(arena, tpCarried, heap->count);
    parts.sums = TP_SCRATCH_ZEROED(arena, tpLaneSums, 1);
    parts.runCount = sweeper->runCount;
    parts.packCount = sweeper->packCount;
    for (int r = 0; r < sweeper->runCount; ++r) {
        tpPackRun from = sweeper->runs[r];
        const tpContactPack* first = &sweeper->packs[from.first];
        tpSoftRun* run = &parts.runs[r];
        *run = (tpSoftRun){ .first = from.first, .count = from.count, .lanes = tp_packWidth };
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
static int stepWith(const Parts* parts, const tpSoftKernels* wide) {
    int carried = 0;
    for (int pass = 0; pass < 7; ++pass) {
        for (int r = 0; r < parts->runCount; ++r) {
            const tpSoftSweep* sweep = &parts->sweep;
            const tpSoftRun* run = &parts->runs[r];
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

static void widthsGiveTheSameBits(void** state) {
    (void)state;
    for (int width = 4; width <= 8; width *= 2) {
        const tpSoftKernels* wide = tpGetSoftKernels(width);
        if (wide == NULL) {
            print_message("this machine or build does not step %d contacts at once\n", width);
            continue;
        }
        for (uint64_t seed = 1; seed <= 4; ++seed) {
            Heap* heap = makeHeap(seed, false);
            Parts plain = makeParts(heap, seed), other = makeParts(heap, seed);
            int carried = stepWith(&plain, &tp_plainSoftKernels);
            assert_true(carried > heap->count / 10);
            assert_int_equal(stepWith(&other, wide), carried);
            size_t packs = sizeof(tpSoftPack) * (size_t)plain.packCount;
            assert_memory_equal(plain.sweep.packs, other.sweep.packs, packs);
            assert_memory_equal(plain.lines[0], other.lines[0], sizeof(tpVelocity) * bodies);
            assert_memory_equal(plain.carried, other.carried,
                                sizeof(tpCarried) * (size_t)heap->count);
            assert_memory_equal(plain.sums, other.sums, sizeof(tpLaneSums));
            destroyHeap(heap);
        }
    }
}

// What is read of a contact: ten numbers.
typedef struct Point {
    tpVec3 pointA, pointB, normal;
    double gap;
} Point;

// Eight contacts, some lanes empty, as what a pack is filled from.
static void makeSource(tpRandom* random, Point* contacts, tpPackSource* source) {
    memset(source, 0, sizeof(*source));
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        Point* c = &contacts[lane];
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
        Point contacts[tp_packWidth];
        tpPackSource plain, other;
        makeSource(&random, contacts, &plain);
        plain.starts = heap->velocities;
        tpSoftRun run = { .lanes = tp_packWidth };
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            run.bodyA[lane] = 1 + 2 * lane;
            run.bodyB[lane] = 2 + 2 * lane;
        }
        other = plain;
        tpSoftPack packs[2];
        memset(packs, 0, sizeof(packs));
        bool bounces = tp_plainSoftKernels.fillPack(&run, &plain, &packs[0]);
        for (int width = 4; width <= 8; width *= 2) {
            const tpSoftKernels* wide = tpGetSoftKernels(width);
            if (wide != NULL) {
                assert_int_equal(wide->fillPack(&run, &other, &packs[1]), bounces);
                assert_memory_equal(&packs[0], &packs[1], sizeof(packs[0]));
            }
        }
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            const Point* c = &contacts[lane];
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
        stepWith(&parts[k], &tp_plainSoftKernels);
    }
    for (int i = 0; i < bodies; ++i) {
        tpVelocity a = parts[0].sweep.velocities[i], b = parts[1].sweep.velocities[i];
        assert_true(a.linear.x == b.linear.x && a.linear.y == b.linear.y &&
                    a.linear.z == b.linear.z && a.angular.x == b.angular.x &&
                    a.angular.y == b.angular.y && a.angular.z == b.angular.z);
    }
    destroyHeap(heap);
}

// The certificate of a soft sweep is that of sweeper_judge.c, but for the rounding of geometry to single
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
        tp_plainSoftKernels.respondRun(&parts.sweep, &parts.runs[r]);
        tp_plainSoftKernels.judgeRun(&parts.sweep, &parts.runs[r], sums);
    }
    double squares = 0.0, freeSquares = 0.0, load = 0.0, speed = 0.0, dissipation = 0.0;
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        squares += sums->squares[lane];
        freeSquares += sums->freeSquares[lane];
        load = fmax(load, sums->load[lane]);
        speed = fmax(speed, sums->speed[lane]);
    }
    for (int r = 0; r < parts.runCount; ++r) {
        tp_plainSoftKernels.ratioRun(&parts.sweep, &parts.runs[r], 1e-9 * load,
                                     fmax(1e-9, 1e-6 * speed), sums);
    }
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        dissipation = fmax(dissipation, sums->dissipation[lane]);
    }
    CHECK_NEAR(sqrt(squares), verdict.velocity, 1e-6 * verdict.velocity);
    CHECK_NEAR(sqrt(freeSquares), free, 1e-6 * free);
    CHECK_NEAR(dissipation, verdict.dissipation, 1e-5);
    destroyHeap(heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widthsGiveTheSameBits),
        cmocka_unit_test(fillsGiveTheSameBits),
        cmocka_unit_test(roundBodiesMoveAlike),
        cmocka_unit_test(certificatesAgree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
