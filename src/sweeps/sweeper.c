// One sweep over joints and contacts, contact by contact: the plain twin of every faster way, which
// do the same operations in the same order and give the same bits.
//
// A contact is solved in three strokes from one reading of its bodies' velocities: the normal row
// with its clamp [BenderSchmitt06, (1)-(3)]; the friction that would stop it, taken where |r_T| <=
// mu_s r_n (5, 6); else a projected step against the sliding velocity. The step of the projection
// is a number, not a matrix: with a matrix friction would not point against the velocity. A contact
// with torsional friction, whose rows differ in size by orders of magnitude, is solved exactly
// instead.

#include "sweeps/sweeper.h"
#include "sweeps/sweeper_kernels.h"

static tpVec3 laneVector(const double (*parts)[tp_packWidth], int lane) {
    return tpMakeVec3(parts[0][lane], parts[1][lane], parts[2][lane]);
}

// The machine's own maximum: the second where the first is not larger.
static double larger(double a, double b) {
    return a > b ? a : b;
}

static tpVec3 turnedBy(const tpSweepBody* body, tpVec3 moment) {
    const double* j = body->inverseInertia;
    return tpMakeVec3(j[0] * moment.x + j[3] * moment.y + j[4] * moment.z,
                      j[3] * moment.x + j[1] * moment.y + j[5] * moment.z,
                      j[4] * moment.x + j[5] * moment.y + j[2] * moment.z);
}

// Velocities -------------------------------------------------------------------------------------

static tpVec3 pointVelocity(const tpVelocity* velocity, tpVec3 arm) {
    return tpAdd(velocity->linear, tpCross(velocity->angular, arm));
}

static void velocityOf(const tpSweeper* sweeper, const tpContactPack* pack, int lane, double u[4]) {
    const tpVelocity* a = &sweeper->velocities[pack->bodyA[lane]];
    const tpVelocity* b = &sweeper->velocities[pack->bodyB[lane]];
    tpVec3 relative = tpSub(pointVelocity(a, laneVector(pack->armA, lane)),
                            pointVelocity(b, laneVector(pack->armB, lane)));
    tpVec3 normal = laneVector(pack->normal, lane);
    u[0] = tpDot(relative, normal);
    u[1] = tpDot(relative, laneVector(pack->tangents[0], lane));
    u[2] = tpDot(relative, laneVector(pack->tangents[1], lane));
    u[3] = 0.0;
    if (pack->torsion >= 0) {
        double arm = sweeper->torsions[pack->torsion].arm[lane];
        u[3] = arm * tpDot(tpSub(a->angular, b->angular), normal);
    }
}

void tpSweeper_ContactVelocity(const tpSweeper* sweeper, int contact, double u[4]) {
    int lane;
    const tpContactPack* pack = tpSweeper_PackOf(sweeper, contact, &lane);
    velocityOf(sweeper, pack, lane, u);
}

void tpSweeper_FindSpeeds(tpSweeper* sweeper) {
    for (int r = 0; r < sweeper->runCount; ++r) {
        sweeper->wide->speedRun(sweeper, &sweeper->runs[r]);
    }
    for (int p = sweeper->packCount - sweeper->torsionCount; p < sweeper->packCount; ++p) {
        const tpContactPack* pack = &sweeper->packs[p];
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            if (pack->contact[lane] >= 0) {
                double u[4];
                velocityOf(sweeper, pack, lane, u);
                sweeper->torsions[pack->torsion].speed[lane] = u[3];
            }
        }
    }
}

// Adds sign times an impulse with its moment about the centre of mass.
static void pushBody(tpSweeper* sweeper, int index, double sign, tpVec3 impulse, tpVec3 moment) {
    const tpSweepBody* body = &sweeper->bodies[index];
    tpVelocity* velocity = &sweeper->velocities[index];
    if (body->inverseMass > 0.0) {
        tpVec3 free = tpSweeper_Free(sweeper, index, impulse);
        velocity->linear = tpMulAdd(velocity->linear, sign * body->inverseMass, free);
        velocity->angular = tpMulAdd(velocity->angular, sign, turnedBy(body, moment));
    }
}

