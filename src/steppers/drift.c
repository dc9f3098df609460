// The constrained drift: gap(q1) >= 0 and Theta(q1) = 0 with q1 = drift(q, v', h).
//
// The problem is nonlinear in q1. Contacts that are closed at the start hold: their rows keep the
// directions of the start, as constraints of RATTLE do, and their biases are corrected by what the
// true gap at the end says, those of friction by the slip half way through the drift. Contacts that
// close within the step have the directions of the end instead, so that they take energy and give
// none; their rows are written afresh where each solve leads, as in [StewartTrinkle96, sec. 3.4].
// The first solve has all rows from the start, so that nothing passes through anything on its way.
//
// The careful way gives no energy, at the price of second order: every contact has its linear row
// of the start, as in (4.11), and one with the directions of the end. Where a gap bends open on the
// way the first one binds, without work; where it bends shut the second one, which brakes. Rows
// that bind stay when others are written: rims whose lowest point runs around have several.
//
// Contacts that give (dynamics/contact_spring.h) have a law between impulse and way instead of a
// gap to meet. It is bent where a contact opens or closes within the step: solves with its tangent
// follow each other until they agree with it.

#include "steppers/drift.h"

#include <string.h>

#include "dynamics/contact_spring.h"
#include "dynamics/joints.h"

enum { maxCorrections = 20, maxPasses = 5, maxTangents = 40 };

// The drift has to meet gaps and joints to this, in units of length or rad; and contacts that do
// not hold for many steps to that.
static const double driftTolerance = 1e-12, impactTolerance = 1e-10;

// Contacts that come up within a step may go this part of the room deep.
static const double newPart = 0.2;

// Springs of contacts are met to this part of the velocities, and to this speed, m/s.
static const double springPart = 1e-10, springSpeed = 1e-13;

typedef struct tpDrift {
    tpTimeStep* step;
    tpStepperMemory* memory;
    const tpDriftSettings* settings;
    tpStepReport* report;

    // Contacts of the start; which of them keep rows of the start, and the biases of these.
    const tpContact* start;
    int startCount;
    bool* isKept;
    double* keptBias;
    double (*keptSlip)[2]; // biases of the friction rows

    // Of each contact in the step: its place in the list above or -1, the solve after which its row
    // was written (0: at the start), and the row's bias.
    int* place;
    int* round;
    double* bias;
    double* gap;                   // at the start, as the row says it; read for contacts that give
    bool hasSprings;               // there are such contacts
    tpPose* poses[maxCorrections]; // by rounds
    double* jointBias;             // of all rows of joints, in order
    bool isRelinearised;

    double miss;    // the largest of the rows, m or rad
    bool isSettled; // all are within their tolerance
} tpDrift;

// Of an overlap at the start beyond the room only a part is to be taken back: what remains is
// meant.
static double meantGap(const tpDrift* drift, int place) {
    double gap = place >= 0 ? drift->start[place].gap : 0.0, room = drift->settings->room;
    return gap < -room ? (1.0 - drift->settings->gamma) * (gap + room) - room : fmin(gap, 0.0);
}

// The same for a contact at the end. One that has come up on the way may go a part of the room
// deep, and as deep as others of the same shapes: a disc that lies flat tips by that before it is
// known which point of its rim holds it.
static double meantEndGap(const tpDrift* drift, const tpContact* contact, int place) {
    if (place >= 0 || !(drift->settings->room > 0.0)) {
        return meantGap(drift, place);
    }
    double meant = -newPart * drift->settings->room;
    for (int i = 0; i < drift->startCount; ++i) {
        const tpContact* start = &drift->start[i];
        if (start->shapeA == contact->shapeA && start->shapeB == contact->shapeB) {
            meant = fmin(meant, fmax(start->gap, -drift->settings->room));
        }
    }
    return meant;
}

static double endTolerance(const tpDrift* drift) {
    double unit = drift->step->system->units.length;
    return fmax(drift->settings->tolerance / unit, impactTolerance);
}

// Contacts at the system's poses.
static bool findContacts(const tpDrift* drift, tpContact** contacts, int* count) {
    tpTimeStep* step = drift->step;
    const tpDriftSettings* settings = drift->settings;
    if (settings->find != NULL) {
        return settings->find(settings->context, step, contacts, count);
    }
    return tpSystem_FindContacts(step->system, step->system->poses.data, step->margins, contacts,
                                 count) == tp_success;
}

