// The constrained drift: gap(q1) >= 0 and Theta(q1) = 0 with q1 = drift(q, v', h).
//
// The problem is nonlinear in q1. Contacts that are closed at the start hold: their rows keep the
// directions of the start, as constraints of RATTLE do, and their biases are corrected by what the true
// gap at the end says, those of friction by the slip half way through the drift. Contacts that close within the step have the directions of the end instead, so that
// they take energy and give none; their rows are written afresh where each solve leads, as in
// [StewartTrinkle96, sec. 3.4]. The first solve has all rows from the start, so that nothing passes
// through anything on its way.
//
// The careful way gives no energy, at the price of second order: every contact has its linear row of the
// start, as in (4.11), and one with the directions of the end. Where a gap bends open on the way the first
// one binds, without work; where it bends shut the second one, which brakes. Rows that bind stay when others
// are written: rims whose lowest point runs around have several.

#include "steppers/drift.h"

#include <string.h>

#include "dynamics/joints.h"

enum { maxCorrections = 20, maxPasses = 5 };

// The drift has to meet gaps and joints to this, m or rad.
static const double driftTolerance = 1e-12;

// The careful way ends sooner: its rows do not agree with each other to the last digit.
static const double carefulTolerance = 1e-10;

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

    // Of each contact in the step: its place in the list above or -1, the solve after which its row was
    // written (0: at the start), and the row's bias.
    int* place;
    int* round;
    double* bias;
    tpPose* poses[maxCorrections]; // by rounds
    double* jointBias;             // of all rows of joints, in order
    bool isRelinearised;
} tpDrift;

// Of an overlap at the start only a part is to be taken back: what remains is meant.
static double meantGap(const tpDrift* drift, int place) {
    double gap = place >= 0 ? drift->start[place].gap : 0.0;
    return gap < 0.0 ? (1.0 - drift->settings->gamma) * gap : 0.0;
}

// Velocities of the rows without impulses: those of the drift.
static void setDriftVelocities(tpTimeStep* step) {
    tpVelocity* kept = step->freeVelocities;
    step->freeVelocities = step->freeMoves;
    tpTimeStep_SetFreeVelocities(step);
    step->freeVelocities = kept;
}

static void writeJoints(const tpDrift* drift, tpRows* rows, const tpPose* poses, double h) {
    const tpTimeStep* step = drift->step;
    bool isWhole = drift->settings->isWhole;
    tpJointTreatment treatment = { h, 1.0, NULL, isWhole ? step->h : 0.5 * step->h };
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
    drift->poses[0] = step->startPoses;
    drift->jointBias = TP_SCRATCH(arena, double, jointRows);
    drift->isRelinearised = false;
    if (arena->failed) {
        return false;
    }
    for (int i = 0; i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        double part = contact->gap > 0.0 ? 1.0 : drift->settings->gamma;
        drift->isKept[i] = contact->gap <= tpClosedGap || drift->settings->isCareful;
        drift->keptBias[i] = part * contact->gap / step->h;
        drift->place[i] = i;
        tpRows_AddContact(&step->rows, step->system, step->startPoses, contact, i, &step->laws[i],
                          drift->keptBias[i]);
    }
    addJointRows(drift);
    tpTimeStep_WarmStart(step, &drift->memory->history, drift->settings->isCareful ? 1.0 : 0.5);
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
    int count;
} tpMerged;

static void putContact(tpMerged* merged, const tpContact* contact, int place, int round,
                       double bias) {
    int i = merged->count++;
    merged->contacts[i] = *contact;
    merged->place[i] = place;
    merged->round[i] = round;
    merged->bias[i] = bias;
}

static void putOld(const tpDrift* drift, int i, tpMerged* merged) {
    if (stays(drift, i)) {
        int place = drift->place[i];
        double bias = drift->round[i] == 0 ? drift->keptBias[place] : drift->bias[i];
        putContact(merged, &drift->step->contacts[i], place, drift->round[i], bias);
    }
}

