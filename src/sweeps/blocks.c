#include "sweeps/blocks.h"

int tpBlockCountFor(int bodyCount) {
    int size = bodyCount < 16384 ? 256 : bodyCount < 131072 ? 512 : 1024;
    int count = bodyCount / size;
    return count > 1 ? count : 1;
}

// By coordinate, then by number.
static bool isBefore(int axis, const tpBlockBody* a, const tpBlockBody* b) {
    double x = a->place[axis], y = b->place[axis];
    return x < y || (x == y && a->body < b->body);
}

static void swap(tpBlockBody* a, tpBlockBody* b) {
    tpBlockBody c = *a;
    *a = *b;
    *b = c;
}

// Puts the `wanted` first of a few bodies before the others [Hoare61].
static void selectFew(int axis, tpBlockBody* bodies, int count, int wanted) {
    int low = 0, high = count - 1;
    while (low < high) {
        // The middle of three, so that sorted lists are cut in halves.
        int middle = low + (high - low) / 2;
        if (isBefore(axis, &bodies[middle], &bodies[low])) {
            swap(&bodies[middle], &bodies[low]);
        }
        if (isBefore(axis, &bodies[high], &bodies[low])) {
            swap(&bodies[high], &bodies[low]);
        }
        if (isBefore(axis, &bodies[high], &bodies[middle])) {
            swap(&bodies[high], &bodies[middle]);
        }
        tpBlockBody pivot = bodies[middle];
        int i = low, j = high;
        while (i <= j) {
            while (isBefore(axis, &bodies[i], &pivot)) {
                ++i;
            }
            while (isBefore(axis, &pivot, &bodies[j])) {
                --j;
            }
            if (i <= j) {
                swap(&bodies[i++], &bodies[j--]);
            }
        }
        if (wanted <= j) {
            high = j;
        } else if (wanted >= i) {
            low = i;
        } else {
            return;
        }
    }
}

// A side of the bodies' box, cut into slices.
typedef struct Side {
    int axis;
    double lower, perSlice;
} Side;

enum { sliceCount = 256, fewBodies = 512 };

// It never goes down as the place goes up.
static int sliceOf(const Side* side, const tpBlockBody* body) {
    double slice = (body->place[side->axis] - side->lower) * side->perSlice;
    return slice < sliceCount - 1 ? (int)slice : sliceCount - 1;
}

// Puts bodies of slices before `slice` before the others. Returns how many.
static int partBefore(const Side* side, tpBlockBody* bodies, int count, int slice) {
    int i = 0, j = count - 1;
    for (;;) {
        while (i <= j && sliceOf(side, &bodies[i]) < slice) {
            ++i;
        }
        while (i <= j && sliceOf(side, &bodies[j]) >= slice) {
            --j;
        }
        if (i > j) {
            return i;
        }
        swap(&bodies[i++], &bodies[j--]);
    }
}

// The same of many: bodies are counted in slices first, so that those of a single one are left.
static void select(const Side* side, tpBlockBody* bodies, int count, int wanted) {
    if (count < fewBodies) {
        selectFew(side->axis, bodies, count, wanted);
        return;
    }
    int counts[sliceCount] = { 0 }, before = 0, slice = 0;
    for (int i = 0; i < count; ++i) {
        ++counts[sliceOf(side, &bodies[i])];
    }
    while (before + counts[slice] <= wanted && slice < sliceCount - 1) {
        before += counts[slice++];
    }
    partBefore(side, bodies, count, slice);
    partBefore(side, bodies + before, count - before, slice + 1);
    selectFew(side->axis, bodies + before, counts[slice], wanted - before);
}

static Side longestSide(const tpBlockBody* bodies, int count) {
    double lower[3], upper[3];
    for (int k = 0; k < 3; ++k) {
        lower[k] = upper[k] = bodies[0].place[k];
    }
    for (int i = 1; i < count; ++i) {
        for (int k = 0; k < 3; ++k) {
            double x = bodies[i].place[k];
            lower[k] = x < lower[k] ? x : lower[k];
            upper[k] = x > upper[k] ? x : upper[k];
        }
    }
    double x = upper[0] - lower[0], y = upper[1] - lower[1], z = upper[2] - lower[2];
    int axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
    double length = upper[axis] - lower[axis];
    // Bodies that are all in one place, or too far apart to tell, share a slice.
    double perSlice = sliceCount / length;
    return (Side){ axis, lower[axis], perSlice > 0.0 && perSlice < HUGE_VAL ? perSlice : 0.0 };
}

// Within a block bodies stand in the order of their numbers.
static void sortFew(int32_t* numbers, int count) {
    for (int gap = count / 2; gap > 0; gap /= 2) {
        for (int i = gap; i < count; ++i) {
            int32_t number = numbers[i];
            int j = i;
            for (; j >= gap && numbers[j - gap] > number; j -= gap) {
                numbers[j] = numbers[j - gap];
            }
            numbers[j] = number;
        }
    }
}

void tpCutBlocks(tpBlockBody* bodies, int bodyCount, int blockCount, int32_t* order,
                 int32_t* firsts) {
    firsts[0] = 0;
    if (blockCount == 1) {
        firsts[1] = bodyCount;
        for (int i = 0; i < bodyCount; ++i) {
            order[i] = bodies[i].body;
        }
        sortFew(order, bodyCount);
        return;
    }
    int left = blockCount / 2;
    int leftBodies = (int)((int64_t)bodyCount * left / blockCount);
    if (bodyCount > 1) {
        Side side = longestSide(bodies, bodyCount);
        select(&side, bodies, bodyCount, leftBodies);
    }
    tpCutBlocks(bodies, leftBodies, left, order, firsts);
    int32_t* right = firsts + left;
    tpCutBlocks(bodies + leftBodies, bodyCount - leftBodies, blockCount - left, order + leftBodies,
                right);
    for (int b = 0; b <= blockCount - left; ++b) {
        right[b] += leftBodies;
    }
}
