// What few contacts do to each other: W, by the traces of their impulses in the trees.

#include <string.h>

#include "math/pairs.h"
#include "steppers/small_steps/few_contacts.h"
#include "sweeps/tree_packs.h"

void tpFreeBody_Answer(const tpSweepBody* mass, const double* p, double* v) {
    const double* I = mass->inverseInertia;
    for (int k = 0; k < 3; ++k) {
        v[k] = mass->inverseMass * p[k];
    }
    v[3] = I[0] * p[3] + I[3] * p[4] + I[4] * p[5];
    v[4] = I[3] * p[3] + I[1] * p[4] + I[5] * p[5];
    v[5] = I[4] * p[3] + I[5] * p[4] + I[2] * p[5];
}

static void trace(const tpSmallStep* step, tpContactEnd* end, int rows) {
    tpArticulation* owner = end->owner;
    if (owner != NULL && owner->isTree) {
        tpJointTree_Trace(&owner->tree, end->node, end->jacobian, rows, end->traces, end->answers);
        return;
    }
    for (int i = 0; end->isMoved && i < tp_traceWidth; ++i) {
        double own[6] = { 0.0 }, *answer = owner != NULL ? owner->shifts : own;
        for (int k = 0; k < 6; ++k) {
            end->traces[k][i] = i < rows ? end->jacobian[i][k] : 0.0;
        }
        memset(answer, 0, sizeof(double) * (size_t)end->answerLength);
        if (i < rows && owner != NULL) {
            memcpy(answer + 6 * end->node, end->jacobian[i], sizeof(own));
            tpMechanism_Answer(&owner->solver, answer);
        } else if (i < rows) {
            tpFreeBody_Answer(&step->masses[end->number], end->jacobian[i], answer);
        }
        for (int k = 0; k < end->answerLength; ++k) {
            end->answers[k][i] = answer[k];
        }
    }
}

// How many places two traces share, and where the last of these end.
static int findShared(const tpContactEnd* a, const tpContactEnd* b, int* ofAnswer) {
    if (a->owner != b->owner || (a->owner == NULL && a->number != b->number)) {
        return 0;
    }
    if (a->owner != NULL && a->owner->isTree) {
        int shared = tpJointTree_SharedLength(&a->owner->tree, a->node, a->length, b->node);
        *ofAnswer = b->answerLength - shared;
        return shared;
    }
    *ofAnswer = a->owner != NULL ? 6 * a->node : 0;
    return 6;
}

// Adds the velocities at one end of a contact under the impulses of another contact there.
static void addShared(const tpTreeKernels* kernels, const tpContactEnd* a, const tpContactEnd* b,
                      double sum[tp_traceWidth][tp_traceWidth]) {
    int first = 0, shared = findShared(a, b, &first);
    if (shared > 0) {
        kernels->multiply(shared, a->traces + (a->length - shared), b->answers + first, sum);
    }
}

static void writeBlock(tpFewContacts* few, const tpTreeKernels* kernels, const tpFewContact* a,
                       const tpFewContact* b) {
    double sum[tp_traceWidth][tp_traceWidth];
    for (int i = 0; i < tp_traceWidth; ++i) {
        for (int j = 0; j < tp_traceWidth; j += 2) {
            const tpPair none = { 0.0, 0.0 };
            memcpy(&sum[i][j], &none, sizeof(none));
        }
    }
    for (int i = 0; i < 4; ++i) {
        const tpContactEnd *mine = &a->ends[i / 2], *its = &b->ends[i % 2];
        if (mine->isMoved && its->isMoved) {
            addShared(kernels, mine, its, sum);
        }
    }
    size_t n = (size_t)few->rowCount;
    double* restrict own = few->W + (size_t)a->row * n + (size_t)b->row, * restrict other =
                                                                             few->W +
                                                                             (size_t)b->row * n +
                                                                             (size_t)a->row;
    for (int i = 0; i < a->rows; ++i) {
        for (int j = 0; j < b->rows; ++j) {
            own[(size_t)i * n + (size_t)j] = sum[i][j];
            other[(size_t)j * n + (size_t)i] = sum[i][j];
        }
    }
}

// Of the factors of all its mechanisms.
static int stampOf(const tpFewContacts* few) {
    int stamp = 0;
    for (int m = 0; m < few->ownerCount; ++m) {
        stamp += few->owners[m]->factorisations;
    }
    return stamp;
}

bool tpFewContacts_IsBuilt(const tpFewContacts* few) {
    return few->isBuilt && few->stamp == stampOf(few);
}

void tpFewContacts_Build(const tpSmallStep* step, tpFewContacts* few) {
    if (tpFewContacts_IsBuilt(few)) {
        return;
    }
    for (int c = 0; c < few->contactCount; ++c) {
        for (int side = 0; side < 2; ++side) {
            trace(step, &few->contacts[c].ends[side], few->contacts[c].rows);
        }
    }
    const tpTreeKernels* kernels = tpGetTreeKernels(tpChooseWidth(tp_treePackWidth));
    for (int c = 0; c < few->contactCount; ++c) {
        for (int other = 0; other <= c; ++other) {
            writeBlock(few, kernels, &few->contacts[c], &few->contacts[other]);
        }
    }
    memcpy(few->solved, few->r, sizeof(double) * (size_t)few->rowCount);
    tpFrictionStates_Read(&few->states);
    few->isBuilt = true;
    few->stamp = stampOf(few);
}

double tpFewContacts_Energy(const tpSmallStep* step, const tpFewContacts* few) {
    double twice = 0.0;
    for (int m = 0; m < few->ownerCount; ++m) {
        const tpArticulation* owner = few->owners[m];
        for (int i = 0; i < owner->solver.nodeCount; ++i) {
            double momentum[6] = { 0.0 };
            const double* v = &owner->last[6 * i];
            addMomentum(&owner->masses[i], v, momentum);
            twice += tpDotNumbers(6, v, momentum);
        }
    }
    for (int c = 0; c < few->contactCount; ++c) {
        for (int side = 0; side < 2; ++side) {
            const tpContactEnd* end = &few->contacts[c].ends[side];
            if (end->isMoved && end->owner == NULL) {
                twice += tpLengthSquared(step->velocities[end->number].linear) /
                         step->masses[end->number].inverseMass;
            }
        }
    }
    return 0.5 * twice;
}

double tpFewContacts_BiasEnergy(const tpFewContacts* few) {
    double sum = 0.0;
    for (int c = 0; c < few->contactCount; ++c) {
        const tpFewContact* contact = &few->contacts[c];
        double bias = fmin(contact->bias, 0.0);
        sum += contact->ease > 0.0 ? bias * bias / (8.0 * contact->ease) : 0.0;
    }
    return sum;
}
