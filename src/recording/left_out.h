// What a scene has and its stepper does not use: for summaries, and for the page.

#ifndef TIPPE_SRC_RECORDING_LEFT_OUT_H
#define TIPPE_SRC_RECORDING_LEFT_OUT_H

#include "tippe/world.h"

typedef struct tpLeftOutName {
    unsigned bit; // a tp_lacks bit
    const char* name;
} tpLeftOutName;

enum { tp_leftOutCount = 8 };
extern const tpLeftOutName tpLeftOutNames[tp_leftOutCount];

// The bits of what materials, pairs of them and joints have and the stepper, with its options as
// they are, does not use.
unsigned tpFindLeftOut(const tpWorld* world);

#endif
