#include "steppers/stewart_trinkle/passage.h"

bool tpPassage_Lets(const tpPassage* passage, const tpContact* contact) {
    bool isListed = false;
    for (int k = 0; k < passage->pairCount && !isListed; ++k) {
        isListed = passage->pairs[k].shapeA == contact->shapeA &&
                   passage->pairs[k].shapeB == contact->shapeB;
    }
    if (!isListed) {
        return false;
    }
    int cursor = 0;
    const tpContact* before =
        tpContacts_FindSame(tpContact_Key(contact), passage->start, passage->startCount, &cursor);
    return before == NULL || before->gap > passage->touching;
}

bool tpPassage_FindContacts(const tpPassage* passage, tpTimeStep* step, const tpPose* poses) {
    if (!tpTimeStep_FindContacts(step, poses)) {
        return false;
    }
    int kept = 0;
    for (int i = 0; i < step->contactCount; ++i) {
        if (passage == NULL || !tpPassage_Lets(passage, &step->contacts[i])) {
            step->contacts[kept] = step->contacts[i];
            step->laws[kept++] = step->laws[i];
        }
    }
    step->contactCount = kept;
    return true;
}

bool tpPassage_FindEndContacts(const tpPassage* passage, tpTimeStep* step) {
    if (!tpTimeStep_FindEndContacts(step)) {
        return false;
    }
    int kept = 0;
    for (int i = 0; i < step->endCount; ++i) {
        if (passage == NULL || !tpPassage_Lets(passage, &step->endContacts[i])) {
            step->endContacts[kept++] = step->endContacts[i];
        }
    }
    step->endCount = kept;
    return true;
}
