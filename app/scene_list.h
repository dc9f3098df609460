// The scenes that came with Tippe: their names, and a line about each.

#ifndef TIPPE_APP_SCENE_LIST_H
#define TIPPE_APP_SCENE_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tpListedScene {
    char* name; // as commands take it: rattleback/rattleback_symmetric
    // the first sentence of its description, or its title; NULL if it was not asked for
    char* about;
} tpListedScene;

typedef struct tpSceneNames {
    tpListedScene* items; // by name; those in folders come last
    int count;
} tpSceneNames;

// The directory of the scenes that came with Tippe, into `buffer`; false if there is none.
bool findSceneDirectory(char* buffer, size_t size);

// An empty list if there is no directory, or no memory.
tpSceneNames listScenes(bool withAbout);
void releaseSceneList(tpSceneNames* list);

// The scene whose name is nearest to a word, or those in the folder of that name, into `buffer`;
// false if none is near.
bool suggestScene(const char* word, char* buffer, size_t size);

#endif
