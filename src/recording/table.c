#include "recording/table.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "recording/roster.h"
#include "tippe/sensors.h"
#include "tippe/state.h"

// Rows -------------------------------------------------------------------------------------------

void tpTrajectory_PutNames(tpTextFile* text, const char* (*getName)(const void*, int),
                           const void* context, int movingCount) {
    static const char* const parts[tp_stateWidth] = { "x",  "y",  "z",  "qw", "qx", "qy", "qz",
                                                      "vx", "vy", "vz", "wx", "wy", "wz" };
    tpTextFile_PutText(text, "time");
    for (int i = 0; i < movingCount; ++i) {
        for (int k = 0; k < tp_stateWidth; ++k) {
            char field[tp_nameCapacity + 4];
            snprintf(field, sizeof(field), "%.*s.%s", tp_nameCapacity - 1, getName(context, i),
                     parts[k]);
            tpTextFile_PutChar(text, ',');
            tpTextFile_PutName(text, field);
        }
    }
}

tpResult tpTrajectory_PutRow(tpTextFile* text, double time, const double* states, int movingCount,
                             tpError* error) {
    tpTextFile_PutNumber(text, time);
    for (int i = 0; i < tp_stateWidth * movingCount; ++i) {
        tpTextFile_PutChar(text, ',');
        tpTextFile_PutNumber(text, states[i]);
    }
    return tpTextFile_EndRow(text, error);
}

void tpContacts_PutNames(tpTextFile* text) {
    tpTextFile_PutText(text, "time,bodyA,bodyB,px,py,pz,nx,ny,nz,gap,normal_impulse,"
                             "friction_impulse_x,friction_impulse_y,friction_impulse_z,"
                             "torsional_impulse,sliding_speed,state");
}

tpResult tpContacts_PutRow(tpTextFile* text, double time, const char* nameA, const char* nameB,
                           const tpRecordedContact* contact, tpError* error) {
    static const char* const states[] = {
        [tp_separated] = "separated", [tp_sliding] = "sliding", [tp_sticking] = "sticking"
    };
    const tpRecordedContact* c = contact;
    double numbers[] = { c->point.x,
                         c->point.y,
                         c->point.z,
                         c->normal.x,
                         c->normal.y,
                         c->normal.z,
                         c->gap,
                         c->normalImpulse,
                         c->frictionImpulse.x,
                         c->frictionImpulse.y,
                         c->frictionImpulse.z,
                         c->torsionalImpulse,
                         c->slidingSpeed };
    tpTextFile_PutNumber(text, time);
    tpTextFile_PutChar(text, ',');
    tpTextFile_PutName(text, nameA);
    tpTextFile_PutChar(text, ',');
    tpTextFile_PutName(text, nameB);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
        tpTextFile_PutChar(text, ',');
        tpTextFile_PutNumber(text, numbers[i]);
    }
    tpTextFile_PutChar(text, ',');
    tpTextFile_PutText(text, states[c->state]);
    return tpTextFile_EndRow(text, error);
}

// Tables of a run --------------------------------------------------------------------------------

// What the rows of a table are made of. Tables with one row per time have `columns`, those with any
// number of rows `put`.
typedef struct tpTableKind {
    int (*countColumns)(const tpTable* table);
    void (*putHeader)(tpTable* table);
    void (*read)(const tpTable* table, const tpWorld* world, double* numbers);
    tpResult (*put)(tpTable* table, const tpWorld* world, tpError* error);
} tpTableKind;

// A coordinate of a joint and what it is called: "JOINT" or "JOINT.AXIS".
typedef struct tpTableCoordinate {
    char name[2 * tp_nameCapacity];
    tpJointId joint;
    int index;
} tpTableCoordinate;

// A number of a sensor, "SENSOR.x".
typedef struct tpSensorColumn {
    char name[tp_nameCapacity + 8];
} tpSensorColumn;

// A sensor, what it is called ("sensor2" if it has no name) and how many columns it has.
typedef struct tpTableSensor {
    char name[tp_nameCapacity];
    tpSensorId id;
    const char* columns[tp_mostSensorValues];
    int columnCount;
} tpTableSensor;

