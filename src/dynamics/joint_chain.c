#include "dynamics/joint_chain.h"

#include "math/elementary.h"

static const double fullTurn = 6.283185307179586477;

// Duals of three axes grow like 1 / their volume; below this volume they stay as large as they are
// there. Near it the middle turn has locked the gimbal, and rates are not determined.
static const double leastVolume = 1e-6;

// The angle nearest to `last` among those that differ from `angle` by whole turns.
static double nearestTurn(double angle, double last) {
    return angle + fullTurn * nearbyint((last - angle) / fullTurn);
}

static tpQuat turnBy(tpVec3 axis, double angle) {
    double sine, cosine;
    tpSinCos(0.5 * angle, &sine, &cosine);
    return tpMakeQuat(cosine, sine * axis.x, sine * axis.y, sine * axis.z);
}

// The turn about `axis` that is nearest to the rotation q, and its angle.
static tpQuat nearestAbout(tpVec3 axis, tpQuat q) {
    double along = q.x * axis.x + q.y * axis.y + q.z * axis.z;
    double size = sqrt(along * along + q.w * q.w);
    if (!(size > 0.0)) {
        return tpIdentityQuat();
    }
    return tpMakeQuat(q.w / size, along / size * axis.x, along / size * axis.y,
                      along / size * axis.z);
}

static double twistAbout(tpVec3 axis, tpQuat q) {
    return 2.0 * tpAtan2(q.x * axis.x + q.y * axis.y + q.z * axis.z, q.w);
}

// The angle about `axis` from the direction of u to that of v, both seen along the axis.
static double angleBetween(tpVec3 axis, tpVec3 u, tpVec3 v) {
    double along = tpDot(u, v) - tpDot(axis, u) * tpDot(axis, v);
    return tpAtan2(tpDot(axis, tpCross(u, v)), along);
}

// Duals of directions: dual_i . direction_j is 1 for i = j and 0 otherwise, within their span.
static void makeDuals(tpChainAxis* axes, int count) {
    if (count == 1) {
        axes[0].dual = axes[0].axis;
    } else if (count == 2) {
        double cosine = tpDot(axes[0].axis, axes[1].axis);
        double square = fmax(1.0 - cosine * cosine, leastVolume * leastVolume);
        axes[0].dual = tpScale(1.0 / square, tpMulAdd(axes[0].axis, -cosine, axes[1].axis));
        axes[1].dual = tpScale(1.0 / square, tpMulAdd(axes[1].axis, -cosine, axes[0].axis));
    } else if (count == 3) {
        tpVec3 products[3];
        for (int i = 0; i < 3; ++i) {
            products[i] = tpCross(axes[(i + 1) % 3].axis, axes[(i + 2) % 3].axis);
        }
        double volume = tpDot(axes[0].axis, products[0]);
        volume = fabs(volume) > leastVolume ? volume : copysign(leastVolume, volume);
        for (int i = 0; i < 3; ++i) {
            axes[i].dual = tpScale(1.0 / volume, products[i]);
        }
    }
}

bool tpAreIndependent(const tpVec3* directions, int count) {
    static const double least = 1e-3;
    if (count <= 1) {
        return true;
    }
    if (count == 2) {
        return tpLength(tpCross(directions[0], directions[1])) > least;
    }
    return count == 3 && fabs(tpDot(directions[0], tpCross(directions[1], directions[2]))) > least;
}

// Angles of turns ---------------------------------------------------------------------------------

static void solveTwo(const tpVec3* a, tpQuat R, const double* last, double* angle) {
    angle[0] = nearestTurn(angleBetween(a[0], a[1], tpRotate(R, a[1])), last[0]);
    tpQuat rest = tpMulQQ(turnBy(a[0], -angle[0]), R);
    angle[1] = nearestTurn(twistAbout(a[1], rest), last[1]);
}

// The first and last of three turns when the one in the middle is known. In gimbal lock only their
// sum is: the first then stays as it is.
static double solveOuter(const tpVec3* a, tpQuat R, const double* last, double* angle) {
    tpVec3 arm = tpRotate(turnBy(a[1], angle[1]), a[2]);
    bool isLocked = tpLength(tpCross(a[0], arm)) < leastVolume;
    double first = isLocked ? last[0] : angleBetween(a[0], arm, tpRotate(R, a[2]));
    angle[0] = nearestTurn(first, last[0]);
    tpQuat rest = tpMulQQ(turnBy(a[1], -angle[1]), tpMulQQ(turnBy(a[0], -angle[0]), R));
    angle[2] = nearestTurn(twistAbout(a[2], rest), last[2]);
    return fabs(angle[0] - last[0]) + fabs(angle[1] - last[1]) + fabs(angle[2] - last[2]);
}

