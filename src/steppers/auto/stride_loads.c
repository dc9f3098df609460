#include "steppers/auto/stride_loads.h"

#include <string.h>

#include "dynamics/joint_state.h"

enum { quarterCount = 4, energyCount = 3 };

void tpStrideLoads_Destroy(tpStrideLoads* loads, tpSystem* system) {
    TP_FREE_ARRAY(&system->allocator, loads->sums);
    TP_FREE_ARRAY(&system->allocator, loads->contacts);
}

static int sumCount(const tpSystem* system) {
    return tpJoints_ReactionCount(system) + energyCount;
}

bool tpStrideLoads_Begin(tpStrideLoads* loads, tpSystem* system) {
    int count = quarterCount * sumCount(system);
    loads->contacts.count = 0;
    loads->residual = loads->penetration = 0.0;
    if (!TP_RESERVE(&system->allocator, loads->sums, count)) {
        return false;
    }
    memset(loads->sums.data, 0, sizeof(double) * (size_t)count); // a stride may end before them
    loads->sums.count = count;
    return true;
}

// Quarters ----------------------------------------------------------------------------------------

static bool setContacts(tpStrideLoads* loads, tpSystem* system, int quarter, const tpTally* tally) {
    if (quarter == 0) {
        int count = quarterCount * tally->count;
        if (!TP_RESERVE(&system->allocator, loads->contacts, count)) {
            return false;
        }
        loads->contacts.count = count;
    }
    bool isSame = loads->contacts.count == quarterCount * tally->count;
    for (int i = 0; isSame && i < tally->count; ++i) {
        loads->contacts.data[quarter * tally->count + i] = tally->list[i];
        isSame = tpContactInfo_Compare(&loads->contacts.data[i], &tally->list[i]) == 0;
    }
    return isSame;
}

// Impulses of joints, then work and losses.
static double sumOf(int i, int reactionCount, const double* reactions, const tpStepReport* report) {
    const double energies[energyCount] = { report->externalWork, report->frictionLoss,
                                           report->impactLoss };
    return i < reactionCount ? reactions[i] : energies[i - reactionCount];
}

bool tpStrideLoads_Set(tpStrideLoads* loads, tpSystem* system, int quarter, const double* reactions,
                       const tpStepReport* report, const tpTally* tally) {
    int count = tpJoints_ReactionCount(system);
    double* sums = loads->sums.data + quarter * sumCount(system);
    for (int i = 0; i < count + energyCount; ++i) {
        sums[i] = sumOf(i, count, reactions, report);
    }
    loads->residual = fmax(loads->residual, report->residual);
    loads->penetration = fmax(loads->penetration, report->penetration);
    return setContacts(loads, system, quarter, tally);
}

// What the sums are off by at the ends of the two steps is known. It starts with 0: a polynomial of
// second degree in time tells it for the quarters.
void tpStrideLoads_Extrapolate(tpStrideLoads* loads, const tpSystem* system,
                               const double* firstReactions, const tpStepReport* first,
                               const double* secondReactions, const tpStepReport* second) {
    int reactionCount = tpJoints_ReactionCount(system), count = sumCount(system);
    double* quarters = loads->sums.data;
    for (int i = 0; i < count; ++i) {
        double *q0 = &quarters[i], *q1 = q0 + count, *q2 = q1 + count, *q3 = q2 + count;
        double inFirst = sumOf(i, reactionCount, firstReactions, first);
        double inSecond = sumOf(i, reactionCount, secondReactions, second);
        double middle = (*q0 + *q1 - inFirst) / 3.0, end = middle + (*q2 + *q3 - inSecond) / 3.0;
        double one = 0.75 * middle - 0.125 * end, three = 0.75 * middle + 0.375 * end;
        *q0 += one;
        *q1 += middle - one;
        *q2 += three - middle;
        *q3 += end - three;
    }
}

// Between -----------------------------------------------------------------------------------------

// The part of the impulse of each quarter that has acted up to s: Lagrange's polynomials for the
// quarters, of which each counts for all that begin before it.
static void findShares(double s, double shares[quarterCount]) {
    double t = quarterCount * s, a = t - 1.0, b = t - 2.0, c = t - 3.0, d = t - 4.0;
    double ab = t * a * b, cd = c * d;
    shares[3] = ab * c * (1.0 / 24.0);
    shares[2] = shares[3] - ab * d * (1.0 / 6.0);
    shares[1] = shares[2] + t * a * cd * 0.25;
    shares[0] = shares[1] - t * b * cd * (1.0 / 6.0);
}

