// The certificate of a sweep: how far impulses and velocities are from the contact law.
//
// The natural map of docs/conventions.md, block by block: with u the velocity of the block, its
// sliding speed added to the normal velocity [DeSaxceFeng98], and rho = rows / trace(W),
//
//     |(r - P_K(r - rho u)) / rho|
//
// This file knows nothing of how the impulses came about; it reads the velocities as they are. A
// contact that sticks beyond mu_d is judged in the cone of mu_s.

#include "sweeps/sweeper.h"

// The nearest point of |r_T| <= mu r_n.
static void projectOnCone(double mu, double r[4]) {
    double force = sqrt(r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
    if (r[0] >= 0.0 && force <= mu * r[0]) {
        return;
    }
    if (mu * force <= -r[0]) {
        r[0] = r[1] = r[2] = r[3] = 0.0;
        return;
    }
    double normal = (r[0] + mu * force) / (1.0 + mu * mu);
    double factor = mu * normal / force;
    r[0] = normal;
    for (int k = 1; k < 4; ++k) {
        r[k] *= factor;
    }
}

// A contact as it stands: impulses and velocities with biases, rows that count, and sizes.
typedef struct tpJudged {
    double r[4], u[4];
    int rowCount;
    double mu, force, speed;
    double rho; // rows / trace(W)
} tpJudged;

static tpJudged readContact(const tpSweeper* sweeper, const tpContactPack* pack, int lane) {
    tpJudged c = { .rowCount = 1, .mu = pack->muDynamic[lane] };
    for (int k = 0; k < 3; ++k) {
        c.r[k] = pack->impulse[k][lane];
        c.u[k] = pack->speed[k][lane] + pack->bias[k][lane];
    }
    double trace = pack->response[0][lane];
    bool isRough = pack->muDynamic[lane] > 0.0 || pack->muStatic[lane] > 0.0;
    if (isRough) {
        trace += pack->response[3][lane] + pack->response[5][lane];
        c.rowCount = pack->response[5][lane] > 0.0 ? 3 : 2;
    }
    if (isRough && pack->torsion >= 0) {
        const tpTorsionPack* torsion = &sweeper->torsions[pack->torsion];
        c.r[3] = torsion->impulse[lane];
        c.u[3] = torsion->speed[lane] + torsion->bias[lane];
        trace += torsion->response[3][lane];
        c.rowCount = 4;
    }
    for (int k = 1; k < c.rowCount; ++k) {
        c.force += c.r[k] * c.r[k];
        c.speed += c.u[k] * c.u[k];
    }
    c.force = sqrt(c.force);
    c.speed = sqrt(c.speed);
    if (c.force > c.mu * c.r[0] * (1.0 + 1e-9)) {
        c.mu = pack->muStatic[lane];
    }
    c.rho = trace > 0.0 ? c.rowCount / trace : 1.0;
    return c;
}

// The natural map of a contact, in velocities.
static double missOf(const tpJudged* c, double low) {
    if (c->r[0] <= 0.0 && low < 0.0) {
        // A normal impulse below zero takes back an earlier one; it carries no friction.
        double answer = fmax(low, c->r[0] - c->rho * c->u[0]);
        return fabs(c->r[0] - answer) / c->rho;
    }
    double moved[4] = { c->r[0] - c->rho * (c->u[0] + c->mu * c->speed), 0.0, 0.0, 0.0 };
    for (int k = 1; k < c->rowCount; ++k) {
        moved[k] = c->r[k] - c->rho * c->u[k];
    }
    projectOnCone(c->mu, moved);
    double sum = 0.0;
    for (int k = 0; k < c->rowCount; ++k) {
        sum += (c->r[k] - moved[k]) * (c->r[k] - moved[k]);
    }
    return sqrt(sum) / c->rho;
}

static bool takesPart(const tpContactPack* pack, int lane) {
    return pack->contact[lane] >= 0 && pack->bias[0][lane] < TP_SWEEP_OPEN;
}

static double judgeJoint(const tpSweeper* sweeper, const tpSweepJoint* joint) {
    double u[3], sum = 0.0;
    tpSweeper_JointVelocity(sweeper, joint, u);
    double rho = joint->response > 0.0 ? 1.0 / joint->response : 1.0;
    for (int k = 0; k < joint->rowCount; ++k) {
        double moved = joint->impulse[k] - rho * u[k];
        if (joint->kind == tp_oneSidedSweepJoint) {
            moved = fmax(0.0, moved);
        } else if (joint->kind == tp_boundedSweepJoint) {
            moved = fmin(fmax(moved, -joint->limit), joint->limit);
        }
        double miss = (joint->impulse[k] - moved) / rho;
        // Rows that no impulse can move (out of the plane) say nothing.
        bool isIdle = joint->solve[k][k] == 0.0;
        sum += isIdle ? 0.0 : miss * miss;
    }
    return joint->scale * sqrt(sum);
}

// Cone and dissipation of the contacts of a pack. Ratios of what is rounding say nothing.
static void judgeRatios(const tpSweeper* sweeper, const tpContactPack* pack, double largestLoad,
                        double largestSpeed, tpSweepVerdict* verdict) {
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        if (!takesPart(pack, lane) || !(pack->impulse[0][lane] > 1e-9 * largestLoad)) {
            continue;
        }
        tpJudged c = readContact(sweeper, pack, lane);
        double limit = c.mu * c.r[0];
        if (!(limit > 0.0)) {
            continue;
        }
        verdict->cone = fmax(verdict->cone, c.force / limit - 1.0);
        if (c.speed > 1e-6 * largestSpeed && c.speed > 1e-9 * sweeper->speedUnit) {
            double power = c.r[1] * c.u[1] + c.r[2] * c.u[2] + c.r[3] * c.u[3];
            verdict->dissipation = fmax(verdict->dissipation, 1.0 + power / (limit * c.speed));
        }
    }
}

