// Links of joints are eliminated by the motions that they leave free: by the judge, and by the same
// mechanism with rows that are a little off those of joints, which are eliminated by their rows.

#include "complementarity/friction_tree.h"

#include "complementarity/friction_tree_parts.h"
#include "complementarity/solver.h"
#include "solver_memory.h"
#include "support/check.h"
#include "tree_cases.h"

// What joints hold: so many rows that also move, and rows that turn.
typedef struct Held {
    int moves, turns;
} Held;
static const Held types[] = {
    { 3, 2 }, { 3, 0 }, { 2, 3 }, { 3, 3 }, { 2, 2 }, { 3, 1 }, { 2, 0 }
};
enum { typeCount = sizeof types / sizeof *types };

static void randomAxis(FrictionCase* c, double* axis) {
    double length = 0.0;
    for (int i = 0; i < 3; ++i) {
        axis[i] = caseUniform(c, -1.0, 1.0);
        length += axis[i] * axis[i];
    }
    for (int i = 0; i < 3; ++i) {
        axis[i] /= sqrt(length);
    }
}

// Three directions at right angles, the first at random.
static void randomFrame(FrictionCase* c, double frame[3][3]) {
    double other[3], length = 0.0;
    randomAxis(c, frame[0]);
    randomAxis(c, other);
    caseCross(frame[0], other, frame[1]);
    for (int i = 0; i < 3; ++i) {
        length += frame[1][i] * frame[1][i];
    }
    for (int i = 0; i < 3; ++i) {
        frame[1][i] /= sqrt(length);
    }
    caseCross(frame[0], frame[1], frame[2]);
}

static void setRow(double scale, double soft) {
    FrictionCase* c = &mechanism;
    c->scale[c->rows - 1] = scale;
    compliance[c->rows - 1] = soft;
}

// A tree of joints of all kinds with rotors in what they leave free, and contacts with the ground.
static void makeRobot(uint64_t seed, int count, bool isGrounded) {
    FrictionCase* c = &mechanism;
    memset(c, 0, sizeof(*c));
    memset(compliance, 0, sizeof(compliance));
    c->state = 88172645463325252u + 7919u * seed;
    c->bodies.componentCount = 6;
    double center[CASE_BODIES][3];
    for (int i = 0; i < count; ++i) {
        double* inverse = c->inverseMass + (size_t)(36 * i);
        double frame[3][3], moment[3], mass = pow(10.0, caseUniform(c, -1.0, 1.0));
        randomFrame(c, frame);
        for (int k = 0; k < 3; ++k) {
            center[i][k] = caseUniform(c, -1.0, 1.0);
            inverse[7 * k] = 1.0 / mass;
            moment[k] = caseUniform(c, 0.01, 0.1) * mass;
        }
        for (int k = 0; k < 9; ++k) {
            double sum = 0.0;
            for (int j = 0; j < 3; ++j) {
                sum += frame[j][k / 3] * frame[j][k % 3] / moment[j];
            }
            inverse[(3 + k / 3) * 6 + 3 + k % 3] = sum;
        }
    }
    for (int i = isGrounded ? 0 : 1; i < count; ++i) {
        int parent = i == 0 ? -1 : (int)caseUniform(c, 0.0, i);
        Held held = types[(int)caseUniform(c, 0.0, typeCount)];
        double moves[3][3], turns[3][3], armA[3], armB[3];
        bool isTurned = caseUniform(c, 0.0, 1.0) < 0.5;
        int a = isTurned ? i : parent, b = isTurned ? parent : i;
        randomFrame(c, moves);
        randomFrame(c, turns);
        for (int k = 0; k < 3; ++k) {
            double point = caseUniform(c, -1.0, 1.0);
            armA[k] = point - (a >= 0 ? center[a][k] : 0.0);
            armB[k] = point - (b >= 0 ? center[b][k] : 0.0);
        }
        double scale = caseUniform(c, 0.5, 2.0);
        for (int k = 0; k < held.moves; ++k) {
            caseRow(c, moves[k], armA, armB, false);
            setRow(scale, 0.0);
        }
        caseBlock(c, tp_frictionFree, held.moves, 0.0, a, b);
        for (int k = 0; k < held.turns; ++k) {
            caseRow(c, turns[k], armA, armB, true);
            setRow(scale, 0.0);
        }
        if (held.turns > 0) {
            caseBlock(c, tp_frictionFree, held.turns, 0.0, a, b);
        }
        if (held.turns < 3) {
            caseBlock(c, tp_frictionFree, 1, 0.0, a, b);
            caseRow(c, turns[2], armA, armB, true);
            setRow(1.0, pow(10.0, caseUniform(c, -3.0, 3.0)));
        }
    }
    for (int k = 0; k < 3; ++k) {
        double frame[3][3], arm[3] = { 0.1 * k, -0.1, 0.05 };
        caseFrame(c, 6, 0.3, frame);
        for (int i = 0; i < 3; ++i) {
            caseRow(c, frame[i], arm, arm, false);
            setRow(1.0, 0.0);
        }
        caseBlock(c, tp_frictionCone, 3, 0.6, (int)caseUniform(c, 0.0, count), -1);
    }
    c->bodies = (tpFrictionBodies){ .bodyCount = count,
                                    .componentCount = 6,
                                    .inverseMass = c->inverseMass,
                                    .bodyA = c->bodyA,
                                    .bodyB = c->bodyB,
                                    .jacobianA = c->jacobianA,
                                    .jacobianB = c->jacobianB };
    caseVelocities(c, 6, count);
    c->problem.dimensions = c->dimensions;
    c->problem.kinds = c->kinds;
    c->problem.mu = c->mu;
    c->problem.scale = c->scale;
    c->problem.compliance = compliance;
    c->problem.q = c->q;
    c->problem.bodies = &c->bodies;
}

