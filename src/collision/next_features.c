// How much farther off than its nearest features the other features of a shape are.
//
// Along the normal n of the distance d of two shapes, each has a lowest vertex, line or rim point,
// and its other vertices are higher by at least h. All pairs of points but those of the nearest
// features are then at least d + min(h_A, h_B) apart along n. As long as the bodies have not come
// nearer than that, along n, the contact at the nearest features is all there is
// (sweeps/soft_follow_lanes.h).
//
// A rim has points beside its lowest one. As the shape turns by an angle t they come lower by
// r t^2 / (2 s), s being the sine between n and the axis: a rim that is steep enough counts as a
// corner, since a manifold is found anew after a turn of .06 rad.

#include "collision/next_features.h"

#include "collision/hull_flood.h"
#include "geometry/shape.h"

// Lines whose ends are that level, of their length, lie across the normal.
static const double level = 1e-6;

// Below this sine between its axis and the normal a rim lies too flat to have a lowest point.
static const double leastSine = 0.4;

// Lines within 30 degrees of each other come to lie along each other, end by end (tube_lines.h).
static const double alongSine = 0.5;

// The lowest features of a shape.
typedef struct LowEnd {
    double next; // how much higher the next ones are, m; 0: not known
    bool isLine;
    tpVec3 line; // unit, world
} LowEnd;

static LowEnd lowTube(tpPose pose, tpVec3 towards, double length, bool isRound) {
    LowEnd end = { .line = tpRotate(pose.rotation, tpMakeVec3(0.0, 0.0, 1.0)) };
    double cosine = fabs(tpDot(end.line, towards));
    end.isLine = cosine < level;
    end.next = end.isLine ? INFINITY : length * cosine;
    if (!isRound && 1.0 - cosine * cosine < leastSine * leastSine) {
        end.next = 0.0;
    }
    return end;
}

// A vertex and two steps of the three along its edges, or an edge and one.
static LowEnd lowBox(tpPose pose, tpVec3 towards, tpVec3 size) {
    tpVec3 own = tpUnrotate(pose.rotation, towards);
    double steps[3] = { size.x * fabs(own.x), size.y * fabs(own.y), size.z * fabs(own.z) };
    int least = steps[1] < steps[0] ? 1 : 0;
    least = steps[2] < steps[least] ? 2 : least;
    double tolerance = level * (size.x + size.y + size.z);
    LowEnd end = { .next = steps[least] };
    if (steps[least] <= tolerance) {
        double next = fmin(steps[(least + 1) % 3], steps[(least + 2) % 3]);
        end.next = next > tolerance ? next : 0.0;
        end.isLine = true;
        end.line = tpRotate(pose.rotation, tpMakeVec3(least == 0, least == 1, least == 2));
    }
    return end;
}

static LowEnd lowHull(const tpHull* hull, tpPose pose, tpVec3 towards) {
    tpVec3 own = tpUnrotate(pose.rotation, towards), up = tpNeg(own);
    int32_t vertices[tp_maxFlood], lowest = tpHull_Support(hull, own, 0);
    double low = tpDot(up, hull->vertices[lowest]), next;
    int count = tpHull_Flood(hull, up, lowest, low + level * hull->radius, vertices, &next);
    LowEnd end = { .next = count <= 2 ? next - low : 0.0, .isLine = count == 2 };
    if (count == 2) {
        tpVec3 edge = tpSub(hull->vertices[vertices[1]], hull->vertices[vertices[0]]);
        end.line = tpRotate(pose.rotation, tpNormalize(edge));
    }
    return end;
}

// `towards` points at the other shape.
static LowEnd lowEnd(const tpGeometry* geometry, tpPose pose, tpVec3 towards) {
    switch (geometry->type) {
    case tp_sphereShape:
        return (LowEnd){ .next = INFINITY };
    case tp_capsuleShape:
        return lowTube(pose, towards, geometry->capsule.length, true);
    case tp_cylinderShape:
        return lowTube(pose, towards, geometry->cylinder.length, false);
    case tp_boxShape:
        return lowBox(pose, towards, geometry->box.size);
    case tp_hullShape:
    case tp_prismShape:
        return lowHull(geometry->hull, pose, towards);
    default:
        return (LowEnd){ .next = 0.0 };
    }
}

void tpPair_SayNext(const tpPair* pair, const tpClosest* closest) {
    if (pair->over == NULL) {
        return;
    }
    LowEnd a = lowEnd(pair->a, pair->poseA, tpNeg(closest->normal));
    if (a.next <= 0.0) {
        return;
    }
    LowEnd b = lowEnd(pair->b, pair->poseB, closest->normal);
    bool areAlong = a.isLine && b.isLine && tpLength(tpCross(a.line, b.line)) < alongSine;
    double beyond = closest->distance + fmin(a.next, b.next);
    if (beyond > pair->margin && !areAlong) {
        pair->over->beyond = beyond;
        pair->over->isAlong = true;
    }
}

void tpPair_SayBallOverFace(const tpPair* pair, bool isB, double room) {
    if (pair->over != NULL) {
        *pair->over = (tpOverFace){
            .isPlane = true, .isAlong = true, .isA = !isB, .beyond = INFINITY, .room = room
        };
    }
}
