#include "dynamics/energy_account.h"

// Where the work of a row goes.
typedef enum tpWorkKind {
    tp_normalWork,   // of contacts, of what joints hold, of limits: losses of impacts
    tp_frictionWork, // of contacts
    tp_drivenWork,   // of motors, dry friction and springs of joints: from outside
    tp_storedWork // of springs between points, which potential energy has; their dampers work from outside
} tpWorkKind;

static tpWorkKind kindOf(const tpRows* rows, const tpSystem* system, int block, int k) {
    tpBlockInfo info = rows->infos[block];
    if (info.source == tp_contactSource) {
        return k == 0 ? tp_normalWork : tp_frictionWork;
    }
    bool isDriven =
        info.source == tp_boundedSource || rows->compliance[rows->firstRows[block] + k] > 0.0;
    if (!isDriven) {
        return tp_normalWork;
    }
    bool isStored = system->joints.data[info.index].type == tp_springJoint;
    return isStored ? tp_storedWork : tp_drivenWork;
}

static void addWork(tpWorkKind kind, double work, tpStepReport* report) {
    switch (kind) {
    case tp_normalWork:
        report->impactLoss -= work;
        break;
    case tp_frictionWork:
        report->frictionLoss -= work;
        break;
    case tp_drivenWork:
        report->externalWork += work;
        break;
    case tp_storedWork:
        break;
    }
}

void tpRows_AccountEnergy(const tpRows* rows, const tpSystem* system,
                          const tpRowVelocities* velocities, const tpContact* contacts,
                          tpStepReport* report) {
    for (int b = 0; b < rows->blockCount; ++b) {
        bool isContact = rows->infos[b].source == tp_contactSource;
        int index = rows->infos[b].index;
        int bodyA = isContact ? contacts[index].bodyA : system->joints.data[index].bodyA;
        int bodyB = isContact ? contacts[index].bodyB : system->joints.data[index].bodyB;
        int kinematicA = tpSystem_IsDynamic(system, bodyA) ? -1 : bodyA;
        int kinematicB = tpSystem_IsDynamic(system, bodyB) ? -1 : bodyB;
        for (int k = 0; k < rows->dimensions[b]; ++k) {
            int row = rows->firstRows[b] + k;
            double impulse = rows->impulse[row];
            tpWorkKind kind = kindOf(rows, system, b, k);
            double after = tpRows_RowVelocity(rows, row, velocities->after, bodyA, bodyB);
            double mean =
                0.5 * (tpRows_RowVelocity(rows, row, velocities->before, bodyA, bodyB) + after);
            bool isAllAlong = kind == tp_drivenWork || kind == tp_storedWork;
            if (isAllAlong && velocities->drift != NULL) {
                mean = tpRows_RowVelocity(rows, row, velocities->drift, bodyA, bodyB);
            }
            addWork(kind, impulse * mean, report);
            if (kind == tp_storedWork) {
                report->externalWork -= rows->damping[row] * after * mean;
            }
            // Of that, what kinematic bodies put in.
            report->externalWork -=
                impulse * tpRows_RowVelocity(rows, row, velocities->after, kinematicA, kinematicB);
        }
    }
}

void tpRows_AccountKick(const tpRows* rows, const tpSystem* system, const tpVelocity* start,
                        const tpVelocity* kicked, double share, tpStepReport* report) {
    for (int b = 0; b < rows->blockCount; ++b) {
        // Kinematic bodies are not kicked.
        int bodyA = rows->bodyA[b], bodyB = rows->bodyB[b];
        for (int k = 0; k < rows->dimensions[b]; ++k) {
            int row = rows->firstRows[b] + k;
            tpWorkKind kind = kindOf(rows, system, b, k);
            if (kind == tp_normalWork || kind == tp_frictionWork) {
                double kick = tpRows_RowVelocity(rows, row, kicked, bodyA, bodyB) -
                              tpRows_RowVelocity(rows, row, start, bodyA, bodyB);
                addWork(kind, -share * rows->impulse[row] * kick, report);
            }
        }
    }
}
