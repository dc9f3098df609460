// The motion along a stride: nodes, what bends it in between, and powers to go along it.

#include "dynamics/joints.h"
#include "math/elementary.h"
#include "steppers/auto/stride.h"

// Turns -------------------------------------------------------------------------------------------

// Below this angle the factors are those of their series.
static const double smallAngle = 1e-2;

// The rate of a rotation vector for an angular velocity, in the axes of the world.
static tpVec3 rateOfTurn(tpVec3 turn, tpVec3 angular) {
    double square = tpLengthSquared(turn), angle = sqrt(square);
    double factor = angle < smallAngle ? 1.0 / 12.0 + square / 720.0
                                       : (1.0 - 0.5 * angle / tpTan(0.5 * angle)) / square;
    tpVec3 first = tpCross(turn, angular);
    return tpMulAdd(tpMulAdd(angular, -0.5, first), factor, tpCross(turn, first));
}

// The inverse.
static tpVec3 angularOfRate(tpVec3 turn, tpVec3 rate) {
    double square = tpLengthSquared(turn), angle = sqrt(square), sine, cosine;
    tpSinCos(angle, &sine, &cosine);
    bool isSmall = angle < smallAngle;
    double a = isSmall ? 0.5 - square / 24.0 : (1.0 - cosine) / square;
    double b = isSmall ? 1.0 / 6.0 - square / 120.0 : (angle - sine) / (square * angle);
    tpVec3 first = tpCross(turn, rate);
    return tpMulAdd(tpMulAdd(rate, a, first), b, tpCross(turn, first));
}

// Nodes ------------------------------------------------------------------------------------------

// The rotation that the spin alone makes of the first one in some seconds.
static tpQuat spun(const tpStrideBody* body, double time) {
    return tpMulQQ(tpQuatExp(tpScale(time, body->spin)), body->start);
}

void tpStride_Set(tpStride* stride, const tpSystem* system, int node) {
    double time = 0.5 * node * stride->frameCount * stride->h;
    for (int i = 0; i < stride->bodies.count; ++i) {
        tpStrideBody* body = &stride->bodies.data[i];
        const tpPose* pose = &system->poses.data[body->body];
        const tpVelocity* velocity = &system->velocities.data[body->body];
        if (body->isRound) {
            body->spins[2 * node] = velocity->angular;
            body->nodes[node] =
                (tpStrideNode){ .position = pose->position, .velocity = velocity->linear };
            continue;
        }
        tpVec3 turn = tpQuatLog(tpMulQQ(pose->rotation, tpConjugate(spun(body, time))));
        tpVec3 rest = tpSub(velocity->angular, tpRotate(tpQuatExp(turn), body->spin));
        body->nodes[node] =
            (tpStrideNode){ pose->position, velocity->linear, turn, rateOfTurn(turn, rest) };
    }
}

// Half way between two places, with velocities there, `time` seconds apart.
static void between(tpVec3 first, tpVec3 firstRate, tpVec3 last, tpVec3 lastRate, double time,
                    tpVec3* middle, tpVec3* rate) {
    tpVec3 change = tpSub(last, first);
    *middle = tpMulAdd(tpMulAdd(first, 0.5, change), 0.125 * time, tpSub(firstRate, lastRate));
    *rate = tpMulAdd(tpScale(1.5 / time, change), -0.25, tpAdd(firstRate, lastRate));
}

void tpStride_SetMiddle(tpStride* stride) {
    double time = stride->frameCount * stride->h;
    for (int i = 0; i < stride->bodies.count; ++i) {
        tpStrideBody* body = &stride->bodies.data[i];
        const tpStrideNode *first = &body->nodes[0], *last = &body->nodes[2];
        tpStrideNode* middle = &body->nodes[1];
        between(first->position, first->velocity, last->position, last->velocity, time,
                &middle->position, &middle->velocity);
        between(first->turn, first->turnRate, last->turn, last->turnRate, time, &middle->turn,
                &middle->turnRate);
        body->spins[2] = tpScale(0.5, tpAdd(body->spins[0], body->spins[4]));
    }
}

double tpStride_Turn(const tpStride* stride) {
    double largest = 0.0;
    for (int i = 0; i < stride->bodies.count; ++i) {
        const tpStrideNode* nodes = stride->bodies.data[i].nodes;
        largest = fmax(largest, fmax(tpLength(nodes[1].turn), tpLength(nodes[2].turn)));
    }
    return largest;
}

// Balls ------------------------------------------------------------------------------------------

