// Where a mechanism is after some substeps: errors of position are taken back, and joints are told
// what they carried.

#include <string.h>

#include "steppers/small_steps/articulation_tree.h"
#include "steppers/small_steps/flights.h"

// A mechanism of which a body turns by more than this between two writings of its rows has no
// velocity of its way back: its directions mean little, rad.
static const double fastTurn = 0.7;

// Errors of position are taken back in a few rounds; ones smaller than this, of the smallest body's
// size, in one.
static const double smallError = 1e-4, mostShift = 0.25;

// The same of a tree, whose way back is known to second order. Axes that have turned far leave
// more.
static const double smallInTree = 1e-2, smallIfFast = 1e-6;

// Errors smaller than this, of the smallest body's size, are left: they are roundings, and do not
// add up beyond it.
static const double noError = 1e-13;

// Larger errors, of the smallest body's size, are not left to the velocities of a substep: arms
// would be wrong by too much. With 0.05 whipping chains lose three times the energy.
static const double mostLed = 0.02;

// Slow mechanisms leave this much to further steps.
static const double slowError = 1e-7;
enum { mostCorrections = 4 };

// Rows that are solved together are corrected until this part of their errors is left.
static const double leftPart = 1e-3;
enum { mostRefinements = 8 };

// A limit that is passed by more than this is taken back even if nothing presses against it, as at
// the start of a scene, in units of length; turns count with that unit.
static const double passedLimit = 1e-7;

// Displacements that are not small against the bodies come from rows that mean nothing any more:
// they are cut. Returns the part of them that is left.
static double cutShifts(const tpArticulation* articulation) {
    double most = 0.0, size = articulation->size;
    for (int i = 0; i < articulation->solver.nodeCount; ++i) {
        const double* x = &articulation->shifts[6 * i];
        double way = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
        double turn = size * size * (x[3] * x[3] + x[4] * x[4] + x[5] * x[5]);
        most = way > most ? way : most;
        most = turn > most ? turn : most;
    }
    most = sqrt(most);
    double limit = mostShift * size;
    for (int i = 0; most > limit && i < 6 * articulation->solver.nodeCount; ++i) {
        articulation->shifts[i] *= limit / most;
    }
    return most > limit ? limit / most : 1.0;
}

// Displacements for these errors of rows, of which a part is left, become velocities by `rate`: the
// impulses that they take are those of joints and laws, as the others are.
static void bookFeed(tpArticulation* articulation, const double* errors, double part, double rate) {
    double* impulses = articulation->lateErrors;
    if (articulation->isTree) {
        tpTree_AddFedReactions(articulation, errors, rate);
    } else {
        for (int k = 0; k < articulation->solver.rowCount; ++k) {
            impulses[k] = part * errors[k];
        }
        tpMechanism_CorrectingImpulses(&articulation->solver, impulses, articulation->shifts,
                                       impulses);
    }
    for (int n = 0; n < tpArticulation_NearCount(articulation); ++n) {
        int k = tpArticulation_NearRow(articulation, n);
        tpArticulatedRow* law = &articulation->laws[k];
        double impulse = articulation->isTree ? impulses[k] : rate * impulses[k];
        law->fed = articulation->isFed ? law->fed + impulse : impulse;
        tpArticulation_BookWork(articulation, k, impulse);
    }
    articulation->isFed = true;
}

void tpArticulation_Feed(const tpSmallStep* step, tpArticulation* articulation,
                         const double* errors, double part, double rate) {
    tpArticulation_SpeedUp(step, articulation, rate);
    bookFeed(articulation, errors, part, rate);
}

// The displacement of a body in the step that led to its pose.
static void measureMove(const tpSmallStep* step, const tpArticulation* articulation, int i,
                        bool isTurn) {
    int body = articulation->bodies[i];
    const tpPose *from = &step->system->poses.data[body], *to = &step->joints->poses[body];
    tpVelocity* moved = &step->moved[numberOf(articulation, i)];
    moved->linear = tpSub(to->position, from->position);
    if (isTurn) {
        moved->angular = tpTurnBetween(from->rotation, to->rotation);
    }
}

