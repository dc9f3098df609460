// The numbers of all worlds of a batch, field by field: a table of how a row of each is read,
// checked and written.

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "world/batch.h"
#include "world/require.h"
#include "world/state_checks.h"

typedef struct Field {
    const char* name;
    int (*width)(const tpWorld* world);
    void (*read)(const tpWorld* world, double* row);
    // NULL: the field is only read. What passes the check is written, but for lack of memory.
    tpResult (*check)(tpWorld* world, const double* row, tpError* error);
    tpResult (*write)(tpWorld* world, const double* row, tpError* error);
} Field;

// States ------------------------------------------------------------------------------------------

static int threePerBody(const tpWorld* world) {
    return 3 * tpWorld_GetMovingCount(world);
}

static int fourPerBody(const tpWorld* world) {
    return 4 * tpWorld_GetMovingCount(world);
}

// The three functions of a field of tpStateArrays.
#define TP_STATE_FIELD(member)                                                                     \
    static void member##_read(const tpWorld* world, double* row) {                                 \
        tpStateArrays arrays = { .member = row };                                                  \
        tpWorld_ReadState(world, &arrays);                                                         \
    }                                                                                              \
    static tpResult member##_check(tpWorld* world, const double* row, tpError* error) {            \
        tpStateArrays arrays = { .member = (double*)row };                                         \
        return tpWorld_CheckState(world, &arrays, error);                                          \
    }                                                                                              \
    static tpResult member##_write(tpWorld* world, const double* row, tpError* error) {            \
        tpStateArrays arrays = { .member = (double*)row };                                         \
        return tpWorld_WriteState(world, &arrays, error);                                          \
    }

TP_STATE_FIELD(positions)
TP_STATE_FIELD(rotations)
TP_STATE_FIELD(velocities)
TP_STATE_FIELD(angularVelocities)

// Coordinates -------------------------------------------------------------------------------------

static void readValues(const tpWorld* world, double* row) {
    tpWorld_ReadCoordinates(world, row, NULL, NULL);
}

static tpResult checkValues(tpWorld* world, const double* row, tpError* error) {
    return tpWorld_CheckCoordinates(world, row, NULL, error);
}

static tpResult writeValues(tpWorld* world, const double* row, tpError* error) {
    return tpWorld_WriteCoordinates(world, row, NULL, error);
}

static void readSpeeds(const tpWorld* world, double* row) {
    tpWorld_ReadCoordinates(world, NULL, row, NULL);
}

static tpResult checkSpeeds(tpWorld* world, const double* row, tpError* error) {
    return tpWorld_CheckCoordinates(world, NULL, row, error);
}

static tpResult writeSpeeds(tpWorld* world, const double* row, tpError* error) {
    return tpWorld_WriteCoordinates(world, NULL, row, error);
}

static void readEfforts(const tpWorld* world, double* row) {
    tpWorld_ReadCoordinates(world, NULL, NULL, row);
}

static tpResult checkEfforts(tpWorld* world, const double* row, tpError* error) {
    return tpWorld_CheckEfforts(world, row, error);
}

static void readServos(const tpWorld* world, double* row, bool isSpeed) {
    for (int i = 0, place = 0; i < world->system.joints.count; ++i) {
        const tpJoint* joint = &world->system.joints.data[i];
        for (int k = 0; k < joint->coordinateCount; ++k, ++place) {
            const tpCoordinateDef* def = &joint->coordinates[k].def;
            row[place] = !def->hasServo ? NAN : isSpeed ? def->servo.speed : def->servo.target;
        }
    }
}

static void readTargets(const tpWorld* world, double* row) {
    readServos(world, row, false);
}

static tpResult checkTargets(tpWorld* world, const double* row, tpError* error) {
    return tpWorld_CheckTargets(world, row, NULL, error);
}

static tpResult writeTargets(tpWorld* world, const double* row, tpError* error) {
    return tpWorld_WriteTargets(world, row, NULL, error);
}

static void readTargetSpeeds(const tpWorld* world, double* row) {
    readServos(world, row, true);
}

static tpResult checkTargetSpeeds(tpWorld* world, const double* row, tpError* error) {
    return tpWorld_CheckTargets(world, NULL, row, error);
}

static tpResult writeTargetSpeeds(tpWorld* world, const double* row, tpError* error) {
    return tpWorld_WriteTargets(world, NULL, row, error);
}

// Parameters --------------------------------------------------------------------------------------

static int gravityWidth(const tpWorld* world) {
    (void)world;
    return 3;
}

static void readGravity(const tpWorld* world, double* row) {
    memcpy(row, &world->system.gravity, sizeof(tpVec3));
}

static tpResult checkGravity(tpWorld* world, const double* row, tpError* error) {
    (void)world;
    return tpIsFiniteVec3(tpMakeVec3(row[0], row[1], row[2]))
               ? tp_success
               : tpError_Set(error, tp_badInput, "gravity is not finite");
}

static tpResult writeGravity(tpWorld* world, const double* row, tpError* error) {
    (void)error;
    tpWorld_SetGravity(world, tpMakeVec3(row[0], row[1], row[2]));
    return tp_success;
}

