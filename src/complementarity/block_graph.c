#include "complementarity/block_graph.h"

#include <string.h>

static int bodyOf(const tpBlockGraph* graph, int block, int side) {
    return (side == 0 ? graph->bodyA : graph->bodyB)[(size_t)block * (size_t)graph->stride];
}

bool tpBlockGraph_Create(tpBlockGraph* graph, int blockCount, int bodyCount, const int* bodyA,
                         const int* bodyB, int stride, tpArena* arena) {
    *graph = (tpBlockGraph){ .blockCount = blockCount,
                             .bodyCount = bodyCount,
                             .bodyA = bodyA,
                             .bodyB = bodyB,
                             .stride = stride };
    graph->starts = TP_SCRATCH_ZEROED(arena, int, bodyCount + 2);
    graph->blocks = TP_SCRATCH(arena, int, 2 * blockCount + 1);
    graph->neighbours = TP_SCRATCH(arena, int, blockCount + 1);
    if (arena->failed) {
        return false;
    }
    // By counting, two places ahead: filling moves each start to where it belongs.
    for (int b = 0; b < blockCount; ++b) {
        for (int side = 0; side < 2; ++side) {
            if (bodyOf(graph, b, side) >= 0) {
                graph->starts[bodyOf(graph, b, side) + 2] += 1;
            }
        }
    }
    for (int i = 1; i < bodyCount + 2; ++i) {
        graph->starts[i] += graph->starts[i - 1];
    }
    for (int b = 0; b < blockCount; ++b) {
        for (int side = 0; side < 2; ++side) {
            if (bodyOf(graph, b, side) >= 0) {
                graph->blocks[graph->starts[bodyOf(graph, b, side) + 1]++] = b;
            }
        }
    }
    return true;
}

const int* tpBlockGraph_Neighbours(const tpBlockGraph* graph, int block, int* count) {
    // Merge the ascending lists of both bodies.
    const int* list[2] = { graph->blocks, graph->blocks };
    int left[2] = { 0, 0 };
    for (int side = 0; side < 2; ++side) {
        int body = bodyOf(graph, block, side);
        if (body >= 0) {
            list[side] = graph->blocks + graph->starts[body];
            left[side] = graph->starts[body + 1] - graph->starts[body];
        }
    }
    int number = 0;
    while (left[0] > 0 || left[1] > 0) {
        int side = left[1] == 0 || (left[0] > 0 && *list[0] <= *list[1]) ? 0 : 1;
        int next = *list[side]++;
        left[side] -= 1;
        if (number == 0 || graph->neighbours[number - 1] != next) {
            graph->neighbours[number++] = next;
        }
    }
    if (number == 0) {
        graph->neighbours[number++] = block; // attached to nothing that moves
    }
    *count = number;
    return graph->neighbours;
}
