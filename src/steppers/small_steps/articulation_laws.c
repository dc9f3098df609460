// Laws of the axes of a tree: limits, springs, servos, motors, dry friction, damping, armature, as
// rows on their axes. dynamics/README.md, "Laws of coordinates", derives them.

#include <string.h>

#include "dynamics/joint_laws.h"
#include "math/elementary.h"
#include "steppers/small_steps/articulation_tree.h"
#include "steppers/small_steps/hinges.h"
#include "steppers/small_steps/plain_laws.h"

// The axis that rows are being written for.
typedef struct AxisAt {
    const tpSmallStep* step;
    tpArticulation* articulation;
    const tpJoint* joint;
    int jointIndex, coordinate, part;
    int node, axis;
} AxisAt;

// A limit is taken for one that will be met, if the axis gets as near to it as this in a substep:
// rad, or of the smallest body's size.
static const double nearLimit = 1e-9;

// A limit that is farther away is not looked at as long as its axis does not hurry: rad, or of the
// smallest body's size.
static const double farLimit = 0.05;

// Velocity of an axis under a unit impulse along it, if both bodies were free otherwise: the
// stiffness of what is held is measured by it.
static double responseOf(const AxisAt* at) {
    const tpArticulation* articulation = at->articulation;
    const tpJointNode* node = &articulation->tree.nodes[at->node];
    const double* own = articulation->axisPlaces[at->axis].reading;
    double response = tpSweepBody_Response(&articulation->own[at->node], own);
    if (node->parent >= 0) {
        const double* r = node->arm;
        const double other[6] = { own[0],
                                  own[1],
                                  own[2],
                                  own[3] + (r[1] * own[2] - r[2] * own[1]),
                                  own[4] + (r[2] * own[0] - r[0] * own[2]),
                                  own[5] + (r[0] * own[1] - r[1] * own[0]) };
        response += tpSweepBody_Response(&articulation->own[node->parent], other);
    }
    return response;
}

// Whether an axis reads the turns of its bodies alone.
static bool isTurnOf(const double* reading) {
    return reading[0] == 0.0 && reading[1] == 0.0 && reading[2] == 0.0;
}

// The rate of an axis by the velocities of its two bodies.
static double rateOf(const AxisAt* at) {
    const tpArticulation* articulation = at->articulation;
    const tpJointNode* node = &articulation->tree.nodes[at->node];
    const double* own = articulation->axisPlaces[at->axis].reading;
    const tpVelocity* v = &at->step->velocities[numberOf(articulation, at->node)];
    const tpVelocity none = { 0 }, *with = &none;
    if (node->parent >= 0) {
        with = &at->step->velocities[numberOf(articulation, node->parent)];
    }
    tpVec3 turn = tpSub(v->angular, with->angular);
    double rate = own[3] * turn.x + own[4] * turn.y + own[5] * turn.z;
    if (!isTurnOf(own)) {
        tpVec3 arm = tpMakeVec3(node->arm[0], node->arm[1], node->arm[2]);
        tpVec3 along = tpSub(v->linear, tpAdd(with->linear, tpCross(with->angular, arm)));
        rate += own[0] * along.x + own[1] * along.y + own[2] * along.z;
    }
    return rate;
}

// Limits farther away than that may be far.
static double farRoom(const tpArticulation* articulation, int axis) {
    bool isTurn = isTurnOf(articulation->axisPlaces[axis].reading);
    return farLimit * (isTurn ? 1.0 : articulation->size);
}

// Whether a limit that has that much room will be met in a substep, if the axis goes on at this
// rate: a guess to start from. Rows that are not there when factors are made cost another solve.
static bool willMeet(const tpSmallStep* step, const tpArticulation* articulation, int axis,
                     double room, double rate) {
    bool isTurn = isTurnOf(articulation->axisPlaces[axis].reading);
    double near = nearLimit * (isTurn ? 1.0 : articulation->size);
    return (room > 0.0 ? room : 0.0) + step->substepTime * rate <= near;
}

static tpRowAnswer* addRow(AxisAt* at, tpRowRole role, double sign) {
    tpArticulation* articulation = at->articulation;
    int k = articulation->solver.rowCount++;
    tpRowAnswer* answer = &articulation->solver.answers[k];
    tpArticulatedRow* law = &articulation->laws[k];
    memset(answer, 0, sizeof(*answer));
    memset(law, 0, sizeof(*law));
    articulation->tree.rows[k] = (tpAxisRow){ .node = at->node, .axis = at->axis, .sign = sign };
    law->role = role;
    law->row = at->jointIndex;
    law->coordinate = (int8_t)at->coordinate;
    law->part = (int8_t)at->part;
    answer->least = -INFINITY;
    answer->most = INFINITY;
    return answer;
}

