#include "steppers/chakraborty_trinkle/problem.h"

#include <string.h>

#include "complementarity/friction_island.h"
#include "dynamics/joints.h"
#include "dynamics/step_budget.h"
#include "steppers/chakraborty_trinkle/joint_action.h"
#include "steppers/chakraborty_trinkle/problem_parts.h"

// Unknowns of a body in order: velocities in space, or x, y and the turn in the plane.
void tpIslandProblem_Get(const tpIslandProblem* problem, double* x) {
    const tpTimeStep* step = problem->geometry->step;
    int componentCount = step->rows.componentCount;
    for (int i = 0; i < problem->bodyCount; ++i) {
        tpToComponents(componentCount, &step->pushed[problem->bodies[i]], x + i * componentCount);
    }
    double* r = x + problem->bodyCount * componentCount;
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b], first = step->rows.firstRows[block];
        for (int k = 0; k < step->rows.dimensions[block]; ++k) {
            r[problem->firstRow[b] + k] = step->rows.impulse[first + k];
        }
    }
}

void tpIslandProblem_Set(tpIslandProblem* problem, const double* x) {
    tpTimeStep* step = problem->geometry->step;
    int componentCount = step->rows.componentCount;
    for (int i = 0; i < problem->bodyCount; ++i) {
        tpFromComponents(componentCount, x + i * componentCount, &step->pushed[problem->bodies[i]]);
    }
    const double* r = x + problem->bodyCount * componentCount;
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b], first = step->rows.firstRows[block];
        for (int k = 0; k < step->rows.dimensions[block]; ++k) {
            step->rows.impulse[first + k] = r[problem->firstRow[b] + k];
        }
    }
}

void tpIslandProblem_Travel(tpIslandProblem* problem, bool withDerivatives) {
    tpStepGeometry* geometry = problem->geometry;
    tpTimeStep* step = geometry->step;
    for (int i = 0; i < problem->bodyCount; ++i) {
        int slot = problem->bodies[i];
        tpTravel* travel = &geometry->travels[slot];
        tpTravel_Compute(step->system, slot, step->startPoses[slot], &step->startVelocities[slot],
                         &step->pushed[slot], problem->theta, step->h, withDerivatives, travel);
        geometry->middlePoses[slot] = travel->middle.pose;
        geometry->endPoses[slot] = travel->end.pose;
        step->meanVelocities[slot] = travel->move;
    }
}

static void placeContacts(tpIslandProblem* problem, bool withDerivatives) {
    tpStepGeometry* geometry = problem->geometry;
    bool isPlanar = geometry->step->system->isPlanar;
    for (int b = 0; b < problem->blockCount; ++b) {
        int c = problem->blocks[b];
        if (c >= geometry->contactBlocks) {
            continue;
        }
        tpImplicitContact* contact = &geometry->contacts[c];
        const tpPose* ends = geometry->endPoses;
        tpImplicitContact_Place(contact, isPlanar, ends[contact->bodyA], ends[contact->bodyB],
                                withDerivatives, &geometry->ends[c]);
        if (problem->theta == 1.0) {
            geometry->middles[c] = geometry->ends[c];
            continue;
        }
        const tpPose* middles = geometry->middlePoses;
        tpImplicitContact_Place(contact, isPlanar, middles[contact->bodyA], middles[contact->bodyB],
                                withDerivatives, &geometry->middles[c]);
    }
}

// Rows of all joints.
static void placeAllJoints(tpIslandProblem* problem, const tpJointTreatment* treatment) {
    tpStepGeometry* geometry = problem->geometry;
    const tpSystem* system = geometry->step->system;
    tpRows_Clear(&geometry->jointEnds);
    tpJoints_AddRows(&geometry->jointEnds, system, geometry->endPoses, treatment);
    tpRows_Clear(&geometry->jointMiddles);
    tpJoints_AddRows(&geometry->jointMiddles, system, geometry->middlePoses, treatment);
    for (int own = 0; problem->keepsEnergy && own < geometry->jointMiddles.blockCount; ++own) {
        tpStepGeometry_DirectJoint(geometry, own);
    }
    geometry->areJointsPlaced = true;
}

