// A finely rounded hull, as the foot of a robot, has many corners within the margin of a step. Each
// gets rows, but few can touch: a corner that hangs higher than its neighbour comes down to the
// face only if the body turns.
//
//       o                 o      i     The gap of i is that of j, and more by `higher`. A turn by
//         `-.         .-'              the angle t changes the difference by t d at most. So i
//            `o-----o'    j            cannot touch as long as higher > t d and j does not overlap.
//      ------------------------ face
//
// No point of a body moves farther than its margin, or contacts are looked for again. That bounds
// the turn by margin / reach. The order is transitive: what is covered by a corner that is covered
// itself is covered by a corner that stays.

#include "steppers/covered_points.h"

#include "collision/contact.h"

// Rows may be written again where a first solve leads, one margin away: bodies turn from there by
// as much again.
static const double turns = 2.0;

static double turnWithin(const tpSystem* system, const double* margins, int body) {
    double margin = margins[body];
    return margin > 0.0 ? turns * margin / system->bodies.data[body].reach : 0.0;
}

static bool isCorner(const tpContact* contact) {
    uint64_t kind = contact->feature >> 62;
    return kind == tp_vertexFace || kind == tp_faceVertex;
}

// Whether both are corners of one shape over one face of another.
static bool isSameFace(const tpContact* a, const tpContact* b) {
    return a->feature >> 62 == b->feature >> 62 && tpDot(a->normal, b->normal) >= 1.0 - 1e-12;
}

static bool isCoveredBy(const tpContact* contact, const tpContact* other, double turn) {
    double higher = contact->gap - other->gap;
    return higher > turn * tpDistanceBetween(contact->pointA, other->pointA) &&
           higher > turn * tpDistanceBetween(contact->pointB, other->pointB) &&
           isSameFace(contact, other);
}

static bool isCovered(const tpContact* contacts, int count, int which, int deepest, double turn) {
    bool found = isCoveredBy(&contacts[which], &contacts[deepest], turn);
    for (int i = 0; i < count && !found; ++i) {
        found = isCoveredBy(&contacts[which], &contacts[i], turn);
    }
    return found;
}

// Marks contacts of one pair of shapes.
static void markCovered(const tpSystem* system, const double* margins, const tpContact* contacts,
                        int count, bool* isDropped) {
    int deepest = 0;
    for (int i = 1; i < count; ++i) {
        deepest = contacts[i].gap < contacts[deepest].gap ? i : deepest;
    }
    double turn =
        turnWithin(system, margins, contacts->bodyA) + turnWithin(system, margins, contacts->bodyB);
    for (int i = 0; i < count; ++i) {
        isDropped[i] = isCorner(&contacts[i]) && isCovered(contacts, count, i, deepest, turn);
    }
}

int tpContacts_DropCovered(tpSystem* system, const double* margins, tpContact* contacts,
                           int count) {
    // Contacts that give carry loads while they overlap, all corners of them.
    bool* isDropped = system->gives ? NULL : TP_SCRATCH(&system->arena, bool, count);
    if (isDropped == NULL) {
        return count;
    }
    for (int first = 0, next; first < count; first = next) {
        next = first + 1;
        while (next < count && contacts[next].shapeA == contacts[first].shapeA &&
               contacts[next].shapeB == contacts[first].shapeB) {
            next += 1;
        }
        markCovered(system, margins, contacts + first, next - first, isDropped + first);
    }
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        if (!isDropped[i]) {
            contacts[kept++] = contacts[i];
        }
    }
    return kept;
}
