#include "steppers/auto/flow_solve.h"

#include <string.h>

#include "dynamics/forces.h"
#include "dynamics/locks.h"
#include "math/pairs.h"
#include "steppers/auto/apart.h"

// Of the own response of a row: a row whose pivot is smaller depends on others. Then so much of it
// is added to the diagonal, and taken away again by another solve.
static const double smallPivot = 1e-8, softness = 1e-8;

// Of the forces on a body: shares of a load that differ by less push alike.
static const double agreement = 1e-6;

// Of the mean load: contacts that carry less, or more, count as if they carried that.
static const double leastLoad = 0.01, mostLoad = 100.0;

// Shares that change by more than a part ask for another solve: by less if a contact is as near to
// its limit.
static const double shareChange = 0.01, tightChange = 1e-9, tightPart = 0.95;

// The velocity that a force on a body makes in a second.
static tpVelocity respond(const tpFlow* flow, const tpSystem* system, int body,
                          const tpWrench* force) {
    const tpBody* own = &system->bodies.data[body];
    tpVelocity response = {
        .linear = tpScale(own->inverseMass, force->linear),
        .angular = tpMulMV(flow->memory->inverseInertias[flow->plan.places[body]], force->angular),
    };
    if (own->locked != 0) {
        response.linear = tpLocks_Linear(own->locked, response.linear);
    }
    return response;
}

// Lists the rows of each body of the group, but for those of couplings.
static void listRows(const tpFlow* flow, const tpFlowRow* rows) {
    tpFlowMemory* memory = flow->memory;
    for (int k = 0; k < flow->plan.bodyCount; ++k) {
        memory->rowLists[k] = -1;
    }
    for (int i = flow->plan.rowCount - 1; i >= 0; --i) {
        const int bodies[2] = { rows[i].bodyA, rows[i].bodyB };
        for (int side = 0; rows[i].coupling == NULL && side < 2; ++side) {
            if (tpFlow_IsOurs(&flow->plan, bodies[side])) {
                int* list = &memory->rowLists[flow->plan.places[bodies[side]]];
                memory->nextRows[i][side] = *list;
                *list = 2 * i + side;
            }
        }
    }
}

// What the pushes of one body make of its velocity, a component after the other, so that products
// with a row go over many pushes at once.
typedef struct BodyPushes {
    int count;
    int columns[tp_flowRows];
    double responses[6][tp_flowRows + 1];
} BodyPushes;

static void addPush(BodyPushes* list, int column, const tpVelocity* response) {
    int k = list->count++;
    list->columns[k] = column;
    list->responses[0][k] = response->linear.x;
    list->responses[1][k] = response->linear.y;
    list->responses[2][k] = response->linear.z;
    list->responses[3][k] = response->angular.x;
    list->responses[4][k] = response->angular.y;
    list->responses[5][k] = response->angular.z;
}

// Adds the velocities that the pushes on a body make of one of its rows.
static void addRow(const BodyPushes* list, const tpWrench* on, double* entries) {
    const double(*r)[tp_flowRows + 1] = list->responses;
    const int* columns = list->columns;
    const tpVec3 l = on->linear, a = on->angular;
    for (int k = 0; k < list->count; k += 2) {
        tpPair linear =
            l.x * tpLoadPair(&r[0][k]) + l.y * tpLoadPair(&r[1][k]) + l.z * tpLoadPair(&r[2][k]);
        tpPair angular =
            a.x * tpLoadPair(&r[3][k]) + a.y * tpLoadPair(&r[4][k]) + a.z * tpLoadPair(&r[5][k]);
        tpPair speed = linear + angular;
        entries[columns[k]] += speed[0];
        if (k + 1 < list->count) {
            entries[columns[k + 1]] += speed[1];
        }
    }
}

