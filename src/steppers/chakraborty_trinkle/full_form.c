// Unknowns: z of every body (6), and for every contact
//
//     a1 a2 (6)   l (per active inequality beyond the first of a body)   p_n p_t p_o p_r   sigma
//
// with as many equations:
//
//     T'(a1 - a2) = 0,  T' N(a2) = 0       normals and the line of the points aligned (9), (22)
//     f_k(a1) = 0, g_k(a2) = 0             for the active k
//     E^2 mu p_n (W' v) + p sigma = 0      friction (5)
//     0 <= p_n    complementary to  max f_k(a2) >= 0                   (6), (19)
//     0 <= sigma  complementary to  mu^2 p_n^2 - |E^-1 p|^2 >= 0
//
// T spans the plane across N(a1), the outward normal of the first body: of the three components of
// each vector equation of the paper two are independent, and these are smooth where |a1 - a2| is
// not. The Jacobian is taken by differences: this form is here to be compared with, not to be fast.

#include "steppers/chakraborty_trinkle/full_form.h"

#include <string.h>

#include "complementarity/solver.h"
#include "steppers/chakraborty_trinkle/problem_parts.h"
#include "tippe/lcp.h"

// How near to zero an inequality has to be at a closest point to be active, m.
static const double activeWithin = 1e-7;

typedef struct Contact {
    int block;
    int first; // its unknowns
    int activeA, activeB;
    int surfacesA[3], surfacesB[3];
    int count; // of its unknowns
} Contact;

typedef struct FullForm {
    tpIslandProblem* problem;
    Contact* contacts;
    int n, momentum;
    double length; // of the scene, for differences
    double* work;  // 2 n
} FullForm;

bool tpFullForm_Applies(const tpIslandProblem* problem) {
    const tpStepGeometry* geometry = problem->geometry;
    const tpRows* rows = &geometry->step->rows;
    bool applies = problem->theta == 1.0 && !problem->hasJoints && rows->componentCount == 6;
    for (int b = 0; applies && b < problem->blockCount; ++b) {
        int block = problem->blocks[b];
        applies = geometry->contacts[block].isSmooth && rows->dimensions[block] >= 3;
    }
    return applies;
}

// The body's own frame, in which its shapes are given.
static tpPose bodyFrame(const tpSystem* system, int body, tpPose pose) {
    tpVec3 center = system->bodies.data[body].center;
    return tpMakePose(tpSub(pose.position, tpRotate(pose.rotation, center)), pose.rotation);
}

// The sum of the active gradients, each made a unit vector, the first with weight 1 (22).
static tpVec3 normalAt(const tpGeometry* shape, tpPose frame, const int* surfaces, int count,
                       const double* l, tpVec3 point) {
    tpVec3 sum = tpZeroVec3();
    for (int k = 0; k < count; ++k) {
        tpVec3 gradient;
        tpWorldSurface(shape, frame, surfaces[k], point, &gradient, NULL);
        sum = tpMulAdd(sum, k == 0 ? 1.0 : l[k - 1], tpNormalize(gradient));
    }
    return tpNormalize(sum);
}

static double largestValue(const tpGeometry* shape, tpPose frame, int count, const int* surfaces,
                           tpVec3 point) {
    double largest = -INFINITY;
    for (int k = 0; k < count; ++k) {
        largest = fmax(largest, tpWorldSurface(shape, frame, surfaces[k], point, NULL, NULL));
    }
    return largest;
}

static tpVec3 vectorAt(const double* x) {
    return tpMakeVec3(x[0], x[1], x[2]);
}