void tpStride_SetSpins(tpStride* stride, const tpVelocity* first, const tpVelocity* last) {
    bool hasQuarters = first != NULL && last != NULL;
    for (int i = 0; i < stride->bodies.count; ++i) {
        tpStrideBody* body = &stride->bodies.data[i];
        if (!body->isRound) {
            continue;
        }
        int step = hasQuarters ? 1 : 2, degree = 4 / step;
        if (hasQuarters) {
            body->spins[1] = first[body->body].angular;
            body->spins[3] = last[body->body].angular;
        }
        // Differences forward, and Newton's polynomial as powers.
        tpVec3 d[5] = { body->spins[0] };
        for (int k = 1; k <= degree; ++k) {
            d[k] = body->spins[k * step];
        }
        for (int order = 1; order <= degree; ++order) {
            for (int k = degree; k >= order; --k) {
                d[k] = tpSub(d[k], d[k - 1]);
            }
        }
        static const double newton[5][5] = { { 1.0 },
                                             { 0.0, 1.0, -1.0 / 2.0, 1.0 / 3.0, -1.0 / 4.0 },
                                             { 0.0, 0.0, 1.0 / 2.0, -1.0 / 2.0, 11.0 / 24.0 },
                                             { 0.0, 0.0, 0.0, 1.0 / 6.0, -1.0 / 4.0 },
                                             { 0.0, 0.0, 0.0, 0.0, 1.0 / 24.0 } };
        double scale = 1.0;
        for (int power = 0; power <= tp_bentDegree; ++power) {
            body->turnPowers[power] = tpZeroVec3();
            for (int k = power; k <= degree; ++k) {
                body->turnPowers[power] =
                    tpMulAdd(body->turnPowers[power], scale * newton[power][k], d[k]);
            }
            scale *= degree;
        }
    }
}

// The spin of a ball at a part s of the stride.
static tpVec3 spinAt(const tpStrideBody* body, double s) {
    tpVec3 spin = body->turnPowers[4];
    for (int k = 3; k >= 0; --k) {
        spin = tpMulAdd(body->turnPowers[k], s, spin);
    }
    return spin;
}

// Turns a ball on by the spin of Gauss's two places in the step from one part of the stride to
// another, which takes h seconds. Nobody sees it, and it changes nothing.
static void turnBall(const tpStrideBody* body, double from, double to, double h, tpPose* pose) {
    double middle = 0.5 * (from + to), way = 0.28867513459481287 * (to - from);
    tpVec3 sum = tpAdd(spinAt(body, middle - way), spinAt(body, middle + way));
    pose->rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(tpScale(0.5 * h, sum)), pose->rotation));
}

// Between -----------------------------------------------------------------------------------------

// Of the three values, of the three derivatives, and of what bends the motion in between.
typedef struct StrideWeights {
    double values[3], rates[3], bends[tp_bendCount];
} StrideWeights;

double tpStride_BendAt(int which) {
    return 0.125 + 0.25 * which;
}

// 0 at the nodes.
static double rootAt(double s) {
    return s * (s - 0.5) * (s - 1.0);
}

// Bends leave values and derivatives at the nodes as they are, and each those at the other places.
static void findBends(double s, StrideWeights* value, StrideWeights* rate) {
    double root = rootAt(s), rootRate = (3.0 * s - 3.0) * s + 0.5;
    for (int k = 0; k < tp_bendCount; ++k) {
        double place = tpStride_BendAt(k), scale = 1.0 / (rootAt(place) * rootAt(place));
        double factor = 1.0, factorRate = 0.0;
        for (int j = 0; j < tp_bendCount; ++j) {
            double way = j == k ? 1.0 : 1.0 / (place - tpStride_BendAt(j));
            double part = j == k ? 1.0 : way * (s - tpStride_BendAt(j));
            factorRate = factorRate * part + (j == k ? 0.0 : factor * way);
            factor *= part;
        }
        value->bends[k] = scale * root * root * factor;
        rate->bends[k] = scale * root * (2.0 * rootRate * factor + root * factorRate);
    }
}

// For the value and for the derivative at a part s of the stride: Hermite's polynomials for the
// nodes 0, 1/2 and 1.
static void findWeights(double s, StrideWeights* value, StrideWeights* rate) {
    const double nodes[] = { 0.0, 0.5, 1.0 }, slopes[] = { -3.0, 0.0, 3.0 };
    const double base[] = { (1.0 - 2.0 * s) * (1.0 - s), 4.0 * s * (1.0 - s), s * (2.0 * s - 1.0) };
    const double baseRate[] = { 4.0 * s - 3.0, 4.0 - 8.0 * s, 4.0 * s - 1.0 };
    for (int k = 0; k < 3; ++k) {
        double square = base[k] * base[k], squareRate = 2.0 * base[k] * baseRate[k];
        double way = s - nodes[k], factor = 1.0 - 2.0 * slopes[k] * way;
        value->values[k] = square * factor;
        rate->values[k] = squareRate * factor - 2.0 * slopes[k] * square;
        value->rates[k] = square * way;
        rate->rates[k] = squareRate * way + square;
    }
    findBends(s, value, rate);
}

