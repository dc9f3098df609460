// Manifolds in which a round surface rolls on a flat one: about which radius, and whose normal.
//
// A manifold follows its bodies for some steps (sweeps/soft_follow_lanes.h). A point that turns
// with a round body rises from the ground by r phi^2 / 2 while the body sinks as much; when the
// manifold is found anew the body is pushed out, for nothing. So the point of a round surface
// follows from the centre of curvature instead. It takes a face on the other side: over an edge or
// a corner the normal turns as a body rolls, and a point of the body is the better guess.

#include "geometry/hull.h"
#include "geometry/triangles.h"
#include "steppers/small_steps/step.h"

// How far a unit vector may be from lying across an axis, or along a normal, to count as that.
static const double directionTolerance = 1e-3;

static tpPose poseOf(const tpSystem* system, const tpShape* shape) {
    tpPose body = system->poses.data[shape->body];
    tpVec3 offset =
        tpSub(shape->form->geometry.pose.position, system->bodies.data[shape->body].center);
    return tpMakePose(tpTransformPoint(body, offset),
                      tpMulQQ(body.rotation, shape->form->geometry.pose.rotation));
}

// The radius about which a shape is round where it has this normal; 0 if it is not.
static double roundness(const tpSystem* system, const tpShape* shape, tpVec3 normal) {
    const tpGeometry* geometry = &shape->form->geometry;
    if (geometry->type == tp_cylinderShape) {
        tpVec3 axis = tpRotate(poseOf(system, shape).rotation, tpMakeVec3(0.0, 0.0, 1.0));
        return fabs(tpDot(axis, normal)) < directionTolerance ? geometry->cylinder.radius : 0.0;
    }
    return geometry->type == tp_sphereShape       ? geometry->sphere.radius
           : geometry->type == tp_capsuleShape    ? geometry->capsule.radius
           : geometry->type == tp_roundedBoxShape ? geometry->roundedBox.radius
                                                  : 0.0;
}

// Whether a shape is round anywhere.
static bool isRollable(const tpShape* shape) {
    tpShapeType type = shape->form->geometry.type;
    return type == tp_sphereShape || type == tp_capsuleShape || type == tp_cylinderShape ||
           type == tp_roundedBoxShape;
}

// Whether a bounded shape has flat parts.
static bool hasFaces(const tpGeometry* geometry) {
    tpShapeType type = geometry->type;
    return type == tp_boxShape || type == tp_cylinderShape || type == tp_hullShape ||
           type == tp_prismShape || type == tp_meshShape || type == tp_heightFieldShape;
}

// Whether a unit vector is the normal of a face with that cosine between them.
static bool isAlongFace(double cosine) {
    return cosine > 1.0 - 0.5 * directionTolerance * directionTolerance;
}

// Whether one of the triangles at a point of a surface has this normal. Nearly always the point is
// on some triangle, and only the few boxes that hold it are visited; else the nearest one counts.
static bool isTriangleAlong(const tpGeometry* geometry, tpVec3 place, tpVec3 normal) {
    double nearby = 1e-9 * (1.0 + tpLength(place)), weights[3];
    tpVec3 grow = tpMakeVec3(nearby, nearby, nearby), nearest;
    tpTriangleQuery query =
        tpQueryTriangles(geometry, (tpBounds){ tpSub(place, grow), tpAdd(place, grow) });
    tpTriangle t;
    bool isNear = false;
    for (int32_t i = tpNextTriangle(&query); i >= 0; i = tpNextTriangle(&query)) {
        tpGetCorners(geometry, i, &t);
        bool isAlong = isAlongFace(fabs(tpDot(t.normal, normal)));
        if (isAlong || !isNear) {
            nearest = tpNearestOnTriangle(t.corners, place, weights);
            bool isHere = tpLengthSquared(tpSub(place, nearest)) < nearby * nearby;
            if (isAlong && isHere) {
                return true;
            }
            isNear = isNear || isHere;
        }
    }
    int32_t index = isNear ? -1 : tpNearestTriangle(geometry, place, INFINITY, &nearest);
    if (index < 0) {
        return false;
    }
    tpGetCorners(geometry, index, &t);
    return isAlongFace(fabs(tpDot(t.normal, normal)));
}

// Whether a shape has a face with this normal at a point, both in the world.
static bool isFlatAt(const tpSystem* system, const tpShape* shape, tpVec3 point, tpVec3 normal) {
    const tpGeometry* geometry = &shape->form->geometry;
    if (geometry->type == tp_planeShape || !hasFaces(geometry)) {
        return geometry->type == tp_planeShape;
    }
    tpPose pose = poseOf(system, shape);
    tpVec3 own = tpUnrotate(pose.rotation, normal);
    double along = 0.0; // the largest cosine between the normal and one of a face
    if (geometry->type == tp_boxShape) {
        along = fmax(fabs(own.x), fmax(fabs(own.y), fabs(own.z)));
    } else if (geometry->type == tp_cylinderShape) {
        along = fabs(own.z);
    } else if (geometry->type == tp_hullShape || geometry->type == tp_prismShape) {
        for (int k = 0; k < geometry->hull->faceCount; ++k) {
            along = fmax(along, fabs(tpDot(geometry->hull->normals[k], own)));
        }
    } else if (geometry->type == tp_meshShape || geometry->type == tp_heightFieldShape) {
        tpVec3 place = tpUnrotate(pose.rotation, tpSub(point, pose.position));
        return isTriangleAlong(geometry, place, own);
    }
    return isAlongFace(along);
}

static bool rollsAt(const tpSystem* system, const tpContactPoint* point, int roller, int ground,
                    bool isGroundA, double* radius) {
    const tpShape* shapes = system->shapes.data;
    double own = roundness(system, &shapes[roller], point->normal);
    *radius = fmax(*radius, own);
    return own > 0.0 && isFlatAt(system, &shapes[ground], isGroundA ? point->pointA : point->pointB,
                                 point->normal);
}

void tpDescribeRolling(const tpSystem* system, const tpFoundManifold* found, tpSoftRun* run,
                       int lane) {
    double radiusA = 0.0, radiusB = 0.0;
    int a = found->shapes.shapeA, b = found->shapes.shapeB;
    bool rollsA = isRollable(&system->shapes.data[a]), rollsB = isRollable(&system->shapes.data[b]);
    bool areRound = rollsA && rollsB && !hasFaces(&system->shapes.data[a].form->geometry) &&
                    !hasFaces(&system->shapes.data[b].form->geometry);
    rollsA = rollsA && !areRound;
    rollsB = rollsB && !areRound;
    for (int k = 0; k < found->count && (rollsA || rollsB); ++k) {
        rollsA = rollsA && rollsAt(system, &found->points[k], a, b, false, &radiusA);
        rollsB = rollsB && rollsAt(system, &found->points[k], b, a, true, &radiusB);
    }
    run->radiusA[lane] = rollsA ? radiusA : 0.0;
    run->radiusB[lane] = rollsB ? radiusB : 0.0;
    run->share[lane] = rollsA ? 0.0f : rollsB ? 1.0f : run->share[lane];
}