// Newton's step on the rotation that is left over.
static void polish(const tpVec3* a, tpQuat R, double* angle) {
    tpQuat product = tpIdentityQuat();
    tpChainAxis now[3];
    for (int i = 0; i < 3; ++i) {
        now[i].axis = tpRotate(product, a[i]);
        product = tpMulQQ(product, turnBy(a[i], angle[i]));
    }
    tpVec3 left = tpQuatLog(tpMulQQ(R, tpConjugate(product)));
    makeDuals(now, 3);
    bool isSound = tpLength(left) < 1e-3 && tpLength(now[0].dual) < 1e3;
    for (int i = 0; isSound && i < 3; ++i) {
        angle[i] += tpDot(now[i].dual, left);
    }
}

// a_1 . R a_3 = A cos q_2 + B sin q_2 + C has two roots, which differ by half a turn of the first
// and last: of the two, the angles nearest to the last ones. Beyond the reach of axes that are not
// at right angles, the nearest that they reach.
static void solveThree(const tpVec3* a, tpQuat R, const double* last, double* angle) {
    double first = tpDot(a[0], a[1]), second = tpDot(a[1], a[2]);
    double A = tpDot(a[0], a[2]) - first * second, B = tpDot(a[0], tpCross(a[1], a[2]));
    double size = tpHypot(A, B), base = tpAtan2(B, A);
    double cosine = (tpDot(a[0], tpRotate(R, a[2])) - first * second) / size;
    double half = tpAcos(fmin(fmax(cosine, -1.0), 1.0));
    double other[3];
    angle[1] = nearestTurn(base + half, last[1]);
    other[1] = nearestTurn(base - half, last[1]);
    if (solveOuter(a, R, last, other) < solveOuter(a, R, last, angle)) {
        angle[0] = other[0];
        angle[1] = other[1];
        angle[2] = other[2];
    }
    polish(a, R, angle);
}

static void solveTurns(int count, const tpVec3* a, tpQuat R, const double* last, double* angle) {
    if (count == 1) {
        angle[0] = nearestTurn(twistAbout(a[0], R), last[0]);
    } else if (count == 2) {
        solveTwo(a, R, last, angle);
    } else if (count == 3) {
        solveThree(a, R, last, angle);
    }
}

// Places ------------------------------------------------------------------------------------------

// The turns of the joint, and what they make of all axes of the chain.
static void placeTurns(const tpJoint* joint, tpQuat rotationA, tpQuat R, tpChain* chain) {
    tpVec3 a[3];
    double last[3], angle[3] = { 0.0 };
    for (int i = 0; i < joint->coordinateCount; ++i) {
        const tpCoordinate* coordinate = &joint->coordinates[i];
        if (coordinate->kind == tp_turnAxis) {
            a[chain->turnCount] = coordinate->axis;
            last[chain->turnCount] = coordinate->displacement;
            chain->turns[chain->turnCount++].coordinate = i;
        } else {
            chain->slides[chain->slideCount++].coordinate = i;
        }
    }
    solveTurns(chain->turnCount, a, R, last, angle);
    tpQuat product = tpIdentityQuat();
    for (int i = 0, turn = 0, slide = 0; i < joint->coordinateCount; ++i) {
        const tpCoordinate* coordinate = &joint->coordinates[i];
        bool isFirst = turn == 0;
        tpVec3 axis = isFirst ? coordinate->axis : tpRotate(product, coordinate->axis);
        axis = tpRotate(rotationA, axis);
        if (coordinate->kind == tp_turnAxis) {
            chain->turns[turn].axis = axis;
            chain->turns[turn].value = angle[turn];
            tpQuat by = chain->turnCount == 1 ? nearestAbout(coordinate->axis, R)
                                              : turnBy(coordinate->axis, angle[turn]);
            product = isFirst ? by : tpMulQQ(product, by);
            turn += 1;
        } else {
            chain->slides[slide].axis = axis;
            chain->slides[slide].before = product;
            slide += 1;
        }
    }
    // Twice the sine of half the angle: the rotation vector where it is small.
    tpQuat left = tpMulQQ(R, tpConjugate(product));
    double twice = left.w < 0.0 ? -2.0 : 2.0;
    tpVec3 vector = tpMakeVec3(twice * left.x, twice * left.y, twice * left.z);
    chain->twist = tpRotate(rotationA, vector);
    makeDuals(chain->turns, chain->turnCount);
}

static void placeSlides(tpVec3 span, tpChain* chain) {
    makeDuals(chain->slides, chain->slideCount);
    chain->gap = span;
    for (int j = 0; j < chain->slideCount; ++j) {
        tpChainAxis* slide = &chain->slides[j];
        slide->value = tpDot(slide->dual, span);
        chain->gap = tpMulAdd(chain->gap, -slide->value, slide->axis);
    }
    // A turn moves what is slid after it.
    for (int i = 0; i < chain->turnCount; ++i) {
        tpChainAxis* turn = &chain->turns[i];
        tpVec3 after = tpZeroVec3();
        for (int j = 0; j < chain->slideCount; ++j) {
            const tpChainAxis* slide = &chain->slides[j];
            if (slide->coordinate > turn->coordinate) {
                after = tpMulAdd(after, slide->value, slide->axis);
            }
        }
        turn->lever = tpCross(turn->axis, after);
    }
}