// Rows of the island's joints; of all of them the first time, or if couplings join them.
static void placeJoints(tpIslandProblem* problem) {
    tpStepGeometry* geometry = problem->geometry;
    const tpTimeStep* step = geometry->step;
    tpRows *ends = &geometry->jointEnds, *middles = &geometry->jointMiddles;
    tpJointTreatment treatment = { step->h,        1.0,  step->meanVelocities, step->h,
                                   problem->theta, false };
    if (!problem->hasJoints) {
        return;
    }
    if (!geometry->areJointsPlaced || step->system->couplings.count > 0) {
        placeAllJoints(problem, &treatment);
        return;
    }
    for (int i = 0, last = -1; i < problem->blockCount; ++i) {
        int own = problem->blocks[i] - geometry->contactBlocks;
        if (own < 0) {
            continue;
        }
        if (ends->infos[own].index != last) {
            last = ends->infos[own].index;
            tpJoint_RewriteRows(ends, step->system, own, geometry->endPoses, &treatment);
            tpJoint_RewriteRows(middles, step->system, own, geometry->middlePoses, &treatment);
        }
        if (problem->keepsEnergy) {
            tpStepGeometry_DirectJoint(geometry, own);
        }
    }
}

static void directImpulses(tpIslandProblem* problem) {
    tpStepGeometry* geometry = problem->geometry;
    const tpTimeStep* step = geometry->step;
    for (int i = 0; i < problem->blockCount; ++i) {
        int c = problem->blocks[i];
        if (c >= geometry->contactBlocks) {
            continue;
        }
        if (!problem->keepsEnergy) {
            geometry->actions[c] = tpNormalAction_AtEnd(&geometry->ends[c]);
            continue;
        }
        int bodyA = geometry->contacts[c].bodyA, bodyB = geometry->contacts[c].bodyB;
        const tpWaypoint* a = &geometry->travels[bodyA].middle;
        const tpWaypoint* b = &geometry->travels[bodyB].middle;
        tpTwistScale scale = tpMakeTwistScale(step->system, bodyA, bodyB, a, b, step->h);
        double rate = (geometry->ends[c].gap - geometry->startGaps[c]) / step->h;
        geometry->actions[c] = tpNormalAction_Make(&geometry->middles[c], a, b, &scale, rate);
    }
}

void tpIslandProblem_Move(tpIslandProblem* problem, bool withDerivatives) {
    tpIslandProblem_Travel(problem, withDerivatives);
    placeContacts(problem, withDerivatives);
    directImpulses(problem);
    placeJoints(problem);
}

// Velocities u of a contact's rows, and the wrench of its impulses on A and B.
static void contactRows(const tpIslandProblem* problem, int block, tpWrench wrench[2]) {
    tpStepGeometry* geometry = problem->geometry;
    const tpTimeStep* step = geometry->step;
    const tpRows* rows = &step->rows;
    int first = rows->firstRows[block], dimension = rows->dimensions[block];
    const tpContactPlace* place = &geometry->middles[block];
    const tpContactPlace* end = &geometry->ends[block];
    double* u = rows->velocity + first;
    u[0] = (end->gap - geometry->targets[block]) / step->h;
    tpContactSlip slip = tpSlipOf(problem, block);
    for (int k = 1; k < dimension && k < 3; ++k) {
        u[k] = tpDot(slip.place->tangents[k - 1], slip.velocity);
    }
    if (dimension == 4) {
        u[3] = tpDot(slip.place->normal, slip.spin);
    }
    for (int k = 0; k < dimension; ++k) {
        u[k] += geometry->shifts[first + k];
    }
    tpVec3 moment;
    tpVec3 force = tpContactForce(problem, block, &moment);
    const tpNormalAction* action = &geometry->actions[block];
    double r = rows->impulse[first];
    wrench[0].linear = force;
    wrench[0].angular = tpMulAdd(tpAdd(tpCross(place->armA, force), moment), r, action->coupleA);
    wrench[1].linear = tpNeg(force);
    wrench[1].angular =
        tpMulAdd(tpNeg(tpAdd(tpCross(place->armB, force), moment)), r, action->coupleB);
}

