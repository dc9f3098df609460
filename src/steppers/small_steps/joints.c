// Joints in substeps: each mechanism is solved directly, between the sweeps over contacts.
//
// Rows of joints (dynamics/joints.h) are written once per step, for a substep's duration, and their
// matrix is factorised once; a substep then costs one or two solves (sweeps/mechanism.h). Contacts
// know a body's own mass only: what a sweep changed is the momentum that contacts gave, p += M (v -
// v before), and the solve finds what the whole mechanism makes of all of it.
//
// Velocities are led to what rows ask for where the step began. Along the way directions turn:
// positions are off at the end by a part of second order. It is taken back by the factors that are
// there, as a displacement and as the velocity that belongs to it; the next step's rows then hold
// the velocities at the new place. That is RATTLE [Andersen83]: a pendulum keeps its energy. If a
// body turns fast for the step the same is done after every substep.

#include "steppers/small_steps/joints.h"

#include <string.h>

#include "steppers/small_steps/articulation_tree.h"
#include "steppers/small_steps/few_contacts.h"
#include "steppers/small_steps/flights.h"
#include "steppers/small_steps/hinges.h"
#include "steppers/small_steps/plain_laws.h"
#include "sweeps/tree_packs.h"

// Solves ------------------------------------------------------------------------------------------

// Rigid rows of mechanisms that are no trees are solved for again until a step gains less than this
// of error, of the smallest body's size.
static const double noSlip = 1e-9;
enum { mostSolves = 6 };

// Momenta of bases and what contacts gave.
static void addUp(const tpSmallStep* step, const tpArticulation* articulation) {
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        double base[6], *momentum = &articulation->momenta[6 * i];
        readVelocity(&step->bases[numberOf(articulation, i)], base);
        memcpy(momentum, &articulation->pushes[6 * i], 6 * sizeof(double));
        addMomentum(&articulation->masses[i], base, momentum);
    }
}

// The same of a tree that is inside: a substep begins with the velocities that the last one left.
static void addUpInside(const tpSmallStep* step, const tpArticulation* articulation) {
    for (int p = 0; p < tpFlights_PackCount(articulation->tree.nodeCount); ++p) {
        int first = 6 * tp_flightPackWidth * p;
        step->joints->flights->addUp(&articulation->flightPacks[p], &articulation->last[first],
                                     &articulation->pushes[first], articulation->isTumbling,
                                     &articulation->bases[first], &articulation->momenta[first]);
    }
}

void tpArticulation_GoInside(const tpSmallStep* step, const tpArticulation* articulation) {
    for (int i = 0; i < articulation->tree.nodeCount; ++i) {
        int number = numberOf(articulation, i);
        readVelocity(&step->velocities[number], &articulation->last[6 * i]);
        readVelocity(&step->moved[number], &articulation->moved[6 * i]);
    }
    memcpy(articulation->begun, articulation->last,
           sizeof(double) * 6 * (size_t)articulation->tree.nodeCount);
}

void tpArticulation_ComeOut(const tpSmallStep* step, const tpArticulation* articulation) {
    for (int i = 0; i < articulation->tree.nodeCount; ++i) {
        int number = numberOf(articulation, i);
        const double *base = &articulation->bases[6 * i], *moved = &articulation->moved[6 * i];
        step->bases[number].linear = tpMakeVec3(base[0], base[1], base[2]);
        step->bases[number].angular = tpMakeVec3(base[3], base[4], base[5]);
        step->moved[number].linear = tpMakeVec3(moved[0], moved[1], moved[2]);
        step->moved[number].angular = tpMakeVec3(moved[3], moved[4], moved[5]);
        step->isPushed[number] = true;
    }
    tpArticulation_HandOut(step, articulation);
}

// The same of a tree, whose bodies are free.
static void addUpTree(const tpSmallStep* step, const tpArticulation* articulation) {
    if (articulation->isInside) {
        addUpInside(step, articulation);
        return;
    }
    for (int i = 0; i < articulation->tree.nodeCount; ++i) {
        const tpVelocity* base = &step->bases[numberOf(articulation, i)];
        tpJointNode_Momentum(&articulation->tree.nodes[i], base->linear, base->angular,
                             &articulation->pushes[6 * i], &articulation->momenta[6 * i]);
    }
}