static tpVec3 positionBy(const StrideWeights* weights, const tpStrideBody* body, double length) {
    tpVec3 sum = tpZeroVec3();
    for (int k = 0; k < 3; ++k) {
        sum = tpMulAdd(sum, weights->values[k], body->nodes[k].position);
        sum = tpMulAdd(sum, weights->rates[k] * length, body->nodes[k].velocity);
    }
    for (int k = 0; k < tp_bendCount; ++k) {
        sum = tpMulAdd(sum, weights->bends[k], body->positionBends[k]);
    }
    return sum;
}

static tpVec3 turnBy(const StrideWeights* weights, const tpStrideBody* body, double length) {
    tpVec3 sum = tpZeroVec3();
    for (int k = 0; k < 3; ++k) {
        sum = tpMulAdd(sum, weights->values[k], body->nodes[k].turn);
        sum = tpMulAdd(sum, weights->rates[k] * length, body->nodes[k].turnRate);
    }
    for (int k = 0; k < tp_bendCount; ++k) {
        sum = tpMulAdd(sum, weights->bends[k], body->turnBends[k]);
    }
    return sum;
}

void tpStride_Bend(tpStride* stride, const tpSystem* system, int which) {
    double length = stride->frameCount * stride->h, s = tpStride_BendAt(which);
    StrideWeights value, slope;
    findWeights(s, &value, &slope);
    for (int i = 0; i < stride->bodies.count; ++i) {
        tpStrideBody* body = &stride->bodies.data[i];
        const tpPose* pose = &system->poses.data[body->body];
        tpVec3 position = positionBy(&value, body, length), turn = turnBy(&value, body, length);
        tpVec3 right = tpQuatLog(tpMulQQ(pose->rotation, tpConjugate(spun(body, s * length))));
        body->positionBends[which] =
            tpAdd(body->positionBends[which], tpSub(pose->position, position));
        body->turnBends[which] = tpAdd(body->turnBends[which], tpSub(right, turn));
    }
}

// A motion of a body at a part s of the stride: place, turn beyond the spin, and their derivatives
// by s.
typedef struct StridePoint {
    tpVec3 position, positionRate, turn, turnRate;
} StridePoint;

static void putBody(const tpStride* stride, tpSystem* system, const tpStrideBody* body, double s,
                    const StridePoint* point) {
    double length = stride->frameCount * stride->h, part = 1.0 / length;
    tpPose* pose = &system->poses.data[body->body];
    tpVelocity* velocity = &system->velocities.data[body->body];
    pose->position = point->position;
    velocity->linear = tpScale(part, point->positionRate);
    if (body->isRound) {
        velocity->angular = spinAt(body, s);
        return;
    }
    tpQuat rest = tpQuatExp(point->turn);
    pose->rotation = tpNormalizeQuat(tpMulQQ(rest, spun(body, s * length)));
    velocity->angular = tpAdd(angularOfRate(point->turn, tpScale(part, point->turnRate)),
                              tpRotate(rest, body->spin));
}

void tpStride_Place(const tpStride* stride, tpSystem* system, double s) {
    double length = stride->frameCount * stride->h;
    StrideWeights value, slope;
    findWeights(s, &value, &slope);
    for (int i = 0; i < stride->bodies.count; ++i) {
        const tpStrideBody* body = &stride->bodies.data[i];
        StridePoint point = { .position = positionBy(&value, body, length),
                              .positionRate = positionBy(&slope, body, length) };
        if (!body->isRound) {
            point.turn = turnBy(&value, body, length);
            point.turnRate = turnBy(&slope, body, length);
        }
        putBody(stride, system, body, s, &point);
    }
    tpJoints_FollowAngles(system);
}

// Powers ------------------------------------------------------------------------------------------

// Hermite's polynomials as powers: what the values at 1/2 and 1 less that at 0 count, and the three
// derivatives.
static const double nodePowers[5][tp_plainDegree + 1] = {
    { 0.0, 0.0, 16.0, -32.0, 16.0, 0.0 }, { 0.0, 0.0, 7.0, -34.0, 52.0, -24.0 },
    { 0.0, 1.0, -6.0, 13.0, -12.0, 4.0 }, { 0.0, 0.0, -8.0, 32.0, -40.0, 16.0 },
    { 0.0, 0.0, -1.0, 5.0, -8.0, 4.0 },
};

// The square of the polynomial that is 0 at the nodes, from the second power on.
static const double rootPowers[] = { 0.25, -1.5, 3.25, -3.0, 1.0 };
enum { rootPowerCount = sizeof(rootPowers) / sizeof(rootPowers[0]) };