static void readMasses(const tpWorld* world, double* row) {
    int count = tpWorld_GetMovingCount(world);
    for (int i = 0; i < count; ++i) {
        row[i] = tpBody_GetMass(world, tpWorld_GetMoving(world, i)).mass;
    }
}

static tpResult checkMasses(tpWorld* world, const double* row, tpError* error) {
    int count = tpWorld_GetMovingCount(world);
    for (int i = 0; i < count; ++i) {
        double mass = tpBody_GetMass(world, tpWorld_GetMoving(world, i)).mass;
        if (row[i] == mass) {
            continue;
        }
        if (!(row[i] > 0.0 && isfinite(row[i]))) {
            return tpError_Set(error, tp_badInput, "masses[%d] is %g, not positive", i, row[i]);
        }
        if (!(mass > 0.0)) {
            return tpError_Set(error, tp_badInput, "masses[%d] is for a body without a mass", i);
        }
    }
    return tp_success;
}

static tpResult writeMasses(tpWorld* world, const double* row, tpError* error) {
    int count = tpWorld_GetMovingCount(world);
    tpResult result = tp_success;
    for (int i = 0; result == tp_success && i < count; ++i) {
        tpBodyId body = tpWorld_GetMoving(world, i);
        tpMassProperties mass = tpBody_GetMass(world, body);
        if (row[i] != mass.mass) {
            mass.inertia = tpScaleM(row[i] / mass.mass, mass.inertia);
            mass.mass = row[i];
            result = tpBody_SetMass(world, body, &mass, error);
        }
    }
    return result;
}

typedef enum MaterialNumber { staticFriction, dynamicFriction, restitution } MaterialNumber;

static const char* const materialNames[] = { "static_friction", "dynamic_friction", "restitution" };

static double* numberOf(tpMaterial* material, MaterialNumber which) {
    return which == staticFriction    ? &material->friction.staticCoefficient
           : which == dynamicFriction ? &material->friction.dynamicCoefficient
                                      : &material->restitution;
}

static void readMaterials(const tpWorld* world, double* row, MaterialNumber which) {
    for (int i = 0; i < world->system.materials.count; ++i) {
        row[i] = *numberOf(&world->system.materials.data[i], which);
    }
}

static tpResult checkMaterials(const tpWorld* world, const double* row, MaterialNumber which,
                               tpError* error) {
    for (int i = 0; i < world->system.materials.count; ++i) {
        bool isGood = row[i] >= 0.0 && isfinite(row[i]) && (which != restitution || row[i] <= 1.0);
        if (!isGood) {
            return tpError_Set(error, tp_badInput, "%s[%d] is %g, not %s", materialNames[which], i,
                               row[i],
                               which == restitution ? "between 0 and 1" : "zero or positive");
        }
    }
    return tp_success;
}

static tpResult writeMaterials(tpWorld* world, const double* row, MaterialNumber which) {
    bool hasChanged = false;
    for (int i = 0; i < world->system.materials.count; ++i) {
        double* own = numberOf(&world->system.materials.data[i], which);
        hasChanged = hasChanged || *own != row[i];
        *own = row[i];
    }
    if (hasChanged) {
        tpWorld_DisturbAll(world);
    }
    return tp_success;
}

#define TP_MATERIAL_FIELD(which)                                                                   \
    static void which##_read(const tpWorld* world, double* row) {                                  \
        readMaterials(world, row, which);                                                          \
    }                                                                                              \
    static tpResult which##_check(tpWorld* world, const double* row, tpError* error) {             \
        return checkMaterials(world, row, which, error);                                           \
    }                                                                                              \
    static tpResult which##_write(tpWorld* world, const double* row, tpError* error) {             \
        (void)error;                                                                               \
        return writeMaterials(world, row, which);                                                  \
    }

TP_MATERIAL_FIELD(staticFriction)
TP_MATERIAL_FIELD(dynamicFriction)
TP_MATERIAL_FIELD(restitution)

// The table ---------------------------------------------------------------------------------------