void tpArticulation_HandOut(const tpSmallStep* step, const tpArticulation* articulation) {
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        tpVelocity* line = &step->velocities[numberOf(articulation, i)];
        double* v = &articulation->last[6 * i];
        if (!articulation->isTree) {
            writeVelocity(v, &articulation->masses[i], line);
            readVelocity(line, v);
        } else {
            line->linear = tpMakeVec3(v[0], v[1], v[2]);
            line->angular = tpMakeVec3(v[3], v[4], v[5]);
        }
    }
}

// The momenta of a tree, followed to its axes; few_contacts.c finds impulses and velocities.
static void beginSolve(const tpSmallStep* step, tpArticulation* articulation) {
    addUpTree(step, articulation);
    tpJointTree_Begin(&articulation->tree, articulation->momenta);
}

// Rigid rows go on from the impulses that they have found: what a finite stiffness leaves of their
// velocities falls by its ratio to the mass with each solve. Returns the largest error of position
// that the step would gain by what is left.
static double keepImpulses(const tpSmallStep* step, const tpArticulation* articulation) {
    double most = 0.0;
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        tpRowAnswer* row = &articulation->solver.answers[k];
        if (articulation->laws[k].isRigid && row->state == tp_withinRow) {
            double weight = tpArticulation_Weight(step, articulation, k);
            most = fmax(most, weight * fabs(row->velocity + row->bias));
            row->offset = row->impulse;
        }
    }
    return step->h * most;
}

// Velocities that leave rigid rows an error below noSlip: forces against which a row holds for the
// first time need more than one solve.
static void solveRows(const tpSmallStep* step, tpArticulation* articulation) {
    addUp(step, articulation);
    double slip = INFINITY;
    for (int solves = 1;; ++solves) {
        articulation->factorisations += tpMechanism_SolveBounded(
            &articulation->solver, articulation->momenta, articulation->last);
        double last = slip;
        slip = keepImpulses(step, articulation);
        if (solves == mostSolves || slip < noSlip * articulation->size || !(slip < 0.5 * last)) {
            return;
        }
    }
}

static void solve(const tpSmallStep* step, tpArticulation* articulation) {
    if (articulation->isTree) {
        addUpTree(step, articulation);
        articulation->factorisations += tpJointTree_SolveBounded(
            &articulation->tree, articulation->momenta, articulation->last);
    } else {
        solveRows(step, articulation);
    }
    if (!articulation->isInside) {
        tpArticulation_HandOut(step, articulation);
    }
}

void tpArticulation_SolveAgain(const tpSmallStep* step, tpArticulation* articulation) {
    if (!articulation->isTree) {
        solve(step, articulation);
        return;
    }
    articulation->factorisations += tpJointTree_PushBounded(
        &articulation->tree, articulation->momenta, articulation->changes, articulation->last);
    tpArticulation_HandOut(step, articulation);
}

// What contacts have changed since the last solve goes into their momenta. Whether there was
// anything.
static bool absorb(const tpSmallStep* step, tpArticulation* articulation) {
    bool isChanged = false;
    for (int t = 0; t < articulation->touchingCount; ++t) {
        int i = articulation->touching[t];
        double now[6], *change = &articulation->changes[6 * i];
        readVelocity(&step->velocities[numberOf(articulation, i)], now);
        memset(change, 0, sizeof(now));
        if (memcmp(now, &articulation->last[6 * i], sizeof(now)) == 0) {
            continue;
        }
        for (int k = 0; k < 6; ++k) {
            now[k] -= articulation->last[6 * i + k];
        }
        addMomentum(&articulation->felt[i], now, change);
        for (int k = 0; k < 6; ++k) {
            articulation->pushes[6 * i + k] += change[k];
            articulation->momenta[6 * i + k] += change[k];
        }
        isChanged = true;
    }
    return isChanged;
}

