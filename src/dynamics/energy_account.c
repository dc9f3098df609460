#include "dynamics/energy_account.h"

// Where the work of a row goes.
typedef enum tpWorkKind {
    tp_normalWork,   // of contacts, of what joints hold, of limits: losses of impacts
    tp_frictionWork, // of contacts
    tp_drivenWork,   // of motors, servos, dampers and dry friction of joints: from outside
    tp_storedWork,   // of springs in joints and contacts, which potential energy has; their dampers
                     // work from outside
    tp_rotorWork     // of armatures, whose energy counts with that of bodies
} tpWorkKind;

static tpWorkKind kindOf(const tpRows* rows, int block, int k) {
    const tpBlockInfo* info = &rows->infos[block];
    if (info->source == tp_contactSource) {
        bool isSpring = rows->compliance[rows->firstRows[block]] > 0.0;
        return k > 0 ? tp_frictionWork : isSpring ? tp_storedWork : tp_normalWork;
    }
    switch (info->role) {
    case tp_heldRole:
    case tp_limitRole:
        return tp_normalWork;
    case tp_springRole:
        return tp_storedWork;
    case tp_rotorRole:
    case tp_turnRotorRole:
        return tp_rotorWork;
    default:
        return tp_drivenWork;
    }
}

// Parts of what drives take out and put in that their work in one step may be off by: velocities
// change within it, by half and more if a damper is stiff. What is taken out cannot come back, so
// that the first of them makes no energy.
static const double takenSlack = 0.5, givenSlack = 0.02;

void tpAddDriveWork(double work, tpStepReport* report) {
    report->externalWork += work;
    double slack = work < 0.0 ? -takenSlack * work : givenSlack * work;
    tpStepReport_SetDriveSlack(report, tpStepReport_GetDriveSlack(report) + slack);
}

static void addWork(tpWorkKind kind, double work, tpStepReport* report) {
    switch (kind) {
    case tp_normalWork:
    case tp_rotorWork:
        report->impactLoss -= work;
        break;
    case tp_frictionWork:
        report->frictionLoss -= work;
        break;
    case tp_drivenWork:
        tpAddDriveWork(work, report);
        break;
    case tp_storedWork:
        break;
    }
}

const tpVelocity* tpStrokeVelocities(tpSystem* system, const tpRowVelocities* velocities,
                                     const tpKick* kicks, int kickCount) {
    tpVelocity* stroke = TP_SCRATCH(&system->arena, tpVelocity, system->bodyCount);
    for (int i = 0; stroke != NULL && i < system->bodyCount; ++i) {
        const tpVelocity *before = &velocities->before[i], *after = &velocities->after[i];
        stroke[i].linear = tpScale(0.5, tpAdd(before->linear, after->linear));
        stroke[i].angular = tpScale(0.5, tpAdd(before->angular, after->angular));
        // Kinematic bodies are not kicked.
        for (int k = 0; k < kickCount && tpSystem_IsDynamic(system, i); ++k) {
            const tpVelocity *start = &kicks[k].start[i], *kicked = &kicks[k].kicked[i];
            tpVec3 linear = tpSub(kicked->linear, start->linear);
            tpVec3 angular = tpSub(kicked->angular, start->angular);
            stroke[i].linear = tpMulAdd(stroke[i].linear, -kicks[k].share, linear);
            stroke[i].angular = tpMulAdd(stroke[i].angular, -kicks[k].share, angular);
        }
    }
    return stroke;
}

// The velocity of a row by which it does its work.
static double workingVelocity(const tpRows* rows, int block, int row, tpWorkKind kind,
                              const tpRowVelocities* velocities) {
    int bodyA = rows->givenA[block], bodyB = rows->givenB[block];
    bool isAllAlong = kind == tp_drivenWork || kind == tp_storedWork;
    if (isAllAlong && velocities->drift != NULL) {
        return rows->missed[row] + tpRows_RowVelocity(rows, row, velocities->drift, bodyA, bodyB);
    }
    if (!isAllAlong && velocities->stroke != NULL) {
        return tpRows_RowVelocity(rows, row, velocities->stroke, bodyA, bodyB);
    }
    return 0.5 * (tpRows_RowVelocity(rows, row, velocities->before, bodyA, bodyB) +
                  tpRows_RowVelocity(rows, row, velocities->after, bodyA, bodyB));
}

