// The list of contacts for users: made when somebody asks for it, of the lanes as the step left
// them.

#include "dynamics/contact_info.h"
#include "steppers/small_steps/step.h"

// Sorts contacts by pair and then by feature, as the other steppers list them [Shell59].
static void sortInfos(tpContactInfo* list, int count) {
    for (int gap = count / 2; gap > 0; gap /= 2) {
        for (int i = gap; i < count; ++i) {
            tpContactInfo info = list[i];
            int j = i;
            for (; j >= gap && tpContactInfo_Compare(&list[j - gap], &info) > 0; j -= gap) {
                list[j] = list[j - gap];
            }
            list[j] = info;
        }
    }
}

// Puts sorted contacts among others that are sorted, for which there is room.
static void mergeInfos(tpContactInfo* list, int count, const tpContactInfo* more, int moreCount) {
    // From the back, so that nothing is overwritten that is still to be read.
    for (int place = count + moreCount - 1; moreCount > 0; --place) {
        bool isOld = count > 0 && tpContactInfo_Compare(&list[count - 1], &more[moreCount - 1]) > 0;
        list[place] = isOld ? list[--count] : more[--moreCount];
    }
}

static void listContacts(tpSystem* system, void* context) {
    const tpSmallStep* step = context;
    tpSmallSteps* state = step->state;
    tpContactInfo* list = system->contacts.data;
    int count = 0;
    for (int i = 0; i < state->pairs.count; ++i) {
        int32_t slot = state->pairs.data[i].slot;
        if (slot < 0) {
            continue;
        }
        int lane, first = count;
        const tpSoftRun* run = tpPackStore_Find(&state->store, slot, &lane);
        for (int k = 0; k < run->points[lane]; ++k) {
            if (tpIsListed(step, run, lane, k)) {
                list[count++] = tpDescribeContact(step, run, lane, k);
            }
        }
        if (count > first) {
            sortInfos(list + first, count - first);
        }
    }
    sortInfos(state->departed.data, state->departed.count);
    mergeInfos(list, count, state->departed.data, state->departed.count);
    system->contacts.count = count + state->departed.count;
}

bool tpSmallStep_CopyContacts(tpSmallStep* step, tpContact** contacts, int* count) {
    const tpSmallSteps* state = step->state;
    const tpPose* poses = step->system->poses.data;
    const tpPackStore* store = &state->store;
    *contacts =
        TP_SCRATCH(&step->system->arena, tpContact, (size_t)store->packCount * tp_packWidth);
    *count = 0;
    if (*contacts == NULL) {
        return false;
    }
    for (int i = 0; i < state->pairs.count; ++i) {
        int32_t slot = state->pairs.data[i].slot;
        if (slot < 0) {
            continue;
        }
        int lane;
        const tpSoftRun* run = tpPackStore_Find(store, slot, &lane);
        int bodyA = state->bodies.data[run->bodyA[lane]];
        int bodyB = state->bodies.data[run->bodyB[lane]];
        tpVec3 a = poses[bodyA].position, b = poses[bodyB].position;
        bool isAwake =
            tpSystem_IsDynamic(step->system, bodyA) || tpSystem_IsDynamic(step->system, bodyB);
        for (int k = 0; isAwake && k < run->points[lane]; ++k) {
            (*contacts)[(*count)++] = tpReadContact(state, run, lane, k, a, b);
        }
    }
    return true;
}

bool tpSmallStep_Promise(tpSmallStep* step) {
    step->report->contactCount = step->listed;
    step->report->penetration = fmax(step->report->penetration, step->penetration);
    step->system->contacts.count = 0;
    if (!TP_RENEW(&step->system->allocator, step->system->contacts, step->listed)) {
        return false;
    }
    tpSystem_PromiseContacts(step->system, listContacts, step);
    return true;
}
