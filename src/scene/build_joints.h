// Joints of the document, for build.c.

#ifndef TIPPE_SRC_SCENE_BUILD_JOINTS_H
#define TIPPE_SRC_SCENE_BUILD_JOINTS_H

#include "tippe/scene.h"

// Makes a joint in a world whose bodies are given by their index in the scene. Errors have the joint's place.
tpResult tpBuildSceneJoint(const tpScene* scene, const tpSceneJoint* joint, const tpBodyId* bodies,
                           tpWorld* world, tpJointId* id, tpError* error);

#endif
