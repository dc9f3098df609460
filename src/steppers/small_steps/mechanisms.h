// Mechanisms: bodies that joints connect, and bodies with locked directions. What follows from the
// structure of a scene alone.

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_MECHANISMS_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_MECHANISMS_H

#include "dynamics/system.h"
#include "steppers/small_steps/hinge_pack.h"

// Where the parts of one mechanism begin; those of the next end them.
typedef struct tpMechanismPlace {
    int32_t joint, node; // in `joints`, and in `bodies`
    int32_t coupling;    // in `couplings`
    int32_t below;       // in the pattern; `starts` count from here
    int32_t start;       // in `starts`
    bool isTree;         // no loops, no couplings, nothing locked: nodes from the leaves to the
                         // root
    int32_t hingePack;   // in `hinges`, and how many hinges of a tree these have
    int32_t hingeCount;
    // Of its joints, with the laws that they have: rows, the axes that they leave free, and whether
    // a tree can carry all.
    int32_t blocks, rows, axes;
    bool areCarried;
} tpMechanismPlace;

typedef struct tpMechanismMap {
    uint64_t structure; // of the system for which this holds; 0: none
    int count;
    TP_ARRAY(tpMechanismPlace) places; // of each mechanism, and the end
    TP_ARRAY(int32_t) couplings;       // by mechanism
    TP_ARRAY(int32_t) joints;          // by mechanism
    TP_ARRAY(int32_t)
    blocks; // of each of them: where the pattern has the block of its two bodies; -1: nowhere
    TP_ARRAY(int32_t) bodies;        // by mechanism, in an order of elimination
    TP_ARRAY(int32_t) links;         // of trees, of each of them: its joint to the next; -1: none
    TP_ARRAY(int32_t) starts, below; // patterns: blocks below the diagonal, by columns
    TP_ARRAY(int32_t) owners, nodes; // of each body: its mechanism and its number there; -1: none
    // Hinges of trees (tpHinges_Follow), and of which structure and anchors; 0: none.
    TP_ARRAY(tpHingePack) hinges;
    uint64_t hingesStructure, hingesAnchors;
    uint64_t countedStructure, countedLaws; // for which rows of joints were counted; 0: none
} tpMechanismMap;

void tpMechanismMap_Destroy(tpMechanismMap* map, const tpAllocator* allocator);

// Brings the map up to date. False if memory ran out.
bool tpMechanismMap_Follow(tpMechanismMap* map, const tpSystem* system, tpArena* arena);

// Whether impulses may move a body, though it may be asleep now.
static inline bool tpMayMove(const tpBody* body) {
    return body->isLive && body->kind == tp_dynamicBody && body->mass > 0.0;
}

#endif
