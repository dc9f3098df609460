// Where a mechanism is after some substeps: errors of position are taken back, and joints are told
// what they carried.

#include <string.h>

#include "dynamics/locks.h"
#include "steppers/small_steps/articulation.h"

// A mechanism of which a body turns by more than this between two writings of its rows has no
// velocity of its way back: its directions mean little, rad.
static const double fastTurn = 0.7;

// Errors of position are taken back in a few rounds; ones smaller than this, of the smallest body's
// size, in one.
static const double smallError = 1e-4, mostShift = 0.25;
enum { mostCorrections = 4 };

// A limit that is passed by more than this is taken back even if nothing presses against it, as at
// the start of a scene, rad or m.
static const double passedLimit = 1e-7;

// Poses at the end of the displacements since rows were written. A tumbling body turns as in free
// flight, and beyond that by what impulses have added; its angular momentum is that of free flight
// and what they have added (see bodies.c).
static void land(const tpSmallStep* step, const tpArticulation* articulation) {
    double count = articulation->finished, tau = step->substepTime;
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        int body = articulation->bodies[i], number = numberOf(step, articulation, i);
        const tpNodeFlight* flight = &articulation->flights[i];
        tpPose* pose = &step->joints->poses[body];
        tpVec3 way = tpSub(step->moved[number].angular, flight->moved);
        pose->position = tpAdd(step->system->poses.data[body].position, step->moved[number].linear);
        if (!flight->isTumbling) {
            pose->rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(way), flight->start.rotation));
            continue;
        }
        const tpInertia* inertia = &step->system->bodies.data[body].inertia;
        tpVec3* velocity = &step->velocities[number].angular;
        tpVec3 free = tpMulAdd(flight->velocity, count, flight->change);
        tpVec3 drift = tpMulAdd(tpScale(count * tau, flight->velocity),
                                0.5 * count * (count + 1.0) * tau, flight->change);
        tpVec3 momentum =
            tpAdd(tpInertia_Momentum(inertia, flight->rotation, free),
                  tpInertia_Momentum(inertia, flight->start.rotation, tpSub(*velocity, free)));
        pose->rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(tpSub(way, drift)), flight->rotation));
        if (step->system->bodies.data[body].locked == 0) {
            *velocity = tpInertia_Velocity(inertia, pose->rotation, momentum);
        }
    }
}

// Displacements that are not small against the bodies come from rows that mean nothing any more:
// they are cut.
static void cutShifts(const tpArticulation* articulation) {
    double most = 0.0;
    for (int i = 0; i < 6 * articulation->solver.nodeCount; ++i) {
        most = fmax(most, fabs(articulation->shifts[i]) * (i % 6 < 3 ? 1.0 : articulation->size));
    }
    double limit = mostShift * articulation->size;
    for (int i = 0; most > limit && i < 6 * articulation->solver.nodeCount; ++i) {
        articulation->shifts[i] *= limit / most;
    }
}

// Adds displacements of the nodes; as velocities too, by `rate`.
static void shiftBodies(const tpSmallStep* step, const tpArticulation* articulation, double shift,
                        double rate) {
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        int number = numberOf(step, articulation, i);
        tpVelocity by;
        writeVelocity(&articulation->shifts[6 * i], &articulation->masses[i], &by);
        tpPose* pose = &step->joints->poses[articulation->bodies[i]];
        tpVelocity* v = &step->velocities[number];
        pose->position = tpMulAdd(pose->position, shift, by.linear);
        pose->rotation =
            tpNormalizeQuat(tpMulQQ(tpQuatExp(tpScale(shift, by.angular)), pose->rotation));
        v->linear = tpMulAdd(v->linear, rate, by.linear);
        v->angular = tpMulAdd(v->angular, rate, by.angular);
    }
}

// The displacements in the step that led to these poses.
void tpArticulation_MeasureMoves(const tpSmallStep* step, const tpArticulation* articulation) {
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        int body = articulation->bodies[i];
        const tpPose *from = &step->system->poses.data[body], *to = &step->joints->poses[body];
        tpVelocity* moved = &step->moved[numberOf(step, articulation, i)];
        moved->linear = tpSub(to->position, from->position);
        moved->angular = tpQuatLog(tpMulQQ(to->rotation, tpConjugate(from->rotation)));
    }
}

