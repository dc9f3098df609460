// Mechanisms that fall. README.md, "Trees".
//
// Kicks at the starts of substeps move bodies by half of one more than forces do, as bodies.c has
// it. In free fall that would cost a mechanism m g^2 h / 2n of its energy per step. Its centre of
// mass is taken back to the parabola, and all bodies with it: no joint notices.

#include "steppers/small_steps/articulation.h"

bool tpArticulation_IsAnchored(const tpSmallStep* step, const tpArticulation* articulation) {
    const tpSystem* system = step->system;
    const int32_t* owners = step->state->map.owners.data;
    for (int k = 0; k < articulation->jointCount; ++k) {
        const tpJoint* joint = &system->joints.data[articulation->joints[k]];
        if (joint->bodyA < 0 || joint->bodyB < 0 || owners[joint->bodyA] < 0 ||
            owners[joint->bodyB] < 0) {
            return true;
        }
    }
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        if (system->bodies.data[articulation->bodies[i]].locked != 0) {
            return true;
        }
    }
    return false;
}

// All of it in flight, less the more contacts push against the weight, and nothing where they carry
// the mechanism.
static double fallingPart(const tpSmallStep* step, const tpArticulation* articulation,
                          double time) {
    tpVec3 pushed = tpZeroVec3();
    for (int t = 0; t < articulation->touchingCount; ++t) {
        const double* given = &articulation->given[6 * articulation->touching[t]];
        pushed = tpAdd(pushed, tpMakeVec3(given[0], given[1], given[2]));
    }
    double weight = time * articulation->mass * tpLength(step->system->gravity);
    return weight > 0.0 ? fmax(1.0 - 10.0 * tpLength(pushed) / weight, 0.0) : 0.0;
}

void tpArticulation_Fall(const tpSmallStep* step, const tpArticulation* articulation) {
    double time = articulation->finished * step->substepTime;
    double part = articulation->isAnchored ? 0.0 : fallingPart(step, articulation, time);
    if (part == 0.0) {
        return;
    }
    tpVec3 kick = tpZeroVec3();
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        kick = tpMulAdd(kick, articulation->masses[i].mass[0],
                        step->kicks[numberOf(articulation, i)].linear);
    }
    tpVec3 back = tpScale(-0.5 * time * part / articulation->mass, kick);
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        tpVec3* moved = &step->moved[numberOf(articulation, i)].linear;
        *moved = tpAdd(*moved, back);
    }
}