static void measureMoves(const tpSmallStep* step, const tpArticulation* articulation, bool isLast) {
    for (int t = 0; articulation->isLed && t < articulation->touchingCount; ++t) {
        measureMove(step, articulation, articulation->touching[t], true);
    }
    if (articulation->isLed) {
        return; // others are where their displacements say
    }
    int packs =
        articulation->isTree && isLast ? tpFlights_PackCount(articulation->tree.nodeCount) : 0;
    for (int p = 0; p < packs; ++p) {
        unsigned left = step->joints->flights->measure(&articulation->flightPacks[p]);
        for (int lane = 0; left >> lane != 0; ++lane) {
            if (left >> lane & 1) {
                measureMove(step, articulation, tp_flightPackWidth * p + lane, true);
            }
        }
    }
    for (int i = 0; packs == 0 && i < articulation->solver.nodeCount; ++i) {
        // Until the end of the step angles count from where rows were written.
        bool isTurn = isLast || step->joints->touches[numberOf(articulation, i)];
        measureMove(step, articulation, i, isTurn);
    }
}

double tpArticulation_Weight(const tpSmallStep* step, const tpArticulation* articulation, int k) {
    const tpArticulatedRow* law = &articulation->laws[k];
    double unit = step->system->units.length;
    if (unit == 1.0) {
        return 1.0;
    }
    if (!articulation->isTree) {
        return articulation->rows.scale[law->row];
    }
    const tpJoint* joint = &step->system->joints.data[law->row];
    return joint->coordinates[law->coordinate].kind == tp_slideAxis ? 1.0 : unit;
}

