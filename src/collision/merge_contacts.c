// One contact where several triangles report the same: sorting, and what counts as the same.

#include "collision/mesh_pairs.h"

#include "collision/sort_contacts.h"

// Ascending features, in place: Shell's sort with Ciura's gaps. Mostly a handful of contacts.
void tpSortContacts(tpContactPoint* points, int count) {
    // Most lists are in order already.
    int inOrder = 1;
    while (inOrder < count && points[inOrder - 1].feature <= points[inOrder].feature) {
        ++inOrder;
    }
    if (inOrder >= count) {
        return;
    }
    static const int gaps[] = { 19903, 8858, 3937, 1750, 701, 301, 132, 57, 23, 10, 4, 1 };
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; ++g) {
        int gap = gaps[g];
        if (gap >= count) {
            continue;
        }
        for (int i = gap; i < count; ++i) {
            tpContactPoint point = points[i];
            int j = i;
            for (; j >= gap && points[j - gap].feature > point.feature; j -= gap) {
                points[j] = points[j - gap];
            }
            points[j] = point;
        }
    }
}

// Whether two contacts belong together: the same features, or one corner of A over two triangles.
static bool isSameGroup(const tpContactPoint* c, const tpContactPoint* other) {
    uint64_t kind = c->feature >> 62;
    int shift = kind == tp_vertexFace || kind == tp_smooth ? 31 : 0;
    return c->feature >> shift == other->feature >> shift;
}

// Whether `other` says all that `c` does: over one flat part a corner has one contact, the deepest.
static bool isCovered(const tpContactPoint* c, const tpContactPoint* other) {
    bool isSame = c->feature == other->feature || tpDot(c->normal, other->normal) > 1.0 - 1e-6;
    return isSame && other->gap <= c->gap;
}

void tpMergeContacts(tpContactList* list, int first) {
    if (list->count == first || list->count > list->capacity) {
        return;
    }
    tpContactPoint* points = list->points + first;
    int count = list->count - first, kept = 0, groupStart = 0;
    tpSortContacts(points, count);
    for (int i = 0; i < count; ++i) {
        tpContactPoint c = points[i];
        if (i > 0 && !isSameGroup(&c, &points[groupStart])) {
            groupStart = kept;
        }
        bool isNew = true;
        for (int k = groupStart; k < kept && isNew; ++k) {
            isNew = !isCovered(&c, &points[k]);
        }
        if (!isNew) {
            continue;
        }
        int end = groupStart;
        for (int k = groupStart; k < kept; ++k) {
            if (!isCovered(&points[k], &c)) {
                points[end++] = points[k];
            }
        }
        points[end] = c;
        kept = end + 1;
    }
    list->count = first + kept;
}
