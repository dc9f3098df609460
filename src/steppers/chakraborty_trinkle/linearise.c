// The Jacobian of an island's equations, block by block, with the impulses eliminated: each block's
// equations give dr by dz, and what is left for the momentum has the bodies' z as unknowns alone.
//
// A contact depends on small displacements (linear, angular) of its two bodies where they are in
// the middle and at the end, and these on z. Every quantity is first differentiated by the twelve
// displacements (implicit_contact.h), then carried over to z by the travels of the two bodies. For
// joints, the turning of impulse directions with z is left out: it is of the order of h^2 times the
// constraint force over mass and length, and costs Newton's method an iteration or two.

#include <string.h>

#include "steppers/chakraborty_trinkle/problem_parts.h"

enum { bodyRows = 12 }; // of two bodies in space

// Impulses of redundant contacts (a box on four corners) are not unique, and the equations then
// have no inverse. This part of a row's own response times the change of its impulse is added to
// the row: it leaves every solution as it is, picks a nearby one, and costs Newton's method this
// factor an iteration. Rows of redundant joints (Bennett's linkage) are dependent at the end of the
// step, where they are met, but only nearly so in the middle, where their impulses act: these could
// grow without bound along what is nearly dependent, and it takes more to hold them.
static const double proximal = 1e-6, redundantProximal = 1e-4;

// The part of one block: momentum of A and B and the block's own rows, by z of A and B and by r.
typedef struct BlockJacobian {
    double wrenchByZ[bodyRows][bodyRows]; // impulse on A and then on B
    double wrenchByR[bodyRows][TP_FRICTION_MAX_ROWS];
    double velocityByZ[TP_FRICTION_MAX_ROWS][bodyRows];
    double velocityByR[TP_FRICTION_MAX_ROWS]; // of the row's own impulse: compliance
} BlockJacobian;

// From a gradient by the displacements of one body to one by its z.
static void carry(const tpWaypoint* at, const double* byDisplacement, double* byZ) {
    tpVec3 turn =
        tpMulMTV(at->turn, tpMakeVec3(byDisplacement[3], byDisplacement[4], byDisplacement[5]));
    for (int k = 0; k < 3; ++k) {
        byZ[k] += at->shift * byDisplacement[k];
    }
    byZ[3] += turn.x;
    byZ[4] += turn.y;
    byZ[5] += turn.z;
}

static void carryBoth(const tpWaypoint* a, const tpWaypoint* b, const double* byDisplacement,
                      double* byZ) {
    carry(a, byDisplacement, byZ);
    carry(b, byDisplacement + 6, byZ + 6);
}

static tpVec3 column(const double (*rows)[12], int k) {
    return tpMakeVec3(rows[0][k], rows[1][k], rows[2][k]);
}

static tpVec3 unitOf(int k) {
    return tpMakeVec3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
}

// How the arms change: the points' motion less that of the centres of mass.
static tpVec3 armABy(const tpContactPlace* place, int k) {
    tpVec3 d = column(place->by.pointA, k);
    return k < 3 ? tpSub(d, unitOf(k)) : d;
}

static tpVec3 armBBy(const tpContactPlace* place, int k) {
    tpVec3 d = column(place->by.pointB, k);
    return k >= 6 && k < 9 ? tpSub(d, unitOf(k)) : d;
}

static void setRows(double rows[][bodyRows], int first, int k, tpVec3 x) {
    rows[first][k] = x.x;
    rows[first + 1][k] = x.y;
    rows[first + 2][k] = x.z;
}

static void addRows(double rows[][bodyRows], int first, int k, tpVec3 x) {
    rows[first][k] += x.x;
    rows[first + 1][k] += x.y;
    rows[first + 2][k] += x.z;
}

