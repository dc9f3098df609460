// Boxes and hulls over a face: what is said of it beside the contacts.

#include "collision/boxes.h"

#include <float.h>

#include "collision/contact.h"
#include "geometry/hull.h"
#include "random_hulls.h"
#include "support/check.h"

enum { cases = 4000, room = 64 };

typedef struct Found {
    tpOverFace over;
    tpContactPoint points[room];
    int count;
} Found;

static Found collide(const tpGeometry boxes[2], const tpPose poses[2], double margin) {
    Found found;
    tpBoxBatch batch;
    for (int lane = 0; lane < tp_boxesAtOnce; ++lane) {
        tpBoxBatch_Set(&batch, lane, &boxes[0], poses[0], &boxes[1], poses[1]);
    }
    tpBoxBatch_FindAxes(&batch);
    tpPairCache cache = { { 0 } };
    tpContactList out = { found.points, 0, room };
    found.over = tpBoxBatch_Collide(&batch, 0, &boxes[0], poses[0], &boxes[1], poses[1], margin,
                                    true, &cache, &out);
    found.count = out.count;
    assert_true(out.count <= room);
    return found;
}

static void makeBoxes(tpRandom* random, double rounding, tpGeometry boxes[2], tpPose poses[2]) {
    for (int k = 0; k < 2; ++k) {
        tpVec3 size = randomVec3(random, 0.3, 1.5);
        // One of two may be round, or both, each by its own radius.
        double radius = rounding * randomBetween(random, -0.5, 1.0);
        assert_int_equal(radius > 0.0
                             ? tpMakeRoundedBox(&(tpRoundedBox){ .size = size, .radius = radius },
                                                tpIdentityPose(), &boxes[k], NULL)
                             : tpMakeBox(&(tpBox){ size }, tpIdentityPose(), &boxes[k], NULL),
                         tp_success);
        poses[k].position = randomVec3(random, -0.5, 0.5);
        poses[k].position.z = k * 1.0;
        poses[k].rotation = tpQuatExp(randomVec3(random, -0.5, 0.5));
    }
}

// A larger margin finds nothing more up to `beyond`, and something there.
static void marginsLeaveOutWhatIsBeyond(void** state) {
    (void)state;
    tpRandom random = { 20261117 };
    int seen = 0;
    for (int i = 0; i < cases; ++i) {
        tpGeometry boxes[2];
        tpPose poses[2];
        makeBoxes(&random, i % 2 == 0 ? 0.0 : 0.1, boxes, poses);
        Found near = collide(boxes, poses, 0.1);
        if (!near.over.isFace || near.over.beyond == DBL_MAX) {
            continue;
        }
        assert_true(near.over.beyond > 0.1);
        Found same = collide(boxes, poses, near.over.beyond - 1e-9);
        Found more = collide(boxes, poses, near.over.beyond + 1e-9);
        assert_int_equal(same.count, near.count);
        assert_true(more.count > near.count);
        ++seen;
    }
    assert_true(seen > cases / 20);
}

static double supportOf(const tpGeometry* box, tpPose pose, tpVec3 n) {
    tpVec3 own = tpUnrotate(pose.rotation, n), size = box->box.size;
    return tpDot(pose.position, n) +
           0.5 * (fabs(own.x) * size.x + fabs(own.y) * size.y + fabs(own.z) * size.z);
}

// Contacts over the face are between the face and the side of the other box that has the normal
// `incident`, unless they are corners beside it; the other box's corners are named as such.
static void sidesAreKnown(void** state) {
    (void)state;
    tpRandom random = { 31415926 };
    int seen = 0, onSides = 0;
    for (int i = 0; i < cases; ++i) {
        tpGeometry boxes[2];
        tpPose poses[2];
        makeBoxes(&random, 0.0, boxes, poses);
        Found found = collide(boxes, poses, 0.1);
        if (!found.over.isFace) {
            continue;
        }
        int other = found.over.isA ? 1 : 0;
        double side = supportOf(&boxes[other], poses[other], found.over.incident);
        for (int k = 0; k < found.count; ++k) {
            const tpContactPoint* point = &found.points[k];
            bool isOver = tpLength(tpSub(point->normal, found.over.normal)) == 0.0;
            bool isCorner =
                point->feature >> 62 == (found.over.isA ? tp_faceVertex : tp_vertexFace);
            if (isOver && !isCorner) {
                tpVec3 place = found.over.isA ? point->pointB : point->pointA;
                CHECK_NEAR(tpDot(place, found.over.incident), side, 1e-12);
                ++onSides;
            }
            assert_true(isOver || found.over.hasEdges);
        }
        ++seen;
    }
    assert_true(seen > cases / 20 && onSides > seen);
}

