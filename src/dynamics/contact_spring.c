#include "dynamics/contact_spring.h"

#include <string.h>

// Surfaces that just meet have springs without stiffness yet; this part of the steepest is as good
// as none.
static const double leastSlope = 1e-6;

// How far a point is pressed in at this gap.
static double depthAt(double gap) {
    return fmax(0.0, -gap);
}

tpPointSpring tpMakePointSpring(const tpContactLaw* law, double gap, double h, double response) {
    // A damper that would stop the point within the step acts before the drift; a weak one half
    // before, half after.
    double decay = h * law->damping * response;
    tpPointSpring spring = { law->stiffness, law->damping, gap, h,
                             decay > 2.0 ? 1.0 - 1.0 / decay : 0.5 };
    return spring;
}

double tpPointSpring_Energy(double stiffness, double gap) {
    double depth = depthAt(gap);
    return 0.5 * stiffness * depth * depth;
}

// The mean force of the spring over the way, -(V1 - V0) / (h u), and its derivative by u.
static double springForce(const tpPointSpring* spring, double u, double* slope) {
    double k = spring->stiffness, before = depthAt(spring->gap);
    double end = spring->gap + spring->h * u, after = depthAt(end);
    *slope = 0.0;
    if (spring->gap > 0.0 && end <= 0.0) { // enters
        double way = after + spring->gap;
        *slope = -0.5 * k * spring->h * (after + 2.0 * spring->gap) * after / (way * way);
        return 0.5 * k * after * after / way;
    }
    if (spring->gap <= 0.0 && end > 0.0) { // leaves
        double part = before / (before + end);
        *slope = -0.5 * k * spring->h * part * part;
        return 0.5 * k * before * part;
    }
    *slope = end <= 0.0 ? -0.5 * k * spring->h : 0.0;
    return 0.5 * k * (before + after);
}

// The damper's force, and its derivative by u, from below where it is bent.
static double damperForce(const tpPointSpring* spring, double u, double* slope) {
    double end = spring->gap + spring->h * u;
    *slope = end <= 0.0 ? -spring->damping : 0.0;
    return spring->damping * (depthAt(end) - depthAt(spring->gap)) / spring->h;
}

// Before the drift, with what the damper would pull. It falls with u and is convex in it.
static double firstImpulse(const tpPointSpring* spring, double u, double* slope) {
    double byU, dampedByU;
    double impulse = 0.5 * spring->h * springForce(spring, u, &byU) +
                     spring->share * spring->h * damperForce(spring, u, &dampedByU);
    *slope = 0.5 * spring->h * byU + spring->share * spring->h * dampedByU;
    return impulse;
}

double tpPointSpring_FirstImpulse(const tpPointSpring* spring, double u, double* slope) {
    double impulse = firstImpulse(spring, u, slope);
    *slope = impulse > 0.0 ? *slope : 0.0;
    return fmax(0.0, impulse);
}

// The u from which on the point does not push.
static double openingVelocity(const tpPointSpring* spring) {
    double h = spring->h, k = spring->stiffness, depth = depthAt(spring->gap);
    double damped = spring->share * h * spring->damping;
    if (spring->gap > 0.0) {
        return -spring->gap / h;
    }
    double u = 0.5 * h * k * depth / (0.25 * h * h * k + damped); // still pressed in at the end
    return h * u <= depth || !(damped > 0.0) ? u : 0.25 * h * k * depth / damped;
}

double tpPointSpring_WholeImpulse(const tpPointSpring* spring, double u) {
    double unused;
    if (!(tpPointSpring_FirstImpulse(spring, u, &unused) > 0.0)) {
        return 0.0;
    }
    return fmax(0.0,
                spring->h * (springForce(spring, u, &unused) + damperForce(spring, u, &unused)));
}

double tpPointSpring_Settle(const tpPointSpring* spring, double response, double free) {
    // u - free - response r(u) rises with u; it is not positive at u = free.
    double slope;
    double low = free, high = free + response * tpPointSpring_FirstImpulse(spring, free, &slope);
    double u = low;
    for (int k = 0; k < 60 && high - low > 1e-14 * (fabs(high) + fabs(low)); ++k) {
        double impulse = tpPointSpring_FirstImpulse(spring, u, &slope);
        double excess = u - free - response * impulse;
        low = excess <= 0.0 ? u : low;
        high = excess >= 0.0 ? u : high;
        double next = u - excess / (1.0 - response * slope);
        u = next > low && next < high ? next : 0.5 * (low + high);
    }
    return u;
}