// Forces of free flight and the biases of rows.
static void beginSubstep(const tpSmallStep* step, tpArticulation* articulation) {
    bool addsFlights = articulation->isTumbling && !articulation->isInside;
    for (int i = 0; addsFlights && i < articulation->solver.nodeCount; ++i) {
        tpVec3* base = &step->bases[numberOf(articulation, i)].angular;
        *base = tpAdd(*base, articulation->flights[i].change);
    }
    bool endsSprings = articulation->passed == 0 && tpArticulation_EndsSprings(articulation);
    if (articulation->isPlain) {
        tpPlainLaws_Begin(articulation->plain, endsSprings);
        return;
    }
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        tpRowAnswer* row = &articulation->solver.answers[k];
        const tpArticulatedRow* law = &articulation->laws[k];
        double bias = law->startBias + law->wayFactor * law->way;
        if (endsSprings) {
            bias *= 1.0 - law->ending;
        }
        bias = law->role == tp_limitRole && bias < 0.0 ? 0.0 : bias;
        row->bias = bias + law->told;
    }
}

// Bodies are about to move.
static void followWay(const tpSmallStep* step, tpArticulation* articulation) {
    if (articulation->isInside) {
        step->joints->flights->follow(6 * articulation->tree.nodeCount, step->substepTime,
                                      articulation->last, articulation->moved);
    }
    if (articulation->isPlain) {
        tpPlainLaws_Follow(articulation, step->substepTime);
        return;
    }
    if (articulation->isTree) {
        for (int k = 0; k < articulation->tree.rowCount; ++k) {
            const tpAxisRow* row = &articulation->tree.rows[k];
            double velocity = row->sign * articulation->tree.axes[row->axis].rate;
            articulation->laws[k].way += step->substepTime * velocity;
        }
        return;
    }
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        double velocity = articulation->solver.answers[k].velocity + articulation->laws[k].told;
        articulation->laws[k].way += step->substepTime * velocity;
    }
}

// What the rows did in the substep that is over.
static void endRows(tpArticulation* articulation) {
    bool isTree = articulation->isTree;
    for (int n = 0; n < tpArticulation_NearCount(articulation); ++n) {
        int k = tpArticulation_NearRow(articulation, n);
        if (isTree) {
            tpJointTree_ReadRow(&articulation->tree, k);
        }
        tpRowAnswer* row = &articulation->solver.answers[k];
        tpArticulatedRow* law = &articulation->laws[k];
        law->total += row->impulse;
        tpArticulation_BookWork(articulation, k, row->impulse);
        if (law->role == tp_springRole) {
            double velocity = row->velocity + law->told;
            articulation->work -= law->damping * velocity * velocity;
        } else if (!isTree && tpRowRole_IsRotor(law->role)) {
            // The rotor goes on with the speed that the impulse has left it.
            law->startBias += row->impulse / row->stiffness;
        }
        row->offset = law->isRigid && row->state == tp_withinRow ? row->impulse : 0.0;
    }
}

// The substep is over.
static void endSubstep(const tpSmallStep* step, tpArticulation* articulation, bool isLast) {
    if (articulation->isTree) {
        tpJointTree_TurnRotors(&articulation->tree);
    }
    if (articulation->isPlain) {
        tpPlainLaws_End(articulation);
    } else {
        endRows(articulation);
    }
    articulation->finished += 1;
    articulation->passed += 1;
    for (int t = 0; t < articulation->touchingCount; ++t) {
        int first = 6 * articulation->touching[t];
        for (int k = first; k < first + 6; ++k) {
            articulation->given[k] += articulation->pushes[k];
        }
    }
    if (articulation->isTree) {
        if (tpArticulation_Closes(articulation, isLast)) {
            if (articulation->isPlain) {
                tpPlainLaws_Return(articulation);
            }
            tpTree_AddReactions(step, articulation);
        }
    }
}

// Visits of blocks --------------------------------------------------------------------------------

void tpSmallStep_OpenJoints(tpSmallStep* step, int block) {
    tpArticulationSpan span = tpArticulationsOf(step, block);
    for (tpArticulation* articulation = span.begin; articulation < span.end; ++articulation) {
        for (int i = 0; i < articulation->solver.nodeCount; ++i) {
            articulation->own[i] = step->masses[numberOf(articulation, i)];
        }
        if (articulation->isAwake) {
            tpFlights_Follow(step, articulation);
            tpArticulation_Open(step, articulation, false);
            tpArticulation_Weigh(step, articulation);
        }
        if (articulation->isInside) {
            tpArticulation_GoInside(step, articulation);
            memset(articulation->moved, 0,
                   sizeof(double) * 6 * (size_t)articulation->tree.nodeCount);
        }
    }
}

