#include "dynamics/joint_state.h"

enum { reactionNumbers = 6, effortNumbers = 2, motionNumbers = 9, couplingNumbers = 2 };

int tpJoints_ReactionCount(const tpSystem* system) {
    int count = 0;
    for (int i = 0; i < system->joints.count; ++i) {
        count += reactionNumbers + effortNumbers * system->joints.data[i].coordinateCount;
    }
    return count + effortNumbers * system->couplings.count;
}

static double* readReactions(const tpJoint* joint, double* numbers) {
    const double own[reactionNumbers] = { joint->force.x,  joint->force.y,  joint->force.z,
                                          joint->torque.x, joint->torque.y, joint->torque.z };
    for (int k = 0; k < reactionNumbers; ++k) {
        *numbers++ = own[k];
    }
    for (int k = 0; k < joint->coordinateCount; ++k) {
        *numbers++ = joint->coordinates[k].effort;
        *numbers++ = joint->coordinates[k].limitEffort;
    }
    return numbers;
}

static void readCouplingEfforts(const tpSystem* system, double* numbers) {
    for (int i = 0; i < system->couplings.count; ++i) {
        *numbers++ = system->couplings.data[i].effort;
        *numbers++ = system->couplings.data[i].limitEffort;
    }
}

void tpJoints_ReadReactions(const tpSystem* system, double* numbers) {
    for (int i = 0; i < system->joints.count; ++i) {
        numbers = readReactions(&system->joints.data[i], numbers);
    }
    readCouplingEfforts(system, numbers);
}

void tpJoints_WriteReactions(tpSystem* system, const double* numbers) {
    for (int i = 0; i < system->joints.count; ++i) {
        tpJoint* joint = &system->joints.data[i];
        joint->force = tpMakeVec3(numbers[0], numbers[1], numbers[2]);
        joint->torque = tpMakeVec3(numbers[3], numbers[4], numbers[5]);
        numbers += reactionNumbers;
        for (int k = 0; k < joint->coordinateCount; ++k) {
            joint->coordinates[k].effort = *numbers++;
            joint->coordinates[k].limitEffort = *numbers++;
        }
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        system->couplings.data[i].effort = *numbers++;
        system->couplings.data[i].limitEffort = *numbers++;
    }
}

int tpJoint_MotionCount(const tpJoint* joint) {
    return motionNumbers * joint->coordinateCount;
}

int tpJoints_MotionCount(const tpSystem* system) {
    int count = 0;
    for (int i = 0; i < system->joints.count; ++i) {
        count += tpJoint_MotionCount(&system->joints.data[i]);
    }
    return count + couplingNumbers * system->couplings.count;
}

static double* readMotion(const tpJoint* joint, double* numbers) {
    for (int k = 0; k < joint->coordinateCount; ++k) {
        const tpCoordinate* coordinate = &joint->coordinates[k];
        *numbers++ = coordinate->displacement;
        for (int axis = 0; axis < 3; ++axis) {
            *numbers++ = coordinate->rotorSpeed[axis];
            *numbers++ = coordinate->endSpeed[axis];
        }
        *numbers++ = coordinate->servoMemory.last;
        *numbers++ = coordinate->servoMemory.steady;
    }
    return numbers;
}

static void readCouplingMotion(const tpSystem* system, double* numbers) {
    for (int i = 0; i < system->couplings.count; ++i) {
        *numbers++ = system->couplings.data[i].servoMemory.last;
        *numbers++ = system->couplings.data[i].servoMemory.steady;
    }
}

void tpJoints_ReadMotion(const tpSystem* system, double* numbers) {
    for (int i = 0; i < system->joints.count; ++i) {
        numbers = readMotion(&system->joints.data[i], numbers);
    }
    readCouplingMotion(system, numbers);
}

void tpJoints_ReadAll(const tpSystem* system, double* reactions, double* motion) {
    for (int i = 0; i < system->joints.count; ++i) {
        reactions = readReactions(&system->joints.data[i], reactions);
        motion = readMotion(&system->joints.data[i], motion);
    }
    readCouplingEfforts(system, reactions);
    readCouplingMotion(system, motion);
}

void tpJoints_WriteMotion(tpSystem* system, const double* numbers) {
    for (int i = 0; i < system->joints.count; ++i) {
        tpJoint* joint = &system->joints.data[i];
        for (int k = 0; k < joint->coordinateCount; ++k) {
            tpCoordinate* coordinate = &joint->coordinates[k];
            coordinate->displacement = *numbers++;
            for (int axis = 0; axis < 3; ++axis) {
                coordinate->rotorSpeed[axis] = *numbers++;
                coordinate->endSpeed[axis] = *numbers++;
            }
            coordinate->servoMemory.last = *numbers++;
            coordinate->servoMemory.steady = *numbers++;
        }
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        system->couplings.data[i].servoMemory.last = *numbers++;
        system->couplings.data[i].servoMemory.steady = *numbers++;
    }
}
