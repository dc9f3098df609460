// Batches: many worlds of one kind, stepped by threads, with the numbers of all of them in one
// array.
//
// The worlds have the same bodies and joints in the same order. Everything else may differ: states,
// masses, materials, targets, gravity. Each of them moves bit for bit as it would alone, on any
// number of threads. A single world is reached by tpBatch_GetWorld, and every function on worlds
// works there too.
//
//     tpBatchDef def = tpDefaultBatchDef();
//     def.worlds = worlds;
//     def.worldCount = 4096;
//     def.threadCount = 2;
//     tpBatch* batch = tpCreateBatch(&def, &error);
//     tpBatch_Write(batch, tp_batchTargets, targets, &error);    // worldCount rows
//     tpBatch_Step(batch, 0.005, 4, reports);
//     tpBatch_Read(batch, tp_batchPositions, positions);
//
// A batch is used by one thread at a time; so are its worlds.

#ifndef TIPPE_BATCH_H
#define TIPPE_BATCH_H

#include "tippe/sensors.h"
#include "tippe/state.h"

typedef struct tpBatch tpBatch;

typedef struct tpBatchDef {
    tpWorld* const* worlds; // the array is copied
    int worldCount;         // 1 or more
    int threadCount;        // 1 or more, the calling thread included
    bool ownsWorlds;        // they are destroyed with the batch; else they must outlive it
    tpAllocator allocator;
} tpBatchDef;

// What is read and written for all worlds at once: a row per world, tightly packed. In brackets the
// numbers of a row, with n bodies that can move (in the order of tpWorld_GetMoving) and c
// coordinates of joints (tpWorld_GetCoordinateAt).
typedef enum tpBatchField {
    tp_batchPositions,         // [3 n] as in tpStateArrays
    tp_batchRotations,         // [4 n]
    tp_batchVelocities,        // [3 n]
    tp_batchAngularVelocities, // [3 n]
    tp_batchCoordinates,       // [c] values, rad or m
    tp_batchSpeeds,            // [c] rad/s or m/s
    tp_batchEfforts, // [c] N m or N. Read: of the last step; written: for the next step, added to
                     // those applied
    tp_batchTargets, // [c] of servos. NaN if there is no servo; written, it leaves a target as it
                     // is
    tp_batchTargetSpeeds, // [c] the same for their speeds
    tp_batchSensors,      // [tpWorld_GetSensorValueCount] read only
    tp_batchGravity,      // [3] m/s^2
    tp_batchMasses, // [n] kg; written, the moments of inertia follow in proportion. 0 for kinematic
                    // bodies
    tp_batchStaticFriction,  // [materials] coefficients
    tp_batchDynamicFriction, // [materials]
    tp_batchRestitution,     // [materials]
    tp_batchFieldCount
} tpBatchField;

// States in place, without a copy: row `slot` of world `w` begins at w * (world stride) +
// slot * (slot stride), counted in numbers. Slots are those of tpBody_GetSlot. The view follows the
// worlds as they move, and ends with the batch or when a body is added to one of them.
typedef struct tpBatchView {
    int worldCount, slotCount;
    const double* positions;
    const double* rotations;
    const double* velocities;
    const double* angularVelocities;
    size_t poseStride, velocityStride;           // from one slot to the next
    size_t worldPoseStride, worldVelocityStride; // from one world to the next
} tpBatchView;

// Called once for every world, on the threads of the batch and in no order: it may use only this
// world and its own data.
typedef void (*tpBatchFunction)(void* context, tpWorld* world, int index);

TP_BEGIN_DECLS

TP_API tpBatchDef tpDefaultBatchDef(void); // one thread; the worlds stay the caller's

// NULL with a message if the worlds do not have the same bodies and joints, a world occurs twice,
// or memory ran out. The caller keeps the worlds then.
TP_API tpBatch* tpCreateBatch(const tpBatchDef* def, tpError* error);
TP_API void tpDestroyBatch(tpBatch* batch);

TP_API int tpBatch_GetWorldCount(const tpBatch* batch);
TP_API int tpBatch_GetThreadCount(const tpBatch* batch);
TP_API tpWorld* tpBatch_GetWorld(const tpBatch* batch, int index); // NULL if there is none

// `stepCount` steps of h seconds in every world. `reports` (may be NULL) gets the report of each
// world's last step. tp_badInput, and nothing has changed, if h or stepCount is not positive.
TP_API tpResult tpBatch_Step(tpBatch* batch, double h, int stepCount, tpStepReport* reports);
TP_API void tpBatch_ForEach(tpBatch* batch, tpBatchFunction function, void* context);

// Numbers of a row; 0 if there is no such field.
TP_API int tpBatch_GetWidth(const tpBatch* batch, tpBatchField field);
TP_API const char* tpBatchFieldName(tpBatchField field); // "positions", "target_speeds"
TP_API tpResult tpBatch_Read(const tpBatch* batch, tpBatchField field, double* numbers,
                             tpError* error);
// Sets the numbers that differ from the present ones, as the functions of one world do. On
// tp_badInput (an invalid number) and tp_unsupported (a coordinate in a closed loop, a field that
// is only read) nothing has changed in any world; the message names the world and the number.
TP_API tpResult tpBatch_Write(tpBatch* batch, tpBatchField field, const double* numbers,
                              tpError* error);

// tp_unsupported once a body has been added to one of the worlds.
TP_API tpResult tpBatch_ViewState(const tpBatch* batch, tpBatchView* view, tpError* error);

// Returns worlds to their state when the batch was made or tpBatch_Keep was last called: states and
// all numbers that can be set. `which` has a flag per world; NULL: all.
TP_API tpResult tpBatch_Reset(tpBatch* batch, const bool* which, tpError* error);
TP_API tpResult tpBatch_Keep(tpBatch* batch, const bool* which, tpError* error);

TP_END_DECLS

#endif
