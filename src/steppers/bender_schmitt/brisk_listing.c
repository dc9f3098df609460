// What a step in parts reports of its contacts, and what it leaves to the next one: the contacts at its
// start carry the impulses, those at its end have the gaps.

#include <string.h>

#include "steppers/bender_schmitt/brisk.h"
#include "steppers/bender_schmitt/matching.h"

// As in listing.c.
static const double touchDistance = 1e-6;
static const double stickingSpeed = 1e-8;

// Of each contact at the start, in the collider's order: read from the packs once, pack by pack.
typedef struct Carried {
    double total[3], last[3]; // impulses over the step and of its last part, in the contact's frame
    double slidingSpeed;
} Carried;

static void gather(const tpTouch* touch, Carried* carried) {
    const tpSweeper* sweeper = &touch->sweeper;
    for (int p = 0; p < sweeper->packCount; ++p) {
        const tpContactPack* pack = &sweeper->packs[p];
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            if (pack->contact[lane] < 0) {
                continue;
            }
            Carried* c = &carried[pack->contact[lane]];
            for (int k = 0; k < 3; ++k) {
                c->total[k] = pack->total[k][lane];
                c->last[k] = pack->impulse[k][lane];
            }
            double ut = pack->speed[1][lane], uo = pack->speed[2][lane];
            c->slidingSpeed = sqrt(ut * ut + uo * uo);
        }
    }
}

static tpVec3 frictionOf(const tpContactLaw* law, const double impulse[3]) {
    return tpMulAdd(tpScale(law->ellipse[0] * impulse[1], law->tangents[0]),
                    law->ellipse[1] * impulse[2], law->tangents[1]);
}

static tpContactInfo describe(const tpContact* contact, double gap) {
    tpContactInfo info;
    memset(&info, 0, sizeof(info));
    info.bodyA.slot = (uint32_t)contact->bodyA + 1;
    info.bodyB.slot = (uint32_t)contact->bodyB + 1;
    info.shapeA.slot = (uint32_t)contact->shapeA + 1;
    info.shapeB.slot = (uint32_t)contact->shapeB + 1;
    info.feature = contact->feature;
    info.point = tpScale(0.5, tpAdd(contact->pointA, contact->pointB));
    info.normal = contact->normal;
    info.gap = gap;
    return info;
}

// A contact of the start: listed where it carried something or touches at the end.
static void listStart(tpBenderStep* step, int index, const Carried* c, double gap) {
    tpSystem* system = step->system;
    bool carries = c->total[0] > 0.0;
    if (!carries && gap > touchDistance) {
        return;
    }
    tpContactInfo info = describe(&step->start.contacts[index], gap);
    info.normalImpulse = c->total[0];
    info.frictionImpulse = frictionOf(&step->start.laws[index], c->total);
    info.slidingSpeed = c->slidingSpeed;
    info.state = !carries                          ? tp_separated
                 : c->slidingSpeed > stickingSpeed ? tp_sliding
                                                   : tp_sticking;
    system->contacts.data[system->contacts.count++] = info;
}

static void remember(tpBenderStep* step, const tpContact* end, int start, const Carried* c,
                     double parts) {
    tpRestMemory* rest = &step->state->rests.data[step->state->rests.count++];
    memset(rest, 0, sizeof(*rest));
    rest->shapeA = end->shapeA;
    rest->shapeB = end->shapeB;
    rest->feature = end->feature;
    if (start >= 0) {
        tpVec3 impulse = tpMulAdd(frictionOf(&step->start.laws[start], c->last), c->last[0],
                                  step->start.contacts[start].normal);
        rest->drift = tpScale(parts, impulse);
    }
}

// Gaps at the end of the contacts of the start; those that have left the margins are apart.
static void findGaps(const tpTouch* touch, const tpContact* ends, int endCount, const int* match,
                     double* gaps) {
    for (int i = 0; i < touch->contactCount; ++i) {
        gaps[i] = fmax(touch->contacts[i].gap, 2.0 * touchDistance);
    }
    for (int j = 0; j < endCount; ++j) {
        if (match[j] >= 0) {
            gaps[match[j]] = ends[j].gap;
        }
    }
}

bool tpBrisk_List(tpBenderStep* step, const tpContact* ends, int endCount, int parts) {
    tpSystem* system = step->system;
    const tpTouch* touch = &step->start;
    int startCount = touch->contactCount;
    Carried* carried = TP_SCRATCH(&system->arena, Carried, startCount);
    double* gaps = TP_SCRATCH(&system->arena, double, startCount);
    int* match = tpMatchContacts(touch->contacts, startCount, ends, endCount, &system->arena);
    system->contacts.count = 0;
    step->state->rests.count = 0;
    if (carried == NULL || gaps == NULL || match == NULL ||
        !TP_RESERVE(&system->allocator, system->contacts, startCount) ||
        !TP_RESERVE(&system->allocator, step->state->rests, endCount)) {
        return false;
    }
    gather(touch, carried);
    findGaps(touch, ends, endCount, match, gaps);
    for (int i = 0; i < startCount; ++i) {
        listStart(step, i, &carried[i], gaps[i]);
    }
    for (int j = 0; j < endCount; ++j) {
        remember(step, &ends[j], match[j], match[j] >= 0 ? &carried[match[j]] : NULL, parts);
        step->report->penetration = fmax(step->report->penetration, -ends[j].gap);
    }
    step->report->contactCount = system->contacts.count;
    return true;
}