void tpSweeper_Push(tpSweeper* sweeper, const tpContactPack* pack, int lane,
                    const double change[4]) {
    tpVec3 normal = laneVector(pack->normal, lane);
    tpVec3 impulse = tpScale(change[0], normal);
    impulse = tpMulAdd(impulse, change[1], laneVector(pack->tangents[0], lane));
    impulse = tpMulAdd(impulse, change[2], laneVector(pack->tangents[1], lane));
    tpVec3 momentA = tpCross(laneVector(pack->armA, lane), impulse);
    tpVec3 momentB = tpCross(laneVector(pack->armB, lane), impulse);
    if (pack->torsion >= 0) {
        double spin = sweeper->torsions[pack->torsion].arm[lane] * change[3];
        momentA = tpMulAdd(momentA, spin, normal);
        momentB = tpMulAdd(momentB, spin, normal);
    }
    pushBody(sweeper, pack->bodyA[lane], 1.0, impulse, momentA);
    pushBody(sweeper, pack->bodyB[lane], -1.0, impulse, momentB);
}

// Contacts ---------------------------------------------------------------------------------------

// The friction of a contact whose velocity u is that after the normal impulse has changed.
static void solveFriction(const tpContactPack* pack, int lane, const double u[4], double normal,
                          double impulse[2]) {
    double load = larger(normal, 0.0);
    double rt = pack->impulse[1][lane], ro = pack->impulse[2][lane];
    double stopT = rt - (pack->stick[0][lane] * u[1] + pack->stick[1][lane] * u[2]);
    double stopO = ro - (pack->stick[1][lane] * u[1] + pack->stick[2][lane] * u[2]);
    double limit = pack->muStatic[lane] * load;
    if (stopT * stopT + stopO * stopO <= limit * limit) {
        impulse[0] = stopT;
        impulse[1] = stopO;
        return;
    }
    double slideT = rt - pack->slide[lane] * u[1];
    double slideO = ro - pack->slide[lane] * u[2];
    double length = sqrt(slideT * slideT + slideO * slideO);
    limit = pack->muDynamic[lane] * load;
    double factor = length > limit ? limit / length : 1.0;
    impulse[0] = factor * slideT;
    impulse[1] = factor * slideO;
}

// Contact with point friction: three strokes.
static void solvePoint(const tpContactPack* pack, int lane, double u[4], double impulse[4]) {
    double old = pack->impulse[0][lane];
    double normal =
        larger(pack->low[lane], old - (u[0] + pack->bias[0][lane]) * pack->inverseNormal[lane]);
    double change = normal - old;
    u[1] += pack->bias[1][lane] + pack->response[1][lane] * change;
    u[2] += pack->bias[2][lane] + pack->response[2][lane] * change;
    impulse[0] = normal;
    solveFriction(pack, lane, u, normal, impulse + 1);
    impulse[3] = 0.0;
}