static tpVec3 vectorOf(const double* x) {
    return tpMakeVec3(x[0], x[1], x[2]);
}

// A motor or dry friction of a joint acts against the rate u1 where the step ends: against the mean
// u = (1 - theta) u0 + theta u1 a motor that reaches its speed within a step would swing about it
// for ever, u1 = -u0. What is asked is u - (1 - theta) u0 = theta u1, with the same derivatives.
static double shiftOfDrive(const tpIslandProblem* problem, int block, int k) {
    const tpTimeStep* step = problem->geometry->step;
    const tpRows* rows = &step->rows;
    const tpBlockInfo* info = &rows->infos[block];
    bool isDrive = info->role == tp_motorRole || info->role == tp_frictionRole;
    if (k != 1 || info->source != tp_boundedSource || !isDrive || problem->theta == 1.0) {
        return 0.0;
    }
    int row = rows->firstRows[block] + k;
    double start = rows->bias[row] + tpRows_RowVelocity(rows, row, step->startVelocities,
                                                        rows->givenA[block], rows->givenB[block]);
    return -(1.0 - problem->theta) * start;
}

static void jointRows(const tpIslandProblem* problem, int block, tpWrench wrench[2]) {
    const tpStepGeometry* geometry = problem->geometry;
    const tpTimeStep* step = geometry->step;
    const tpRows* rows = &step->rows;
    int own = block - geometry->contactBlocks;
    const tpRows* ends = &geometry->jointEnds;
    const tpRows* middles = &geometry->jointMiddles;
    wrench[0].linear = wrench[0].angular = wrench[1].linear = wrench[1].angular = tpZeroVec3();
    for (int k = 0; k < rows->dimensions[block]; ++k) {
        int row = rows->firstRows[block] + k, at = ends->firstRows[own] + k;
        double r = rows->impulse[row];
        rows->velocity[row] = ends->bias[at] + ends->compliance[at] * r +
                              tpRows_RowVelocity(ends, at, step->meanVelocities, ends->givenA[own],
                                                 ends->givenB[own]);
        rows->velocity[row] += shiftOfDrive(problem, block, k);
        for (int side = 0; side < 2; ++side) {
            const double* J = (side == 0 ? middles->jacobianA : middles->jacobianB) +
                              (size_t)at * (size_t)rows->componentCount;
            bool isPlanar = rows->componentCount == 3;
            tpVec3 linear = isPlanar ? tpMakeVec3(J[0], J[1], 0.0) : vectorOf(J);
            tpVec3 angular = isPlanar ? tpMakeVec3(0.0, 0.0, J[2]) : vectorOf(J + 3);
            wrench[side].linear = tpMulAdd(wrench[side].linear, r, linear);
            wrench[side].angular = tpMulAdd(wrench[side].angular, r, angular);
        }
    }
}

// What a coupling does to its bodies beyond two.
static void takeTerms(const tpIslandProblem* problem, int block, double* residual) {
    const tpStepGeometry* geometry = problem->geometry;
    const tpRows* rows = &geometry->step->rows;
    const tpRows* middles = &geometry->jointMiddles;
    int k = rows->dimensions[block] - 1;
    int at = middles->firstRows[block - geometry->contactBlocks] + k;
    double r = rows->impulse[rows->firstRows[block] + k];
    for (int t = 0; t < middles->termCounts[at]; ++t) {
        const tpRowTerm* term = &middles->terms[middles->firstTerms[at] + t];
        if (term->isDynamic) {
            tpVelocity along;
            memset(&along, 0, sizeof(along));
            tpFromComponents(rows->componentCount, term->jacobian, &along);
            tpWrench wrench = { tpScale(r, along.linear), tpScale(r, along.angular) };
            tpIslandProblem_TakeImpulse(problem, term->body, &wrench, residual);
        }
    }
}