// Velocities of the rows without impulses: those of the drift.
static void setDriftVelocities(tpTimeStep* step) {
    tpVelocity* kept = step->freeVelocities;
    step->freeVelocities = step->freeMeanVelocities;
    tpTimeStep_SetFreeVelocities(step);
    step->freeVelocities = kept;
}

static void writeJoints(const tpDrift* drift, tpRows* rows, const tpPose* poses, double h) {
    const tpTimeStep* step = drift->step;
    bool isWhole = drift->settings->isWhole;
    tpJointTreatment treatment = { h, 1.0, NULL, isWhole ? step->h : 0.5 * step->h, 0.0 };
    if (isWhole) {
        tpJoints_AddRows(rows, step->system, poses, &treatment);
    } else {
        tpJoints_AddHalfRows(rows, step->system, poses, &treatment, tp_firstHalf);
    }
}

static void addJointRows(tpDrift* drift) {
    tpTimeStep* step = drift->step;
    int first = step->rows.rowCount;
    writeJoints(drift, &step->rows, step->startPoses, step->h);
    for (int k = first; drift->isRelinearised && k < step->rows.rowCount; ++k) {
        step->rows.bias[k] = drift->jointBias[k - first];
    }
}

// All contacts of the start, with its directions.
static bool addStartRows(tpDrift* drift) {
    tpTimeStep* step = drift->step;
    tpArena* arena = &step->system->arena;
    int jointBlocks, jointRows;
    tpJoints_Count(step->system, &jointBlocks, &jointRows);
    drift->start = step->contacts;
    drift->startCount = step->contactCount;
    drift->isKept = TP_SCRATCH(arena, bool, step->contactCount);
    drift->keptBias = TP_SCRATCH(arena, double, step->contactCount);
    drift->keptSlip =
        tpArena_GetZeroed(arena, sizeof(*drift->keptSlip) * (size_t)step->contactCount);
    drift->place = TP_SCRATCH(arena, int, step->contactCount);
    drift->round = TP_SCRATCH_ZEROED(arena, int, step->contactCount);
    drift->gap = TP_SCRATCH(arena, double, step->contactCount);
    drift->hasSprings = false;
    drift->poses[0] = step->startPoses;
    drift->jointBias = TP_SCRATCH(arena, double, jointRows);
    drift->isRelinearised = false;
    if (arena->failed) {
        return false;
    }
    for (int i = 0; i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        bool isSpring = step->laws[i].stiffness > 0.0;
        drift->hasSprings = drift->hasSprings || isSpring;
        drift->isKept[i] = contact->gap <= tpClosedGap * step->system->units.length ||
                           drift->settings->isCareful || isSpring;
        drift->keptBias[i] = isSpring ? 0.0 : (contact->gap - meantGap(drift, i)) / step->h;
        drift->gap[i] = contact->gap;
        drift->place[i] = i;
        tpRows_AddContact(&step->rows, step->system, step->startPoses, contact, i, &step->laws[i],
                          drift->keptBias[i]);
    }
    addJointRows(drift);
    tpTimeStep_WarmStart(step, &drift->memory->history, drift->settings->isCareful ? 1.0 : 0.5);
    tpRowHistory_Start(&drift->memory->driftRows, &step->rows, step->h);
    return true;
}

// Whether a contact's row stays when rows are written again.
static bool stays(const tpDrift* drift, int contact) {
    if (drift->round[contact] == 0) {
        return drift->isKept[drift->place[contact]];
    }
    const tpRows* rows = &drift->step->rows;
    return drift->settings->isCareful && rows->impulse[rows->firstRows[contact]] > 0.0;
}

// Contacts whose rows stay, and those at the end, in one list in the collider's order.
typedef struct tpMerged {
    tpContact* contacts;
    int* place;
    int* round;
    double* bias;
    double* gap;
    int count;
} tpMerged;

static void putContact(tpMerged* merged, const tpContact* contact, int place, int round,
                       double bias, double gap) {
    int i = merged->count++;
    merged->contacts[i] = *contact;
    merged->place[i] = place;
    merged->round[i] = round;
    merged->bias[i] = bias;
    merged->gap[i] = gap;
}

