#include "collision/hull_flood.h"

#include <float.h>

// Which vertices a flood has reached. A few are looked up one by one, more by a table.
enum { fewReached = 12, reachedSlots = 512 };

typedef struct Reached {
    int32_t* vertices; // [tp_maxFlood] in the order in which they were reached
    int count;
    int32_t slots[reachedSlots]; // vertices, -1: free; from more than a few vertices on
} Reached;

static int slotOf(const Reached* reached, int32_t vertex) {
    uint32_t slot = (uint32_t)vertex * UINT32_C(2654435769) % reachedSlots;
    while (reached->slots[slot] >= 0 && reached->slots[slot] != vertex) {
        slot = (slot + 1) % reachedSlots;
    }
    return (int)slot;
}

static bool isReached(const Reached* reached, int32_t vertex) {
    if (reached->count > fewReached) {
        return reached->slots[slotOf(reached, vertex)] == vertex;
    }
    for (int i = 0; i < reached->count; ++i) {
        if (reached->vertices[i] == vertex) {
            return true;
        }
    }
    return false;
}

static void reach(Reached* reached, int32_t vertex) {
    reached->vertices[reached->count++] = vertex;
    if (reached->count == fewReached + 1) {
        for (int i = 0; i < reachedSlots; ++i) {
            reached->slots[i] = -1;
        }
        for (int i = 0; i < fewReached; ++i) {
            reached->slots[slotOf(reached, reached->vertices[i])] = reached->vertices[i];
        }
    }
    if (reached->count > fewReached) {
        reached->slots[slotOf(reached, vertex)] = vertex;
    }
}

int tpHull_Flood(const tpHull* hull, tpVec3 normal, int32_t lowest, double highest,
                 int32_t* vertices, double* next) {
    Reached reached;
    *next = DBL_MAX;
    reached.vertices = vertices;
    reached.count = 1;
    vertices[0] = lowest;
    for (int i = 0; i < reached.count; ++i) {
        int32_t v = vertices[i];
        for (int32_t k = hull->neighborFirst[v]; k < hull->neighborFirst[v + 1]; ++k) {
            int32_t u = hull->neighbors[k];
            double height = tpDot(normal, hull->vertices[u]);
            if (height > highest) {
                *next = height < *next ? height : *next;
            } else if (reached.count < tp_maxFlood && !isReached(&reached, u)) {
                reach(&reached, u);
            }
        }
    }
    return reached.count;
}
