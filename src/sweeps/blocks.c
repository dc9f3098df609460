#include "sweeps/blocks.h"

#include "base/tasks.h"

int tpBlockCountFor(int bodyCount) {
    int size = bodyCount < 16384 ? 256 : bodyCount < 131072 ? 512 : 1024;
    int count = bodyCount / size;
    return count > 1 ? count : 1;
}

typedef struct Cut {
    const tpVec3* positions;
    int axis;
} Cut;

static double coordinate(const Cut* cut, int32_t body) {
    const tpVec3* p = &cut->positions[body];
    return cut->axis == 0 ? p->x : cut->axis == 1 ? p->y : p->z;
}

// By coordinate, then by number.
static bool isBefore(const Cut* cut, int32_t a, int32_t b) {
    double x = coordinate(cut, a), y = coordinate(cut, b);
    return x < y || (x == y && a < b);
}

static void swap(int32_t* a, int32_t* b) {
    int32_t c = *a;
    *a = *b;
    *b = c;
}

// Puts the `wanted` first of the bodies before the others [Hoare61].
static void select(const Cut* cut, int32_t* bodies, int count, int wanted) {
    int low = 0, high = count - 1;
    while (low < high) {
        // The middle of three, so that sorted lists are cut in halves.
        int middle = low + (high - low) / 2;
        if (isBefore(cut, bodies[middle], bodies[low])) {
            swap(&bodies[middle], &bodies[low]);
        }
        if (isBefore(cut, bodies[high], bodies[low])) {
            swap(&bodies[high], &bodies[low]);
        }
        if (isBefore(cut, bodies[high], bodies[middle])) {
            swap(&bodies[high], &bodies[middle]);
        }
        int32_t pivot = bodies[middle];
        int i = low, j = high;
        while (i <= j) {
            while (isBefore(cut, bodies[i], pivot)) {
                ++i;
            }
            while (isBefore(cut, pivot, bodies[j])) {
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

static int longestAxis(const tpVec3* positions, const int32_t* bodies, int count) {
    tpVec3 lower = positions[bodies[0]], upper = lower;
    for (int i = 1; i < count; ++i) {
        lower = tpMinVec3(lower, positions[bodies[i]]);
        upper = tpMaxVec3(upper, positions[bodies[i]]);
    }
    tpVec3 d = tpSub(upper, lower);
    return d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
}

// Within a block bodies stand in the order of their numbers.
static void sortFew(int32_t* bodies, int count) {
    for (int gap = count / 2; gap > 0; gap /= 2) {
        for (int i = gap; i < count; ++i) {
            int32_t body = bodies[i];
            int j = i;
            for (; j >= gap && bodies[j - gap] > body; j -= gap) {
                bodies[j] = bodies[j - gap];
            }
            bodies[j] = body;
        }
    }
}

void tpCutBlocks(const tpVec3* positions, int32_t* bodies, int bodyCount, int blockCount,
                 int32_t* firsts) {
    firsts[0] = 0;
    if (blockCount == 1) {
        firsts[1] = bodyCount;
        sortFew(bodies, bodyCount);
        return;
    }
    int left = blockCount / 2;
    int leftBodies = (int)((int64_t)bodyCount * left / blockCount);
    if (bodyCount > 1) {
        Cut cut = { positions, longestAxis(positions, bodies, bodyCount) };
        select(&cut, bodies, bodyCount, leftBodies);
    }
    tpCutBlocks(positions, bodies, leftBodies, left, firsts);
    int32_t* right = firsts + left;
    tpCutBlocks(positions, bodies + leftBodies, bodyCount - leftBodies, blockCount - left, right);
    for (int b = 0; b <= blockCount - left; ++b) {
        right[b] += leftBodies;
    }
}
