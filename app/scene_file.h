// Scenes as command lines name them: a path, or the name of one that came with Tippe.

#ifndef TIPPE_APP_SCENE_FILE_H
#define TIPPE_APP_SCENE_FILE_H

#include <limits.h>

#include "arguments.h"
#include "tippe/scene.h"

// Reads the scene: "-" is standard input; the path as given; else the name of a scene that came
// with Tippe (scene_list.h), with or without .json, or that of a folder with a scene of the same
// name. On failure prints the message to standard error, with the name that may have been meant,
// and returns NULL.
tpScene* openScene(const char* command, const char* path);

// Where that scene is: the path itself if there is a file, else that of the scene that came with
// Tippe by this name. False if there is neither.
bool findScene(const char* path, char buffer[PATH_MAX]);

// Prints what is wrong with a scene to standard error: "file:line:column: message" where the
// message has a place, "tippe COMMAND: message" otherwise.
void complainOfScene(const char* command, const tpError* error);

// Puts what a command line says instead of the scene where it belongs: `until` in seconds, or NaN
// if it is not said, and the words of --set, which stay the caller's.
void finishOverrides(tpSceneOverrides* overrides, double until, const tpArgumentList* settings);

// False, with a message, where --threads asks for none or for absurdly many.
bool checkThreads(const char* command, int threads);

// The scene's name, or that of its file.
const char* titleOfScene(const tpScene* scene);

#endif
