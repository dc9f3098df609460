// Passes over the packs of a tree, W nodes at once, on top of math/lanes.h: the operations of
// joint_tree.c in their order.

// `parts` are the lanes of one number after the other.
static inline void loadLanes(const double* parts, int lane, int count, wide* to) {
    for (int k = 0; k < count; ++k) {
        to[k] = loadWide(&parts[tp_treePackWidth * k + lane]);
    }
}

static inline void storeLanes(double* parts, int lane, int count, const wide* from) {
    for (int k = 0; k < count; ++k) {
        storeWide(&parts[tp_treePackWidth * k + lane], from[k]);
    }
}

static inline wide dotSixes(const wide* a, const wide* b) {
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

// Momenta of velocities: I has the 21 numbers of a tpSpatialInertia.
static inline void multiplyWide(const wide* I, const wide* v, wide* p) {
    const wide *A = I, *B = I + 6, *C = I + 15;
    p[0] = A[0] * v[0] + A[3] * v[1] + A[4] * v[2] + B[0] * v[3] + B[1] * v[4] + B[2] * v[5];
    p[1] = A[3] * v[0] + A[1] * v[1] + A[5] * v[2] + B[3] * v[3] + B[4] * v[4] + B[5] * v[5];
    p[2] = A[4] * v[0] + A[5] * v[1] + A[2] * v[2] + B[6] * v[3] + B[7] * v[4] + B[8] * v[5];
    p[3] = B[0] * v[0] + B[3] * v[1] + B[6] * v[2] + C[0] * v[3] + C[3] * v[4] + C[4] * v[5];
    p[4] = B[1] * v[0] + B[4] * v[1] + B[7] * v[2] + C[3] * v[3] + C[1] * v[4] + C[5] * v[5];
    p[5] = B[2] * v[0] + B[5] * v[1] + B[8] * v[2] + C[4] * v[3] + C[5] * v[4] + C[2] * v[5];
}

// The same of the lanes of an inertia in memory.
static inline void multiplyLanes(const double (*I)[tp_treePackWidth], int lane, const wide* v,
                                 wide* p) {
    const double(*B)[tp_treePackWidth] = I + 6, (*C)[tp_treePackWidth] = I + 15;
#define OF(x) loadWide(&(x)[lane])
    p[0] = OF(I[0]) * v[0] + OF(I[3]) * v[1] + OF(I[4]) * v[2] + OF(B[0]) * v[3] + OF(B[1]) * v[4] +
           OF(B[2]) * v[5];
    p[1] = OF(I[3]) * v[0] + OF(I[1]) * v[1] + OF(I[5]) * v[2] + OF(B[3]) * v[3] + OF(B[4]) * v[4] +
           OF(B[5]) * v[5];
    p[2] = OF(I[4]) * v[0] + OF(I[5]) * v[1] + OF(I[2]) * v[2] + OF(B[6]) * v[3] + OF(B[7]) * v[4] +
           OF(B[8]) * v[5];
    p[3] = OF(B[0]) * v[0] + OF(B[3]) * v[1] + OF(B[6]) * v[2] + OF(C[0]) * v[3] + OF(C[3]) * v[4] +
           OF(C[4]) * v[5];
    p[4] = OF(B[1]) * v[0] + OF(B[4]) * v[1] + OF(B[7]) * v[2] + OF(C[3]) * v[3] + OF(C[1]) * v[4] +
           OF(C[5]) * v[5];
    p[5] = OF(B[2]) * v[0] + OF(B[5]) * v[1] + OF(B[8]) * v[2] + OF(C[4]) * v[3] + OF(C[5]) * v[4] +
           OF(C[2]) * v[5];
#undef OF
}

// I -= U U' / d
static inline void subtractSquareWide(wide* I, const wide* U, wide inverse) {
    wide *A = I, *B = I + 6, *C = I + 15, x[6];
    for (int k = 0; k < 6; ++k) {
        x[k] = inverse * U[k];
    }
    A[0] -= x[0] * U[0];
    A[1] -= x[1] * U[1];
    A[2] -= x[2] * U[2];
    A[3] -= x[0] * U[1];
    A[4] -= x[0] * U[2];
    A[5] -= x[1] * U[2];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            B[3 * i + j] -= x[i] * U[3 + j];
        }
    }
    C[0] -= x[3] * U[3];
    C[1] -= x[4] * U[4];
    C[2] -= x[5] * U[5];
    C[3] -= x[3] * U[4];
    C[4] -= x[3] * U[5];
    C[5] -= x[4] * U[5];
}

