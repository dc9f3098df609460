// Two contacts of one pair: the line on which a roller or a coin on its edge stands.
//
// Such a pair turns about the line as it likes; what the contacts hold is their own two velocities.
// The impulses that change these by w satisfy W r = w, with W the 6 x 6 matrix of the two points.
// It has rank 5, for along the line they move as one: the row that depends on the others is left
// out.

#include <string.h>

#include "dynamics/locks.h"
#include "steppers/mirtich_canny/frame.h"

typedef struct Pair6 {
    double w[6][6]; // symmetric
    double b[6];
} Pair6;

static tpVec3 pointOf(const tpContact* contact) {
    return tpScale(0.5, tpAdd(contact->pointA, contact->pointB));
}

// Adds the velocities of both points under unit impulses at both, as far as a body gives them.
static void addBody(const tpSystem* system, int body, const tpVec3* points, Pair6* m) {
    if (!tpSystem_IsDynamic(system, body)) {
        return;
    }
    tpMat33 inverse = tpSystem_InverseInertia(system, body);
    const tpBody* own = &system->bodies.data[body];
    for (int k = 0; k < 6; ++k) {
        tpVec3 unit = tpMakeVec3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
        tpVec3 arm = tpSub(points[k / 3], system->poses.data[body].position);
        tpVec3 spin = tpMulMV(inverse, tpCross(arm, unit));
        for (int i = 0; i < 2; ++i) {
            tpVec3 at = tpSub(points[i], system->poses.data[body].position);
            tpVec3 free = tpLocks_Linear(own->locked, tpScale(own->inverseMass, unit));
            tpVec3 v = tpAdd(free, tpCross(spin, at));
            m->w[3 * i][k] += v.x;
            m->w[3 * i + 1][k] += v.y;
            m->w[3 * i + 2][k] += v.z;
        }
    }
}

// Solves W r = b by L D L^T; rows whose pivot vanishes get nothing.
static void solve(Pair6* m, double* r) {
    bool isLeft[6];
    for (int i = 0; i < 6; ++i) {
        double start = m->w[i][i];
        for (int j = 0; j < i; ++j) {
            for (int k = 0; k < j; ++k) {
                m->w[i][j] -= m->w[i][k] * m->w[j][k] * m->w[k][k];
            }
            m->w[i][j] = isLeft[j] ? 0.0 : m->w[i][j] / m->w[j][j];
        }
        for (int k = 0; k < i; ++k) {
            m->w[i][i] -= m->w[i][k] * m->w[i][k] * m->w[k][k];
        }
        isLeft[i] = !(m->w[i][i] > 1e-9 * start);
        m->w[i][i] = isLeft[i] ? 0.0 : m->w[i][i];
    }
    for (int i = 0; i < 6; ++i) {
        r[i] = m->b[i];
        for (int k = 0; k < i; ++k) {
            r[i] -= m->w[i][k] * r[k];
        }
    }
    for (int i = 5; i >= 0; --i) {
        r[i] = isLeft[i] ? 0.0 : r[i] / m->w[i][i];
        for (int k = i + 1; k < 6; ++k) {
            r[i] -= isLeft[i] ? 0.0 : m->w[k][i] * r[k];
        }
    }
}

bool tpEvents_HoldTwo(tpEvents* events, const int* chosen, const tpVec3* after, tpVec3* impulses) {
    const tpSystem* system = events->system;
    const tpContact* contacts[2];
    tpVec3 points[2], before[2];
    Pair6 m;
    memset(&m, 0, sizeof(m));
    int first = events->touches.data[chosen[0]].contact.bodyA;
    int second = events->touches.data[chosen[0]].contact.bodyB;
    double sign[2];
    for (int i = 0; i < 2; ++i) {
        contacts[i] = &events->touches.data[chosen[i]].contact;
        points[i] = pointOf(contacts[i]);
        sign[i] = contacts[i]->bodyA == first ? 1.0 : -1.0;
        before[i] = tpSub(tpSystem_PointVelocity(system, contacts[i]->bodyA, points[i]),
                          tpSystem_PointVelocity(system, contacts[i]->bodyB, points[i]));
        tpVec3 change = tpScale(sign[i], tpSub(after[i], before[i]));
        m.b[3 * i] = change.x;
        m.b[3 * i + 1] = change.y;
        m.b[3 * i + 2] = change.z;
    }
    addBody(system, first, points, &m);
    addBody(system, second, points, &m);
    Pair6 kept = m;
    double r[6];
    solve(&m, r);
    // What the rows that were left out demand has to follow from the others.
    double missing = 0.0, whole = 0.0;
    for (int i = 0; i < 6; ++i) {
        double left = kept.b[i];
        for (int k = 0; k < 6; ++k) {
            left -= kept.w[i][k] * r[k];
        }
        missing = fmax(missing, fabs(left));
        whole = fmax(whole, fabs(kept.b[i]));
    }
    double work = 0.0, scale = 0.0;
    bool isInside = missing <= 1e-6 * whole;
    for (int i = 0; i < 2; ++i) {
        tpVec3 p = tpScale(sign[i], tpMakeVec3(r[3 * i], r[3 * i + 1], r[3 * i + 2]));
        double normal = tpDot(p, contacts[i]->normal);
        tpContactLaw law = tpMakeContactLaw(system, contacts[i]);
        tpVec3 friction = tpMulAdd(p, -normal, contacts[i]->normal);
        isInside = isInside && normal > 0.0 &&
                   tpContactLaw_FrictionSize(&law, friction, 0.0) <= law.mu * normal;
        work += 0.5 * tpDot(p, tpAdd(before[i], after[i]));
        scale += fabs(tpDot(p, before[i]));
        impulses[i] = p;
    }
    return isInside && work <= 1e-12 * scale;
}