// Contacts at the end whose row of the start stays have that one alone, but for the careful way.
static bool mergeContacts(tpDrift* drift, int round) {
    tpTimeStep* step = drift->step;
    tpArena* arena = &step->system->arena;
    size_t capacity = (size_t)step->contactCount + (size_t)step->endCount;
    tpMerged merged = { TP_SCRATCH(arena, tpContact, capacity), TP_SCRATCH(arena, int, capacity),
                        TP_SCRATCH(arena, int, capacity), TP_SCRATCH(arena, double, capacity), 0 };
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
        if (!isSame || !drift->isKept[start] || drift->settings->isCareful) {
            putContact(&merged, end, isSame ? start : -1, round, 0.0);
        }
    }
    for (; old < step->contactCount; ++old) {
        putOld(drift, old, &merged);
    }
    drift->place = merged.place;
    drift->round = merged.round;
    drift->bias = merged.bias;
    return tpTimeStep_UseContacts(step, merged.contacts, merged.count);
}

// Writes the rows again after solve number `round`: those that stay, and those of the end where it is.
static bool rewriteRows(tpDrift* drift, int round) {
    tpTimeStep* step = drift->step;
    tpSystem* system = step->system;
    double* inverseMass = step->rows.inverseMass; // that of the start
    tpVelocity* moves = TP_SCRATCH(&system->arena, tpVelocity, step->bodyCount);
    tpPose* poses = TP_SCRATCH(&system->arena, tpPose, step->bodyCount);
    if (moves == NULL || poses == NULL || !mergeContacts(drift, round)) {
        return false;
    }
    tpTimeStep_LinearMoves(step, moves);
    memcpy(poses, system->poses.data, sizeof(tpPose) * (size_t)step->bodyCount);
    drift->poses[round] = poses;
    step->rows.inverseMass = inverseMass;
    for (int i = 0; i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        int block = tpRows_AddContact(&step->rows, system, drift->poses[drift->round[i]], contact,
                                      i, &step->laws[i], drift->bias[i]);
        int row = step->rows.firstRows[block];
        for (int k = 1; drift->round[i] == 0 && k < step->rows.dimensions[block] && k < 3; ++k) {
            step->rows.bias[row + k] = drift->keptSlip[drift->place[i]][k - 1];
        }
        if (drift->round[i] == round) {
            double towards =
                tpRows_RowVelocity(&step->rows, row, moves, contact->bodyA, contact->bodyB);
            double gap = contact->gap - meantGap(drift, drift->place[i]);
            drift->bias[i] = step->rows.bias[row] = gap / step->h - towards;
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

// By how much the rows of joints have missed; their biases take it in.
static bool correctJoints(tpDrift* drift, int firstBlock, double* largest) {
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
        bool isHeld = rows->infos[b].source == tp_jointSource;
        bool isIdle = rows->kinds[b] == tp_frictionNonnegative && rows->impulse[first] == 0.0;
        for (int k = 0; k < rows->dimensions[b]; ++k) {
            double miss = 0.0;
            if (isHeld && !isIdle && !(rows->compliance[first + k] > 0.0)) {
                miss = end.bias[endFirst + k] - step->h * rows->velocity[first + k];
            }
            rows->bias[first + k] += miss / step->h;
            drift->jointBias[endFirst + k] = rows->bias[first + k];
            *largest = fmax(*largest, fabs(miss));
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

// Friction acts on the slip half way through the drift, of which the rows of the start know nothing:
// with theirs a ball on a turntable spirals outwards. Returns the largest change, m or rad.
static double correctSlip(tpDrift* drift, int contact, const tpContact* end) {
    const tpTimeStep* step = drift->step;
    const tpRows* rows = &step->rows;
    const tpContact* start = &step->contacts[contact];
    tpVec3 slip = tpSub(surfaceVelocity(step, start->bodyA, start->pointA, end->pointA),
                        surfaceVelocity(step, start->bodyB, start->pointB, end->pointB));
    int first = rows->firstRows[contact];
    double largest = 0.0;
    for (int k = 1; k < rows->dimensions[contact] && k < 3; ++k) {
        double linear = rows->velocity[first + k] - rows->bias[first + k];
        double bias = tpDot(step->laws[contact].tangents[k - 1], slip) - linear;
        largest = fmax(largest, step->h * fabs(bias - rows->bias[first + k]));
        drift->keptSlip[drift->place[contact]][k - 1] = bias;
    }
    return largest;
}

// What a row has missed of the true gap at the end. Biases of those that hold take it in.
static double correctRow(tpDrift* drift, int contact, const tpContact* end) {
    tpTimeStep* step = drift->step;
    tpRows* rows = &step->rows;
    int first = rows->firstRows[contact], place = drift->place[contact];
    bool isPushing = rows->impulse[first] > 0.0;
    double gap = end->gap - meantGap(drift, place);
    if (drift->settings->isCareful) {
        // Other rows of the same contact may hold it farther away.
        return fmax(0.0, -gap);
    }
    // What carries nothing matters only where it has been let through.
    if (!isPushing && gap >= 0.0) {
        return 0.0;
    }
    double miss = gap - step->h * rows->velocity[first];
    if (drift->round[contact] == 0) {
        drift->keptBias[place] = rows->bias[first] + miss / step->h;
        if (isPushing && drift->isKept[place]) {
            return fmax(fabs(miss), correctSlip(drift, contact, end));
        }
    }
    return fabs(miss);
}

// Compares the rows of contacts with the true gaps at the end. Returns the largest miss.
static double correctContacts(tpDrift* drift, int contactBlocks) {
    tpTimeStep* step = drift->step;
    const tpRows* rows = &step->rows;
    double largest = 0.0;
    int next = 0;
    bool isFound = false; // the contact at `next` has had a row
    for (int b = 0; b < contactBlocks; ++b) {
        const tpContact* contact = &step->contacts[rows->infos[b].index];
        int order = 1;
        for (; next < step->endCount; ++next) {
            order = tpContact_CompareKeys(&step->endContacts[next], contact);
            if (order >= 0) {
                break;
            }
            largest = isFound ? largest : fmax(largest, -step->endContacts[next].gap);
            isFound = false;
        }
        if (next < step->endCount && order == 0) {
            largest = fmax(largest, correctRow(drift, b, &step->endContacts[next]));
            isFound = true;
        } else if (rows->impulse[rows->firstRows[b]] > 0.0 && !stays(drift, b)) {
            // Other features have met: look again there.
            largest = fmax(largest, 2.0 * driftTolerance);
        }
    }
    for (; next < step->endCount; ++next) {
        largest = isFound ? largest : fmax(largest, -step->endContacts[next].gap);
        isFound = false;
    }
    return largest;
}

static bool solveOnce(tpDrift* drift) {
    tpTimeStep* step = drift->step;
    setDriftVelocities(step);
    if (!tpRows_Solve(&step->rows, step->system, drift->memory->solver, &drift->settings->solve,
                      drift->report)) {
        return false;
    }
    tpTimeStep_ApplyImpulses(step);
    tpTimeStep_Drift(step);
    return true;
}

// Solves, measures at the end and writes the rows again, until they agree with where they lead.
static bool iterate(tpDrift* drift, double* miss) {
    tpTimeStep* step = drift->step;
    tpSystem* system = step->system;
    for (int k = 1;; ++k) {
        *miss = 0.0;
        if (!solveOnce(drift)) {
            return false;
        }
        if (step->rows.rowCount == 0) {
            return true;
        }
        if (tpSystem_FindContacts(system, system->poses.data, step->margins, &step->endContacts,
                                  &step->endCount) != tp_success) {
            return false;
        }
        *miss = correctContacts(drift, step->contactCount);
        if (!correctJoints(drift, step->contactCount, miss)) {
            return false;
        }
        double enough = drift->settings->isCareful ? carefulTolerance : driftTolerance;
        if (*miss <= enough || k == maxCorrections) {
            return true;
        }
        tpRows before = step->rows;
        const tpContact* contacts = step->contacts;
        if (!rewriteRows(drift, k)) {
            return false;
        }
        carryImpulses(&before, contacts, &step->rows, step->contacts);
    }
}

bool tpDrift_Solve(tpTimeStep* step, tpStepperMemory* memory, const tpDriftSettings* settings,
                   double* miss, tpStepReport* report) {
    tpDrift drift = { .step = step, .memory = memory, .settings = settings, .report = report };
    for (int pass = 0; pass < maxPasses; ++pass) {
        if (pass > 0) {
            // The drift of the last pass has turned bodies; inertia is that of the start.
            memcpy(step->system->poses.data, step->startPoses,
                   sizeof(tpPose) * (size_t)step->bodyCount);
        }
        if (!tpTimeStep_FindContacts(step, step->startPoses) || !addStartRows(&drift) ||
            !iterate(&drift, miss)) {
            return false;
        }
        if (!tpTimeStep_Outran(step, NULL)) {
            break;
        }
    }
    return true;
}
