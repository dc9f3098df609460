// Rows of the drift: of contacts at its start and at its end, and of joints.

#include "steppers/drift_problem.h"

#include <string.h>

#include "dynamics/reduced.h"

// Gaps of contacts that do not hold for many steps are met to this at least, in units of length.
static const double impactTolerance = 1e-10;

// Contacts that come up within a step may go this part of the room deep.
static const double newPart = 0.2;

// Of an overlap at the start beyond the room only a part is to be taken back: what remains is
// meant.
static double meantOf(const tpDrift* drift, double gap) {
    double room = drift->settings->room;
    return gap < -room ? (1.0 - drift->settings->gamma) * (gap + room) - room : fmin(gap, 0.0);
}

// The same for a contact at the end. One that has come up on the way may go a part of the room
// deep, and as deep as others of the same shapes: a disc that lies flat tips by that before it is
// known which point of its rim holds it. Shapes that overlap may touch by other features than at
// the start: what remains of their overlap is meant there too. All of it in a short part of a step
// threw coins at 70 m/s.
double tpDrift_MeantEndGap(const tpDrift* drift, const tpContact* contact, int place) {
    double room = drift->settings->room;
    if (place >= 0) {
        return meantOf(drift, drift->start[place].gap);
    }
    if (!(room > 0.0) && !(drift->settings->gamma < 1.0)) {
        return 0.0;
    }
    double deepest = tpContacts_Deepest(drift->start, drift->startCount, contact);
    return room > 0.0 ? fmin(-newPart * room, fmax(deepest, -room)) : meantOf(drift, deepest);
}

double tpDrift_EndTolerance(const tpDrift* drift) {
    double unit = drift->step->system->units.length;
    // A row that is written again for what the last solve has left would meet it no better: gaps
    // that contradict each other stay so, and each round adds rows to them.
    return fmax(drift->settings->tolerance / unit, impactTolerance) + drift->left;
}

tpJointTreatment tpDrift_JointTreatment(const tpDrift* drift) {
    double h = drift->step->h;
    return (tpJointTreatment){ h, 1.0, NULL, drift->settings->isWhole ? h : 0.5 * h, 0.0, false };
}

static void addJointRows(const tpDrift* drift) {
    tpTimeStep* step = drift->step;
    tpJointTreatment treatment = tpDrift_JointTreatment(drift);
    if (step->reduced != NULL) {
        tpReduced_Place(step->reduced, &step->rows, step->startPoses, &treatment, tp_firstHalf);
    } else if (drift->settings->isWhole) {
        tpJoints_AddRows(&step->rows, step->system, step->startPoses, &treatment);
    } else {
        tpJoints_AddHalfRows(&step->rows, step->system, step->startPoses, &treatment, tp_firstHalf,
                             NULL);
    }
}

// A contact that carried something in the last step is closed below this gap, in units of length. A
// careful step ends some 1e-8 above the surface that it brakes on: taken for open there, a coin
// that rolls collided in every other step and lost a part of its energy each time.
static const double carriedGap = 1e-6;

// Which contacts of the start are closed. Contacts are in order, and so is the history.
static void findClosed(tpDrift* drift) {
    const tpTimeStep* step = drift->step;
    double unit = step->system->units.length;
    int cursor = 0;
    for (int i = 0; i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        const tpContactMemory* last =
            tpContactHistory_Find(&drift->memory->history, contact, &cursor);
        bool carried = last != NULL && tpDot(last->impulse, contact->normal) > 0.0;
        drift->isClosed[i] = contact->gap <= (carried ? carriedGap : tpClosedGap) * unit;
    }
}