// The same inertia at the parent's centre: moveInertia has the formulas.
static inline void moveInertiaWide(const wide* I, const wide* r, wide* to) {
    const wide *A = I, *B = I + 6, *C = I + 15;
    wide *G = to + 6, *D = to + 15;
    wide x = r[0], y = r[1], z = r[2];
    memcpy(to, A, 6 * sizeof(wide));
    G[0] = B[0] - (A[3] * z - A[4] * y);
    G[1] = B[1] - (A[4] * x - A[0] * z);
    G[2] = B[2] - (A[0] * y - A[3] * x);
    G[3] = B[3] - (A[1] * z - A[5] * y);
    G[4] = B[4] - (A[5] * x - A[3] * z);
    G[5] = B[5] - (A[3] * y - A[1] * x);
    G[6] = B[6] - (A[5] * z - A[2] * y);
    G[7] = B[7] - (A[2] * x - A[4] * z);
    G[8] = B[8] - (A[4] * y - A[5] * x);
    D[0] = C[0] - (B[3] * z - B[6] * y) + (y * G[6] - z * G[3]);
    D[1] = C[1] - (B[7] * x - B[1] * z) + (z * G[1] - x * G[7]);
    D[2] = C[2] - (B[2] * y - B[5] * x) + (x * G[5] - y * G[2]);
    D[3] = C[3] - (B[6] * x - B[0] * z) + (y * G[7] - z * G[4]);
    D[4] = C[4] - (B[0] * y - B[3] * x) + (y * G[8] - z * G[5]);
    D[5] = C[5] - (B[1] * y - B[4] * x) + (z * G[2] - x * G[8]);
}

// Factors -----------------------------------------------------------------------------------------

enum { inertiaNumbers = 21 };
_Static_assert(sizeof(tpSpatialInertia) == inertiaNumbers * sizeof(double), "a row of numbers");

// What all beyond a node show to its joint: of one child what that lends, of several their sum.
// Three numbers behind it may be read.
static inline const double* sumLent(const tpJointTree* tree, int i, double* sum) {
    static const double none[24] = { 0.0 };
    const tpJointNode* node = &tree->nodes[i];
    if (node->child < 0) {
        return none;
    }
    const tpJointNode* first = &tree->nodes[node->child];
    if (first->sibling < 0) {
        return first->lent.mass;
    }
    const double *own = first->lent.mass, *more = tree->nodes[first->sibling].lent.mass;
    for (int k = 0; k < inertiaNumbers; ++k) {
        sum[k] = own[k] + more[k];
    }
    for (int c = tree->nodes[first->sibling].sibling; c >= 0; c = tree->nodes[c].sibling) {
        more = tree->nodes[c].lent.mass;
        for (int k = 0; k < inertiaNumbers; ++k) {
            sum[k] += more[k];
        }
    }
    sum[21] = sum[22] = sum[23] = 0.0;
    return sum;
}

_Static_assert(offsetof(tpJointAxis, shown) == 6 * sizeof(double) &&
                   offsetof(tpJointAxis, inverse) == 12 * sizeof(double) &&
                   offsetof(tpJointAxis, stiffness) == 13 * sizeof(double),
               "an axis is a row of numbers");

// Eliminates the axis of that place in each node's joint.
static inline void eliminateAxes(const tpTreePack* pack, int lane, int count, int place, wide* I) {
    double* rows[W];
    for (int k = 0; k < W; ++k) {
        rows[k] = pack->axes[lane + k][place].motion;
    }
    tpTreePackAxis* axis = &pack->own[place];
    wide s[6], rest[4], U[6], own = wideOf(0.0);
    loadSixes((const double* const*)rows, s);
    loadFours((const double* const*)rows, 10, rest);
    multiplyWide(I, s, U);
    for (int k = 0; k < 6; ++k) {
        own += wideAbs(s[k] * U[k]);
    }
    wide d = dotSixes(s, U) + rest[3];
    wide inverse =
        wideSelect(wideGreater(d, wideOf(tp_leastPivot) * own), wideOf(1.0) / d, wideOf(0.0));
    subtractSquareWide(I, U, inverse);
    storeLanes(axis->motion[0], lane, 6, s);
    storeLanes(axis->shown[0], lane, 6, U);
    storeWide(&axis->inverse[lane], inverse);
    const wide last[4] = { U[4], U[5], inverse, rest[3] };
    storeFours(rows, 6, count, U);
    storeFours(rows, 10, count, last);
}

