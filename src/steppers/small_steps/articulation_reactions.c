// What the joints of a tree carry, and what bodies are off them.

#include <string.h>

#include "steppers/small_steps/articulation_tree.h"
#include "steppers/small_steps/flights.h"

double tpTree_FindErrors(const tpSmallStep* step, tpArticulation* articulation) {
    double largest = 0.0;
    tpTree_Look(step, articulation);
    for (int i = 0; i < articulation->tree.nodeCount; ++i) {
        double error = articulation->nodePlaces[i].error;
        largest = error > largest ? error : largest;
    }
    double deepest = 0.0;
    for (int n = 0; n < tpJointTree_NearCount(&articulation->tree); ++n) {
        int k = tpJointTree_NearRow(&articulation->tree, n);
        const tpArticulatedRow* law = &articulation->laws[k];
        double error = 0.0;
        if (law->role == tp_limitRole) {
            const tpAxisRow* row = &articulation->tree.rows[k];
            double room = row->sign * (articulation->axisPlaces[row->axis].value - law->value);
            error = room < 0.0 ? room : 0.0;
            double past = error * tpArticulation_Weight(step, articulation, k);
            deepest = past < deepest ? past : deepest;
        }
        articulation->errors[k] = error;
    }
    articulation->deepest = deepest;
    return -deepest > largest ? -deepest : largest;
}

// The momenta of all substeps since axes were placed, as if they were one: a substep begins with
// the velocities that the one before has left.
static void addUpMomenta(const tpSmallStep* step, const tpArticulation* articulation) {
    bool isFirst = articulation->passed == articulation->finished;
    // Trees that keep their velocities to themselves have written them down.
    for (int i = 0; isFirst && !articulation->isInside && i < articulation->tree.nodeCount; ++i) {
        readVelocity(&step->starts[numberOf(articulation, i)], &articulation->begun[6 * i]);
    }
    for (int p = 0; p < tpFlights_PackCount(articulation->tree.nodeCount); ++p) {
        int first = 6 * tp_flightPackWidth * p;
        step->joints->flights->sumUp(&articulation->flightPacks[p], articulation->finished,
                                     &articulation->begun[first], &articulation->given[first],
                                     articulation->isTumbling, &articulation->momenta[first]);
    }
}

// An impulse that a link gets by its joint goes to the joint, as one on its body B; what the root
// is joined to does work by it.
static void addReaction(tpArticulation* articulation, int i, const double* f) {
    const tpJointTree* tree = &articulation->tree;
    double* sum = &articulation->reactions[6 * i];
    if (articulation->nodePlaces[i].isB) {
        for (int k = 0; k < 6; ++k) {
            sum[k] += f[k];
        }
    } else {
        // On the parent, about its centre.
        const double* r = tree->nodes[i].arm;
        sum[0] -= f[0];
        sum[1] -= f[1];
        sum[2] -= f[2];
        sum[3] -= f[3] + (r[1] * f[2] - r[2] * f[1]);
        sum[4] -= f[4] + (r[2] * f[0] - r[0] * f[2]);
        sum[5] -= f[5] + (r[0] * f[1] - r[1] * f[0]);
    }
    for (int k = 0; tree->nodes[i].parent < 0 && k < 6; ++k) {
        articulation->work += f[k] * tree->base[k];
    }
}

// The same of all links, times a rate.
static void addAllReactions(tpArticulation* articulation, double rate, const double* impulses) {
    const tpJointTree* tree = &articulation->tree;
    if (articulation->areAllB) {
        double* restrict sums = articulation->reactions;
        for (int k = 0; k < 6 * tree->nodeCount; ++k) {
            sums[k] += rate * impulses[k];
        }
        return;
    }
    for (int i = 0; i < tree->nodeCount; ++i) {
        if (articulation->links[i] >= 0) {
            double f[6];
            for (int k = 0; k < 6; ++k) {
                f[k] = rate * impulses[6 * i + k];
            }
            addReaction(articulation, i, f);
        }
    }
}

void tpTree_AddReactions(const tpSmallStep* step, tpArticulation* articulation) {
    const tpJointTree* tree = &articulation->tree;
    double *impulses = articulation->shifts, count = articulation->finished;
    if (articulation->finished > 1) {
        addUpMomenta(step, articulation);
    }
    tpJointTree_Reactions(tree, articulation->momenta, articulation->last, impulses);
    addAllReactions(articulation, 1.0, impulses);
    double most = 0.0; // the square of force times ease
    for (int i = 0; i < tree->nodeCount; ++i) {
        if (articulation->links[i] < 0) {
            continue;
        }
        const double* f = &impulses[6 * i];
        double ease = tpArticulation_EaseOf(articulation, i);
        double swing = (f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) * (ease * ease);
        most = swing > most ? swing : most;
    }
    articulation->swing = sqrt(most) / count * step->substepTime;
}

// By how much an axis has been displaced, by what goes along it to its node: rows and rotor resist
// by their stiffness. If rows were given errors, there was one pass, which has told.
static double wayOf(const tpJointAxis* axis, bool hasErrors, const double* f) {
    const double* s = axis->motion;
    double along =
        s[0] * f[0] + s[1] * f[1] + s[2] * f[2] + s[3] * f[3] + s[4] * f[4] + s[5] * f[5];
    return hasErrors ? axis->rate : -along / axis->stiffness;
}

