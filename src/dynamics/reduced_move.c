// Velocities of trees under their joints alone, and what these do to the rows.

#include <string.h>

#include "dynamics/reduced.h"

static void setMomentum(const tpJointNode* node, const tpVelocity* v, double* p) {
    const double* I = node->inertia;
    tpVec3 w = v->angular;
    tpWriteSix(p, tpScale(node->mass, v->linear),
               tpMakeVec3(I[0] * w.x + I[3] * w.y + I[4] * w.z,
                          I[3] * w.x + I[1] * w.y + I[5] * w.z,
                          I[4] * w.x + I[5] * w.y + I[2] * w.z));
}

// The velocity of what a root is joined to, at the root's centre.
static void setBase(const tpReduced* reduced, const tpReducedLink* root, double* base) {
    memset(base, 0, sizeof(double) * 6);
    if (root->joint >= 0 && root->other >= 0) {
        const tpVelocity* v = &reduced->free[root->other];
        tpWriteSix(base, tpAdd(v->linear, tpCross(v->angular, root->way)), v->angular);
    }
}

void tpReduced_ReadBlock(const tpRows* rows, int block, const double* velocities, double* u) {
    const int bodies[2] = { rows->bodyA[block], rows->bodyB[block] };
    size_t first = (size_t)rows->firstRows[block];
    for (int side = 0; side < 2; ++side) {
        const double* J = (side == 0 ? rows->jacobianA : rows->jacobianB) + 6 * first;
        for (int k = 0; bodies[side] >= 0 && k < rows->dimensions[block]; ++k) {
            u[k] +=
                tpDotSix(J + (size_t)6 * (size_t)k, velocities + (size_t)6 * (size_t)bodies[side]);
        }
    }
    for (int k = 0; rows->termCount > 0 && k < rows->dimensions[block]; ++k) {
        for (int i = 0; i < rows->termCounts[first + (size_t)k]; ++i) {
            const tpRowTerm* term = &rows->terms[rows->firstTerms[first + (size_t)k] + i];
            u[k] += term->isDynamic ? tpDotSix(term->jacobian, velocities + 6 * (size_t)term->body)
                                    : 0.0;
        }
    }
}

// Velocities with what drives do now; q is what it is without trees.
static void moveTrees(tpReduced* reduced, tpRows* rows) {
    double* change = rows->changeRoom;
    memset(change, 0, sizeof(double) * 6 * (size_t)rows->bodyCount);
    for (int k = 0; k < reduced->treeCount; ++k) {
        tpJointTree* tree = &reduced->trees[k];
        int first = reduced->firstLinks[k], count = tree->nodeCount;
        size_t place = (size_t)6 * (size_t)first;
        for (int i = 0; i < count; ++i) {
            setMomentum(&tree->nodes[i], &reduced->free[reduced->links[first + i].body],
                        reduced->momenta + place + 6 * i);
        }
        tpJointTree_Factorise(tree);
        setBase(reduced, &reduced->links[first + count - 1], tree->base);
        if (tree->isFree) {
            memset(reduced->jumps + place + (size_t)6 * (size_t)(count - 1), 0, 6 * sizeof(double));
        }
        tpJointTree_SolveJumping(tree, reduced->momenta + place, reduced->jumps + place,
                                 reduced->velocities + place);
    }
    for (int i = 0; i < reduced->linkCount; ++i) {
        int body = reduced->links[i].body;
        double free[6], *own = change + (size_t)6 * (size_t)body;
        tpWriteSix(free, reduced->free[body].linear, reduced->free[body].angular);
        for (int k = 0; k < 6; ++k) {
            own[k] = reduced->velocities[6 * i + k] - free[k];
        }
    }
    for (int b = 0; b < rows->blockCount; ++b) {
        tpReduced_ReadBlock(rows, b, change, rows->q + rows->firstRows[b]);
    }
}

void tpReduced_MoveFreely(tpReduced* reduced, tpRows* rows) {
    reduced->bareQ = NULL;
    if (reduced->driveRoom > 0) {
        reduced->bareQ = TP_SCRATCH(&reduced->system->arena, double, rows->rowCount);
        tpReduced_BeginDrives(reduced, rows);
    }
    if (reduced->bareQ != NULL) {
        memcpy(reduced->bareQ, rows->q, sizeof(double) * (size_t)rows->rowCount);
    }
    moveTrees(reduced, rows);
}

void tpReduced_MoveAgain(tpReduced* reduced, tpRows* rows) {
    memcpy(rows->q, reduced->bareQ, sizeof(double) * (size_t)rows->rowCount);
    moveTrees(reduced, rows);
}

bool tpReduced_ReadFreeQ(tpReduced* reduced, tpRows* rows, double* q) {
    size_t bytes = sizeof(double) * (size_t)rows->rowCount;
    memcpy(q, rows->q, bytes);
    if (reduced->driveCount == 0) {
        return true;
    }
    size_t changes = sizeof(double) * 6 * (size_t)rows->bodyCount;
    double* kept = tpArena_Get(&reduced->system->arena, bytes);
    double* change = tpArena_Get(&reduced->system->arena, changes);
    if (kept == NULL || change == NULL) {
        return false;
    }
    memcpy(kept, rows->q, bytes);
    memcpy(change, rows->changeRoom, changes);
    tpReduced_FreeDrives(reduced, rows);
    tpReduced_MoveAgain(reduced, rows);
    memcpy(q, rows->q, bytes);
    memcpy(rows->q, kept, bytes);
    memcpy(rows->changeRoom, change, changes);
    return true;
}
