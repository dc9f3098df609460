#include "steppers/chakraborty_trinkle/normal_action.h"

// Ways in a step, as parts of the length, below which the wrench of the middle is as good: the work left over
// is below rounding there, and the rounding of gaps should not be divided by less.
static const double shortWay = 1e-5;

tpNormalAction tpNormalAction_AtEnd(const tpContactPlace* place) {
    tpNormalAction action = { .push = place->normal };
    return action;
}

tpNormalAction tpNormalAction_Make(const tpContactPlace* middle, const tpWaypoint* a,
                                   const tpWaypoint* b, double rate, double length, double h) {
    tpNormalAction action;
    tpVec3 ofA = tpAdd(a->velocity.linear, tpCross(a->velocity.angular, middle->armA));
    tpVec3 ofB = tpAdd(b->velocity.linear, tpCross(b->velocity.angular, middle->armB));
    double least = shortWay * length / h, least4 = least * least * least * least;
    action.velocity = tpSub(ofA, ofB);
    action.spin = tpSub(a->velocity.angular, b->velocity.angular);
    action.square = length * length;
    double N = tpLengthSquared(action.velocity) + action.square * tpLengthSquared(action.spin);
    double all = N * N + least4;
    action.weight = N / all;
    action.weightSlope = (least4 - N * N) / (all * all);
    action.defect = rate - tpDot(middle->normal, action.velocity);
    action.part = action.defect * action.weight;
    action.push = tpMulAdd(middle->normal, action.part, action.velocity);
    action.couple = tpScale(action.part * action.square, action.spin);
    return action;
}

void tpNormalAction_SetRow(const tpNormalAction* action, const tpContactPlace* middle, tpRows* rows,
                           int block) {
    tpWrench onA = { action->push, tpAdd(tpCross(middle->armA, action->push), action->couple) };
    tpWrench onB = { tpNeg(action->push),
                     tpNeg(tpAdd(tpCross(middle->armB, action->push), action->couple)) };
    tpRows_SetRow(rows, block, 0, onA, onB);
}
