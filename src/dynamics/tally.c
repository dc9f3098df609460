#include "dynamics/tally.h"

#include <string.h>

#include "dynamics/contact_spring.h"

const tpContactInfo* tpTally_Find(const tpTally* tally, const tpContact* contact, int* cursor) {
    tpContactKey key = tpContact_Key(contact);
    for (; *cursor < tally->count; *cursor += 1) {
        int order = tpContactKey_Compare(tpContactInfo_Key(&tally->list[*cursor]), key);
        if (order >= 0) {
            return order == 0 ? &tally->list[*cursor] : NULL;
        }
    }
    return NULL;
}

bool tpTally_Merge(tpTally* tally, const tpContactInfo* list, int count, tpArena* arena) {
    tpContactInfo* merged = TP_SCRATCH(arena, tpContactInfo, (size_t)tally->count + (size_t)count);
    if (merged == NULL) {
        return false;
    }
    int number = 0, old = 0, new = 0;
    while (old < tally->count || new < count) {
        int order = old == tally->count ? 1
                    : new == count      ? -1
                                        : tpContactInfo_Compare(&tally->list[old], &list[new]);
        merged[number] = order < 0 ? tally->list[old] : list[new];
        if (order == 0) {
            tpContactInfo_AddImpulses(&merged[number], &tally->list[old]);
        }
        old += order <= 0 ? 1 : 0;
        new += order >= 0 ? 1 : 0;
        number += 1;
    }
    tally->list = merged;
    tally->count = number;
    return true;
}

bool tpTally_List(tpTally* tally, tpSystem* system, const double* margins, tpStepReport* report) {
    // Where bodies are now: how deep they overlap, and the gaps of what is listed.
    tpContact* ends;
    int endCount;
    if (tpSystem_FindContacts(system, system->poses.data, margins, &ends, &endCount) !=
        tp_success) {
        return false;
    }
    for (int i = 0; i < endCount; ++i) {
        report->penetration = fmax(report->penetration, tpContact_Overlap(&ends[i], system));
    }
    tpSystem_SetContactEnergy(system, ends, endCount);
    system->contacts.count = 0;
    if (!TP_RESERVE(&system->allocator, system->contacts, tally->count)) {
        return false;
    }
    int cursor = 0;
    for (int i = 0; i < tally->count; ++i) {
        tpContactInfo* info = &tally->list[i];
        const tpContact* same =
            tpContacts_FindSame(tpContactInfo_Key(info), ends, endCount, &cursor);
        info->gap = same != NULL ? same->gap : info->gap;
        info->state = tpContactInfo_StateOf(info, system->units.speed);
        if (info->normalImpulse > 0.0 || info->gap <= TP_TOUCH_DISTANCE * system->units.length) {
            system->contacts.data[system->contacts.count++] = *info;
        }
    }
    report->contactCount = system->contacts.count;
    return true;
}