// The part of the way back that is a velocity too: all of it, unless a body under the tension of
// its joints swings too fast for the substep. The square of its frequency is force times arm over
// inertia; a light link in a chain with a heavy end has thousands of radians per second. The scheme
// is stable up to 2 radians per substep; well before that velocities lose what is across the
// joints, which damps.
static double feedOf(const tpSmallStep* step, const tpArticulation* articulation) {
    double swing = articulation->swing;
    for (int k = 0; !articulation->isTree && k < articulation->solver.rowCount; ++k) {
        const tpMechanismRow* row = &articulation->solver.rows[k];
        if (articulation->laws[k].role == tp_heldRole) {
            double force = fabs(articulation->solver.answers[k].impulse) * step->substepTime /
                           tpArticulation_Weight(step, articulation, k);
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
    articulation->deepest = 0.0;
    if (articulation->isTree) {
        return tpTree_FindErrors(step, articulation);
    }
    tpArticulation_WriteRows(step, articulation, &articulation->ends);
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        const tpArticulatedRow* law = &articulation->laws[k];
        // Kinematic bodies are still where the step began.
        double bias = articulation->ends.bias[law->row] + articulation->passed * law->told;
        articulation->errors[k] = tpArticulation_ErrorOf(step, law->role, bias);
        double error = tpArticulation_Weight(step, articulation, k) * articulation->errors[k];
        largest = fmax(largest, fabs(error));
        if (law->role == tp_limitRole) {
            articulation->deepest = fmin(articulation->deepest, error);
        }
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
    if (articulation->isTree) {
        for (int i = 0; i < articulation->tree.nodeCount; ++i) {
            readVelocity(&step->velocities[numberOf(articulation, i)],
                         &articulation->momenta[6 * i]);
        }
        tpTree_FindSlips(step, articulation, articulation->momenta, articulation->tree.base,
                         articulation->jumps);
        tpJointTree_Correct(&articulation->tree, articulation->jumps, NULL, articulation->shifts);
        tpArticulation_Feed(step, articulation, NULL, 1.0, feed);
        // What contacts take from a slow mechanism is more than that.
        if (articulation->isFast || articulation->touchingCount == 0) {
            tpTree_EvenTurn(step, articulation, feed);
            tpArticulation_SpeedUp(step, articulation, 1.0);
        }
        return;
    }
    for (int k = 0, block = 0; k < articulation->solver.rowCount; ++k) {
        const tpArticulatedRow* law = &articulation->laws[k];
        while (law->row >= ends->firstRows[block] + ends->dimensions[block]) {
            block += 1;
        }
        errors[k] = law->role == tp_heldRole ? speedOf(step, ends, block, law->row) : 0.0;
    }
    tpMechanism_Correct(&articulation->solver, errors, articulation->shifts);
    tpArticulation_Feed(step, articulation, errors, 1.0, feed);
}

// The largest error when rows were written.
static double errorBefore(const tpSmallStep* step, const tpArticulation* articulation) {
    double before = 0.0;
    if (articulation->passed > articulation->finished) {
        return before; // rows written in the middle of a step start without
    }
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        double error =
            tpArticulation_Weight(step, articulation, k) * fabs(articulation->laws[k].startError);
        before = error > before ? error : before;
    }
    double gap = 0.0, twist = 0.0;
    for (int i = 0; articulation->isTree && i < articulation->tree.nodeCount; ++i) {
        const double* jump = &articulation->startJumps[6 * i];
        for (int k = 0; k < 3; ++k) {
            gap = fabs(jump[k]) > gap ? fabs(jump[k]) : gap;
            twist = fabs(jump[3 + k]) > twist ? fabs(jump[3 + k]) : twist;
        }
    }
    return fmax(before, fmax(gap, step->system->units.length * twist));
}

// Displacements for what has come since rows were written.
static void correctLate(tpArticulation* articulation) {
    if (articulation->isTree) {
        for (int i = 0; i < articulation->tree.nodeCount; ++i) {
            const double* jump = articulation->nodePlaces[i].jump;
            for (int k = 0; k < 6; ++k) {
                articulation->jumps[6 * i + k] = jump[k] - articulation->startJumps[6 * i + k];
            }
        }
        tpJointTree_Correct(&articulation->tree, articulation->jumps, NULL, articulation->shifts);
        return;
    }
    double* errors = articulation->lateErrors;
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        const tpArticulatedRow* law = &articulation->laws[k];
        errors[k] = law->role == tp_heldRole ? articulation->errors[k] - law->startError : 0.0;
    }
    tpMechanism_Correct(&articulation->solver, errors, articulation->shifts);
}

// Coordinates go with the displacements.
static void followAxes(const tpArticulation* articulation) {
    const tpJointTree* tree = &articulation->tree;
    for (int k = tree->nodes[0].axis; k < tree->nodes[tree->nodeCount - 1].axisEnd; ++k) {
        articulation->axisPlaces[k].value += tree->axes[k].rate;
    }
}

// The factors have the axes of the start. What displacements by them leave of the errors is known
// by the axes of now, and is taken back too; with the errors of rows, unless these are NULL.
static void correctAgain(const tpSmallStep* step, tpArticulation* articulation,
                         const double* errors) {
    static const double still[6] = { 0.0 };
    double *jumps = articulation->jumps, *more = articulation->momenta;
    int count = articulation->tree.nodeCount;
    followAxes(articulation);
    tpTree_FindSlips(step, articulation, articulation->shifts, still, jumps);
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < 6; ++k) {
            jumps[6 * i + k] += articulation->nodePlaces[i].jump[k];
        }
    }
    tpJointTree_Correct(&articulation->tree, jumps, errors, more);
    followAxes(articulation);
    for (int k = 0; k < 6 * count; ++k) {
        articulation->shifts[k] += more[k];
    }
}

