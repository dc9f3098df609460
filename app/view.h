// What the parts of `tippe view` share.

#ifndef TIPPE_APP_VIEW_H
#define TIPPE_APP_VIEW_H

#include "live_run.h"

// Reads an order of the page: { "running": true }, { "steps": 1 }, { "restart": true }, { "stepper": "anitescu" },
// { "step": 0.01 }, { "speed": 2 }, { "drag": { "body": 3, "point": [x, y, z], "target": [x, y, z] } },
// { "drop": true }. Unknown keys and numbers that make no sense are errors.
tpResult readLiveOrder(const char* text, size_t length, tpLiveOrder* order, tpError* error);

#endif