// How the impulse of a contact on its bodies follows them.
static void wrenchByMotion(const tpIslandProblem* problem, int block, BlockJacobian* out) {
    const tpStepGeometry* geometry = problem->geometry;
    const tpRows* rows = &geometry->step->rows;
    const tpContactPlace* place = &geometry->middles[block];
    const double* r = rows->impulse + rows->firstRows[block];
    int dimension = rows->dimensions[block];
    tpVec3 moment;
    tpVec3 force = tpContactForce(problem, block, &moment);
    double by[bodyRows][bodyRows];
    for (int k = 0; k < 12; ++k) {
        tpVec3 dn = column(place->by.normal, k);
        tpVec3 df = tpScale(r[0], dn);
        for (int j = 1; j < dimension && j < 3; ++j) {
            df = tpMulAdd(df, r[j], place->tangentBy[j - 1][k]);
        }
        tpVec3 dm = dimension == 4 ? tpScale(r[3], dn) : tpZeroVec3();
        tpVec3 onA = tpAdd(tpAdd(tpCross(armABy(place, k), force), tpCross(place->armA, df)), dm);
        tpVec3 onB = tpAdd(tpAdd(tpCross(armBBy(place, k), force), tpCross(place->armB, df)), dm);
        setRows(by, 0, k, df);
        setRows(by, 3, k, onA);
        setRows(by, 6, k, tpNeg(df));
        setRows(by, 9, k, tpNeg(onB));
    }
    const tpImplicitContact* contact = &geometry->contacts[block];
    const tpWaypoint* a = &geometry->travels[contact->bodyA].middle;
    const tpWaypoint* b = &geometry->travels[contact->bodyB].middle;
    for (int i = 0; i < bodyRows; ++i) {
        carryBoth(a, b, by[i], out->wrenchByZ[i]);
    }
}

static void setColumn(double rows[][TP_FRICTION_MAX_ROWS], int first, int k, tpVec3 x) {
    rows[first][k] = x.x;
    rows[first + 1][k] = x.y;
    rows[first + 2][k] = x.z;
}

static void wrenchByImpulse(const tpContactPlace* place, const tpNormalAction* action,
                            int dimension, BlockJacobian* out) {
    const tpVec3 directions[3] = { action->push, place->tangents[0], place->tangents[1] };
    for (int k = 0; k < dimension && k < 3; ++k) {
        setColumn(out->wrenchByR, 0, k, directions[k]);
        setColumn(out->wrenchByR, 3, k, tpCross(place->armA, directions[k]));
        setColumn(out->wrenchByR, 6, k, tpNeg(directions[k]));
        setColumn(out->wrenchByR, 9, k, tpNeg(tpCross(place->armB, directions[k])));
    }
    setColumn(out->wrenchByR, 3, 0, tpAdd(tpCross(place->armA, action->push), action->coupleA));
    setColumn(out->wrenchByR, 9, 0, tpSub(action->coupleB, tpCross(place->armB, action->push)));
    if (dimension == 4) {
        setColumn(out->wrenchByR, 3, 3, place->normal);
        setColumn(out->wrenchByR, 9, 3, tpNeg(place->normal));
    }
}

// d . (velocity of A at its point): what the velocities themselves do.
static void addDirect(const tpWaypoint* at, tpVec3 linear, tpVec3 angular, double sign,
                      double* byZ) {
    tpVec3 spin = tpMulMTV(at->spin, angular);
    byZ[0] += sign * at->change * linear.x;
    byZ[1] += sign * at->change * linear.y;
    byZ[2] += sign * at->change * linear.z;
    byZ[3] += sign * spin.x;
    byZ[4] += sign * spin.y;
    byZ[5] += sign * spin.z;
}

static void slipByMotion(const tpIslandProblem* problem, int block, BlockJacobian* out) {
    const tpRows* rows = &problem->geometry->step->rows;
    int dimension = rows->dimensions[block];
    tpContactSlip slip = tpSlipOf(problem, block);
    const tpContactPlace* place = slip.place;
    double by[TP_FRICTION_MAX_ROWS][bodyRows];
    for (int k = 0; k < 12; ++k) {
        tpVec3 carried = tpSub(tpCross(slip.a->velocity.angular, armABy(place, k)),
                               tpCross(slip.b->velocity.angular, armBBy(place, k)));
        for (int j = 1; j < dimension && j < 3; ++j) {
            by[j][k] = tpDot(place->tangentBy[j - 1][k], slip.velocity) +
                       tpDot(place->tangents[j - 1], carried);
        }
        by[3][k] = tpDot(column(place->by.normal, k), slip.spin);
    }
    for (int j = 1; j < dimension; ++j) {
        carryBoth(slip.a, slip.b, by[j], out->velocityByZ[j]);
        tpVec3 d = j < 3 ? place->tangents[j - 1] : tpZeroVec3();
        tpVec3 momentA = j < 3 ? tpCross(place->armA, d) : place->normal;
        tpVec3 momentB = j < 3 ? tpCross(place->armB, d) : place->normal;
        addDirect(slip.a, d, momentA, 1.0, out->velocityByZ[j]);
        addDirect(slip.b, d, momentB, -1.0, out->velocityByZ[j] + 6);
    }
}