static void putOld(const tpDrift* drift, int i, tpMerged* merged) {
    if (stays(drift, i)) {
        int place = drift->place[i];
        double bias = drift->round[i] == 0 ? drift->keptBias[place] : drift->bias[i];
        putContact(merged, &drift->step->contacts[i], place, drift->round[i], bias, drift->gap[i]);
    }
}

static bool isSpring(const tpDrift* drift, const tpContact* contact) {
    const tpSystem* system = drift->step->system;
    return system->gives && tpMakeContactLaw(system, contact).stiffness > 0.0;
}

// Contacts at the end whose row of the start stays have that one alone, but for the careful way.
static bool mergeContacts(tpDrift* drift, int round) {
    tpTimeStep* step = drift->step;
    tpArena* arena = &step->system->arena;
    size_t capacity = (size_t)step->contactCount + (size_t)step->endCount;
    tpMerged merged = { TP_SCRATCH(arena, tpContact, capacity), TP_SCRATCH(arena, int, capacity),
                        TP_SCRATCH(arena, int, capacity),       TP_SCRATCH(arena, double, capacity),
                        TP_SCRATCH(arena, double, capacity),    0 };
    if (arena->failed) {
        return false;
    }
    int old = 0, start = 0;
    for (int i = 0; i < step->endCount; ++i) {
        const tpContact* end = &step->endContacts[i];
        for (; old < step->contactCount && tpContact_CompareKeys(&step->contacts[old], end) <= 0;
             ++old) {
            putOld(drift, old, &merged);
        }
        while (start < drift->startCount && tpContact_CompareKeys(&drift->start[start], end) < 0) {
            start += 1;
        }
        bool isSame =
            start < drift->startCount && tpContact_CompareKeys(&drift->start[start], end) == 0;
        int place = isSame ? start : -1;
        bool isMissed = end->gap - meantEndGap(drift, end, place) < -endTolerance(drift);
        bool isCovered = drift->settings->isCareful && isMissed && !isSpring(drift, end);
        if (!isSame || !drift->isKept[start] || isCovered) {
            putContact(&merged, end, place, round, 0.0, 0.0);
        }
    }
    for (; old < step->contactCount; ++old) {
        putOld(drift, old, &merged);
    }
    drift->place = merged.place;
    drift->round = merged.round;
    drift->bias = merged.bias;
    drift->gap = merged.gap;
    return tpTimeStep_UseContacts(step, merged.contacts, merged.count);
}

// Writes the rows again after solve number `round`: those that stay, and those of the end where it
// is.
static bool rewriteRows(tpDrift* drift, int round) {
    tpTimeStep* step = drift->step;
    tpSystem* system = step->system;
    double* inverseMass = step->rows.inverseMass; // that of the start
    tpVelocity* meanVelocities = TP_SCRATCH(&system->arena, tpVelocity, step->bodyCount);
    tpPose* poses = TP_SCRATCH(&system->arena, tpPose, step->bodyCount);
    if (meanVelocities == NULL || poses == NULL || !mergeContacts(drift, round)) {
        return false;
    }
    tpTimeStep_LinearMeanVelocities(step, meanVelocities);
    memcpy(poses, system->poses.data, sizeof(tpPose) * (size_t)step->bodyCount);
    drift->poses[round] = poses;
    step->rows.inverseMass = inverseMass;
    for (int i = 0; i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        int block = tpRows_AddContact(&step->rows, system, drift->poses[drift->round[i]], contact,
                                      i, &step->laws[i], drift->bias[i]);
        int row = step->rows.firstRows[block];
        int slidingCount = tpRows_FrictionRows(&step->rows, block).slidingCount;
        for (int k = 1; drift->round[i] == 0 && k <= slidingCount; ++k) {
            step->rows.bias[row + k] = drift->keptSlip[drift->place[i]][k - 1];
        }
        if (drift->round[i] == round) {
            double towards = tpRows_RowVelocity(&step->rows, row, meanVelocities, contact->bodyA,
                                                contact->bodyB);
            double gap = contact->gap - meantEndGap(drift, contact, drift->place[i]);
            bool gives = step->laws[i].stiffness > 0.0;
            drift->gap[i] = contact->gap - step->h * towards;
            drift->hasSprings = drift->hasSprings || gives;
            drift->bias[i] = step->rows.bias[row] = gives ? 0.0 : gap / step->h - towards;
        }
    }
    drift->isRelinearised = true;
    addJointRows(drift);
    return true;
}

