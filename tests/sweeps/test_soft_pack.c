// Soft packs: the same bits at any width, and a certificate that agrees with that of the sweeper.

#include "soft_heap.h"

// Everything that a step does with its runs.
static void stepWith(SoftHeap* soft, const tpSoftKernels* kernels, tpLaneSums* sums) {
    const tpSoftSweep* sweep = &soft->sweep;
    memset(sums, 0, sizeof(*sums));
    for (int pass = 0; pass < 6; ++pass) {
        for (int i = 0; i < soft->store.order.count; ++i) {
            tpSoftRun* run = &soft->store.runs.data[soft->store.order.data[i]];
            switch (pass) {
            case 0:
                kernels->prepareRun(sweep, run);
                break;
            case 1:
            case 2:
                kernels->leadRun(sweep, run, pass == 1);
                kernels->settleRun(sweep, run, pass == 2);
                break;
            case 3:
                kernels->bounceRun(sweep, run);
                break;
            case 4:
                kernels->judgeRun(sweep, run, sums);
                kernels->ratioRun(sweep, run, 1e-9, 1e-9, sums);
                break;
            default:
                kernels->followRun(sweep, run);
            }
        }
    }
}

static void assertSameStores(const SoftHeap* a, const SoftHeap* b) {
    for (int r = 0; r < a->store.runs.count; ++r) {
        tpSoftRun p = a->store.runs.data[r], q = b->store.runs.data[r];
        assert_memory_equal(p.packs, q.packs, sizeof(tpSoftPack) * (size_t)p.room);
        if (p.torsions != NULL) {
            assert_memory_equal(p.torsions, q.torsions, sizeof(tpSoftTorsion) * (size_t)p.room);
        }
        p.packs = q.packs = NULL;
        p.torsions = q.torsions = NULL;
        assert_memory_equal(&p, &q, sizeof(p));
    }
    for (int k = 0; k < 2; ++k) {
        assert_memory_equal(a->lines[k], b->lines[k], sizeof(tpVelocity) * (bodies + 1));
    }
    assert_memory_equal(a->supports, b->supports, sizeof(tpSupport) * (bodies + 1));
}

static void widthsGiveTheSameBits(void** state) {
    (void)state;
    for (int width = 4; width <= 8; width *= 2) {
        const tpSoftKernels* kernels = tpGetSoftKernels(width);
        if (kernels == NULL) {
            print_message("this machine or build does not step %d contacts at once\n", width);
            continue;
        }
        for (uint64_t seed = 1; seed <= 12; ++seed) {
            Heap* heap = makeHeap(seed, seed > 6);
            SoftHeap *plain = makeSoftHeap(heap, seed), *other = makeSoftHeap(heap, seed);
            tpLaneSums sums[2];
            stepWith(plain, &tp_plainSoftKernels, &sums[0]);
            stepWith(other, kernels, &sums[1]);
            assert_memory_equal(&sums[0], &sums[1], sizeof(sums[0]));
            assertSameStores(plain, other);
            destroySoftHeap(plain);
            destroySoftHeap(other);
            destroyHeap(heap);
        }
    }
}

// Loads of all contacts, before the step puts responses into their place.
static void readLoads(const SoftHeap* soft, double* loads) {
    for (int m = 0; m < soft->slotCount; ++m) {
        int lane;
        const tpSoftRun* run = tpPackStore_Find(&soft->store, soft->slots[m], &lane);
        for (int k = 0; k < soft->counts[m]; ++k) {
            loads[soft->firsts[m] + k] = run->packs[k].load[lane];
        }
    }
}

// What a manifold carried in the last step: all loads along their normals. Points that cannot close
// have no response and do not count.
static tpVec3 carriedBy(const tpSoftRun* run, int lane, const double* loads, double* load,
                        int* bearers) {
    tpVec3 sum = tpZeroVec3();
    *load = *bearers = 0;
    for (int k = 0; k < run->points[lane]; ++k) {
        const tpSoftPack *pack = &run->packs[k], *frame = &run->packs[run->isFlat ? 0 : k];
        double part = pack->inverseNormal[lane] > 0.0 ? loads[k] : 0.0;
        sum = tpMulAdd(
            sum, part,
            tpMakeVec3(frame->normal[0][lane], frame->normal[1][lane], frame->normal[2][lane]));
        *load += part;
        *bearers += part > 0.0 ? 1 : 0;
    }
    return sum;
}

