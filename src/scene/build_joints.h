// Joints of the document, for build.c.

#ifndef TIPPE_SRC_SCENE_BUILD_JOINTS_H
#define TIPPE_SRC_SCENE_BUILD_JOINTS_H

#include "tippe/scene.h"

// Makes a joint in a world whose bodies are given by their index in the scene. Errors have the
// joint's place.
tpResult tpBuildSceneJoint(const tpScene* scene, const tpSceneJoint* joint, const tpBodyId* bodies,
                           tpWorld* world, tpJointId* id, tpError* error);

// The coordinate behind "joint" or "joint.axis"; `joints` are those of the scene.
tpResult tpFindSceneCoordinate(const tpScene* scene, const tpSceneCoordinate* coordinate,
                               const tpJointId* joints, const tpWorld* world, tpJointId* joint,
                               int* number, tpError* error);

tpResult tpBuildSceneCoupling(const tpScene* scene, const tpSceneCoupling* coupling,
                              const tpJointId* joints, tpWorld* world, tpError* error);

tpResult tpBuildSceneSensor(const tpScene* scene, const tpSceneSensor* sensor,
                            const tpBodyId* bodies, const tpJointId* joints, tpWorld* world,
                            tpError* error);

#endif
