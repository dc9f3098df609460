// Which links of a tree are in packs of hinges.

#include "steppers/small_steps/hinges.h"

const tpHingeKernels* tpGetHingeKernels(int width) {
#ifdef TP_HAS_WIDE_KERNELS
    if (width >= 4 && tpHasWidth(4)) {
        return &tp_avx2HingeKernels;
    }
#endif
    (void)width;
    return &tp_plainHingeKernels;
}

static void setLane(const tpSmallStep* step, const tpArticulation* articulation, int i, int lane,
                    tpHingePack* pack) {
    const tpJoint* joint = &step->system->joints.data[articulation->links[i]];
    const tpCoordinateDef* def = &joint->coordinates[0].def;
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
    pack->sign[lane] = joint->bodyB == articulation->bodies[i] ? 1.0 : -1.0;
    pack->bodyA[lane] = joint->bodyA;
    pack->bodyB[lane] = joint->bodyB;
    pack->node[lane] = i;
    pack->axisPlace[lane] = articulation->tree.nodes[i].axis;
    pack->numberOwn[lane] = articulation->numbers[i];
    pack->numberOther[lane] = articulation->numbers[articulation->tree.nodes[i].parent];
    bool isAsked = def->hasLimits || def->hasSpring || def->hasServo;
    pack->asked |= (uint8_t)(isAsked && lane == pack->count ? 1u << lane : 0u);
}

void tpHinges_Pack(const tpSmallStep* step, tpArticulation* articulation) {
    tpHingePack *packs = articulation->hinges, *pack = NULL;
    for (int i = 0; i < articulation->tree.nodeCount; ++i) {
        int link = articulation->links[i];
        if (link < 0 || articulation->tree.nodes[i].parent < 0 ||
            step->system->joints.data[link].type != tp_revoluteJoint) {
            continue;
        }
        if (pack == NULL || pack->count == tp_hingePackWidth) {
            pack = &packs[articulation->hingePackCount++];
            pack->count = pack->asked = 0;
            for (int lane = 0; lane < tp_hingePackWidth; ++lane) {
                setLane(step, articulation, i, lane, pack);
            }
        } else {
            setLane(step, articulation, i, pack->count, pack);
        }
        pack->count += 1;
        articulation->hingeCount += 1;
    }
}