// Friction (5) and sigma, and what the impulses p of the contact do to its bodies.
static void frictionEquations(const FullForm* form, const Contact* c, const tpContactPlace* place,
                              const double* p, double* G, double* F) {
    const tpStepGeometry* geometry = form->problem->geometry;
    const tpRows* rows = &geometry->step->rows;
    const tpImplicitContact* contact = &geometry->contacts[c->block];
    int first = rows->firstRows[c->block], dimension = rows->dimensions[c->block], e = 0;
    double sigma = p[dimension];
    const tpWaypoint* a = &geometry->travels[contact->bodyA].end;
    const tpWaypoint* b = &geometry->travels[contact->bodyB].end;
    tpVec3 slip = tpSub(tpAdd(a->velocity.linear, tpCross(a->velocity.angular, place->armA)),
                        tpAdd(b->velocity.linear, tpCross(b->velocity.angular, place->armB)));
    tpVec3 spin = tpSub(a->velocity.angular, b->velocity.angular);
    double mu = rows->mu[c->block], limit = mu * p[0], left = limit * limit;
    tpVec3 force = tpScale(p[0], place->normal), moment = tpZeroVec3();
    for (int k = 1; k < dimension; ++k) {
        double axis = rows->scale[first + k];
        double u = k < 3 ? tpDot(place->tangents[k - 1], slip) : tpDot(place->normal, spin);
        G[e++] = axis * axis * limit * u + p[k] * sigma;
        left -= p[k] * p[k] / (axis * axis);
        if (k < 3) {
            force = tpMulAdd(force, p[k], place->tangents[k - 1]);
        } else {
            moment = tpScale(p[k], place->normal);
        }
    }
    G[e++] = left;
    tpWrench onA = { force, tpAdd(tpCross(place->armA, force), moment) };
    tpWrench onB = { tpNeg(force), tpNeg(tpAdd(tpCross(place->armB, force), moment)) };
    tpIslandProblem_TakeImpulse(form->problem, rows->bodyA[c->block], &onA, F);
    tpIslandProblem_TakeImpulse(form->problem, rows->bodyB[c->block], &onB, F);
}

// The equations of one contact; its impulse goes off the momentum of its bodies.
static void contactEquations(const FullForm* form, const Contact* c, const double* x, double* F) {
    const tpStepGeometry* geometry = form->problem->geometry;
    const tpTimeStep* step = geometry->step;
    const tpRows* rows = &step->rows;
    const tpImplicitContact* contact = &geometry->contacts[c->block];
    int dimension = rows->dimensions[c->block];
    const double* own = x + c->first;
    double* G = F + c->first;
    tpPose poseA = geometry->endPoses[contact->bodyA], poseB = geometry->endPoses[contact->bodyB];
    tpPose frameA = bodyFrame(step->system, contact->bodyA, poseA);
    tpPose frameB = bodyFrame(step->system, contact->bodyB, poseB);
    const double* l = own + 6;
    const double* p = l + c->activeA + c->activeB - 2;
    tpContactPlace place;
    place.pointA = vectorAt(own);
    place.pointB = vectorAt(own + 3);
    tpVec3 outA = normalAt(contact->a, frameA, c->surfacesA, c->activeA, l, place.pointA);
    tpVec3 outB =
        normalAt(contact->b, frameB, c->surfacesB, c->activeB, l + c->activeA - 1, place.pointB);
    place.normal = tpNeg(outA);
    tpImplicitContact_LayTangents(contact, poseA, poseB, false, &place);
    place.armA = tpSub(place.pointA, poseA.position);
    place.armB = tpSub(place.pointB, poseB.position);

    int e = 0;
    for (int k = 0; k < 2; ++k) {
        G[e++] = tpDot(place.tangents[k], tpSub(place.pointA, place.pointB));
        G[e++] = form->length * tpDot(place.tangents[k], outB);
    }
    for (int k = 0; k < c->activeA; ++k) {
        G[e++] = tpWorldSurface(contact->a, frameA, c->surfacesA[k], place.pointA, NULL, NULL);
    }
    for (int k = 0; k < c->activeB; ++k) {
        G[e++] = tpWorldSurface(contact->b, frameB, c->surfacesB[k], place.pointB, NULL, NULL);
    }
    // In the order of the unknowns: p_n, the friction, sigma.
    G[e++] = largestValue(contact->a, frameA, c->activeA, c->surfacesA, place.pointB);
    frictionEquations(form, c, &place, p, G + e, F);
    TP_ASSERT(e + dimension == c->count);
}

