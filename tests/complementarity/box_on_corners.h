// A box of mass 2 on the four corners of its face: more contacts than it needs.

#ifndef TIPPE_TESTS_COMPLEMENTARITY_BOX_ON_CORNERS_H
#define TIPPE_TESTS_COMPLEMENTARITY_BOX_ON_CORNERS_H

#include <string.h>

#include "tippe/friction.h"
#include "tippe/math.h"

enum { corners = 4, rowCount = 3 * corners };

// Or between two jaws (corners 2, 3 from above).
typedef struct Box {
    double inverseMass[36], jacobianA[rowCount * 6], jacobianB[rowCount * 6];
    double q[rowCount], mu[corners];
    int bodyA[corners], bodyB[corners];
    tpFrictionBodies bodies;
    tpFrictionProblem problem;
} Box;

static inline void makeBox(Box* box, bool hasJaws) {
    memset(box, 0, sizeof(*box));
    for (int k = 0; k < 6; ++k) {
        box->inverseMass[7 * k] = k < 3 ? 0.5 : 3.0;
    }
    for (int c = 0; c < corners; ++c) {
        double side = hasJaws && c >= 2 ? -1.0 : 1.0;
        tpVec3 arm = { c % 2 == 0 ? 0.5 : -0.5, hasJaws ? 0.0 : c < 2 ? 0.5 : -0.5, -0.5 * side };
        tpVec3 axes[3] = { { 0, 0, side }, { 1, 0, 0 }, { 0, side, 0 } };
        for (int k = 0; k < 3; ++k) {
            tpVec3 turn = tpCross(arm, axes[k]);
            double* J = box->jacobianA + (size_t)(3 * c + k) * 6;
            double row[6] = { axes[k].x, axes[k].y, axes[k].z, turn.x, turn.y, turn.z };
            memcpy(J, row, sizeof(row));
        }
        box->bodyB[c] = -1;
        box->mu[c] = 0.5;
        box->q[3 * c] = -0.1;
    }
    box->bodies = (tpFrictionBodies){ .bodyCount = 1,
                                      .componentCount = 6,
                                      .inverseMass = box->inverseMass,
                                      .bodyA = box->bodyA,
                                      .bodyB = box->bodyB,
                                      .jacobianA = box->jacobianA,
                                      .jacobianB = box->jacobianB };
    box->problem = (tpFrictionProblem){
        .blockCount = corners, .dimension = 3, .mu = box->mu, .q = box->q, .bodies = &box->bodies
    };
}

#endif
