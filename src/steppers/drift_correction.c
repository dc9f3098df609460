// What the rows of the drift have missed at its end, which their biases take in.

#include "steppers/drift_problem.h"

#include "dynamics/reduced.h"

// Contacts of the start and joints are met to this, in units of length or rad.
static double toleranceOf(const tpDrift* drift) {
    return fmax(1e-12, drift->step->system->driftTolerance);
}

static void note(tpDrift* drift, double miss, double tolerance) {
    drift->miss = fmax(drift->miss, miss);
    drift->isSettled = drift->isSettled && miss <= tolerance;
}

// The most that a solve may leave of the gaps before another is tried, in units of length.
static const double largestLeft = 1e-8;

// What the solve has left of the gaps of contacts: gaps that contradict each other were changed so
// that they agree, and the law of contact is met to its residual.
static double leftBySolve(const tpDrift* drift) {
    const tpRows* rows = &drift->step->rows;
    double missed = drift->step->h * drift->report->residual * tpRows_FreeSize(rows);
    double unit = drift->step->system->units.length;
    return fmin((drift->report->gapShift + missed) / unit, largestLeft);
}

// How exactly contacts of the start are met: to no better than a solve can.
static double contactTolerance(const tpDrift* drift) {
    return toleranceOf(drift) + drift->left;
}

// How exactly joints are met. As long as each round halves what they miss, rounds go on; after
// that the solve leaves as much again. Rows of light bodies that carry heavy rotors end there:
// their velocities are small differences of large ones.
static double jointTolerance(const tpDrift* drift, double miss) {
    bool isStuck = miss > 0.5 * drift->lastApart;
    return toleranceOf(drift) + (isStuck ? drift->left : 0.0);
}

// By how much the rows of joints have missed; their biases take it in.
bool tpDrift_CorrectJoints(tpDrift* drift, int firstBlock) {
    tpTimeStep* step = drift->step;
    tpSystem* system = step->system;
    tpRows* rows = &step->rows;
    bool isWhole = drift->settings->isWhole;
    tpJointTreatment treatment = tpDrift_JointTreatment(drift);
    double* errors = TP_SCRATCH(&system->arena, double, rows->rowCount);
    if (errors == NULL || !tpJoints_EndErrors(system, rows, firstBlock, system->poses.data,
                                              &treatment, !isWhole, errors)) {
        return false;
    }
    double largest = 0.0;
    for (int b = firstBlock; b < rows->blockCount; ++b) {
        int first = rows->firstRows[b];
        bool isLaw = !isWhole && tpRowRole_IsLaw(rows->infos[b].role);
        for (int k = 0; k < rows->dimensions[b]; ++k) {
            double miss = tpJoints_Miss(rows, b, first + k, rows->impulse[first + k],
                                        rows->velocity[first + k], errors[first + k], step->h);
            if (isLaw) {
                double unseen =
                    tpJoints_LawMiss(system, system->poses.data, rows, b, first + k, step->h);
                rows->missed[first + k] += unseen / step->h;
                miss += unseen;
            }
            rows->bias[first + k] += miss / step->h;
            bool isFelt = tpJoints_IsMissFelt(rows, b, rows->impulse[first + k], errors[first + k]);
            double size = isFelt ? fabs(miss) / tpRows_ErrorUnit(rows, first + k) : 0.0;
            largest = size <= largest ? largest : size; // what is no number stays
        }
    }
    if (step->reduced != NULL) {
        double missed = tpReduced_Correct(step->reduced, system->poses.data);
        largest = missed <= largest ? largest : missed;
    }
    drift->apart = fmax(drift->apart, largest);
    note(drift, largest, jointTolerance(drift, largest));
    drift->lastApart = largest;
    return true;
}

