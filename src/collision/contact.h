// The functions that find the contacts of a pair of shapes: one for each pair of types.
//
// A pair function works in world axes, but with the origin at the pair: poses are those of the
// shapes themselves, moved so that shape B is at the origin. Bodies far from the world's origin
// lose nothing. The table lies in pair_table.c, drawn as a picture; below its diagonal the pair is
// asked the other way round, and the answer turned.

#ifndef TIPPE_SRC_COLLISION_CONTACT_H
#define TIPPE_SRC_COLLISION_CONTACT_H

#include "collision/over_face.h"
#include "tippe/collision.h"

// Two shapes and how near they must be to matter.
typedef struct tpPair {
    const tpGeometry* a;
    const tpGeometry* b;
    tpPose poseA,
        poseB;     // of the shapes (bodies' poses composed with the geometries'), near the origin
    double margin; // m; contacts with larger gaps are not wanted
    // Contacts are wanted that the nearest features do not make, but motion within the margin may.
    bool looksAhead;
    // What is known beside the contacts. NULL if nobody asks.
    tpOverFace* over;
} tpPair;

// How far off that is at least which has no contact.
static inline void tpPair_SayBeyond(const tpPair* pair, double distance) {
    if (pair->over != NULL) {
        pair->over->beyond = distance;
    }
}

// The same without contacts: how far apart the shapes are, and along which direction from B to A.
static inline void tpPair_SayApart(const tpPair* pair, double distance, tpVec3 normal) {
    if (pair->over != NULL) {
        pair->over->beyond = distance;
        pair->over->away = normal;
    }
}

typedef struct tpPairClass {
    // Appends the contacts with gap <= margin, in any order.
    void (*collide)(const tpPair* pair, tpPairCache* cache, tpContactList* out);
    // The signed distance; tp_notSolved where an iteration did not reach its tolerance (the answer
    // is then the best found).
    tpResult (*closest)(const tpPair* pair, tpPairCache* cache, tpClosest* out);
    bool forgets; // `collide` makes no use of the cache
} tpPairClass;

// What is known of a pair of types; NULL functions where the pair cannot be asked. `swapped` says
// that the functions want the shapes the other way round.
const tpPairClass* tpFindPairClass(tpShapeType a, tpShapeType b, bool* swapped);

// Features: what touches what. Numbers are those of vertices, edges, faces or triangles.
typedef enum tpFeatureKind {
    tp_faceVertex = 0, // a face of A and a vertex of B
    tp_vertexFace = 1, // a vertex of A and a face of B
    tp_edgeEdge = 2,   // an edge of A and an edge of B
    tp_smooth = 3      // numbered by the pair function
} tpFeatureKind;

static inline uint64_t tpMakeFeature(tpFeatureKind kind, int32_t a, int32_t b) {
    return (uint64_t)kind << 62 | (uint64_t)(uint32_t)a << 31 | (uint64_t)(uint32_t)b;
}

// The same features when the two shapes change places.
uint64_t tpSwapFeature(uint64_t feature);

// Appends one contact; counts it even where it finds no room.
static inline void tpContactList_Add(tpContactList* list, const tpContactPoint* point) {
    if (list->count < list->capacity) {
        list->points[list->count] = *point;
    }
    ++list->count;
}

// A contact with pointB given: pointA follows from gap and normal.
static inline tpContactPoint tpMakeContact(tpVec3 pointB, tpVec3 normal, double gap,
                                           uint64_t feature) {
    tpContactPoint point = { tpMulAdd(pointB, gap, normal), pointB, normal, gap, feature };
    return point;
}

// The deepest contact of a list as the answer of a distance query; false if the list is empty.
bool tpContactList_Deepest(const tpContactList* list, tpClosest* out);

// Takes contacts from `first` on out of a list that are deeper than `least`, the gap of the nearest
// points: they would push along another direction than the shortest way out.
void tpContactList_DropDeeper(tpContactList* list, int first, double least);

// Turns the contacts of two cores, from `first` on, into those of the shapes with these radii.
void tpRoundContacts(tpContactList* list, int first, double radiusA, double radiusB);

// The contacts and the signed distance of a pair of any two types, the right way round or not.
// False, and nothing appended, if the pair cannot be asked.
bool tpCollidePair(const tpPair* pair, tpPairCache* cache, tpContactList* out);
tpResult tpClosestOfPair(const tpPair* pair, tpPairCache* cache, tpClosest* out);

// A pair with its shapes exchanged; contacts from `first` on, and nearest points, of such a pair.
tpPair tpSwapPair(const tpPair* pair);
void tpSwapContacts(tpContactList* list, int first);
void tpSwapClosest(tpClosest* closest);

// tpCollide and tpClosestPoints for poses of the shapes themselves. Contacts come in order. `over`
// may be NULL. Else it says how far off the corners without a contact are at least: the margin, or
// more.
tpResult tpCollideShapes(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                         double margin, bool looksAhead, tpPairCache* cache, tpContactList* out,
                         tpOverFace* over);
tpResult tpClosestShapes(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                         tpPairCache* cache, tpClosest* out);

#endif
