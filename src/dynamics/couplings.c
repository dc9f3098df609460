#include "dynamics/couplings.h"

#include "dynamics/energy_account.h"

// Places -----------------------------------------------------------------------------------------

static void addTo(tpCouplingRow* row, int body, const tpWrench* on, double factor) {
    if (body < 0) {
        return;
    }
    int k = 0;
    while (k < row->bodyCount && row->bodies[k] != body) {
        k += 1;
    }
    if (k == row->bodyCount) {
        row->bodies[k] = body;
        row->on[k] = (tpWrench){ tpZeroVec3(), tpZeroVec3() };
        row->bodyCount += 1;
    }
    row->on[k].linear = tpMulAdd(row->on[k].linear, factor, on->linear);
    row->on[k].angular = tpMulAdd(row->on[k].angular, factor, on->angular);
}

// A stable partition: the first two are those of a block.
static void putDynamicFirst(const tpSystem* system, tpCouplingRow* row) {
    int next = 0;
    for (int k = 0; k < row->bodyCount; ++k) {
        if (!tpSystem_IsDynamic(system, row->bodies[k])) {
            continue;
        }
        int body = row->bodies[k];
        tpWrench on = row->on[k];
        for (int j = k; j > next; --j) {
            row->bodies[j] = row->bodies[j - 1];
            row->on[j] = row->on[j - 1];
        }
        row->bodies[next] = body;
        row->on[next++] = on;
    }
}

void tpCoupling_Place(const tpSystem* system, const tpCoupling* coupling, const tpPose* poses,
                      tpCouplingRow* row) {
    row->value = 0.0;
    row->bodyCount = 0;
    for (int i = 0; i < coupling->partCount; ++i) {
        const tpCouplingPart* part = &coupling->parts[i];
        const tpJoint* joint = &system->joints.data[part->joint];
        tpJointPlace place = tpJoint_Place(joint, poses);
        tpJointRow own = tpJoint_CoordinateRow(joint, &place, part->coordinate);
        row->value += part->factor * own.error;
        addTo(row, joint->bodyA, &own.onA, part->factor);
        addTo(row, joint->bodyB, &own.onB, part->factor);
    }
    putDynamicFirst(system, row);
}

double tpCouplingRow_Speed(const tpCouplingRow* row, const tpVelocity* velocities) {
    double speed = 0.0;
    for (int k = 0; k < row->bodyCount; ++k) {
        const tpVelocity* velocity = &velocities[row->bodies[k]];
        speed += tpDot(row->on[k].linear, velocity->linear) +
                 tpDot(row->on[k].angular, velocity->angular);
    }
    return speed;
}

bool tpCoupling_BodyAt(const tpSystem* system, int index, int k, int* body) {
    const tpCoupling* coupling = &system->couplings.data[index];
    if (!coupling->isLive || k >= 2 * coupling->partCount) {
        return false;
    }
    const tpJoint* joint = &system->joints.data[coupling->parts[k / 2].joint];
    *body = k % 2 == 0 ? joint->bodyA : joint->bodyB;
    return true;
}

int tpCoupling_AnyBody(const tpSystem* system, int index) {
    int body;
    for (int k = 0; tpCoupling_BodyAt(system, index, k, &body); ++k) {
        if (tpSystem_IsDynamic(system, body)) {
            return body;
        }
    }
    return -1;
}

// Rows -------------------------------------------------------------------------------------------

// Blocks of one coupling: its value, two limits, spring and servo, which may be bounded.
enum { mostBlocks = 5, mostRows = 6 };

void tpCoupling_Count(const tpCoupling* coupling, int* blocks, int* rows, int* terms) {
    if (coupling->isLive) {
        *blocks += mostBlocks;
        *rows += mostRows;
        *terms += 2 * mostBlocks * coupling->partCount;
    }
}

void tpCouplings_Count(const tpSystem* system, int* blocks, int* rows) {
    int terms = 0;
    for (int i = 0; i < system->couplings.count; ++i) {
        tpCoupling_Count(&system->couplings.data[i], blocks, rows, &terms);
    }
}

