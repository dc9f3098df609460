// Islands as trees: each member points to one that is nearer to the root of its tree. At first each
// member is a root and points to itself.

#ifndef TIPPE_SRC_BASE_FOREST_H
#define TIPPE_SRC_BASE_FOREST_H

// The root of a member's tree. Halves the way to it for whoever asks next.
static inline int tpForest_Root(int* parents, int member) {
    while (parents[member] != member) {
        parents[member] = parents[parents[member]];
        member = parents[member];
    }
    return member;
}

// Makes one tree of two. The smaller number becomes the root: a tree's root is its first member.
static inline void tpForest_Join(int* parents, int a, int b) {
    a = tpForest_Root(parents, a);
    b = tpForest_Root(parents, b);
    parents[a < b ? b : a] = a < b ? a : b;
}

#endif
