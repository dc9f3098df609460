// Options of steppers as scenes and command lines give them.

#ifndef TIPPE_SRC_SCENE_OPTIONS_H
#define TIPPE_SRC_SCENE_OPTIONS_H

#include "tippe/scene.h"

// Fails unless some stepper has the option and its value is of the right kind and in range. `name`
// is that of the file; an option without a place is one of the command line, and the message says
// so.
tpResult tpCheckOption(const tpSceneOption* option, const char* name, tpError* error);

// The stepper that has the option instead, if the simulation's own stepper refuses it; else NULL.
const char* tpIsRefusedOption(const tpSceneSimulation* simulation, const tpSceneOption* option);

// Fails if it does.
tpResult tpCheckRefusal(const tpSceneSimulation* simulation, const tpSceneOption* option,
                        const char* name, tpError* error);

// Words that mean yes or no on the command line: true, on, yes, 1 and their opposites.
bool tpReadTruth(const char* word, bool* truth);

// Fails unless there is a stepper of that name.
tpResult tpCheckStepper(const tpSceneText* stepper, const char* name, tpError* error);

// Whether an option of this name takes a number.
bool tpIsNumberOption(const char* name);

#endif
