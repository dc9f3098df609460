#include "dynamics/energy_account.h"

void tpRows_AccountEnergy(const tpRows* rows, const tpSystem* system, const tpVelocity* before,
                          const tpVelocity* after, const tpContact* contacts,
                          tpStepReport* report) {
    for (int b = 0; b < rows->blockCount; ++b) {
        bool isContact = rows->infos[b].source == tp_contactSource;
        int index = rows->infos[b].index;
        int bodyA = isContact ? contacts[index].bodyA : system->joints.data[index].bodyA;
        int bodyB = isContact ? contacts[index].bodyB : system->joints.data[index].bodyB;
        for (int k = 0; k < rows->dimensions[b]; ++k) {
            int row = rows->firstRows[b] + k;
            double mean = 0.5 * (tpRows_RowVelocity(rows, row, before, bodyA, bodyB) +
                                 tpRows_RowVelocity(rows, row, after, bodyA, bodyB));
            // Of that, what bodies that move as told put in.
            int drivenA = tpSystem_IsDynamic(system, bodyA) ? -1 : bodyA;
            int drivenB = tpSystem_IsDynamic(system, bodyB) ? -1 : bodyB;
            double driven = tpRows_RowVelocity(rows, row, after, drivenA, drivenB);
            double work = rows->impulse[row] * mean;
            report->externalWork -= rows->impulse[row] * driven;
            if (!isContact) {
                bool isDriven =
                    rows->infos[b].source == tp_boundedSource || rows->compliance[row] > 0.0;
                if (!isDriven) {
                    report->impactLoss -= work;
                } else if (system->joints.data[index].type != tp_springJoint) {
                    report->externalWork += work;
                } else {
                    // What the spring stores is part of the potential energy; what the damper takes is not.
                    double speed = tpRows_RowVelocity(rows, row, after, bodyA, bodyB);
                    report->externalWork -= rows->damping[row] * speed * mean;
                }
            } else if (k == 0) {
                report->impactLoss -= work;
            } else {
                report->frictionLoss -= work;
            }
        }
    }
}

void tpRows_AccountKick(const tpRows* rows, const tpSystem* system, const tpVelocity* start,
                        const tpVelocity* kicked, double share, tpStepReport* report) {
    for (int b = 0; b < rows->blockCount; ++b) {
        bool isContact = rows->infos[b].source == tp_contactSource;
        int index = rows->infos[b].index;
        // Bodies that move as told are not kicked.
        int bodyA = rows->bodyA[b], bodyB = rows->bodyB[b];
        for (int k = 0; k < rows->dimensions[b]; ++k) {
            int row = rows->firstRows[b] + k;
            double kick = tpRows_RowVelocity(rows, row, kicked, bodyA, bodyB) -
                          tpRows_RowVelocity(rows, row, start, bodyA, bodyB);
            double work = share * rows->impulse[row] * kick;
            bool isDriven =
                rows->infos[b].source == tp_boundedSource || rows->compliance[row] > 0.0;
            if (isContact && k > 0) {
                report->frictionLoss += work;
            } else if (isContact || !isDriven) {
                report->impactLoss += work;
            } else if (system->joints.data[index].type != tp_springJoint) {
                report->externalWork -= work;
            }
        }
    }
}
