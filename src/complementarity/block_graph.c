#include "complementarity/block_graph.h"

#include <string.h>

static int bodiesOf(const tpBlockBodies* bodies, int block) {
    return 2 + (bodies->moreStarts != NULL
                    ? bodies->moreStarts[block + 1] - bodies->moreStarts[block]
                    : 0);
}

static int bodyAt(const tpBlockBodies* bodies, int block, int k) {
    size_t place = (size_t)block * (size_t)bodies->stride;
    return k == 0   ? bodies->bodyA[place]
           : k == 1 ? bodies->bodyB[place]
                    : bodies->more[bodies->moreStarts[block] + k - 2];
}

bool tpBlockGraph_Create(tpBlockGraph* graph, int blockCount, int bodyCount,
                         const tpBlockBodies* bodies, tpArena* arena) {
    *graph = (tpBlockGraph){ .blockCount = blockCount, .bodyCount = bodyCount, .bodies = *bodies };
    int total = 0, most = 0;
    for (int b = 0; b < blockCount; ++b) {
        int count = bodiesOf(bodies, b);
        total += count;
        most = count > most ? count : most;
    }
    graph->starts = TP_SCRATCH_ZEROED(arena, int, bodyCount + 2);
    graph->blocks = TP_SCRATCH(arena, int, total + 1);
    graph->neighbours = TP_SCRATCH(arena, int, blockCount + 1);
    graph->cursors = TP_SCRATCH(arena, int, 2 * most + 2);
    if (arena->failed) {
        return false;
    }
    // By counting, two places ahead: filling moves each start to where it belongs.
    for (int b = 0; b < blockCount; ++b) {
        for (int k = 0; k < bodiesOf(bodies, b); ++k) {
            if (bodyAt(bodies, b, k) >= 0) {
                graph->starts[bodyAt(bodies, b, k) + 2] += 1;
            }
        }
    }
    for (int i = 1; i < bodyCount + 2; ++i) {
        graph->starts[i] += graph->starts[i - 1];
    }
    for (int b = 0; b < blockCount; ++b) {
        for (int k = 0; k < bodiesOf(bodies, b); ++k) {
            if (bodyAt(bodies, b, k) >= 0) {
                graph->blocks[graph->starts[bodyAt(bodies, b, k) + 1]++] = b;
            }
        }
    }
    return true;
}

const int* tpBlockGraph_Neighbours(const tpBlockGraph* graph, int block, int* count) {
    // Merge the ascending lists of all bodies.
    int* cursors = graph->cursors;
    int lists = 0, number = 0;
    for (int k = 0; k < bodiesOf(&graph->bodies, block); ++k) {
        int body = bodyAt(&graph->bodies, block, k);
        if (body >= 0) {
            cursors[2 * lists] = graph->starts[body];
            cursors[2 * lists++ + 1] = graph->starts[body + 1];
        }
    }
    while (lists > 0) {
        int least = graph->blockCount;
        for (int k = 0; k < lists; ++k) {
            int next = graph->blocks[cursors[2 * k]];
            least = next < least ? next : least;
        }
        graph->neighbours[number++] = least;
        for (int k = lists - 1; k >= 0; --k) {
            if (graph->blocks[cursors[2 * k]] == least) {
                cursors[2 * k] += 1;
            }
            if (cursors[2 * k] == cursors[2 * k + 1]) {
                lists -= 1;
                memmove(cursors + 2 * k, cursors + 2 * (k + 1),
                        sizeof(int) * 2 * (size_t)(lists - k));
            }
        }
    }
    if (number == 0) {
        graph->neighbours[number++] = block; // attached to nothing that moves
    }
    *count = number;
    return graph->neighbours;
}
