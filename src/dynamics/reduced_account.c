// What trees do with energy, what their joints report, and the rest of their laws after the drift.

#include <string.h>

#include "dynamics/joint_laws.h"
#include "dynamics/reduced.h"

static const tpVelocity atRest;

static const tpVelocity* velocityOf(const tpVelocity* velocities, int body) {
    return body >= 0 ? &velocities[body] : &atRest;
}

// The rate of a link's coordinate.
static double rateOf(const tpReducedLink* link, const tpVelocity* velocities) {
    tpVec3 turn =
        tpSub(velocities[link->body].angular, velocityOf(velocities, link->other)->angular);
    return link->sign * tpDot(link->axis, turn);
}

// The velocity of a link's body against its parent, at its centre.
static tpVelocity relativeVelocity(const tpReducedLink* link, const tpVelocity* velocities) {
    const tpVelocity *own = &velocities[link->body], *other = velocityOf(velocities, link->other);
    tpVec3 carried = tpAdd(other->linear, tpCross(other->angular, link->way));
    return (tpVelocity){ .linear = tpSub(own->linear, carried),
                         .angular = tpSub(own->angular, other->angular) };
}

// What a joint holds acts at one stroke, and so does a rotor; laws act all along the way.
static void accountLink(const tpReduced* reduced, const tpReducedLink* link,
                        const tpRowVelocities* velocities, tpStepReport* report) {
    tpVelocity stroke = relativeVelocity(link, velocities->stroke);
    double rate = link->sign * tpDot(link->axis, stroke.angular), along = 0.0;
    double after = velocities->drift != NULL ? rateOf(link, velocities->drift) : link->rate;
    for (int k = 0; k < tp_reducedLawCount; ++k) {
        const tpReducedLaw* law = &link->laws[k];
        along += law->impulse;
        if (!(law->stiffness > 0.0)) {
            continue;
        }
        if (k == tp_reducedRotor) {
            // What bodies lose the rotor gains.
            double speed = -link->written[5] - 0.5 * law->impulse / law->stiffness;
            report->impactLoss -= law->impulse * (rate - speed);
        } else if (k == tp_reducedSpring) {
            tpAddDriveWork(-law->damping * rateOf(link, velocities->after) * after, report);
        } else {
            tpAddDriveWork(law->impulse * after, report);
        }
    }
    report->impactLoss -= tpWrench_Power(&link->impulse, &stroke) - along * rate;
    if (link->other >= 0 && !tpSystem_IsDynamic(reduced->system, link->other)) {
        // What a kinematic body puts in.
        const tpVelocity* base = &velocities->after[link->other];
        tpVelocity carried = { .linear = tpAdd(base->linear, tpCross(base->angular, link->way)),
                               .angular = base->angular };
        report->externalWork += tpWrench_Power(&link->impulse, &carried);
    }
}

void tpReduced_AccountEnergy(const tpReduced* reduced, const tpRowVelocities* velocities,
                             tpStepReport* report) {
    for (int i = 0; i < reduced->linkCount; ++i) {
        if (reduced->links[i].joint >= 0) {
            accountLink(reduced, &reduced->links[i], velocities, report);
        }
    }
}

static void feel(tpReducedLink* link, const tpWrench* onB) {
    link->felt.linear = tpAdd(link->felt.linear, onB->linear);
    link->felt.angular = tpAdd(link->felt.angular, onB->angular);
}

void tpReduced_StoreReactions(tpReduced* reduced) {
    for (int i = 0; i < reduced->linkCount; ++i) {
        tpReducedLink* link = &reduced->links[i];
        if (link->joint >= 0) {
            tpJoint_AddReaction(reduced->system, &reduced->system->joints.data[link->joint],
                                link->felt);
            link->felt = (tpWrench){ tpZeroVec3(), tpZeroVec3() };
        }
    }
}

void tpReduced_AddReactions(tpReduced* reduced) {
    tpSystem* system = reduced->system;
    double h = reduced->h;
    for (int i = 0; i < reduced->linkCount; ++i) {
        const tpReducedLink* link = &reduced->links[i];
        if (link->joint < 0) {
            continue;
        }
        tpJoint* joint = &system->joints.data[link->joint];
        tpWrench onB = { tpScale(link->sign / h, link->impulse.linear),
                         tpScale(link->sign / h, link->impulse.angular) };
        if (link->sign < 0.0) {
            // About the centre of B, not of A.
            onB.angular = tpAdd(onB.angular, tpCross(link->way, onB.linear));
        }
        feel(&reduced->links[i], &onB);
        tpCoordinate* coordinate = &joint->coordinates[0];
        if (link->laws[tp_reducedServo].stiffness > 0.0) {
            tpCoordinate_AddEffort(coordinate, tp_servoRole, 0, link->laws[tp_reducedServo].impulse,
                                   h);
        }
        const tpReducedLaw* rotor = &link->laws[tp_reducedRotor];
        if (rotor->stiffness > 0.0) {
            tpCoordinate_AddEffort(coordinate, tp_rotorRole, 0, rotor->impulse, h);
        }
    }
}