// Adds the responses of all rows of a body to the pushes on it. Pushes and rows have the same
// bodies.
static void addBody(const tpFlow* flow, const tpSystem* system, const tpFlowRow* rows,
                    const tpFlowRow* pushes, int place) {
    tpFlowMemory* memory = flow->memory;
    int first = memory->rowLists[place], body = flow->plan.bodies[place];
    BodyPushes list;
    list.count = 0;
    for (int entry = first; entry >= 0; entry = memory->nextRows[entry >> 1][entry & 1]) {
        const tpFlowRow* push = &pushes[entry >> 1];
        tpVelocity response =
            respond(flow, system, body, (entry & 1) == 0 ? &push->onA : &push->onB);
        addPush(&list, entry >> 1, &response);
    }
    for (int k = 0; k < 6; ++k) {
        list.responses[k][list.count] = 0.0; // the other one of a pair
    }
    for (int entry = first; entry >= 0; entry = memory->nextRows[entry >> 1][entry & 1]) {
        const tpFlowRow* row = &rows[entry >> 1];
        addRow(&list, (entry & 1) == 0 ? &row->onA : &row->onB,
               &memory->matrix[(entry >> 1) * flow->plan.rowCount]);
    }
}

// The velocity of a row that a push of a unit makes, on the bodies that both have.
static double responseOf(const tpFlow* flow, const tpSystem* system, const tpFlowRow* row,
                         const tpFlowRow* push) {
    double sum = 0.0;
    for (int k = 0; k < tpFlowRow_BodyCount(push); ++k) {
        int body;
        const tpWrench* on = tpFlowRow_On(push, k, &body);
        for (int m = 0; tpFlow_IsOurs(&flow->plan, body) && m < tpFlowRow_BodyCount(row); ++m) {
            int other;
            const tpWrench* held = tpFlowRow_On(row, m, &other);
            if (other == body) {
                tpVelocity response = respond(flow, system, body, on);
                sum += tpWrench_Power(held, &response);
            }
        }
    }
    return sum;
}

static void setMatrix(const tpFlow* flow, const tpSystem* system, const tpFlowRow* rows,
                      const tpFlowRow* pushes) {
    int count = flow->plan.rowCount;
    double* matrix = flow->memory->matrix;
    for (int i = 0; i < count; ++i) {
        memset(&matrix[i * count], 0, sizeof(double) * (size_t)count);
    }
    listRows(flow, rows);
    for (int place = 0; place < flow->plan.bodyCount; ++place) {
        addBody(flow, system, rows, pushes, place);
    }
    for (int i = 0; i < count; ++i) {
        for (int j = 0; flow->plan.couplingCount > 0 && j < count; ++j) {
            if (rows[i].coupling != NULL || pushes[j].coupling != NULL) {
                matrix[i * count + j] = responseOf(flow, system, &rows[i], &pushes[j]);
            }
        }
        matrix[i * count + i] += pushes[i].inverseArmature;
    }
}

// What the velocity of a row counts for where pivots are chosen: turns count with the unit of
// length.
static double weightOf(const tpSystem* system, const tpFlowRow* row) {
    for (int k = 0; k < tpFlowRow_BodyCount(row); ++k) {
        int body;
        const tpWrench* on = tpFlowRow_On(row, k, &body);
        if (body >= 0 && tpLengthSquared(on->linear) > 0.0) {
            return 1.0;
        }
    }
    return system->units.length;
}

// Takes softness s back from forces l of (W + s) l = r: what they leave of r is s l, README.md.
static void harden(tpFlowMemory* memory, int count, const double* softening, const double* weights,
                   double* forces) {
    double rest[tp_flowRows];
    for (int i = 0; i < count; ++i) {
        rest[i] = weights[i] * (softening[i] * forces[i]);
    }
    tpProfileLu_Solve(count, memory->matrix, memory->pivots, &memory->profile, rest);
    for (int i = 0; i < count; ++i) {
        forces[i] += rest[i];
    }
}

