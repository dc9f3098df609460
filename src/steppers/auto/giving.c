#include "steppers/auto/giving.h"

#include "dynamics/contact_law.h"

static tpContactLaw lawOf(const tpContactInfo* info, const tpSystem* system) {
    tpContact contact = tpContactInfo_Contact(info);
    return tpMakeContactLaw(system, &contact);
}

// Of the lighter body.
static double inverseMass(const tpContactInfo* info, const tpSystem* system) {
    return fmax(system->bodies.data[tpContactInfo_BodyA(info)].inverseMass,
                system->bodies.data[tpContactInfo_BodyB(info)].inverseMass);
}

bool tpGiving_IsAll(const tpTally* tally, const tpSystem* system) {
    for (int i = 0; system->gives && i < tally->count; ++i) {
        const tpContactInfo* info = &tally->list[i];
        if (info->normalImpulse > 0.0 && lawOf(info, system).stiffness <= 0.0) {
            return false;
        }
    }
    return system->gives;
}

double tpGiving_Rate(const tpTally* tally, const tpSystem* system, double h) {
    double rate = 0.0;
    for (int i = 0; system->gives && i < tally->count; ++i) {
        const tpContactInfo* info = &tally->list[i];
        bool gives = lawOf(info, system).stiffness > 0.0;
        rate += gives ? inverseMass(info, system) * info->normalImpulse / h : 0.0;
    }
    return rate;
}

double tpGiving_PullRate(const tpTally* tally, const tpSystem* system) {
    double rate = 0.0;
    for (int i = 0; system->gives && i < tally->count; ++i) {
        const tpContactInfo* info = &tally->list[i];
        tpContactLaw law = lawOf(info, system);
        if (law.stiffness > 0.0 && info->normalImpulse > 0.0) {
            tpContact contact = tpContactInfo_Contact(info);
            double approach =
                tpContact_Approach(&contact, system->poses.data, system->velocities.data);
            double force = law.damping * approach - law.stiffness * info->gap;
            rate += inverseMass(info, system) * fmax(-force, 0.0);
        }
    }
    return rate;
}