// Contact with torsional friction: the cone of four rows, exactly.
static void solveTorsional(const tpSweeper* sweeper, const tpContactPack* pack, int lane,
                           const double u[4], double impulse[4]) {
    const tpTorsionPack* torsion = &sweeper->torsions[pack->torsion];
    double nn = pack->response[0][lane], nt = pack->response[1][lane];
    double no = pack->response[2][lane], tt = pack->response[3][lane];
    double to = pack->response[4][lane], oo = pack->response[5][lane];
    double nr = torsion->response[0][lane], tr = torsion->response[1][lane];
    double or = torsion->response[2][lane], rr = torsion->response[3][lane];
    const double W[16] = { nn, nt, no, nr, nt, tt, to, tr, no, to, oo, or, nr, tr, or, rr };
    const double old[4] = { pack->impulse[0][lane], pack->impulse[1][lane], pack->impulse[2][lane],
                            torsion->impulse[lane] };
    const double bias[4] = { pack->bias[0][lane], pack->bias[1][lane], pack->bias[2][lane],
                             torsion->bias[lane] };
    double b[4];
    for (int i = 0; i < 4; ++i) {
        b[i] = u[i] + bias[i];
        for (int j = 0; j < 4; ++j) {
            b[i] -= W[4 * i + j] * old[j];
        }
    }
    double muStatic = pack->muStatic[lane], muDynamic = pack->muDynamic[lane];
    sweeper->solveCone(4, W, b, muStatic, impulse);
    double force = impulse[1] * impulse[1] + impulse[2] * impulse[2] + impulse[3] * impulse[3];
    double limit = muStatic * impulse[0] * (1.0 - 1e-12);
    if (muStatic > muDynamic && force >= limit * limit) {
        sweeper->solveCone(4, W, b, muDynamic, impulse);
    }
    if (impulse[0] <= 0.0) {
        impulse[0] = fmin(0.0, fmax(pack->low[lane], -b[0] * pack->inverseNormal[lane]));
        impulse[1] = impulse[2] = impulse[3] = 0.0;
    }
}

static double sweepContact(tpSweeper* sweeper, tpContactPack* pack, int lane) {
    double u[4], impulse[4];
    velocityOf(sweeper, pack, lane, u);
    if (pack->torsion >= 0) {
        solveTorsional(sweeper, pack, lane, u, impulse);
    } else {
        solvePoint(pack, lane, u, impulse);
    }
    double change[4];
    for (int k = 0; k < 3; ++k) {
        change[k] = impulse[k] - pack->impulse[k][lane];
        pack->impulse[k][lane] = impulse[k];
    }
    change[3] = 0.0;
    double turned = 0.0;
    if (pack->torsion >= 0) {
        tpTorsionPack* torsion = &sweeper->torsions[pack->torsion];
        change[3] = impulse[3] - torsion->impulse[lane];
        torsion->impulse[lane] = impulse[3];
        turned = fabs(change[3]) * torsion->response[3][lane];
    }
    tpSweeper_Push(sweeper, pack, lane, change);
    double normal = fabs(change[0]) * pack->response[0][lane];
    double along = fabs(change[1]) * pack->response[3][lane];
    double across = fabs(change[2]) * pack->response[5][lane];
    return larger(larger(normal, along), larger(across, turned));
}

// Joints -----------------------------------------------------------------------------------------

static double rowVelocity(const tpWrench* row, const tpVelocity* velocity) {
    return tpDot(row->linear, velocity->linear) + tpDot(row->angular, velocity->angular);
}

static void addChange(tpVelocity* velocity, const tpWrench* change, double impulse) {
    velocity->linear = tpMulAdd(velocity->linear, impulse, change->linear);
    velocity->angular = tpMulAdd(velocity->angular, impulse, change->angular);
}

static void pushJoint(tpSweeper* sweeper, const tpSweepJoint* joint, const double* change) {
    for (int k = 0; k < joint->rowCount; ++k) {
        if (joint->bodyA >= 0) {
            addChange(&sweeper->velocities[joint->bodyA], &joint->changeA[k], change[k]);
        }
        if (joint->bodyB >= 0) {
            addChange(&sweeper->velocities[joint->bodyB], &joint->changeB[k], change[k]);
        }
        for (int t = 0; t < joint->termCount; ++t) {
            const tpSweepTerm* term = &joint->terms[t];
            addChange(&sweeper->velocities[term->body], &term->change, change[k]);
        }
    }
}

