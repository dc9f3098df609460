#include "steppers/auto/stop.h"

#include "steppers/auto/flow_on.h"
#include "steppers/auto/flow_solve.h"

// Where friction is a tenth of the weight, a slip of this speed, in parts of the length per time
// scale and of the square root of the accuracy, goes on for a thousandth of what is asked for.
static const double weakFriction = 0.1, stopPart = 1e-3;

// In larger groups other slips are about to end, or turn, at the same time: their moments are
// found. (Five links that fall into a heap cost half as much again, and were less certain.)
enum { mostStopped = 3 };

double tpGroupRun_StopSpeed(const tpGroupRun* run) {
    if (run->groups->sizes[run->group] > mostStopped) {
        return 0.0;
    }
    double part = sqrt(2.0 * weakFriction * stopPart * run->accuracy);
    return part * run->lengthScale / run->timeScale;
}

// The largest slip of a contact that is taken for one that sticks.
static double largestStopped(const tpFlow* flow, const tpSystem* system) {
    double largest = 0.0;
    for (int i = 0; i < flow->plan.contactCount; ++i) {
        double slip[tp_flowFriction];
        if (flow->plan.modes[i] == tp_flowSticks) {
            largest = fmax(largest, tpFlowRows_Slip(flow->memory->now, system, i, slip));
        }
    }
    return largest;
}

// How far bodies go by the slip until it is over, m.
static void addWay(tpGroupRun* run, double slip) {
    double brake = weakFriction * run->lengthScale / (run->timeScale * run->timeScale);
    for (int i = 0; i < run->system->bodyCount; ++i) {
        bool isOurs = run->groups->ofBody[i] == run->group;
        run->positionErrors[i] += isOurs ? 0.5 * slip * slip / brake : 0.0;
    }
}

// Whether there were slips to stop; what stopped them is in `taken`.
static bool stop(tpGroupRun* run, tpTaken* taken) {
    tpFlow flow;
    bool canGo = false;
    run->stopSpeed = tpGroupRun_StopSpeed(run);
    run->hasMemory = tpFlow_Begin(&flow, run, &canGo);
    run->stopSpeed = 0.0;
    double slip = run->hasMemory && canGo ? largestStopped(&flow, run->system) : 0.0;
    run->hasMemory = run->hasMemory && tpTaken_Start(taken, run->system, &run->limits);
    if (!run->hasMemory || !(slip > 0.0) || !tpFlow_Stop(&flow, run->system, taken)) {
        return false;
    }
    addWay(run, slip);
    return true;
}

double tpGroupRun_StopAndFlowOn(tpGroupRun* run, double start) {
    tpSystem* system = run->system;
    double time = system->time, way = 0.0;
    tpPace before = run->pace;
    tpKept kept;
    tpTaken taken;
    run->isAtSlipEnd = false;
    bool mayStop = before.knowsPushing && (before.pushing & tp_slidingBit) != 0 &&
                   before.hopelessCount == 0 && tpGroupRun_StopSpeed(run) > 0.0;
    run->hasMemory = run->hasMemory && (!mayStop || tpKept_Take(&kept, system, NULL, NULL));
    if (mayStop && run->hasMemory && stop(run, &taken)) {
        way = tpGroupRun_FlowOn(run, start);
    }
    if (way > 0.0) {
        run->hasMemory = run->hasMemory && tpTaken_Append(&run->taken, system, &taken);
    }
    if (way == 0.0 && mayStop) {
        run->pace = before;
        run->hasMemory = run->hasMemory && tpKept_PutBack(&kept, system, NULL, NULL);
        system->time = time;
    }
    return way;
}