// The displacement of a row under those of its nodes.
static double shiftOf(const tpMechanismRow* row, const double* shifts) {
    double sum = 0.0;
    for (int k = 0; k < 6; ++k) {
        sum += row->nodeA >= 0 ? row->onA[k] * shifts[6 * row->nodeA + k] : 0.0;
        sum += row->nodeB >= 0 ? row->onB[k] * shifts[6 * row->nodeB + k] : 0.0;
    }
    for (int t = 0; t < row->termCount; ++t) {
        for (int k = 0; k < 6; ++k) {
            sum += row->terms[t].on[k] * shifts[6 * row->terms[t].node + k];
        }
    }
    return sum;
}

// Dry friction that sticks is as stiff as what is held, and light links have stiff servos: they
// resist the way back. What that leaves of the errors, by the directions that the factors have, is
// taken back again.
static void correctRows(const tpSmallStep* step, tpArticulation* articulation, double largest) {
    double *left = articulation->lateErrors, *more = articulation->momenta;
    tpMechanism_Correct(&articulation->solver, articulation->errors, articulation->shifts);
    for (int round = 0; round < mostRefinements; ++round) {
        double most = 0.0;
        for (int k = 0; k < articulation->solver.rowCount; ++k) {
            const tpMechanismRow* row = &articulation->solver.rows[k];
            bool isAsked =
                articulation->errors[k] != 0.0 || articulation->laws[k].role == tp_heldRole;
            left[k] = isAsked ? articulation->errors[k] + shiftOf(row, articulation->shifts) : 0.0;
            bool isIn = articulation->solver.answers[k].state == tp_withinRow;
            double weight = tpArticulation_Weight(step, articulation, k);
            most = isIn ? fmax(most, weight * fabs(left[k])) : most;
        }
        if (!(most > leftPart * largest)) {
            return;
        }
        tpMechanism_Correct(&articulation->solver, left, more);
        for (int k = 0; k < 6 * articulation->solver.nodeCount; ++k) {
            articulation->shifts[k] += more[k];
        }
    }
}

// Whether the second pass for errors of this size is worth its while, and all that they need.
static bool needsAgain(const tpArticulation* articulation, double largest) {
    double part = largest / articulation->size;
    double least = articulation->isFast && articulation->span > 1 ? smallIfFast : smallError;
    return articulation->isTree && part > least && part < smallInTree;
}

// Displacements for all errors, of which `largest` is the largest.
static void correctAll(const tpSmallStep* step, tpArticulation* articulation, double largest) {
    if (articulation->isTree) {
        for (int i = 0; i < articulation->tree.nodeCount; ++i) {
            memcpy(&articulation->jumps[6 * i], articulation->nodePlaces[i].jump,
                   6 * sizeof(double));
        }
        tpJointTree_Correct(&articulation->tree, articulation->jumps, articulation->errors,
                            articulation->shifts);
        if (needsAgain(articulation, largest)) {
            correctAgain(step, articulation, NULL);
        } else {
            followAxes(articulation);
        }
    } else {
        correctRows(step, articulation, largest);
    }
}

// Limits that are passed but not pushed belong to the matrix of the way back. Returns how many have
// come into it.
static int takePassedLimits(const tpSmallStep* step, const tpArticulation* articulation) {
    double least = passedLimit * step->system->units.length;
    int count = 0;
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        tpRowAnswer* row = &articulation->solver.answers[k];
        if (row->state == tp_atLeastRow && articulation->laws[k].role == tp_limitRole &&
            tpArticulation_Weight(step, articulation, k) * articulation->errors[k] < -least) {
            articulation->isLoose[k] = true;
            row->state = tp_withinRow;
            ++count;
        }
    }
    return count;
}

// They leave it.
static void leavePassedLimits(const tpArticulation* articulation) {
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        if (articulation->isLoose[k]) {
            articulation->solver.answers[k].state = tp_atLeastRow;
        }
    }
}

