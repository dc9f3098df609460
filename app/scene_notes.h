// What about a valid scene deserves a second look: allowed, but perhaps not meant.

#ifndef TIPPE_APP_SCENE_NOTES_H
#define TIPPE_APP_SCENE_NOTES_H

#include "tippe/scene.h"

// Prints a line per note to standard output, "file:line:column: note: ...". The world is the
// scene's.
void printSceneNotes(const tpScene* scene, tpWorld* world);

#endif