static tpArticulatedRow* lawOf(const AxisAt* at) {
    return &at->articulation->laws[at->articulation->solver.rowCount - 1];
}

static tpRowAnswer* addRigid(AxisAt* at, tpRowRole role, double sign, double bias) {
    tpRowAnswer* answer = addRow(at, role, sign);
    const tpArticulation* articulation = at->articulation;
    double* rigid = &articulation->axisPlaces[at->axis].rigid;
    if (*rigid == 0.0) {
        int parent = articulation->tree.nodes[at->node].parent;
        double lightest = articulation->tree.nodes[at->node].mass;
        lightest = parent < 0 ? lightest : fmin(lightest, articulation->tree.nodes[parent].mass);
        double response = responseOf(at), part = tpArticulation_RigidPart(articulation, lightest);
        *rigid = response > 0.0 ? part / response : 0.0;
    }
    lawOf(at)->isRigid = true;
    lawOf(at)->startBias = bias;
    answer->stiffness = *rigid;
    answer->state = *rigid > 0.0 && isfinite(*rigid) ? tp_withinRow : tp_deadRow;
    return answer;
}

static void addLimit(AxisAt* at, int side, double limit, double value, double rate) {
    double tau = at->step->substepTime;
    double sign = side == 0 ? 1.0 : -1.0, room = sign * (value - limit);
    at->part = side;
    tpRowAnswer* answer = addRigid(at, tp_limitRole, sign, room / tau);
    tpArticulatedRow* law = lawOf(at);
    law->wayFactor = 1.0 / tau;
    law->startError = room < 0.0 ? room : 0.0;
    law->value = limit;
    answer->least = 0.0;
    bool isMet = willMeet(at->step, at->articulation, at->axis, room, sign * rate);
    answer->state = answer->state == tp_withinRow && !isMet ? tp_atLeastRow : answer->state;
    at->part = 0;
}

static void addLimits(AxisAt* at, const tpCoordinateDef* def, double value) {
    double rate = rateOf(at);
    for (int side = 0; side < 2; ++side) {
        if (tpCoordinate_MeetsLimit(at->joint, at->coordinate, side)) {
            addLimit(at, side, def->limits[side], value, rate);
        }
    }
}

// In one substep the angle of a ball joint may go through zero and on past its limit on the other
// side, or sideways past it: beyond the square around the cone nothing may go.
static void addOtherSides(AxisAt* at, const tpCoordinateDef* def, double value) {
    double limit = def->limits[1];
    if (!def->hasLimits || !isfinite(limit)) {
        return;
    }
    if (!tpCoordinate_MeetsLimit(at->joint, at->coordinate, 0)) {
        addLimit(at, 0, -limit, value, rateOf(at));
    }
    at->axis += 1;
    double rate = rateOf(at);
    addLimit(at, 0, -limit, 0.0, rate);
    addLimit(at, 1, limit, 0.0, rate);
    at->axis -= 1;
}

static void addForce(AxisAt* at, tpRowRole role, const tpForceLaw* law, double value) {
    double tau = at->step->substepTime, part = 1.0;
    if (role == tp_springRole) {
        part = tpArticulation_SpringLag(tau * tau * law->stiffness * responseOf(at));
    }
    double lag = part * tau;
    tpSoftLaw soft = tpForceLaw_Soften(law, tau, lag, value - law->rest);
    if (!(soft.stiffness > 0.0)) {
        return;
    }
    tpRowAnswer* answer = addRow(at, role, 1.0);
    tpArticulatedRow* row = lawOf(at);
    answer->stiffness = soft.stiffness;
    answer->state = isfinite(soft.stiffness) ? tp_withinRow : tp_deadRow;
    row->damping = soft.damping;
    row->value = value;
    row->startBias = soft.bias;
    row->ending = role == tp_springRole ? tpArticulation_SpringEnding(part) : 0.0;
    // r = -(a x + b u - c speed), b = a lag + c: the bias has a / b of the way.
    row->wayFactor = (soft.stiffness - soft.damping) / (lag * soft.stiffness);
    if (isfinite(law->limit)) {
        answer->most = tau * law->limit;
        answer->least = -answer->most;
    }
}