// Solves from nothing; returns the residual in velocities over |q|. `isByMotions`: how.
static double solveRobot(double* r, bool* isByMotions) {
    FrictionCase* c = &mechanism;
    tpArenaMark mark = tpArena_Mark(&memory->arena);
    tpFrictionTree* tree = tpFrictionTree_Create(&c->problem, memory);
    assert_non_null(tree);
    tpFrictionOptions options = tpDefaultFrictionOptions();
    tpFrictionResidual residual;
    int iterations = 0;
    double work = 0.0;
    memset(r, 0, sizeof(double) * (size_t)c->rows);
    assert_true(tpFrictionTree_Solve(tree, &options, 1e-10, r, &iterations, &work));
    *isByMotions = !tree->isUnitMass;
    assert_true(tpFriction_Judge(&c->problem, r, c->u, memory, &residual));
    tpArena_Release(&memory->arena, mark);
    return residual.natural;
}

// Contacts open by far: what is left is linear, and has one answer.
static void openContacts(void) {
    FrictionCase* c = &mechanism;
    for (int b = 0, row = 0; b < c->problem.blockCount; row += c->dimensions[b++]) {
        c->q[row] += c->kinds[b] == tp_frictionCone ? 1e3 : 0.0;
    }
}

// Without a correction: what rounding leaves of each way is compared.
static void jointsGoByTheirMotions(void** state) {
    (void)state;
    static double byMotions[CASE_ROWS], byRows[CASE_ROWS];
    for (uint64_t seed = 0; seed < 150; ++seed) {
        bool is;
        makeRobot(seed, 5 + (int)(seed % 20), seed % 3 == 0);
        CHECK_BELOW(solveRobot(byMotions, &is), 1e-9);
        assert_true(is);
        // The same mechanism, of which one row is no longer that of a joint.
        FrictionCase* c = &mechanism;
        openContacts();
        solveRobot(byMotions, &is);
        int first = seed % 3 == 0 ? c->dimensions[0] + c->dimensions[1] : 0;
        int block = seed % 3 == 0 ? 2 : 0;
        if (c->kinds[block] != tp_frictionFree || c->bodyA[block] < 0 || c->bodyB[block] < 0) {
            continue;
        }
        c->jacobianA[6 * first + 3] += 1e-11;
        CHECK_BELOW(solveRobot(byRows, &is), 1e-9);
        assert_false(is);
        double difference = 0.0, size = 0.0;
        for (int i = 0; i < c->rows; ++i) {
            difference = fmax(difference, fabs(byMotions[i] - byRows[i]));
            size = fmax(size, fabs(byRows[i]));
        }
        CHECK_BELOW(difference, 1e-6 * size);
    }
}

// Rows that hold a motion twice, or a body that is locked in a direction, are for the other way.
static void othersGoByTheirRows(void** state) {
    (void)state;
    static double r[CASE_ROWS];
    bool is;
    for (uint64_t seed = 1; seed < 30; seed += 3) {
        makeRobot(seed, 6, false);
        mechanism.inverseMass[36 * 3] = 0.0;
        solveRobot(r, &is);
        assert_false(is);
        makeRobot(seed, 6, false);
        // Two rows of the first joint along each other, and one of them gives way just so much that
        // the problem has an answer.
        memcpy(mechanism.jacobianA, mechanism.jacobianA + 6, sizeof(double) * 6);
        memcpy(mechanism.jacobianB, mechanism.jacobianB + 6, sizeof(double) * 6);
        mechanism.jacobianA[0] += 1e-5;
        mechanism.jacobianB[0] -= 1e-5;
        if (mechanism.dimensions[0] > 1) {
            solveRobot(r, &is);
            assert_false(is);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jointsGoByTheirMotions),
        cmocka_unit_test(othersGoByTheirRows),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
