// What small steps foresee of bodies that turn while they touch: the other end of a tube, the face
// beside an edge. And what they must not foresee: bodies that pass by.

#include "support/check.h"
#include "tippe/collision.h"
#include "tippe/world.h"

enum { shapeKinds = 3 };

static tpGeometry makeGeometry(tpRandom* random, int kind) {
    tpGeometry out;
    tpError error;
    tpResult result;
    if (kind == 0) {
        result = tpMakeCapsule(&(tpCapsule){ 0.3, 0.8, { 0.0, 0.0, 1.0 } }, tpIdentityPose(), &out,
                               &error);
    } else if (kind == 1) {
        result = tpMakeCylinder(&(tpCylinder){ 0.45, 1.0, { 0.0, 0.0, 1.0 } }, tpIdentityPose(),
                                &out, &error);
    } else {
        // A stone with ten corners.
        tpVec3 points[10];
        for (int k = 0; k < 10; ++k) {
            double z = 2.0 * (k + 0.5) / 10.0 - 1.0, r = 0.6 * sqrt(1.0 - z * z);
            double angle = 2.399963 * k + randomBetween(random, 0.0, 0.3);
            points[k] = tpMakeVec3(r * cos(angle), r * sin(angle), 0.6 * z);
        }
        tpAllocator allocator = tpDefaultAllocator();
        result = tpMakeHull(&allocator, points, 10, tpIdentityPose(), &out, &error);
    }
    assert_int_equal(result, tp_success);
    return out;
}

// A body of this shape, and a fixed one of the same below or beside it.
typedef struct Couple {
    tpWorld* world;
    tpGeometry shape;
    tpBodyId fixed, free;
} Couple;

static void makeCouple(tpRandom* random, int kind, double gravity, tpPose poseFixed,
                       const tpBodyDef* free, Couple* out) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.gravity = tpMakeVec3(0.0, 0.0, -gravity);
    out->world = tpCreateWorld(&def);
    tpBodyDef fixed = tpDefaultBodyDef();
    fixed.kind = tp_fixedBody;
    fixed.position = poseFixed.position;
    fixed.rotation = poseFixed.rotation;
    out->shape = makeGeometry(random, kind);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.density = 1000.0;
    out->fixed = tpCreateBody(out->world, &fixed, NULL);
    tpCreateShape(out->world, out->fixed, &shape, &out->shape, NULL);
    out->free = tpCreateBody(out->world, free, NULL);
    tpCreateShape(out->world, out->free, &shape, &out->shape, NULL);
}

static double distanceOf(const Couple* c) {
    tpClosest closest;
    tpClosestPoints(&c->shape, tpBody_GetPose(c->world, c->free), &c->shape,
                    tpBody_GetPose(c->world, c->fixed), NULL, &closest);
    return closest.distance;
}

static void releaseCouple(Couple* c) {
    tpReleaseGeometry(&c->shape);
    tpDestroyWorld(c->world);
}

// Thrown down, spinning, onto one of its kind. The end that comes round within the step is met in
// time: the mean of the deepest overlaps is 11, 14 and 14 mm; with contacts at the nearest points
// alone it was 26, 23 and 19 mm.
static void whatComesRoundIsMet(void** state) {
    (void)state;
    static const double most[shapeKinds] = { 0.014, 0.017, 0.016 };
    tpRandom random = { 71 };
    enum { throws = 40 };
    for (int kind = 0; kind < shapeKinds; ++kind) {
        double sum = 0.0;
        for (int k = 0; k < throws; ++k) {
            // Lying, with a free one over it that is nearly along it.
            tpQuat level = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), 1.5707963267948966);
            tpBodyDef def = tpDefaultBodyDef();
            def.position = tpMakeVec3(randomBetween(&random, -0.1, 0.1), 0.0, 1.3);
            def.rotation =
                tpNormalizeQuat(tpMulQQ(tpQuatExp(randomVec3(&random, -0.3, 0.3)), level));
            def.velocity = tpMakeVec3(0.0, 0.0, -randomBetween(&random, 3.0, 6.0));
            def.angularVelocity =
                tpMakeVec3(0.0, (k % 2 == 0 ? 1.0 : -1.0) * randomBetween(&random, 5.0, 12.0), 0.0);
            Couple c;
            makeCouple(&random, kind, 9.81, tpMakePose(tpZeroVec3(), level), &def, &c);
            double deepest = 0.0;
            for (int i = 0; i < 30; ++i) {
                tpWorld_Step(c.world, 1.0 / 60.0);
                deepest = fmax(deepest, -distanceOf(&c));
            }
            sum += deepest;
            releaseCouple(&c);
        }
        assert_true(sum / throws < most[kind]);
    }
}

// A body that flies past, spinning, farther off than it goes in half a step keeps its
// velocity and its energy.
static void whatPassesIsNotFelt(void** state) {
    (void)state;
    tpRandom random = { 72 };
    int passes = 0;
    for (int k = 0; k < 240; ++k) {
        tpVec3 along = tpNormalize(randomVec3(&random, -1.0, 1.0)), aside, other;
        tpMakeTangents(along, &aside, &other);
        double turn = randomBetween(&random, 0.0, 6.0), speed = randomBetween(&random, 2.0, 10.0);
        aside = tpAdd(tpScale(cos(turn), aside), tpScale(sin(turn), other));
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMulAdd(tpScale(randomBetween(&random, 0.7, 1.4), aside), -2.0, along);
        def.rotation = randomRotation(&random);
        def.velocity = tpScale(speed, along);
        def.angularVelocity = tpScale(k % 4 == 0 ? 0.0 : 1.0, randomVec3(&random, -3.0, 3.0));
        Couple c;
        makeCouple(&random, k % shapeKinds, 0.0, tpMakePose(tpZeroVec3(), randomRotation(&random)),
                   &def, &c);
        double least = INFINITY, h = 1.0 / 60.0;
        tpStepReport report = tpWorld_Step(c.world, h);
        double energy = report.kineticAfter;
        for (double way = -2.0; way < 2.0; way += speed * h) {
            report = tpWorld_Step(c.world, h);
            least = fmin(least, distanceOf(&c));
        }
        // Nearer ones may be led aside, and those that have touched count for nothing.
        if (least > 0.5 * (speed + 3.0 * 0.6) * h) {
            ++passes;
            CHECK_NEAR(tpLength(tpSub(tpBody_GetVelocity(c.world, c.free), def.velocity)), 0.0,
                       1e-12);
            CHECK_NEAR(report.kineticAfter, energy, 1e-9 * energy);
        }
        releaseCouple(&c);
    }
    assert_true(passes > 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatComesRoundIsMet),
        cmocka_unit_test(whatPassesIsNotFelt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