struct tpTable {
    tpAllocator allocator;
    const tpTableKind* kind;
    int every;
    int64_t stepCount; // told of so far
    tpRoster roster;
    tpTableCoordinate* coordinates; // of a joint table
    int coordinateCount;
    tpTableSensor* sensors; // of a trajectory
    int sensorCount;
    tpSensorColumn* sensorColumns; // of a trajectory
    int sensorValueCount;
    int columnCount;  // beside the time
    double* numbers;  // of the row at hand; at first those of the start
    double startTime; // s
    bool hasBegun;    // the header and the row of the start are written
    tpTextFile text;
};

static tpResult putRow(tpTable* table, double time, tpError* error) {
    tpTextFile_PutNumber(&table->text, time);
    for (int i = 0; i < table->columnCount; ++i) {
        tpTextFile_PutChar(&table->text, ',');
        tpTextFile_PutNumber(&table->text, table->numbers[i]);
    }
    return tpTextFile_EndRow(&table->text, error);
}

// The header and the start. They wait for the first step, so that a run that cannot begin because
// of another of its files leaves this one as it was.
static tpResult begin(tpTable* table, tpError* error) {
    if (table->hasBegun) {
        return tp_success;
    }
    table->hasBegun = true;
    table->kind->putHeader(table);
    tpResult result = tpTextFile_EndRow(&table->text, error);
    return result == tp_success && table->kind->read != NULL
               ? putRow(table, table->startTime, error)
               : result;
}

// Trajectories -----------------------------------------------------------------------------------

static const char* nameOfMoving(const void* context, int moving) {
    const tpRoster* roster = context;
    return roster->bodies[roster->moving[moving]].name;
}

static int countStates(const tpTable* table) {
    return table->roster.movingCount * tp_stateWidth + table->sensorValueCount;
}

static void putStateHeader(tpTable* table) {
    tpTrajectory_PutNames(&table->text, nameOfMoving, &table->roster, table->roster.movingCount);
    for (int i = 0; i < table->sensorValueCount; ++i) {
        tpTextFile_PutChar(&table->text, ',');
        tpTextFile_PutName(&table->text, table->sensorColumns[i].name);
    }
}

static void readStates(const tpTable* table, const tpWorld* world, double* numbers) {
    tpRoster_GetStates(&table->roster, world, numbers);
    double* values = numbers + table->roster.movingCount * tp_stateWidth;
    if (tpWorld_GetSensorValueCount(world) == table->sensorValueCount) {
        tpWorld_ReadSensors(world, values);
    } else { // some have gone since
        for (int i = 0; i < table->sensorValueCount; ++i) {
            values[i] = NAN;
        }
    }
}

static bool listSensors(tpTable* table, const tpWorld* world) {
    int count = tpWorld_GetSensorValueCount(world), k = 0;
    table->sensorColumns =
        tpAllocateZeroed(&table->allocator, (size_t)count * sizeof(tpSensorColumn));
    if (count > 0 && table->sensorColumns == NULL) {
        return false;
    }
    table->sensorValueCount = count;
    for (int i = 0; i < tpWorld_GetSensorCount(world); ++i) {
        tpSensorId sensor = tpWorld_GetSensor(world, i);
        const char *name = tpSensor_GetName(world, sensor), *parts[tp_mostSensorValues];
        int partCount = tpSensorTypeColumns(tpSensor_GetDef(world, sensor).type, parts);
        for (int j = 0; j < partCount && k < count; ++j, ++k) {
            char* column = table->sensorColumns[k].name;
            size_t size = sizeof(table->sensorColumns[k].name);
            if (name[0] != '\0') {
                snprintf(column, size, "%.63s.%s", name, parts[j]);
            } else {
                snprintf(column, size, "sensor%d.%s", i + 1, parts[j]);
            }
        }
    }
    return true;
}

static const tpTableKind trajectoryKind = { countStates, putStateHeader, readStates, NULL };

// Contacts ---------------------------------------------------------------------------------------

static int countNothing(const tpTable* table) {
    (void)table;
    return 0;
}