// Of the work of a row, what kinematic bodies put in.
static void addGiven(const tpRows* rows, int block, int row, const tpVelocity* after,
                     tpStepReport* report) {
    bool isGiven = rows->bodyA[block] != rows->givenA[block] ||
                   rows->bodyB[block] != rows->givenB[block] || rows->termCounts[row] > 0;
    if (isGiven) {
        report->externalWork -=
            rows->impulse[row] * tpRows_KinematicVelocity(rows, block, row, after);
    }
}

// One row of any kind.
static void accountRow(const tpRows* rows, int block, int row, tpWorkKind kind,
                       const tpRowVelocities* velocities, tpStepReport* report) {
    double impulse = rows->impulse[row];
    double mean = workingVelocity(rows, block, row, kind, velocities);
    if (kind == tp_rotorWork) {
        // What bodies lose the rotor gains.
        mean -= rows->rotor[row] - 0.5 * rows->compliance[row] * impulse;
    }
    addWork(kind, impulse * mean, report);
    if (kind == tp_storedWork) {
        double after = tpRows_RowVelocity(rows, row, velocities->after, rows->givenA[block],
                                          rows->givenB[block]);
        tpAddDriveWork(-rows->damping[row] * (after + rows->missed[row]) * mean, report);
    }
    addGiven(rows, block, row, velocities->after, report);
}

// A block that holds a joint at one stroke: most rows of mechanisms are of such blocks.
static void accountHeld(const tpRows* rows, int block, const tpVelocity* stroke,
                        const tpVelocity* after, tpStepReport* report) {
    double u[TP_FRICTION_MAX_ROWS];
    int first = rows->firstRows[block], count = rows->dimensions[block];
    tpRows_ReadBlock(rows, block, stroke, u);
    for (int k = 0; k < count; ++k) {
        report->impactLoss -= rows->impulse[first + k] * u[k];
        addGiven(rows, block, first + k, after, report);
    }
}

void tpRows_AccountEnergy(const tpRows* rows, const tpRowVelocities* velocities,
                          tpStepReport* report) {
    for (int b = 0; b < rows->blockCount; ++b) {
        bool isHeld = rows->infos[b].source == tp_jointSource && rows->infos[b].role == tp_heldRole;
        if (isHeld && velocities->stroke != NULL) {
            accountHeld(rows, b, velocities->stroke, velocities->after, report);
            continue;
        }
        for (int k = 0; k < rows->dimensions[b]; ++k) {
            int row = rows->firstRows[b] + k;
            tpWorkKind kind = kindOf(rows, b, k);
            if (rows->impulse[row] != 0.0 || kind == tp_storedWork) {
                accountRow(rows, b, row, kind, velocities, report);
            }
        }
    }
}

void tpRows_AccountKick(const tpRows* rows, const tpVelocity* start, const tpVelocity* kicked,
                        double share, tpStepReport* report) {
    for (int b = 0; b < rows->blockCount; ++b) {
        // Kinematic bodies are not kicked.
        int bodyA = rows->bodyA[b], bodyB = rows->bodyB[b];
        for (int k = 0; k < rows->dimensions[b]; ++k) {
            int row = rows->firstRows[b] + k;
            tpWorkKind kind = kindOf(rows, b, k);
            if (rows->impulse[row] != 0.0 && kind != tp_drivenWork && kind != tp_storedWork) {
                double kick = tpRows_RowVelocity(rows, row, kicked, bodyA, bodyB) -
                              tpRows_RowVelocity(rows, row, start, bodyA, bodyB);
                addWork(kind, -share * rows->impulse[row] * kick, report);
            }
        }
    }
}