// A body is carried by the faces that push it most within 60 degrees of up; they have one normal
// and three points under load.
static void whatPushesUpCarries(void** state) {
    (void)state;
    int firmCount = 0, looseCount = 0;
    for (uint64_t seed = 1; seed <= 12; ++seed) {
        Heap* heap = makeHeap(seed, seed > 6);
        SoftHeap* soft = makeSoftHeap(heap, seed);
        double loads[mostContacts];
        readLoads(soft, loads);
        for (int i = 0; i < soft->store.order.count; ++i) {
            tpGetSoftKernels(1)->prepareRun(&soft->sweep,
                                            &soft->store.runs.data[soft->store.order.data[i]]);
        }
        const double* up = soft->sweep.up;
        double most[bodies + 1] = { 0 };
        int carrier[bodies + 1];
        memset(carrier, -1, sizeof(carrier));
        for (int m = 0; m < soft->slotCount; ++m) {
            int lane, bearers;
            const tpSoftRun* run = tpPackStore_Find(&soft->store, soft->slots[m], &lane);
            double load;
            tpVec3 sum = carriedBy(run, lane, loads + soft->firsts[m], &load, &bearers);
            double rise = tpDot(sum, tpMakeVec3(up[0], up[1], up[2]));
            bool isA = rise > 0.5 * load, isB = rise < -0.5 * load;
            int body = isA ? run->bodyA[lane] : run->bodyB[lane];
            if ((!isA && !isB) || soft->masses[body].inverseMass == 0.0) {
                continue;
            }
            bool isFirm = bearers >= 3 && tpLengthSquared(sum) > 0.999 * load * load;
            firmCount += isFirm ? 1 : 0;
            looseCount += isFirm ? 0 : 1;
            if (isFirm && load > most[body]) {
                most[body] = load;
                carrier[body] = isA ? run->bodyB[lane] : run->bodyA[lane];
            }
        }
        for (int i = 0; i < bodies; ++i) {
            CHECK_NEAR(soft->supports[i].load, most[i], 1e-6);
            assert_int_equal(soft->supports[i].carrier, carrier[i]);
        }
        destroySoftHeap(soft);
        destroyHeap(heap);
    }
    assert_true(firmCount > 20 && looseCount > 20);
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
    SoftHeap* soft[2] = { makeSoftHeap(heap, 6), makeSoftHeap(heap, 6) };
    for (int k = 0; k < 2; ++k) {
        tpLaneSums sums;
        for (int r = 0; r < soft[k]->store.runs.count; ++r) {
            soft[k]->store.runs.data[r].isRound = k == 1;
        }
        stepWith(soft[k], &tp_plainSoftKernels, &sums);
    }
    for (int i = 0; i < bodies; ++i) {
        tpVelocity a = soft[0]->lines[0][i], b = soft[1]->lines[0][i];
        assert_true(a.linear.x == b.linear.x && a.linear.y == b.linear.y &&
                    a.linear.z == b.linear.z && a.angular.x == b.angular.x &&
                    a.angular.y == b.angular.y && a.angular.z == b.angular.z);
    }
    destroySoftHeap(soft[0]);
    destroySoftHeap(soft[1]);
    destroyHeap(heap);
}

// Contacts of a heap and of its packs get the same impulses; velocities are those of the heap.
static void copyImpulses(const Heap* heap, SoftHeap* soft) {
    for (int m = 0; m < soft->slotCount; ++m) {
        int lane;
        tpSoftRun* run = tpPackStore_Find(&soft->store, soft->slots[m], &lane);
        for (int k = 0; k < soft->counts[m]; ++k) {
            int place;
            const tpContactPack* from =
                tpSweeper_PackOf(&heap->sweeper, soft->firsts[m] + k, &place);
            tpSoftPack* pack = &run->packs[k];
            pack->gap[lane] = -1e-6f;
            for (int i = 0; i < 3; ++i) {
                pack->impulse[i][lane] = from->impulse[i][place];
            }
            if (run->torsions != NULL && from->torsion >= 0) {
                run->torsions[k].impulse[lane] =
                    heap->sweeper.torsions[from->torsion].impulse[place];
            } else if (run->torsions != NULL) {
                run->torsions[k].impulse[lane] = 0.0;
            }
        }
        run->bounces = false;
    }
    memcpy(soft->lines[0], heap->velocities, sizeof(tpVelocity) * bodies);
    memcpy(soft->lines[5], heap->velocities, sizeof(tpVelocity) * bodies);
}

