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

// Solves ------------------------------------------------------------------------------------------

static void solve(const tpSmallStep* step, tpArticulation* articulation) {
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        double base[6], *momentum = &articulation->momenta[6 * i];
        readVelocity(&step->bases[numberOf(step, articulation, i)], base);
        memcpy(momentum, &articulation->pushes[6 * i], 6 * sizeof(double));
        addMomentum(&articulation->masses[i], base, momentum);
    }
    articulation->factorisations +=
        articulation->isTree ? tpJointTree_SolveBounded(&articulation->tree, articulation->momenta,
                                                        articulation->last)
                             : tpMechanism_SolveBounded(&articulation->solver,
                                                        articulation->momenta, articulation->last);
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        tpVelocity* line = &step->velocities[numberOf(step, articulation, i)];
        writeVelocity(&articulation->last[6 * i], &articulation->masses[i], line);
        readVelocity(line, &articulation->last[6 * i]);
    }
}

// What contacts have changed since the last solve goes into their momenta. Whether there was
// anything.
static bool absorb(const tpSmallStep* step, tpArticulation* articulation) {
    bool isChanged = false;
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        double now[6];
        readVelocity(&step->velocities[numberOf(step, articulation, i)], now);
        if (memcmp(now, &articulation->last[6 * i], sizeof(now)) != 0) {
            for (int k = 0; k < 6; ++k) {
                now[k] -= articulation->last[6 * i + k];
            }
            addMomentum(&articulation->felt[i], now, &articulation->pushes[6 * i]);
            isChanged = true;
        }
    }
    return isChanged;
}

// Forces of free flight and the biases of rows.
static void beginSubstep(const tpSmallStep* step, tpArticulation* articulation) {
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        tpVec3* base = &step->bases[numberOf(step, articulation, i)].angular;
        *base = tpAdd(*base, articulation->flights[i].change);
    }
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        tpRowAnswer* row = &articulation->solver.answers[k];
        const tpArticulatedRow* law = &articulation->laws[k];
        double bias = law->startBias + law->wayFactor * law->way;
        bias = law->role == tp_limitRole && bias < 0.0 ? 0.0 : bias;
        row->bias = bias + law->told;
    }
}

// Bodies are about to move.
static void followWay(const tpSmallStep* step, tpArticulation* articulation) {
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        double velocity = articulation->solver.answers[k].velocity + articulation->laws[k].told;
        articulation->laws[k].way += step->substepTime * velocity;
    }
}

// The substep is over: what its rows did.
static void endSubstep(const tpSmallStep* step, tpArticulation* articulation) {
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        tpRowAnswer* row = &articulation->solver.answers[k];
        tpArticulatedRow* law = &articulation->laws[k];
        double velocity = row->velocity + law->told;
        law->total += row->impulse;
        articulation->work -= row->impulse * law->told;
        switch (law->role) {
        case tp_servoRole:
        case tp_motorRole:
        case tp_frictionRole:
        case tp_damperRole:
            articulation->work += row->impulse * velocity;
            break;
        case tp_springRole:
            articulation->work -= law->damping * velocity * velocity;
            break;
        case tp_rotorRole:
        case tp_turnRotorRole:
            // The rotor goes on with the speed that the impulse has left it.
            law->startBias += row->impulse / row->stiffness;
            break;
        default:
            break;
        }
        row->offset = law->isRigid && row->state == tp_withinRow ? row->impulse : 0.0;
    }
    if (articulation->isTree) {
        tpTree_AddReactions(step, articulation);
    }
    articulation->finished += 1;
    articulation->passed += 1;
}

// Visits of blocks --------------------------------------------------------------------------------

void tpSmallStep_OpenJoints(tpSmallStep* step, int block) {
    tpArticulationSpan span = tpArticulationsOf(step, block);
    for (tpArticulation* articulation = span.begin; articulation < span.end; ++articulation) {
        for (int i = 0; i < articulation->solver.nodeCount; ++i) {
            articulation->own[i] = step->masses[numberOf(step, articulation, i)];
        }
        if (articulation->isAwake) {
            tpArticulation_Open(step, articulation, false);
            tpArticulation_Weigh(step, articulation);
        }
    }
}

void tpSmallStep_BeginJoints(tpSmallStep* step, int block, bool isFirst) {
    tpArticulationSpan span = tpArticulationsOf(step, block);
    for (tpArticulation* articulation = span.begin; articulation < span.end; ++articulation) {
        if (!articulation->isAwake) {
            continue;
        }
        for (int i = 0; isFirst && i < articulation->solver.nodeCount; ++i) {
            // The impulses that contacts start with.
            int number = numberOf(step, articulation, i);
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
        for (int i = 0; !isFirst && i < articulation->solver.nodeCount; ++i) {
            readVelocity(&step->velocities[numberOf(step, articulation, i)],
                         &articulation->last[6 * i]);
        }
        articulation->isDue = !isFirst;
    }
}

void tpSmallStep_MoveJoints(tpSmallStep* step, int block) {
    tpArticulationSpan span = tpArticulationsOf(step, block);
    for (tpArticulation* articulation = span.begin; articulation < span.end; ++articulation) {
        if (articulation->isAwake) {
            if (absorb(step, articulation) || articulation->isDue) {
                solve(step, articulation);
            }
            articulation->isDue = false;
            followWay(step, articulation);
        }
    }
}

void tpSmallStep_SettleJoints(tpSmallStep* step, int block) {
    tpArticulationSpan span = tpArticulationsOf(step, block);
    for (tpArticulation* articulation = span.begin; articulation < span.end; ++articulation) {
        if (articulation->isAwake && absorb(step, articulation)) {
            solve(step, articulation);
        }
    }
}

void tpSmallStep_EndJoints(tpSmallStep* step, int block, bool isLast) {
    tpArticulationSpan span = tpArticulationsOf(step, block);
    for (tpArticulation* articulation = span.begin; articulation < span.end; ++articulation) {
        if (!articulation->isAwake) {
            continue;
        }
        endSubstep(step, articulation);
        if (isLast) {
            tpArticulation_Report(step, articulation);
            tpArticulation_Correct(step, articulation);
            tpArticulation_MeasureMoves(step, articulation, true);
            if (articulation->isTree) {
                tpTree_ReportReactions(step, articulation);
            }
        } else if (articulation->isFast) {
            tpArticulation_Reopen(step, articulation);
        }
    }
}
