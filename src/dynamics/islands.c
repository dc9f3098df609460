#include "dynamics/islands.h"

#include <string.h>

#include "base/forest.h"

bool tpRows_Graph(const tpRows* rows, tpArena* arena, tpBlockGraph* graph) {
    tpBlockBodies bodies = { rows->bodyA, rows->bodyB, 1, NULL, NULL };
    if (rows->termCount > 0) {
        int* starts = TP_SCRATCH(arena, int, rows->blockCount + 1);
        int* more = TP_SCRATCH(arena, int, rows->termCount);
        if (arena->failed) {
            return false;
        }
        int place = 0, body;
        for (int b = 0; b < rows->blockCount; ++b) {
            starts[b] = place;
            for (int k = 2; tpRows_BodyAt(rows, b, k, &body); ++k) {
                more[place++] = body;
            }
        }
        starts[rows->blockCount] = place;
        bodies.moreStarts = starts;
        bodies.more = more;
    }
    return tpBlockGraph_Create(graph, rows->blockCount, rows->bodyCount, &bodies, arena);
}

bool tpIslands_Find(tpIslands* islands, const tpRows* rows, tpArena* arena) {
    memset(islands, 0, sizeof(*islands));
    int blockCount = rows->blockCount;
    islands->ofBlock = TP_SCRATCH(arena, int, blockCount + 1);
    islands->blocks = TP_SCRATCH(arena, int, blockCount + 1);
    islands->starts = TP_SCRATCH_ZEROED(arena, int, blockCount + 2);
    int* parents = TP_SCRATCH(arena, int, blockCount + 1);
    if (!tpRows_Graph(rows, arena, &islands->graph)) {
        return false;
    }
    const tpBlockGraph* graph = &islands->graph;
    for (int b = 0; b < blockCount; ++b) {
        parents[b] = b;
    }
    for (int i = 0; i < rows->bodyCount; ++i) {
        for (int k = graph->starts[i] + 1; k < graph->starts[i + 1]; ++k) {
            tpForest_Join(parents, graph->blocks[k - 1], graph->blocks[k]);
        }
    }
    // Number the roots in order, then sort blocks by island, counting.
    for (int b = 0; b < blockCount; ++b) {
        int root = tpForest_Root(parents, b);
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
