#include "dynamics/scales.h"

#include "dynamics/system.h"

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

bool tpSystem_MeasureScales(tpSystem* system) {
    tpArenaMark mark = tpArena_Mark(&system->arena);
    double* sizes = TP_SCRATCH(&system->arena, double, system->bodyCount);
    if (sizes == NULL) {
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        sizes[i] = body->inverseMass > 0.0 ? body->size : 0.0;
    }
    reachAnchors(system, sizes);
    double sum = 0.0, inverses = 0.0, smallest = INFINITY, fall = 0.0;
    int count = 0;
    for (int i = 0; i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i) && sizes[i] > 0.0) {
            sum += sizes[i];
            inverses += 1.0 / sizes[i];
            count += 1;
            smallest = fmin(smallest, sizes[i]);
            fall += system->bodies.data[i].mass * tpLength(system->gravity) * sizes[i];
        }
    }
    tpArena_Release(&system->arena, mark);
    system->scales.length = count > 0 ? sqrt(sum / inverses) : 1.0;
    system->scales.smallest = count > 0 ? smallest : 1.0;
    system->scales.fall = fall;
    return true;
}