static tpVec3 impulseOf(const tpContactInfo* info) {
    return tpMulAdd(info->frictionImpulse, info->normalImpulse, info->normal);
}

int tpStrideLoads_ContactCount(const tpStrideLoads* loads) {
    return loads->contacts.count / quarterCount;
}

// A contact as it was in a quarter, where the bodies are now, with what it has carried.
static tpContactInfo contactNow(const tpStrideLoads* loads, int i, int quarter,
                                const tpContact* now, const double shares[quarterCount]) {
    int count = tpStrideLoads_ContactCount(loads);
    const tpContactInfo* infos = loads->contacts.data + i;
    tpContactInfo info = infos[quarter * count];
    if (now != NULL) {
        tpContactInfo place = tpContactInfo_Make(now);
        info.point = place.point;
        info.normal = place.normal;
        info.gap = place.gap;
    }
    info.normalImpulse = info.torsionalImpulse = 0.0;
    info.frictionImpulse = info.rollingImpulse = tpZeroVec3();
    for (int k = 0; k < quarterCount; ++k) {
        const tpContactInfo* part = &infos[k * count];
        tpContactInfo_AddImpulse(&info, tpScale(shares[k], impulseOf(part)));
        info.torsionalImpulse += shares[k] * part->torsionalImpulse;
        info.rollingImpulse = tpMulAdd(info.rollingImpulse, shares[k], part->rollingImpulse);
    }
    return info;
}

double* tpSystem_TouchMargins(tpSystem* system) {
    double* margins = TP_SCRATCH(&system->arena, double, system->bodyCount);
    for (int i = 0; margins != NULL && i < system->bodyCount; ++i) {
        margins[i] = TP_TOUCH_DISTANCE * system->units.length;
    }
    return margins;
}

bool tpSystem_FindTouching(tpSystem* system, const tpContactInfo* list, int listCount,
                           tpContact** contacts, int* count) {
    double* margins = tpSystem_TouchMargins(system);
    tpShapePair* pairs = TP_SCRATCH(&system->arena, tpShapePair, listCount);
    int pairCount = 0;
    for (int i = 0; pairs != NULL && i < listCount; ++i) {
        tpContactKey key = tpContactInfo_Key(&list[i]);
        const tpShapePair* last = pairCount > 0 ? &pairs[pairCount - 1] : NULL;
        if (last == NULL || last->shapeA != key.shapeA || last->shapeB != key.shapeB) {
            pairs[pairCount++] = (tpShapePair){ key.shapeA, key.shapeB };
        }
    }
    return margins != NULL && pairs != NULL &&
           tpSystem_FindContactsOf(system, pairs, pairCount, system->poses.data, margins, contacts,
                                   count) == tp_success;
}

bool tpStrideLoads_Look(tpStrideLoads* loads, tpSystem* system) {
    tpContact* contacts;
    int count;
    if (loads->contacts.count == 0) {
        return true;
    }
    int listCount = tpStrideLoads_ContactCount(loads);
    if (!tpSystem_FindTouching(system, loads->contacts.data, listCount, &contacts, &count)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        loads->penetration = fmax(loads->penetration, -contacts[i].gap);
    }
    return true;
}

static void sharesBetween(double from, double to, double shares[quarterCount]) {
    double before[quarterCount];
    findShares(from, before);
    findShares(to, shares);
    for (int k = 0; k < quarterCount; ++k) {
        shares[k] -= before[k];
    }
}

void tpStrideLoads_Add(const tpStrideLoads* loads, const tpSystem* system, double from, double to,
                       double* reactions, tpStepReport* report) {
    int count = tpJoints_ReactionCount(system);
    double shares[quarterCount];
    sharesBetween(from, to, shares);
    for (int k = 0; k < quarterCount; ++k) {
        const double* sums = loads->sums.data + k * sumCount(system);
        for (int i = 0; i < count; ++i) {
            reactions[i] += shares[k] * sums[i];
        }
        report->externalWork += shares[k] * sums[count];
        report->frictionLoss += shares[k] * sums[count + 1];
        report->impactLoss += shares[k] * sums[count + 2];
    }
    report->residual = fmax(report->residual, loads->residual);
}

