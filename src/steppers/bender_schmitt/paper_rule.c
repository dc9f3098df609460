// Iterated impulses with the paper's friction [BenderSchmitt06, (1)-(6)].
//
// The normal impulse of an iteration is (1) with the clamp (2), (3) on its sum. Friction takes mu_d
// times the size of that increment against the sliding velocity (4), never more than stops it (5).
// A contact that has been stopped and keeps (6) is marked: it gets the impulses that stop it until
// (6) fails.
//
// Two things follow that the projected rule does not have: an increment that takes a normal impulse
// back still adds friction, so the result depends on the order of contacts; and (5) stops the
// sliding only where t is an eigenvector of the friction rows, so "stopped" is read as: (5) was
// applied.

#include "steppers/bender_schmitt/paper_rule.h"

static void apply(tpSweeper* sweeper, tpContactPack* pack, int lane, const double change[4]) {
    for (int k = 0; k < 3; ++k) {
        pack->impulse[k][lane] += change[k];
    }
    tpSweeper_Push(sweeper, pack, lane, change);
}

static double sweepFriction(tpSweeper* sweeper, tpContactPack* pack, int lane, double pushed,
                            unsigned char* mark) {
    double u[4];
    tpSweeper_ContactVelocity(sweeper, pack->contact[lane], u);
    double ut = u[1] + pack->bias[1][lane], uo = u[2] + pack->bias[2][lane];
    double speed = sqrt(ut * ut + uo * uo);
    if (!(speed > 0.0)) {
        return 0.0;
    }
    double t = ut / speed, o = uo / speed;
    double response = t * t * pack->response[3][lane] + 2.0 * t * o * pack->response[4][lane] +
                      o * o * pack->response[5][lane];
    if (!(response > 0.0)) {
        return 0.0;
    }
    double stop = speed / response;                // (5)
    double slide = pack->muDynamic[lane] * pushed; // (4)
    bool stops = *mark != 0 || slide >= stop;
    double size = stops ? stop : slide;
    double sumT = pack->impulse[1][lane] - size * t, sumO = pack->impulse[2][lane] - size * o;
    double limit = pack->muStatic[lane] * fmax(pack->impulse[0][lane], 0.0);
    bool holds = sumT * sumT + sumO * sumO <= limit * limit; // (6)
    if (*mark != 0 && !holds) {
        *mark = 0;
        size = fmin(slide, stop);
    } else {
        *mark = stops && holds ? 1 : 0;
    }
    const double change[4] = { 0.0, -size * t, -size * o, 0.0 };
    apply(sweeper, pack, lane, change);
    return size * response;
}

static double sweepContact(tpSweeper* sweeper, tpContactPack* pack, int lane, unsigned char* mark) {
    double u[4];
    tpSweeper_ContactVelocity(sweeper, pack->contact[lane], u);
    double old = pack->impulse[0][lane];
    double step = -(u[0] + pack->bias[0][lane]) * pack->inverseNormal[lane]; // (1)
    double sum = fmax(pack->low[lane], old + step);                          // (2), (3)
    const double change[4] = { sum - old, 0.0, 0.0, 0.0 };
    apply(sweeper, pack, lane, change);
    double largest = fabs(change[0]) * pack->response[0][lane];
    if (pack->muDynamic[lane] > 0.0 || pack->muStatic[lane] > 0.0) {
        largest = fmax(largest, sweepFriction(sweeper, pack, lane, fabs(change[0]), mark));
    }
    return largest;
}

double tpSweeper_SweepPaperRule(tpSweeper* sweeper, unsigned char* marks) {
    double largest = tpSweeper_SweepJoints(sweeper);
    for (int i = 0; i < sweeper->contactCount; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(sweeper, i, &lane);
        largest = fmax(largest, sweepContact(sweeper, pack, lane, &marks[i]));
    }
    return largest;
}