// The part of the way back that is a velocity too: all of it, unless a body under the tension of
// its joints swings too fast for the substep. The square of its frequency is force times arm over
// inertia; a light link in a chain with a heavy end has thousands of radians per second. The scheme
// is stable up to 2 radians per substep; well before that velocities lose what is across the
// joints, which damps.
static double feedOf(const tpSmallStep* step, const tpArticulation* articulation) {
    double swing = 0.0;
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        const tpMechanismRow* row = &articulation->solver.rows[k];
        if (articulation->laws[k].role == tp_heldRole) {
            double force = fabs(row->impulse) * step->substepTime;
            swing = fmax(swing,
                         force * (row->nodeA >= 0 ? articulation->flights[row->nodeA].ease : 0.0));
            swing = fmax(swing,
                         force * (row->nodeB >= 0 ? articulation->flights[row->nodeB].ease : 0.0));
        }
    }
    return fmin(1.0, fmax(0.0, 2.0 - swing));
}

// Errors of position where the bodies are now; returns the largest.
static double findErrors(const tpSmallStep* step, tpArticulation* articulation) {
    double largest = 0.0;
    tpArticulation_WriteRows(step, articulation, &articulation->ends);
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        const tpArticulatedRow* law = &articulation->laws[k];
        // Kinematic bodies are still where the step began.
        double bias = articulation->ends.bias[law->row] + articulation->passed * law->told;
        articulation->errors[k] = tpArticulation_ErrorOf(step, law->role, bias);
        largest = fmax(largest, fabs(articulation->errors[k]));
    }
    return largest;
}

// What a body adds to the velocity of a row, now.
static double speedBy(const tpSmallStep* step, const tpRows* rows, int body, const double* on) {
    double v[6];
    if (body < 0) {
        return 0.0;
    }
    const tpSmallSteps* state = step->state;
    bool isTold = state->map.owners.data[body] < 0;
    readVelocity(&(isTold ? step->starts : step->velocities)[state->numbers.data[body]], v);
    if (rows->componentCount == 3) {
        return on[0] * v[0] + on[1] * v[1] + on[2] * v[5];
    }
    return on[0] * v[0] + on[1] * v[1] + on[2] * v[2] + on[3] * v[3] + on[4] * v[4] + on[5] * v[5];
}

static double speedOf(const tpSmallStep* step, const tpRows* rows, int block, int row) {
    size_t place = (size_t)row * (size_t)rows->componentCount;
    double sum = speedBy(step, rows, rows->givenA[block], rows->jacobianA + place) +
                 speedBy(step, rows, rows->givenB[block], rows->jacobianB + place);
    for (int t = 0; t < rows->termCounts[row]; ++t) {
        const tpRowTerm* term = &rows->terms[rows->firstTerms[row] + t];
        sum += speedBy(step, rows, term->body, term->jacobian);
    }
    return sum;
}

// With the directions of the middle of a step positions come out right to third order. Velocities
// are turned from the middle to the end by what they have across the joints there, along the rows
// of the middle: the rows of the next step's middle then find their whole length again.
static void turnVelocities(const tpSmallStep* step, tpArticulation* articulation, double feed) {
    double* errors = articulation->lateErrors;
    const tpRows* ends = &articulation->ends;
    for (int k = 0, block = 0; k < articulation->solver.rowCount; ++k) {
        const tpArticulatedRow* law = &articulation->laws[k];
        while (law->row >= ends->firstRows[block] + ends->dimensions[block]) {
            block += 1;
        }
        errors[k] = law->role == tp_heldRole ? speedOf(step, ends, block, law->row) : 0.0;
    }
    tpMechanism_Correct(&articulation->solver, errors, articulation->shifts);
    shiftBodies(step, articulation, 0.0, feed);
}