// The velocities that rows lack, as forces along pushes. False if these are not determined.
static bool solve(tpFlow* flow, const tpSystem* system, const tpFlowRow* rows,
                  const double* softening, double* forces) {
    tpFlowMemory* memory = flow->memory;
    int count = flow->plan.rowCount;
    setMatrix(flow, system, rows, memory->pushes.rows);
    for (int i = 0; memory->isRedundant && i < count; ++i) {
        memory->matrix[i * count + i] += softening[i];
    }
    double weights[tp_flowRows];
    for (int i = 0; i < count; ++i) {
        weights[i] = weightOf(system, &rows[i]);
        for (int j = 0; weights[i] != 1.0 && j < count; ++j) {
            memory->matrix[i * count + j] *= weights[i];
        }
        forces[i] *= weights[i];
    }
    if (!tpProfileLu_Factorise(count, memory->matrix, memory->pivots, &memory->profile)) {
        return false;
    }
    tpProfileLu_Solve(count, memory->matrix, memory->pivots, &memory->profile, forces);
    if (memory->isRedundant) {
        harden(memory, count, softening, weights, forces);
    }
    return true;
}

// What a contact that sticks can hold by friction, N; 0 for others.
static double gripOf(const tpFlow* flow, const double* forces, int contact) {
    const tpFlowRows* rows = flow->memory->next;
    bool sticks = flow->plan.modes[contact] == tp_flowSticks;
    double load = forces[rows->firstRows[contact]];
    return sticks && load > 0.0 ? rows->laws[contact].muStatic * load : 0.0;
}

// Whether a contact that sticks is near to what it can hold.
static bool isTight(const tpFlow* flow, const tpSystem* system, const double* forces, int contact) {
    const tpFlowRows* rows = flow->memory->next;
    const double* own = &forces[rows->firstRows[contact]];
    const tpContactLaw* law = &rows->laws[contact];
    int count = tpFlowRows_FrictionCount(rows, system, contact);
    tpVec3 friction = tpScale(own[1], law->tangents[0]);
    friction = count > 1 ? tpMulAdd(friction, own[2], law->tangents[1]) : friction;
    double size = tpContactLaw_FrictionSize(law, friction, count > 2 ? own[3] : 0.0);
    return size > tightPart * gripOf(flow, forces, contact);
}

// Shares friction among contacts that stick by what each of them can hold: the shares of a block
// that sticks come to their limits together, where it begins to slide, and not one after the other.
// (A block on a belt and a spring, with loads that differ, began to slide at 89 % of its static
// friction: methods let contacts of rigid bodies slide one by one.) Whether a share has changed.
static bool shareByLoads(tpFlow* flow, const tpSystem* system, const double* forces) {
    tpFlowMemory* memory = flow->memory;
    double sum = 0.0, allowed = shareChange;
    int count = 0;
    for (int i = 0; i < flow->plan.contactCount; ++i) {
        double grip = gripOf(flow, forces, i);
        sum += grip;
        count += grip > 0.0 ? 1 : 0;
        allowed = grip > 0.0 && isTight(flow, system, forces, i) ? tightChange : allowed;
    }
    bool hasChanged = false;
    for (int i = 0; count > 1 && i < flow->plan.contactCount; ++i) {
        if (flow->plan.modes[i] != tp_flowSticks) {
            continue;
        }
        double part = gripOf(flow, forces, i) * count / sum;
        double share = 1.0 / fmin(fmax(part, leastLoad), mostLoad);
        int first = memory->next->firstRows[i] + 1;
        int rowCount = tpFlowRows_FrictionCount(memory->next, system, i);
        for (int k = first; k < first + rowCount; ++k) {
            hasChanged = hasChanged || fabs(share - memory->shares[k]) > allowed * share;
            memory->shares[k] = share;
        }
    }
    return hasChanged;
}