static inline void storeInertias(tpJointTree* tree, const tpTreePack* pack, int lane, int count,
                                 const wide* I) {
    double *rows[W], last[W];
    for (int k = 0; k < W; ++k) {
        rows[k] = tree->nodes[pack->nodes[lane + k]].lent.mass;
    }
    for (int k = 0; k < 20; k += 4) {
        storeFours(rows, k, count, I + k);
    }
    memcpy(last, &I[20], sizeof(wide));
    for (int k = 0; k < count; ++k) {
        rows[k][20] = last[k];
    }
}

static inline void factoriseLanes(tpJointTree* tree, tpTreePack* pack, int lane, int count) {
    double sums[W][24];
    const double *rows[W], *arms[W], *masses[W], *inertias[W];
    // With as many lanes as a pack has the numbers stay where they are kept.
    wide room[24], moved[inertiaNumbers], arm[4], inertia[6], *I = room;
    if ((int)W == (int)tp_treePackWidth) {
        I = (wide*)(void*)pack->left;
    }
    for (int k = 0; k < W; ++k) {
        const tpJointNode* node = &tree->nodes[pack->nodes[lane + k]];
        rows[k] = k < count ? sumLent(tree, pack->nodes[lane + k], sums[k]) : rows[0];
        arms[k] = node->arm;
        masses[k] = &node->mass;
        inertias[k] = node->inertia;
    }
    for (int k = 0; k < 20; k += 4) {
        loadFours(rows, k, I + k);
    }
    loadFours(rows, 20, arm);
    I[20] = arm[0];
    wide mass = gatherWide(masses);
    loadSixes(inertias, inertia);
    for (int k = 0; k < 3; ++k) {
        I[k] += mass;
    }
    for (int k = 0; k < 6; ++k) {
        I[15 + k] += inertia[k];
    }
    loadFours(arms, 0, arm); // and the mass, which is not asked for
    storeLanes(pack->arm[0], lane, 3, arm);
    for (int place = pack->axisCount - 1; place >= 0; --place) {
        eliminateAxes(pack, lane, count, place, I);
    }
    if ((int)W < (int)tp_treePackWidth) {
        storeLanes(pack->left[0], lane, inertiaNumbers, I);
    }
    moveInertiaWide(I, arm, moved);
    storeInertias(tree, pack, lane, count, moved);
}

static void factorisePacks(tpJointTree* tree) {
    for (int p = 0; p < tree->packCount; ++p) {
        tpTreePack* pack = &tree->packs[p];
        bool isDirty = false;
        for (int k = 0; k < pack->count; ++k) {
            tpJointNode* node = &tree->nodes[pack->nodes[k]];
            isDirty = isDirty || node->isDirty;
            tree->nodes[node->parent].isDirty = tree->nodes[node->parent].isDirty || node->isDirty;
            node->isDirty = false;
        }
        for (int lane = 0; isDirty && lane < pack->count; lane += W) {
            factoriseLanes(tree, pack, lane, pack->count - lane < W ? pack->count - lane : W);
        }
    }
}

// Passes ------------------------------------------------------------------------------------------

// Eliminates the axes of W nodes with the impulses p, which get to be what is left for the parents.
// Axes have impulses of their own if they are pushed.
static inline void takeAxesWide(const tpTreePack* pack, int lane, int count, bool isPushed,
                                wide* p) {
    for (int place = pack->axisCount - 1; place >= 0; --place) {
        const tpTreePackAxis* axis = &pack->own[place];
        wide s[6], U[6], own = wideOf(0.0);
        loadLanes(axis->motion[0], lane, 6, s);
        loadLanes(axis->shown[0], lane, 6, U);
        if (isPushed) {
            const double* pushes[W];
            for (int k = 0; k < W; ++k) {
                pushes[k] = &pack->axes[lane + k][place].push;
            }
            own = gatherWide(pushes);
        }
        wide push = loadWide(&axis->inverse[lane]) * (own + dotSixes(s, p));
        for (int k = 0; k < 6; ++k) {
            p[k] = p[k] - push * U[k];
        }
        double kept[W];
        memcpy(kept, &push, sizeof(push));
        for (int k = 0; k < count; ++k) {
            pack->axes[lane + k][place].push = kept[k];
        }
    }
}