// The rotation of B in A since the joint was made.
static inline tpQuat rotationSince(const tpJoint* joint, tpQuat rotationA, tpQuat rotationB) {
    return tpMulQQ(tpMulQQ(tpConjugate(rotationA), rotationB),
                   tpConjugate(joint->relativeRotation));
}

// The same for a single turn, which most joints are: R = (w, v) less the turn about a, (c, s a), is
// the vector c v - s w a - s v x a.
static inline tpHalfTurn splitHinge(const tpJoint* joint, tpQuat R, tpVec3* twist) {
    tpVec3 a = joint->coordinates[0].axis, v = tpMakeVec3(R.x, R.y, R.z);
    double along = tpDot(v, a), size = sqrt(along * along + R.w * R.w);
    double c = size > 0.0 ? R.w / size : 1.0, s = size > 0.0 ? along / size : 0.0;
    tpVec3 left = tpSub(tpMulAdd(tpScale(c, v), -s * R.w, a), tpScale(s, tpCross(v, a)));
    *twist = tpScale(2.0, left);
    return (tpHalfTurn){ s, c };
}

static inline tpVec3 hingeTwist(const tpJoint* joint, tpQuat R) {
    tpVec3 twist;
    splitHinge(joint, R, &twist);
    return twist;
}

static inline double hingeValue(const tpJoint* joint, tpQuat R) {
    const tpCoordinate* coordinate = &joint->coordinates[0];
    return nearestTurn(twistAbout(coordinate->axis, R), coordinate->displacement);
}

tpHalfTurn tpHinge_Split(const tpJoint* joint, tpQuat rotationA, tpQuat rotationB, tpVec3* twist) {
    return splitHinge(joint, rotationSince(joint, rotationA, rotationB), twist);
}

double tpHinge_ValueOf(const tpJoint* joint, tpHalfTurn half) {
    return nearestTurn(2.0 * tpAtan2(half.sine, half.cosine), joint->coordinates[0].displacement);
}

bool tpHinge_ValueNear(tpHalfTurn half, tpHalfTurn knownHalf, double known, double* value) {
    static const double far = 0.05;
    double x = half.sine * knownHalf.cosine - half.cosine * knownHalf.sine;
    double c = half.cosine * knownHalf.cosine + half.sine * knownHalf.sine;
    // Quaternions have two signs.
    x = c < 0.0 ? -x : x;
    if (!(fabs(x) < far && fabs(c) > 0.5)) {
        return false;
    }
    // The series of the arc sine, to 1e-17.
    double y = x * x;
    double series =
        1.0 + y * (1.0 / 6.0 + y * (3.0 / 40.0 +
                                    y * (5.0 / 112.0 + y * (35.0 / 1152.0 + y * (63.0 / 2816.0)))));
    *value = known + 2.0 * x * series;
    return true;
}

tpVec3 tpHinge_Twist(const tpJoint* joint, tpQuat rotationA, tpQuat rotationB) {
    return hingeTwist(joint, rotationSince(joint, rotationA, rotationB));
}

double tpHinge_Value(const tpJoint* joint, tpQuat rotationA, tpQuat rotationB) {
    return hingeValue(joint, rotationSince(joint, rotationA, rotationB));
}

static void placeHinge(const tpJoint* joint, tpQuat rotationA, tpQuat R, tpVec3 span,
                       tpChain* chain) {
    tpChainAxis* turn = &chain->turns[0];
    chain->turnCount = 1;
    chain->slideCount = 0;
    chain->twist = tpRotate(rotationA, hingeTwist(joint, R));
    chain->gap = span;
    turn->coordinate = 0;
    turn->value = hingeValue(joint, R);
    turn->axis = turn->dual = tpRotate(rotationA, joint->coordinates[0].axis);
    turn->lever = tpZeroVec3();
    turn->before = tpIdentityQuat();
}

void tpChain_Place(const tpJoint* joint, tpQuat rotationA, tpQuat rotationB, tpVec3 span,
                   tpChain* chain) {
    tpQuat R = rotationSince(joint, rotationA, rotationB);
    if (tpJoint_IsHinge(joint)) {
        placeHinge(joint, rotationA, R, span, chain);
        return;
    }
    chain->turnCount = chain->slideCount = 0;
    placeTurns(joint, rotationA, R, chain);
    placeSlides(span, chain);
}

void tpChain_Pose(const tpJoint* joint, const double* displacements, tpQuat* rotation,
                  tpVec3* span) {
    tpQuat product = tpIdentityQuat();
    *span = tpZeroVec3();
    for (int i = 0; i < joint->coordinateCount; ++i) {
        const tpCoordinate* coordinate = &joint->coordinates[i];
        if (coordinate->kind == tp_turnAxis) {
            product = tpMulQQ(product, turnBy(coordinate->axis, displacements[i]));
        } else {
            tpVec3 axis = tpRotate(product, coordinate->axis);
            *span = tpMulAdd(*span, displacements[i], axis);
        }
    }
    *rotation = tpNormalizeQuat(tpMulQQ(product, joint->relativeRotation));
}