static Found collideShapes(const tpGeometry shapes[2], const tpPose poses[2], double margin) {
    Found found;
    tpContactList out = { found.points, 0, room };
    assert_int_equal(tpCollideShapes(&shapes[0], poses[0], &shapes[1], poses[1], margin, true, NULL,
                                     &out, &found.over),
                     tp_success);
    found.count = out.count;
    assert_true(out.count <= room);
    return found;
}

// Two hulls that touch or nearly do: a larger margin finds nothing more up to `beyond`.
static void hullsSayWhatIsBeyond(void** state) {
    (void)state;
    tpRandom random = { 20261118 };
    int faces = 0, edges = 0, farther = 0;
    for (int i = 0; i < cases; ++i) {
        tpGeometry shapes[2], unused;
        HullKind kinds[2] = { (HullKind)(i % hullKindCount), (HullKind)(i / 7 % hullKindCount) };
        if (!makeRandomHull(&random, kinds[0], 20, 1.0, &shapes[0], &unused)) {
            continue;
        }
        tpReleaseGeometry(&unused);
        if (makeRandomHull(&random, kinds[1], 12, 1.0, &shapes[1], &unused)) {
            tpReleaseGeometry(&unused);
            tpPose poses[2] = { { tpZeroVec3(), randomRotation(&random) },
                                { tpZeroVec3(), randomRotation(&random) } };
            poses[0].position = tpScale(3.0, tpNormalize(randomVec3(&random, -1.0, 1.0)));
            tpClosest closest;
            assert_int_equal(
                tpClosestShapes(&shapes[0], poses[0], &shapes[1], poses[1], NULL, &closest),
                tp_success);
            double gap = 0.02 * (i % 5 - 2), margin = 0.05;
            poses[0].position = tpMulAdd(poses[0].position, gap - closest.distance, closest.normal);
            Found near = collideShapes(shapes, poses, margin);
            double beyond = fmin(near.over.beyond, 1.0);
            assert_true(near.count == 0 || beyond >= margin);
            if (near.count > 0) {
                assert_int_equal(collideShapes(shapes, poses, beyond - 1e-9).count, near.count);
                faces += near.over.isFace;
                edges += !near.over.isFace;
                farther += beyond > 2.0 * margin;
            }
            tpReleaseGeometry(&shapes[1]);
        }
        tpReleaseGeometry(&shapes[0]);
    }
    print_message("%d over faces, %d at edges, %d far beyond\n", faces, edges, farther);
    assert_true(faces > cases / 10 && edges > cases / 10 && farther > (faces + edges) / 4);
}

