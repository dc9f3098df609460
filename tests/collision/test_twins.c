// One body described in two ways touches others alike: a box and the hull of its corners, a prism
// and its hull, a box and one whose edges are hardly round. The two go through different code.

#include "all_shapes.h"
#include "tippe/collision.h"

enum { maxContacts = 256, twinCount = 4, tries = 60 };

typedef struct Manifold {
    tpContactPoint points[maxContacts];
    int count;
} Manifold;

static tpGeometry hullOf(const tpVec3* corners, int count) {
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry hull;
    assert_int_equal(tpMakeHull(&allocator, corners, count, tpIdentityPose(), &hull, NULL),
                     tp_success);
    return hull;
}

static void boxCorners(tpVec3 size, tpVec3 corners[8]) {
    for (int i = 0; i < 8; ++i) {
        corners[i] = tpMulParts(
            size, tpMakeVec3(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5));
    }
}

typedef struct Twins {
    const char* name;
    tpGeometry one, other;
} Twins;

static Twins boxTwins(tpVec3 size) {
    Twins twins = { .name = "box and hull" };
    tpVec3 corners[8];
    boxCorners(size, corners);
    tpMakeBox(&(tpBox){ size }, tpIdentityPose(), &twins.one, NULL);
    twins.other = hullOf(corners, 8);
    return twins;
}

static Twins prismTwins(void) {
    Twins twins = { .name = "prism and hull" };
    tpAllocator allocator = tpDefaultAllocator();
    double polygon[5][2];
    tpVec3 corners[10];
    for (int k = 0; k < 5; ++k) {
        polygon[k][0] = 0.4 * cos(1.2566370614359172 * k);
        polygon[k][1] = 0.5 * sin(1.2566370614359172 * k);
        corners[k] = tpMakeVec3(polygon[k][0], polygon[k][1], -0.3);
        corners[5 + k] = tpMakeVec3(polygon[k][0], polygon[k][1], 0.3);
    }
    tpMakePrism(&allocator, (const double(*)[2])polygon, 5, 0.6, tpIdentityPose(), &twins.one,
                NULL);
    twins.other = hullOf(corners, 10);
    return twins;
}

static Twins cornerTwins(void) {
    Twins twins = { .name = "box and rounded box" };
    tpMakeBox(&(tpBox){ { 0.6, 0.5, 0.4 } }, tpIdentityPose(), &twins.one, NULL);
    tpMakeRoundedBox(&(tpRoundedBox){ { 0.6, 0.5, 0.4 }, 1e-11 }, tpIdentityPose(), &twins.other,
                     NULL);
    return twins;
}

static void collide(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                    Manifold* out) {
    tpContactList list = { out->points, 0, maxContacts };
    assert_int_equal(tpCollide(a, poseA, b, poseB, 0.03, NULL, &list), tp_success);
    out->count = list.count;
}

static bool isPartOf(const Manifold* m, const Manifold* other) {
    for (int i = 0; i < m->count; ++i) {
        bool isFound = false;
        for (int k = 0; k < other->count && !isFound; ++k) {
            isFound = fabs(m->points[i].gap - other->points[k].gap) < 1e-7 &&
                      tpDistanceBetween(m->points[i].pointA, other->points[k].pointA) < 1e-5;
        }
        if (!isFound) {
            return false;
        }
    }
    return true;
}

typedef struct Tally {
    int all, differing;
} Tally;

static void compare(const Twins* twins, const tpGeometry* partner, tpRandom* random, Tally* tally) {
    static Manifold m, n;
    tpPose a = tpMakePose(randomVec3(random, -0.3, 0.3), restingRotation(random));
    tpPose b = tpMakePose(randomVec3(random, -0.3, 0.3), restingRotation(random));
    a.position.z += 1.5;
    tpClosest closest, other;
    if (tpClosestPoints(&twins->one, a, partner, b, NULL, &closest) != tp_success) {
        return;
    }
    double target = randomBetween(random, -0.01, 0.02);
    a.position = tpMulAdd(a.position, target - closest.distance, closest.normal);
    assert_int_equal(tpClosestPoints(&twins->one, a, partner, b, NULL, &closest), tp_success);
    assert_int_equal(tpClosestPoints(&twins->other, a, partner, b, NULL, &other), tp_success);
    if (!(fabs(closest.distance - other.distance) < 1e-8)) {
        fail_msg("%s with %s: distances %.12g and %.12g", twins->name,
                 tpShapeTypeName(partner->type), closest.distance, other.distance);
    }
    collide(&twins->one, a, partner, b, &m);
    collide(&twins->other, a, partner, b, &n);
    tally->all += 1;
    tally->differing += m.count == n.count && isPartOf(&m, &n) && isPartOf(&n, &m) ? 0 : 1;
}

static void alikeWithAll(void** state) {
    (void)state;
    tpGeometry shapes[shapeCount];
    makeAllShapes(1.0, shapes);
    Twins twins[twinCount] = { boxTwins(tpMakeVec3(0.6, 0.5, 0.4)),
                               boxTwins(tpMakeVec3(1.0, 0.2, 0.1)), prismTwins(), cornerTwins() };
    tpRandom random = { 17 };
    Tally tally = { 0, 0 };
    for (int t = 0; t < twinCount; ++t) {
        for (int k = 0; k < shapeCount; ++k) {
            for (int i = 0; k != heightFieldKind && k != planeKind && i < tries; ++i) {
                compare(&twins[t], &shapes[k], &random, &tally);
            }
        }
        tpReleaseGeometry(&twins[t].one);
        tpReleaseGeometry(&twins[t].other);
    }
    // Where two choices are equally good, rounding decides.
    print_message("%d of %d chose otherwise\n", tally.differing, tally.all);
    assert_true(tally.all > 2000 && 100 * tally.differing <= tally.all);
    releaseAllShapes(shapes);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(alikeWithAll) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
