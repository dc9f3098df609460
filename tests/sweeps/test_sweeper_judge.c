// The certificate of a sweep, worked out anew contact by contact from bodies and impulses that obey
// nothing: as the head of sweeper_judge.c and docs/conventions.md say, by other code.

#include "heap.h"

typedef struct Verdict {
    double square, worst, cone, dissipation, free;
} Verdict;

static tpVec3 velocityAt(const Heap* heap, int body, tpVec3 arm) {
    const tpVelocity* v = &heap->velocities[body];
    return tpAdd(v->linear, tpCross(v->angular, arm));
}

// Rows n, t, o and r of a contact: impulses, velocities without and with bias.
typedef struct Contact {
    int rows;
    double r[4], bare[4], u[4], trace, mu;
} Contact;

static Contact contactOf(const Heap* heap, int i) {
    int lane;
    const tpSweepContact* given = &heap->contacts[i];
    const tpContactPack* pack = tpSweeper_PackOf(&heap->sweeper, i, &lane);
    tpVec3 between = tpSub(velocityAt(heap, given->bodyA, given->armA),
                           velocityAt(heap, given->bodyB, given->armB));
    const tpVec3 axes[3] = { given->normal, given->tangents[0], given->tangents[1] };
    Contact c = { .rows = 1, .mu = given->muDynamic };
    for (int k = 0; k < 3; ++k) {
        c.r[k] = pack->impulse[k][lane];
        c.bare[k] = tpDot(axes[k], between);
        c.u[k] = c.bare[k] + pack->bias[k][lane];
    }
    c.trace = pack->response[0][lane];
    if (given->muStatic > 0.0) {
        c.rows = 3;
        c.trace += pack->response[3][lane] + pack->response[5][lane];
        if (given->torsionArm > 0.0) {
            const tpTorsionPack* torsion = &heap->sweeper.torsions[pack->torsion];
            tpVec3 turns = tpSub(heap->velocities[given->bodyA].angular,
                                 heap->velocities[given->bodyB].angular);
            c.rows = 4;
            c.r[3] = torsion->impulse[lane];
            c.bare[3] = given->torsionArm * tpDot(given->normal, turns);
            c.u[3] = c.bare[3] + torsion->bias[lane];
            c.trace += torsion->response[3][lane];
        }
    }
    double force = sqrt(c.r[1] * c.r[1] + c.r[2] * c.r[2] + c.r[3] * c.r[3]);
    c.mu = c.rows > 1 && force > c.mu * c.r[0] * (1.0 + 1e-9) ? given->muStatic : c.mu;
    return c;
}

static double lengthOf(const double* x, int rows) {
    double sum = 0.0;
    for (int k = 1; k < rows; ++k) {
        sum += x[k] * x[k];
    }
    return sqrt(sum);
}

// How far x is from the nearest point of the cone of mu: by the distance to its surface along the
// cone's own directions, with the polar cone told apart by angles.
static void nearestInCone(double mu, int rows, const double* x, double* nearest) {
    double slide = lengthOf(x, rows), angle = atan2(slide, x[0]), half = atan(mu);
    double along = sqrt(x[0] * x[0] + slide * slide) * cos(angle - half);
    bool isInside = angle <= half, isPolar = angle >= half + 0.5 * 3.14159265358979323846;
    for (int k = 0; k < rows; ++k) {
        nearest[k] = isInside  ? x[k]
                     : isPolar ? 0.0
                     : k == 0  ? along * cos(half)
                               : along * sin(half) * x[k] / slide;
    }
}

static double missOf(const Contact* c, double low) {
    double rho = c->rows / c->trace, moved[4], nearest[4], sum = 0.0;
    if (low < 0.0 && c->r[0] <= 0.0) {
        return fabs(c->r[0] - fmax(low, c->r[0] - rho * c->u[0])) / rho;
    }
    for (int k = 0; k < c->rows; ++k) {
        double u = k == 0 ? c->u[0] + c->mu * lengthOf(c->u, c->rows) : c->u[k];
        moved[k] = c->r[k] - rho * u;
    }
    nearestInCone(c->rows > 1 ? c->mu : 0.0, c->rows, moved, nearest);
    for (int k = 0; k < c->rows; ++k) {
        sum += (c->r[k] - nearest[k]) * (c->r[k] - nearest[k]);
    }
    return sqrt(sum) / rho;
}

static void add(Verdict* v, double miss) {
    v->square += miss * miss;
    v->worst = fmax(v->worst, miss);
}

// The joints of a test: free ones, ones that only push, and bounded ones, on bodies 2 to 40.
enum { jointCount = 24 };