// A hull over a plane: `beyond` is the least height of the vertices above the margin.
static void planesSayWhatIsBeyond(void** state) {
    (void)state;
    tpRandom random = { 20261119 };
    int seen = 0;
    for (int i = 0; i < cases; ++i) {
        tpGeometry shapes[2], unused;
        if (!makeRandomHull(&random, (HullKind)(i % hullKindCount), 24, 1.0, &shapes[0], &unused)) {
            continue;
        }
        tpReleaseGeometry(&unused);
        tpPlane plane = { tpNormalize(randomVec3(&random, -1.0, 1.0)), 0.3 };
        assert_int_equal(tpMakePlane(&plane, tpIdentityPose(), &shapes[1], NULL), tp_success);
        tpPose poses[2] = { { tpZeroVec3(), randomRotation(&random) }, tpIdentityPose() };
        poses[0].position = tpScale(randomBetween(&random, 0.8, 1.3), plane.normal);
        const tpHull* hull = shapes[0].hull;
        double margin = 0.05, next = DBL_MAX, least = DBL_MAX;
        for (int v = 0; v < hull->vertexCount; ++v) {
            double height =
                tpDot(plane.normal, tpTransformPoint(poses[0], hull->vertices[v])) - plane.offset;
            next = height > margin ? fmin(next, height) : next;
            least = fmin(least, height);
        }
        bool isSwapped = i % 2 == 1;
        const tpGeometry order[2] = { shapes[isSwapped], shapes[!isSwapped] };
        const tpPose places[2] = { poses[isSwapped], poses[!isSwapped] };
        Found found = collideShapes(order, places, margin);
        if (found.count > 0) {
            assert_true(found.over.isFace && found.over.isA == isSwapped);
            CHECK_NEAR(found.over.beyond, next, 1e-12);
            CHECK_NEAR(tpDot(found.over.normal, plane.normal), isSwapped ? -1.0 : 1.0, 1e-12);
            ++seen;
        } else {
            CHECK_NEAR(found.over.beyond, least, 1e-12);
        }
        tpReleaseGeometry(&shapes[0]);
    }
    assert_true(seen > cases / 10);
}

// A cube of triangles whose upper side is a funnel, down to its middle.
static tpGeometry makeDented(void) {
    tpVec3 corners[9] = { { 0.0, 0.0, 0.0 } };
    for (int i = 0; i < 8; ++i) {
        corners[1 + i] = tpMakeVec3(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5);
    }
    const int32_t triangles[14][3] = { { 1, 3, 4 }, { 1, 4, 2 }, { 1, 2, 6 }, { 1, 6, 5 },
                                       { 2, 4, 8 }, { 2, 8, 6 }, { 4, 3, 7 }, { 4, 7, 8 },
                                       { 3, 1, 5 }, { 3, 5, 7 }, { 0, 5, 6 }, { 0, 6, 8 },
                                       { 0, 8, 7 }, { 0, 7, 5 } };
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry mesh;
    assert_int_equal(
        tpMakeMesh(&allocator, corners, 9, triangles, 14, tpIdentityPose(), &mesh, NULL),
        tp_success);
    return mesh;
}

// Where a shape is found to meet a dent after all, what its mesh's hull would say is forgotten.
static void dentsAreNotTheirHulls(void** state) {
    (void)state;
    tpRandom random = { 20261120 };
    tpGeometry shapes[2] = { { .type = tp_boxShape }, makeDented() };
    assert_int_equal(tpMakeBox(&(tpBox){ { 0.4, 0.3, 0.5 } }, tpIdentityPose(), &shapes[0], NULL),
                     tp_success);
    int faces = 0, others = 0;
    for (int i = 0; i < 5 * cases; ++i) {
        tpPose poses[2] = { { randomVec3(&random, -0.6, 0.6), randomRotation(&random) },
                            tpIdentityPose() };
        poses[0].position.x = randomBetween(&random, 0.55, 0.75);
        Found found = collideShapes(shapes, poses, 0.02);
        for (int k = 0; k < found.count; ++k) {
            bool isOver = tpLength(tpSub(found.points[k].normal, found.over.normal)) < 1e-9;
            assert_true(!found.over.isFace || isOver || found.over.hasEdges);
        }
        faces += found.count > 0 && found.over.isFace;
        others += found.count > 0 && !found.over.isFace;
    }
    print_message("%d over faces, %d others\n", faces, others);
    assert_true(faces > 100 && others > 100);
    tpReleaseGeometry(&shapes[1]);
}

static tpVec3 vertexOf(const tpGeometry* shape, tpPose pose, int i) {
    return tpTransformPoint(pose, tpTransformPoint(shape->pose, shape->hull->vertices[i]));
}

