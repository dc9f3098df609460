#include "steppers/chakraborty_trinkle/implicit_contact.h"

#include <string.h>

#include "collision/contact.h"
#include "geometry/shape.h"

// Whether a shape has flat sides: polyhedra, planes, surfaces of triangles.
static bool isPolyhedral(const tpGeometry* geometry) {
    const tpShapeClass* class = tpClassOf(geometry);
    return class->isPolyhedral || class->kind == tp_planeKind || !class->isConvex;
}

// Whether A carries the normal: the flatter of the two shapes.
static bool isNormalOnA(const tpGeometry* a, const tpGeometry* b, uint64_t feature) {
    if (a->type == tp_planeShape || b->type == tp_planeShape) {
        return a->type == tp_planeShape;
    }
    if (isPolyhedral(a) != isPolyhedral(b)) {
        return isPolyhedral(a);
    }
    return (tpFeatureKind)(feature >> 62) == tp_faceVertex;
}

bool tpImplicitContact_IsNormalOnA(const tpSystem* system, const tpContact* contact) {
    return isNormalOnA(&system->shapes.data[contact->shapeA].form->geometry,
                       &system->shapes.data[contact->shapeB].form->geometry, contact->feature);
}

static void keepFeatures(const tpPose* poses, const tpContact* contact, tpImplicitContact* out) {
    tpPose poseA = poses[contact->bodyA], poseB = poses[contact->bodyB];
    tpVec3 n = contact->normal;
    tpQuat shapeA = tpMulQQ(poseA.rotation, out->localA.rotation);
    tpQuat shapeB = tpMulQQ(poseB.rotation, out->localB.rotation);
    out->radiusA = tpGeometry_FeatureRadius(out->a, tpUnrotate(shapeA, n));
    out->radiusB = tpGeometry_FeatureRadius(out->b, tpUnrotate(shapeB, n));
    out->coreA = tpUntransformPoint(poseA, tpMulAdd(contact->pointA, out->radiusA, n));
    out->coreB = tpUntransformPoint(poseB, tpMulAdd(contact->pointB, -out->radiusB, n));
    out->normalOnA = isNormalOnA(out->a, out->b, contact->feature);
    out->normal = tpUnrotate(out->normalOnA ? poseA.rotation : poseB.rotation, n);
}

// The first axis of an elliptic cone turns with the body whose material it belongs to.
static void setGuide(const tpSystem* system, const tpContact* contact, const tpPose* poses,
                     tpImplicitContact* out) {
    out->guide = out->law.tangents[0];
    out->guideBody = -1;
    if (out->law.ellipse[0] != out->law.ellipse[1]) {
        tpFriction friction;
        double restitution;
        int owner = tpSystem_MixMaterials(system, system->shapes.data[contact->shapeA].material,
                                          system->shapes.data[contact->shapeB].material, &friction,
                                          &restitution);
        out->guideBody = owner == 0 ? contact->bodyA : contact->bodyB;
        out->guide = tpUnrotate(poses[out->guideBody].rotation, out->guide);
    }
}

void tpImplicitContact_Make(const tpSystem* system, const tpPose* poses, const tpContact* contact,
                            bool isAlone, tpImplicitContact* out) {
    memset(out, 0, sizeof(*out));
    const tpShape* shapeA = &system->shapes.data[contact->shapeA];
    const tpShape* shapeB = &system->shapes.data[contact->shapeB];
    out->bodyA = contact->bodyA;
    out->bodyB = contact->bodyB;
    out->law = tpMakeContactLaw(system, contact);
    setGuide(system, contact, poses, out);
    out->a = &shapeA->form->geometry;
    out->b = &shapeB->form->geometry;
    out->localA = out->a->pose;
    out->localB = out->b->pose;
    out->localA.position = tpSub(out->localA.position, system->bodies.data[contact->bodyA].center);
    out->localB.position = tpSub(out->localB.position, system->bodies.data[contact->bodyB].center);
    keepFeatures(poses, contact, out);

    bool isCurved = !isPolyhedral(out->a) || !isPolyhedral(out->b);
    bool isConvex = tpGeometry_IsConvex(out->a) && tpGeometry_IsConvex(out->b);
    if (!isAlone || !isCurved || !isConvex) {
        return;
    }
    tpPose poseA = poses[contact->bodyA], poseB = poses[contact->bodyB];
    tpSmoothResult result;
    if (!tpSmoothClosestShapes(out->a, tpComposePoses(poseA, out->localA), out->b,
                               tpComposePoses(poseB, out->localB), &out->cache, &result) ||
        !result.converged) {
        return;
    }
    tpSmoothDerivatives derivatives;
    tpDifferentiateSmooth(&result, poseA, poseB, &derivatives);
    out->isSmooth = derivatives.isUnique;
}

// Placing ---------------------------------------------------------------------------------------

static tpVec3 unit(int k) {
    return tpMakeVec3(k == 0, k == 1, k == 2);
}

static void setColumn(double rows[3][12], int k, tpVec3 x) {
    rows[0][k] = x.x;
    rows[1][k] = x.y;
    rows[2][k] = x.z;
}

static tpVec3 column(double rows[3][12], int k) {
    return tpMakeVec3(rows[0][k], rows[1][k], rows[2][k]);
}