// Friction acts on the slip half way through the drift, of which the rows of the start know
// nothing: with theirs a ball on a turntable spirals outwards.
static void correctSlip(tpDrift* drift, int contact, const tpContact* end) {
    const tpTimeStep* step = drift->step;
    const tpRows* rows = &step->rows;
    const tpContact* start = &step->contacts[contact];
    tpVec3 slip = tpTimeStep_SlipHalfWay(step, start, end);
    int first = rows->firstRows[contact];
    double unit = step->system->units.length;
    int slidingCount = tpRows_FrictionRows(rows, contact).slidingCount;
    for (int k = 1; k <= slidingCount; ++k) {
        double linear = rows->velocity[first + k] - rows->bias[first + k];
        double bias = tpDot(step->laws[contact].tangents[k - 1], slip) - linear;
        note(drift, step->h * fabs(bias - rows->bias[first + k]) / unit, contactTolerance(drift));
        drift->keptSlip[drift->place[contact]][k - 1] = bias;
    }
}

// What a row has missed of the true gap at the end. Biases of those that hold take it in.
static void correctRow(tpDrift* drift, int contact, const tpContact* end) {
    tpTimeStep* step = drift->step;
    tpRows* rows = &step->rows;
    int first = rows->firstRows[contact], place = drift->place[contact];
    bool isPushing = rows->impulse[first] > 0.0;
    if (step->laws[contact].stiffness > 0.0) {
        if (isPushing && drift->round[contact] == 0 && !drift->settings->isCareful) {
            correctSlip(drift, contact, end);
        }
        return;
    }
    double unit = step->system->units.length;
    double gap = end->gap - tpDrift_MeantEndGap(drift, end, place);
    if (drift->settings->isCareful) {
        // Other rows of the same contact may hold it farther away.
        note(drift, fmax(0.0, -gap) / unit, tpDrift_EndTolerance(drift));
        return;
    }
    // What carries nothing matters only where it has been let through.
    if (!isPushing && gap >= 0.0) {
        return;
    }
    double miss = gap - step->h * rows->velocity[first];
    bool isOfStart = drift->round[contact] == 0;
    note(drift, fabs(miss) / unit,
         isOfStart ? contactTolerance(drift) : tpDrift_EndTolerance(drift));
    if (isOfStart) {
        // What the last solve has left it would leave again.
        bool isMet = fabs(miss) / unit <= contactTolerance(drift);
        drift->keptBias[place] = rows->bias[first] + (isMet ? 0.0 : miss / step->h);
        if (isPushing && drift->isKept[place]) {
            correctSlip(drift, contact, end);
        }
    }
}

// Compares the rows of contacts, which come first, with the true gaps at the end.
bool tpDrift_CorrectContacts(tpDrift* drift) {
    tpTimeStep* step = drift->step;
    drift->left = leftBySolve(drift);
    drift->isAtEnd = TP_SCRATCH_ZEROED(&step->system->arena, bool, step->contactCount);
    if (step->system->arena.failed) {
        return false;
    }
    const tpRows* rows = &step->rows;
    int next = 0;
    bool isFound = false; // the contact at `next` has had a row
    for (int b = 0; b <= step->contactCount; ++b) {
        const tpContact* contact = b < step->contactCount ? &step->contacts[b] : NULL;
        int order = 1;
        for (; next < step->endCount; ++next) {
            const tpContact* end = &step->endContacts[next];
            order = contact != NULL ? tpContact_CompareKeys(end, contact) : -1;
            if (order >= 0) {
                break;
            }
            if (!isFound) {
                double gap = end->gap - tpDrift_MeantEndGap(drift, end, -1);
                note(drift, fmax(0.0, -gap) / step->system->units.length,
                     tpDrift_EndTolerance(drift));
            }
            isFound = false;
        }
        if (contact == NULL) {
            break;
        }
        if (next < step->endCount && order == 0) {
            drift->isAtEnd[b] = true;
            correctRow(drift, b, &step->endContacts[next]);
            isFound = true;
        } else if (rows->impulse[rows->firstRows[b]] > 0.0 && !tpDrift_Stays(drift, b)) {
            drift->isSettled = false; // other features have met: look again there
        }
    }
    return true;
}
