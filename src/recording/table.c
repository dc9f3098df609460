#include "recording/table.h"

#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "recording/roster.h"

// Rows -------------------------------------------------------------------------------------------

tpResult tpTrajectory_PutHeader(tpTextFile* text, const char* (*getName)(const void*, int),
                                const void* context, int movingCount, tpError* error) {
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
    return tpTextFile_EndRow(text, error);
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

tpResult tpContacts_PutHeader(tpTextFile* text, tpError* error) {
    tpTextFile_PutText(text, "time,bodyA,bodyB,px,py,pz,nx,ny,nz,gap,normal_impulse,"
                             "friction_impulse_x,friction_impulse_y,friction_impulse_z,"
                             "torsional_impulse,sliding_speed,state");
    return tpTextFile_EndRow(text, error);
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

struct tpTable {
    tpAllocator allocator;
    bool isTrajectory; // or contacts
    int every;
    int64_t stepCount; // told of so far
    tpRoster roster;
    double* states;   // of the row at hand; at first those of the start
    double startTime; // s
    bool hasBegun;    // the header and the row of the start are written
    tpTextFile text;
};

static size_t statesSize(const tpTable* table) {
    return (size_t)table->roster.movingCount * tp_stateWidth * sizeof(double);
}

static const char* nameOfMoving(const void* context, int moving) {
    const tpRoster* roster = context;
    return roster->bodies[roster->moving[moving]].name;
}

// The header and the start. They wait for the first step, so that a run that cannot begin because of
// another of its files leaves this one as it was.
static tpResult begin(tpTable* table, tpError* error) {
    if (table->hasBegun) {
        return tp_success;
    }
    table->hasBegun = true;
    if (!table->isTrajectory) {
        return tpContacts_PutHeader(&table->text, error);
    }
    tpResult result = tpTrajectory_PutHeader(&table->text, nameOfMoving, &table->roster,
                                             table->roster.movingCount, error);
    return result == tp_success ? tpTrajectory_PutRow(&table->text, table->startTime, table->states,
                                                      table->roster.movingCount, error)
                                : result;
}

static tpResult putState(tpTable* table, const tpWorld* world, tpError* error) {
    tpRoster_GetStates(&table->roster, world, table->states);
    return tpTrajectory_PutRow(&table->text, tpWorld_GetTime(world), table->states,
                               table->roster.movingCount, error);
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

static void freeTable(tpTable* table) {
    tpAllocator allocator = table->allocator;
    tpRelease(&allocator, table->states, statesSize(table));
    tpRoster_Destroy(&table->roster);
    tpRelease(&allocator, table, sizeof(*table));
}

static tpTable* createTable(const char* path, const tpWorld* world, int every, bool isTrajectory,
                            tpError* error) {
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
    table->isTrajectory = isTrajectory;
    table->every = every;
    bool made = tpRoster_Create(&table->roster, world, allocator);
    if (made && statesSize(table) > 0) {
        table->states = tpAllocate(allocator, statesSize(table));
        made = table->states != NULL;
    }
    if (!made) {
        tpError_OutOfMemory(error);
        freeTable(table);
        return NULL;
    }
    if (tpTextFile_Create(&table->text, path, tp_growingText, allocator, error) != tp_success) {
        freeTable(table);
        return NULL;
    }
    table->startTime = tpWorld_GetTime(world);
    tpRoster_GetStates(&table->roster, world, table->states);
    return table;
}

tpTable* tpCreateTrajectoryTable(const char* path, const tpWorld* world, int every,
                                 tpError* error) {
    return createTable(path, world, every, true, error);
}

tpTable* tpCreateContactTable(const char* path, const tpWorld* world, int every, tpError* error) {
    return createTable(path, world, every, false, error);
}

tpResult tpTable_Step(tpTable* table, const tpWorld* world, tpError* error) {
    tpResult result = begin(table, error);
    table->stepCount += 1;
    if (result != tp_success || table->stepCount % table->every != 0) {
        return result;
    }
    return table->isTrajectory ? putState(table, world, error) : putContacts(table, world, error);
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