// Whether a point is over the inside of the face whose normal this is: in front of no other face.
static bool isOverInside(const tpGeometry* shape, tpPose pose, tpVec3 outward, double height,
                         tpVec3 point) {
    tpVec3 foot = tpMulAdd(point, height - tpDot(outward, point), outward);
    tpVec3 own = tpUntransformPoint(shape->pose, tpUntransformPoint(pose, foot));
    tpVec3 normal = tpUnrotate(shape->pose.rotation, tpUnrotate(pose.rotation, outward));
    bool isInside = true;
    for (int f = 0; f < shape->hull->faceCount; ++f) {
        bool isOther = tpDot(shape->hull->normals[f], normal) < 1.0 - 1e-12;
        isInside = isInside && (!isOther || tpDot(shape->hull->normals[f], own) <
                                                shape->hull->offsets[f] - 1e-6);
    }
    return isInside;
}

// Of what lies over a face the lowest corner has a contact, at its height.
static void lowestCornersTouch(void** state) {
    (void)state;
    tpRandom random = { 20261120 };
    int seen = 0, deep = 0;
    for (int i = 0; i < cases; ++i) {
        tpGeometry shapes[2], unused;
        if (!makeRandomHull(&random, (HullKind)(i % hullKindCount), 20, 1.0, &shapes[0], &unused)) {
            continue;
        }
        tpReleaseGeometry(&unused);
        if (!makeRandomHull(&random, (HullKind)(i / 7 % hullKindCount), 12, 1.0, &shapes[1],
                            &unused)) {
            tpReleaseGeometry(&shapes[0]);
            continue;
        }
        tpReleaseGeometry(&unused);
        tpPose poses[2] = { { tpZeroVec3(), randomRotation(&random) },
                            { randomVec3(&random, -1.0, 1.0), randomRotation(&random) } };
        tpClosest closest;
        tpClosestShapes(&shapes[0], poses[0], &shapes[1], poses[1], NULL, &closest);
        double gap = randomBetween(&random, -0.03, 0.03), margin = 0.05;
        poses[0].position = tpMulAdd(poses[0].position, gap - closest.distance, closest.normal);
        Found found = collideShapes(shapes, poses, margin);
        int own = found.over.isA ? 0 : 1, other = 1 - own;
        tpVec3 outward = found.over.isA ? tpNeg(found.over.normal) : found.over.normal;
        double height = -INFINITY, low = INFINITY;
        tpVec3 lowest = tpZeroVec3();
        for (int k = 0; found.over.isFace && k < shapes[own].hull->vertexCount; ++k) {
            height = fmax(height, tpDot(outward, vertexOf(&shapes[own], poses[own], k)));
        }
        for (int k = 0; found.over.isFace && k < shapes[other].hull->vertexCount; ++k) {
            tpVec3 v = vertexOf(&shapes[other], poses[other], k);
            if (tpDot(outward, v) < low) {
                low = tpDot(outward, v);
                lowest = v;
            }
        }
        if (found.over.isFace && low - height < margin - 1e-6 &&
            isOverInside(&shapes[own], poses[own], outward, height, lowest)) {
            bool isThere = false;
            for (int k = 0; k < found.count; ++k) {
                const tpContactPoint* c = &found.points[k];
                tpVec3 place = found.over.isA ? c->pointB : c->pointA;
                // Of a plate a corner of the other side, nearly as low, may do.
                isThere = isThere || (tpLength(tpSub(place, lowest)) < 2e-3 &&
                                      fabs(c->gap - (low - height)) < 1e-4);
            }
            assert_true(isThere);
            ++seen;
            deep += low < height;
        }
        tpReleaseGeometry(&shapes[0]);
        tpReleaseGeometry(&shapes[1]);
    }
    print_message("%d lowest corners over faces, %d of them below\n", seen, deep);
    assert_true(seen > cases / 20 && deep > cases / 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dentsAreNotTheirHulls),       cmocka_unit_test(hullsSayWhatIsBeyond),
        cmocka_unit_test(lowestCornersTouch),          cmocka_unit_test(planesSayWhatIsBeyond),
        cmocka_unit_test(marginsLeaveOutWhatIsBeyond), cmocka_unit_test(sidesAreKnown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