void tpIslandProblem_TakeImpulse(const tpIslandProblem* problem, int slot, const tpWrench* wrench,
                                 double* residual) {
    if (slot < 0) {
        return;
    }
    const tpRows* rows = &problem->geometry->step->rows;
    int componentCount = rows->componentCount;
    tpVelocity as = { wrench->linear, 0.0, wrench->angular, 0.0 };
    double w[6];
    tpToComponents(componentCount, &as, w);
    const double* inverse =
        rows->inverseMass + (size_t)slot * (size_t)(componentCount * componentCount);
    double* F = residual + problem->bodyAt[slot] * componentCount;
    for (int i = 0; i < componentCount; ++i) {
        for (int j = 0; j < componentCount; ++j) {
            F[i] -= inverse[i * componentCount + j] * w[j];
        }
    }
}

void tpIslandProblem_Residual(const tpIslandProblem* problem, double* residual) {
    const tpStepGeometry* geometry = problem->geometry;
    const tpTimeStep* step = geometry->step;
    const tpRows* rows = &step->rows;
    int componentCount = rows->componentCount;
    for (int i = 0; i < problem->bodyCount; ++i) {
        int slot = problem->bodies[i];
        double z[6], freely[6];
        tpToComponents(componentCount, &step->pushed[slot], z);
        tpToComponents(componentCount, &step->kicked[slot], freely);
        for (int k = 0; k < componentCount; ++k) {
            residual[i * componentCount + k] = z[k] - freely[k];
        }
    }
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b];
        tpWrench wrench[2];
        if (block < geometry->contactBlocks) {
            contactRows(problem, block, wrench);
        } else {
            jointRows(problem, block, wrench);
            takeTerms(problem, block, residual);
        }
        tpIslandProblem_TakeImpulse(problem, rows->bodyA[block], &wrench[0], residual);
        tpIslandProblem_TakeImpulse(problem, rows->bodyB[block], &wrench[1], residual);
        double* F = residual + problem->bodyCount * componentCount + problem->firstRow[b];
        tpConeEquations equations = tpConeEquationsOf(problem, block);
        memcpy(F, equations.value, sizeof(double) * (size_t)rows->dimensions[block]);
    }
}

void tpIslandProblem_Evaluate(tpIslandProblem* problem, double* residual) {
    tpIslandProblem_Move(problem, false);
    tpIslandProblem_Residual(problem, residual);
}

// Parts -----------------------------------------------------------------------------------------

void tpToComponents(int componentCount, const tpVelocity* velocity, double* out) {
    out[0] = velocity->linear.x;
    out[1] = velocity->linear.y;
    if (componentCount == 3) {
        out[2] = velocity->angular.z;
        return;
    }
    out[2] = velocity->linear.z;
    out[3] = velocity->angular.x;
    out[4] = velocity->angular.y;
    out[5] = velocity->angular.z;
}

void tpFromComponents(int componentCount, const double* x, tpVelocity* out) {
    out->linear.x = x[0];
    out->linear.y = x[1];
    if (componentCount == 3) {
        out->angular.z = x[2];
        return;
    }
    out->linear.z = x[2];
    out->angular = tpMakeVec3(x[3], x[4], x[5]);
}

