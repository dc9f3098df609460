// The masses that contacts feel at the bodies of a mechanism.
//
// A sweep over contacts knows a mass per body. The mass of a light foot under a heavy robot is its
// own only as long as the joints have not answered: with it contacts would take back a small part
// of the robot's weight per sweep, and the robot would sink or fall. What an impulse really does to
// a body of the mechanism is the block B of the inverse of the mechanism's matrix. So contacts feel
//
//     1 / mass = n max(B_xx, B_yy, B_zz),     1 / inertia = n B of the angular part
//
// or the body's own, if that is heavier. n is how many bodies of the mechanism touch something: if
// all are pushed at once each gets the answers to the others too, at most n times its own (a
// positive definite matrix is at most n times its n diagonal blocks). Masses only lead the
// iteration: momenta that contacts gave are taken back with the same masses, and the mechanism is
// solved with them, so that they do not change what is converged to. A mass too heavy makes the
// iteration run away, one too light only slow: rows that may let go (dry friction, motors, limits,
// stiff servos that a small motion takes to their bounds) count as if they had.

#include <string.h>

#include "steppers/small_steps/articulation.h"

// rad/s or m/s: what a contact may do to a joint in a substep. With more, servos that hold a robot
// through its feet count as loose, and it sinks while contacts are found; with less, a foot without
// armature is thrown (tried on robots with gains of one to ten times their own).
static const double smallChange = 0.15;

// What a unit impulse on a body does to it.
static tpSpatialInertia responseOf(const tpArticulation* articulation, int node) {
    if (articulation->isTree) {
        return articulation->responses[node];
    }
    const double* block = articulation->inverses[node];
    return (tpSpatialInertia){
        .mass = { block[0], block[7], block[14], block[1], block[2], block[8] },
        .inertia = { block[21], block[28], block[35], block[22], block[23], block[29] }
    };
}

// The angular part of a response in free axes: xx yy zz xy xz yz.
static void readTurn(const double* inertia, const double* free, double factor, double turn[6]) {
    static const int rows[6] = { 0, 1, 2, 0, 0, 1 }, columns[6] = { 0, 1, 2, 1, 2, 2 };
    for (int k = 0; k < 6; ++k) {
        turn[k] = factor * free[3 + rows[k]] * free[3 + columns[k]] * inertia[k];
    }
}

// The inverse, rows of a symmetric matrix; axes that are not free count as 1.
static bool invertTurn(const double turn[6], const double* free, double inertia[9]) {
    double xx = turn[0] + 1.0 - free[3], yy = turn[1] + 1.0 - free[4], zz = turn[2] + 1.0 - free[5];
    double xy = turn[3], xz = turn[4], yz = turn[5];
    double a = yy * zz - yz * yz, b = xz * yz - xy * zz, c = xy * yz - xz * yy;
    double volume = xx * a + xy * b + xz * c;
    // The matrix is positive definite, or there is nothing to be felt.
    if (!(volume > 1e-14 * xx * yy * zz)) {
        return false;
    }
    double by = 1.0 / volume;
    const double rows[9] = { by * a,
                             by * b,
                             by * c,
                             by * b,
                             by * (xx * zz - xz * xz),
                             by * (xy * xz - xx * yz),
                             by * c,
                             by * (xy * xz - xx * yz),
                             by * (xx * yy - xy * xy) };
    memcpy(inertia, rows, sizeof(rows));
    return true;
}

// What contacts feel at one body, if that is heavier than the body alone.
static void weighNode(const tpSmallStep* step, tpArticulation* articulation, int node,
                      double factor) {
    tpSweepBody* mass = &step->masses[numberOf(articulation, node)];
    tpSpatialInertia response = responseOf(articulation, node);
    tpNodeMass* felt = &articulation->felt[node];
    double linear = factor * fmax(response.mass[0], fmax(response.mass[1], response.mass[2]));
    if (linear < mass->inverseMass) {
        mass->inverseMass = linear;
        for (int k = 0; k < 3; ++k) {
            felt->mass[k] = felt->free[k] > 0.0 ? 1.0 / linear : 1.0;
        }
    }
    double turn[6], inertia[9];
    const double* own = mass->inverseInertia;
    readTurn(response.inertia, felt->free, factor, turn);
    if (turn[0] + turn[1] + turn[2] < own[0] + own[1] + own[2] &&
        invertTurn(turn, felt->free, inertia)) {
        memcpy(mass->inverseInertia, turn, sizeof(turn));
        memcpy(felt->inertia, inertia, sizeof(inertia));
    }
}

// A row within bounds, if it is rigid or if a small change of its velocity takes it to its bound.
static bool mayLetGo(const tpArticulation* articulation, int row) {
    const tpRowAnswer* solved = &articulation->solver.answers[row];
    if (solved->state != tp_withinRow || (!isfinite(solved->least) && !isfinite(solved->most))) {
        return false;
    }
    double room = fmin(solved->most - solved->offset, solved->offset - solved->least);
    return articulation->laws[row].isRigid || room < smallChange * solved->stiffness;
}

// The inverse of the matrix without rigid rows that may let go.
static void invertLoose(tpArticulation* articulation) {
    tpMechanism* solver = &articulation->solver;
    int loose = 0;
    for (int k = 0; k < solver->rowCount; ++k) {
        articulation->isLoose[k] = mayLetGo(articulation, k);
        solver->answers[k].state = articulation->isLoose[k] ? tp_deadRow : solver->answers[k].state;
        loose += articulation->isLoose[k] ? 1 : 0;
    }
    tpArticulation_Factorise(articulation);
    if (articulation->isTree) {
        tpJointTree_Invert(&articulation->tree, articulation->responses);
    } else {
        tpMechanism_Invert(solver, articulation->inverses, articulation->between);
    }
    for (int k = 0; k < solver->rowCount; ++k) {
        solver->answers[k].state =
            articulation->isLoose[k] ? tp_withinRow : solver->answers[k].state;
    }
    if (loose > 0) {
        tpArticulation_Factorise(articulation);
    }
}

void tpArticulation_Weigh(const tpSmallStep* step, tpArticulation* articulation) {
    articulation->touchingCount = 0;
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        bool isTouching = step->joints->touches[numberOf(articulation, i)];
        if (isTouching) {
            articulation->touching[articulation->touchingCount++] = i;
            articulation->felt[i] = articulation->masses[i];
        }
        if (articulation->isTree) {
            articulation->tree.nodes[i].isWanted = isTouching;
        }
    }
    if (articulation->isTree && articulation->touchingCount > 0) {
        tpJointTree_Want(&articulation->tree);
    }
    // Few contacts know what bodies answer.
    if (articulation->touchingCount == 0 || articulation->hasFewContacts) {
        tpArticulation_Factorise(articulation);
        return;
    }
    invertLoose(articulation);
    for (int k = 0; k < articulation->touchingCount; ++k) {
        weighNode(step, articulation, articulation->touching[k], articulation->touchingCount);
    }
}
