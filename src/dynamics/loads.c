#include "dynamics/loads.h"

#include <string.h>

bool tpSystem_StartLoads(tpSystem* system) {
    if (system->hasLoads && system->loads.count >= system->bodyCount) {
        return true;
    }
    if (!TP_RESERVE(&system->allocator, system->loads, system->bodyCount)) {
        return false;
    }
    // What is left of an earlier step is not cleared there: clearing costs nothing to those who
    // never apply forces.
    int kept = system->hasLoads ? system->loads.count : 0;
    memset(system->loads.data + kept, 0, sizeof(tpLoad) * (size_t)(system->bodyCount - kept));
    system->loads.count = system->bodyCount;
    system->hasLoads = true;
    return true;
}

void tpSystem_ForgetLoads(tpSystem* system) {
    system->hasLoads = false;
}

void tpLoad_AddForce(tpLoad* load, tpFrame frame, tpQuat rotation, tpVec3 force, tpVec3 arm) {
    load->isUsed = true;
    if (frame == tp_bodyFrame) {
        load->bodyForce = tpAdd(load->bodyForce, force);
        load->bodyTorque = tpAdd(load->bodyTorque, tpCross(arm, force));
        return;
    }
    load->force = tpAdd(load->force, force);
    tpVec3 point = tpUnrotate(rotation, arm);
    load->lever.cx = tpMulAdd(load->lever.cx, force.x, point);
    load->lever.cy = tpMulAdd(load->lever.cy, force.y, point);
    load->lever.cz = tpMulAdd(load->lever.cz, force.z, point);
}

void tpLoad_AddTorque(tpLoad* load, tpFrame frame, tpVec3 torque) {
    load->isUsed = true;
    tpVec3* sum = frame == tp_bodyFrame ? &load->bodyTorque : &load->torque;
    *sum = tpAdd(*sum, torque);
}

tpWrench tpLoad_Wrench(const tpLoad* load, tpQuat rotation) {
    tpVec3 x = tpRotate(rotation, load->lever.cx);
    tpVec3 y = tpRotate(rotation, load->lever.cy);
    tpVec3 z = tpRotate(rotation, load->lever.cz);
    // The sum of (R p) x F over all forces, from the sums of p F'.
    tpVec3 moment = tpMakeVec3(z.y - y.z, x.z - z.x, y.x - x.y);
    tpVec3 turned = tpAdd(load->torque, tpRotate(rotation, load->bodyTorque));
    tpWrench wrench = { tpAdd(load->force, tpRotate(rotation, load->bodyForce)),
                        tpAdd(turned, moment) };
    return wrench;
}

double tpLoad_LargestForce(const tpLoad* load) {
    return tpLength(load->force) + tpLength(load->bodyForce);
}

double tpLoad_LargestTorque(const tpLoad* load) {
    const tpMat33* lever = &load->lever;
    double square =
        tpLengthSquared(lever->cx) + tpLengthSquared(lever->cy) + tpLengthSquared(lever->cz);
    return tpLength(load->torque) + tpLength(load->bodyTorque) + sqrt(2.0 * square);
}