// Limits that are passed but not pushed belong to the matrix of the way back, or they leave it.
// Returns their number.
static int switchPassedLimits(const tpArticulation* articulation, tpRowState from, tpRowState to) {
    int count = 0;
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        tpMechanismRow* row = &articulation->solver.rows[k];
        bool isPassed = to == tp_withinRow ? articulation->laws[k].role == tp_limitRole &&
                                                 articulation->errors[k] < -passedLimit
                                           : articulation->isLoose[k];
        articulation->isLoose[k] = isPassed && row->state == (int32_t)from;
        if (articulation->isLoose[k]) {
            row->state = to;
            ++count;
        }
    }
    return count;
}

// Takes back the errors of position. What was not there at the start came from turning directions,
// and is a velocity too.
void tpArticulation_Correct(const tpSmallStep* step, tpArticulation* articulation) {
    double before = 0.0, time = articulation->finished * step->substepTime;
    double feed = feedOf(step, articulation), rate = feed / time;
    bool isTurn = !articulation->isMidway && rate > 0.0 &&
                  time * tpArticulation_TurnOf(step, articulation) < fastTurn;
    land(step, articulation);
    double largest = findErrors(step, articulation);
    if (articulation->isMidway && feed > 0.0) {
        turnVelocities(step, articulation, feed);
    }
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        before = fmax(before, fabs(articulation->laws[k].startError));
    }
    if (isTurn && largest > 0.0 && before >= 1e-3 * largest) {
        double* errors = articulation->lateErrors;
        for (int k = 0; k < articulation->solver.rowCount; ++k) {
            const tpArticulatedRow* law = &articulation->laws[k];
            errors[k] = law->role == tp_heldRole ? articulation->errors[k] - law->startError : 0.0;
        }
        tpMechanism_Correct(&articulation->solver, errors, articulation->shifts);
        cutShifts(articulation);
        shiftBodies(step, articulation, 0.0, rate);
        isTurn = false;
    }
    int passed = switchPassedLimits(articulation, tp_atLeastRow, tp_withinRow);
    if (passed > 0) {
        tpMechanism_Factorise(&articulation->solver);
    }
    for (int round = 0; round < mostCorrections && largest > 0.0; ++round) {
        tpMechanism_Correct(&articulation->solver, articulation->errors, articulation->shifts);
        cutShifts(articulation);
        shiftBodies(step, articulation, 1.0, isTurn ? rate : 0.0);
        // Small errors leave far smaller ones; with directions that have turned far the rounds may
        // not converge.
        double last = largest;
        if (last < smallError * articulation->size) {
            break;
        }
        largest = findErrors(step, articulation);
        if (!(largest < 0.5 * last)) {
            break;
        }
    }
    if (passed > 0) {
        switchPassedLimits(articulation, tp_withinRow, tp_atLeastRow);
        tpMechanism_Factorise(&articulation->solver);
    }
}

// Impulses since rows were written go to the joints.
void tpArticulation_Report(const tpSmallStep* step, tpArticulation* articulation) {
    for (int r = 0; r < articulation->rows.rowCount; ++r) {
        articulation->rows.impulse[r] = 0.0;
    }
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        articulation->rows.impulse[articulation->laws[k].row] = articulation->laws[k].total;
    }
    tpJoints_AddReactions(step->system, &articulation->rows, step->h);
}

// Rows written anew in the middle of a step; armatures go on at their speed.
void tpArticulation_Reopen(const tpSmallStep* step, tpArticulation* articulation) {
    tpArticulation_Report(step, articulation);
    tpArticulation_Correct(step, articulation);
    tpArticulation_MeasureMoves(step, articulation);
    // The rows of the last look at the errors serve: bodies have hardly moved since.
    tpRows rows = articulation->rows;
    articulation->rows = articulation->ends;
    articulation->ends = rows;
    tpArticulation_Open(step, articulation, true);
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        tpArticulatedRow* law = &articulation->laws[k];
        law->startError = 0.0;
        law->way = articulation->passed * step->substepTime * law->told;
        if (law->role == tp_rotorRole || law->role == tp_turnRotorRole) {
            // The row's bias counts the way since the start of the step; that is no error here.
            law->startBias = -articulation->rows.rotor[law->row];
        }
    }
}
