// Nonsmooth nonlinear conjugate gradients over sweeps [SilcowitzNiebeErleben10].
//
// A sweep maps impulses r to G(r); g = r - G(r) plays the gradient. After each sweep
//
//     beta = |g|^2 / |g of the sweep before|^2,   r = G(r) + beta p,   p = beta p - g
//
// and the directions start anew where beta > 1. Velocities are linear in the impulses: they get the
// same treatment, and no product with the contacts' directions is needed. What the sum puts outside
// a cone, the next sweep takes back; the last sweep of a solve is left as it is.
// Changes are measured with the contacts' own responses, so that heavy and light bodies count
// alike.

#include "sweeps/accelerate.h"

#include <string.h>

#include "sweeps/sweeper_kernels.h"

enum { packImpulses = 3 * tp_packWidth, velocityNumbers = sizeof(tpVelocity) / sizeof(double) };

_Static_assert(sizeof(tpVelocity) == tp_packWidth * sizeof(double),
               "lines that are advanced at once");

bool tpAccelerator_Create(tpAccelerator* accelerator, const tpSweeper* sweeper, tpArena* arena) {
    accelerator->packNumbers = sweeper->packCount * packImpulses;
    accelerator->jointNumbers = 3 * sweeper->jointCount;
    accelerator->bodyCount = sweeper->bodyCount;
    int count = accelerator->packNumbers + accelerator->jointNumbers;
    accelerator->last = TP_SCRATCH(arena, double, count);
    accelerator->direction = TP_SCRATCH_ZEROED(arena, double, count);
    accelerator->lastVelocities = TP_SCRATCH(arena, tpVelocity, sweeper->bodyCount);
    accelerator->velocityDirection = TP_SCRATCH_ZEROED(arena, tpVelocity, sweeper->bodyCount);
    accelerator->size = 0.0;
    return !arena->failed;
}

void tpAccelerator_Begin(tpAccelerator* accelerator, const tpSweeper* sweeper) {
    for (int p = 0; p < sweeper->packCount; ++p) {
        memcpy(accelerator->last + (size_t)p * packImpulses, sweeper->packs[p].impulse,
               sizeof(double) * packImpulses);
    }
    double* joints = accelerator->last + accelerator->packNumbers;
    for (int i = 0; i < sweeper->jointCount; ++i) {
        memcpy(joints + 3 * (size_t)i, sweeper->joints[i].impulse, sizeof(double) * 3);
    }
    if (sweeper->bodyCount > 0) {
        memcpy(accelerator->lastVelocities, sweeper->velocities,
               sizeof(tpVelocity) * (size_t)sweeper->bodyCount);
    }
}

static double changeOf(const tpAccelerator* accelerator, const tpSweeper* sweeper) {
    _Alignas(64) double lanes[tp_packWidth] = { 0.0 };
    sweeper->wide->addChanges(sweeper, accelerator->last, lanes);
    double sum = 0.0;
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        sum += lanes[lane];
    }
    const double* joints = accelerator->last + accelerator->packNumbers;
    for (int i = 0; i < sweeper->jointCount; ++i) {
        const tpSweepJoint* joint = &sweeper->joints[i];
        for (int k = 0; k < joint->rowCount; ++k) {
            double change = joint->impulse[k] - joints[3 * i + k];
            sum += change * change * joint->response;
        }
    }
    return sum;
}

static void advanceJoints(tpAccelerator* accelerator, tpSweeper* sweeper, double beta) {
    double* last = accelerator->last + accelerator->packNumbers;
    double* direction = accelerator->direction + accelerator->packNumbers;
    for (int i = 0; i < sweeper->jointCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            int place = 3 * i + k;
            double* value = &sweeper->joints[i].impulse[k];
            double step = beta * direction[place];
            direction[place] = step + (*value - last[place]);
            *value += step;
            last[place] = *value;
        }
    }
}

void tpAccelerator_End(tpAccelerator* accelerator, tpSweeper* sweeper) {
    const tpSweepKernels* wide = sweeper->wide;
    double size = changeOf(accelerator, sweeper);
    double beta = accelerator->size > 0.0 ? size / accelerator->size : 0.0;
    beta = beta <= 1.0 ? beta : 0.0;
    accelerator->size = size;
    for (int p = 0; p < sweeper->packCount; ++p) {
        size_t place = (size_t)p * packImpulses;
        wide->advance(sweeper->packs[p].impulse[0], accelerator->last + place,
                      accelerator->direction + place, packImpulses, beta);
    }
    advanceJoints(accelerator, sweeper, beta);
    if (sweeper->bodyCount > 0) {
        wide->advance(&sweeper->velocities[0].linear.x, &accelerator->lastVelocities[0].linear.x,
                      &accelerator->velocityDirection[0].linear.x,
                      sweeper->bodyCount * velocityNumbers, beta);
    }
}
