// What the joints of a tree carry, and what bodies are off them.

#include <string.h>

#include "steppers/small_steps/articulation_tree.h"

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
static void addUpMomenta(const tpSmallStep* step, tpArticulation* articulation) {
    double count = articulation->finished;
    for (int i = 0; i < articulation->tree.nodeCount; ++i) {
        int number = numberOf(articulation, i);
        const tpVelocity *start = &step->starts[number], *kick = &step->kicks[number];
        tpVec3 more = kick->angular;
        if (articulation->isTumbling) {
            more = tpAdd(more, articulation->flights[i].change);
        }
        tpVec3 v = tpMulAdd(start->linear, count, kick->linear);
        tpVec3 w = tpMulAdd(start->angular, count, more);
        tpJointNode_Momentum(&articulation->tree.nodes[i], v, w, &articulation->given[6 * i],
                             &articulation->momenta[6 * i]);
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

void tpTree_AddReactions(const tpSmallStep* step, tpArticulation* articulation) {
    const tpJointTree* tree = &articulation->tree;
    double *impulses = articulation->shifts, count = articulation->finished;
    if (articulation->finished > 1) {
        addUpMomenta(step, articulation);
    }
    tpJointTree_Reactions(tree, articulation->momenta, articulation->last, impulses);
    articulation->swing = 0.0;
    for (int i = 0; i < tree->nodeCount; ++i) {
        if (articulation->links[i] < 0) {
            continue;
        }
        const double* f = &impulses[6 * i];
        const tpJointNode* node = &tree->nodes[i];
        addReaction(articulation, i, f);
        double ease = articulation->flights[i].ease;
        if (node->parent >= 0) {
            double other = articulation->flights[node->parent].ease;
            ease = other > ease ? other : ease;
        }
        double force = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
        double swing = force / count * step->substepTime * ease;
        articulation->swing = swing > articulation->swing ? swing : articulation->swing;
    }
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
    double* impulses = articulation->jumps;
    tpJointTree_Reactions(tree, NULL, articulation->shifts, impulses);
    for (int n = 0; n < tpJointTree_NearCount(tree); ++n) {
        int k = tpJointTree_NearRow(tree, n);
        const tpAxisRow* row = &tree->rows[k];
        double stiffness = row->isIn ? tree->answers[k].stiffness : 0.0, way = 0.0;
        if (stiffness > 0.0) {
            way = row->sign *
                      wayOf(&tree->axes[row->axis], errors != NULL, &impulses[6 * row->node]) +
                  (errors != NULL ? errors[k] : 0.0);
        }
        articulation->lateErrors[k] = -rate * stiffness * way;
    }
    for (int i = 0; i < tree->nodeCount; ++i) {
        for (int k = tree->nodes[i].axis; k < tree->nodes[i].axisEnd; ++k) {
            tpJointAxis* axis = &tree->axes[k];
            if (axis->rotor > 0.0) {
                axis->rotorSpeed += rate * wayOf(axis, errors != NULL, &impulses[6 * i]);
            }
        }
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

void tpTree_ReportReaction(const tpSmallStep* step, const tpArticulation* articulation, int i) {
    const double* sum = &articulation->reactions[6 * i];
    double rate = 1.0 / step->h;
    tpWrench onB = { tpMakeVec3(rate * sum[0], rate * sum[1], rate * sum[2]),
                     tpMakeVec3(rate * sum[3], rate * sum[4], rate * sum[5]) };
    tpJoint_AddReaction(step->system, &step->system->joints.data[articulation->links[i]], onB);
}
