// tippe.solve_lcp and tippe.solve_friction: the solvers by themselves, for problems that users
// bring.
//
// tippe/solvers.py checks shapes and turns matrices into columns; here they become the structs of
// the C library, which checks their contents again.

#include <cmath>
#include <cstring>

#include "binding.h"

namespace {

using Numbers = nb::ndarray<nb::numpy, const double, nb::ndim<1>, nb::c_contig>;
using Integers = nb::ndarray<nb::numpy, const int32_t, nb::ndim<1>, nb::c_contig>;
using Bytes = nb::ndarray<nb::numpy, const uint8_t, nb::ndim<1>, nb::c_contig>;

static_assert(sizeof(int) == sizeof(int32_t), "indices of matrices");

struct Memory {
    tpSolverMemory* memory = tpCreateSolverMemory(nullptr);
    ~Memory() { tpDestroySolverMemory(memory); }
};

// An array argument that may be None: its data, or NULL.
template <typename Array> const typename Array::Scalar* dataOf(nb::handle value, Array& held) {
    if (value.is_none()) {
        return nullptr;
    }
    held = nb::cast<Array>(value);
    return held.data();
}

// values, and starts and indices unless it is dense.
struct Matrix {
    Numbers values;
    Integers starts, indices;
    tpMatrix matrix;

