#include "dynamics/contact_law.h"

static void defaultTangents(tpVec3 normal, tpVec3 tangents[2]) {
    // On a table x; elsewhere along z cross n, the level line.
    tpVec3 level = tpMakeVec3(-normal.y, normal.x, 0.0);
    double length = tpLength(level);
    if (length < 1e-9) {
        tangents[0] = tpMakeVec3(1.0, 0.0, 0.0);
        tangents[0] = tpNormalize(tpMulAdd(tangents[0], -tpDot(tangents[0], normal), normal));
    } else {
        tangents[0] = tpScale(1.0 / length, level);
    }
    tangents[1] = tpCross(normal, tangents[0]);
}

tpContactLaw tpMakeContactLaw(const tpSystem* system, const tpContact* contact) {
    tpContactLaw law;
    tpFriction friction;
    const tpShape* shapeA = &system->shapes.data[contact->shapeA];
    const tpShape* shapeB = &system->shapes.data[contact->shapeB];
    int owner = tpSystem_MixMaterials(system, shapeA->material, shapeB->material, &friction,
                                      &law.restitution);
    law.mu = friction.dynamicCoefficient;
    law.muStatic = friction.staticCoefficient;
    law.ellipse[0] = friction.ellipse[0];
    law.ellipse[1] = friction.ellipse[1];
    law.arm = friction.torsionalArm;
    bool canRoll = (system->leftOut & tp_lacksRollingFriction) == 0;
    law.rollingArm = canRoll ? friction.rollingArm : 0.0;
    law.impactReduction = friction.impactReduction;
    law.stiffness = law.damping = 0.0;
    if (system->gives) {
        tpCompliance gives = tpSystem_MixCompliance(system, shapeA->material, shapeB->material);
        if (gives.compliance > 0.0) {
            law.stiffness = 1.0 / gives.compliance;
            law.damping = gives.damping;
            law.restitution = 0.0; // the spring bounces
        }
    }
    defaultTangents(contact->normal, law.tangents);
    if (friction.ellipse[0] != friction.ellipse[1] && tpLength(friction.direction) > 0.0) {
        int body = owner == 0 ? contact->bodyA : contact->bodyB;
        tpVec3 along = tpRotate(system->poses.data[body].rotation, friction.direction);
        along = tpMulAdd(along, -tpDot(along, contact->normal), contact->normal);
        if (tpLength(along) > 1e-9 * tpLength(friction.direction)) {
            law.tangents[0] = tpNormalize(along);
            law.tangents[1] = tpCross(contact->normal, law.tangents[0]);
        }
    }
    return law;
}

// What is not there needs no scale.
static double inScale(double impulse, double scale) {
    return impulse == 0.0 ? 0.0 : impulse / scale;
}

double tpContactLaw_FrictionSize(const tpContactLaw* law, tpVec3 friction, double torsion) {
    double t = inScale(tpDot(friction, law->tangents[0]), law->ellipse[0]);
    double o = inScale(tpDot(friction, law->tangents[1]), law->ellipse[1]);
    double r = inScale(torsion, law->arm);
    return sqrt(t * t + o * o + r * r);
}

unsigned tpFriction_Asks(const tpFriction* friction) {
    bool isOne = friction->staticCoefficient == friction->dynamicCoefficient;
    bool isRound = friction->ellipse[0] == 1.0 && friction->ellipse[1] == 1.0;
    return (isOne ? 0u : tp_lacksStaticFriction) | (isRound ? 0u : tp_lacksFrictionEllipse) |
           (friction->torsionalArm > 0.0 ? tp_lacksTorsion : 0u) |
           (friction->impactReduction != 0.0 ? tp_lacksImpactFriction : 0u) |
           (friction->rollingArm > 0.0 ? tp_lacksRollingFriction : 0u);
}

double tpContact_Approach(const tpContact* contact, const tpPose* poses,
                          const tpVelocity* velocities) {
    const int bodies[2] = { contact->bodyA, contact->bodyB };
    const tpVec3 points[2] = { contact->pointA, contact->pointB };
    double along[2];
    for (int k = 0; k < 2; ++k) {
        const tpVelocity* v = &velocities[bodies[k]];
        tpVec3 arm = tpSub(points[k], poses[bodies[k]].position);
        along[k] = tpDot(tpAdd(v->linear, tpCross(v->angular, arm)), contact->normal);
    }
    return along[1] - along[0];
}

// Approaches at which friction begins and ceases to be that of sliding, m/s.
static const double slowImpact = 0.1, fastImpact = 0.2;

void tpContactLaw_Meet(tpContactLaw* law, double approach) {
    if (law->impactReduction != 0.0 && approach > slowImpact) {
        double part = fmin(1.0, (approach - slowImpact) / (fastImpact - slowImpact));
        law->mu *= 1.0 - part * law->impactReduction;
        law->muStatic *= 1.0 - part * law->impactReduction;
    }
}
