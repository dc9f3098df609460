#include "dynamics/solve.h"

#include <float.h>

#include "dynamics/pyramid.h"

// Largest relative violation of the cone and of maximal dissipation, contact by contact, in the true
// cone whatever was solved.
static void judgeContacts(const tpRows* rows, tpStepReport* report) {
    // Below these a ratio says nothing: the load or the speed is rounding.
    double largestLoad = 0.0, largestSpeed = 0.0;
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source == tp_contactSource) {
            int first = rows->firstRows[b];
            largestLoad = fmax(largestLoad, rows->impulse[first]);
            for (int k = 1; k < rows->dimensions[b]; ++k) {
                double speed = fabs(rows->scale[first + k] * rows->velocity[first + k]);
                largestSpeed = fmax(largestSpeed, speed);
            }
        }
    }
    for (int b = 0; b < rows->blockCount; ++b) {
        int first = rows->firstRows[b];
        double limit = rows->mu[b] * rows->impulse[first];
        bool isContact = rows->infos[b].source == tp_contactSource;
        if (!isContact || !(limit > 1e-9 * largestLoad * rows->mu[b])) {
            continue;
        }
        double force = 0.0, speed = 0.0, power = 0.0;
        for (int k = first + 1; k < first + rows->dimensions[b]; ++k) {
            double r = rows->impulse[k] / rows->scale[k];
            double u = rows->velocity[k] * rows->scale[k];
            force += r * r;
            speed += u * u;
            power += r * u;
        }
        force = sqrt(force);
        speed = sqrt(speed);
        report->coneViolation = fmax(report->coneViolation, force / limit - 1.0);
        if (speed > 1e-6 * largestSpeed && speed > 1e-9) {
            double gap = (limit * speed + power) / (limit * speed);
            report->dissipationViolation = fmax(report->dissipationViolation, gap);
        }
    }
}

static double normOf(const double* numbers, int count) {
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += numbers[i] * numbers[i];
    }
    return sqrt(sum);
}

// Response of a row to its own impulse through one body.
static double ownResponse(const tpRows* rows, int body, const double* row) {
    int degrees = rows->degrees;
    const double* inverse = rows->inverseMass + (size_t)body * (size_t)(degrees * degrees);
    double sum = 0.0;
    for (int i = 0; i < degrees; ++i) {
        for (int j = 0; j < degrees; ++j) {
            sum += row[i] * inverse[i * degrees + j] * row[j];
        }
    }
    return sum;
}

// What rounding alone leaves of the velocities u = W r + q: large impulses that cancel, as in a chain
// under load, allow no better.
static double roundingLevel(const tpRows* rows) {
    double sum = 0.0;
    for (int b = 0; b < rows->blockCount; ++b) {
        for (int k = 0; k < rows->dimensions[b]; ++k) {
            int row = rows->firstRows[b] + k;
            size_t place = (size_t)row * (size_t)rows->degrees;
            double response = rows->compliance[row];
            if (rows->bodyA[b] >= 0) {
                response += ownResponse(rows, rows->bodyA[b], rows->jacobianA + place);
            }
            if (rows->bodyB[b] >= 0) {
                response += ownResponse(rows, rows->bodyB[b], rows->jacobianB + place);
            }
            double speed = response * rows->impulse[row];
            sum += speed * speed;
        }
    }
    return 64.0 * DBL_EPSILON * sqrt(sum);
}

// Velocities that are rounding have no scale of their own: residuals are not relative to less, m/s.
static const double smallestScale = 1e-6;

// Pyramids of more rows than this take longer than they are worth as a place to start from.
enum { largestRestart = 600 };

static bool hasContact(const tpRows* rows) {
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source == tp_contactSource && rows->impulse[rows->firstRows[b]] > 0.0) {
            return true;
        }
    }
    return false;
}

// A step that goes on beyond this is better off with a fallback, multiply-adds: some tenths of a second
// for small scenes, more for large ones.
static double workLimit(const tpRows* rows) {
    return 1e8 + 2e6 * rows->rowCount;
}

static bool solveCircular(tpRows* rows, tpSolverMemory* memory, double tolerance,
                          tpStepReport* report, double* residual) {
    tpFrictionBodies bodies;
    tpFrictionProblem problem = tpRows_FrictionProblem(rows, &bodies);
    tpFrictionOptions options = tpDefaultFrictionOptions();
    // Both the absolute tolerance and the certificate of 1e-8 have to be met; the rest is rounding.
    options.tolerance = 1e-14;
    double size = fmax(normOf(rows->q, rows->rowCount), smallestScale);
    options.velocityTolerance = fmin(tolerance, 0.5e-8 * size);
    options.workLimit = workLimit(rows);
    tpSolveReport solve;
    tpSolveStatus status =
        tpFriction_Solve(&problem, &options, memory, rows->impulse, rows->velocity, &solve);
    report->solveCount += 1;
    report->iterationCount += solve.iterations;
    // The judge divides by |q|; where that is next to nothing, by the smallest scale.
    double norm = normOf(rows->q, rows->rowCount);
    double reached = solve.residual * (norm > 0.0 ? norm : 1.0);
    *residual = reached / size;
    return status == tp_solved || reached <= roundingLevel(rows);
}

