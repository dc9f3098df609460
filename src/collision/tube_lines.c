// Where the sides of two capsules or cylinders may meet next.
//
// Two tubes that lie along each other touch at one end of what their sides share, and after a turn
// of a few degrees at the other one. A contact at the nearest points alone says nothing of that:
// within a step the other end swings in, the next contact is there, and the pair sinks into each
// other from side to side. So for a pair that looks ahead both ends are contacts, with the gap that
// they have now. At a place on each axis a tube is a ball (a capsule) or a disc (a cylinder): their
// distance d along n is the gap,
//
//     gap = n . (a - b) - h_A - h_B        h = r of a ball, r sin(n, axis) of a disc
//
//       ==========a==========  axis of A        a, b: an end of one tube that is over the side of
//                 |                             the other, and the nearest point of that one's
//                                               axis;
//                 b=================  axis of B    n along a - b
//
// Balls and discs are parts of the bodies, so that no contact is one that the bodies cannot have.

#include "collision/tube_lines.h"

#include "geometry/shape.h"

// Axes farther apart than 60 degrees share no side worth two contacts, and an end whose normal is
// as far from the pair's lies beside the other tube.
static const double leastCosine = 0.5;

// Normals at the ends that are within a tenth of a radian of the pair's normal are that one: a
// manifold with one normal takes less work.
static const double sameCosine = 0.995;

// A cylinder whose axis rises more steeply along the normal is met with a cap.
static const double mostRise = 0.35;

typedef struct Tube {
    tpVec3 center, axis; // unit
    double half, radius;
    bool isRound; // ends in half balls
} Tube;

bool tpIsTube(const tpGeometry* geometry) {
    return geometry->type == tp_capsuleShape || geometry->type == tp_cylinderShape;
}

static Tube tubeOf(const tpGeometry* geometry, tpPose pose) {
    bool isRound = geometry->type == tp_capsuleShape;
    return (Tube){ pose.position, tpRotate(pose.rotation, tpMakeVec3(0.0, 0.0, 1.0)),
                   0.5 * (isRound ? geometry->capsule.length : geometry->cylinder.length),
                   isRound ? geometry->capsule.radius : geometry->cylinder.radius, isRound };
}

static double clampTo(double x, double half) {
    return fmin(fmax(x, -half), half);
}

static bool isMetByCap(const Tube* tube, tpVec3 n) {
    return !tube->isRound && fabs(tpDot(tube->axis, n)) > mostRise;
}

// An end of one tube over the side of the other.
typedef struct End {
    bool isOver;
    tpContactPoint contact;
} End;

// The end of a capsule is a ball about its place on the axis, that of a cylinder a rim, of which
// the point below is the one that meets the other tube. `n` points away from the other tube.
static tpVec3 tipOf(const Tube* own, double sign, tpVec3 n) {
    tpVec3 place = tpMulAdd(own->center, sign * own->half, own->axis);
    if (own->isRound) {
        return place;
    }
    tpVec3 across = tpMulAdd(n, -tpDot(own->axis, n), own->axis);
    return tpMulAdd(place, -own->radius / tpLength(across), across);
}

static End endOf(const Tube* own, double sign, const Tube* other, tpVec3 n, int32_t id) {
    tpVec3 tip = tipOf(own, sign, n);
    double along = tpDot(other->axis, tpSub(tip, other->center));
    End end = { .isOver = fabs(along) <= other->half * (1.0 + 1e-9) };
    if (!end.isOver) {
        return end;
    }
    tpVec3 d = tpSub(tip, tpMulAdd(other->center, clampTo(along, other->half), other->axis));
    double distance = tpLength(d), rise = tpDot(d, n), radius = own->isRound ? own->radius : 0.0;
    // Deep inside each other they have the pair's normal. Far aside they do not meet.
    bool isDeep = distance < 0.5 * (radius + other->radius);
    end.isOver = isDeep || rise > leastCosine * distance;
    tpVec3 normal = isDeep || rise >= sameCosine * distance ? n : tpScale(1.0 / distance, d);
    double gap = (isDeep ? rise : distance) - radius - other->radius;
    tpVec3 point = tpMulAdd(tip, -radius, normal);
    end.contact = tpMakeContact(tpMulAdd(point, -gap, normal), normal, gap,
                                tpMakeFeature(tp_edgeEdge, id, id));
    return end;
}

static void turnAround(tpContactPoint* contact) {
    tpVec3 point = contact->pointA;
    contact->pointA = contact->pointB;
    contact->pointB = point;
    contact->normal = tpNeg(contact->normal);
}

bool tpJoinTubes(const tpPair* pair, const tpClosest* closest, tpContactList* out) {
    Tube a = tubeOf(pair->a, pair->poseA), b = tubeOf(pair->b, pair->poseB);
    tpVec3 n = closest->normal;
    if (isMetByCap(&a, n) || isMetByCap(&b, n)) {
        return false;
    }
    double cosine = tpDot(a.axis, b.axis), beyond = INFINITY;
    bool isAny = false;
    for (int k = 0; k < 2 && fabs(cosine) >= leastCosine; ++k) {
        double sign = k == 0 ? -1.0 : 1.0;
        End ofA = endOf(&a, sign, &b, n, k);
        End ofB = endOf(&b, copysign(sign, sign * cosine), &a, tpNeg(n), k);
        turnAround(&ofB.contact);
        if (!ofA.isOver && !ofB.isOver) {
            continue;
        }
        bool useA = ofA.isOver && (!ofB.isOver || ofA.contact.gap <= ofB.contact.gap);
        const tpContactPoint* contact = useA ? &ofA.contact : &ofB.contact;
        if (contact->gap <= pair->margin) {
            tpContactList_Add(out, contact);
            isAny = true;
        } else {
            beyond = fmin(beyond, contact->gap);
        }
    }
    tpPair_SayBeyond(pair, fmax(beyond, pair->margin));
    return isAny;
}
