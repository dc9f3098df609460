#include "recording/table.h"
#include "base/assert.h"

#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "recording/roster.h"

// Rows -------------------------------------------------------------------------------------------

void tpTrajectory_PutNames(tpTextFile* text, const void* context, tpColumnNamer* nameBody,
                           int movingCount, tpColumnNamer* nameValue, int valueCount) {
    static const char* const parts[tp_stateWidth] = { "x",  "y",  "z",  "qw", "qx", "qy", "qz",
                                                      "vx", "vy", "vz", "wx", "wy", "wz" };
    tpTextFile_PutText(text, "time");
    for (int i = 0; i < movingCount; ++i) {
        for (int k = 0; k < tp_stateWidth; ++k) {
            char field[tp_nameCapacity + 4];
            snprintf(field, sizeof(field), "%.*s.%s", tp_nameCapacity - 1, nameBody(context, i),
                     parts[k]);
            tpTextFile_PutChar(text, ',');
            tpTextFile_PutName(text, field);
        }
    }
    for (int i = 0; i < valueCount; ++i) {
        tpTextFile_PutChar(text, ',');
        tpTextFile_PutName(text, nameValue(context, i));
    }
}

static void putNumbers(tpTextFile* text, const double* numbers, int count) {
    for (int i = 0; i < count; ++i) {
        tpTextFile_PutChar(text, ',');
        tpTextFile_PutNumber(text, numbers[i]);
    }
}

tpResult tpTrajectory_PutRow(tpTextFile* text, double time, const double* states, int movingCount,
                             const double* values, int valueCount, tpError* error) {
    tpTextFile_PutNumber(text, time);
    putNumbers(text, states, tp_stateWidth * movingCount);
    putNumbers(text, values, valueCount);
    return tpTextFile_EndRow(text, error);
}

// Value, speed and effort: the first of what is known of a coordinate.
enum { shownPerCoordinate = 3 };

void tpJoints_PutNames(tpTextFile* text, const void* context, tpColumnNamer* nameCoordinate,
                       int count) {
    static const char* const parts[shownPerCoordinate] = { "q", "qd", "effort" };
    tpTextFile_PutText(text, "time");
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < shownPerCoordinate; ++k) {
            char field[tp_coordinateNameCapacity + 8];
            snprintf(field, sizeof(field), "%.*s.%s", tp_coordinateNameCapacity - 1,
                     nameCoordinate(context, i), parts[k]);
            tpTextFile_PutChar(text, ',');
            tpTextFile_PutName(text, field);
        }
    }
}

