#include "steppers/auto/flow_surface.h"

#include <string.h>

#include "steppers/auto/flow_solve.h"

// Normals that turn by less stand still, and those that turn by more turn, rad. In units of length:
// the same for points. What lies between tells nothing.
static const double stillTurn = 1e-11, leastTurn = 1e-9, stillWay = 1e-11, leastWay = 1e-9;

tpFlowSurface tpFlowSurface_Between(const tpFlowRows* from, const tpFlowRows* to,
                                    const tpSystem* system, int contact, int side) {
    const tpFlowSpot *first = &from->spots[contact][side], *last = &to->spots[contact][side];
    double turn = tpDistanceBetween(first->normal, last->normal);
    double way = tpDistanceBetween(first->point, last->point) / system->units.length;
    if (turn <= stillTurn) {
        return way >= leastWay ? tp_flowFlat : tp_flowUnknown;
    }
    return turn < leastTurn ? tp_flowUnknown : way <= stillWay ? tp_flowSharp : tp_flowRound;
}

bool tpFlowSurface_AreAlike(tpFlowSurface a, tpFlowSurface b) {
    bool isKnown = a != tp_flowUnknown && b != tp_flowUnknown;
    return !isKnown || (a == tp_flowFlat) == (b == tp_flowFlat);
}

// In units of length: so far bodies move to see what surfaces their contacts are on. That is far
// less than what a step is off by, and far more than rounding.
static const double probeWay = 1e-6;

// The rows a moment after now, in the room of the next stage. False if a contact is not found.
static bool probe(tpFlow* flow, tpSystem* system) {
    const tpFlowPlan* plan = &flow->plan;
    double fastest = 0.0;
    for (int k = 0; k < plan->bodyCount; ++k) {
        int i = plan->bodies[k];
        fastest = fmax(fastest, tpVelocity_LargestSpeed(system, i, &system->velocities.data[i]));
    }
    for (int i = 0; system->mayMoveAsTold && i < system->bodyCount; ++i) {
        fastest = fmax(fastest, tpVelocity_LargestSpeed(system, i, &system->velocities.data[i]));
    }
    if (!(fastest > 0.0)) {
        return false;
    }
    double time = probeWay * system->units.length / fastest;
    for (int i = 0; i < system->bodyCount; ++i) {
        tpPose* pose = &system->poses.data[i];
        const tpVelocity* velocity = &system->velocities.data[i];
        flow->memory->poses[i] = *pose;
        pose->position = tpMulAdd(pose->position, time, velocity->linear);
        tpQuat turn = tpQuatExp(tpScale(time, velocity->angular));
        pose->rotation = tpNormalizeQuat(tpMulQQ(turn, pose->rotation));
    }
    bool isFound = tpFlowRows_Find(flow->memory->next, plan, system);
    memcpy(system->poses.data, flow->memory->poses, sizeof(tpPose) * (size_t)system->bodyCount);
    return isFound;
}

void tpFlow_FindSurfaces(tpFlow* flow, tpSystem* system) {
    tpFlowMemory* memory = flow->memory;
    bool isKnown = flow->plan.contactCount > 0 && probe(flow, system);
    for (int i = 0; i < flow->plan.contactCount; ++i) {
        for (int side = 0; side < 2; ++side) {
            memory->surfaces[i][side] =
                isKnown ? tpFlowSurface_Between(memory->now, memory->next, system, i, side)
                        : tp_flowUnknown;
        }
    }
}

bool tpFlow_AreSurfacesAlike(tpFlow* flow, const tpSystem* system) {
    tpFlowMemory* memory = flow->memory;
    for (int i = 0; i < flow->plan.contactCount; ++i) {
        for (int side = 0; side < 2; ++side) {
            tpFlowSurface* known = &memory->surfaces[i][side];
            tpFlowSurface now = tpFlowSurface_Between(memory->now, memory->next, system, i, side);
            if (!tpFlowSurface_AreAlike(*known, now)) {
                return false;
            }
            *known = *known == tp_flowUnknown ? now : *known;
        }
    }
    return true;
}

bool tpFlow_AreEdgesLeft(tpFlow* flow, tpSystem* system) {
    bool hasEdges = false;
    for (int i = 0; i < flow->plan.contactCount; ++i) {
        const tpFlowSurface* surfaces = flow->memory->surfaces[i];
        hasEdges = hasEdges || surfaces[0] == tp_flowSharp || surfaces[1] == tp_flowSharp;
    }
    return hasEdges && flow->watch != tp_flowBlind && probe(flow, system) &&
           !tpFlow_AreSurfacesAlike(flow, system);
}