static void putContactHeader(tpTable* table) {
    tpContacts_PutNames(&table->text);
}

static const char* nameOf(const tpTable* table, const tpWorld* world, tpBodyId body) {
    int index = tpRoster_Find(&table->roster, body);
    return index >= 0 ? table->roster.bodies[index].name : tpBody_GetName(world, body);
}

static tpResult putContacts(tpTable* table, const tpWorld* world, tpError* error) {
    int count = 0;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    tpResult result = tp_success;
    for (int i = 0; result == tp_success && i < count; ++i) {
        const tpContactInfo* from = &contacts[i];
        tpRecordedContact contact = { .point = from->point,
                                      .normal = from->normal,
                                      .gap = from->gap,
                                      .normalImpulse = from->normalImpulse,
                                      .frictionImpulse = from->frictionImpulse,
                                      .torsionalImpulse = from->torsionalImpulse,
                                      .slidingSpeed = from->slidingSpeed,
                                      .state = from->state };
        result = tpContacts_PutRow(&table->text, tpWorld_GetTime(world),
                                   nameOf(table, world, from->bodyA),
                                   nameOf(table, world, from->bodyB), &contact, error);
    }
    return result;
}

static const tpTableKind contactKind = { countNothing, putContactHeader, NULL, putContacts };

// Joints -----------------------------------------------------------------------------------------

enum { numbersPerCoordinate = 3 }; // value, speed, effort

static void nameCoordinate(tpTableCoordinate* coordinate, const char* joint, const tpWorld* world) {
    const char* axis = tpJoint_GetAxis(world, coordinate->joint, coordinate->index).name;
    char number[16];
    // An axis without a name goes by its number, but for the only one of a joint.
    if ((axis == NULL || axis[0] == '\0') && coordinate->index > 0) {
        snprintf(number, sizeof(number), "%d", coordinate->index + 1);
        axis = number;
    }
    bool hasAxis = axis != NULL && axis[0] != '\0';
    snprintf(coordinate->name, sizeof(coordinate->name), "%.63s%s%.60s", joint, hasAxis ? "." : "",
             hasAxis ? axis : "");
}

static bool listCoordinates(tpTable* table, const tpWorld* world) {
    int count = tpWorld_GetCoordinateCount(world), k = 0;
    table->coordinates =
        tpAllocateZeroed(&table->allocator, (size_t)count * sizeof(tpTableCoordinate));
    if (count > 0 && table->coordinates == NULL) {
        return false;
    }
    table->coordinateCount = count;
    for (int i = 0; i < table->roster.jointCount; ++i) {
        const tpRosterJoint* joint = &table->roster.joints[i];
        for (int j = 0; j < tpJoint_GetCoordinateCount(world, joint->id) && k < count; ++j, ++k) {
            table->coordinates[k].joint = joint->id;
            table->coordinates[k].index = j;
            nameCoordinate(&table->coordinates[k], joint->name, world);
        }
    }
    return true;
}

static int countCoordinates(const tpTable* table) {
    return numbersPerCoordinate * table->coordinateCount;
}

static void putJointHeader(tpTable* table) {
    static const char* const parts[numbersPerCoordinate] = { "q", "qd", "effort" };
    tpTextFile_PutText(&table->text, "time");
    for (int i = 0; i < table->coordinateCount; ++i) {
        for (int k = 0; k < numbersPerCoordinate; ++k) {
            char field[sizeof(table->coordinates->name) + 8];
            snprintf(field, sizeof(field), "%s.%s", table->coordinates[i].name, parts[k]);
            tpTextFile_PutChar(&table->text, ',');
            tpTextFile_PutName(&table->text, field);
        }
    }
}

static void readCoordinates(const tpTable* table, const tpWorld* world, double* numbers) {
    for (int i = 0; i < table->coordinateCount; ++i, numbers += numbersPerCoordinate) {
        const tpTableCoordinate* coordinate = &table->coordinates[i];
        tpCoordinateState state = { NAN, NAN, NAN, NAN };
        if (tpJoint_IsValid(world, coordinate->joint)) {
            state = tpJoint_GetState(world, coordinate->joint, coordinate->index);
        }
        numbers[0] = state.value;
        numbers[1] = state.speed;
        numbers[2] = state.effort;
    }
}