// What rows lack, as forces; false if these are not determined.
static bool solveLack(tpFlow* flow, const tpSystem* system, double part, double* forces) {
    const tpFlowMemory* memory = flow->memory;
    const tpFlowRow* rows = memory->next->rows;
    double softening[tp_flowRows];
    for (int i = 0; i < flow->plan.rowCount; ++i) {
        softening[i] = memory->shares[i] * memory->softening[i];
        forces[i] = (rows[i].speed - tpFlowRow_Speed(&rows[i], system->velocities.data)) / part;
    }
    return solve(flow, system, rows, softening, forces);
}

bool tpFlow_Solve(tpFlow* flow, const tpSystem* system, int stage, double part) {
    tpFlowMemory* memory = flow->memory;
    double* forces = memory->impulses[stage];
    if (flow->plan.rowCount == 0) {
        return true;
    }
    bool isSolved = solveLack(flow, system, part, forces);
    if (isSolved && memory->isRedundant && shareByLoads(flow, system, forces)) {
        isSolved = solveLack(flow, system, part, forces);
    }
    return isSolved;
}

bool tpFlow_Stop(tpFlow* flow, tpSystem* system, tpTaken* taken) {
    tpFlowMemory* memory = flow->memory;
    tpFlowRows* next = memory->next;
    double* impulses = memory->impulses[0];
    double energy = tpSystem_KineticEnergy(system);
    memory->next = memory->now;
    bool isSolved = flow->plan.rotorCount == 0 && solveLack(flow, system, 1.0, impulses);
    memory->next = next;
    if (!isSolved) {
        return false;
    }
    for (int i = 0; i < flow->plan.rowCount; ++i) {
        const tpFlowRow* push = &memory->pushes.rows[i];
        for (int k = 0; k < tpFlowRow_BodyCount(push); ++k) {
            int body;
            const tpWrench* on = tpFlowRow_On(push, k, &body);
            if (tpFlow_IsOurs(&flow->plan, body)) {
                tpVelocity change = respond(flow, system, body, on);
                tpVelocity* velocity = &system->velocities.data[body];
                velocity->linear = tpMulAdd(velocity->linear, impulses[i], change.linear);
                velocity->angular = tpMulAdd(velocity->angular, impulses[i], change.angular);
            }
        }
    }
    // As a step of a second, whose forces are the impulses. Friction in it is that of a longer
    // time.
    tpFlowLoads_Clear(&memory->loads, &flow->plan);
    tpFlowLoads_Add(&memory->loads, &flow->plan, system, memory->now, &memory->pushes, impulses,
                    1.0);
    bool hasMemory =
        tpFlowLoads_Report(&memory->loads, &flow->plan, system, memory->now, 1.0, taken);
    double lost = energy - tpSystem_KineticEnergy(system) + taken->report.externalWork;
    taken->report.frictionLoss = fmax(lost, 0.0);
    taken->isBad = false;
    return hasMemory;
}

void tpFlow_SetRotors(tpFlow* flow, int stage, double h, const double* coefficients) {
    tpFlowMemory* memory = flow->memory;
    for (int i = 0; i < flow->plan.rowCount; ++i) {
        tpFlowRow* row = &memory->next->rows[i];
        if (row->inverseArmature > 0.0) {
            double impulse = 0.0;
            for (int j = 0; j <= stage; ++j) {
                impulse += h * coefficients[j] * memory->impulses[j][i];
            }
            row->speed = memory->rotorSpeeds[i] - row->inverseArmature * impulse;
        }
    }
}

// The response that a row would have if nothing was locked; 0 if it moves nothing then either.
static double lockedResponse(const tpFlow* flow, const tpSystem* system, int i) {
    const tpFlowRow* row = &flow->memory->now->rows[i];
    double sum = 0.0;
    for (int k = 0; k < tpFlowRow_BodyCount(row); ++k) {
        int body;
        const tpWrench* on = tpFlowRow_On(row, k, &body);
        if (tpFlow_IsOurs(&flow->plan, body) && system->bodies.data[body].locked != 0) {
            const tpBody* own = &system->bodies.data[body];
            double turn = tpLengthSquared(on->angular) / (own->size * own->size);
            sum += own->inverseMass * (tpLengthSquared(on->linear) + turn);
        }
    }
    return sum;
}