int tpCouplings_TermCapacity(const tpSystem* system) {
    int blocks = 0, rows = 0, count = 0;
    for (int i = 0; i < system->couplings.count; ++i) {
        tpCoupling_Count(&system->couplings.data[i], &blocks, &rows, &count);
    }
    return count;
}

// As the laws take it; points into `row`.
static tpLawRow lawRowOf(const tpCouplingRow* row) {
    tpWrench none = { tpZeroVec3(), tpZeroVec3() };
    bool hasSecond = row->bodyCount > 1;
    tpLawRow law = { .bodyA = row->bodies[0], .bodyB = hasSecond ? row->bodies[1] : -1 };
    law.row = (tpJointRow){ row->on[0], hasSecond ? row->on[1] : none, row->value };
    law.moreCount = row->bodyCount > 2 ? row->bodyCount - 2 : 0;
    law.moreBodies = row->bodies + 2;
    law.more = row->on + 2;
    return law;
}

static void addLaws(tpRows* rows, const tpSystem* system, int index, tpLawRow* row,
                    const tpJointTreatment* treatment, tpLawRows laws) {
    const tpCoupling* coupling = &system->couplings.data[index];
    const tpCouplingDef* def = &coupling->def;
    tpBlockInfo info = { .source = tp_jointSource, .index = index, .isCoupling = true };
    if (def->hasValue) {
        tpLawRow held = *row;
        held.row.error -= def->value;
        info.role = tp_heldRole;
        tpLawRow_AddHeld(rows, system, info, &held, treatment);
    }
    if (def->hasLimits) {
        tpLawRow_AddLimits(rows, system, info, row, def->limits, treatment);
    }
    bool isHalf = laws == tp_firstHalfLaws;
    if (def->hasSpring && laws != tp_noLaws) {
        info.role = tp_springRole;
        tpForceLaw law = { def->spring.stiffness, def->spring.damping, def->spring.rest, 0.0,
                           INFINITY };
        tpLawRow_AddForce(rows, system, info, row, &law, treatment,
                          isHalf ? coupling->springShare : 1.0, isHalf);
    }
    if (def->hasServo && laws != tp_noLaws) {
        info.role = tp_servoRole;
        tpForceLaw law = { def->servo.stiffness, def->servo.damping, def->servo.target,
                           def->servo.speed, def->servo.effort };
        tpLawRow_AddForce(rows, system, info, row, &law, treatment,
                          isHalf ? coupling->servoShare : 1.0, isHalf);
    }
}

void tpCoupling_AddRows(tpRows* rows, const tpSystem* system, int index, const tpPose* poses,
                        const tpJointTreatment* treatment, tpLawRows laws) {
    tpCouplingRow place;
    tpCoupling_Place(system, &system->couplings.data[index], poses, &place);
    tpLawRow row = lawRowOf(&place);
    addLaws(rows, system, index, &row, treatment, laws);
}

void tpCouplings_AddRows(tpRows* rows, const tpSystem* system, const tpPose* poses,
                         const tpJointTreatment* treatment, tpLawRows laws) {
    for (int i = 0; i < system->couplings.count; ++i) {
        if (tpCoupling_AnyBody(system, i) >= 0) {
            tpCoupling_AddRows(rows, system, i, poses, treatment, laws);
        }
    }
}