// A law that acts on the coordinate itself.
static void addCoordinateLaws(AxisAt* at, const tpCoordinateDef* def, double value) {
    double tau = at->step->substepTime;
    if (def->hasLimits) {
        addLimits(at, def, value);
    }
    if (def->hasSpring) {
        tpForceLaw law = { def->spring.stiffness, def->spring.damping, def->spring.rest, 0.0,
                           INFINITY };
        addForce(at, tp_springRole, &law, value);
    }
    if (def->hasServo) {
        tpForceLaw law = { def->servo.stiffness, def->servo.damping, def->servo.target,
                           def->servo.speed, def->servo.effort };
        addForce(at, tp_servoRole, &law, value);
    }
    if (def->hasMotor && def->motor.effort > 0.0) {
        tpRowAnswer* answer = addRigid(at, tp_motorRole, 1.0, -def->motor.speed);
        answer->most = tau * def->motor.effort;
        answer->least = -answer->most;
    }
}

// What pulls a ball joint's angle a back, T, turns with the direction of the angle: about the
// second axis that is a spring of T cot a. It is as fast as the angle is small, so that it has to
// be implicit: a row that holds the axis where it is now, as softly as that.
static double coneStiffness(double pull, double angle, double tau) {
    double sine = 0.0, cosine = 1.0;
    if (pull > 0.0) {
        tpSinCos(angle, &sine, &cosine);
    }
    // Beyond a right angle it would push away.
    return sine > 1e-9 && cosine > 0.0 ? tau * tau * pull * cosine / sine : 0.0;
}

static void addCone(AxisAt* at, double value) {
    const tpAxisPlace* place = &at->articulation->axisPlaces[at->axis];
    double tau = at->step->substepTime;
    at->axis += 1;
    at->articulation->hasCones = true;
    tpRowAnswer* answer = addRow(at, tp_heldRole, 1.0);
    answer->stiffness = coneStiffness(place->pull, value, tau);
    lawOf(at)->wayFactor = 1.0 / tau;
    at->axis -= 1;
}

// A law that acts on the axis, of which a ball joint has three.
static void addAxisLaws(AxisAt* at, const tpCoordinate* coordinate) {
    const tpCoordinateDef* def = &coordinate->def;
    if (def->damping > 0.0) {
        tpForceLaw law = { 0.0, def->damping, 0.0, 0.0, INFINITY };
        addForce(at, tp_damperRole, &law, 0.0);
    }
    if (def->friction > 0.0) {
        tpRowAnswer* answer = addRigid(at, tp_frictionRole, 1.0, 0.0);
        answer->most = at->step->substepTime * def->friction;
        answer->least = -answer->most;
    }
    tpJointAxis* axis = &at->articulation->tree.axes[at->axis];
    axis->rotor = def->armature > 0.0 ? def->armature : 0.0;
    axis->rotorSpeed = coordinate->rotorSpeed[at->part];
}

// Whether laws ask for the value of a coordinate.
static bool asksForValue(const tpCoordinateDef* def) {
    return def->hasLimits || def->hasSpring || def->hasServo;
}

// Rows of limits that no axis can meet before rows are written again, at any rate that is not
// unheard of, are far: nobody looks at them as long as rates stay below that. Half of the room is
// left for what rates do not tell of the way.
static void sortRows(const tpSmallStep* step, tpArticulation* articulation) {
    tpJointTree* tree = &articulation->tree;
    double substeps = articulation->span;
    tree->near = articulation->nearRows;
    tree->nearCount = 0;
    for (int i = 0; i < tree->nodeCount; ++i) {
        for (int k = tree->nodes[i].axis; k < tree->nodes[i].axisEnd; ++k) {
            tree->axes[k].farLowest = -INFINITY;
            tree->axes[k].farHighest = INFINITY;
        }
    }
    for (int k = 0; k < tree->rowCount; ++k) {
        tpAxisRow* row = &tree->rows[k];
        const tpArticulatedRow* law = &articulation->laws[k];
        tpRowAnswer* answer = &articulation->solver.answers[k];
        row->isFar = law->role == tp_limitRole && answer->state == tp_atLeastRow &&
                     step->substepTime * law->startBias > farRoom(articulation, row->axis);
        if (!row->isFar) {
            tree->near[tree->nearCount++] = k;
            continue;
        }
        tpJointAxis* axis = &tree->axes[row->axis];
        double speed = 0.5 * law->startBias / substeps;
        if (row->sign > 0.0) {
            axis->farLowest = -speed > axis->farLowest ? -speed : axis->farLowest;
        } else {
            axis->farHighest = speed < axis->farHighest ? speed : axis->farHighest;
        }
        row->isIn = false;
        answer->impulse = answer->velocity = articulation->errors[k] = 0.0;
        answer->pathImpulse = answer->pathVelocity = 0.0;
    }
    tree->near = tree->nearCount < tree->rowCount ? tree->near : NULL;
}