static const tpTableKind jointKind = { countCoordinates, putJointHeader, readCoordinates, NULL };

// Tables of a run --------------------------------------------------------------------------------

static size_t numbersSize(const tpTable* table) {
    return (size_t)table->columnCount * sizeof(double);
}

static void freeTable(tpTable* table) {
    tpAllocator allocator = table->allocator;
    if (table->numbers != NULL) {
        tpRelease(&allocator, table->numbers, numbersSize(table));
    }
    tpRelease(&allocator, table->coordinates,
              (size_t)table->coordinateCount * sizeof(tpTableCoordinate));
    tpRelease(&allocator, table->sensorColumns,
              (size_t)table->sensorValueCount * sizeof(tpSensorColumn));
    tpRelease(&allocator, table->sensors, (size_t)table->sensorCount * sizeof(tpTableSensor));
    tpRoster_Destroy(&table->roster);
    tpRelease(&allocator, table, sizeof(*table));
}

static bool makeColumns(tpTable* table, const tpWorld* world) {
    if (!tpRoster_Create(&table->roster, world, &table->allocator) ||
        (table->kind == &jointKind && !listCoordinates(table, world)) ||
        (table->kind == &trajectoryKind && !listSensors(table, world))) {
        return false;
    }
    table->columnCount = table->kind->countColumns(table);
    if (table->columnCount > 0) {
        table->numbers = tpAllocate(&table->allocator, numbersSize(table));
    }
    return table->columnCount == 0 || table->numbers != NULL;
}

static tpTable* createTable(const char* path, const tpWorld* world, int every,
                            const tpTableKind* kind, tpError* error) {
    if (path == NULL || every < 1) {
        tpError_Set(error, tp_badInput, "a table needs a path and every >= 1");
        return NULL;
    }
    const tpAllocator* allocator = tpWorld_GetAllocator(world);
    tpTable* table = tpAllocateZeroed(allocator, sizeof(tpTable));
    if (table == NULL) {
        tpError_OutOfMemory(error);
        return NULL;
    }
    table->allocator = *allocator;
    table->kind = kind;
    table->every = every;
    if (!makeColumns(table, world)) {
        tpError_OutOfMemory(error);
        freeTable(table);
        return NULL;
    }
    if (tpTextFile_Create(&table->text, path, tp_growingText, allocator, error) != tp_success) {
        freeTable(table);
        return NULL;
    }
    table->startTime = tpWorld_GetTime(world);
    if (kind->read != NULL) {
        kind->read(table, world, table->numbers);
    }
    return table;
}

tpTable* tpCreateTrajectoryTable(const char* path, const tpWorld* world, int every,
                                 tpError* error) {
    return createTable(path, world, every, &trajectoryKind, error);
}

tpTable* tpCreateContactTable(const char* path, const tpWorld* world, int every, tpError* error) {
    return createTable(path, world, every, &contactKind, error);
}

tpTable* tpCreateJointTable(const char* path, const tpWorld* world, int every, tpError* error) {
    return createTable(path, world, every, &jointKind, error);
}

tpResult tpTable_Step(tpTable* table, const tpWorld* world, tpError* error) {
    tpResult result = begin(table, error);
    table->stepCount += 1;
    if (result != tp_success || table->stepCount % table->every != 0) {
        return result;
    }
    if (table->kind->put != NULL) {
        return table->kind->put(table, world, error);
    }
    table->kind->read(table, world, table->numbers);
    return putRow(table, tpWorld_GetTime(world), error);
}

tpResult tpCloseTable(tpTable* table, tpError* error) {
    if (table == NULL) {
        return tp_success;
    }
    begin(table, NULL); // a failure shows when the file is closed
    tpResult result = tpTextFile_Close(&table->text, error);
    freeTable(table);
    return result;
}

void tpDiscardTable(tpTable* table) {
    if (table != NULL) {
        tpTextFile_Abandon(&table->text);
        freeTable(table);
    }
}