// By z: the normal, the relative velocity of the points and the relative spin in the middle.
typedef struct MiddleByZ {
    double normal[3][bodyRows], velocity[3][bodyRows], spin[3][bodyRows];
} MiddleByZ;

static void differentiateMiddle(const tpContactPlace* place, const tpWaypoint* a,
                                const tpWaypoint* b, MiddleByZ* out) {
    double by[3][bodyRows];
    memset(out, 0, sizeof(*out));
    for (int k = 0; k < bodyRows; ++k) {
        setRows(by, 0, k,
                tpSub(tpCross(a->velocity.angular, armABy(place, k)),
                      tpCross(b->velocity.angular, armBBy(place, k))));
    }
    for (int i = 0; i < 3; ++i) {
        carryBoth(a, b, place->by.normal[i], out->normal[i]);
        carryBoth(a, b, by[i], out->velocity[i]);
        addDirect(a, unitOf(i), tpCross(place->armA, unitOf(i)), 1.0, out->velocity[i]);
        addDirect(b, unitOf(i), tpCross(place->armB, unitOf(i)), -1.0, out->velocity[i] + 6);
        addDirect(a, tpZeroVec3(), unitOf(i), 1.0, out->spin[i]);
        addDirect(b, tpZeroVec3(), unitOf(i), -1.0, out->spin[i] + 6);
    }
}

// How the discrete part of the normal impulse's wrench follows z. The normal itself and the arms
// are in wrenchByMotion, the gap at the end in the first row of velocityByZ; couples along the
// bodies' own spins are left out.
static void actionByMotion(const tpIslandProblem* problem, int block, BlockJacobian* out) {
    const tpStepGeometry* geometry = problem->geometry;
    const tpRows* rows = &geometry->step->rows;
    const tpContactPlace* place = &geometry->middles[block];
    const tpNormalAction* action = &geometry->actions[block];
    const tpImplicitContact* contact = &geometry->contacts[block];
    double r = rows->impulse[rows->firstRows[block]], c = action->part;
    if (r == 0.0) {
        return;
    }
    MiddleByZ middle;
    differentiateMiddle(place, &geometry->travels[contact->bodyA].middle,
                        &geometry->travels[contact->bodyB].middle, &middle);
    const MiddleByZ* by = &middle;
    for (int k = 0; k < bodyRows; ++k) {
        tpVec3 dn = column(by->normal, k), du = column(by->velocity, k), ds = column(by->spin, k);
        double dSize =
            2.0 * (tpDot(action->velocity, du) + action->square * tpDot(action->spin, ds));
        double dRate =
            out->velocityByZ[0][k] - tpDot(dn, action->velocity) - tpDot(place->normal, du);
        double dc = dRate * action->weight + action->defect * action->weightSlope * dSize;
        tpVec3 df = tpScale(r, tpMulAdd(tpScale(dc, action->velocity), c, du));
        tpVec3 dm = tpScale(r * action->square, tpMulAdd(tpScale(dc, action->spin), c, ds));
        addRows(out->wrenchByZ, 0, k, df);
        addRows(out->wrenchByZ, 3, k, tpAdd(tpCross(place->armA, df), dm));
        addRows(out->wrenchByZ, 6, k, tpNeg(df));
        addRows(out->wrenchByZ, 9, k, tpNeg(tpAdd(tpCross(place->armB, df), dm)));
    }
}

