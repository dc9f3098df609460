// The bodies and joints that a run starts with, in the order and by the names they are recorded.
//
// Bodies that are created later are not recorded; one that is destroyed has NaN for its state.

#ifndef TIPPE_SRC_RECORDING_ROSTER_H
#define TIPPE_SRC_RECORDING_ROSTER_H

#include "tippe/recording.h"

enum { tp_nameCapacity = 64 }; // with the closing zero

typedef struct tpRosterBody {
    char name[tp_nameCapacity]; // "body7" for a body without one
    tpBodyId id;
    tpBodyKind kind;
    int moving; // place among the states, or -1
    tpPose pose;
    tpMassProperties mass;
} tpRosterBody;

typedef struct tpRosterJoint {
    char name[tp_nameCapacity]; // "joint2" for a joint without one
    tpJointId id;
} tpRosterJoint;

typedef struct tpRoster {
    tpAllocator allocator;
    tpRosterBody* bodies;
    int bodyCount;
    int* moving; // places in `bodies`
    int movingCount;
    tpRosterJoint* joints;
    int jointCount;
    int* bySlot; // place in `bodies` by slot of the id, or -1
    int slotCount;
} tpRoster;

// False where memory ran out; the roster is then empty.
bool tpRoster_Create(tpRoster* roster, const tpWorld* world, const tpAllocator* allocator);
void tpRoster_Destroy(tpRoster* roster);

// The place of a body in the roster, or -1.
int tpRoster_Find(const tpRoster* roster, tpBodyId body);

// States of all moving bodies: movingCount x tp_stateWidth.
void tpRoster_GetStates(const tpRoster* roster, const tpWorld* world, double* states);

// Force and torque of all joints: jointCount x 6.
void tpRoster_GetReactions(const tpRoster* roster, const tpWorld* world, double* reactions);

#endif
