// Numbers of a live run that are others than its scene says. They hold for the world as it goes on
// and for the ones that start again from the scene.

#ifndef TIPPE_APP_PAGE_LIVE_SETTINGS_H
#define TIPPE_APP_PAGE_LIVE_SETTINGS_H

#include "base/memory.h"
#include "page/live_order.h"
#include "recording/roster.h"
#include "scene/text.h"

typedef struct tpLiveSettings {
    tpAllocator allocator;
    TP_ARRAY(tpLiveChange) changes; // the last one of each kind and name
} tpLiveSettings;

// Changes the world, and keeps the change. On failure nothing has changed.
tpResult changeLiveWorld(tpLiveSettings* settings, tpWorld* world, const tpRoster* roster,
                         const tpLiveChange* change, tpError* error);

// Makes all changes on a world that has started again.
tpResult repeatLiveChanges(const tpLiveSettings* settings, tpWorld* world, const tpRoster* roster,
                           tpError* error);

// Whether two changes change the same thing: then the later one is enough.
bool isSameChange(const tpLiveChange* a, const tpLiveChange* b);

// What can be changed, as JSON: the table of tpWriteMaterialsText, "values" of each material
// (friction, torsional arm, restitution), "gravity", "joints" with the coordinates of each (name,
// unit, limits, target of a servo, speed of a motor), and "left_out": the laws that the stepper
// does not know.
void writeLiveSettings(const tpWorld* world, const tpRoster* roster, tpText* text);

void freeLiveSettings(tpLiveSettings* settings);

#endif
