// Shapes and masses of the document, for build.c.

#ifndef TIPPE_SRC_SCENE_BUILD_SHAPES_H
#define TIPPE_SRC_SCENE_BUILD_SHAPES_H

#include "tippe/scene.h"

// Puts the place in front of the message that `error` holds.
tpResult tpFailBuilding(const tpScene* scene, tpScenePlace place, tpError* error);

tpQuat tpSceneRotation_Get(const tpSceneRotation* rotation);

// The geometry with its pose in the body; the caller releases it.
tpResult tpMakeSceneShape(const tpScene* scene, const tpSceneShape* shape,
                          const tpAllocator* allocator, tpGeometry* out, tpError* error);

// kg/m^3, or 0 if the mass of the body is given.
double tpShapeDensity(const tpSceneBody* body, const tpSceneShape* shape);

// The mass properties of a body into its definition, as given or from its shapes.
tpResult tpSceneBody_Mass(const tpScene* scene, const tpSceneBody* body,
                          const tpGeometry* geometries, tpBodyDef* def, tpError* error);

#endif
