#include "dynamics/deep_bodies.h"

#include "dynamics/contacts.h"

// Of the inner radius of the thinner body: an overlap that is too deep. It must have grown by this
// factor in the step: bodies that were put into each other are on their way out.
static const double deepPart = 0.5, growth = 1.1;

static bool findOverlaps(tpSystem* system, const tpPose* poses, tpContact** contacts, int* count) {
    double* margins = TP_SCRATCH_ZEROED(&system->arena, double, system->bodyCount);
    return margins != NULL &&
           tpSystem_FindContacts(system, poses, margins, contacts, count) == tp_success;
}

bool tpSystem_MarkDeep(tpSystem* system, const tpPose* starts, bool* isMarked) {
    tpContact *now, *before;
    int count, beforeCount;
    if (!findOverlaps(system, starts, &before, &beforeCount) ||
        !findOverlaps(system, system->poses.data, &now, &count)) {
        return false;
    }
    bool isAny = false;
    for (int i = 0; i < count; ++i) {
        int bodies[2] = { now[i].bodyA, now[i].bodyB };
        double radius = fmin(system->bodies.data[bodies[0]].innerRadius,
                             system->bodies.data[bodies[1]].innerRadius);
        double deepest = growth * tpContacts_Deepest(before, beforeCount, &now[i]);
        if (!(now[i].gap < fmin(-deepPart * radius, deepest))) {
            continue;
        }
        isAny = true;
        for (int k = 0; isMarked != NULL && k < 2; ++k) {
            isMarked[bodies[k]] = isMarked[bodies[k]] || tpSystem_IsDynamic(system, bodies[k]);
        }
    }
    return isAny;
}

double tpSystem_DeepestOverlap(tpSystem* system, const tpPose* poses) {
    tpContact* contacts;
    int count;
    double deepest = 0.0;
    if (!findOverlaps(system, poses, &contacts, &count)) {
        return INFINITY;
    }
    for (int i = 0; i < count; ++i) {
        deepest = fmax(deepest, -contacts[i].gap);
    }
    return deepest;
}