static void contactJacobian(const tpIslandProblem* problem, int block, BlockJacobian* out) {
    const tpStepGeometry* geometry = problem->geometry;
    const tpImplicitContact* contact = &geometry->contacts[block];
    int dimension = geometry->step->rows.dimensions[block];
    wrenchByMotion(problem, block, out);
    wrenchByImpulse(&geometry->middles[block], &geometry->actions[block], dimension, out);
    slipByMotion(problem, block, out);
    double gap[bodyRows];
    for (int k = 0; k < bodyRows; ++k) {
        gap[k] = geometry->ends[block].by.gap[k] / geometry->step->h;
    }
    carryBoth(&geometry->travels[contact->bodyA].end, &geometry->travels[contact->bodyB].end, gap,
              out->velocityByZ[0]);
    if (problem->keepsEnergy) {
        actionByMotion(problem, block, out);
    }
}

// Where number k of a body's velocities in the plane or in space lies among six.
static int componentAt(int componentCount, int k) {
    return componentCount == 3 && k == 2 ? 5 : k;
}

// The moment of a joint's force about the centre of mass, as the anchor turns about it.
static void anchorStiffness(const tpIslandProblem* problem, int slot, tpVec3 anchor, tpVec3 force,
                            double* wrenchByZ, int side) {
    const tpTravel* travel = &problem->geometry->travels[slot];
    tpVec3 arm = tpRotate(travel->middle.pose.rotation, anchor);
    double by[3][bodyRows] = { { 0.0 } };
    for (int k = 0; k < 3; ++k) {
        tpVec3 d = tpCross(tpCross(unitOf(k), arm), force);
        setRows(by, 0, 3 + k, d);
    }
    for (int i = 0; i < 3; ++i) {
        carry(&travel->middle, by[i], wrenchByZ + (3 + i) * bodyRows + 6 * side);
    }
}

static void jointStiffness(const tpIslandProblem* problem, int block, BlockJacobian* out) {
    const tpTimeStep* step = problem->geometry->step;
    const tpRows* rows = &step->rows;
    const tpJoint* joint = &step->system->joints.data[rows->infos[block].index];
    int componentCount = rows->componentCount;
    if (rows->infos[block].isCoupling) {
        return; // its directions are taken as they are
    }
    for (int side = 0; side < 2; ++side) {
        int slot = side == 0 ? rows->bodyA[block] : rows->bodyB[block];
        double force[6] = { 0.0 };
        for (int k = 0; k < rows->dimensions[block]; ++k) {
            double r = rows->impulse[rows->firstRows[block] + k];
            for (int i = 0; i < 3; ++i) {
                force[i] += r * out->wrenchByR[6 * side + i][k];
            }
        }
        if (slot >= 0) {
            tpVec3 f = tpMakeVec3(force[0], force[1], componentCount == 3 ? 0.0 : force[2]);
            anchorStiffness(problem, slot, side == 0 ? joint->anchorA : joint->anchorB, f,
                            out->wrenchByZ[6 * side], side);
        }
    }
}

static void jointJacobian(const tpIslandProblem* problem, int block, BlockJacobian* out) {
    const tpStepGeometry* geometry = problem->geometry;
    const tpTimeStep* step = geometry->step;
    const tpRows* ends = &geometry->jointEnds;
    const tpRows* middles = &geometry->jointMiddles;
    int own = block - geometry->contactBlocks, componentCount = ends->componentCount;
    for (int k = 0; k < ends->dimensions[own]; ++k) {
        int at = ends->firstRows[own] + k;
        size_t place = (size_t)at * (size_t)componentCount;
        double by[bodyRows] = { 0.0 };
        for (int i = 0; i < componentCount; ++i) {
            int n = componentAt(componentCount, i);
            by[n] = ends->jacobianA[place + (size_t)i] / step->h;
            by[6 + n] = ends->jacobianB[place + (size_t)i] / step->h;
            out->wrenchByR[n][k] = middles->jacobianA[place + (size_t)i];
            out->wrenchByR[6 + n][k] = middles->jacobianB[place + (size_t)i];
        }
        if (ends->bodyA[own] >= 0) {
            carry(&geometry->travels[ends->bodyA[own]].end, by, out->velocityByZ[k]);
        }
        if (ends->bodyB[own] >= 0) {
            carry(&geometry->travels[ends->bodyB[own]].end, by + 6, out->velocityByZ[k] + 6);
        }
        out->velocityByR[k] = ends->compliance[at];
    }
    jointStiffness(problem, block, out);
}