static bool evaluate(const double* x, double* F, void* context) {
    FullForm* form = context;
    tpIslandProblem* problem = form->problem;
    tpTimeStep* step = problem->geometry->step;
    for (int i = 0; i < problem->bodyCount; ++i) {
        tpFromComponents(6, x + 6 * i, &step->pushed[problem->bodies[i]]);
    }
    tpIslandProblem_Travel(problem, false);
    for (int i = 0; i < problem->bodyCount; ++i) {
        double freely[6];
        tpToComponents(6, &step->kicked[problem->bodies[i]], freely);
        for (int k = 0; k < 6; ++k) {
            F[6 * i + k] = x[6 * i + k] - freely[k];
        }
    }
    for (int c = 0; c < problem->blockCount; ++c) {
        contactEquations(form, &form->contacts[c], x, F);
    }
    return true;
}

static bool differentiate(const double* x, double* values, void* context) {
    FullForm* form = context;
    int n = form->n;
    double* below = form->work;
    double* above = form->work + n;
    double* point = form->work + 2 * n;
    memcpy(point, x, sizeof(double) * (size_t)n);
    for (int j = 0; j < n; ++j) {
        double size = 1e-6 * fmax(fabs(x[j]), 1e-2);
        point[j] = x[j] + size;
        evaluate(point, above, form);
        point[j] = x[j] - size;
        evaluate(point, below, form);
        point[j] = x[j];
        for (int i = 0; i < n; ++i) {
            values[(size_t)j * (size_t)n + (size_t)i] = (above[i] - below[i]) / (2.0 * size);
        }
    }
    return true;
}

// Active inequalities at the closest points where the present z leads, and the unknowns there.
static bool describeContact(FullForm* form, int number) {
    tpIslandProblem* problem = form->problem;
    const tpStepGeometry* geometry = problem->geometry;
    Contact* c = &form->contacts[number];
    c->block = problem->blocks[number];
    const tpImplicitContact* contact = &geometry->contacts[c->block];
    const tpContactPlace* place = &geometry->ends[c->block];
    const tpSystem* system = geometry->step->system;
    tpActiveSurfaces a, b;
    tpPose frameA = bodyFrame(system, contact->bodyA, geometry->endPoses[contact->bodyA]);
    tpPose frameB = bodyFrame(system, contact->bodyB, geometry->endPoses[contact->bodyB]);
    c->activeA = tpFindActiveSurfaces(contact->a, frameA, place->pointA, tpNeg(place->normal),
                                      activeWithin * system->units.length, &a);
    c->activeB = tpFindActiveSurfaces(contact->b, frameB, place->pointB, place->normal,
                                      activeWithin * system->units.length, &b);
    if (c->activeA == 0 || c->activeB == 0) {
        return false;
    }
    memcpy(c->surfacesA, a.index, sizeof(a.index));
    memcpy(c->surfacesB, b.index, sizeof(b.index));
    int dimension = geometry->step->rows.dimensions[c->block];
    c->first = form->n;
    c->count = 4 + c->activeA + c->activeB + dimension + 1;
    form->n += c->count;
    return true;
}

// Multipliers of unit gradients with the first at 1.
static void startMultipliers(const tpGeometry* shape, tpPose frame, tpVec3 point, tpVec3 normal,
                             double within, int count, double* l) {
    tpActiveSurfaces active;
    tpFindActiveSurfaces(shape, frame, point, normal, within, &active);
    double first = 1.0;
    for (int k = 0; k < count; ++k) {
        tpVec3 gradient;
        tpWorldSurface(shape, frame, active.index[k], point, &gradient, NULL);
        double weight = active.multiplier[k] * tpLength(gradient);
        if (k == 0) {
            first = weight;
        } else {
            l[k - 1] = weight / first;
        }
    }
}

