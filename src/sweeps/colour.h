// Which contacts are swept at once.

#ifndef TIPPE_SRC_SWEEPS_COLOUR_H
#define TIPPE_SRC_SWEEPS_COLOUR_H

#include <stdint.h>

// Colours that a body's mask has; what finds none of them free is a colour of its own.
enum { tp_maskColours = 64 };

// The contacts of one pair of bodies.
typedef struct tpManifold {
    int32_t first, count; // contacts
    int32_t bodyA, bodyB; // -1: impulses do not move it
    int32_t colour;
} tpManifold;

// The lowest colour that a mask has free; it has one.
static inline int tpLowestFreeColour(uint64_t mask) {
    int place = 0;
    for (; mask & 1; mask >>= 1) {
        ++place;
    }
    return place;
}

// Gives manifolds their colours, and their order by colour. `used` are the colours of each body,
// zeros at first.
void tpColourManifolds(tpManifold* manifolds, int count, uint64_t* used, int32_t* order);

// The end of the manifolds of one colour in the order.
int tpEndOfColour(const tpManifold* manifolds, const int32_t* order, int count, int first);

#endif
