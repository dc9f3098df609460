#include "steppers/chakraborty_trinkle/normal_action.h"

// Ways in a step, as parts of the length, below which the wrench of the middle is as good: the work
// left over is below rounding there, and the rounding of gaps should not be divided by less.
static const double shortWay = 1e-5;

// Twists as parts of what the spins of the bodies make over the length, below which bodies turn
// together.
static const double smallTwist = 0.03;

// By impulses; -1 is the world itself.
static bool isMovable(const tpSystem* system, int slot) {
    return slot >= 0 && tpSystem_IsDynamic(system, slot);
}

// A length of two bodies: the reach of the smaller of those that impulses move, or how far its mass
// reaches.
static double lengthOf(const tpSystem* system, int bodyA, int bodyB) {
    double least = INFINITY;
    const int slots[2] = { bodyA, bodyB };
    for (int k = 0; k < 2; ++k) {
        if (isMovable(system, slots[k])) {
            const tpBody* body = &system->bodies.data[slots[k]];
            double gyration = sqrt(tpMaxPart(body->form->inertia.moments) * body->inverseMass);
            least = fmin(least, fmax(body->reach, gyration));
        }
    }
    return least > 0.0 && isfinite(least) ? least : 1.0;
}

tpTwistScale tpMakeTwistScale(const tpSystem* system, int bodyA, int bodyB, const tpWaypoint* a,
                              const tpWaypoint* b, double h) {
    double length = lengthOf(system, bodyA, bodyB);
    tpTwistScale scale;
    scale.spinA = isMovable(system, bodyA) ? a->velocity.angular : tpZeroVec3();
    scale.spinB = isMovable(system, bodyB) ? b->velocity.angular : tpZeroVec3();
    scale.square = length * length;
    scale.least = shortWay * length / h;
    double spin = fmax(tpLength(scale.spinA), tpLength(scale.spinB));
    scale.leastPair = fmax(scale.least, smallTwist * length * spin);
    return scale;
}

double tpTwistWeight(double square, double least, double* slope) {
    double unit = least * least, q = square / unit, q4 = q * q * q * q;
    if (slope != NULL) {
        *slope = q * q * (3.0 - q4) / ((1.0 + q4) * (1.0 + q4) * unit * unit);
    }
    return q * q * q / ((1.0 + q4) * unit);
}

double tpSpinPart(const tpTwistScale* scale, double missing) {
    double square = scale->square * (tpLengthSquared(scale->spinA) + tpLengthSquared(scale->spinB));
    return missing * tpTwistWeight(square, scale->least, NULL);
}

tpNormalAction tpNormalAction_AtEnd(const tpContactPlace* place) {
    tpNormalAction action = { .push = place->normal };
    return action;
}

tpNormalAction tpNormalAction_Make(const tpContactPlace* middle, const tpWaypoint* a,
                                   const tpWaypoint* b, const tpTwistScale* scale, double rate) {
    tpNormalAction action;
    tpVec3 ofA = tpAdd(a->velocity.linear, tpCross(a->velocity.angular, middle->armA));
    tpVec3 ofB = tpAdd(b->velocity.linear, tpCross(b->velocity.angular, middle->armB));
    action.velocity = tpSub(ofA, ofB);
    action.spin = tpSub(a->velocity.angular, b->velocity.angular);
    action.square = scale->square;
    double twist = tpLengthSquared(action.velocity) + action.square * tpLengthSquared(action.spin);
    action.weight = tpTwistWeight(twist, scale->leastPair, &action.weightSlope);
    action.defect = rate - tpDot(middle->normal, action.velocity);
    action.part = action.defect * action.weight;
    action.push = tpMulAdd(middle->normal, action.part, action.velocity);
    tpVec3 couple = tpScale(action.part * action.square, action.spin);
    double own = action.square * tpSpinPart(scale, action.defect - action.part * twist);
    action.coupleA = tpMulAdd(couple, own, scale->spinA);
    action.coupleB = tpMulAdd(tpNeg(couple), own, scale->spinB);
    return action;
}

void tpNormalAction_SetRow(const tpNormalAction* action, const tpContactPlace* middle, tpRows* rows,
                           int block) {
    tpWrench onA = { action->push, tpAdd(tpCross(middle->armA, action->push), action->coupleA) };
    tpWrench onB = { tpNeg(action->push),
                     tpSub(action->coupleB, tpCross(middle->armB, action->push)) };
    tpRows_SetRow(rows, block, 0, onA, onB);
}