    Matrix(int size, nb::handle valuesGiven, nb::handle startsGiven, nb::handle indicesGiven) {
        const double* numbers = dataOf(valuesGiven, values);
        const int* columnStarts = dataOf(startsGiven, starts);
        const int* rowIndices = dataOf(indicesGiven, indices);
        matrix = columnStarts != nullptr
                     ? tpSparseMatrix(size, size, columnStarts, rowIndices, numbers)
                     : tpDenseMatrix(size, size, numbers);
    }
};

nb::dict describe(const tpSolveReport& report) {
    nb::dict made;
    made["status"] = tpSolveStatus_Name(report.status);
    made["solver"] = report.solver != nullptr ? report.solver : "";
    made["residual"] = report.residual;
    made["plain_residual"] = report.plainResidual;
    made["iterations"] = report.iterations;
    made["seconds"] = report.seconds;
    nb::list stages;
    int kept = report.stageCount < TP_MAX_SOLVE_STAGES ? report.stageCount : TP_MAX_SOLVE_STAGES;
    for (int i = 0; i < kept; ++i) {
        const tpSolveStage& stage = report.stages[i];
        stages.append(nb::make_tuple(stage.solver, tpSolveStatus_Name(stage.status), stage.residual,
                                     stage.iterations, stage.seconds));
    }
    made["stages"] = stages;
    return made;
}

void checkStatus(const tpSolveReport& report) {
    if (report.status == tp_solverOutOfMemory) {
        throw std::bad_alloc();
    }
    if (report.status == tp_badProblem) {
        raiseValue("M, q: not a problem: a number is not finite, or an index out of range");
    }
}

nb::dict solveLcp(int size, nb::handle values, nb::handle starts, nb::handle indices, nb::handle q,
                  nb::handle free, const std::string& solver, double tolerance) {
    Matrix matrix(size, values, starts, indices);
    Numbers qHeld;
    Bytes freeHeld;
    tpLcp lcp = {};
    lcp.n = size;
    lcp.M = matrix.matrix;
    lcp.q = dataOf(q, qHeld);
    lcp.isFree = reinterpret_cast<const bool*>(dataOf(free, freeHeld));
    const tpLcpSolver* chosen = tpLcpSolver_Find(solver.c_str());
    if (chosen == nullptr) {
        raiseValue("solver: there is no \"%s\"; tippe.lcp_solvers() lists them", solver.c_str());
    }
    std::vector<double> z(size), w(size);
    tpSolveReport report = {};
    Memory memory;
    {
        nb::gil_scoped_release release;
        chosen->solve(&lcp, tolerance, memory.memory, z.data(), &report);
        tpMatrix_Multiply(&lcp.M, z.data(), lcp.q, w.data());
    }
    checkStatus(report);
    nb::dict made = describe(report);
    size_t n = static_cast<size_t>(size);
    made["z"] = arrayOf(std::move(z), { n });
    made["w"] = arrayOf(std::move(w), { n });
    return made;
}

nb::dict solveFriction(nb::handle form, int rows, nb::handle dimensions, nb::handle kinds,
                       nb::handle mu, nb::handle scale, nb::handle compliance, nb::handle q,
                       nb::handle start, const std::string& solver, double tolerance,
                       double velocityTolerance) {
    Integers dimensionsHeld, bodyA, bodyB;
    Bytes kindsHeld;
    Numbers muHeld, scaleHeld, complianceHeld, qHeld, startHeld, inverseMass, jacobianA, jacobianB;
    tpFrictionProblem problem = {};
    problem.dimensions = dataOf(dimensions, dimensionsHeld);
    problem.blockCount = static_cast<int>(dimensionsHeld.shape(0));
    problem.kinds = dataOf(kinds, kindsHeld);
    problem.mu = dataOf(mu, muHeld);
    problem.scale = dataOf(scale, scaleHeld);
    problem.compliance = dataOf(compliance, complianceHeld);
    problem.q = dataOf(q, qHeld);

    // The operator: (values, starts, indices) of a matrix, or six parts of the body form.
    nb::tuple parts = nb::cast<nb::tuple>(form);
    std::unique_ptr<Matrix> matrix;
    tpFrictionBodies bodies = {};
    if (nb::len(parts) == 3) {
        matrix = std::make_unique<Matrix>(rows, nb::object(parts[0]), nb::object(parts[1]),
                                          nb::object(parts[2]));
        problem.W = &matrix->matrix;
    } else {
        bodies.componentCount = nb::cast<int>(parts[0]);
        bodies.inverseMass = dataOf(nb::object(parts[1]), inverseMass);
        bodies.bodyCount = static_cast<int>(inverseMass.shape(0)) /
                           (bodies.componentCount * bodies.componentCount);
        bodies.bodyA = dataOf(nb::object(parts[2]), bodyA);
        bodies.bodyB = dataOf(nb::object(parts[3]), bodyB);
        bodies.jacobianA = dataOf(nb::object(parts[4]), jacobianA);
        bodies.jacobianB = dataOf(nb::object(parts[5]), jacobianB);
        problem.bodies = &bodies;
    }
    tpError error = {};
    if (tpFriction_Check(&problem, &error) != tp_success) {
        raiseError(error);
    }
    const tpFrictionSolver* chosen = tpFrictionSolver_Find(solver.c_str());
    if (chosen == nullptr) {
        raiseValue("solver: there is no \"%s\"; tippe.friction_solvers() lists them",
                   solver.c_str());
    }
    std::vector<double> r(rows), u(rows);
    if (const double* guess = dataOf(start, startHeld)) {
        std::memcpy(r.data(), guess, sizeof(double) * r.size());
    }
    tpFrictionOptions options = tpDefaultFrictionOptions();
    options.tolerance = tolerance;
    options.velocityTolerance = velocityTolerance;
    tpSolveReport report = {};
    tpFrictionResidual residual = {};
    Memory memory;
    bool isJudged;
    {
        nb::gil_scoped_release release;
        chosen->solve(&problem, &options, memory.memory, r.data(), u.data(), &report);
        isJudged = tpFriction_Judge(&problem, r.data(), u.data(), memory.memory, &residual);
    }
    checkStatus(report);
    if (!isJudged) {
        throw std::bad_alloc();
    }
    nb::dict made = describe(report);
    size_t n = static_cast<size_t>(rows);
    made["r"] = arrayOf(std::move(r), { n });
    made["u"] = arrayOf(std::move(u), { n });
    made["velocity_residual"] = residual.velocity;
    made["cone_violation"] = residual.cone;
    made["separation_violation"] = residual.separation;
    made["complementarity_violation"] = residual.complementarity;
    made["dissipation_violation"] = residual.dissipation;
    return made;
}

// Impacts -------------------------------------------------------------------------------------

// A body is 16 numbers, as in the tables of `tippe collide`: mass (may be infinite), inertia xx yy
// zz xy xz yz (zeros: it cannot be turned), arm, velocity, angular velocity.
constexpr size_t bodyWidth = 16;

tpImpactBody impactBodyOf(const double* v) {
    tpImpactBody body = {};
    body.inverseMass = std::isinf(v[0]) ? 0.0 : 1.0 / v[0];
    bool canTurn = false;
    for (int i = 1; i < 7; ++i) {
        canTurn = canTurn || v[i] != 0.0;
    }
    if (canTurn) {
        body.inverseInertia =
            tpInvert(tpMakeMat33(tpMakeVec3(v[1], v[4], v[5]), tpMakeVec3(v[4], v[2], v[6]),
                                 tpMakeVec3(v[5], v[6], v[3])));
    }
    body.arm = tpMakeVec3(v[7], v[8], v[9]);
    body.velocity = tpMakeVec3(v[10], v[11], v[12]);
    body.angularVelocity = tpMakeVec3(v[13], v[14], v[15]);
    return body;
}

void copy(double* to, tpVec3 v) {
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

// For each impact: impulse on the first body (3), relative velocity after (3), normal impulse at
// maximum compression, energy lost, number of phases.
constexpr size_t resultWidth = 9;

nb::tuple collide(nb::handle bodies, nb::handle normals, nb::handle coefficients, bool stronge) {
    Rows rows = rowsOf(bodies, "bodies", 2 * bodyWidth);
    Rows directions = rowsOf(normals, "normal", 3);
    Rows numbers = rowsOf(coefficients, "coefficients", 2);
    size_t count = rows.shape(0);
    std::vector<double> results(resultWidth * count);
    std::vector<double> after(12 * count); // velocities of both bodies
    long failed = -1;
    {
        nb::gil_scoped_release release;
        for (size_t i = 0; i < count && failed < 0; ++i) {
            tpImpactBody first = impactBodyOf(rows.data() + 2 * bodyWidth * i);
            tpImpactBody second = impactBodyOf(rows.data() + 2 * bodyWidth * i + bodyWidth);
            const double* n = directions.data() + 3 * i;
            tpImpact impact = tpMakeImpact(&first, &second, tpMakeVec3(n[0], n[1], n[2]));
            impact.friction = numbers.data()[2 * i];
            impact.restitution = numbers.data()[2 * i + 1];
            impact.law = stronge ? tp_strongeRestitution : tp_poissonRestitution;
            tpImpactResult result;
            if (tpImpact_Resolve(&impact, &result) != tp_success) {
                failed = static_cast<long>(i);
                break;
            }
            tpImpactBody_Apply(&first, result.impulse);
            tpImpactBody_Apply(&second, tpNeg(result.impulse));
            double* out = &results[resultWidth * i];
            copy(out, result.impulse);
            copy(out + 3, result.velocity);
            out[6] = result.compressionImpulse;
            out[7] = result.energyLost;
            out[8] = result.phaseCount;
            double* velocities = &after[12 * i];
            copy(velocities, first.velocity);
            copy(velocities + 3, first.angularVelocity);
            copy(velocities + 6, second.velocity);
            copy(velocities + 9, second.angularVelocity);
        }
    }
    return nb::make_tuple(arrayOf(std::move(results), { count, resultWidth }),
                          arrayOf(std::move(after), { count, 12 }), failed);
}

} // namespace

void bindSolvers(nb::module_& m) {
    m.def("_solve_lcp", &solveLcp, "size"_a, "values"_a, "starts"_a.none(), "indices"_a.none(),
          "q"_a, "free"_a.none(), "solver"_a, "tolerance"_a);
    m.def("_solve_friction", &solveFriction, "form"_a, "rows"_a, "dimensions"_a, "kinds"_a.none(),
          "mu"_a, "scale"_a.none(), "compliance"_a.none(), "q"_a, "start"_a.none(), "solver"_a,
          "tolerance"_a, "velocity_tolerance"_a);
    m.def("_lcp_solvers", [] {
        int count = 0;
        const tpLcpSolver* solvers = tpLcpSolvers(&count);
        nb::dict made;
        for (int i = 0; i < count; ++i) {
            made[solvers[i].name] = solvers[i].summary;
        }
        return made;
    });
    m.def("_friction_solvers", [] {
        int count = 0;
        const tpFrictionSolver* solvers = tpFrictionSolvers(&count);
        nb::dict made;
        for (int i = 0; i < count; ++i) {
            made[solvers[i].name] = solvers[i].summary;
        }
        return made;
    });
    m.def("_collide", &collide, "bodies"_a, "normals"_a, "coefficients"_a, "stronge"_a);
}