// Takes the impulses over from rows of other contacts, and of the same joints.
static void carryImpulses(const tpRows* from, const tpContact* fromContacts, tpRows* to,
                          const tpContact* toContacts) {
    int old = 0;
    for (int b = 0; b < to->blockCount; ++b) {
        bool isContact = to->infos[b].source == tp_contactSource;
        const tpContact* contact = isContact ? &toContacts[to->infos[b].index] : NULL;
        bool isSame = false;
        for (; old < from->blockCount && !isSame; ++old) {
            bool isOldContact = from->infos[old].source == tp_contactSource;
            int order = !isContact ? (isOldContact ? -1 : 0)
                        : !isOldContact
                            ? 1
                            : tpContact_CompareKeys(&fromContacts[from->infos[old].index], contact);
            if (order > 0) {
                break;
            }
            isSame = order == 0 && from->dimensions[old] == to->dimensions[b];
            for (int k = 0; isSame && k < to->dimensions[b]; ++k) {
                to->impulse[to->firstRows[b] + k] = from->impulse[from->firstRows[old] + k];
            }
        }
    }
}

static void note(tpDrift* drift, double miss, double tolerance) {
    drift->miss = fmax(drift->miss, miss);
    drift->isSettled = drift->isSettled && miss <= tolerance;
}

// By how much the rows of joints have missed; their biases take it in.
static bool correctJoints(tpDrift* drift, int firstBlock) {
    tpTimeStep* step = drift->step;
    tpSystem* system = step->system;
    tpRows* rows = &step->rows;
    // The errors at the end, row by row: the same rows written there with h = 1.
    int blocks, count;
    tpJoints_Count(system, &blocks, &count);
    tpRows end;
    if (!tpRows_Create(&end, system, blocks, count)) {
        return false;
    }
    writeJoints(drift, &end, system->poses.data, 1.0);
    for (int b = firstBlock; b < rows->blockCount; ++b) {
        int first = rows->firstRows[b], endFirst = end.firstRows[b - firstBlock];
        for (int k = 0; k < rows->dimensions[b]; ++k) {
            double miss = tpJoints_Miss(rows, b, first + k, rows->impulse[first + k],
                                        rows->velocity[first + k], &end, endFirst + k, step->h);
            rows->bias[first + k] += miss / step->h;
            drift->jointBias[endFirst + k] = rows->bias[first + k];
            note(drift, fabs(miss) / tpRows_ErrorUnit(rows, system, first + k), driftTolerance);
        }
    }
    return true;
}

static tpVec3 halfWay(tpVec3 a, tpVec3 b) {
    return tpScale(0.5, tpAdd(a, b));
}

// Velocity of a body's surface at a contact half way through the drift; `start` and `end` are the
// contact's points on it.
static tpVec3 surfaceVelocity(const tpTimeStep* step, int body, tpVec3 start, tpVec3 end) {
    const tpPose* poses = step->system->poses.data;
    const tpVelocity *first = &step->pushed[body], *last = &step->system->velocities.data[body];
    tpVec3 arm =
        halfWay(tpSub(start, step->startPoses[body].position), tpSub(end, poses[body].position));
    return tpAdd(halfWay(first->linear, last->linear),
                 tpCross(halfWay(first->angular, last->angular), arm));
}