// The certificate of a soft sweep is that of sweeper_judge.c, but for the rounding of geometry to
// single precision.
static void certificateAgrees(bool isTorsional) {
    Heap* heap = makeHeap(3, isTorsional);
    tpSweeper* sweeper = &heap->sweeper;
    // Coefficients that single precision has: whether friction is at its limit is asked to the last
    // digit.
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
    SoftHeap* soft = makeSoftHeap(heap, 6);
    copyImpulses(heap, soft);
    soft->sweep.softness.fast = INFINITY; // none parts so fast that its impulses are forgotten
    tpLaneSums sums;
    memset(&sums, 0, sizeof(sums));
    const tpSoftKernels* kernels = &tp_plainSoftKernels;
    for (int i = 0; i < soft->store.order.count; ++i) {
        tpSoftRun* run = &soft->store.runs.data[soft->store.order.data[i]];
        kernels->prepareRun(&soft->sweep, run);
        kernels->judgeRun(&soft->sweep, run, &sums);
    }
    double squares = 0.0, freeSquares = 0.0, load = 0.0, speed = 0.0, dissipation = 0.0;
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        squares += sums.squares[lane];
        freeSquares += sums.freeSquares[lane];
        load = fmax(load, sums.load[lane]);
        speed = fmax(speed, sums.speed[lane]);
    }
    for (int i = 0; i < soft->store.order.count; ++i) {
        const tpSoftRun* run = &soft->store.runs.data[soft->store.order.data[i]];
        kernels->ratioRun(&soft->sweep, run, 1e-9 * load, fmax(1e-9, 1e-6 * speed), &sums);
    }
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        dissipation = fmax(dissipation, sums.dissipation[lane]);
    }
    CHECK_NEAR(sqrt(squares), verdict.velocity, 1e-6 * verdict.velocity);
    CHECK_NEAR(sqrt(freeSquares), free, 1e-6 * free);
    CHECK_NEAR(dissipation, verdict.dissipation, 1e-5);
    destroySoftHeap(soft);
    destroyHeap(heap);
}

static void certificatesAgree(void** state) {
    (void)state;
    certificateAgrees(false);
    certificateAgrees(true);
}

// A run with one manifold of a box on a floor, four points at its corners.
static tpSoftRun* makeBoxRun(tpPackStore* store, tpAllocator* allocator) {
    tpCreatePackStore(store, allocator);
    const int32_t blocks[3] = { 0, -1, -1 };
    assert_true(tpPackStore_Start(store, blocks, 3, 1));
    int32_t slot = tpPackStore_Add(store, 0, 1, 4, false);
    int lane;
    tpSoftRun* run = tpPackStore_Find(store, slot, &lane);
    assert_int_equal(lane, 0);
    for (int k = 0; k < 4; ++k) {
        tpSoftPack* pack = &run->packs[k];
        tpVec3 corner = tpMakeVec3(k % 2 - 0.5, k / 2 - 0.5, -0.5);
        storeColumn(pack->normal, 0, tpMakeVec3(0.0, 0.0, 1.0));
        storeColumn(pack->tangents[0], 0, tpMakeVec3(1.0, 0.0, 0.0));
        storeColumn(pack->tangents[1], 0, tpMakeVec3(0.0, 1.0, 0.0));
        storeColumn(pack->armA, 0, corner);
        storeColumn(pack->armB, 0, tpAdd(corner, tpMakeVec3(0.0, 0.0, 0.5)));
        pack->isPoint[0] = 1;
    }
    run->points[0] = 4;
    run->slack[0] = 0.1f;
    run->size[0] = 0.5f;
    tpSoftRun_Summarise(run);
    return run;
}

// Gaps of corners over a floor follow the body exactly, to second order of its turn; limits are
// spent as it slides.
static void manifoldsFollowTheirBodies(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpPackStore store;
    tpSoftRun* run = makeBoxRun(&store, &allocator);
    _Alignas(64) tpVelocity shifts[3], aheads[3];
    memset(shifts, 0, sizeof(shifts));
    memset(aheads, 0, sizeof(aheads));
    tpSoftSweep sweep = { .shifts = shifts,
                          .aheads = aheads,
                          .limits = { 0.02f, 0.02f, 1.0f, 80.0f, 1.0f } };
    tpVec3 turn = tpMakeVec3(0.003, -0.002, 0.001), way = tpMakeVec3(0.004, 0.001, 0.0005);
    tpPose pose = tpIdentityPose();
    pose.position.z = 0.5;
    for (int step = 0; step < 4; ++step) {
        shifts[0].linear = way;
        shifts[0].angular = turn;
        pose.position = tpAdd(pose.position, way);
        pose.rotation = tpMulQQ(tpQuatExp(turn), pose.rotation);
        for (int k = 0; k < 4; ++k) {
            run->packs[k].startGap[0] = run->packs[k].gap[0];
        }
        tp_plainSoftKernels.followRun(&sweep, run);
        for (int k = 0; k < 4; ++k) {
            tpVec3 corner = tpMakeVec3(k % 2 - 0.5, k / 2 - 0.5, -0.5);
            tpVec3 place = tpTransformPoint(pose, corner);
            CHECK_NEAR(run->packs[k].gap[0], place.z, 1e-7);
            CHECK_NEAR(run->packs[k].armA[0][0], place.x - pose.position.x, 1e-6);
            // The floor's point stays below the corner.
            CHECK_NEAR(run->packs[k].armB[0][0], place.x, 1e-6);
            CHECK_NEAR(run->packs[k].armB[1][0], place.y, 1e-6);
        }
        CHECK_NEAR(run->turn[0], (step + 1) * tpLength(turn), 1e-7);
        // It has slid by more than a fiftieth of its size after the second step.
        assert_int_equal(run->stale, step < 1 ? 0 : 1);
    }
    tpDestroyPackStore(&store);
}

