#include "recording/left_out.h"

#include "dynamics/contact_law.h"
#include "tippe/joints.h"

enum { mostMaterials = 256 }; // of which pairs are looked at

const tpLeftOutName tpLeftOutNames[tp_leftOutCount] = {
    { tp_lacksRestitution, "restitution" },
    { tp_lacksStaticFriction, "static friction" },
    { tp_lacksFrictionEllipse, "friction ellipse" },
    { tp_lacksTorsion, "torsional friction" },
    { tp_lacksImpactFriction, "friction in impacts" },
    { tp_lacksRollingFriction, "rolling friction" },
    { tp_lacksCompliance, "compliance" },
    { tp_lacksJoints, "joints" },
};

// What two materials have between them.
static unsigned findUsed(const tpWorld* world, tpMaterialId a, tpMaterialId b) {
    tpFriction friction;
    double restitution;
    tpGetMaterialPair(world, a, b, &friction, &restitution);
    return tpFriction_Asks(&friction) | (restitution > 0.0 ? tp_lacksRestitution : 0u) |
           (tpGetPairCompliance(world, a, b).compliance > 0.0 ? tp_lacksCompliance : 0u);
}

unsigned tpFindLeftOut(const tpWorld* world) {
    unsigned used = tpWorld_GetJointCount(world) > 0 ? tp_lacksJoints : 0u;
    int count = tpWorld_GetMaterialCount(world);
    for (tpMaterialId a = 1; a < count && a < mostMaterials; ++a) {
        for (tpMaterialId b = 1; b <= a; ++b) {
            used |= findUsed(world, a, b);
        }
    }
    return used & tpWorld_GetLacks(world);
}
