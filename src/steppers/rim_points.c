// The collider lists the lowest point of a rim, and points that are fixed to it for a cap that
// comes to lie flat. While the cap leans, the gap of the lowest point is the smallest, wherever it
// runs: its row of the start, corrected by its gap at the end, is the constraint of RATTLE. A fixed
// point ahead of it seems to run into the floor, by its linear row, and what it carries is an
// impact.

#include "steppers/rim_points.h"

#include "collision/contact.h"
#include "geometry/patches.h"

// The number of a point of a rim: of a fixed one below tp_rimPoints; -1 if it is no such point.
static int64_t rimPointOf(const tpContact* contact) {
    const uint64_t mask = (UINT64_C(1) << 31) - 1;
    uint64_t a = contact->feature >> 31 & mask, b = contact->feature & mask;
    bool isRim = contact->feature >> 62 == tp_smooth && (a == 0 || b == 0);
    return isRim ? (int64_t)(a + b) : -1;
}

static bool isFixed(const tpContact* contact) {
    int64_t point = rimPointOf(contact);
    return point >= 0 && point < tp_rimPoints;
}

int tpContacts_DropRimPoints(tpContact* contacts, int count) {
    int kept = 0;
    for (int i = 0, next; i < count; i = next) {
        int fixed = 0, lowest = 0;
        for (next = i; next < count && contacts[next].shapeA == contacts[i].shapeA &&
                       contacts[next].shapeB == contacts[i].shapeB;
             ++next) {
            int64_t point = rimPointOf(&contacts[next]);
            fixed += isFixed(&contacts[next]);
            lowest += point == tp_lowestRim || point == tp_lowestRim + 1;
        }
        // Points all around are near: the cap may come to lie flat.
        bool leans = lowest == 1 && fixed < tp_rimPoints;
        for (int k = i; k < next; ++k) {
            if (!leans || !isFixed(&contacts[k])) {
                contacts[kept++] = contacts[k];
            }
        }
    }
    return kept;
}