// Whether all rows are limits, of axes without rotors: what they need of their joints is in them.
static bool areLimits(const tpArticulation* articulation) {
    const tpJointTree* tree = &articulation->tree;
    bool are = tree->rowCount > 0 && !articulation->hasCones;
    for (int k = 0; are && k < tree->rowCount; ++k) {
        are = articulation->laws[k].role == tp_limitRole;
    }
    for (int k = 0; are && k < tree->nodes[tree->nodeCount - 1].axisEnd; ++k) {
        are = tree->axes[k].rotor == 0.0;
    }
    return are;
}

// The rows of the last step at the values of now, if they are limits alone: joints are large, and
// nobody reads them for that.
static bool writeLimitsAgain(const tpSmallStep* step, tpArticulation* articulation) {
    const tpPlainLaws* kept = articulation->plain;
    if (!kept->areLimits || kept->lawChanges != step->system->lawChanges) {
        return false;
    }
    double rate = 0.0;
    articulation->solver.rowCount = 0;
    articulation->hasCones = false;
    for (int k = 0, last = -1; k < kept->count; ++k) {
        const tpAxisRow* row = &articulation->tree.rows[k];
        const tpArticulatedRow* law = &articulation->laws[k];
        AxisAt at = { .step = step,
                      .articulation = articulation,
                      .jointIndex = law->row,
                      .coordinate = law->coordinate,
                      .node = row->node,
                      .axis = row->axis };
        rate = at.axis != last ? rateOf(&at) : rate;
        last = at.axis;
        addLimit(&at, law->part, law->value, articulation->axisPlaces[at.axis].value, rate);
    }
    articulation->tree.rowCount = articulation->solver.rowCount;
    sortRows(step, articulation);
    articulation->isPlain = false;
    articulation->tree.plain.count = 0;
    return true;
}

void tpTree_WriteLaws(const tpSmallStep* step, tpArticulation* articulation) {
    if (tpPlainLaws_WriteAgain(step, articulation) || writeLimitsAgain(step, articulation)) {
        return;
    }
    articulation->solver.rowCount = 0;
    articulation->hasCones = false;
    int hinges = 0;
    for (int i = 0; i < articulation->tree.nodeCount; ++i) {
        const tpJointNode* node = &articulation->tree.nodes[i];
        if (articulation->links[i] < 0) {
            continue;
        }
        const tpJoint* joint = &step->system->joints.data[articulation->links[i]];
        bool isBall = joint->type == tp_ballJoint;
        if (joint->type == tp_revoluteJoint && node->parent >= 0) {
            tpHinges_Ask(articulation, hinges++, asksForValue(&joint->coordinates[0].def));
        }
        for (int k = 0; k < node->axisEnd - node->axis; ++k) {
            AxisAt at = { .step = step,
                          .articulation = articulation,
                          .joint = joint,
                          .jointIndex = articulation->links[i],
                          .coordinate = isBall ? 0 : k,
                          .node = i,
                          .axis = node->axis + k };
            const tpCoordinate* coordinate = &joint->coordinates[at.coordinate];
            double value = articulation->axisPlaces[at.axis].value;
            if (!isBall || k == 0) {
                addCoordinateLaws(&at, &coordinate->def, value);
            }
            if (isBall && k == 0 && asksForValue(&coordinate->def)) {
                addOtherSides(&at, &coordinate->def, value);
                addCone(&at, value);
            }
            at.part = isBall ? k : 0;
            addAxisLaws(&at, coordinate);
        }
    }
    articulation->tree.rowCount = articulation->solver.rowCount;
    sortRows(step, articulation);
    tpPlainLaws_Take(step, articulation);
    tpPlainLaws_KeepLimits(step, articulation, areLimits(articulation));
}