// Whether the way back leads an axis of a tree past a limit that is not in its matrix. Values of
// ball joints are not known by their rates.
static bool leadsPast(const tpSmallStep* step, const tpArticulation* articulation) {
    double least = passedLimit * step->system->units.length;
    bool areKnown = articulation->isTree && !articulation->hasCones;
    for (int n = 0; areKnown && n < tpArticulation_NearCount(articulation); ++n) {
        int k = tpArticulation_NearRow(articulation, n);
        const tpArticulatedRow* law = &articulation->laws[k];
        if (law->role != tp_limitRole || articulation->solver.answers[k].state != tp_atLeastRow) {
            continue;
        }
        const tpAxisRow* row = &articulation->tree.rows[k];
        double room = row->sign * (articulation->axisPlaces[row->axis].value - law->value);
        if (tpArticulation_Weight(step, articulation, k) * room < -least) {
            return true;
        }
    }
    return false;
}

// Whether errors of this size, in the middle of a step, are left to the velocities of the next
// substep. A sweep leaves more than that; and what nobody touches keeps its energy to more digits.
static bool mayBeLed(const tpSmallStep* step, const tpArticulation* articulation, double largest,
                     double feed) {
    return articulation->isTree && !articulation->isInside && articulation->span == 1 &&
           feed == 1.0 && largest < mostLed * articulation->size &&
           step->substepTime * tpArticulation_TurnOf(step, articulation) < fastTurn;
}

// The velocities of the next substep are to take back what is off now. That is SHAKE with one
// round per substep [RyckaertEtAl77]: if axes that turn evenly put a joint off by c per substep,
// velocities come in across it by c / tau and leave by -c / tau, with the same energy. The second
// substep of a step loses 3/2 m (c / tau)^2, which what is fed at its end brings back.
static void lead(const tpSmallStep* step, tpArticulation* articulation) {
    double rate = 1.0 / step->substepTime;
    for (int i = 0; i < articulation->tree.nodeCount; ++i) {
        for (int k = 0; k < 6; ++k) {
            articulation->jumps[6 * i + k] = rate * articulation->nodePlaces[i].jump[k];
        }
    }
    articulation->isLed = true;
    articulation->tree.jumps = articulation->jumps;
}

// Takes back the errors of position. What was not there at the start came from turning directions,
// and is a velocity too.
static void correct(const tpSmallStep* step, tpArticulation* articulation, bool isLast) {
    double time = articulation->finished * step->substepTime;
    double feed = feedOf(step, articulation), rate = feed / time;
    bool isTurn = !articulation->isMidway && !articulation->isSlow && rate > 0.0 &&
                  time * tpArticulation_TurnOf(step, articulation) < fastTurn;
    tpArticulation_Fall(step, articulation);
    tpArticulation_Land(step, articulation);
    double largest = findErrors(step, articulation);
    if (!isLast && mayBeLed(step, articulation, largest, feed)) {
        lead(step, articulation);
        return;
    }
    articulation->isLed = false;
    articulation->tree.jumps = NULL;
    if (articulation->isSlow && largest <= slowError * articulation->size) {
        articulation->isEndPlaced = true;
        return;
    }
    largest = largest > noError * articulation->size ? largest : 0.0;
    if (articulation->isMidway && feed > 0.0) {
        turnVelocities(step, articulation, feed);
    }
    // What leads back from a limit is no velocity: a limit does not pull, so that nothing would
    // take that velocity off again. The angle of a ball joint grows by s^2 / 2a when its axis goes
    // sideways by s at the angle a, which was a kick in each substep.
    bool isPast = articulation->deepest < 0.0, isBegun = false;
    isTurn = isTurn && largest > 0.0;
    bool wasOff = isTurn && errorBefore(step, articulation) >= 1e-3 * largest;
    if (isTurn && (wasOff || isPast)) {
        correctLate(articulation);
        double part = cutShifts(articulation);
        isBegun = !wasOff && part == 1.0 && needsAgain(articulation, largest);
        tpArticulation_Feed(step, articulation,
                            articulation->isTree ? NULL : articulation->lateErrors, part, rate);
        isTurn = false;
    }
    memset(articulation->isLoose, 0, sizeof(bool) * (size_t)articulation->solver.rowCount);
    int passed = articulation->deepest < -passedLimit * step->system->units.length
                     ? takePassedLimits(step, articulation)
                     : 0;
    if (passed > 0) {
        tpArticulation_Factorise(articulation);
        isBegun = false;
    }
    for (int round = 0; round < mostCorrections && largest > 0.0; ++round) {
        if (isBegun) {
            // Most of the way back is known already: the second pass takes the rest with it.
            correctAgain(step, articulation, articulation->errors);
            isBegun = false;
        } else {
            correctAll(step, articulation, largest);
        }
        double part = cutShifts(articulation);
        tpArticulation_Shift(step, articulation);
        if (isTurn) {
            tpArticulation_SpeedUp(step, articulation, rate);
            bookFeed(articulation, articulation->isTree ? NULL : articulation->errors, part, rate);
        }
        // Small errors leave far smaller ones; with directions that have turned far the rounds may
        // not converge.
        double last = largest;
        bool isLed = leadsPast(step, articulation);
        if (last < (articulation->isTree ? smallInTree : smallError) * articulation->size &&
            !isLed) {
            break;
        }
        largest = findErrors(step, articulation);
        int more = isLed ? takePassedLimits(step, articulation) : 0;
        passed += more;
        if (more > 0) {
            tpArticulation_Factorise(articulation);
        } else if (!(largest < 0.5 * last)) {
            break;
        }
    }
    // The factors have done their work.
    if (passed > 0) {
        leavePassedLimits(articulation);
    }
}

