#include "dynamics/scales.h"

#include "dynamics/system.h"

// Steps in the time of a scene without gravity.
static const double stepsPerTime = 512.0;

// Twice the binary digits between two units, and how far the middle of the usual ones is from 1:
// 1/4 m, 1/2 s, 1 kg.
enum { digitsPerUnit = 10, usualLength = -2, usualTime = -1, usualMass = 0 };

// The power of 1024 whose range has the number in it; the range of 1 has 2^middle in its middle.
static double unitOf(double number, int middle) {
    if (!(number > 0.0) || !isfinite(number)) {
        return 1.0;
    }
    int exponent;
    frexp(number, &exponent); // number in [2^(exponent - 1), 2^exponent)
    int steps = exponent - 1 - middle + digitsPerUnit / 2;
    int floored =
        steps >= 0 ? steps / digitsPerUnit : -((digitsPerUnit - 1 - steps) / digitsPerUnit);
    return ldexp(1.0, digitsPerUnit * floored);
}

// Raises the sizes of the bodies of joints by the distance of their anchors, and of the anchors
// from each other.
static void reachAnchors(const tpSystem* system, double* sizes) {
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (!joint->isLive) {
            continue;
        }
        if (joint->bodyA >= 0) {
            double arm = fmax(tpLength(joint->anchorA), joint->startLength);
            sizes[joint->bodyA] = fmax(sizes[joint->bodyA], arm);
        }
        if (joint->bodyB >= 0) {
            double arm = fmax(tpLength(joint->anchorB), joint->startLength);
            sizes[joint->bodyB] = fmax(sizes[joint->bodyB], arm);
        }
    }
}

// Of numbers that are positive: the mean between arithmetic and harmonic mean, 1 if there are none.
typedef struct Mean {
    double sum, inverses;
} Mean;

static void addTo(Mean* mean, double number) {
    if (number > 0.0) {
        mean->sum += number;
        mean->inverses += 1.0 / number;
    }
}

static double valueOf(const Mean* mean) {
    return mean->sum > 0.0 ? sqrt(mean->sum / mean->inverses) : 1.0;
}

double* tpSystem_BodySizes(tpSystem* system) {
    double* sizes = TP_SCRATCH(&system->arena, double, system->bodyCount);
    for (int i = 0; sizes != NULL && i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        sizes[i] = body->inverseMass > 0.0 ? body->size : 0.0;
    }
    if (sizes != NULL) {
        reachAnchors(system, sizes);
    }
    return sizes;
}

bool tpSystem_MeasureScales(tpSystem* system) {
    tpArenaMark mark = tpArena_Mark(&system->arena);
    double* sizes = tpSystem_BodySizes(system);
    if (sizes == NULL) {
        return false;
    }
    Mean lengths = { 0.0, 0.0 }, reaches = { 0.0, 0.0 }, masses = { 0.0, 0.0 };
    double smallest = INFINITY, fall = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        if (tpSystem_IsDynamic(system, i) && sizes[i] > 0.0) {
            addTo(&lengths, sizes[i]);
            addTo(&reaches, body->reach > 0.0 ? body->reach : sizes[i]);
            addTo(&masses, body->mass);
            smallest = fmin(smallest, sizes[i]);
            fall += body->mass * tpLength(system->gravity) * sizes[i];
        }
    }
    tpArena_Release(&system->arena, mark);
    system->scales.length = valueOf(&lengths);
    system->scales.reach = valueOf(&reaches);
    system->scales.mass = valueOf(&masses);
    system->scales.smallest = isfinite(smallest) ? smallest : 1.0;
    system->scales.fall = fall;
    return true;
}

void tpSystem_MeasureUnits(tpSystem* system, double h) {
    double length = system->scales.reach, gravity = tpLength(system->gravity);
    double time = gravity > 0.0 ? sqrt(length / gravity) : stepsPerTime * h;
    system->units.length = unitOf(length, usualLength);
    system->units.time = unitOf(time, usualTime);
    system->units.mass = unitOf(system->scales.mass, usualMass);
    system->units.speed = system->units.length / system->units.time;
}