// Points of a face stay where they are on it, below a side of the other body: `isFaceOfA` says
// whose. Their gaps are those of the side's plane, exactly, however far the two slide.
static void pointsStayOnTheFace(bool isFaceOfA) {
    tpAllocator allocator = tpDefaultAllocator();
    tpPackStore store;
    tpSoftRun* run = makeBoxRun(&store, &allocator);
    _Alignas(64) tpVelocity shifts[3], aheads[3];
    memset(shifts, 0, sizeof(shifts));
    memset(aheads, 0, sizeof(aheads));
    tpSoftSweep sweep = { .shifts = shifts,
                          .aheads = aheads,
                          .limits = { 1.0f, 1.0f, 1e-6f, 80.0f, 1.0f } };
    // The face is level, and its body at rest. The side is tilted, and its body (at z) moves.
    tpVec3 turn = tpMakeVec3(0.003, -0.002, 0.001), way = tpMakeVec3(0.004, 0.001, 0.0005);
    double up = isFaceOfA ? -1.0 : 1.0;
    tpPose pose = { { 0.0, 0.0, up }, tpQuatExp(tpMakeVec3(0.2, 0.1, 0.0)) };
    tpVec3 own = tpMakeVec3(0.0, 0.0, -up); // the side in its body: 0.9 from the centre
    storeColumn(run->incident, 0, tpRotate(pose.rotation, own));
    run->share[0] = isFaceOfA ? 1.0f : 0.0f;
    run->tilt[0] = -1.0f;
    for (int k = 0; k < 4; ++k) {
        tpVec3 onFace = tpMakeVec3(k % 2 - 0.5, k / 2 - 0.5, 0.0);
        tpVec3 n = tpRotate(pose.rotation, own);
        double height = (0.9 - tpDot(n, tpSub(onFace, pose.position))) / n.z;
        tpVec3 above = tpSub(tpAdd(onFace, tpMakeVec3(0.0, 0.0, height)), pose.position);
        storeColumn(run->packs[k].armA, 0, isFaceOfA ? onFace : above);
        storeColumn(run->packs[k].armB, 0, isFaceOfA ? above : onFace);
        run->packs[k].gap[0] = (float)(up * height);
        run->packs[k].isPoint[0] = 2;
    }
    for (int step = 0; step < 8; ++step) {
        int mover = isFaceOfA ? 1 : 0;
        shifts[mover].linear = way;
        shifts[mover].angular = turn;
        pose.position = tpAdd(pose.position, way);
        pose.rotation = tpMulQQ(tpQuatExp(turn), pose.rotation);
        for (int k = 0; k < 4; ++k) {
            run->packs[k].startGap[0] = run->packs[k].gap[0];
        }
        tp_plainSoftKernels.followRun(&sweep, run);
        tpVec3 n = tpRotate(pose.rotation, own);
        for (int k = 0; k < 4; ++k) {
            const tpSoftPack* pack = &run->packs[k];
            const float(*onFace)[tp_packWidth] = isFaceOfA ? pack->armA : pack->armB;
            CHECK_NEAR(onFace[0][0], k % 2 - 0.5, 1e-6);
            CHECK_NEAR(onFace[1][0], k / 2 - 0.5, 1e-6);
            tpVec3 place = tpMakeVec3(onFace[0][0], onFace[1][0], 0.0);
            double height = (0.9 - tpDot(n, tpSub(place, pose.position))) / n.z;
            CHECK_NEAR(pack->gap[0], up * height, 2e-6);
        }
        // Gaps that stay exact end no manifold.
        assert_int_equal(run->stale, 0);
    }
    tpDestroyPackStore(&store);
}

static void pointsOfFacesStay(void** state) {
    (void)state;
    pointsStayOnTheFace(false);
    pointsStayOnTheFace(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widthsGiveTheSameBits),      cmocka_unit_test(whatPushesUpCarries),
        cmocka_unit_test(roundBodiesMoveAlike),       cmocka_unit_test(certificatesAgree),
        cmocka_unit_test(manifoldsFollowTheirBodies), cmocka_unit_test(pointsOfFacesStay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
