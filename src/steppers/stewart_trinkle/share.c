#include "steppers/stewart_trinkle/share.h"

#include <string.h>

#include "dynamics/joints.h"

bool tpStepShare_Find(tpStepShare* share, const tpTimeStep* step, const tpPassage* passage) {
    tpContact* start = NULL;
    memset(share, 0, sizeof(*share));
    share->part = tpSystem_ShareOfStep(step->system, step->h);
    if (passage != NULL) {
        share->start = passage->start;
        share->startCount = passage->startCount;
        return true;
    }
    if (!(share->part < 1.0)) {
        return true;
    }
    bool isDone = tpSystem_FindContacts(step->system, step->startPoses, step->margins, &start,
                                        &share->startCount) == tp_success;
    share->start = start;
    return isDone;
}

bool tpStepShare_FindErrors(const tpTimeStep* step, tpRows* start) {
    int blocks, count;
    tpJoints_Count(step->system, &blocks, &count);
    if (!tpRows_Create(start, step->system, blocks, count)) {
        return false;
    }
    tpJointTreatment treatment = { 1.0, 1.0, NULL, step->h, 0.0, false };
    tpJoints_AddRows(start, step->system, step->startPoses, &treatment);
    return true;
}

bool tpStepShare_SlowCorrections(const tpStepShare* share, tpTimeStep* step) {
    tpRows* rows = &step->rows;
    double left = 1.0 - share->part;
    tpRows start;
    if (!tpStepShare_FindErrors(step, &start)) {
        return false;
    }
    int cursor = 0, joint = 0;
    for (int b = 0; b < rows->blockCount; ++b) {
        int first = rows->firstRows[b];
        if (rows->infos[b].source == tp_contactSource) {
            const tpContact* contact = &step->contacts[rows->infos[b].index];
            const tpContact* same = tpContacts_FindSame(tpContact_Key(contact), share->start,
                                                        share->startCount, &cursor);
            // Shapes that overlap may touch by other features than at the start.
            double gap = same != NULL
                             ? fmin(same->gap, 0.0)
                             : tpContacts_Deepest(share->start, share->startCount, contact);
            rows->bias[first] -= left * gap / step->h;
            continue;
        }
        int from = start.firstRows[joint], count = start.dimensions[joint++];
        bool isFree = rows->kinds[b] == tp_frictionFree;
        bool isHeld = rows->infos[b].role == tp_heldRole || rows->infos[b].role == tp_limitRole;
        for (int k = 0; isHeld && k < count; ++k) {
            double error = start.bias[from + k];
            bool corrects = rows->compliance[first + k] == 0.0 && (isFree || error < 0.0);
            rows->bias[first + k] -= corrects ? left * error / step->h : 0.0;
        }
    }
    return true;
}

double tpStepShare_DeepestMeant(const tpStepShare* share) {
    static const double slack = 1.01;
    double nearest = 0.0;
    for (int i = 0; i < share->startCount; ++i) {
        nearest = fmin(nearest, share->start[i].gap);
    }
    return -slack * (1.0 - share->part) * nearest;
}