tpContactSlip tpSlipOf(const tpIslandProblem* problem, int block) {
    const tpStepGeometry* geometry = problem->geometry;
    const tpImplicitContact* contact = &geometry->contacts[block];
    bool atEnd = geometry->frictionAtEnd[block];
    const tpTravel* a = &geometry->travels[contact->bodyA];
    const tpTravel* b = &geometry->travels[contact->bodyB];
    tpContactSlip slip;
    slip.place = atEnd ? &geometry->ends[block] : &geometry->middles[block];
    slip.a = atEnd ? &a->end : &a->middle;
    slip.b = atEnd ? &b->end : &b->middle;
    tpVec3 ofA =
        tpAdd(slip.a->velocity.linear, tpCross(slip.a->velocity.angular, slip.place->armA));
    tpVec3 ofB =
        tpAdd(slip.b->velocity.linear, tpCross(slip.b->velocity.angular, slip.place->armB));
    slip.velocity = tpSub(ofA, ofB);
    slip.spin = tpSub(slip.a->velocity.angular, slip.b->velocity.angular);
    return slip;
}

tpVec3 tpContactForce(const tpIslandProblem* problem, int block, tpVec3* moment) {
    const tpRows* rows = &problem->geometry->step->rows;
    const tpContactPlace* place = &problem->geometry->middles[block];
    const tpNormalAction* action = &problem->geometry->actions[block];
    const double* r = rows->impulse + rows->firstRows[block];
    int dimension = rows->dimensions[block];
    tpVec3 force = tpScale(r[0], action->push);
    for (int k = 1; k < dimension && k < 3; ++k) {
        force = tpMulAdd(force, r[k], place->tangents[k - 1]);
    }
    *moment = dimension == 4 ? tpScale(r[3], place->normal) : tpZeroVec3();
    return force;
}

// A one-sided row, value and derivatives: r - max(0, r - rho u), over rho, in scaled rows.
static void oneSided(double rho, double e, double r, double u, tpConeEquations* out) {
    bool isClosed = r / e - rho * e * u > 0.0;
    out->value[0] = isClosed ? e * u : r / (e * rho);
    out->byVelocity[0][0] = isClosed ? e : 0.0;
    out->byImpulse[0][0] = isClosed ? 0.0 : 1.0 / (e * rho);
}

tpConeEquations tpConeEquationsOf(const tpIslandProblem* problem, int block) {
    const tpRows* rows = &problem->geometry->step->rows;
    int first = rows->firstRows[block], dimension = rows->dimensions[block];
    const double* r = rows->impulse + first;
    const double* u = rows->velocity + first;
    const double* e = rows->scale + first;
    double rho = problem->geometry->rho[block], mu = rows->mu[block];
    tpConeEquations out;
    memset(&out, 0, sizeof(out));
    if (rows->kinds[block] == tp_frictionFree) {
        for (int k = 0; k < dimension; ++k) {
            out.value[k] = e[k] * u[k];
            out.byVelocity[k][k] = e[k];
        }
        return out;
    }
    oneSided(rho, e[0], r[0], u[0], &out);
    double load = r[0] / e[0] - rho * e[0] * u[0];
    double tau[4], length = 0.0;
    for (int k = 1; k < dimension; ++k) {
        tau[k] = r[k] / e[k] - rho * e[k] * u[k];
        length += tau[k] * tau[k];
    }
    length = sqrt(length);
    double limit = mu * load;
    for (int k = 1; k < dimension; ++k) {
        if (load <= 0.0) {
            out.value[k] = r[k] / (e[k] * rho);
            out.byImpulse[k][k] = 1.0 / (e[k] * rho);
        } else if (length <= limit) {
            out.value[k] = e[k] * u[k];
            out.byVelocity[k][k] = e[k];
        } else {
            // r_T - limit tau / |tau|: how tau turns, and how the limit grows.
            double share = limit / length;
            out.value[k] = (r[k] / e[k] - share * tau[k]) / rho;
            for (int j = 1; j < dimension; ++j) {
                double across = share * ((k == j) - tau[k] * tau[j] / (length * length));
                out.byImpulse[k][j] = ((k == j) - across) / (e[j] * rho);
                out.byVelocity[k][j] = across * e[j];
            }
            out.byImpulse[k][0] = -mu * tau[k] / (length * rho * e[0]);
            out.byVelocity[k][0] = mu * tau[k] / length * e[0];
        }
    }
    return out;
}