bool tpStrideLoads_ListContacts(const tpStrideLoads* loads, tpSystem* system, double from,
                                double to, tpTally* list) {
    int count = tpStrideLoads_ContactCount(loads);
    int quarter = (int)fmin(quarterCount - 1, quarterCount * 0.5 * (from + to));
    double shares[quarterCount];
    tpContact* now;
    int nowCount, cursor = 0;
    list->count = 0;
    list->list = TP_SCRATCH(&system->arena, tpContactInfo, count);
    if (count == 0) {
        return true;
    }
    if (list->list == NULL ||
        !tpSystem_FindTouching(system, loads->contacts.data, count, &now, &nowCount)) {
        return false;
    }
    sharesBetween(from, to, shares);
    for (int i = 0; i < count; ++i) {
        tpContactKey key = tpContactInfo_Key(&loads->contacts.data[i]);
        const tpContact* same = tpContacts_FindSame(key, now, nowCount, &cursor);
        list->list[list->count++] = contactNow(loads, i, quarter, same, shares);
    }
    return true;
}

// Snapshots ---------------------------------------------------------------------------------------

typedef struct SavedLoads {
    int sumCount, contactCount;
    double residual, penetration;
} SavedLoads;

size_t tpStrideLoads_SavedSize(const tpStrideLoads* loads) {
    return sizeof(SavedLoads) + sizeof(double) * (size_t)loads->sums.count +
           sizeof(tpContactInfo) * (size_t)loads->contacts.count;
}

// Field by field: padding has no value.
static void copyFields(const tpContactInfo* from, tpContactInfo* to) {
    memset(to, 0, sizeof(*to));
    to->bodyA.slot = from->bodyA.slot;
    to->bodyB.slot = from->bodyB.slot;
    to->shapeA.slot = from->shapeA.slot;
    to->shapeB.slot = from->shapeB.slot;
    to->feature = from->feature;
    to->point = from->point;
    to->normal = from->normal;
    to->gap = from->gap;
    to->normalImpulse = from->normalImpulse;
    to->frictionImpulse = from->frictionImpulse;
    to->torsionalImpulse = from->torsionalImpulse;
    to->rollingImpulse = from->rollingImpulse;
    to->slidingSpeed = from->slidingSpeed;
    to->state = from->state;
    to->collisionCount = from->collisionCount;
    to->microcollisionCount = from->microcollisionCount;
    to->energyLost = from->energyLost;
}

unsigned char* tpStrideLoads_Save(const tpStrideLoads* loads, unsigned char* place) {
    SavedLoads head = { loads->sums.count, loads->contacts.count, loads->residual,
                        loads->penetration };
    size_t sums = sizeof(double) * (size_t)head.sumCount;
    memcpy(place, &head, sizeof(head));
    place += sizeof(head);
    if (sums > 0) {
        memcpy(place, loads->sums.data, sums);
    }
    place += sums;
    for (int i = 0; i < loads->contacts.count; ++i, place += sizeof(tpContactInfo)) {
        tpContactInfo bare;
        copyFields(&loads->contacts.data[i], &bare);
        memcpy(place, &bare, sizeof(bare));
    }
    return place;
}

// What comes from outside may say anything.
static bool areRight(const tpStrideLoads* loads, const tpSystem* system) {
    bool isRight = loads->contacts.count % quarterCount == 0 &&
                   (loads->sums.count == 0 || loads->sums.count == quarterCount * sumCount(system));
    for (int i = 0; isRight && i < loads->contacts.count; ++i) {
        const tpContactInfo* info = &loads->contacts.data[i];
        tpContactKey key = tpContactInfo_Key(info);
        int bodyA = tpContactInfo_BodyA(info), bodyB = tpContactInfo_BodyB(info);
        isRight = bodyA >= 0 && bodyA < system->bodyCount && bodyB >= 0 &&
                  bodyB < system->bodyCount && key.shapeA >= 0 &&
                  key.shapeA < system->shapes.count && key.shapeB >= 0 &&
                  key.shapeB < system->shapes.count;
    }
    return isRight;
}

bool tpStrideLoads_Restore(tpStrideLoads* loads, tpSystem* system, tpSavedReader* reader) {
    SavedLoads head;
    if (!tpSavedReader_Take(reader, &head, sizeof(head)) ||
        !tpSavedReader_Has(reader, head.sumCount, sizeof(double)) ||
        !tpSavedReader_Has(reader, head.contactCount, sizeof(tpContactInfo)) ||
        !TP_RESERVE(&system->allocator, loads->sums, head.sumCount) ||
        !TP_RESERVE(&system->allocator, loads->contacts, head.contactCount) ||
        !tpSavedReader_Take(reader, loads->sums.data, sizeof(double) * (size_t)head.sumCount) ||
        !tpSavedReader_Take(reader, loads->contacts.data,
                            sizeof(tpContactInfo) * (size_t)head.contactCount)) {
        return false;
    }
    loads->sums.count = head.sumCount;
    loads->contacts.count = head.contactCount;
    loads->residual = head.residual;
    loads->penetration = head.penetration;
    return areRight(loads, system);
}