static void addJoints(Heap* heap, tpSweepJoint* joints) {
    tpRandom random = { 77 };
    memset(joints, 0, jointCount * sizeof(*joints));
    for (int i = 0; i < jointCount; ++i) {
        tpSweepJoint* joint = &joints[i];
        joint->bodyA = 2 + i;
        joint->bodyB = i % 4 == 0 ? -1 : 16 + i;
        joint->kind = (tpSweepJointKind)(i % 3);
        joint->rowCount = joint->kind == tp_freeSweepJoint ? 1 + i % 2 : 1;
        joint->limit = 0.2;
        joint->scale = i % 5 == 0 ? 0.3 : 1.0;
        for (int k = 0; k < joint->rowCount; ++k) {
            joint->bias[k] = randomBetween(&random, -1.0, 1.0);
            if (i == 9) { // nothing moves it
                continue;
            }
            joint->onA[k].linear = randomVec3(&random, -1.0, 1.0);
            joint->onA[k].angular = randomVec3(&random, -1.0, 1.0);
            joint->onB[k].linear = randomVec3(&random, -1.0, 1.0);
            joint->onB[k].angular = randomVec3(&random, -1.0, 1.0);
            joint->compliance[k] = i % 2 == 0 ? 0.3 : 0.0;
            joint->impulse[k] = randomBetween(&random, -0.2, 0.2);
        }
    }
    tpSweeper_SetJoints(&heap->sweeper, joints, jointCount);
}

static double rowVelocity(const Heap* heap, const tpSweepJoint* joint, int k) {
    double u = joint->bias[k] + joint->compliance[k] * joint->impulse[k];
    const tpVelocity* a = &heap->velocities[joint->bodyA];
    u += tpDot(joint->onA[k].linear, a->linear) + tpDot(joint->onA[k].angular, a->angular);
    if (joint->bodyB >= 0) {
        const tpVelocity* b = &heap->velocities[joint->bodyB];
        u += tpDot(joint->onB[k].linear, b->linear) + tpDot(joint->onB[k].angular, b->angular);
    }
    return u;
}

// The laws of the three kinds: u = 0; r >= 0, u >= 0 and one of them 0; |r| <= limit, and u against
// it where it is at its bound.
static void judgeJoints(const Heap* heap, const tpSweepJoint* joints, Verdict* verdict) {
    for (int i = 0; i < jointCount; ++i) {
        const tpSweepJoint* joint = &joints[i];
        double sum = 0.0, w = joint->response;
        for (int k = 0; k < joint->rowCount; ++k) {
            double u = rowVelocity(heap, joint, k), r = w * joint->impulse[k];
            double miss = joint->kind == tp_freeSweepJoint       ? u
                          : joint->kind == tp_oneSidedSweepJoint ? fmin(u, r)
                          : u > 0.0                              ? fmin(u, r + w * joint->limit)
                                                                 : -fmin(-u, w * joint->limit - r);
            sum += w > 0.0 ? miss * miss : 0.0;
            verdict->free += joint->scale * u * joint->scale * u;
        }
        add(verdict, joint->scale * sqrt(sum));
    }
}

static Verdict judge(const Heap* heap, const tpSweepJoint* joints) {
    Verdict verdict = { 0.0, 0.0, 0.0, 0.0, 0.0 };
    double load = 0.0, speed = 0.0;
    judgeJoints(heap, joints, &verdict);
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < heap->count; ++i) {
            int lane;
            const tpContactPack* pack = tpSweeper_PackOf(&heap->sweeper, i, &lane);
            if (pack->bias[0][lane] >= TP_SWEEP_OPEN) {
                continue;
            }
            Contact c = contactOf(heap, i);
            double slip = lengthOf(c.u, c.rows), force = lengthOf(c.r, c.rows);
            if (round == 0) {
                add(&verdict, missOf(&c, pack->low[lane]));
                load = fmax(load, c.r[0]);
                speed = fmax(speed, slip);
                for (int k = 0; k < c.rows; ++k) {
                    double u = k < 3 ? c.u[k] : c.bare[k];
                    verdict.free += u * u;
                }
                continue;
            }
            double limit = c.mu * c.r[0], power = 0.0;
            if (c.r[0] <= 1e-9 * load || limit <= 0.0) {
                continue;
            }
            for (int k = 1; k < c.rows; ++k) {
                power += c.r[k] * c.u[k];
            }
            verdict.cone = fmax(verdict.cone, force / limit - 1.0);
            if (slip > fmax(1e-6 * speed, 1e-9 * heap->sweeper.speedUnit)) {
                verdict.dissipation = fmax(verdict.dissipation, 1.0 + power / (limit * slip));
            }
        }
    }
    return verdict;
}