bool tpCouplings_Begin(tpSystem* system, double h) {
    bool isStiff = false;
    for (int i = 0; i < system->couplings.count; ++i) {
        tpCoupling* coupling = &system->couplings.data[i];
        const tpCouplingDef* def = &coupling->def;
        if (!coupling->isLive || !(def->hasSpring || def->hasServo)) {
            continue;
        }
        // Responses of coordinates bound that of the sum, by the inequality of Cauchy and Schwarz.
        double root = 0.0;
        for (int k = 0; k < coupling->partCount; ++k) {
            const tpCouplingPart* part = &coupling->parts[k];
            const tpJoint* joint = &system->joints.data[part->joint];
            tpJointPlace place = tpJoint_Place(joint, system->poses.data);
            root += fabs(part->factor) *
                    sqrt(tpCoordinate_Response(system, joint, &place, part->coordinate));
        }
        double response = root * root;
        coupling->springShare = tpLawShare(h, 0.0, def->spring.damping, response);
        coupling->servoShare = tpLawShare(h, def->servo.stiffness, def->servo.damping, response);
        isStiff = isStiff || (def->hasServo && coupling->servoShare > 0.5);
    }
    return isStiff;
}

// Errors -----------------------------------------------------------------------------------------

static double valueAt(const tpSystem* system, const tpCoupling* coupling, const tpPose* poses) {
    double value = 0.0;
    for (int i = 0; i < coupling->partCount; ++i) {
        const tpCouplingPart* part = &coupling->parts[i];
        const tpJoint* joint = &system->joints.data[part->joint];
        tpJointPlace place = tpJoint_Place(joint, poses);
        value += part->factor * tpJoint_CoordinateRow(joint, &place, part->coordinate).error;
    }
    return value;
}

// What an error counts for: turns count with the unit of length, ways as they are.
static double weightOf(const tpSystem* system, const tpCoupling* coupling) {
    for (int i = 0; i < coupling->partCount; ++i) {
        const tpCouplingPart* part = &coupling->parts[i];
        const tpJoint* joint = &system->joints.data[part->joint];
        if (joint->coordinates[part->coordinate].kind == tp_slideAxis) {
            return 1.0;
        }
    }
    return system->units.length;
}

double tpCoupling_PositionError(const tpSystem* system, int index, const tpPose* poses) {
    const tpCouplingDef* def = &system->couplings.data[index].def;
    if (tpCoupling_AnyBody(system, index) < 0 || !(def->hasValue || def->hasLimits)) {
        return 0.0;
    }
    double value = valueAt(system, &system->couplings.data[index], poses);
    double drift = def->hasValue ? fabs(value - def->value) : 0.0;
    drift = def->hasLimits ? fmax(drift, fabs(tpPastLimit(def->limits, value))) : drift;
    return weightOf(system, &system->couplings.data[index]) * drift;
}

double tpCouplings_PositionError(const tpSystem* system, const tpPose* poses) {
    double drift = 0.0;
    for (int i = 0; i < system->couplings.count; ++i) {
        drift = fmax(drift, tpCoupling_PositionError(system, i, poses));
    }
    return drift;
}

void tpCouplings_AddErrors(tpRows* rows, const tpSystem* system, const tpJointTreatment* treatment,
                           signed char* sides) {
    for (int i = 0; i < system->couplings.count; ++i) {
        const tpCouplingDef* def = &system->couplings.data[i].def;
        if (tpCoupling_AnyBody(system, i) < 0 || !(def->hasValue || def->hasLimits)) {
            continue;
        }
        tpCouplingRow place;
        tpCoupling_Place(system, &system->couplings.data[i], system->poses.data, &place);
        tpLawRow row = lawRowOf(&place);
        signed char* side = sides != NULL ? &sides[i] : NULL;
        double past = def->hasLimits ? tpPassedLimit(def->limits, place.value, side) : 0.0;
        row.row.error = def->hasValue ? place.value - def->value : past;
        if (def->hasValue || past != 0.0 || (side != NULL && *side != 0)) {
            tpBlockInfo info = { .source = tp_jointSource, .index = i, .isCoupling = true };
            tpLawRow_AddHeld(rows, system, info, &row, treatment);
        }
    }
}

// Efforts ----------------------------------------------------------------------------------------

void tpCouplings_ClearEfforts(tpSystem* system) {
    for (int i = 0; i < system->couplings.count; ++i) {
        system->couplings.data[i].effort = system->couplings.data[i].limitEffort = 0.0;
    }
}