// Elimination -----------------------------------------------------------------------------------

static void add(tpMatrixEntries* list, int row, int column, double value) {
    if (value != 0.0) {
        TP_ASSERT(list->count < list->capacity);
        list->rows[list->count] = row;
        list->columns[list->count] = column;
        list->values[list->count++] = value;
    }
}

// X = A^-1 X for a small A and `width` columns, with partial pivoting.
static void solveSmall(int n, double A[][TP_FRICTION_MAX_ROWS], int width,
                       double X[][bodyRows + 2]) {
    for (int k = 0; k < n; ++k) {
        int best = k;
        for (int i = k + 1; i < n; ++i) {
            best = fabs(A[i][k]) > fabs(A[best][k]) ? i : best;
        }
        for (int j = 0; best != k && j < n; ++j) {
            double kept = A[k][j];
            A[k][j] = A[best][j];
            A[best][j] = kept;
        }
        for (int j = 0; best != k && j < width; ++j) {
            double kept = X[k][j];
            X[k][j] = X[best][j];
            X[best][j] = kept;
        }
        for (int i = k + 1; i < n; ++i) {
            double factor = A[i][k] / A[k][k];
            for (int j = k; j < n; ++j) {
                A[i][j] -= factor * A[k][j];
            }
            for (int j = 0; j < width; ++j) {
                X[i][j] -= factor * X[k][j];
            }
        }
    }
    for (int i = n - 1; i >= 0; --i) {
        for (int j = 0; j < width; ++j) {
            double sum = X[i][j];
            for (int k = i + 1; k < n; ++k) {
                sum -= A[i][k] * X[k][j];
            }
            X[i][j] = sum / A[i][i];
        }
    }
}

// dr = -(constant + byZ dz) from the block's own equations.
static void eliminate(const tpIslandProblem* problem, int block, const BlockJacobian* jacobian,
                      tpEliminated* out) {
    const tpRows* rows = &problem->geometry->step->rows;
    int dimension = rows->dimensions[block], first = rows->firstRows[block];
    bool isRedundant =
        block >= problem->geometry->contactBlocks && tpIslandProblem_IsHeldTwice(problem);
    double part = isRedundant ? redundantProximal : proximal;
    tpConeEquations equations = tpConeEquationsOf(problem, block);
    double A[TP_FRICTION_MAX_ROWS][TP_FRICTION_MAX_ROWS];
    double X[TP_FRICTION_MAX_ROWS][bodyRows + 2];
    for (int i = 0; i < dimension; ++i) {
        for (int j = 0; j < dimension; ++j) {
            A[i][j] =
                equations.byImpulse[i][j] + equations.byVelocity[i][j] * jacobian->velocityByR[j];
        }
        double own = problem->geometry->response[first + i] * rows->scale[first + i];
        A[i][i] += part * (own > 0.0 ? own : 1.0); // a row that moves nothing has no impulse
        for (int j = 0; j < bodyRows; ++j) {
            double sum = 0.0;
            for (int k = 0; k < dimension; ++k) {
                sum += equations.byVelocity[i][k] * jacobian->velocityByZ[k][j];
            }
            X[i][j] = sum;
        }
        X[i][bodyRows] = equations.value[i];
        X[i][bodyRows + 1] = equations.byVelocity[i][dimension - 1];
    }
    solveSmall(dimension, A, bodyRows + 2, X);
    for (int i = 0; i < dimension; ++i) {
        memcpy(out->byZ[i], X[i], sizeof(out->byZ[i]));
        out->constant[i] = X[i][bodyRows];
        out->byLast[i] = X[i][bodyRows + 1];
    }
}