// An open contact that carries nothing meets the law.
static bool isPlainlyOpen(const tpContactPack* pack, int lane) {
    return pack->impulse[0][lane] == 0.0 && pack->impulse[1][lane] == 0.0 &&
           pack->impulse[2][lane] == 0.0 && pack->torsion < 0 && pack->low[lane] == 0.0 &&
           pack->speed[0][lane] + pack->bias[0][lane] >= 0.0;
}

double tpSweeper_Miss(tpSweeper* sweeper) {
    double sum = 0.0;
    for (int i = 0; i < sweeper->jointCount; ++i) {
        double miss = judgeJoint(sweeper, &sweeper->joints[i]);
        sum += miss * miss;
    }
    tpSweeper_FindSpeeds(sweeper);
    for (int p = 0; p < sweeper->packCount; ++p) {
        const tpContactPack* pack = &sweeper->packs[p];
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            if (takesPart(pack, lane) && !isPlainlyOpen(pack, lane)) {
                tpJudged c = readContact(sweeper, pack, lane);
                double miss = missOf(&c, pack->low[lane]);
                sum += miss * miss;
            }
        }
    }
    return sqrt(sum);
}

tpSweepVerdict tpSweeper_Judge(tpSweeper* sweeper) {
    tpSweepVerdict verdict = { 0.0, 0.0, 0.0, 0.0 };
    double sum = 0.0, largestLoad = 0.0, largestSpeed = 0.0;
    for (int i = 0; i < sweeper->jointCount; ++i) {
        double miss = judgeJoint(sweeper, &sweeper->joints[i]);
        sum += miss * miss;
        verdict.worst = fmax(verdict.worst, miss);
    }
    tpSweeper_FindSpeeds(sweeper);
    for (int p = 0; p < sweeper->packCount; ++p) {
        const tpContactPack* pack = &sweeper->packs[p];
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            if (!takesPart(pack, lane)) {
                continue;
            }
            tpJudged c = readContact(sweeper, pack, lane);
            double miss = missOf(&c, pack->low[lane]);
            sum += miss * miss;
            verdict.worst = fmax(verdict.worst, miss);
            largestLoad = fmax(largestLoad, c.r[0]);
            largestSpeed = fmax(largestSpeed, c.speed);
        }
    }
    for (int p = 0; p < sweeper->packCount; ++p) {
        judgeRatios(sweeper, &sweeper->packs[p], largestLoad, largestSpeed, &verdict);
    }
    verdict.velocity = sqrt(sum);
    return verdict;
}

double tpSweeper_FreeSpeed(tpSweeper* sweeper) {
    double sum = 0.0;
    for (int i = 0; i < sweeper->jointCount; ++i) {
        double u[3];
        tpSweeper_JointVelocity(sweeper, &sweeper->joints[i], u);
        for (int k = 0; k < sweeper->joints[i].rowCount; ++k) {
            double speed = sweeper->joints[i].scale * u[k];
            sum += speed * speed;
        }
    }
    tpSweeper_FindSpeeds(sweeper);
    for (int p = 0; p < sweeper->packCount; ++p) {
        const tpContactPack* pack = &sweeper->packs[p];
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            if (!takesPart(pack, lane)) {
                continue;
            }
            int rowCount = pack->muDynamic[lane] > 0.0 ? 3 : 1;
            for (int k = 0; k < rowCount; ++k) {
                double u = pack->speed[k][lane] + pack->bias[k][lane];
                sum += u * u;
            }
            if (rowCount == 3 && pack->torsion >= 0) {
                double spin = sweeper->torsions[pack->torsion].speed[lane];
                sum += spin * spin;
            }
        }
    }
    return sqrt(sum);
}
