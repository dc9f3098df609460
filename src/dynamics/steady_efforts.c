#include "dynamics/steady_efforts.h"

#include "dynamics/couplings.h"
#include "dynamics/joint_types.h"
#include "dynamics/joints.h"

// The smaller of two efforts of one sign; 0 for two signs. An effort that has just come or gone, as
// when a servo starts to move, does not last.
static double lasting(double a, double b) {
    if (!(a * b > 0.0)) {
        return 0.0;
    }
    return fabs(a) < fabs(b) ? a : b;
}

double tpServoMemory_Advance(tpServoMemory* memory, double effort, double share,
                             const tpStepTimes* times, double* taken) {
    double lead = share * times->h - times->kick;
    *taken = lead * memory->steady;
    memory->steady = lasting(memory->last, effort);
    memory->last = effort;
    return lead * memory->steady;
}

static void takeBackCoordinates(tpSystem* system, const tpJoint* joint, double h, double kick) {
    tpJointPlace place;
    bool isPlaced = false;
    for (int k = 0; k < joint->coordinateCount; ++k) {
        const tpCoordinate* coordinate = &joint->coordinates[k];
        double impulse = (coordinate->servoShare * h - kick) * coordinate->servoMemory.steady;
        if (!coordinate->def.hasServo || impulse == 0.0) {
            continue;
        }
        place = isPlaced ? place : tpJoint_Place(joint, system->poses.data);
        isPlaced = true;
        tpJointRow row = tpJoint_CoordinateRow(joint, &place, k);
        tpJoint_ApplyRow(system, joint, &row, -impulse);
    }
}

void tpJoints_TakeBackSteady(tpSystem* system, double h, double kick) {
    for (int i = 0; i < system->joints.count; ++i) {
        if (system->joints.data[i].isLive) {
            takeBackCoordinates(system, &system->joints.data[i], h, kick);
        }
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        const tpCoupling* coupling = &system->couplings.data[i];
        double impulse = (coupling->servoShare * h - kick) * coupling->servoMemory.steady;
        if (coupling->isLive && coupling->def.hasServo && impulse != 0.0) {
            tpCouplingRow row;
            tpCoupling_Place(system, coupling, system->poses.data, &row);
            tpCouplingRow_Apply(system, &row, -impulse);
        }
    }
}

void tpJoints_ForgetSteady(tpSystem* system) {
    const tpServoMemory nothing = { 0.0, 0.0 };
    for (int i = 0; i < system->joints.count; ++i) {
        for (int k = 0; k < system->joints.data[i].coordinateCount; ++k) {
            system->joints.data[i].coordinates[k].servoMemory = nothing;
        }
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        system->couplings.data[i].servoMemory = nothing;
    }
}