// Hands what is left on to the parents, about their centres.
static inline void handDownTo(double* impulses, const tpTreePack* pack, int lane, unsigned mask,
                              const wide* p) {
    double* rows[W];
    for (int k = 0; k < W; ++k) {
        rows[k] = impulses + pack->parentAt[lane + k];
    }
    wide x = loadWide(&pack->arm[0][lane]), y = loadWide(&pack->arm[1][lane]),
         z = loadWide(&pack->arm[2][lane]);
    const wide moved[6] = { p[0],
                            p[1],
                            p[2],
                            p[3] + (y * p[2] - z * p[1]),
                            p[4] + (z * p[0] - x * p[2]),
                            p[5] + (x * p[1] - y * p[0]) };
    addSixes(rows, mask, moved);
}

static inline void rowsOf(const double* numbers, const int32_t* at, const double** rows) {
    for (int k = 0; k < W; ++k) {
        rows[k] = numbers + at[k];
    }
}

static void goDownPacks(tpJointTree* tree, const double* jumps) {
    for (int n = 0; n < tree->packCount; ++n) {
        const tpTreePack* pack = &tree->packs[n];
        for (int lane = 0; lane < pack->count; lane += W) {
            int count = pack->count - lane < W ? pack->count - lane : W;
            const double* rows[W];
            wide p[6];
            rowsOf(tree->impulses, pack->at + lane, rows);
            loadSixes(rows, p);
            // Lanes without a node have what the first one has.
            takeAxesWide(pack, lane, W, true, p);
            if (jumps != NULL) {
                wide jump[6], momentum[6];
                rowsOf(jumps, pack->at + lane, rows);
                loadSixes(rows, jump);
                multiplyLanes(pack->left, lane, jump, momentum);
                for (int k = 0; k < 6; ++k) {
                    p[k] = p[k] - momentum[k];
                }
            }
            handDownTo(tree->impulses, pack, lane, (1u << count) - 1u, p);
        }
    }
}

// The velocities of W nodes by those of their parents, before their joints move.
static inline void beginNodes(const double* velocities, const tpTreePack* pack, int lane, wide* v) {
    const double* rows[W];
    rowsOf(velocities, pack->parentAt + lane, rows);
    loadSixes(rows, v);
    wide x = loadWide(&pack->arm[0][lane]), y = loadWide(&pack->arm[1][lane]),
         z = loadWide(&pack->arm[2][lane]);
    v[0] += v[4] * z - v[5] * y;
    v[1] += v[5] * x - v[3] * z;
    v[2] += v[3] * y - v[4] * x;
}

// Moves along the axes; their rates are kept, or added to what they were.
static inline void moveAlong(const tpTreePack* pack, int lane, int count, bool isMore, wide* v) {
    for (int place = 0; place < pack->axisCount; ++place) {
        const tpTreePackAxis* axis = &pack->own[place];
        wide s[6], U[6];
        const double* pushes[W];
        double rates[W];
        for (int k = 0; k < W; ++k) {
            pushes[k] = &pack->axes[lane + k][place].push;
        }
        loadLanes(axis->motion[0], lane, 6, s);
        loadLanes(axis->shown[0], lane, 6, U);
        wide rate = gatherWide(pushes) - loadWide(&axis->inverse[lane]) * dotSixes(U, v);
        for (int k = 0; k < 6; ++k) {
            v[k] += rate * s[k];
        }
        memcpy(rates, &rate, sizeof(rate));
        for (int k = 0; k < count; ++k) {
            double* kept = &pack->axes[lane + k][place].rate;
            *kept = isMore ? *kept + rates[k] : rates[k];
        }
    }
}

static inline void writeRows(double* numbers, const int32_t* at, int count, const wide* six) {
    double* rows[W];
    for (int k = 0; k < W; ++k) {
        rows[k] = numbers + at[k];
    }
    storeSixes(rows, count, six);
}

static void goUpPacks(tpJointTree* tree, const double* jumps, double* velocities) {
    for (int n = tree->packCount - 1; n >= 0; --n) {
        const tpTreePack* pack = &tree->packs[n];
        for (int lane = 0; lane < pack->count; lane += W) {
            wide v[6];
            beginNodes(velocities, pack, lane, v);
            if (jumps != NULL) {
                const double* rows[W];
                wide jump[6];
                rowsOf(jumps, pack->at + lane, rows);
                loadSixes(rows, jump);
                for (int k = 0; k < 6; ++k) {
                    v[k] += jump[k];
                }
            }
            // Lanes without a node have what the first one has.
            moveAlong(pack, lane, W, false, v);
            writeRows(velocities, pack->at + lane, W, v);
        }
    }
}