// Contacts of the same two bodies give alike: they share a load as equal springs under a rigid body
// do.
static void setContactSoftening(tpFlow* flow, const double* scales) {
    const tpFlowRows* rows = flow->memory->now;
    for (int i = 0; i < flow->plan.contactCount; ++i) {
        const tpContact* own = &rows->contacts[i];
        double largest = 0.0;
        for (int k = 0; k < flow->plan.contactCount; ++k) {
            const tpContact* other = &rows->contacts[k];
            bool isAlike = other->bodyA == own->bodyA && other->bodyB == own->bodyB;
            largest = isAlike ? fmax(largest, scales[rows->firstRows[k]]) : largest;
        }
        flow->memory->softening[rows->firstRows[i]] = softness * largest;
    }
}

// Finds out whether something is held twice: pivots of J M^-1 J' by Cholesky.
void tpFlow_FindRedundancy(tpFlow* flow, const tpSystem* system) {
    tpFlowMemory* memory = flow->memory;
    int n = flow->plan.rowCount;
    double* w = memory->matrix;
    double scales[tp_flowRows];
    for (int k = 0; k < flow->plan.bodyCount; ++k) {
        memory->inverseInertias[k] = tpSystem_InverseInertia(system, flow->plan.bodies[k]);
    }
    setMatrix(flow, system, memory->now->rows, memory->now->rows);
    for (int i = 0; i < n; ++i) {
        // What locks hold does not answer.
        scales[i] = w[i * n + i] > 0.0 ? w[i * n + i] : lockedResponse(flow, system, i);
        memory->softening[i] = memory->ownSoftening[i] = softness * scales[i];
        memory->shares[i] = 1.0;
    }
    if (tpFlow_Slides(flow)) {
        setContactSoftening(flow, scales);
    }
    memory->isRedundant = false;
    for (int k = 0; k < n; ++k) {
        double pivot = w[k * n + k];
        bool isSmall = !(pivot > smallPivot * scales[k]);
        memory->isRedundant = memory->isRedundant || isSmall;
        for (int i = k + 1; !isSmall && i < n; ++i) {
            double factor = w[i * n + k] / pivot;
            for (int j = k + 1; j < n && factor != 0.0; ++j) {
                w[i * n + j] -= factor * w[k * n + j];
            }
        }
    }
}

// Whether a row is one of a contact: these come last.
static bool isOfContact(const tpFlow* flow, int row) {
    return flow->plan.contactCount > 0 && row >= flow->memory->now->firstRows[0];
}

// What gravity is held by along the pushes. `isOther`: with other shares, as soft at each contact
// as the bodies are there, and the more so from row to row of what is not a contact.
static bool holdGravity(tpFlow* flow, const tpSystem* system, bool isOther, double* forces) {
    const tpFlowMemory* memory = flow->memory;
    const tpFlowRows* rows = memory->now;
    double softening[tp_flowRows];
    for (int i = 0; i < flow->plan.rowCount; ++i) {
        const tpFlowRow* row = &rows->rows[i];
        double other = isOfContact(flow, i) ? 1.0 : 2.0 + i;
        softening[i] = isOther ? other * memory->ownSoftening[i] : memory->softening[i];
        forces[i] = 0.0;
        for (int k = 0; k < tpFlowRow_BodyCount(row); ++k) {
            int body;
            const tpWrench* on = tpFlowRow_On(row, k, &body);
            if (tpFlow_IsOurs(&flow->plan, body)) {
                forces[i] -= tpDot(on->linear, tpSystem_Gravity(system, body));
            }
        }
    }
    return solve(flow, system, rows->rows, softening, forces);
}