static const Field fields[tp_batchFieldCount] = {
    [tp_batchPositions] = { "positions", threePerBody, positions_read, positions_check,
                            positions_write },
    [tp_batchRotations] = { "rotations", fourPerBody, rotations_read, rotations_check,
                            rotations_write },
    [tp_batchVelocities] = { "velocities", threePerBody, velocities_read, velocities_check,
                             velocities_write },
    [tp_batchAngularVelocities] = { "angular_velocities", threePerBody, angularVelocities_read,
                                    angularVelocities_check, angularVelocities_write },
    [tp_batchCoordinates] = { "coordinates", tpWorld_GetCoordinateCount, readValues, checkValues,
                              writeValues },
    [tp_batchSpeeds] = { "speeds", tpWorld_GetCoordinateCount, readSpeeds, checkSpeeds,
                         writeSpeeds },
    [tp_batchEfforts] = { "efforts", tpWorld_GetCoordinateCount, readEfforts, checkEfforts,
                          tpWorld_ApplyEfforts },
    [tp_batchTargets] = { "targets", tpWorld_GetCoordinateCount, readTargets, checkTargets,
                          writeTargets },
    [tp_batchTargetSpeeds] = { "target_speeds", tpWorld_GetCoordinateCount, readTargetSpeeds,
                               checkTargetSpeeds, writeTargetSpeeds },
    [tp_batchSensors] = { "sensors", tpWorld_GetSensorValueCount, tpWorld_ReadSensors, NULL, NULL },
    [tp_batchGravity] = { "gravity", gravityWidth, readGravity, checkGravity, writeGravity },
    [tp_batchMasses] = { "masses", tpWorld_GetMovingCount, readMasses, checkMasses, writeMasses },
    [tp_batchStaticFriction] = { "static_friction", tpWorld_GetMaterialCount, staticFriction_read,
                                 staticFriction_check, staticFriction_write },
    [tp_batchDynamicFriction] = { "dynamic_friction", tpWorld_GetMaterialCount,
                                  dynamicFriction_read, dynamicFriction_check,
                                  dynamicFriction_write },
    [tp_batchRestitution] = { "restitution", tpWorld_GetMaterialCount, restitution_read,
                              restitution_check, restitution_write },
};

static const Field* fieldOf(tpBatchField field, const char* function) {
    int index = (int)field;
    if (index < 0 || index >= tp_batchFieldCount) {
        tpMisused(function, "field", "is %d, of %d fields", index, tp_batchFieldCount);
        return NULL;
    }
    return &fields[index];
}

const char* tpBatchFieldName(tpBatchField field) {
    const Field* found = fieldOf(field, __func__);
    return found != NULL ? found->name : "";
}

int tpBatch_GetWidth(const tpBatch* batch, tpBatchField field) {
    TP_NEED(batch, 0);
    const Field* found = fieldOf(field, __func__);
    return found != NULL ? found->width(batch->worlds[0]) : 0;
}

typedef struct Passing {
    const Field* field;
    double* numbers;
    int width;
} Passing;

static double* rowOf(const Passing* passing, int world) {
    return passing->numbers + (size_t)passing->width * (size_t)world;
}

// Rows have one width: a world that has other bodies or joints by now has no place among them.
static tpResult checkWidth(const Passing* passing, const tpBatch* batch, int index,
                           tpError* error) {
    return passing->field->width(batch->worlds[index]) == passing->width
               ? tp_success
               : tpError_Set(error, tp_badInput,
                             "it has other bodies, joints, sensors or materials than world 0");
}

static tpResult checkRead(void* context, const tpBatch* batch, int index, tpError* error) {
    return checkWidth(context, batch, index, error);
}

static tpResult readRow(void* context, const tpBatch* batch, int index, tpError* error) {
    (void)error;
    const Passing* passing = context;
    passing->field->read(batch->worlds[index], rowOf(passing, index));
    return tp_success;
}

static tpResult checkRow(void* context, const tpBatch* batch, int index, tpError* error) {
    const Passing* passing = context;
    tpResult result = checkWidth(passing, batch, index, error);
    return result == tp_success
               ? passing->field->check(batch->worlds[index], rowOf(passing, index), error)
               : result;
}

static tpResult writeRow(void* context, const tpBatch* batch, int index, tpError* error) {
    const Passing* passing = context;
    return passing->field->write(batch->worlds[index], rowOf(passing, index), error);
}

// Whether there is anything to pass.
static tpResult begin(const tpBatch* batch, tpBatchField field, const double* numbers,
                      const char* function, Passing* passing, tpError* error) {
    const Field* found = fieldOf(field, function);
    if (found == NULL) {
        return tpError_Set(error, tp_badInput, "there is no such field");
    }
    passing->field = found;
    passing->numbers = (double*)numbers;
    passing->width = found->width(batch->worlds[0]);
    if (numbers == NULL && passing->width > 0) {
        tpMisused(function, "numbers", "is NULL");
        return tpError_Set(error, tp_badInput, "there are no numbers");
    }
    return tp_success;
}

tpResult tpBatch_Read(const tpBatch* batch, tpBatchField field, double* numbers, tpError* error) {
    TP_NEED(batch, tp_badInput);
    Passing passing;
    tpResult result = begin(batch, field, numbers, __func__, &passing, error);
    if (result == tp_success) {
        result = tpBatch_Run(batch, checkRead, &passing, error);
    }
    return result == tp_success && passing.width > 0 ? tpBatch_Run(batch, readRow, &passing, error)
                                                     : result;
}

tpResult tpBatch_Write(tpBatch* batch, tpBatchField field, const double* numbers, tpError* error) {
    TP_NEED(batch, tp_badInput);
    Passing passing;
    tpResult result = begin(batch, field, numbers, __func__, &passing, error);
    if (result == tp_success && passing.field->write == NULL) {
        result = tpError_Set(error, tp_unsupported, "%s can only be read", passing.field->name);
    }
    if (result == tp_success) {
        result = tpBatch_Run(batch, checkRow, &passing, error);
    }
    return result == tp_success && passing.width > 0 ? tpBatch_Run(batch, writeRow, &passing, error)
                                                     : result;
}