void tpPointSpring_Linearise(const tpPointSpring* spring, double u, tpRows* rows, int row) {
    double slope;
    double impulse = firstImpulse(spring, u, &slope);
    if (!(impulse > 0.0)) {
        // The tangent where it begins to push lies below the law, as all tangents do: Newton's
        // method goes on from one side.
        u = openingVelocity(spring);
        firstImpulse(spring, u, &slope);
        impulse = 0.0;
    }
    double h = spring->h, steepest = h * (0.25 * h * spring->stiffness + spring->damping);
    slope = fmin(slope, -leastSlope * steepest);
    rows->compliance[row] = -1.0 / slope;
    rows->bias[row] = impulse / slope - u;
}

void tpPointSpring_WriteImplicit(const tpContactLaw* law, double gap, double h, tpRows* rows,
                                 int row) {
    // r = h (k depth1 + d (depth1 - depth0) / h) with depth1 = -(gap + h u).
    double b = h * (h * law->stiffness + law->damping);
    rows->compliance[row] = 1.0 / b;
    rows->bias[row] = gap > 0.0 ? gap / h : h * law->stiffness * gap / b;
}

double tpRows_BareVelocity(const tpRows* rows, int row) {
    return rows->velocity[row] - rows->bias[row] - rows->compliance[row] * rows->impulse[row];
}

bool tpRows_JudgeRigid(tpRows* rows, const tpContactLaw* laws, const double* gaps, double h,
                       tpArena* arena, tpSolverMemory* memory, double* residual) {
    size_t bytes = sizeof(double) * (size_t)rows->rowCount;
    double* q = tpArena_Get(arena, bytes);
    double* compliance = tpArena_Get(arena, bytes);
    double* u = tpArena_Get(arena, bytes);
    if (arena->failed) {
        return false;
    }
    memcpy(q, rows->q, bytes);
    memcpy(compliance, rows->compliance, bytes);
    for (int b = 0; b < rows->blockCount; ++b) {
        int row = rows->firstRows[b], index = rows->infos[b].index;
        if (rows->infos[b].source == tp_contactSource && laws[index].stiffness > 0.0) {
            q[row] += fmax(gaps[index], 0.0) / h - rows->bias[row];
            compliance[row] = 0.0;
        }
    }
    tpFrictionBodies bodies;
    tpFrictionProblem problem = tpRows_FrictionProblem(rows, &bodies);
    problem.q = q;
    problem.compliance = compliance;
    tpFrictionResidual judged;
    if (!tpFriction_Judge(&problem, rows->impulse, u, memory, &judged)) {
        return false;
    }
    *residual = fmax(*residual, judged.natural);
    return true;
}

bool tpSystem_Gives(const tpSystem* system) {
    bool gives = false;
    for (int i = 0; i < system->materials.count; ++i) {
        gives = gives || system->materials.data[i].contact.compliance > 0.0;
    }
    for (int i = 0; i < system->pairs.count; ++i) {
        const tpPairDef* pair = &system->pairs.data[i];
        gives = gives || (pair->hasContact && pair->contact.compliance > 0.0);
    }
    return gives && (system->leftOut & tp_lacksCompliance) == 0;
}

double tpContact_Overlap(const tpContact* contact, const tpSystem* system) {
    bool isSpring =
        system->gives && contact->gap < 0.0 && tpMakeContactLaw(system, contact).stiffness > 0.0;
    return isSpring ? 0.0 : fmax(0.0, -contact->gap);
}

void tpSystem_SetContactEnergy(tpSystem* system, const tpContact* contacts, int count) {
    system->contactEnergy = 0.0;
    for (int i = 0; system->gives && i < count; ++i) {
        if (contacts[i].gap < 0.0) {
            tpContactLaw law = tpMakeContactLaw(system, &contacts[i]);
            system->contactEnergy += tpPointSpring_Energy(law.stiffness, contacts[i].gap);
        }
    }
}

bool tpSystem_FindContactEnergy(tpSystem* system) {
    tpContact* contacts = NULL;
    int count = 0;
    if (system->gives) {
        double* margins = TP_SCRATCH_ZEROED(&system->arena, double, system->bodyCount);
        if (margins == NULL || tpSystem_FindContacts(system, system->poses.data, margins, &contacts,
                                                     &count) != tp_success) {
            return false;
        }
    }
    tpSystem_SetContactEnergy(system, contacts, count);
    return true;
}
