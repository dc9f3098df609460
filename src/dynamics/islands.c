#include "dynamics/islands.h"

#include <string.h>

// Lists the blocks at each body by counting.
static void listBlocks(tpIslands* islands, const tpRows* rows) {
    memset(islands->bodyStarts, 0, sizeof(int) * (size_t)(rows->bodyCount + 1));
    for (int b = 0; b < rows->blockCount; ++b) {
        const int ends[2] = { rows->bodyA[b], rows->bodyB[b] };
        for (int k = 0; k < 2; ++k) {
            if (ends[k] >= 0) {
                islands->bodyStarts[ends[k] + 1] += 1;
            }
        }
    }
    for (int i = 0; i < rows->bodyCount; ++i) {
        islands->bodyStarts[i + 1] += islands->bodyStarts[i];
    }
    // Filled from the back, so that starts end where they belong and blocks ascend.
    for (int i = rows->bodyCount; i > 0; --i) {
        islands->bodyStarts[i] = islands->bodyStarts[i - 1];
    }
    for (int b = 0; b < rows->blockCount; ++b) {
        const int ends[2] = { rows->bodyA[b], rows->bodyB[b] };
        for (int k = 0; k < 2; ++k) {
            if (ends[k] >= 0) {
                islands->bodyBlocks[islands->bodyStarts[ends[k] + 1]++] = b;
            }
        }
    }
    islands->bodyStarts[0] = 0;
}

static int rootOf(int* parents, int block) {
    while (parents[block] != block) {
        parents[block] = parents[parents[block]];
        block = parents[block];
    }
    return block;
}

// The smaller number becomes the root, so that an island's root is its first block.
static void join(int* parents, int a, int b) {
    a = rootOf(parents, a);
    b = rootOf(parents, b);
    if (a < b) {
        parents[b] = a;
    } else {
        parents[a] = b;
    }
}

bool tpIslands_Find(tpIslands* islands, const tpRows* rows, tpArena* arena) {
    memset(islands, 0, sizeof(*islands));
    int blockCount = rows->blockCount;
    islands->ofBlock = TP_SCRATCH(arena, int, blockCount + 1);
    islands->blocks = TP_SCRATCH(arena, int, blockCount + 1);
    islands->starts = TP_SCRATCH_ZEROED(arena, int, blockCount + 2);
    islands->bodyStarts = TP_SCRATCH(arena, int, rows->bodyCount + 2);
    islands->bodyBlocks = TP_SCRATCH(arena, int, 2 * blockCount + 1);
    islands->neighbours = TP_SCRATCH(arena, int, 2 * blockCount + 1);
    int* parents = TP_SCRATCH(arena, int, blockCount + 1);
    if (arena->failed) {
        return false;
    }
    listBlocks(islands, rows);
    for (int b = 0; b < blockCount; ++b) {
        parents[b] = b;
    }
    for (int i = 0; i < rows->bodyCount; ++i) {
        for (int k = islands->bodyStarts[i] + 1; k < islands->bodyStarts[i + 1]; ++k) {
            join(parents, islands->bodyBlocks[k - 1], islands->bodyBlocks[k]);
        }
    }
    // Number the roots in order, then sort blocks by island, counting.
    for (int b = 0; b < blockCount; ++b) {
        int root = rootOf(parents, b);
        islands->ofBlock[b] = root == b ? islands->count++ : islands->ofBlock[root];
        islands->starts[islands->ofBlock[b] + 1] += 1;
    }
    for (int i = 0; i < islands->count; ++i) {
        islands->starts[i + 1] += islands->starts[i];
    }
    for (int i = islands->count; i > 0; --i) {
        islands->starts[i] = islands->starts[i - 1];
    }
    for (int b = 0; b < blockCount; ++b) {
        islands->blocks[islands->starts[islands->ofBlock[b] + 1]++] = b;
    }
    islands->starts[0] = 0;
    return true;
}

const int* tpIslands_Neighbours(const tpIslands* islands, const tpRows* rows, int block,
                                int* count) {
    // Merge the ascending lists of both bodies.
    static const int none[1] = { 0 };
    int a = rows->bodyA[block], b = rows->bodyB[block];
    const int* first = a >= 0 ? islands->bodyBlocks + islands->bodyStarts[a] : none;
    const int* firstEnd = a >= 0 ? islands->bodyBlocks + islands->bodyStarts[a + 1] : none;
    const int* second = b >= 0 ? islands->bodyBlocks + islands->bodyStarts[b] : none;
    const int* secondEnd = b >= 0 ? islands->bodyBlocks + islands->bodyStarts[b + 1] : none;
    int number = 0;
    while (first < firstEnd || second < secondEnd) {
        int next;
        if (second >= secondEnd || (first < firstEnd && *first <= *second)) {
            next = *first++;
        } else {
            next = *second++;
        }
        if (number == 0 || islands->neighbours[number - 1] != next) {
            islands->neighbours[number++] = next;
        }
    }
    if (number == 0) {
        islands->neighbours[number++] = block; // attached to nothing that moves
    }
    *count = number;
    return islands->neighbours;
}