static bool solvePyramid(tpRows* rows, tpSystem* system, tpSolverMemory* memory, int directionCount,
                         double tolerance, bool justLemke, tpStepReport* report, double* residual) {
    tpPyramidResult result;
    if (!tpPyramid_Solve(rows, &system->arena, memory, directionCount, tolerance, justLemke,
                         &result)) {
        return false;
    }
    report->solveCount += result.islandCount;
    report->iterationCount += result.pivotCount;
    *residual = result.residual;
    return result.failureCount == 0;
}

// u = W r + q for impulses that came without it.
static bool computeVelocities(tpRows* rows, tpSolverMemory* memory) {
    tpFrictionBodies bodies;
    tpFrictionProblem problem = tpRows_FrictionProblem(rows, &bodies);
    tpFrictionResidual judged;
    return tpFriction_Judge(&problem, rows->impulse, rows->velocity, memory, &judged);
}

bool tpRows_Solve(tpRows* rows, tpSystem* system, tpSolverMemory* memory,
                  const tpSolveSettings* settings, tpStepReport* report) {
    if (rows->rowCount == 0) {
        return true;
    }
    double residual = 0.0;
    bool isSolved;
    if (settings->cone == tp_circularCone) {
        isSolved = solveCircular(rows, memory, settings->tolerance, report, &residual);
        if (!isSolved && rows->rowCount <= largestRestart && hasContact(rows)) {
            // A vertex of the pyramid is another place to start from.
            double best = residual;
            size_t bytes = sizeof(double) * (size_t)rows->rowCount;
            double* kept = tpArena_Get(&system->arena, 2 * bytes);
            if (kept == NULL) {
                return false;
            }
            for (int k = 0; k < rows->rowCount; ++k) {
                kept[k] = rows->impulse[k];
                kept[rows->rowCount + k] = rows->velocity[k];
            }
            double unused;
            solvePyramid(rows, system, memory, settings->directionCount, 1e-8, true, report,
                         &unused);
            isSolved = solveCircular(rows, memory, settings->tolerance, report, &residual);
            report->fallback = "pyramid start";
            if (!isSolved && !(residual < best)) {
                for (int k = 0; k < rows->rowCount; ++k) {
                    rows->impulse[k] = kept[k];
                    rows->velocity[k] = kept[rows->rowCount + k];
                }
                residual = best;
            }
        }
    } else {
        isSolved = solvePyramid(rows, system, memory, settings->directionCount,
                                fmin(settings->tolerance, 1e-8), false, report, &residual);
        if (system->arena.failed || !computeVelocities(rows, memory)) {
            return false;
        }
        if (!isSolved && residual > 1e-6) {
            double circular;
            if (solveCircular(rows, memory, settings->tolerance, report, &circular)) {
                report->fallback = "circular cone";
                residual = circular;
            }
        }
    }
    report->failureCount += isSolved ? 0 : 1;
    report->converged = report->converged && isSolved;
    report->residual = fmax(report->residual, residual);
    judgeContacts(rows, report);
    return true;
}

void tpRows_AccountEnergy(const tpRows* rows, const tpSystem* system, const tpVelocity* before,
                          const tpVelocity* after, const tpContact* contacts,
                          tpStepReport* report) {
    for (int b = 0; b < rows->blockCount; ++b) {
        bool isContact = rows->infos[b].source == tp_contactSource;
        int index = rows->infos[b].index;
        int bodyA = isContact ? contacts[index].bodyA : system->joints.data[index].bodyA;
        int bodyB = isContact ? contacts[index].bodyB : system->joints.data[index].bodyB;
        for (int k = 0; k < rows->dimensions[b]; ++k) {
            int row = rows->firstRows[b] + k;
            double mean = 0.5 * (tpRows_RowVelocity(rows, row, before, bodyA, bodyB) +
                                 tpRows_RowVelocity(rows, row, after, bodyA, bodyB));
            // Of that, what bodies that move as told put in.
            int drivenA = tpSystem_IsDynamic(system, bodyA) ? -1 : bodyA;
            int drivenB = tpSystem_IsDynamic(system, bodyB) ? -1 : bodyB;
            double driven = tpRows_RowVelocity(rows, row, after, drivenA, drivenB);
            double work = rows->impulse[row] * mean;
            report->externalWork -= rows->impulse[row] * driven;
            if (!isContact) {
                bool isDriven =
                    rows->infos[b].source == tp_boundedSource || rows->compliance[row] > 0.0;
                if (isDriven && system->joints.data[index].type != tp_springJoint) {
                    report->externalWork += work;
                } else if (!isDriven) {
                    report->impactLoss -= work;
                }
            } else if (k == 0) {
                report->impactLoss -= work;
            } else {
                report->frictionLoss -= work;
            }
        }
    }
}
