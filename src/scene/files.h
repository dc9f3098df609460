// Files that a scene names: where they are, and which there are.

#ifndef TIPPE_SRC_SCENE_FILES_H
#define TIPPE_SRC_SCENE_FILES_H

#include "tippe/scene.h"

// The path of a file that the scene names: beside the scene, unless the name is absolute. False
// if it does not fit.
bool tpJoinScenePath(const tpScene* scene, const char* name, char* path, size_t size);

#endif