// All contacts of the start, with its directions.
bool tpDrift_AddStartRows(tpDrift* drift) {
    tpTimeStep* step = drift->step;
    tpArena* arena = &step->system->arena;
    drift->start = step->contacts;
    drift->startCount = step->contactCount;
    drift->isClosed = TP_SCRATCH(arena, bool, step->contactCount);
    drift->isKept = TP_SCRATCH(arena, bool, step->contactCount);
    drift->keptBias = TP_SCRATCH(arena, double, step->contactCount);
    drift->keptSlip =
        tpArena_GetZeroed(arena, sizeof(*drift->keptSlip) * (size_t)step->contactCount);
    drift->place = TP_SCRATCH(arena, int, step->contactCount);
    drift->round = TP_SCRATCH_ZEROED(arena, int, step->contactCount);
    drift->gap = TP_SCRATCH(arena, double, step->contactCount);
    drift->hasSprings = false;
    drift->poses[0] = step->startPoses;
    if (arena->failed) {
        return false;
    }
    findClosed(drift);
    for (int i = 0; i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        bool isSpring = step->laws[i].stiffness > 0.0;
        drift->hasSprings = drift->hasSprings || isSpring;
        drift->isKept[i] = drift->isClosed[i] || drift->settings->isCareful || isSpring;
        drift->keptBias[i] =
            isSpring ? 0.0 : (contact->gap - meantOf(drift, contact->gap)) / step->h;
        drift->gap[i] = contact->gap;
        drift->place[i] = i;
        tpRows_AddContact(&step->rows, step->system, step->startPoses, contact, i, &step->laws[i],
                          drift->keptBias[i]);
    }
    int firstJoint = step->rows.rowCount;
    addJointRows(drift);
    int jointRows = step->rows.rowCount - firstJoint;
    drift->jointBias = TP_SCRATCH(arena, double, jointRows);
    if (arena->failed) {
        return false;
    }
    if (jointRows > 0) {
        memcpy(drift->jointBias, step->rows.bias + firstJoint, sizeof(double) * (size_t)jointRows);
    }
    tpRowHistory_Foresee(&drift->memory->driftRows, &step->rows, step->h,
                         !drift->settings->isWhole);
    if (step->reduced != NULL) {
        tpReduced_Foresee(step->reduced, &drift->memory->bends);
    }
    tpTimeStep_WarmStart(step, &drift->memory->history, drift->settings->isCareful ? 1.0 : 0.5);
    tpRowHistory_Start(&drift->memory->driftRows, &step->rows, step->h);
    if (!drift->settings->isCareful) {
        tpTimeStep_LineariseAtStart(step);
    }
    return true;
}

// Whether a contact's row stays when rows are written again. Hulls that tumble meet by one pair of
// features, which a solve holds, so that another pair meets at its end: rows of that pair alone
// lead back to the first. Such rounds go in circles until the work of the step is spent. A row that
// has pushed stays therefore, if its features are not found any more, and both are held at once.
bool tpDrift_Stays(const tpDrift* drift, int contact) {
    if (drift->round[contact] == 0) {
        return drift->isKept[drift->place[contact]];
    }
    const tpRows* rows = &drift->step->rows;
    bool isGone = drift->isCollecting && !drift->isAtEnd[contact] &&
                  !(drift->step->laws[contact].stiffness > 0.0);
    return (drift->settings->isCareful || isGone) && rows->impulse[rows->firstRows[contact]] > 0.0;
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
    if (tpDrift_Stays(drift, i)) {
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
        double gap = end->gap - tpDrift_MeantEndGap(drift, end, place);
        bool isMissed = gap < -tpDrift_EndTolerance(drift) * step->system->units.length;
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
// is. Joints keep the rows of the start, with the biases that have been corrected.
bool tpDrift_RewriteRows(tpDrift* drift, int round) {
    tpTimeStep* step = drift->step;
    tpSystem* system = step->system;
    const tpRows before = step->rows;
    int firstJoint = step->contactCount;
    tpVelocity* meanVelocities = TP_SCRATCH(&system->arena, tpVelocity, step->bodyCount);
    tpPose* poses = TP_SCRATCH(&system->arena, tpPose, step->bodyCount);
    if (meanVelocities == NULL || poses == NULL || !mergeContacts(drift, round)) {
        return false;
    }
    tpTimeStep_LinearMeanVelocities(step, meanVelocities);
    memcpy(poses, system->poses.data, sizeof(tpPose) * (size_t)step->bodyCount);
    drift->poses[round] = poses;
    step->rows.inverseMass = before.inverseMass; // that of the start
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
            double gap = contact->gap - tpDrift_MeantEndGap(drift, contact, drift->place[i]);
            bool gives = step->laws[i].stiffness > 0.0;
            drift->gap[i] = contact->gap - step->h * towards;
            drift->hasSprings = drift->hasSprings || gives;
            drift->bias[i] = step->rows.bias[row] = gives ? 0.0 : gap / step->h - towards;
        }
    }
    tpRows_CopyBlocks(&step->rows, &before, firstJoint);
    return true;
}