// Momentum of one body by z of both and the right-hand side: -M^-1 (wrench by z - wrench by r
// dr/dz).
static void addMomentum(const tpIslandProblem* problem, int b, int side,
                        const BlockJacobian* jacobian, const tpEliminated* eliminated,
                        tpMatrixEntries* list, double* right) {
    const tpRows* rows = &problem->geometry->step->rows;
    int block = problem->blocks[b], componentCount = rows->componentCount,
        dimension = rows->dimensions[block];
    const int slots[2] = { rows->bodyA[block], rows->bodyB[block] };
    double total[6][bodyRows + 1]; // wrench by z, and its constant part
    for (int i = 0; i < 6; ++i) {
        memcpy(total[i], jacobian->wrenchByZ[6 * side + i], sizeof(double) * bodyRows);
        total[i][bodyRows] = 0.0;
        for (int k = 0; k < dimension; ++k) {
            double byR = jacobian->wrenchByR[6 * side + i][k];
            for (int j = 0; byR != 0.0 && j < bodyRows; ++j) {
                total[i][j] -= byR * eliminated->byZ[k][j];
            }
            total[i][bodyRows] -= byR * eliminated->constant[k];
        }
    }
    const double* inverse =
        rows->inverseMass + (size_t)slots[side] * (size_t)(componentCount * componentCount);
    int own = problem->bodyAt[slots[side]] * componentCount;
    for (int i = 0; i < componentCount; ++i) {
        double row[bodyRows + 1] = { 0.0 };
        for (int k = 0; k < componentCount; ++k) {
            double m = inverse[i * componentCount + k];
            for (int j = 0; m != 0.0 && j <= bodyRows; ++j) {
                row[j] -= m * total[componentAt(componentCount, k)][j];
            }
        }
        right[own + i] -= row[bodyRows];
        for (int other = 0; other < 2; ++other) {
            int column = slots[other] >= 0 ? problem->bodyAt[slots[other]] * componentCount : -1;
            for (int j = 0; column >= 0 && j < componentCount; ++j) {
                add(list, own + i, column + j, row[6 * other + componentAt(componentCount, j)]);
            }
        }
    }
}

// Couplings: rows over further bodies -------------------------------------------------------------

// One body of a coupling's row: the velocity of the row by its z, and its velocity by the row's
// impulse.
typedef struct Member {
    int first; // among the unknowns
    double velocityByZ[6], zByR[6];
} Member;

// Number k of a coupling's bodies; false after the last. `first` is -1 for those that do not move
// by impulses.
static bool memberAt(const tpIslandProblem* problem, int block, int k, Member* out) {
    const tpStepGeometry* geometry = problem->geometry;
    const tpRows* rows = &geometry->step->rows;
    const tpRows* ends = &geometry->jointEnds;
    const tpRows* middles = &geometry->jointMiddles;
    int slot, componentCount = rows->componentCount, own = block - geometry->contactBlocks;
    if (!tpRows_BodyAt(rows, block, k, &slot)) {
        return false;
    }
    out->first = slot >= 0 ? problem->bodyAt[slot] * componentCount : -1;
    if (slot < 0) {
        return true;
    }
    int at = ends->firstRows[own] + ends->dimensions[own] - 1;
    size_t place = (size_t)at * (size_t)componentCount;
    const double* atEnd = k == 0   ? ends->jacobianA + place
                          : k == 1 ? ends->jacobianB + place
                                   : ends->terms[ends->firstTerms[at] + k - 2].jacobian;
    const double* atMiddle = k == 0   ? middles->jacobianA + place
                             : k == 1 ? middles->jacobianB + place
                                      : middles->terms[middles->firstTerms[at] + k - 2].jacobian;
    double by[6] = { 0.0 }, carried[6] = { 0.0 };
    for (int i = 0; i < componentCount; ++i) {
        by[componentAt(componentCount, i)] = atEnd[i] / geometry->step->h;
    }
    carry(&geometry->travels[slot].end, by, carried);
    const double* inverse =
        rows->inverseMass + (size_t)slot * (size_t)(componentCount * componentCount);
    for (int i = 0; i < componentCount; ++i) {
        out->velocityByZ[i] = carried[componentAt(componentCount, i)];
        out->zByR[i] = 0.0;
        for (int j = 0; j < componentCount; ++j) {
            out->zByR[i] += inverse[i * componentCount + j] * atMiddle[j];
        }
    }
    return true;
}