bool tpIslandProblem_IsHeldTwice(const tpIslandProblem* problem) {
    int componentCount = problem->geometry->step->rows.componentCount;
    return problem->jointRowCount >= problem->bodyCount * componentCount;
}

// Judging ---------------------------------------------------------------------------------------

static double squaresOfRows(const tpIslandProblem* problem, const double* residual) {
    const tpRows* rows = &problem->geometry->step->rows;
    const double* F = residual + problem->bodyCount * rows->componentCount;
    double sum = 0.0;
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b];
        for (int k = 0; k < rows->dimensions[block]; ++k) {
            double value = F[problem->firstRow[b] + k];
            sum += value * value;
        }
    }
    return sum;
}

double tpIslandProblem_Weight(const tpIslandProblem* problem, int equation) {
    const tpTimeStep* step = problem->geometry->step;
    int count = step->rows.componentCount, linear = count == 3 ? 2 : 3;
    bool isTurn = equation < problem->bodyCount * count && equation % count >= linear;
    return isTurn ? step->system->units.length : 1.0;
}

double tpIslandProblem_Norm(const tpIslandProblem* problem, const double* residual) {
    int count = problem->bodyCount * problem->geometry->step->rows.componentCount;
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        double value = tpIslandProblem_Weight(problem, i) * residual[i];
        sum += value * value;
    }
    return sqrt(sum + squaresOfRows(problem, residual));
}

double tpIslandProblem_NormOfRows(const tpIslandProblem* problem, const double* residual) {
    return sqrt(squaresOfRows(problem, residual));
}

double tpIslandProblem_Judge(const tpIslandProblem* problem) {
    const tpRows* rows = &problem->geometry->step->rows;
    double sum = 0.0;
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b], first = rows->firstRows[block];
        double rho = problem->geometry->rho[block];
        double r[TP_FRICTION_MAX_ROWS], u[TP_FRICTION_MAX_ROWS], map[TP_FRICTION_MAX_ROWS];
        for (int k = 0; k < rows->dimensions[block]; ++k) {
            r[k] = rows->impulse[first + k] / rows->scale[first + k];
            u[k] = rho * rows->velocity[first + k] * rows->scale[first + k];
        }
        tpFrictionNaturalMap(rows->dimensions[block], rows->kinds[block], rows->mu[block], r, u,
                             map);
        for (int k = 0; k < rows->dimensions[block]; ++k) {
            sum += map[k] * map[k] / (rho * rho);
        }
    }
    return sum;
}

double tpIslandProblem_Scale(const tpIslandProblem* problem) {
    const tpRows* rows = &problem->geometry->step->rows;
    double sum = 0.0;
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b], first = rows->firstRows[block];
        double largest = 0.0;
        for (int k = 0; k < rows->dimensions[block]; ++k) {
            largest = fmax(largest, fabs(rows->q[first + k] * rows->scale[first + k]));
        }
        sum += largest * largest;
    }
    return sqrt(sum);
}

double tpIslandProblem_LargestTurn(const tpIslandProblem* problem) {
    const tpTimeStep* step = problem->geometry->step;
    double largest = 0.0;
    for (int i = 0; i < problem->bodyCount; ++i) {
        tpVec3 spin = step->startVelocities[problem->bodies[i]].angular;
        largest = fmax(largest, tpLength(spin) * step->h);
    }
    return largest;
}

bool tpIslandProblem_TurnsFar(const tpIslandProblem* problem) {
    static const double farTurn = 0.3; // rad
    return tpIslandProblem_LargestTurn(problem) > farTurn;
}

bool tpIslandProblem_IsDear(const tpIslandProblem* problem) {
    const tpSystem* system = problem->geometry->step->system;
    return tpStepBudget_IsSpent(system) || tpStepBudget_UsedPart(system) > problem->ownPart;
}
