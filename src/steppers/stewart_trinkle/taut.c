#include "steppers/stewart_trinkle/taut.h"

#include "dynamics/couplings.h"
#include "dynamics/joint_rows.h"

// What distances give per unit of impulse if they have not been taut before, as a part of what that
// does to light bodies.
static const double mostFlexible = 1e-6;

// h^2 T / (m L) above which a distance is held fast by its tension.
static const double tightPhase = 1.0;

// Of the room that a distance has to give: how much of it one step takes that would take more, and
// the least, of what distances may be apart.
static const double givePart = 0.7, leastRoom = 1e-4;

// Distances that are farther apart than this at the end of a step have been taut, in units of
// length: others are closed to a tenth of it.
static const double leftApart = 1e-9;

static bool mayBeTaut(const tpJoint* joint) {
    if (!joint->isLive || joint->type != tp_distanceJoint) {
        return false;
    }
    const tpCoordinateDef* def = &joint->coordinates[0].def;
    return !def->hasLimits && !def->hasSpring && !def->hasServo && !def->hasMotor;
}

bool tpTaut_Suits(const tpSystem* system) {
    for (int i = 0; i < system->joints.count; ++i) {
        if (mayBeTaut(&system->joints.data[i])) {
            return true;
        }
    }
    return false;
}

static bool isLeft(const tpSystem* system, int index) {
    const tpJoint* joint = &system->joints.data[index];
    return mayBeTaut(joint) && tpJoint_PositionError(system, joint, system->poses.data) >
                                   leftApart * system->units.length;
}

bool tpTaut_IsLeft(const tpSystem* system) {
    bool isFound = false;
    for (int i = 0; !isFound && i < system->joints.count; ++i) {
        isFound = isLeft(system, i);
    }
    return isFound;
}

void tpTaut_Mark(const tpSystem* system, bool areAll, bool* isMarked) {
    for (int i = 0; i < system->joints.count; ++i) {
        const int bodies[2] = { system->joints.data[i].bodyA, system->joints.data[i].bodyB };
        bool isTaut = areAll ? mayBeTaut(&system->joints.data[i]) : isLeft(system, i);
        for (int side = 0; isTaut && side < 2; ++side) {
            if (tpSystem_IsDynamic(system, bodies[side])) {
                isMarked[bodies[side]] = true;
            }
        }
    }
}

static tpVec3 spanOf(const tpJoint* joint, const tpPose* poses) {
    tpJointPlace place = tpJoint_Place(joint, poses);
    return tpSub(place.pointB, place.pointA);
}

// What a unit of impulse does to a distance, without turns of its bodies.
static double responseOf(const tpSystem* system, const tpJoint* joint) {
    double response = 0.0;
    for (int side = 0; side < 2; ++side) {
        int body = side == 0 ? joint->bodyA : joint->bodyB;
        response += tpSystem_IsDynamic(system, body) ? system->bodies.data[body].inverseMass : 0.0;
    }
    return response;
}

// Gives no more than there is room for.
static void limitGive(tpTaut* taut, int joint, double h) {
    double given = h * taut->tension[joint] * taut->flexible[joint];
    double room = fmax(taut->enough - fabs(taut->meant[joint]), leastRoom * taut->enough);
    if (given > room) {
        taut->flexible[joint] = givePart * room / (h * taut->tension[joint]);
    }
}

bool tpTaut_Begin(tpTaut* taut, tpTimeStep* step, double enough) {
    const tpSystem* system = step->system;
    tpArena* arena = &step->system->arena;
    *taut = (tpTaut){ .enough = enough };
    taut->tension = TP_SCRATCH_ZEROED(arena, double, system->joints.count);
    taut->meant = TP_SCRATCH_ZEROED(arena, double, system->joints.count);
    taut->flexible = TP_SCRATCH_ZEROED(arena, double, system->joints.count);
    for (int i = 0; !arena->failed && i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (mayBeTaut(joint)) {
            tpVec3 span = spanOf(joint, step->startPoses);
            double length = tpLength(span), apart = length - joint->startLength;
            double pull = length > 0.0 ? -tpDot(joint->force, span) / length : 0.0;
            taut->tension[i] = step->h * fabs(pull);
            taut->meant[i] = fmin(fmax(apart, -enough), enough);
            taut->flexible[i] = mostFlexible * responseOf(system, joint);
            limitGive(taut, i, step->h);
        }
    }
    return !arena->failed;
}

