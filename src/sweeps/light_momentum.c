// After each sweep impulses go on along their last change [Nesterov83]:
//
//     x_k = G(y_k),    y_k+1 = x_k + b (x_k - x_k-1),    b = min(age / (age + 3), most)
//
// where G is a sweep. Errors that a sweep diminishes by a small part e, a sweep with momentum
// diminishes by about the root of e. Every sweep puts all contacts into their cones, so that any
// number of them may change their states on the way. That is what crowds need: where loads move
// between redundant contacts, hundreds of contacts open one after the other until they are at rest.
//
// Velocities are linear in the impulses and go along; they are made of the impulses anew after each
// measured sweep, so that rounding does not add up. Strong friction makes sweeps unsymmetric: too
// much momentum lets steps grow. Then it starts anew, and may be smaller until the solve stalls.
// Where each pair has a single point, as balls do, steps do not grow but cease to shrink, and there
// is less of it from the start: 64 sweeps over 10,000 balls that settle leave a third as much.
// Where loads hardly move any more few contacts change their states, and more momentum gains again.

#include "sweeps/light_momentum.h"

#include <string.h>

#include "sweeps/light_kernels.h"

// Most of the last change that is made once more: of normal impulses alone, of contacts that rub
// with several points per pair, and with no more than so many. The delay of its growth, in sweeps.
static const double smoothMost = 0.95, severalMost = 0.998, singleMost = 0.87, delay = 3.0;
static const double singlePoints = 1.25;

// A pile of single points is calm if a sweep's own step is less than this part of all loads; what
// is left out of the last change is this part of what it is otherwise then. Steps of 10,000 balls
// are 4e-5 to 2e-4 of the loads while the pile flows, 2e-6 to 2e-5 once it lies.
static const double calmStep = 2e-5, calmCut = 0.54;

// A step that is larger than the smallest one by this, squared, starts anew; what is left out of
// the last change grows by the other factor. If contacts rub with several points per pair, it does
// so only if there have been fewer sweeps since it started: in a crowd of cubes steps grow after
// some hundred, in a heap with friction of .2 to .8 after forty, again and again.
static const double lostGrowth = 9.0, cut = 1.5;
enum { soon = 64 };

void tpLightMomentum_Reset(tpLightMomentum* momentum) {
    memset(momentum, 0, sizeof(*momentum));
    momentum->most = -1.0;
}

bool tpLightMomentum_Create(tpLightMomentum* momentum, const tpLightSweeper* light,
                            tpArena* arena) {
    if (momentum->most < 0.0) {
        bool isSingle = light->packCount <= singlePoints * light->runCount;
        momentum->most = light->rowCount == 1 ? smoothMost : isSingle ? singleMost : severalMost;
        momentum->isLong = light->rowCount > 1 && !isSingle;
        momentum->mayBeCalm = light->rowCount > 1 && isSingle;
    }
    momentum->start = TP_SCRATCH(arena, float, light->impulseCount);
    momentum->last = TP_SCRATCH(arena, float, light->impulseCount);
    momentum->lastChanges = TP_SCRATCH(arena, float, light->changeCount);
    momentum->reckoned = TP_SCRATCH(arena, float, light->changeCount);
    return !arena->failed;
}

static void copy(float* to, const float* from, int count) {
    memcpy(to, from, sizeof(float) * (size_t)count);
}

// The square of all loads, as steps are measured.
static double sizeOfLoads(const tpLightSweeper* light) {
    double sum = 0.0;
    for (int i = 0; i < light->impulseCount; ++i) {
        double load = light->loaded[i];
        sum += light->weight[i] * load * load;
    }
    return sum;
}

void tpLightMomentum_Begin(tpLightMomentum* momentum, const tpLightSweeper* light) {
    copy(momentum->last, light->impulses, light->impulseCount);
    copy(momentum->lastChanges, light->changes, light->changeCount);
    momentum->age = 0;
    momentum->least = INFINITY;
    momentum->loads = momentum->mayBeCalm ? sizeOfLoads(light) : 0.0;
}

static void goOn(tpLightMomentum* momentum, tpLightSweeper* light) {
    double left = (1.0 - momentum->most) * (momentum->isCalm ? calmCut : 1.0);
    float part = (float)fmin(1.0 - left, momentum->age / (momentum->age + delay));
    momentum->age += 1;
    light->kernels->advance(light->impulses, momentum->last, part, light->impulseCount);
    light->kernels->advance(light->changes, momentum->lastChanges, part, light->changeCount);
}

void tpLightMomentum_Sweep(tpLightMomentum* momentum, tpLightSweeper* light, int sweeps) {
    for (int k = 1; k < sweeps; ++k) {
        tpLight_Sweep(light);
        goOn(momentum, light);
    }
    copy(momentum->start, light->impulses, light->impulseCount);
    tpLight_Sweep(light);
    momentum->size = light->kernels->measure(light->weight, momentum->start, light->impulses,
                                             light->impulseCount);
    momentum->isCalm = momentum->size < calmStep * calmStep * momentum->loads;
}

// Velocities made of the impulses anew. Those of the last sweep are corrected alike: their
// difference goes into the next change, and would grow by what one of them alone is corrected by.
static void refresh(tpLightMomentum* momentum, tpLightSweeper* light) {
    copy(momentum->reckoned, light->changes, light->changeCount);
    tpLight_Refresh(light);
    for (int i = 0; i < light->changeCount; ++i) {
        momentum->lastChanges[i] += light->changes[i] - momentum->reckoned[i];
    }
}

void tpLightMomentum_GoOn(tpLightMomentum* momentum, tpLightSweeper* light) {
    if (momentum->size > lostGrowth * momentum->least) {
        double less = momentum->isLong && momentum->age >= soon ? 1.0 : cut;
        tpLightMomentum_Begin(momentum, light);
        momentum->most = 1.0 - fmin(1.0, less * (1.0 - momentum->most));
    }
    momentum->least = fmin(momentum->least, momentum->size);
    goOn(momentum, light);
    refresh(momentum, light);
}