// Impulses of substeps, or those of corrections, go to the joints.
static void report(const tpSmallStep* step, tpArticulation* articulation, bool isFed) {
    for (int r = 0; r < articulation->rows.rowCount; ++r) {
        articulation->rows.impulse[r] = 0.0;
    }
    for (int k = 0; k < articulation->solver.rowCount; ++k) {
        const tpArticulatedRow* law = &articulation->laws[k];
        articulation->rows.impulse[law->row] = isFed ? law->fed : law->total;
    }
    tpJoints_AddReactions(step->system, &articulation->rows, step->h);
}

void tpArticulation_Close(const tpSmallStep* step, tpArticulation* articulation, bool isLast) {
    // The rows that corrections look at have the speeds of rotors; trees have no rows of rotors.
    if (!articulation->isTree) {
        report(step, articulation, false);
    }
    articulation->isFed = false;
    correct(step, articulation, isLast);
    if (isLast && tpArticulation_EndsSprings(articulation)) {
        tpArticulation_EndSprings(step, articulation);
    }
    if (articulation->isTree) {
        tpTree_ReportLaws(step, articulation);
    } else if (articulation->isFed) {
        report(step, articulation, true);
    }
    measureMoves(step, articulation, isLast);
}

// Rows written anew in the middle of a step; armatures go on at their speed.
void tpArticulation_Reopen(const tpSmallStep* step, tpArticulation* articulation) {
    tpArticulation_Close(step, articulation, false);
    memset(articulation->given, 0, sizeof(double) * 6 * (size_t)articulation->solver.nodeCount);
    if (articulation->isTree) {
        if (!articulation->isLed) {
            tpTree_LookAgain(step, articulation);
        }
        for (int i = 0; i < articulation->tree.nodeCount; ++i) {
            readVelocity(&step->velocities[numberOf(articulation, i)], &articulation->begun[6 * i]);
        }
    }
    // The rows of the last look at the errors serve: bodies have hardly moved since.
    if (!articulation->isTree) {
        tpRows rows = articulation->rows;
        articulation->rows = articulation->ends;
        articulation->ends = rows;
    }
    tpArticulation_Open(step, articulation, true);
    tpArticulation_Factorise(articulation);
    for (int k = 0; !articulation->isTree && k < articulation->solver.rowCount; ++k) {
        tpArticulatedRow* law = &articulation->laws[k];
        law->startError = 0.0;
        law->way = articulation->passed * step->substepTime * law->told;
    }
}
