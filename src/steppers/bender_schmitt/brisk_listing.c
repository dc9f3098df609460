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

// What the loops over packs and contacts need; they are cut into chunks for threads.
typedef struct Listing {
    tpBenderStep* step;
    Carried* carried;
    const tpContact* ends;
    const int* match; // of the contacts at the end those at the start
    int endCount;
    double parts;
} Listing;

enum { packsAChunk = 128, contactsAChunk = 1024 };

static int chunksOf(int count, int size) {
    return (count + size - 1) / size;
}

static void gatherChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Listing* listing = context;
    const tpSweeper* sweeper = &listing->step->start.sweeper;
    int end = (chunk + 1) * packsAChunk;
    end = end < sweeper->packCount ? end : sweeper->packCount;
    for (int p = chunk * packsAChunk; p < end; ++p) {
        const tpContactPack* pack = &sweeper->packs[p];
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            if (pack->contact[lane] < 0) {
                continue;
            }
            Carried* c = &listing->carried[pack->contact[lane]];
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

// What the next step starts from.
static void rememberChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Listing* listing = context;
    const tpTouch* touch = &listing->step->start;
    int end = (chunk + 1) * contactsAChunk;
    end = end < listing->endCount ? end : listing->endCount;
    for (int j = chunk * contactsAChunk; j < end; ++j) {
        tpRestMemory* rest = &listing->step->state->rests.data[j];
        memset(rest, 0, sizeof(*rest));
        rest->shapeA = listing->ends[j].shapeA;
        rest->shapeB = listing->ends[j].shapeB;
        rest->feature = listing->ends[j].feature;
        int i = listing->match[j];
        if (i >= 0) {
            const double* last = listing->carried[i].last;
            tpVec3 impulse =
                tpMulAdd(frictionOf(&touch->laws[i], last), last[0], touch->contacts[i].normal);
            rest->drift = tpScale(listing->parts, impulse);
        }
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
    Listing listing = { step, carried, ends, match, endCount, parts };
    tpTasks* tasks = system->tasks;
    tpTasks_Run(tasks, gatherChunk, &listing, chunksOf(touch->sweeper.packCount, packsAChunk));
    tpTasks_Run(tasks, rememberChunk, &listing, chunksOf(endCount, contactsAChunk));
    step->state->rests.count = endCount;
    findGaps(touch, ends, endCount, match, gaps);
    for (int i = 0; i < startCount; ++i) {
        listStart(step, i, &carried[i], gaps[i]);
    }
    for (int j = 0; j < endCount; ++j) {
        step->report->penetration = fmax(step->report->penetration, -ends[j].gap);
    }
    step->report->contactCount = system->contacts.count;
    return true;
}
