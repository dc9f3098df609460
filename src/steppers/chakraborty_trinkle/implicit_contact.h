// A contact as a function of the poses of its two bodies: gap, normal, points, tangents, and how
// all of them change.
//
// Two smooth convex bodies: the closest points are eliminated, contact by contact, from the
// conditions
// (9) and (22) of the paper (collision/smooth_distance.h). If that leaves the points open, as
//     for faces
// on faces, and for shapes that are not convex, the features found at the start are kept: points
// (with a ball about them for round shapes) and the normal stay with the bodies that carry them.

#ifndef TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_IMPLICIT_CONTACT_H
#define TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_IMPLICIT_CONTACT_H

#include "collision/smooth_distance.h"
#include "dynamics/rows.h"

typedef struct tpImplicitContact {
    int bodyA, bodyB;
    tpContactLaw law; // tangents as at the start of the step
    tpVec3 guide;     // along the first tangent, in the axes of `guideBody`
    int guideBody;    // -1: the world's axes
    bool isSmooth;

    // Smooth bodies.
    const tpGeometry* a;
    const tpGeometry* b;
    tpPose localA, localB; // shapes from the centres of mass
    tpSmoothCache cache;

    // Features: in the axes of their bodies, from the centres of mass.
    tpVec3 coreA, coreB, normal;
    double radiusA, radiusB;
    bool normalOnA;
} tpImplicitContact;

// Where a contact is when its bodies are at given poses.
typedef struct tpContactPlace {
    double gap;
    tpVec3 normal, tangents[2]; // right-handed
    tpVec3 pointA, pointB;
    tpVec3 armA, armB; // of the points from the centres of mass
    // By small displacements (linear, angular) of A and then of B.
    tpSmoothDerivatives by;
    tpVec3 tangentBy[2][12];
} tpContactPlace;

// From a contact found at the given poses. `isAlone`: no other contact of the same pair of shapes.
void tpImplicitContact_Make(const tpSystem* system, const tpPose* poses, const tpContact* contact,
                            bool isAlone, tpImplicitContact* out);

// Whether the normal of a contact that keeps its features turns with A: the flatter of the two.
bool tpImplicitContact_IsNormalOnA(const tpSystem* system, const tpContact* contact);

void tpImplicitContact_Place(tpImplicitContact* contact, bool isPlanar, tpPose poseA, tpPose poseB,
                             bool withDerivatives, tpContactPlace* out);

// The tangents of a place whose normal is there: the guide laid into the tangent plane, and across.
void tpImplicitContact_LayTangents(const tpImplicitContact* contact, tpPose poseA, tpPose poseB,
                                   bool withDerivatives, tpContactPlace* out);

#endif