void tpSmallStep_BeginJoints(tpSmallStep* step, int block, bool isFirst) {
    tpArticulationSpan span = tpArticulationsOf(step, block);
    if (isFirst) {
        tpFewContacts_Open(step, block);
    }
    tpFewContacts_Begin(step, block);
    for (tpArticulation* articulation = span.begin; articulation < span.end; ++articulation) {
        if (!articulation->isAwake) {
            continue;
        }
        if (articulation->hasFewContacts) {
            beginSubstep(step, articulation);
            articulation->isDue = true;
            continue;
        }
        for (int t = 0; isFirst && t < articulation->touchingCount; ++t) {
            // The impulses that contacts start with.
            int i = articulation->touching[t];
            int number = numberOf(articulation, i);
            double given[6], base[6];
            readVelocity(&step->velocities[number], given);
            readVelocity(&step->bases[number], base);
            for (int k = 0; k < 6; ++k) {
                given[k] -= base[k];
            }
            addMomentum(&articulation->felt[i], given, &articulation->pushes[6 * i]);
        }
        beginSubstep(step, articulation);
        if (isFirst) {
            solve(step, articulation);
        }
        // Later substeps begin with what rows and contacts gave in the one before: a good start for
        // the sweep.
        for (int t = 0; !isFirst && t < articulation->touchingCount; ++t) {
            int i = articulation->touching[t];
            readVelocity(&step->velocities[numberOf(articulation, i)], &articulation->last[6 * i]);
        }
        articulation->isDue = !isFirst;
    }
}

void tpSmallStep_MoveJoints(tpSmallStep* step, int block) {
    tpArticulationSpan span = tpArticulationsOf(step, block);
    for (tpArticulation* articulation = span.begin; articulation < span.end; ++articulation) {
        if (!articulation->isAwake) {
            continue;
        }
        if (articulation->hasFewContacts && articulation->isTree) {
            beginSolve(step, articulation);
            continue;
        }
        bool isChanged = !articulation->hasFewContacts && absorb(step, articulation);
        if (articulation->isDue) {
            solve(step, articulation);
        } else if (isChanged) {
            tpArticulation_SolveAgain(step, articulation);
        }
        articulation->isDue = false;
    }
    tpFewContacts_Move(step, block);
    for (tpArticulation* articulation = span.begin; articulation < span.end; ++articulation) {
        if (articulation->isAwake) {
            followWay(step, articulation);
        }
    }
}

void tpSmallStep_SettleJoints(tpSmallStep* step, int block) {
    tpArticulationSpan span = tpArticulationsOf(step, block);
    for (tpArticulation* articulation = span.begin; articulation < span.end; ++articulation) {
        if (articulation->isAwake && !articulation->hasFewContacts && absorb(step, articulation)) {
            tpArticulation_SolveAgain(step, articulation);
        }
    }
}

void tpSmallStep_EndJoints(tpSmallStep* step, int block, bool isLast) {
    tpArticulationSpan span = tpArticulationsOf(step, block);
    tpFewContacts_Settle(step, block, isLast);
    for (tpArticulation* articulation = span.begin; articulation < span.end; ++articulation) {
        if (!articulation->isAwake) {
            continue;
        }
        endSubstep(step, articulation, isLast);
        bool closes = tpArticulation_Closes(articulation, isLast);
        if (articulation->isInside && closes) {
            tpArticulation_ComeOut(step, articulation);
            articulation->isOut = isLast;
        }
        if (isLast) {
            tpArticulation_Close(step, articulation, true);
            if (articulation->isTree) {
                tpTree_EndJoints(step, articulation);
            }
        } else if (closes) {
            tpArticulation_Reopen(step, articulation);
            if (articulation->isInside) {
                tpArticulation_GoInside(step, articulation);
            }
        }
    }
    if (isLast) {
        tpFewContacts_Close(step, block);
    }
}