// What the laws of angles have pulled with since they were written.
static void measurePulls(const tpSmallStep* step, const tpArticulation* articulation) {
    if (!articulation->hasCones) {
        return;
    }
    double time = articulation->finished * step->substepTime;
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        if (articulation->laws[k].role == tp_heldRole) {
            articulation->axisPlaces[articulation->tree.rows[k].axis - 1].pull = 0.0;
        }
    }
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        const tpAxisRow* row = &articulation->tree.rows[k];
        articulation->axisPlaces[row->axis].pull -= row->sign * articulation->laws[k].total / time;
    }
}

void tpTree_RewriteLaws(const tpSmallStep* step, tpArticulation* articulation) {
    double time = articulation->finished * step->substepTime;
    measurePulls(step, articulation);
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        const tpAxisRow* row = &articulation->tree.rows[k];
        tpArticulatedRow* law = &articulation->laws[k];
        tpRowAnswer* answer = &articulation->solver.answers[k];
        double value = articulation->axisPlaces[row->axis].value;
        double rate = row->isFar ? law->way / time : answer->velocity;
        law->total = law->way = law->startError = answer->offset = 0.0;
        switch (law->role) {
        case tp_limitRole: {
            double room = row->sign * (value - law->value);
            law->startBias = room / step->substepTime;
            if (answer->state == tp_atLeastRow &&
                willMeet(step, articulation, row->axis, room, rate)) {
                answer->state = tp_withinRow;
            }
            break;
        }
        case tp_heldRole: {
            const tpAxisPlace* angle = &articulation->axisPlaces[row->axis - 1];
            answer->stiffness = coneStiffness(angle->pull, angle->value, step->substepTime);
            break;
        }
        case tp_springRole:
        case tp_servoRole:
            law->startBias += law->wayFactor * (value - law->value);
            law->value = value;
            break;
        default:
            break;
        }
    }
    sortRows(step, articulation);
    tpPlainLaws_Take(step, articulation);
}

// Rotors have the speeds of their axes.
static void reportRotors(const tpSmallStep* step, const tpArticulation* articulation) {
    for (int i = 0; i < articulation->tree.nodeCount; ++i) {
        const tpJointNode* node = &articulation->tree.nodes[i];
        for (int k = node->axis; k < node->axisEnd; ++k) {
            const tpJointAxis* axis = &articulation->tree.axes[k];
            if (axis->rotor > 0.0) {
                tpJoint* joint = &step->system->joints.data[articulation->links[i]];
                bool isBall = joint->type == tp_ballJoint;
                int place = k - node->axis;
                joint->coordinates[isBall ? 0 : place].rotorSpeed[isBall ? place : 0] =
                    axis->rotorSpeed;
            }
        }
    }
}

// An impulse of a law goes to its coordinate; not that of a limit that is not met.
static void reportImpulse(const tpSmallStep* step, const tpArticulatedRow* law, double impulse) {
    if (impulse != 0.0) {
        tpCoordinate* coordinate =
            &step->system->joints.data[law->row].coordinates[law->coordinate];
        tpCoordinate_AddEffort(coordinate, law->role, law->part, impulse, step->h);
    }
}

// The same of laws without bounds, of which only servos have efforts.
static void reportPlain(const tpSmallStep* step, const tpArticulation* articulation) {
    for (int k = 0; k < articulation->plain->count; ++k) {
        const tpArticulatedRow* law = &articulation->laws[k];
        if (law->role == tp_servoRole) {
            tpCoordinate* coordinate =
                &step->system->joints.data[law->row].coordinates[law->coordinate];
            coordinate->effort += law->total / step->h;
            coordinate->effort += articulation->isFed ? law->fed / step->h : 0.0;
        }
    }
}

void tpTree_ReportLaws(const tpSmallStep* step, const tpArticulation* articulation) {
    if (articulation->isPlain) {
        reportPlain(step, articulation);
    }
    int count = articulation->isPlain ? 0 : tpJointTree_NearCount(&articulation->tree);
    for (int n = 0; n < count; ++n) {
        int k = tpJointTree_NearRow(&articulation->tree, n);
        const tpArticulatedRow* law = &articulation->laws[k];
        reportImpulse(step, law, law->total);
        if (articulation->isFed) {
            reportImpulse(step, law, law->fed);
        }
    }
    reportRotors(step, articulation);
}