tpResult tpJoints_PutRow(tpTextFile* text, double time, const double* numbers, int count,
                         tpError* error) {
    tpTextFile_PutNumber(text, time);
    for (int i = 0; i < count; ++i) {
        putNumbers(text, numbers + i * tp_coordinateWidth, shownPerCoordinate);
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

// What the rows of a table are made of. Tables with one row per time have numbers that are read
// into `numbers`; they start with a row of the start.
typedef struct tpTableKind {
    int (*countNumbers)(const tpRoster* roster); // NULL: any number of rows per time
    void (*putHeader)(tpTable* table);
    void (*read)(tpTable* table, const tpWorld* world);
    tpResult (*put)(tpTable* table, const tpWorld* world, double time, tpError* error);
} tpTableKind;

struct tpTable {
    tpAllocator allocator;
    const tpTableKind* kind;
    int every;
    int64_t stepCount; // told of so far
    tpRoster roster;
    double* numbers; // of the row at hand; at first those of the start
    int numberCount;
    double startTime; // s
    bool hasBegun;    // the header and the row of the start are written
    tpTextFile text;
};

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
               ? table->kind->put(table, NULL, table->startTime, error)
               : result;
}

// Trajectories -----------------------------------------------------------------------------------

static const char* nameOfMoving(const void* context, int moving) {
    const tpRoster* roster = context;
    return roster->bodies[roster->moving[moving]].name;
}

static const char* nameOfValue(const void* context, int value) {
    return ((const tpRoster*)context)->values[value].name;
}

static int countStates(const tpRoster* roster) {
    return roster->movingCount * tp_stateWidth + roster->valueCount;
}

static void putStateHeader(tpTable* table) {
    const tpRoster* roster = &table->roster;
    tpTrajectory_PutNames(&table->text, roster, nameOfMoving, roster->movingCount, nameOfValue,
                          roster->valueCount);
}

static double* sensorsOf(const tpTable* table) {
    return table->numbers + table->roster.movingCount * tp_stateWidth;
}

static void readStates(tpTable* table, const tpWorld* world) {
    tpRoster_GetStates(&table->roster, world, table->numbers);
    tpRoster_GetSensors(&table->roster, world, sensorsOf(table));
}

static tpResult putStates(tpTable* table, const tpWorld* world, double time, tpError* error) {
    (void)world;
    return tpTrajectory_PutRow(&table->text, time, table->numbers, table->roster.movingCount,
                               sensorsOf(table), table->roster.valueCount, error);
}

static const tpTableKind trajectoryKind = { countStates, putStateHeader, readStates, putStates };

// Contacts ---------------------------------------------------------------------------------------

static void putContactHeader(tpTable* table) {
    tpContacts_PutNames(&table->text);
}

static const char* nameOf(const tpTable* table, const tpWorld* world, tpBodyId body) {
    int index = tpRoster_Find(&table->roster, body);
    return index >= 0 ? table->roster.bodies[index].name : tpBody_GetName(world, body);
}

static tpResult putContacts(tpTable* table, const tpWorld* world, double time, tpError* error) {
    int count = 0;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    tpResult result = tp_success;
    for (int i = 0; result == tp_success && i < count; ++i) {
        const tpContactInfo* from = &contacts[i];
        tpRecordedContact contact = tpRoster_Contact(&table->roster, from);
        result = tpContacts_PutRow(&table->text, time, nameOf(table, world, from->bodyA),
                                   nameOf(table, world, from->bodyB), &contact, error);
    }
    return result;
}

static const tpTableKind contactKind = { NULL, putContactHeader, NULL, putContacts };

// Joints -----------------------------------------------------------------------------------------

static const char* nameOfCoordinate(const void* context, int coordinate) {
    return ((const tpRoster*)context)->coordinates[coordinate].name;
}

static int countCoordinates(const tpRoster* roster) {
    return tp_coordinateWidth * roster->coordinateCount;
}

static void putJointHeader(tpTable* table) {
    tpJoints_PutNames(&table->text, &table->roster, nameOfCoordinate,
                      table->roster.coordinateCount);
}

static void readCoordinates(tpTable* table, const tpWorld* world) {
    tpRoster_GetCoordinates(&table->roster, world, table->numbers);
}

static tpResult putCoordinates(tpTable* table, const tpWorld* world, double time, tpError* error) {
    (void)world;
    return tpJoints_PutRow(&table->text, time, table->numbers, table->roster.coordinateCount,
                           error);
}

static const tpTableKind jointKind = { countCoordinates, putJointHeader, readCoordinates,
                                       putCoordinates };

// Tables of a run --------------------------------------------------------------------------------

static size_t numbersSize(const tpTable* table) {
    return (size_t)table->numberCount * sizeof(double);
}

static void freeTable(tpTable* table) {
    tpAllocator allocator = table->allocator;
    tpRelease(&allocator, table->numbers, numbersSize(table));
    tpRoster_Destroy(&table->roster);
    tpRelease(&allocator, table, sizeof(*table));
}

static bool makeColumns(tpTable* table, const tpWorld* world) {
    if (!tpRoster_Create(&table->roster, world, &table->allocator)) {
        return false;
    }
    table->numberCount =
        table->kind->countNumbers != NULL ? table->kind->countNumbers(&table->roster) : 0;
    table->numbers = tpAllocate(&table->allocator, numbersSize(table));
    return table->numberCount == 0 || table->numbers != NULL;
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
        kind->read(table, world);
    }
    return table;
}

tpTable* tpCreateTrajectoryTable(const char* path, const tpWorld* world, int every,
                                 tpError* error) {
    return createTable(path, world, every, &trajectoryKind, error);
}

tpTable* tpCreateContactTable(const char* path, const tpWorld* world, int every, tpError* error) {
    TP_NEED(path, NULL);
    TP_NEED(world, NULL);
    return createTable(path, world, every, &contactKind, error);
}

tpTable* tpCreateJointTable(const char* path, const tpWorld* world, int every, tpError* error) {
    TP_NEED(path, NULL);
    TP_NEED(world, NULL);
    return createTable(path, world, every, &jointKind, error);
}

tpResult tpTable_Step(tpTable* table, const tpWorld* world, tpError* error) {
    TP_NEED(table, tp_badInput);
    tpResult result = begin(table, error);
    table->stepCount += 1;
    if (result != tp_success || table->stepCount % table->every != 0) {
        return result;
    }
    if (table->kind->read != NULL) {
        table->kind->read(table, world);
    }
    return table->kind->put(table, world, tpWorld_GetTime(world), error);
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