void tpSweeper_JointVelocity(const tpSweeper* sweeper, const tpSweepJoint* joint, double u[3]) {
    for (int k = 0; k < joint->rowCount; ++k) {
        u[k] = joint->bias[k] + joint->compliance[k] * joint->impulse[k];
        if (joint->bodyA >= 0) {
            u[k] += rowVelocity(&joint->onA[k], &sweeper->velocities[joint->bodyA]);
        }
        if (joint->bodyB >= 0) {
            u[k] += rowVelocity(&joint->onB[k], &sweeper->velocities[joint->bodyB]);
        }
        for (int t = 0; t < joint->termCount; ++t) {
            const tpSweepTerm* term = &joint->terms[t];
            u[k] += rowVelocity(&term->on, &sweeper->velocities[term->body]);
        }
    }
}

static double sweepJoint(tpSweeper* sweeper, tpSweepJoint* joint) {
    double u[3], change[3];
    tpSweeper_JointVelocity(sweeper, joint, u);
    double largest = 0.0;
    for (int k = 0; k < joint->rowCount; ++k) {
        double impulse = joint->impulse[k];
        for (int j = 0; j < joint->rowCount; ++j) {
            impulse -= joint->solve[k][j] * u[j];
        }
        if (joint->kind == tp_oneSidedSweepJoint) {
            impulse = fmax(0.0, impulse);
        } else if (joint->kind == tp_boundedSweepJoint) {
            impulse = fmin(fmax(impulse, -joint->limit), joint->limit);
        }
        change[k] = impulse - joint->impulse[k];
        joint->impulse[k] = impulse;
        largest = fmax(largest, fabs(change[k]) * joint->response);
    }
    pushJoint(sweeper, joint, change);
    return joint->scale * largest;
}

// Sweeps -----------------------------------------------------------------------------------------

double tpSweeper_SweepJoints(tpSweeper* sweeper) {
    double largest = 0.0;
    for (int i = 0; i < sweeper->jointCount; ++i) {
        largest = fmax(largest, sweepJoint(sweeper, &sweeper->joints[i]));
    }
    return largest;
}

double tpSweepRunSlowly(tpSweeper* sweeper, const tpPackRun* run) {
    double largest = 0.0;
    for (int p = run->first; p < run->first + run->count; ++p) {
        tpContactPack* pack = &sweeper->packs[p];
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            if (pack->contact[lane] >= 0) {
                largest = larger(sweepContact(sweeper, pack, lane), largest);
            }
        }
    }
    return largest;
}

double tpSweeper_Sweep(tpSweeper* sweeper) {
    double largest = tpSweeper_SweepJoints(sweeper);
    for (int r = 0; r < sweeper->runCount; ++r) {
        largest = larger(sweeper->wide->sweepRun(sweeper, &sweeper->runs[r]), largest);
    }
    return largest;
}

double tpSweeper_SweepSome(tpSweeper* sweeper, const int* contacts, int count) {
    double largest = tpSweeper_SweepJoints(sweeper);
    for (int i = 0; i < count; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(sweeper, contacts[i], &lane);
        largest = fmax(largest, sweepContact(sweeper, pack, lane));
    }
    return largest;
}

void tpStartRunSlowly(tpSweeper* sweeper, const tpPackRun* run) {
    for (int p = run->first; p < run->first + run->count; ++p) {
        const tpContactPack* pack = &sweeper->packs[p];
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            if (pack->contact[lane] < 0) {
                continue;
            }
            const double start[4] = {
                pack->impulse[0][lane], pack->impulse[1][lane], pack->impulse[2][lane],
                pack->torsion >= 0 ? sweeper->torsions[pack->torsion].impulse[lane] : 0.0
            };
            tpSweeper_Push(sweeper, pack, lane, start);
        }
    }
}

void tpSweeper_WarmStart(tpSweeper* sweeper) {
    for (int i = 0; i < sweeper->jointCount; ++i) {
        pushJoint(sweeper, &sweeper->joints[i], sweeper->joints[i].impulse);
    }
    for (int r = 0; r < sweeper->runCount; ++r) {
        sweeper->wide->startRun(sweeper, &sweeper->runs[r]);
    }
}
