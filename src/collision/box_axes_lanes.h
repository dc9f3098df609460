// Axes of W pairs of boxes at once, as the function TP_BOX_AXES: included by one file for each
// width, after the lanes of that width (math/lanes.h). All widths do the same operations in the
// same order: the bits are the same.

typedef struct WideBoxes {
    wide a[3], b[3], r[3][3], absolute[3][3], t[3], s[3];
} WideBoxes;

// tpMatFromQuat(conj(qA) qB), transposed for the index of A to come first.
static inline void relateTurns(const wide p[4], const wide q[4], wide r[3][3]) {
    wide w = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
    wide x = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
    wide y = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
    wide z = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
    wide xx = x * x, yy = y * y, zz = z * z, xy = x * y, xz = x * z, yz = y * z;
    wide wx = w * x, wy = w * y, wz = w * z;
    r[0][0] = wideOf(1.0) - wideOf(2.0) * (yy + zz);
    r[1][0] = wideOf(2.0) * (xy + wz);
    r[2][0] = wideOf(2.0) * (xz - wy);
    r[0][1] = wideOf(2.0) * (xy - wz);
    r[1][1] = wideOf(1.0) - wideOf(2.0) * (xx + zz);
    r[2][1] = wideOf(2.0) * (yz + wx);
    r[0][2] = wideOf(2.0) * (xz + wy);
    r[1][2] = wideOf(2.0) * (yz - wx);
    r[2][2] = wideOf(1.0) - wideOf(2.0) * (xx + yy);
}

// tpRotate.
static inline void rotate(const wide q[4], const wide v[3], wide out[3]) {
    const wide* u = q + 1;
    wide turn[3];
    for (int i = 0; i < 3; ++i) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        turn[i] = wideOf(2.0) * (u[j] * v[k] - u[k] * v[j]);
    }
    for (int i = 0; i < 3; ++i) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = v[i] + q[0] * turn[i] + (u[j] * turn[k] - u[k] * turn[j]);
    }
}

static inline void relateBoxes(tpBoxBatch* batch, int lane, WideBoxes* x) {
    wide back[4], turn[4], way[3];
    for (int k = 0; k < 4; ++k) {
        back[k] = loadWide(&batch->rotationA[k][lane]);
        back[k] = k > 0 ? -back[k] : back[k];
        turn[k] = loadWide(&batch->rotationB[k][lane]);
    }
    for (int k = 0; k < 3; ++k) {
        way[k] = loadWide(&batch->way[k][lane]);
        x->a[k] = loadWide(&batch->a[k][lane]);
        x->b[k] = loadWide(&batch->b[k][lane]);
    }
    relateTurns(back, turn, x->r);
    rotate(back, way, x->t);
    for (int j = 0; j < 3; ++j) {
        x->s[j] = x->r[0][j] * x->t[0] + x->r[1][j] * x->t[1] + x->r[2][j] * x->t[2];
        storeWide(&batch->t[j][lane], x->t[j]);
        storeWide(&batch->s[j][lane], x->s[j]);
        for (int i = 0; i < 3; ++i) {
            x->absolute[i][j] = wideAbs(x->r[i][j]);
            storeWide(&batch->r[i][j][lane], x->r[i][j]);
        }
    }
}

// The best face; the first of equals.
static inline wide findFace(const WideBoxes* x, wide* face) {
    wide best = wideAbs(x->t[0]) - x->a[0] - x->b[0] * x->absolute[0][0] -
                x->b[1] * x->absolute[0][1] - x->b[2] * x->absolute[0][2];
    *face = wideOf(0.0);
    for (int k = 1; k < 6; ++k) {
        const wide(*m)[3] = x->absolute;
        int i = k % 3;
        wide s = k < 3 ? wideAbs(x->t[i]) - x->a[i] - x->b[0] * m[i][0] - x->b[1] * m[i][1] -
                             x->b[2] * m[i][2]
                       : wideAbs(x->s[i]) - x->b[i] - x->a[0] * m[0][i] - x->a[1] * m[1][i] -
                             x->a[2] * m[2][i];
        wideMask isBetter = wideGreater(s, best);
        best = wideSelect(isBetter, s, best);
        *face = wideSelect(isBetter, wideOf(k), *face);
    }
    return best;
}

// Crosses of edges have the sine of the edges' angle for a length, not one: where the separation
// along them is negative, it is less than what this finds.
static inline wide findEdges(const WideBoxes* x, wide limit) {
    wide found = wideOf(0.0), zero = wideOf(0.0);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            wide s = wideAbs(x->t[i2] * x->r[i1][j] - x->t[i1] * x->r[i2][j]) -
                     x->a[i1] * x->absolute[i2][j] - x->a[i2] * x->absolute[i1][j] -
                     x->b[j1] * x->absolute[i][j2] - x->b[j2] * x->absolute[i][j1];
            wide bit = wideOf(1 << (3 * i + j));
            wide isNear = wideSelect(wideGreater(zero, s), zero, bit);
            found += wideSelect(wideGreater(s, limit), bit, isNear);
        }
    }
    return found;
}

void TP_BOX_AXES(tpBoxBatch* batch) {
    for (int lane = 0; lane < tp_boxesAtOnce; lane += W) {
        WideBoxes x;
        relateBoxes(batch, lane, &x);
        wide face, best = findFace(&x, &face);
        wide slack = wideOf(TP_EDGE_SLACK) * (x.a[0] + x.a[1] + x.a[2] + x.b[0] + x.b[1] + x.b[2]);
        storeWide(&batch->face[lane], face);
        storeWide(&batch->separation[lane], best);
        storeWide(&batch->edges[lane], findEdges(&x, best + slack));
    }
}