// A moment between a link's body and its parent, gathered in `momenta`.
static void addMoment(tpReduced* reduced, int i, tpVec3 moment) {
    int other = reduced->links[i].other;
    int parent = other >= 0 ? reduced->linkOf[other] : -1;
    double *own = &reduced->momenta[6 * i],
           *rest = parent >= 0 ? &reduced->momenta[6 * parent] : own;
    double part = parent >= 0 ? 1.0 : 0.0;
    own[3] += moment.x;
    own[4] += moment.y;
    own[5] += moment.z;
    rest[3] -= part * moment.x;
    rest[4] -= part * moment.y;
    rest[5] -= part * moment.z;
}

// The rest of the laws of one link.
static void kickLink(tpReduced* reduced, int i, const tpVelocity* meanVelocities,
                     const tpStepTimes* times, tpStepReport* report) {
    tpSystem* system = reduced->system;
    tpReducedLink* link = &reduced->links[i];
    tpJoint* joint = &system->joints.data[link->joint];
    tpCoordinate* coordinate = &joint->coordinates[0];
    const double shares[tp_reducedRotor] = { coordinate->springShare, coordinate->servoShare,
                                             coordinate->damperShare };
    tpJointRow now = tpHinge_Direction(joint, system->poses.data);
    double mean = rateOf(link, meanVelocities);
    double speed = tpJointRow_Speed(joint, &now, meanVelocities), impulse = 0.0, felt = 0.0;
    for (int k = 0; k < tp_reducedRotor; ++k) {
        const tpReducedLaw* law = &link->laws[k];
        if (!(law->stiffness > 0.0)) {
            continue;
        }
        double left = (1.0 - shares[k]) / shares[k], rest = left * law->impulse;
        double lent = 0.0, taken = 0.0;
        if (k == tp_reducedServo) {
            double effort = law->impulse / (shares[k] * times->h);
            lent =
                tpServoMemory_Advance(&coordinate->servoMemory, effort, shares[k], times, &taken);
            coordinate->effort += rest / times->whole;
        }
        impulse += rest + lent;
        felt += rest + lent - taken;
        // What a spring stores is part of the potential energy; its damper's part is not.
        double damped = -left * law->damping * mean;
        tpAddDriveWork((k == tp_reducedSpring ? damped : rest + lent - taken) * speed, report);
    }
    if (impulse == 0.0 && felt == 0.0) {
        return;
    }
    addMoment(reduced, i, tpScale(link->sign * impulse, now.onB.angular));
    double force = felt / times->whole;
    tpWrench onB = { tpScale(force, now.onB.linear), tpScale(force, now.onB.angular) };
    feel(link, &onB);
}

void tpReduced_KickRest(tpReduced* reduced, const tpVelocity* meanVelocities,
                        const tpStepTimes* times, tpStepReport* report) {
    memset(reduced->momenta, 0, sizeof(double) * 6 * (size_t)reduced->linkCount);
    for (int i = 0; i < reduced->linkCount; ++i) {
        if (reduced->links[i].joint >= 0) {
            kickLink(reduced, i, meanVelocities, times, report);
        }
    }
    for (int i = 0; i < reduced->linkCount; ++i) {
        const double* moment = &reduced->momenta[6 * i + 3];
        tpSystem_ApplyImpulse(reduced->system, reduced->links[i].body, tpZeroVec3(),
                              tpMakeVec3(moment[0], moment[1], moment[2]));
    }
}

double tpReduced_HeldSpeed(const tpReduced* reduced, const tpVelocity* velocities) {
    double largest = 0.0;
    for (int i = 0; i < reduced->linkCount; ++i) {
        const tpReducedLink* link = &reduced->links[i];
        if (link->joint < 0) {
            continue;
        }
        tpVelocity relative = relativeVelocity(link, velocities);
        // At the anchor, where the coordinate moves nothing.
        tpVec3 v = tpAdd(relative.linear, tpCross(relative.angular, link->arm));
        largest = fmax(largest, fmax(fmax(fabs(v.x), fabs(v.y)), fabs(v.z)));
        for (int k = 0; k < 2; ++k) {
            largest = fmax(largest, fabs(tpDot(link->across[k], relative.angular)));
        }
    }
    return largest;
}
