// The Jacobian of an island's equations, block by block.
//
// A contact depends on small displacements (linear, angular) of its two bodies where they are in the
// middle and at the end, and these on z. Every quantity is first differentiated by the twelve
// displacements (implicit_contact.h), then carried over to z by the travels of the two bodies. For
// joints, the turning of impulse directions with z is left out: it is of the order of h^2 times the
// constraint force over mass and length, and costs Newton's method an iteration or two.

#include <string.h>

#include "steppers/chakraborty_trinkle/problem_parts.h"

enum { bodyRows = 12 }; // of two bodies in space

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

static tpVec3 column(const double rows[3][12], int k) {
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

// How the impulse of a contact on its bodies follows them.
static void wrenchByMotion(const tpIslandProblem* problem, int block, BlockJacobian* out) {
    const tpStepGeometry* geometry = problem->geometry;
    const tpRows* rows = &geometry->step->rows;
    const tpContactPlace* place = &geometry->middles[block];
    const double* r = rows->impulse + rows->firstRows[block];
    int dimension = rows->dimensions[block];
    tpVec3 moment;
    tpVec3 force = tpContactForce(rows, block, place, &moment);
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

static void wrenchByImpulse(const tpContactPlace* place, int dimension, BlockJacobian* out) {
    const tpVec3 directions[3] = { place->normal, place->tangents[0], place->tangents[1] };
    for (int k = 0; k < dimension && k < 3; ++k) {
        setColumn(out->wrenchByR, 0, k, directions[k]);
        setColumn(out->wrenchByR, 3, k, tpCross(place->armA, directions[k]));
        setColumn(out->wrenchByR, 6, k, tpNeg(directions[k]));
        setColumn(out->wrenchByR, 9, k, tpNeg(tpCross(place->armB, directions[k])));
    }
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
    tpSlip slip = tpSlipOf(problem, block);
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

static void contactJacobian(const tpIslandProblem* problem, int block, BlockJacobian* out) {
    const tpStepGeometry* geometry = problem->geometry;
    const tpImplicitContact* contact = &geometry->contacts[block];
    int dimension = geometry->step->rows.dimensions[block];
    wrenchByMotion(problem, block, out);
    wrenchByImpulse(&geometry->middles[block], dimension, out);
    slipByMotion(problem, block, out);
    double gap[bodyRows];
    for (int k = 0; k < bodyRows; ++k) {
        gap[k] = geometry->ends[block].by.gap[k] / geometry->step->h;
    }
    carryBoth(&geometry->travels[contact->bodyA].end, &geometry->travels[contact->bodyB].end, gap,
              out->velocityByZ[0]);
}

// Where number k of a body's velocities in the plane or in space lies among six.
static int degreeAt(int degrees, int k) {
    return degrees == 3 && k == 2 ? 5 : k;
}

static void jointJacobian(const tpIslandProblem* problem, int block, BlockJacobian* out) {
    const tpStepGeometry* geometry = problem->geometry;
    const tpTimeStep* step = geometry->step;
    const tpRows* ends = &geometry->jointEnds;
    const tpRows* middles = &geometry->jointMiddles;
    int own = block - geometry->contactBlocks, degrees = ends->degrees;
    for (int k = 0; k < ends->dimensions[own]; ++k) {
        int at = ends->firstRows[own] + k;
        size_t place = (size_t)at * (size_t)degrees;
        double by[bodyRows] = { 0.0 };
        for (int i = 0; i < degrees; ++i) {
            int n = degreeAt(degrees, i);
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
}

// Scattering ------------------------------------------------------------------------------------

static void add(tpTriplets* list, int row, int column, double value) {
    if (value != 0.0) {
        TP_ASSERT(list->count < list->capacity);
        list->rows[list->count] = row;
        list->columns[list->count] = column;
        list->values[list->count++] = value;
    }
}

// -M^-1 of one body times its six rows of the impulse's Jacobian: `width` columns, into `out`.
static void momentumRows(const tpRows* rows, int slot, const double* wrench, int stride, int width,
                         double* out) {
    int degrees = rows->degrees;
    const double* inverse = rows->inverseMass + (size_t)slot * (size_t)(degrees * degrees);
    for (int i = 0; i < degrees; ++i) {
        for (int j = 0; j < width; ++j) {
            double sum = 0.0;
            for (int k = 0; k < degrees; ++k) {
                sum -= inverse[i * degrees + k] * wrench[degreeAt(degrees, k) * stride + j];
            }
            out[i * width + j] = sum;
        }
    }
}

static void scatter(const tpIslandProblem* problem, int b, const BlockJacobian* jacobian,
                    tpTriplets* list) {
    const tpRows* rows = &problem->geometry->step->rows;
    int block = problem->blocks[b], degrees = rows->degrees, dimension = rows->dimensions[block];
    const int slots[2] = { rows->bodyA[block], rows->bodyB[block] };
    int firstRow = problem->bodyCount * degrees + problem->firstRow[b];
    tpConeEquations equations = tpConeEquationsOf(problem, block);
    for (int side = 0; side < 2; ++side) {
        if (slots[side] < 0) {
            continue;
        }
        int own = problem->bodyAt[slots[side]] * degrees;
        double byZ[6 * bodyRows], byR[6 * TP_FRICTION_MAX_ROWS];
        momentumRows(rows, slots[side], jacobian->wrenchByZ[6 * side], bodyRows, bodyRows, byZ);
        momentumRows(rows, slots[side], jacobian->wrenchByR[6 * side], TP_FRICTION_MAX_ROWS,
                     TP_FRICTION_MAX_ROWS, byR);
        for (int i = 0; i < degrees; ++i) {
            for (int other = 0; other < 2; ++other) {
                int column = slots[other] >= 0 ? problem->bodyAt[slots[other]] * degrees : -1;
                for (int j = 0; column >= 0 && j < degrees; ++j) {
                    add(list, own + i, column + j,
                        byZ[i * bodyRows + 6 * other + degreeAt(degrees, j)]);
                }
            }
            for (int j = 0; j < dimension; ++j) {
                add(list, own + i, firstRow + j, byR[i * TP_FRICTION_MAX_ROWS + j]);
            }
        }
        for (int i = 0; i < dimension; ++i) {
            for (int j = 0; j < degrees; ++j) {
                double sum = 0.0;
                for (int k = 0; k < dimension; ++k) {
                    sum += equations.byVelocity[i][k] *
                           jacobian->velocityByZ[k][6 * side + degreeAt(degrees, j)];
                }
                add(list, firstRow + i, own + j, sum);
            }
        }
    }
    for (int i = 0; i < dimension; ++i) {
        for (int j = 0; j < dimension; ++j) {
            add(list, firstRow + i, firstRow + j,
                equations.byImpulse[i][j] + equations.byVelocity[i][j] * jacobian->velocityByR[j]);
        }
    }
}

int tpIslandProblem_EntryBound(const tpIslandProblem* problem) {
    const int ofBlock =
        12 * 12 + 2 * 12 * TP_FRICTION_MAX_ROWS + TP_FRICTION_MAX_ROWS * TP_FRICTION_MAX_ROWS;
    return problem->size + ofBlock * problem->blockCount;
}

void tpIslandProblem_Linearise(tpIslandProblem* problem, double* residual, tpTriplets* list) {
    tpIslandProblem_Move(problem, true);
    tpIslandProblem_Residual(problem, residual);
    list->count = 0;
    int momentum = problem->bodyCount * problem->geometry->step->rows.degrees;
    for (int i = 0; i < momentum; ++i) {
        add(list, i, i, 1.0);
    }
    for (int b = 0; b < problem->blockCount; ++b) {
        BlockJacobian jacobian;
        memset(&jacobian, 0, sizeof(jacobian));
        if (problem->blocks[b] < problem->geometry->contactBlocks) {
            contactJacobian(problem, problem->blocks[b], &jacobian);
        } else {
            jointJacobian(problem, problem->blocks[b], &jacobian);
        }
        scatter(problem, b, &jacobian, list);
    }
}