void tpTree_AddFedReactions(tpArticulation* articulation, const double* errors, double rate) {
    tpJointTree* tree = &articulation->tree;
    double *impulses = articulation->jumps, *ways = articulation->axisPushes;
    tpJointTree_Reactions(tree, NULL, articulation->shifts, impulses);
    for (int i = 0; i < tree->nodeCount; ++i) {
        for (int k = tree->nodes[i].axis; k < tree->nodes[i].axisEnd; ++k) {
            tpJointAxis* axis = &tree->axes[k];
            ways[k] = wayOf(axis, errors != NULL, &impulses[6 * i]);
            axis->rotorSpeed += axis->rotor > 0.0 ? rate * ways[k] : 0.0;
        }
    }
    for (int n = 0; n < tpJointTree_NearCount(tree); ++n) {
        int k = tpJointTree_NearRow(tree, n);
        const tpAxisRow* row = &tree->rows[k];
        double stiffness = row->isIn ? tree->answers[k].stiffness : 0.0, way = 0.0;
        if (stiffness > 0.0) {
            way = row->sign * ways[row->axis] + (errors != NULL ? errors[k] : 0.0);
        }
        articulation->lateErrors[k] = -rate * stiffness * way;
    }
    addAllReactions(articulation, rate, impulses);
}

// How much more than where axes were placed an impulse on a link is along one of them, now. Axes of
// a ball joint may be others by now: about the same ones its body turns about the anchor.
static double turnedAlong(const tpArticulation* articulation, int node, int axis, bool isBall,
                          const double* f) {
    const double *then = articulation->tree.axes[axis].motion,
                 *now = articulation->axisPlaces[axis].motion;
    if (isBall) {
        tpVec3 arm = articulation->nodePlaces[node].own;
        return (arm.y * then[5] - arm.z * then[4] - then[0]) * f[0] +
               (arm.z * then[3] - arm.x * then[5] - then[1]) * f[1] +
               (arm.x * then[4] - arm.y * then[3] - then[2]) * f[2];
    }
    double sum = 0.0;
    for (int c = 0; c < 6; ++c) {
        sum += (now[c] - then[c]) * f[c];
    }
    return sum;
}

// What the impulse of a link is more about the centre of its parent, now, than by the arm that it
// had.
static void addTurned(const tpArticulation* articulation, int i, const double* f, double* twists) {
    const tpJointNode* node = &articulation->tree.nodes[i];
    tpVec3 arm = articulation->nodePlaces[i].arm;
    double x = arm.x - node->arm[0], y = arm.y - node->arm[1], z = arm.z - node->arm[2];
    double *own = &twists[3 * i], *to = &twists[3 * node->parent];
    to[0] += own[0] + (y * f[2] - z * f[1]);
    to[1] += own[1] + (z * f[0] - x * f[2]);
    to[2] += own[2] + (x * f[1] - y * f[0]);
}

void tpTree_EvenTurn(const tpSmallStep* step, tpArticulation* articulation, double rate) {
    tpJointTree* tree = &articulation->tree;
    const double* impulses = articulation->jumps;
    double before = articulation->finished - 1.0, after = articulation->finished + 1.0;
    double part = 0.5 * (1.0 - before * before / (after * after)) * rate;
    double *pushes = articulation->axisPushes, *twists = articulation->momenta;
    memset(twists, 0, sizeof(double) * 3 * (size_t)tree->nodeCount);
    for (int i = 0, n = 0; i < tree->nodeCount; ++i) {
        int link = articulation->links[i];
        const double *f = &impulses[6 * i], *twist = &twists[3 * i];
        bool isBall = link >= 0 && step->system->joints.data[link].type == tp_ballJoint;
        for (int k = tree->nodes[i].axis; k < tree->nodes[i].axisEnd; ++k) {
            const double* axis = tree->axes[k].motion + 3;
            double along = axis[0] * twist[0] + axis[1] * twist[1] + axis[2] * twist[2];
            pushes[n++] = -part * (turnedAlong(articulation, i, k, isBall, f) + along);
        }
        if (tree->nodes[i].parent >= 0) {
            addTurned(articulation, i, f, twists);
        }
    }
    double root[3] = { 0.0, 0.0, 0.0 };
    for (int k = 0; tree->isFree && k < 3; ++k) {
        root[k] = -part * twists[3 * (tree->nodeCount - 1) + k];
    }
    tpJointTree_PushAxes(tree, pushes, root, articulation->shifts);
    for (int i = 0; i < tree->nodeCount; ++i) {
        for (int k = tree->nodes[i].axis; k < tree->nodes[i].axisEnd; ++k) {
            tpJointAxis* axis = &tree->axes[k];
            axis->rotorSpeed += axis->rotor > 0.0 ? axis->rate : 0.0;
        }
    }
}

void tpTree_ReportReaction(const tpSmallStep* step, const tpArticulation* articulation, int i) {
    const double* sum = &articulation->reactions[6 * i];
    tpJoint* joint = &step->system->joints.data[articulation->links[i]];
    double rate = 1.0 / step->h;
    tpVec3 force = tpMakeVec3(rate * sum[0], rate * sum[1], rate * sum[2]);
    tpVec3 torque = tpMakeVec3(rate * sum[3], rate * sum[4], rate * sum[5]);
    if (joint->type != tp_revoluteJoint) {
        tpJoint_AddReaction(step->system, joint, (tpWrench){ force, torque });
        return;
    }
    tpVec3 arm = articulation->startArms[i];
    joint->force = tpAdd(joint->force, force);
    joint->torque = tpAdd(joint->torque, tpSub(torque, tpCross(arm, force)));
}
