// The table of impacts that was computed apart from Tippe, as tests and benchmarks read it.

#ifndef TIPPE_TESTS_SUPPORT_IMPACT_TABLE_H
#define TIPPE_TESTS_SUPPORT_IMPACT_TABLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/impact_columns.h"

typedef struct tpImpactRow {
    char id[64], kind[64], phases[64];
    tpImpactBody bodies[2];
    tpImpact impact;
    tpVec3 impulse, velocityAfter;
    double compressionImpulse;
    double energyBefore, energyLost;
    tpVec3 reversal;
    bool isReversalInCone;
} tpImpactRow;

// The columns of the table in their order.
enum {
    tp_columnFirstBody = 3,
    tp_columnSecondBody = tp_columnFirstBody + tp_impactBodyColumns,
    tp_columnFriction = 35,
    tp_columnRestitution = 36,
    tp_columnImpulse = 46,
    tp_columnVelocityAfter = 50,
    tp_columnEnergy = 53,
    tp_columnReversal = 56,
    tp_columnCount = 72
};

static inline void readImpactRow(char* line, tpImpactRow* row) {
    double v[tp_columnCount] = { 0 };
    char* words[3] = { row->id, row->kind, row->phases };
    char* rest = NULL;
    int column = 0;
    for (char* cell = strtok_r(line, ",\n", &rest); cell != NULL && column < tp_columnCount;
         cell = strtok_r(NULL, ",\n", &rest), ++column) {
        if (column < 3) {
            snprintf(words[column], 64, "%s", cell);
        } else {
            v[column] = strtod(cell, NULL);
        }
    }
    row->bodies[0] = tpImpactBodyOfColumns(v + tp_columnFirstBody);
    row->bodies[1] = tpImpactBodyOfColumns(v + tp_columnSecondBody);
    row->impact = tpMakeImpact(&row->bodies[0], &row->bodies[1], tpMakeVec3(0.0, 0.0, 1.0));
    row->impact.friction = v[tp_columnFriction];
    row->impact.restitution = v[tp_columnRestitution];
    row->impulse = tpVectorOfColumns(v + tp_columnImpulse);
    row->compressionImpulse = v[tp_columnImpulse + 3];
    row->velocityAfter = tpVectorOfColumns(v + tp_columnVelocityAfter);
    row->energyBefore = v[tp_columnEnergy];
    row->energyLost = v[tp_columnEnergy] - v[tp_columnEnergy + 1];
    row->reversal = tpVectorOfColumns(v + tp_columnReversal);
    row->isReversalInCone = v[tp_columnReversal + 3] != 0.0;
}

// Number of rows read, 0 if the file cannot be opened.
static inline int readImpactTable(const char* path, tpImpactRow* rows, int capacity) {
    FILE* file = fopen(path, "r");
    if (file == NULL) {
        return 0;
    }
    char line[8192];
    int count = 0;
    bool isHeader = true;
    while (count < capacity && fgets(line, sizeof(line), file) != NULL) {
        if (!isHeader) {
            readImpactRow(line, &rows[count++]);
        }
        isHeader = false;
    }
    fclose(file);
    return count;
}

// Phases as the table writes them: slideC>stickC>stickR.
static inline void writePhases(const tpImpactResult* result, char* text, size_t size) {
    static const char* const names[] = { "slide", "stick", "reslip" };
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < result->phaseCount && used < size; ++i) {
        const tpImpactPhase* phase = &result->phases[i];
        used += (size_t)snprintf(text + used, size - used, "%s%s%c", i > 0 ? ">" : "",
                                 names[phase->mode], phase->isRestitution ? 'R' : 'C');
    }
}

#endif
