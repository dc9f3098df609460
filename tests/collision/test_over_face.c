// Boxes over a face: what is said of it beside the contacts.

#include "collision/boxes.h"

#include <float.h>

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

static void makeBoxes(tpRandom* random, tpGeometry boxes[2], tpPose poses[2]) {
    for (int k = 0; k < 2; ++k) {
        tpVec3 size = randomVec3(random, 0.3, 1.5);
        assert_int_equal(tpMakeBox(&(tpBox){ size }, tpIdentityPose(), &boxes[k], NULL),
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
        makeBoxes(&random, boxes, poses);
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
        makeBoxes(&random, boxes, poses);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marginsLeaveOutWhatIsBeyond),
        cmocka_unit_test(sidesAreKnown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
