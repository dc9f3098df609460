// Scenes as command lines name them: a path, or the name of one that came with Tippe.

#ifndef TIPPE_APP_SCENE_FILE_H
#define TIPPE_APP_SCENE_FILE_H

#include "arguments.h"
#include "tippe/scene.h"

// Reads the scene: "-" is standard input; the path as given; else, with or without .json, from the scenes beside the
// program (share/tippe/scenes of an installation, scenes of a source tree it was built in). On
// failure prints the message to standard error and returns NULL.
tpScene* openScene(const char* command, const char* path);

// Prints what is wrong with a scene to standard error: "file:line:column: message" where the
// message has a place, "tippe COMMAND: message" otherwise.
void complainOfScene(const char* command, const tpError* error);

// Puts what a command line says instead of the scene where it belongs: `until` in seconds, or NaN where it is not
// said, and the words of --set, which stay the caller's.
void finishOverrides(tpSceneOverrides* overrides, double until, const tpArgumentList* settings);

// False, with a message, where --threads asks for none or for absurdly many.
bool checkThreads(const char* command, int threads);

// The scene's name, or that of its file.
const char* titleOfScene(const tpScene* scene);

// The directory of the scenes that came with Tippe, into `buffer`; false where there is none.
bool findSceneDirectory(char* buffer, size_t size);

#endif