// Momentum of all bodies of a coupling by the z of all of them: its last row's impulse is
// dr = -(constant + byLast sum of velocityByZ dz).
static void addCoupling(const tpIslandProblem* problem, int b, const tpEliminated* eliminated,
                        tpMatrixEntries* list, double* right) {
    const tpRows* rows = &problem->geometry->step->rows;
    int block = problem->blocks[b], componentCount = rows->componentCount,
        last = rows->dimensions[block] - 1;
    Member own, other;
    for (int k = 0; memberAt(problem, block, k, &own); ++k) {
        for (int i = 0; own.first >= 0 && i < componentCount; ++i) {
            right[own.first + i] -= own.zByR[i] * eliminated->constant[last];
        }
        for (int j = 0; own.first >= 0 && memberAt(problem, block, j, &other); ++j) {
            for (int i = 0; other.first >= 0 && i < componentCount * componentCount; ++i) {
                double value = own.zByR[i / componentCount] * eliminated->byLast[last] *
                               other.velocityByZ[i % componentCount];
                add(list, own.first + i / componentCount, other.first + i % componentCount, value);
            }
        }
    }
}

static bool hasTerms(const tpRows* rows, int block) {
    return rows->termCounts[rows->firstRows[block] + rows->dimensions[block] - 1] > 0;
}

int tpIslandProblem_EntryBound(const tpIslandProblem* problem) {
    const tpRows* rows = &problem->geometry->step->rows;
    int bound = problem->bodyCount * 6;
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b];
        int row = rows->firstRows[block] + rows->dimensions[block] - 1;
        int numbers = 6 * (2 + rows->termCounts[row]);
        bound += numbers * numbers;
    }
    return bound;
}

void tpIslandProblem_Linearise(tpIslandProblem* problem, double* residual, tpMatrixEntries* list,
                               double* right, tpEliminated* eliminated) {
    tpIslandProblem_Move(problem, true);
    tpIslandProblem_Residual(problem, residual);
    const tpRows* rows = &problem->geometry->step->rows;
    list->count = 0;
    int momentum = problem->bodyCount * rows->componentCount;
    for (int i = 0; i < momentum; ++i) {
        add(list, i, i, 1.0);
        right[i] = -residual[i];
    }
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b];
        BlockJacobian jacobian;
        memset(&jacobian, 0, sizeof(jacobian));
        if (block < problem->geometry->contactBlocks) {
            contactJacobian(problem, block, &jacobian);
        } else {
            jointJacobian(problem, block, &jacobian);
        }
        eliminate(problem, block, &jacobian, &eliminated[b]);
        if (hasTerms(rows, block)) {
            addCoupling(problem, b, &eliminated[b], list, right);
            continue;
        }
        if (rows->bodyA[block] >= 0) {
            addMomentum(problem, b, 0, &jacobian, &eliminated[b], list, right);
        }
        if (rows->bodyB[block] >= 0) {
            addMomentum(problem, b, 1, &jacobian, &eliminated[b], list, right);
        }
    }
}

void tpIslandProblem_Recover(const tpIslandProblem* problem, const tpEliminated* eliminated,
                             double* step) {
    const tpRows* rows = &problem->geometry->step->rows;
    int componentCount = rows->componentCount;
    double* r = step + problem->bodyCount * componentCount;
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b];
        const int slots[2] = { rows->bodyA[block], rows->bodyB[block] };
        for (int k = 0; k < rows->dimensions[block]; ++k) {
            double sum = eliminated[b].constant[k];
            for (int side = 0; !hasTerms(rows, block) && side < 2; ++side) {
                const double* dz =
                    slots[side] >= 0 ? step + problem->bodyAt[slots[side]] * componentCount : NULL;
                for (int j = 0; dz != NULL && j < componentCount; ++j) {
                    sum += eliminated[b].byZ[k][6 * side + componentAt(componentCount, j)] * dz[j];
                }
            }
            Member member;
            for (int i = 0; hasTerms(rows, block) && memberAt(problem, block, i, &member); ++i) {
                for (int j = 0; member.first >= 0 && j < componentCount; ++j) {
                    sum += eliminated[b].byLast[k] * member.velocityByZ[j] * step[member.first + j];
                }
            }
            r[problem->firstRow[b] + k] = -sum;
        }
    }
}