// Friction acts on the slip half way through the drift, of which the rows of the start know
// nothing: with theirs a ball on a turntable spirals outwards.
static void correctSlip(tpDrift* drift, int contact, const tpContact* end) {
    const tpTimeStep* step = drift->step;
    const tpRows* rows = &step->rows;
    const tpContact* start = &step->contacts[contact];
    tpVec3 slip = tpSub(surfaceVelocity(step, start->bodyA, start->pointA, end->pointA),
                        surfaceVelocity(step, start->bodyB, start->pointB, end->pointB));
    int first = rows->firstRows[contact];
    double unit = step->system->units.length;
    int slidingCount = tpRows_FrictionRows(rows, contact).slidingCount;
    for (int k = 1; k <= slidingCount; ++k) {
        double linear = rows->velocity[first + k] - rows->bias[first + k];
        double bias = tpDot(step->laws[contact].tangents[k - 1], slip) - linear;
        note(drift, step->h * fabs(bias - rows->bias[first + k]) / unit, driftTolerance);
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
    double gap = end->gap - meantEndGap(drift, end, place);
    if (drift->settings->isCareful) {
        // Other rows of the same contact may hold it farther away.
        note(drift, fmax(0.0, -gap) / unit, endTolerance(drift));
        return;
    }
    // What carries nothing matters only where it has been let through.
    if (!isPushing && gap >= 0.0) {
        return;
    }
    double miss = gap - step->h * rows->velocity[first];
    bool isOfStart = drift->round[contact] == 0;
    note(drift, fabs(miss) / unit, isOfStart ? driftTolerance : endTolerance(drift));
    if (isOfStart) {
        drift->keptBias[place] = rows->bias[first] + miss / step->h;
        if (isPushing && drift->isKept[place]) {
            correctSlip(drift, contact, end);
        }
    }
}

// Compares the rows of contacts, which come first, with the true gaps at the end.
static void correctContacts(tpDrift* drift) {
    tpTimeStep* step = drift->step;
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
                double gap = end->gap - meantEndGap(drift, end, -1);
                note(drift, fmax(0.0, -gap) / step->system->units.length, endTolerance(drift));
            }
            isFound = false;
        }
        if (contact == NULL) {
            break;
        }
        if (next < step->endCount && order == 0) {
            correctRow(drift, b, &step->endContacts[next]);
            isFound = true;
        } else if (rows->impulse[rows->firstRows[b]] > 0.0 && !stays(drift, b)) {
            drift->isSettled = false; // other features have met: look again there
        }
    }
}

// By how much impulses miss the law of contact; INFINITY where memory ran out.
static double judge(const tpDrift* drift) {
    const tpRows* rows = &drift->step->rows;
    tpFrictionBodies bodies;
    tpFrictionProblem problem = tpRows_FrictionProblem(rows, &bodies);
    tpFrictionResidual judged;
    bool isDone =
        tpFriction_Judge(&problem, rows->impulse, rows->velocity, drift->memory->solver, &judged);
    return isDone ? judged.velocity : INFINITY;
}

// What rests comes to the same rows in every step, those of its start and those that it meets: the
// impulses of the last step may be nearer than those of the last solve.
static bool chooseStart(tpDrift* drift) {
    tpTimeStep* step = drift->step;
    size_t bytes = sizeof(double) * (size_t)step->rows.rowCount;
    double* carried = tpArena_Get(&step->system->arena, bytes);
    if (carried == NULL) {
        return false;
    }
    double residual = judge(drift);
    memcpy(carried, step->rows.impulse, bytes);
    tpTimeStep_WarmStart(step, &drift->memory->history, 1.0);
    // Of two rows of one contact it is the later that binds.
    for (int i = 0; i + 1 < step->contactCount; ++i) {
        if (tpContact_CompareKeys(&step->contacts[i], &step->contacts[i + 1]) == 0) {
            memset(step->rows.impulse + step->rows.firstRows[i], 0,
                   sizeof(double) * (size_t)step->rows.dimensions[i]);
        }
    }
    if (!(judge(drift) < residual)) {
        memcpy(step->rows.impulse, carried, bytes);
    }
    return true;
}

// Takes back what a solve has said about its problem; what it cost stays.
static void forgetVerdict(tpStepReport* report, const tpStepReport* before) {
    report->residual = before->residual;
    report->coneViolation = before->coneViolation;
    report->dissipationViolation = before->dissipationViolation;
    report->failureCount = before->failureCount;
    report->converged = before->converged;
}

// The contact's spring in this step, or one without stiffness.
static tpPointSpring springAt(const tpDrift* drift, int contact) {
    tpRows* rows = &drift->step->rows;
    const tpContactLaw* law = &drift->step->laws[contact];
    int row = rows->firstRows[contact];
    double response = tpRows_Response(rows, contact, row) - rows->compliance[row];
    return tpMakePointSpring(law, drift->gap[contact], drift->step->h, response);
}

