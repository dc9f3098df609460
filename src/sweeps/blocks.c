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

// Puts the `wanted` first of the bodies before the others [Hoare61].
static void select(int axis, tpBlockBody* bodies, int count, int wanted) {
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

static int longestAxis(const tpBlockBody* bodies, int count) {
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
    return x >= y && x >= z ? 0 : y >= z ? 1 : 2;
}

// Within a block bodies stand in the order of their numbers.
static void sortFew(tpBlockBody* bodies, int count) {
    for (int gap = count / 2; gap > 0; gap /= 2) {
        for (int i = gap; i < count; ++i) {
            tpBlockBody body = bodies[i];
            int j = i;
            for (; j >= gap && bodies[j - gap].body > body.body; j -= gap) {
                bodies[j] = bodies[j - gap];
            }
            bodies[j] = body;
        }
    }
}

void tpCutBlocks(tpBlockBody* bodies, int bodyCount, int blockCount, int32_t* firsts) {
    firsts[0] = 0;
    if (blockCount == 1) {
        firsts[1] = bodyCount;
        sortFew(bodies, bodyCount);
        return;
    }
    int left = blockCount / 2;
    int leftBodies = (int)((int64_t)bodyCount * left / blockCount);
    if (bodyCount > 1) {
        select(longestAxis(bodies, bodyCount), bodies, bodyCount, leftBodies);
    }
    tpCutBlocks(bodies, leftBodies, left, firsts);
    int32_t* right = firsts + left;
    tpCutBlocks(bodies + leftBodies, bodyCount - leftBodies, blockCount - left, right);
    for (int b = 0; b <= blockCount - left; ++b) {
        right[b] += leftBodies;
    }
}
