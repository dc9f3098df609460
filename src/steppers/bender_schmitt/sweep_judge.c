// The certificate of a sweep: how far impulses and velocities are from the contact law.
//
// The natural map of docs/conventions.md, block by block: with u the velocity of the block, its
// sliding speed added to the normal velocity [DeSaxceFeng98], and rho = rows / trace(W),
//
//     |(r - P_K(r - rho u)) / rho|
//
// This file knows nothing of how the impulses came about; it reads the velocities as they are. A contact
// that sticks beyond mu_d is judged in the cone of mu_s.

#include "steppers/bender_schmitt/sweep.h"

// The nearest point of |r_T| <= mu r_n.
static void projectOnCone(double mu, double r[4]) {
    double force = sqrt(r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
    if (force <= mu * r[0]) {
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

typedef struct tpJudged {
    double normal, force, speed, power, miss;
    double mu;
} tpJudged;

static tpJudged judgeContact(const tpSweeper* sweeper, const tpContactPack* pack, int lane) {
    double u[4];
    tpSweeper_ContactVelocity(sweeper, pack->contact[lane], u);
    double r[4] = { pack->impulse[0][lane], pack->impulse[1][lane], pack->impulse[2][lane], 0.0 };
    double trace = pack->response[0][lane];
    int rowCount = 1;
    u[0] += pack->bias[0][lane];
    u[1] += pack->bias[1][lane];
    u[2] += pack->bias[2][lane];
    bool isRough = pack->muDynamic[lane] > 0.0 || pack->muStatic[lane] > 0.0;
    if (isRough) {
        trace += pack->response[3][lane] + pack->response[5][lane];
        rowCount = pack->response[5][lane] > 0.0 ? 3 : 2;
    }
    if (isRough && pack->torsion >= 0) {
        const tpTorsionPack* torsion = &sweeper->torsions[pack->torsion];
        r[3] = torsion->impulse[lane];
        u[3] += torsion->bias[lane];
        trace += torsion->response[3][lane];
        rowCount = 4;
    }
    tpJudged judged = { r[0], 0.0, 0.0, 0.0, 0.0, pack->muDynamic[lane] };
    for (int k = 1; k < rowCount; ++k) {
        judged.force += r[k] * r[k];
        judged.speed += u[k] * u[k];
        judged.power += r[k] * u[k];
    }
    judged.force = sqrt(judged.force);
    judged.speed = sqrt(judged.speed);
    if (judged.force > judged.mu * r[0] * (1.0 + 1e-9)) {
        judged.mu = pack->muStatic[lane];
    }
    double rho = trace > 0.0 ? rowCount / trace : 1.0;
    double low = pack->low[lane];
    double moved[4] = { r[0] - rho * (u[0] + judged.mu * judged.speed), 0.0, 0.0, 0.0 };
    for (int k = 1; k < rowCount; ++k) {
        moved[k] = r[k] - rho * u[k];
    }
    if (r[0] <= 0.0 && low < 0.0) {
        // A normal impulse below zero takes back an earlier one; it carries no friction.
        double answer = fmax(low, r[0] - rho * u[0]);
        judged.miss = fabs(r[0] - fmin(answer, fmax(answer, 0.0))) / rho;
        return judged;
    }
    projectOnCone(judged.mu, moved);
    double sum = 0.0;
    for (int k = 0; k < rowCount; ++k) {
        sum += (r[k] - moved[k]) * (r[k] - moved[k]);
    }
    judged.miss = sqrt(sum) / rho;
    return judged;
}

static double judgeJoint(const tpSweeper* sweeper, const tpSweepJoint* joint) {
    double u[3], sum = 0.0;
    tpSweeper_JointVelocity(sweeper, joint, u);
    double rho = joint->response > 0.0 ? 1.0 / joint->response : 1.0;
    for (int k = 0; k < joint->rowCount; ++k) {
        double moved = joint->impulse[k] - rho * u[k];
        if (joint->kind == tp_frictionNonnegative) {
            moved = fmax(0.0, moved);
        } else if (joint->kind == tp_frictionCone) {
            moved = fmin(fmax(moved, -joint->limit), joint->limit);
        }
        double miss = (joint->impulse[k] - moved) / rho;
        // Rows that no impulse can move (out of the plane) say nothing.
        bool isIdle = joint->solve[k][k] == 0.0;
        sum += isIdle ? 0.0 : miss * miss;
    }
    return sqrt(sum);
}

tpSweepVerdict tpSweeper_Judge(const tpSweeper* sweeper) {
    tpSweepVerdict verdict = { 0.0, 0.0, 0.0, 0.0 };
    double sum = 0.0, largestLoad = 0.0, largestSpeed = 0.0;
    for (int i = 0; i < sweeper->jointCount; ++i) {
        double miss = judgeJoint(sweeper, &sweeper->joints[i]);
        sum += miss * miss;
        verdict.worst = fmax(verdict.worst, miss);
    }
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < sweeper->contactCount; ++i) {
            int lane;
            const tpContactPack* pack = tpSweeper_PackOf(sweeper, i, &lane);
            if (pack->bias[0][lane] >= TP_SWEEP_OPEN) {
                continue;
            }
            tpJudged judged = judgeContact(sweeper, pack, lane);
            if (pass == 0) {
                sum += judged.miss * judged.miss;
                verdict.worst = fmax(verdict.worst, judged.miss);
                largestLoad = fmax(largestLoad, judged.normal);
                largestSpeed = fmax(largestSpeed, judged.speed);
                continue;
            }
            // Ratios of what is rounding say nothing.
            double limit = judged.mu * judged.normal;
            if (!(limit > 1e-9 * judged.mu * largestLoad)) {
                continue;
            }
            verdict.cone = fmax(verdict.cone, judged.force / limit - 1.0);
            if (judged.speed > 1e-6 * largestSpeed && judged.speed > 1e-9) {
                double gap = 1.0 + judged.power / (limit * judged.speed);
                verdict.dissipation = fmax(verdict.dissipation, gap);
            }
        }
    }
    verdict.velocity = sqrt(sum);
    return verdict;
}

double tpSweeper_FreeSpeed(const tpSweeper* sweeper) {
    double sum = 0.0;
    for (int i = 0; i < sweeper->jointCount; ++i) {
        double u[3];
        tpSweeper_JointVelocity(sweeper, &sweeper->joints[i], u);
        for (int k = 0; k < sweeper->joints[i].rowCount; ++k) {
            sum += u[k] * u[k];
        }
    }
    for (int i = 0; i < sweeper->contactCount; ++i) {
        int lane;
        const tpContactPack* pack = tpSweeper_PackOf(sweeper, i, &lane);
        if (pack->bias[0][lane] >= TP_SWEEP_OPEN) {
            continue;
        }
        double u[4];
        tpSweeper_ContactVelocity(sweeper, i, u);
        int rowCount = pack->muDynamic[lane] > 0.0 ? 4 : 1;
        for (int k = 0; k < rowCount; ++k) {
            double bias = k < 3 ? pack->bias[k][lane] : 0.0;
            sum += (u[k] + bias) * (u[k] + bias);
        }
    }
    return sqrt(sum);
}