// Writes the tangents of springs at the velocities of the last solve, or before the first at those
// that each would come to alone.
static void writeTangents(tpDrift* drift, bool isFirst) {
    tpTimeStep* step = drift->step;
    tpRows* rows = &step->rows;
    for (int i = 0; i < step->contactCount; ++i) {
        if (step->laws[i].stiffness > 0.0) {
            tpPointSpring spring = springAt(drift, i);
            int row = rows->firstRows[i];
            double response = tpRows_Response(rows, i, row) - rows->compliance[row];
            rows->q[row] -= rows->bias[row];
            double u = isFirst ? tpPointSpring_Settle(&spring, response, rows->q[row])
                               : tpRows_BareVelocity(rows, row);
            tpPointSpring_Linearise(&spring, u, rows, row);
            rows->q[row] += rows->bias[row];
        }
    }
}

// How far the tangents are from the springs where the solve has led, m/s.
static double missOfSprings(const tpDrift* drift) {
    const tpTimeStep* step = drift->step;
    const tpRows* rows = &step->rows;
    double miss = 0.0;
    for (int i = 0; i < step->contactCount; ++i) {
        if (step->laws[i].stiffness > 0.0) {
            tpPointSpring spring = springAt(drift, i);
            int row = rows->firstRows[i];
            double response = tpRows_Response(rows, i, row) - rows->compliance[row], slope;
            double u = tpRows_BareVelocity(rows, row);
            double wanted = tpPointSpring_FirstImpulse(&spring, u, &slope);
            double tangent = fmax(0.0, -(u + rows->bias[row]) / rows->compliance[row]);
            miss = fmax(miss, response * fabs(wanted - tangent));
        }
    }
    return miss;
}

// Solves with the tangents of springs until they are met.
static bool solveSprings(tpDrift* drift) {
    tpTimeStep* step = drift->step;
    const tpRows* rows = &step->rows;
    const tpStepReport verdict = *drift->report;
    double miss = 0.0, size = 0.0;
    for (int k = 0; k < maxTangents; ++k) {
        writeTangents(drift, k == 0);
        forgetVerdict(drift->report, &verdict);
        if (!tpRows_Solve(&step->rows, step->system, drift->memory->solver, &drift->settings->solve,
                          drift->report)) {
            return false;
        }
        size = 0.0;
        for (int row = 0; row < rows->rowCount; ++row) {
            size = fmax(size, fabs(rows->q[row]));
        }
        miss = missOfSprings(drift);
        if (miss <= springPart * size + springSpeed) {
            break;
        }
    }
    // The certificate is that of the springs themselves.
    drift->report->residual = fmax(drift->report->residual, miss / fmax(size, 1e-6));
    return true;
}

static bool solveOnce(tpDrift* drift, int round) {
    tpTimeStep* step = drift->step;
    setDriftVelocities(step);
    if (round > 1 && drift->settings->room > 0.0 && !chooseStart(drift)) {
        return false;
    }
    bool isDone = drift->hasSprings ? solveSprings(drift)
                                    : tpRows_Solve(&step->rows, step->system, drift->memory->solver,
                                                   &drift->settings->solve, drift->report);
    if (!isDone) {
        return false;
    }
    tpTimeStep_ApplyImpulses(step);
    tpTimeStep_Drift(step);
    return true;
}

// Solves, measures at the end and writes the rows again, until they agree with where they lead.
// Ends after the first solve where that drives bodies beyond where anybody looked, if `mayOutrun`
// is false.
static bool iterate(tpDrift* drift, bool mayOutrun, bool* hasOutrun) {
    tpTimeStep* step = drift->step;
    tpSystem* system = step->system;
    *hasOutrun = false;
    const tpStepReport verdict = *drift->report;
    for (int k = 1;; ++k) {
        drift->miss = 0.0;
        drift->isSettled = true;
        if (!solveOnce(drift, k)) {
            return false;
        }
        *hasOutrun = !mayOutrun && k == 1 && tpTimeStep_Outran(step, NULL);
        if (step->rows.rowCount == 0 || *hasOutrun) {
            return true;
        }
        if (!findContacts(drift, &step->endContacts, &step->endCount)) {
            return false;
        }
        correctContacts(drift);
        if (!correctJoints(drift, step->contactCount)) {
            return false;
        }
        if (drift->isSettled || k == maxCorrections || !tpSystem_HasWorkLeft(system)) {
            return true;
        }
        // It is the last problem that is judged.
        forgetVerdict(drift->report, &verdict);
        tpRows before = step->rows;
        const tpContact* contacts = step->contacts;
        if (!rewriteRows(drift, k)) {
            return false;
        }
        carryImpulses(&before, contacts, &step->rows, step->contacts);
    }
}