static void startValues(const FullForm* form, double* x, bool* isFree) {
    const tpIslandProblem* problem = form->problem;
    const tpStepGeometry* geometry = problem->geometry;
    const tpRows* rows = &geometry->step->rows;
    for (int i = 0; i < form->n; ++i) {
        isFree[i] = true;
    }
    for (int i = 0; i < problem->bodyCount; ++i) {
        tpToComponents(6, &geometry->step->pushed[problem->bodies[i]], x + 6 * i);
    }
    for (int k = 0; k < problem->blockCount; ++k) {
        const Contact* c = &form->contacts[k];
        const tpImplicitContact* contact = &geometry->contacts[c->block];
        const tpContactPlace* place = &geometry->ends[c->block];
        int first = rows->firstRows[c->block], dimension = rows->dimensions[c->block];
        double* own = x + c->first;
        const double points[6] = { place->pointA.x, place->pointA.y, place->pointA.z,
                                   place->pointB.x, place->pointB.y, place->pointB.z };
        memcpy(own, points, sizeof(points));
        double* l = own + 6;
        const tpSystem* system = geometry->step->system;
        double within = activeWithin * system->units.length;
        startMultipliers(contact->a,
                         bodyFrame(system, contact->bodyA, geometry->endPoses[contact->bodyA]),
                         place->pointA, tpNeg(place->normal), within, c->activeA, l);
        startMultipliers(contact->b,
                         bodyFrame(system, contact->bodyB, geometry->endPoses[contact->bodyB]),
                         place->pointB, place->normal, within, c->activeB, l + c->activeA - 1);
        double* p = l + c->activeA + c->activeB - 2;
        double speed = 0.0;
        for (int i = 0; i < dimension; ++i) {
            p[i] = rows->impulse[first + i];
            double u = rows->scale[first + i] * rows->velocity[first + i];
            speed += i > 0 ? u * u : 0.0;
        }
        p[dimension] = sqrt(speed);
        isFree[c->first + (int)(p - own)] = false;
        isFree[c->first + (int)(p - own) + dimension] = false;
    }
}

static void takeAnswer(const FullForm* form, const double* x) {
    tpIslandProblem* problem = form->problem;
    tpTimeStep* step = problem->geometry->step;
    for (int i = 0; i < problem->bodyCount; ++i) {
        tpFromComponents(6, x + 6 * i, &step->pushed[problem->bodies[i]]);
    }
    for (int k = 0; k < problem->blockCount; ++k) {
        const Contact* c = &form->contacts[k];
        int first = step->rows.firstRows[c->block], dimension = step->rows.dimensions[c->block];
        const double* p = x + c->first + c->count - dimension - 1;
        memcpy(step->rows.impulse + first, p, sizeof(double) * (size_t)dimension);
    }
}

static bool solveIn(FullForm* form, tpIslandTolerance tolerance, tpSolverMemory* memory,
                    tpIslandSolve* out) {
    tpArena* arena = &memory->arena;
    tpIslandProblem* problem = form->problem;
    double* F = TP_SCRATCH(arena, double, problem->size);
    form->contacts = TP_SCRATCH_ZEROED(arena, Contact, problem->blockCount);
    if (arena->failed) {
        return false;
    }
    tpIslandProblem_Evaluate(problem, F);
    form->n = form->momentum = 6 * problem->bodyCount;
    form->length = 1.0;
    for (int k = 0; k < problem->blockCount; ++k) {
        if (!describeContact(form, k)) {
            return true;
        }
    }
    double* x = TP_SCRATCH_ZEROED(arena, double, form->n);
    bool* isFree = TP_SCRATCH(arena, bool, form->n);
    form->work = TP_SCRATCH(arena, double, 3 * form->n);
    if (arena->failed) {
        return false;
    }
    startValues(form, x, isFree);
    tpNcp ncp = { .n = form->n,
                  .isFree = isFree,
                  .scale = 1.0,
                  .evaluate = evaluate,
                  .jacobian = differentiate,
                  .jacobianPattern = tpDenseMatrix(form->n, form->n, NULL),
                  .context = form };
    tpNcpOptions options = tpDefaultNcpOptions();
    options.tolerance = 1e-13;
    tpSolveReport report;
    if (tpNcp_Solve(&ncp, &options, memory, x, &report) == tp_solverOutOfMemory) {
        return false;
    }
    out->iterations = report.iterations;
    takeAnswer(form, x);
    tpIslandProblem_Evaluate(problem, F);
    double sum = 0.0;
    for (int i = 0; i < problem->size; ++i) {
        sum += F[i] * F[i];
    }
    out->residual = sqrt(sum);
    out->isSolved = out->residual <= tolerance.enough;
    return true;
}

bool tpFullForm_Solve(tpIslandProblem* problem, tpIslandTolerance tolerance, tpSolverMemory* memory,
                      tpIslandSolve* out) {
    memset(out, 0, sizeof(*out));
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    FullForm form = { .problem = problem };
    bool isDone = solveIn(&form, tolerance, memory, out);
    tpSolverMemory_End(memory, mark);
    return isDone;
}