// An effort on the sum comes to the joints as factor times as much on each coordinate.
static void addReactions(tpSystem* system, const tpCoupling* coupling, double effort) {
    for (int i = 0; i < coupling->partCount; ++i) {
        const tpCouplingPart* part = &coupling->parts[i];
        tpJoint* joint = &system->joints.data[part->joint];
        tpJointPlace place = tpJoint_Place(joint, system->poses.data);
        tpWrench onB = tpJoint_CoordinateRow(joint, &place, part->coordinate).onB;
        double own = part->factor * effort;
        onB = (tpWrench){ tpScale(own, onB.linear), tpScale(own, onB.angular) };
        tpJoint_AddReaction(system, joint, onB);
    }
}

static void addEffort(tpSystem* system, const tpBlockInfo* info, double effort) {
    tpCoupling* coupling = &system->couplings.data[info->index];
    effort = info->role == tp_limitRole && info->part == 1 ? -effort : effort;
    coupling->effort += info->role == tp_servoRole ? effort : 0.0;
    bool isHeld = info->role == tp_limitRole || info->role == tp_heldRole;
    coupling->limitEffort += isHeld ? effort : 0.0;
    addReactions(system, coupling, effort);
}

void tpCoupling_AddHold(tpSystem* system, int index, double effort) {
    tpBlockInfo info = { .source = tp_jointSource, .index = index, .role = tp_heldRole };
    addEffort(system, &info, effort);
}

void tpCoupling_AddEffort(tpSystem* system, const tpRows* rows, int block, double h) {
    addEffort(system, &rows->infos[block], rows->impulse[tpRows_ForceRow(rows, block)] / h);
}

void tpCouplingRow_Apply(tpSystem* system, const tpCouplingRow* row, double impulse) {
    for (int k = 0; k < row->bodyCount; ++k) {
        if (tpSystem_IsDynamic(system, row->bodies[k])) {
            tpSystem_ApplyImpulse(system, row->bodies[k], tpScale(impulse, row->on[k].linear),
                                  tpScale(impulse, row->on[k].angular));
        }
    }
}

void tpCoupling_KickRest(tpSystem* system, const tpRows* first, int block, double share,
                         const tpVelocity* meanVelocities, const tpStepTimes* times,
                         tpStepReport* report) {
    const tpBlockInfo* info = &first->infos[block];
    tpCoupling* coupling = &system->couplings.data[info->index];
    tpCouplingRow now;
    tpCoupling_Place(system, coupling, system->poses.data, &now);
    int row = tpRows_ForceRow(first, block);
    double left = (1.0 - share) / share, rest = left * first->impulse[row];
    double lent = 0.0, taken = 0.0;
    if (info->role == tp_servoRole) {
        double effort = first->impulse[row] / (share * times->h);
        lent = tpServoMemory_Advance(&coupling->servoMemory, effort, share, times, &taken);
    }
    tpCouplingRow_Apply(system, &now, rest + lent);
    addEffort(system, info, rest / times->whole);
    addReactions(system, coupling, (lent - taken) / times->whole);
    double damped =
        -left * first->damping[row] *
        tpRows_RowVelocity(first, row, meanVelocities, first->givenA[block], first->givenB[block]);
    tpAddDriveWork((info->role == tp_springRole ? damped : rest + lent - taken) *
                       tpCouplingRow_Speed(&now, meanVelocities),
                   report);
}

double tpCouplings_PotentialEnergy(const tpSystem* system) {
    double energy = 0.0;
    for (int i = 0; i < system->couplings.count; ++i) {
        const tpCoupling* coupling = &system->couplings.data[i];
        const tpCouplingDef* def = &coupling->def;
        if (coupling->isLive && def->hasSpring && def->spring.stiffness > 0.0) {
            double stretch = valueAt(system, coupling, system->poses.data) - def->spring.rest;
            energy += 0.5 * def->spring.stiffness * stretch * stretch;
        }
    }
    return energy;
}