// Whether forces that are shared in another way push the bodies alike. (They do under a block whose
// mass is above its middle. Nobody knows the loads of corners where it is not: methods differ by a
// fiftieth of its length where it slides and turns by 1 rad.)
static bool doSharesAgree(tpFlow* flow, const tpSystem* system) {
    const tpFlowPlan* plan = &flow->plan;
    double even[tp_flowRows], uneven[tp_flowRows];
    if (!holdGravity(flow, system, false, even) || !holdGravity(flow, system, true, uneven)) {
        return false;
    }
    for (int k = 0; k < plan->bodyCount; ++k) {
        tpWrench difference = { tpZeroVec3(), tpZeroVec3() };
        double size = 0.0, reach = system->bodies.data[plan->bodies[k]].size;
        for (int i = 0; i < plan->rowCount; ++i) {
            const tpFlowRow* push = &flow->memory->pushes.rows[i];
            for (int j = 0; j < tpFlowRow_BodyCount(push); ++j) {
                int body;
                const tpWrench* on = tpFlowRow_On(push, j, &body);
                if (body == plan->bodies[k]) {
                    tpWrench_Add(&difference, even[i] - uneven[i], on);
                    size += fabs(even[i]) * tpLength(on->linear);
                }
            }
        }
        if (!(tpLength(difference.linear) + tpLength(difference.angular) / reach <=
              agreement * size)) {
            return false;
        }
    }
    return true;
}

bool tpFlow_IsDetermined(tpFlow* flow, const tpSystem* system) {
    for (int i = 0; i < flow->plan.rowCount; ++i) {
        if (!(flow->memory->softening[i] > 0.0)) {
            return false;
        }
    }
    return !flow->memory->isRedundant || !tpFlow_Slides(flow) || doSharesAgree(flow, system);
}

// Around -----------------------------------------------------------------------------------------

bool tpFlow_LookAround(tpFlow* flow, tpSystem* system, double time, tpFlowWatch watch,
                       bool* isNear) {
    tpFlowMeeting meeting;
    bool isFound =
        tpFlowRows_FindAround(flow->memory->next, &flow->plan, system, 2.0 * time, watch, &meeting);
    *isNear = !isFound || meeting.isThere;
    return !system->arena.failed;
}

bool tpFlow_LookAhead(tpFlow* flow, tpSystem* system, double time, tpFlowMeeting* meeting) {
    bool isFound = tpFlowRows_FindAround(flow->memory->next, &flow->plan, system, 2.0 * time,
                                         tp_flowAhead, meeting);
    meeting->first = isFound ? meeting->first : INFINITY;
    return !system->arena.failed;
}

// The acceleration of the surface of a body that turns, towards its centre.
static double turningOf(const tpSystem* system, int i) {
    const tpBody* body = &system->bodies.data[i];
    bool isRound = tpBody_IsRound(system, body);
    return isRound ? 0.0 : body->size * tpLengthSquared(system->velocities.data[i].angular);
}

void tpFlow_FindAccelerations(tpFlow* flow, const tpSystem* system) {
    const tpFlowPlan* plan = &flow->plan;
    for (int k = 0; k < plan->bodyCount; ++k) {
        int i = plan->bodies[k];
        const tpBody* body = &system->bodies.data[i];
        bool isRound = tpBody_IsRound(system, body);
        double largest = 0.0;
        for (int stage = 0; stage < tp_flowStages; ++stage) {
            const tpWrench* force = &flow->memory->states[stage * plan->bodyCount + k].force;
            tpVec3 turn = tpMulMV(flow->memory->inverseInertias[k], force->angular);
            double linear = body->inverseMass * tpLength(force->linear);
            largest = fmax(largest, linear + (isRound ? 0.0 : body->size * tpLength(turn)));
        }
        plan->accelerations[i] = largest + turningOf(system, i);
    }
}