// Adds what bends the motion: a polynomial of third degree through the bends, in the scale of the
// square of the root, times that square.
static void addBends(const tpVec3 bends[tp_bendCount], tpVec3* powers) {
    for (int k = 0; k < tp_bendCount; ++k) {
        double place = tpStride_BendAt(k), cubic[tp_bendCount] = { 1.0 };
        double scale = 1.0 / (rootAt(place) * rootAt(place));
        for (int j = 0, degree = 0; j < tp_bendCount; ++j) {
            if (j == k) {
                continue;
            }
            for (int i = ++degree; i >= 0; --i) {
                double lower = i > 0 ? cubic[i - 1] : 0.0;
                cubic[i] = lower - tpStride_BendAt(j) * (i < degree ? cubic[i] : 0.0);
            }
            scale /= place - tpStride_BendAt(j);
        }
        for (int i = 0; i < tp_bendCount; ++i) {
            for (int j = 0; j < rootPowerCount; ++j) {
                int power = i + j + 2;
                powers[power] = tpMulAdd(powers[power], scale * cubic[i] * rootPowers[j], bends[k]);
            }
        }
    }
}

static void findPowers(const tpVec3 values[3], const tpVec3 rates[3], double length,
                       tpVec3* powers) {
    const tpVec3 parts[5] = { tpSub(values[1], values[0]), tpSub(values[2], values[0]),
                              tpScale(length, rates[0]), tpScale(length, rates[1]),
                              tpScale(length, rates[2]) };
    powers[0] = values[0];
    for (int power = 1; power <= tp_bentDegree; ++power) {
        powers[power] = tpZeroVec3();
        for (int k = 0; power <= tp_plainDegree && k < 5; ++k) {
            powers[power] = tpMulAdd(powers[power], nodePowers[k][power], parts[k]);
        }
    }
}

void tpStride_Settle(tpStride* stride) {
    double length = stride->frameCount * stride->h;
    bool isBent = false;
    for (int i = 0; i < stride->bodies.count; ++i) {
        tpStrideBody* body = &stride->bodies.data[i];
        const tpStrideNode* nodes = body->nodes;
        const tpVec3 places[3] = { nodes[0].position, nodes[1].position, nodes[2].position };
        const tpVec3 speeds[3] = { nodes[0].velocity, nodes[1].velocity, nodes[2].velocity };
        const tpVec3 turns[3] = { nodes[0].turn, nodes[1].turn, nodes[2].turn };
        const tpVec3 rates[3] = { nodes[0].turnRate, nodes[1].turnRate, nodes[2].turnRate };
        findPowers(places, speeds, length, body->positionPowers);
        addBends(body->positionBends, body->positionPowers);
        if (!body->isRound) {
            findPowers(turns, rates, length, body->turnPowers);
            addBends(body->turnBends, body->turnPowers);
        }
        for (int k = 0; k < tp_bendCount; ++k) {
            isBent = isBent || tpLengthSquared(body->positionBends[k]) > 0.0 ||
                     tpLengthSquared(body->turnBends[k]) > 0.0;
        }
    }
    stride->degree = isBent ? tp_bentDegree : tp_plainDegree;
}

// The value and the derivative of a polynomial.
static tpVec3 atPart(const tpVec3* powers, int degree, double s, tpVec3* rate) {
    tpVec3 value = powers[degree];
    *rate = tpZeroVec3();
    for (int k = degree - 1; k >= 0; --k) {
        *rate = tpMulAdd(value, s, *rate);
        value = tpMulAdd(powers[k], s, value);
    }
    return value;
}

tpVec3 tpStride_PositionAt(const tpStride* stride, const tpStrideBody* body, double s) {
    tpVec3 rate;
    return atPart(body->positionPowers, stride->degree, s, &rate);
}

double tpStride_TurnAt(const tpStride* stride, const tpStrideBody* body, double s) {
    tpVec3 rate;
    return tpLength(atPart(body->turnPowers, stride->degree, s, &rate));
}

tpVec3 tpStride_VelocityAt(const tpStride* stride, const tpStrideBody* body, double s) {
    tpVec3 rate;
    atPart(body->positionPowers, stride->degree, s, &rate);
    return tpScale(1.0 / (stride->frameCount * stride->h), rate);
}

void tpStride_Advance(tpStride* stride, tpSystem* system) {
    stride->doneCount += 1;
    double s = (double)stride->doneCount / stride->frameCount;
    double before = (stride->doneCount - 1.0) / stride->frameCount;
    for (int i = 0; i < stride->bodies.count; ++i) {
        const tpStrideBody* body = &stride->bodies.data[i];
        StridePoint point;
        point.position = atPart(body->positionPowers, stride->degree, s, &point.positionRate);
        if (body->isRound) {
            turnBall(body, before, s, stride->h, &system->poses.data[body->body]);
        } else {
            point.turn = atPart(body->turnPowers, stride->degree, s, &point.turnRate);
        }
        putBody(stride, system, body, s, &point);
    }
    tpJoints_FollowAngles(system);
}