// Slower approaches than this part of what gravity gives in the step, and this part of the largest
// speed, are none: rolling and sliding, and tolerances, leave as much.
static const double leastApproach = 0.01, leastPart = 1e-6;

static double largestSpeed(const tpTimeStep* step) {
    double speed = 0.0;
    for (int i = 0; i < step->bodyCount; ++i) {
        if (tpSystem_IsDynamic(step->system, i)) {
            speed =
                fmax(speed, tpVelocity_LargestSpeed(step->system, i, &step->startVelocities[i]));
        }
    }
    return speed;
}

// The largest velocity of a block's rows at the start, and with the smallest sign that of its first
// row.
static double startSpeed(const tpTimeStep* step, int block, int bodyA, int bodyB, bool isHeld) {
    const tpRows* rows = &step->rows;
    double speed = 0.0;
    for (int k = 0; k < (isHeld ? rows->dimensions[block] : 1); ++k) {
        double u = tpRows_RowVelocity(rows, rows->firstRows[block] + k, step->startVelocities,
                                      bodyA, bodyB);
        speed = isHeld ? fmax(speed, fabs(u)) : -u;
    }
    return speed;
}

// Whether a spring or its damper stops a body in not much more than the step: to the step that is
// an impact.
static bool isStiff(const tpDrift* drift, int contact) {
    const tpTimeStep* step = drift->step;
    const tpContactLaw* law = &step->laws[contact];
    int row = step->rows.firstRows[contact];
    double response = tpRows_Response(&step->rows, contact, row) - step->rows.compliance[row];
    return step->h * response * (step->h * law->stiffness + law->damping) > 0.1;
}

// Whether anything has collided: a contact or limit pushes that was open at the start, or
// approached; or a joint held velocities that it does not allow, as one that has just been made may
// find them.
static bool hasCollided(const tpDrift* drift) {
    const tpTimeStep* step = drift->step;
    const tpRows* rows = &step->rows;
    double least = fmax(leastApproach * step->h * tpLength(step->system->gravity),
                        leastPart * largestSpeed(step));
    for (int b = 0; b < rows->blockCount; ++b) {
        int row = rows->firstRows[b];
        bool isContact = rows->infos[b].source == tp_contactSource;
        bool isOneSided = isContact || rows->kinds[b] == tp_frictionNonnegative;
        bool isHeld = rows->infos[b].source == tp_jointSource &&
                      rows->kinds[b] == tp_frictionFree && !(rows->compliance[row] > 0.0);
        if (!isHeld && (!isOneSided || !(rows->impulse[row] > 0.0))) {
            continue;
        }
        int bodyA = rows->bodyA[b], bodyB = rows->bodyB[b];
        if (rows->infos[b].isCoupling) {
            continue; // its joints tell
        }
        if (!isContact) {
            bodyA = step->system->joints.data[rows->infos[b].index].bodyA;
            bodyB = step->system->joints.data[rows->infos[b].index].bodyB;
        } else {
            const tpContact* contact = &step->contacts[b];
            int place = drift->place[b];
            if (step->laws[b].stiffness > 0.0) {
                if (fabs(tpRows_BareVelocity(rows, row)) > least && isStiff(drift, b)) {
                    return true;
                }
                continue; // springs take their time
            }
            if (place < 0 || drift->start[place].gap > tpClosedGap * step->system->units.length) {
                return true;
            }
            bodyA = contact->bodyA;
            bodyB = contact->bodyB;
            if (drift->round[b] > 0) {
                continue; // a second row of a contact that has been looked at
            }
        }
        if (startSpeed(step, b, bodyA, bodyB, isHeld) > least) {
            return true;
        }
    }
    return false;
}

