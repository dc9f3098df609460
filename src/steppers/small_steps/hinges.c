// Which links of a tree are in packs of hinges.

#include "steppers/small_steps/hinges.h"

#include "steppers/small_steps/articulation_tree.h"

const tpHingeKernels* tpGetHingeKernels(int width) {
#ifdef TP_HAS_WIDE_KERNELS
    if (width >= 4 && tpHasWidth(4)) {
        return &tp_avx2HingeKernels;
    }
#endif
    (void)width;
    return &tp_plainHingeKernels;
}

// A tree of the map.
typedef struct Tree {
    const tpSystem* system;
    const int32_t *bodies, *links, *starts, *below; // of its nodes
    int nodeCount;
} Tree;

static void setLane(const Tree* tree, int node, int axisPlace, int lane, tpHingePack* pack) {
    const tpJoint* joint = &tree->system->joints.data[tree->links[node]];
    const double anchorA[3] = { joint->anchorA.x, joint->anchorA.y, joint->anchorA.z };
    const double anchorB[3] = { joint->anchorB.x, joint->anchorB.y, joint->anchorB.z };
    tpVec3 axis = joint->coordinates[0].axis;
    const double parts[3] = { axis.x, axis.y, axis.z };
    for (int k = 0; k < 3; ++k) {
        pack->anchorA[k][lane] = anchorA[k];
        pack->anchorB[k][lane] = anchorB[k];
        pack->axis[k][lane] = parts[k];
    }
    tpQuat relative = joint->relativeRotation;
    pack->relative[0][lane] = relative.w;
    pack->relative[1][lane] = relative.x;
    pack->relative[2][lane] = relative.y;
    pack->relative[3][lane] = relative.z;
    pack->sign[lane] = joint->bodyB == tree->bodies[node] ? 1.0 : -1.0;
    pack->bodyA[lane] = joint->bodyA;
    pack->bodyB[lane] = joint->bodyB;
    pack->node[lane] = node;
    pack->parent[lane] = tree->below[tree->starts[node]];
    pack->axisPlace[lane] = axisPlace;
}

// Returns the number of packs.
static int packTree(const Tree* tree, tpHingePack* packs, int32_t* hingeCount) {
    int count = 0, axis = 0;
    *hingeCount = 0;
    // The last node is the root.
    for (int i = 0; i < tree->nodeCount - 1; ++i) {
        const tpJoint* joint = &tree->system->joints.data[tree->links[i]];
        int place = axis;
        axis += tpTree_AxisCount(joint);
        if (joint->type != tp_revoluteJoint) {
            continue;
        }
        int lane = (*hingeCount)++ % tp_hingePackWidth;
        count += lane == 0 ? 1 : 0;
        tpHingePack* pack = &packs[count - 1];
        pack->count = (uint8_t)(lane + 1);
        for (int k = lane; k < (lane == 0 ? tp_hingePackWidth : lane + 1); ++k) {
            setLane(tree, i, place, k, pack);
        }
    }
    return count;
}

bool tpHinges_Follow(tpMechanismMap* map, const tpSystem* system) {
    if (map->hingesStructure == system->structure && map->hingesAnchors == system->anchorShifts) {
        return true;
    }
    // Each mechanism ends with a pack that may not be full.
    int room = map->bodies.count / tp_hingePackWidth + map->count;
    map->hingesStructure = 0;
    if (!TP_RENEW(&system->allocator, map->hinges, room)) {
        return room == 0;
    }
    map->hinges.count = 0;
    for (int m = 0; m < map->count; ++m) {
        tpMechanismPlace *at = &map->places.data[m], *end = at + 1;
        Tree tree = { .system = system,
                      .bodies = TP_PLACE(map->bodies, at->node),
                      .links = TP_PLACE(map->links, at->node),
                      .starts = TP_PLACE(map->starts, at->start),
                      .below = TP_PLACE(map->below, at->below),
                      .nodeCount = at->isTree ? end->node - at->node : 0 };
        at->hingePack = map->hinges.count;
        map->hinges.count +=
            packTree(&tree, TP_PLACE(map->hinges, map->hinges.count), &at->hingeCount);
    }
    map->places.data[map->count].hingePack = map->hinges.count;
    map->hingesStructure = system->structure;
    map->hingesAnchors = system->anchorShifts;
    return true;
}

void tpHinges_Ask(tpArticulation* articulation, int n, bool isAsked) {
    int lane = n % tp_hingePackWidth;
    tpHingePack* pack = &articulation->hinges[n / tp_hingePackWidth];
    pack->asked = (uint8_t)((lane == 0 ? 0u : pack->asked) | (isAsked ? 1u << lane : 0u));
}