static void placeFeatures(const tpImplicitContact* contact, tpPose poseA, tpPose poseB,
                          bool withDerivatives, tpContactPlace* out) {
    tpVec3 armA = tpRotate(poseA.rotation, contact->coreA);
    tpVec3 armB = tpRotate(poseB.rotation, contact->coreB);
    tpVec3 between = tpSub(tpAdd(poseA.position, armA), tpAdd(poseB.position, armB));
    bool onA = contact->normalOnA;
    tpVec3 n = tpRotate(onA ? poseA.rotation : poseB.rotation, contact->normal);
    out->normal = n;
    out->gap = tpDot(n, between) - contact->radiusA - contact->radiusB;
    // The body that carries the normal has a face there: its point is below that of the other.
    if (onA) {
        out->pointB = tpMulAdd(tpAdd(poseB.position, armB), contact->radiusB, n);
        out->pointA = tpMulAdd(out->pointB, out->gap, n);
    } else {
        out->pointA = tpMulAdd(tpAdd(poseA.position, armA), -contact->radiusA, n);
        out->pointB = tpMulAdd(out->pointA, -out->gap, n);
    }
    for (int k = 0; withDerivatives && k < 12; ++k) {
        bool isA = k < 6, isTurn = k % 6 >= 3;
        tpVec3 e = unit(k % 3);
        tpVec3 move = isTurn ? tpCross(e, isA ? armA : armB) : e;
        tpVec3 dn = isTurn && isA == onA ? tpCross(e, n) : tpZeroVec3();
        double gap = tpDot(n, isA ? move : tpNeg(move)) + tpDot(dn, between);
        tpVec3 dA = isA ? move : tpZeroVec3(), dB = isA ? tpZeroVec3() : move;
        if (onA) {
            dB = tpMulAdd(dB, contact->radiusB, dn);
            dA = tpAdd(tpMulAdd(dB, out->gap, dn), tpScale(gap, n));
        } else {
            dA = tpMulAdd(dA, -contact->radiusA, dn);
            dB = tpSub(tpMulAdd(dA, -out->gap, dn), tpScale(gap, n));
        }
        out->by.gap[k] = gap;
        setColumn(out->by.normal, k, dn);
        setColumn(out->by.pointA, k, dA);
        setColumn(out->by.pointB, k, dB);
    }
}

static bool placeSmooth(tpImplicitContact* contact, tpPose poseA, tpPose poseB,
                        bool withDerivatives, tpContactPlace* out) {
    tpSmoothResult result;
    if (!tpSmoothClosestShapes(contact->a, tpComposePoses(poseA, contact->localA), contact->b,
                               tpComposePoses(poseB, contact->localB), &contact->cache, &result)) {
        return false;
    }
    out->gap = result.gap;
    out->normal = result.normal;
    out->pointA = result.pointA;
    out->pointB = result.pointB;
    if (withDerivatives) {
        tpDifferentiateSmooth(&result, poseA, poseB, &out->by);
    }
    return true;
}

void tpImplicitContact_LayTangents(const tpImplicitContact* contact, tpPose poseA, tpPose poseB,
                                   bool withDerivatives, tpContactPlace* out) {
    tpVec3 guide = contact->guide, n = out->normal;
    bool onA = contact->guideBody == contact->bodyA, onB = contact->guideBody == contact->bodyB;
    if (onA || onB) {
        guide = tpRotate(onA ? poseA.rotation : poseB.rotation, guide);
    }
    double along = tpDot(guide, n);
    tpVec3 t = tpMulAdd(guide, -along, n);
    double length = tpLength(t);
    if (length < 1e-3) {
        // The normal has turned into the guide: any other direction of the plane.
        tpMakeTangents(n, &out->tangents[0], &out->tangents[1]);
        memset(out->tangentBy, 0, sizeof(out->tangentBy));
        return;
    }
    t = tpScale(1.0 / length, t);
    tpVec3 o = tpCross(n, t);
    out->tangents[0] = t;
    out->tangents[1] = o;
    for (int k = 0; withDerivatives && k < 12; ++k) {
        tpVec3 dn = column(out->by.normal, k);
        bool turnsGuide = (onA && k >= 3 && k < 6) || (onB && k >= 9);
        tpVec3 dGuide = turnsGuide ? tpCross(unit(k % 3), guide) : tpZeroVec3();
        double across = tpDot(o, tpMulAdd(dGuide, -along, dn)) / length;
        tpVec3 dt = tpAdd(tpScale(-tpDot(t, dn), n), tpScale(across, o));
        out->tangentBy[0][k] = dt;
        out->tangentBy[1][k] = tpAdd(tpCross(dn, t), tpCross(n, dt));
    }
}

// In planar worlds contacts lie in the plane of the bodies.
static void flatten(double z, tpContactPlace* out) {
    double length = sqrt(out->normal.x * out->normal.x + out->normal.y * out->normal.y);
    if (length > 0.0) {
        out->normal = tpMakeVec3(out->normal.x / length, out->normal.y / length, 0.0);
    }
    out->pointA.z = out->pointB.z = z;
}

void tpImplicitContact_Place(tpImplicitContact* contact, bool isPlanar, tpPose poseA, tpPose poseB,
                             bool withDerivatives, tpContactPlace* out) {
    if (!contact->isSmooth || !placeSmooth(contact, poseA, poseB, withDerivatives, out)) {
        placeFeatures(contact, poseA, poseB, withDerivatives, out);
    }
    if (isPlanar) {
        flatten(poseA.position.z, out);
    }
    tpImplicitContact_LayTangents(contact, poseA, poseB, withDerivatives, out);
    out->armA = tpSub(out->pointA, poseA.position);
    out->armB = tpSub(out->pointB, poseB.position);
}