// What is left of the springs' impulses for the second half, and what dampers take: what bodies
// lose in both halves less what the springs store.
static bool finishSprings(tpDrift* drift, tpDriftResult* result) {
    tpTimeStep* step = drift->step;
    tpRows* rows = &step->rows;
    tpArena* arena = &step->system->arena;
    result->rest = TP_SCRATCH_ZEROED(arena, double, step->contactCount);
    double* solved = TP_SCRATCH(arena, double, rows->rowCount);
    double* early = TP_SCRATCH_ZEROED(arena, double, rows->rowCount);
    tpVelocity* moved = tpArena_GetZeroed(arena, sizeof(tpVelocity) * (size_t)step->bodyCount);
    if (arena->failed) {
        return false;
    }
    // The first impulse less half of the whole: what comes too early to act over the way of the
    // drift alone.
    for (int i = 0; i < step->contactCount; ++i) {
        if (step->laws[i].stiffness > 0.0) {
            tpPointSpring spring = springAt(drift, i);
            int row = rows->firstRows[i];
            double whole = tpPointSpring_WholeImpulse(&spring, tpRows_BareVelocity(rows, row));
            result->rest[i] = whole - rows->impulse[row];
            early[row] = rows->impulse[row] - 0.5 * whole;
        }
    }
    memcpy(solved, rows->impulse, sizeof(double) * (size_t)rows->rowCount);
    memcpy(rows->impulse, early, sizeof(double) * (size_t)rows->rowCount);
    tpRows_ApplyImpulses(rows, moved);
    memcpy(rows->impulse, solved, sizeof(double) * (size_t)rows->rowCount);
    for (int i = 0; i < step->contactCount; ++i) {
        if (!(step->laws[i].damping > 0.0)) {
            continue;
        }
        int row = rows->firstRows[i];
        double u = tpRows_BareVelocity(rows, row), whole = rows->impulse[row] + result->rest[i];
        double sooner = tpRows_RowVelocity(rows, row, moved, rows->bodyA[i], rows->bodyB[i]);
        double stored = tpPointSpring_Energy(step->laws[i].stiffness, drift->gap[i] + step->h * u) -
                        tpPointSpring_Energy(step->laws[i].stiffness, drift->gap[i]);
        result->dampingLoss += fmax(0.0, whole * (sooner - u) - stored);
    }
    double rigid = 0.0;
    bool isDone = tpRows_JudgeRigid(rows, step->laws, drift->gap, step->h, arena,
                                    drift->memory->solver, &rigid);
    drift->report->rigidResidual = fmax(drift->report->rigidResidual, rigid);
    return isDone;
}

bool tpDrift_Solve(tpTimeStep* step, tpStepperMemory* memory, const tpDriftSettings* settings,
                   tpDriftResult* result, tpStepReport* report) {
    tpDrift drift = { .step = step, .memory = memory, .settings = settings, .report = report };
    for (int pass = 1; pass <= maxPasses; ++pass) {
        if (pass > 1) {
            // The drift of the last pass has turned bodies; inertia is that of the start.
            memcpy(step->system->poses.data, step->startPoses,
                   sizeof(tpPose) * (size_t)step->bodyCount);
        }
        bool isLast = pass == maxPasses || !tpSystem_HasWorkLeft(step->system), hasOutrun;
        tpContact* contacts;
        int count;
        if (!findContacts(&drift, &contacts, &count) ||
            !tpTimeStep_UseContacts(step, contacts, count) || !addStartRows(&drift) ||
            !iterate(&drift, isLast, &hasOutrun)) {
            return false;
        }
        if (isLast || (!hasOutrun && !tpTimeStep_Outran(step, NULL))) {
            break;
        }
    }
    result->miss = drift.miss;
    result->overlap = 0.0;
    // Contacts that give overlap as they are meant to.
    for (int i = 0; i < drift.startCount && !drift.hasSprings; ++i) {
        result->overlap = fmax(result->overlap, -drift.start[i].gap);
    }
    result->hasCollided = hasCollided(&drift);
    result->rest = NULL;
    result->dampingLoss = 0.0;
    return tpRowHistory_Keep(&memory->driftRows, &memory->allocator, &step->rows, step->h) &&
           (!drift.hasSprings || finishSprings(&drift, result));
}