// Friction against the slip, as large as it may be.
static void slideAsTheLawSays(Heap* heap, int i, double load) {
    int lane;
    tpContactPack* pack = tpSweeper_PackOf(&heap->sweeper, i, &lane);
    Contact c = contactOf(heap, i);
    double slip = lengthOf(c.u, c.rows), size = heap->contacts[i].muDynamic * load;
    for (int k = 1; k < c.rows && slip > 0.0; ++k) {
        double* impulse =
            k < 3 ? &pack->impulse[k][lane] : &heap->sweeper.torsions[pack->torsion].impulse[lane];
        *impulse = -size * c.u[k] / slip;
    }
}

// Impulses of all kinds: inside the cone, outside of it, none, too small to count; such as take
// something back; slips too slow to count. If isRight, only those that are slow slide as no law
// says.
static void giveImpulses(Heap* heap, int way, bool isRight, double slow) {
    tpRandom random = { (uint64_t)(900 + way) };
    for (int i = 0; i < heap->count; ++i) {
        int lane, kind = (int)(randomBits(&random) % 8);
        tpContactPack* pack = tpSweeper_PackOf(&heap->sweeper, i, &lane);
        Contact c = contactOf(heap, i);
        double load = kind == 0 ? 0.0 : kind == 1 ? 1e-12 : randomBetween(&random, 0.0, 0.2);
        pack->impulse[0][lane] = load;
        pack->low[lane] = 0.0;
        if (kind == 2) {
            pack->low[lane] = -0.05;
            pack->impulse[0][lane] = randomBetween(&random, -0.05, 0.0);
            load = 0.0;
        }
        double part =
            way == 0 ? randomBetween(&random, 0.0, 0.99) : randomBetween(&random, 0.0, 2.0);
        double angle = randomBetween(&random, -3.0, 3.0), size = part * c.mu * load;
        for (int k = 0; k < 3; ++k) {
            pack->bias[k][lane] =
                kind == 3 && k > 0 ? -c.bare[k] : randomBetween(&random, -1.0, 1.0);
        }
        pack->impulse[1][lane] = c.rows > 1 ? size * cos(angle) : 0.0;
        pack->impulse[2][lane] = c.rows > 1 ? size * sin(angle) : 0.0;
        if (kind == 3) {
            pack->bias[1][lane] += slow;
        }
        if (kind == 4) {
            pack->bias[0][lane] = TP_SWEEP_OPEN;
        }
        if (c.rows == 4) {
            tpTorsionPack* torsion = &heap->sweeper.torsions[pack->torsion];
            torsion->impulse[lane] = 0.3 * size;
            torsion->bias[lane] = kind == 3 ? -c.bare[3] : 0.0;
        }
        if (isRight && kind != 3) {
            slideAsTheLawSays(heap, i, load);
        }
    }
}

static void verdictsAreThoseOfTheLaw(void** state) {
    (void)state;
    for (int way = 0; way < 12; ++way) {
        Heap* heap = makeHeap(30 + (uint64_t)way, way % 3 != 0);
        tpSweepJoint joints[jointCount];
        addJoints(heap, joints);
        if (way % 4 >= 2) { // fast, and slow: slips that count are as much faster or slower
            for (int i = 0; i < bodies; ++i) {
                double factor = way % 4 == 2 ? 1e-3 : 100.0;
                heap->velocities[i].linear = tpScale(factor, heap->velocities[i].linear);
                heap->velocities[i].angular = tpScale(factor, heap->velocities[i].angular);
            }
        }
        heap->sweeper.speedUnit = way % 4 == 2 ? 1e5 : 1.0;
        giveImpulses(heap, way % 2, way % 4 != 1, way % 4 == 2 ? 1e-5 : 3e-8);
        Verdict mine = judge(heap, joints);
        tpSweepVerdict told = tpSweeper_Judge(&heap->sweeper);
        CHECK_NEAR(told.velocity, sqrt(mine.square), 1e-10 * sqrt(mine.square));
        CHECK_NEAR(told.worst, mine.worst, 1e-10 * mine.worst);
        CHECK_NEAR(told.cone, mine.cone, 1e-10);
        CHECK_NEAR(told.dissipation, mine.dissipation, 1e-6);
        CHECK_NEAR(tpSweeper_Miss(&heap->sweeper), told.velocity, 1e-12 * told.velocity);
        CHECK_NEAR(tpSweeper_FreeSpeed(&heap->sweeper), sqrt(mine.free), 1e-10 * sqrt(mine.free));
        destroyHeap(heap);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(verdictsAreThoseOfTheLaw) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