// From nodes that are wanted to the root; others have no impulse.
static void pushDownPacks(tpJointTree* tree) {
    static const double none[6] = { 0.0 };
    for (int n = 0; n < tree->packCount; ++n) {
        const tpTreePack* pack = &tree->packs[n];
        unsigned wanted = 0;
        for (int k = 0; k < pack->count; ++k) {
            wanted |= tree->nodes[pack->nodes[k]].isWanted ? 1u << k : 0u;
        }
        for (int k = 0; k < pack->count; ++k) {
            for (int place = 0; place < pack->axisCount; ++place) {
                pack->axes[k][place].push = 0.0;
            }
        }
        for (int lane = 0; lane < pack->count; lane += W) {
            int count = pack->count - lane < W ? pack->count - lane : W;
            unsigned mask = wanted >> lane & ((1u << W) - 1u);
            if (mask == 0) {
                continue;
            }
            const double* rows[W];
            wide p[6];
            for (int k = 0; k < W; ++k) {
                rows[k] = mask >> k & 1 ? tree->impulses + pack->at[lane + k] : none;
            }
            loadSixes(rows, p);
            takeAxesWide(pack, lane, count, false, p);
            handDownTo(tree->impulses, pack, lane, mask, p);
        }
    }
}

// And back to all: `impulses` become the changes of velocities.
static void pushUpPacks(tpJointTree* tree, double* velocities) {
    for (int n = tree->packCount - 1; n >= 0; --n) {
        const tpTreePack* pack = &tree->packs[n];
        for (int lane = 0; lane < pack->count; lane += W) {
            int count = pack->count - lane < W ? pack->count - lane : W;
            const double* rows[W];
            wide v[6], sum[6];
            beginNodes(tree->impulses, pack, lane, v);
            moveAlong(pack, lane, count, true, v);
            writeRows(tree->impulses, pack->at + lane, count, v);
            rowsOf(velocities, pack->at + lane, rows);
            loadSixes(rows, sum);
            for (int k = 0; k < 6; ++k) {
                sum[k] = v[k] + sum[k];
            }
            writeRows(velocities, pack->at + lane, count, sum);
        }
    }
}

// What joints carry ------------------------------------------------------------------------------

// What W bodies lack to move as they do: M v - p.
static inline void lackOf(const tpJointTree* tree, int first, int count, const double* momenta,
                          const double* velocities, double* impulses) {
    const double *rows[W], *inertias[W], *masses[W];
    double* to[W];
    wide v[6], I[6], f[6];
    for (int k = 0; k < W; ++k) {
        int i = k < count ? first + k : first;
        rows[k] = velocities + 6 * i;
        inertias[k] = tree->nodes[i].inertia;
        masses[k] = &tree->nodes[i].mass;
        to[k] = impulses + 6 * i;
    }
    loadSixes(rows, v);
    loadSixes(inertias, I);
    wide mass = gatherWide(masses);
    for (int k = 0; k < 3; ++k) {
        f[k] = mass * v[k];
    }
    f[3] = I[0] * v[3] + I[3] * v[4] + I[4] * v[5];
    f[4] = I[3] * v[3] + I[1] * v[4] + I[5] * v[5];
    f[5] = I[4] * v[3] + I[5] * v[4] + I[2] * v[5];
    if (momenta != NULL) {
        wide p[6];
        for (int k = 0; k < W; ++k) {
            rows[k] = momenta + (to[k] - impulses);
        }
        loadSixes(rows, p);
        for (int k = 0; k < 6; ++k) {
            f[k] = f[k] - p[k];
        }
    }
    storeSixes(to, count, f);
}

static void reactPacks(const tpJointTree* tree, const double* momenta, const double* velocities,
                       double* impulses) {
    for (int i = 0; i < tree->nodeCount; i += W) {
        int left = tree->nodeCount - i;
        lackOf(tree, i, left < W ? left : W, momenta, velocities, impulses);
    }
    for (int n = 0; n < tree->packCount; ++n) {
        const tpTreePack* pack = &tree->packs[n];
        for (int lane = 0; lane < pack->count; lane += W) {
            int count = pack->count - lane < W ? pack->count - lane : W;
            const double* rows[W];
            wide f[6];
            rowsOf(impulses, pack->at + lane, rows);
            loadSixes(rows, f);
            handDownTo(impulses, pack, lane, (1u << count) - 1u, f);
        }
    }
}
