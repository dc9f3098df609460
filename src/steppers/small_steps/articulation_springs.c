// Springs of mechanisms in a step: by which length they pull. README.md, "Springs".

#include <string.h>

#include "steppers/small_steps/articulation_tree.h"

double tpArticulation_SpringLag(double square) {
    double most = 4.0 * square * square;
    return !(most > 0.0) ? 1.0 : most < 1.0 ? most / (1.0 + most) : 1.0 / (1.0 + 1.0 / most);
}

double tpArticulation_SpringEnding(double lag) {
    return fmax(0.0, 0.5 - lag);
}

// What row k pulls with at the end of the step, as an impulse.
static double pullOf(const tpArticulation* articulation, int k) {
    const tpArticulatedRow* law = &articulation->laws[k];
    if (articulation->isTree) {
        // r = -stiffness (u + bias), and the bias has wayFactor of the way since it was written.
        const tpAxisPlace* place = &articulation->axisPlaces[articulation->tree.rows[k].axis];
        double way = place->value - law->value;
        return -law->ending * articulation->solver.answers[k].stiffness *
               (law->startBias + law->wayFactor * way);
    }
    return -law->ending * articulation->ends.bias[law->row] /
           articulation->ends.compliance[law->row];
}

// impulses += r J' of a row. The line between the anchors of a spring turns without its bodies: it
// is taken where they are now. Other directions are those of the factors, as in a tree.
static void addPull(const tpArticulation* articulation, int k, double r, double* impulses) {
    const tpRows* ends = &articulation->ends;
    const tpMechanismRow* row = &articulation->solver.rows[k];
    const tpArticulatedRow* law = &articulation->laws[k];
    int count = law->isSpan ? ends->componentCount : 6;
    size_t place = (size_t)law->row * (size_t)count;
    const double* on[2] = { law->isSpan ? ends->jacobianA + place : row->onA,
                            law->isSpan ? ends->jacobianB + place : row->onB };
    const int32_t nodes[2] = { row->nodeA, row->nodeB };
    for (int side = 0; side < 2; ++side) {
        for (int c = 0; nodes[side] >= 0 && c < count; ++c) {
            int component = count == 3 && c == 2 ? 5 : c; // planar: x, y and the turn about z
            impulses[6 * nodes[side] + component] += r * on[side][c];
        }
    }
}

void tpArticulation_EndSprings(const tpSmallStep* step, tpArticulation* articulation) {
    double *errors = articulation->errors, *shifts = articulation->shifts;
    int rowCount = articulation->solver.rowCount;
    bool isAny = false;
    memset(shifts, 0, sizeof(double) * 6 * (size_t)articulation->solver.nodeCount);
    for (int k = 0; k < rowCount; ++k) {
        const tpRowAnswer* answer = &articulation->solver.answers[k];
        bool isKicked = articulation->laws[k].ending > 0.0 && answer->state == tp_withinRow;
        double r = isKicked ? pullOf(articulation, k) : 0.0;
        errors[k] = isKicked ? -r / answer->stiffness : 0.0;
        isAny = isAny || r != 0.0;
        if (isKicked && !articulation->isTree) {
            addPull(articulation, k, r, shifts);
        }
    }
    if (!isAny) {
        return;
    }
    if (articulation->isTree) {
        memset(articulation->jumps, 0, sizeof(double) * 6 * (size_t)articulation->tree.nodeCount);
        tpJointTree_Correct(&articulation->tree, articulation->jumps, errors, shifts);
    } else {
        tpMechanism_Answer(&articulation->solver, shifts);
    }
    tpArticulation_Feed(step, articulation, errors, 1.0, 1.0);
}
