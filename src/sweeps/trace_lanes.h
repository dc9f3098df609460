// Traces of impulses in a tree, on top of math/lanes.h: the four impulses of a trace in W lanes,
// and the products of two traces. joint_tree_traces.c derives them.

static inline wide loadAnywhere(const double* p) {
    wide a;
    memcpy(&a, p, sizeof(a));
    return a;
}

static inline void storeAnywhere(double* p, wide a) {
    memcpy(p, &a, sizeof(a));
}

static inline wide dotBySix(const double* s, const wide* p) {
    return (wideOf(s[0]) * p[0] + wideOf(s[1]) * p[1] + wideOf(s[2]) * p[2]) +
           (wideOf(s[3]) * p[3] + wideOf(s[4]) * p[4] + wideOf(s[5]) * p[5]);
}

// Leaves the axis its part of the impulses p.
static inline void passAxis(const tpJointAxis* axis, wide* p, double* trace, double* answer) {
    wide along = dotBySix(axis->motion, p), push = wideOf(axis->inverse) * along;
    for (int k = 0; k < 6; ++k) {
        p[k] = p[k] - push * wideOf(axis->shown[k]);
    }
    storeAnywhere(trace, along);
    storeAnywhere(answer, push);
}

// To the parent's centre.
static inline void moveDown(const double* r, wide* p) {
    wide x = wideOf(r[0]), y = wideOf(r[1]), z = wideOf(r[2]);
    p[3] += y * p[2] - z * p[1];
    p[4] += z * p[0] - x * p[2];
    p[5] += x * p[1] - y * p[0];
}

// A free root counts as six axes: the rows of its factor.
static inline void passRoot(const double* L, wide* p, double (*traces)[tp_traceWidth],
                            double (*answers)[tp_traceWidth], int lane) {
    for (int k = 0; k < 6; ++k) {
        for (int j = 0; j < k; ++j) {
            p[k] = p[k] - wideOf(L[6 * k + j]) * p[j];
        }
        storeAnywhere(&traces[k][lane], p[k]);
        storeAnywhere(&answers[k][lane], wideOf(L[7 * k]) * p[k]);
    }
}

static void traceToRoot(const tpJointTree* tree, int node, double (*impulses)[tp_traceWidth],
                        double (*traces)[tp_traceWidth], double (*answers)[tp_traceWidth]) {
    for (int lane = 0; lane < tp_traceWidth; lane += W) {
        wide p[6];
        int place = 0;
        for (int k = 0; k < 6; ++k) {
            p[k] = loadAnywhere(&impulses[k][lane]);
        }
        for (int i = node; i >= 0; i = tree->nodes[i].parent) {
            const tpJointNode* own = &tree->nodes[i];
            for (int k = own->axisEnd - 1; k >= own->axis; --k, ++place) {
                passAxis(&tree->axes[k], p, &traces[place][lane], &answers[place][lane]);
            }
            if (own->parent >= 0) {
                moveDown(own->arm, p);
            }
        }
        if (tree->isFree) {
            passRoot(tree->rootFactor, p, traces + place, answers + place, lane);
        }
    }
}

// Answers times four impulses. Those of a root are six, read as eight: there is room for more
// behind them.
static void pushToRoot(tpJointTree* tree, int node, double (*answers)[tp_traceWidth],
                       const double* r) {
    for (; node >= 0; node = tree->nodes[node].parent) {
        const tpJointNode* own = &tree->nodes[node];
        for (int k = own->axisEnd - 1; k >= own->axis; --k, ++answers) {
            tree->axes[k].push += dotFour(*answers, r);
        }
    }
    if (tree->isFree) {
        double pushes[8];
        dotFours((const double(*)[4])answers, r, pushes);
        dotFours((const double(*)[4])answers + 4, r, pushes + 4);
        for (int k = 0; k < 6; ++k) {
            tree->rootPush[k] += pushes[k];
        }
    }
}

static void readToRoot(const tpJointTree* tree, int node, double (*all)[tp_traceWidth], double* u) {
    for (int lane = 0; lane < tp_traceWidth; lane += W) {
        double(*traces)[tp_traceWidth] = all;
        wide sum = wideOf(0.0);
        for (int i = node; i >= 0; i = tree->nodes[i].parent) {
            const tpJointNode* own = &tree->nodes[i];
            for (int k = own->axisEnd - 1; k >= own->axis; --k, ++traces) {
                sum += wideOf(tree->axes[k].push) * loadAnywhere(&(*traces)[lane]);
            }
        }
        for (int k = 0; tree->isFree && k < 6; ++k) {
            sum += wideOf(tree->rootPush[k]) * loadAnywhere(&traces[k][lane]);
        }
        storeAnywhere(u + lane, sum);
    }
}

// sum += traces' answers, four by four numbers
static void multiplyTraces(int count, double (*traces)[tp_traceWidth],
                           double (*answers)[tp_traceWidth], double (*sum)[tp_traceWidth]) {
    for (int lane = 0; lane < tp_traceWidth; lane += W) {
        wide own[tp_traceWidth];
        for (int i = 0; i < tp_traceWidth; ++i) {
            own[i] = wideOf(0.0);
        }
        for (int k = 0; k < count; ++k) {
            wide answer = loadAnywhere(&answers[k][lane]);
            for (int i = 0; i < tp_traceWidth; ++i) {
                own[i] += wideOf(traces[k][i]) * answer;
            }
        }
        for (int i = 0; i < tp_traceWidth; ++i) {
            storeAnywhere(&sum[i][lane], loadAnywhere(&sum[i][lane]) + own[i]);
        }
    }
}