// A row along `direction` at the anchors of a joint.
static void writeRow(tpRows* rows, int row, const tpJointPlace* place, tpVec3 direction) {
    tpVec3 back = tpNeg(direction);
    tpWrench onA = { back, tpCross(tpSub(place->pointA, place->centerA), back) };
    tpWrench onB = { direction, tpCross(tpSub(place->pointB, place->centerB), direction) };
    tpRows_WriteRow(rows, row, &onA, &onB);
}

// The row along a distance, and those across it by which its tension holds its ends where they are
// at the given poses.
static void addDistance(tpTaut* taut, tpTimeStep* step, int index, const tpPose* poses,
                        const tpJointTreatment* treatment) {
    tpRows* rows = &step->rows;
    const tpJoint* joint = &step->system->joints.data[index];
    tpJointPlace place = tpJoint_Place(joint, poses);
    tpVec3 span = tpSub(place.pointB, place.pointA);
    double length = tpLength(span), tension = taut->tension[index];
    tpVec3 directions[3] = { length > 0.0 ? tpScale(1.0 / length, span) : place.axisA };
    tpMakeTangents(directions[0], &directions[1], &directions[2]);
    bool isPlanar = rows->componentCount == 3;
    if (isPlanar) {
        directions[1] = tpMakeVec3(-directions[0].y, directions[0].x, 0.0);
    }
    int count = !(tension * length > 0.0) ? 1 : isPlanar ? 2 : 3;
    tpBlockInfo info = { .source = tp_jointSource, .index = index, .role = tp_heldRole };
    int block = tpRows_AddBlock(rows, step->system, info, tp_frictionFree, count, joint->bodyA,
                                joint->bodyB);
    limitGive(taut, index, step->h);
    for (int k = 0; k < count; ++k) {
        int row = rows->firstRows[block] + k;
        double error = k == 0 ? length - joint->startLength - taut->meant[index] : 0.0;
        writeRow(rows, row, &place, directions[k]);
        rows->compliance[row] = k == 0 ? taut->flexible[index] : length / (step->h * tension);
        rows->bias[row] = error / step->h;
        if (treatment->linearised != NULL) {
            rows->bias[row] -=
                tpRows_RowVelocity(rows, row, treatment->linearised, joint->bodyA, joint->bodyB);
        }
    }
}

void tpTaut_AddJointRows(tpTaut* taut, tpTimeStep* step, const tpPose* poses,
                         const tpJointTreatment* treatment) {
    tpSystem* system = step->system;
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (tpJoint_IsMovable(system, joint) && mayBeTaut(joint)) {
            addDistance(taut, step, i, poses, treatment);
        } else if (tpJoint_IsMovable(system, joint)) {
            tpJoint_AddRows(&step->rows, system, i, poses, treatment);
        }
    }
    tpCouplings_AddRows(&step->rows, system, poses, treatment, tp_wholeLaws);
}

static bool isTautRow(const tpTimeStep* step, int block) {
    const tpBlockInfo* info = &step->rows.infos[block];
    return info->source == tp_jointSource && !info->isCoupling && info->role == tp_heldRole &&
           mayBeTaut(&step->system->joints.data[info->index]);
}

bool tpTaut_IsTight(const tpTimeStep* step) {
    const tpRows* rows = &step->rows;
    bool isTight = false;
    for (int b = 0; !isTight && b < rows->blockCount; ++b) {
        if (isTautRow(step, b)) {
            const tpJoint* joint = &step->system->joints.data[rows->infos[b].index];
            double tension = fabs(rows->impulse[rows->firstRows[b]]);
            double phase = step->h * tension * responseOf(step->system, joint);
            isTight = phase > tightPhase * joint->startLength;
        }
    }
    return isTight;
}

void tpTaut_Read(tpTaut* taut, const tpTimeStep* step) {
    const tpRows* rows = &step->rows;
    taut->most = 0.0;
    for (int b = 0; b < rows->blockCount; ++b) {
        if (isTautRow(step, b)) {
            double tension = fabs(rows->impulse[rows->firstRows[b]]);
            taut->tension[rows->infos[b].index] = tension;
            taut->most = fmax(taut->most, tension);
        }
    }
}
