// The state of a world as a file: the bytes of a snapshot (tippe/world.h).

#ifndef TIPPE_APP_STATE_FILE_H
#define TIPPE_APP_STATE_FILE_H

#include "output_file.h"
#include "tippe/world.h"

// Writes the state into an open output and closes that. False, with the reason printed, on failure.
bool saveState(const char* command, tpOutputFile* output, const tpWorld* world);

// Reads a state and puts the world into it. False, with the reason printed, if the file is no
// state, or not one of such a world; the world is then as it was.
bool restoreState(const char* command, const char* path, tpWorld* world);

#endif
