// The rows of the program's CSV tables, for a run and for the export of a recording alike.

#ifndef TIPPE_SRC_RECORDING_TABLE_H
#define TIPPE_SRC_RECORDING_TABLE_H

#include "recording/text_file.h"
#include "tippe/recording.h"

// Tells the names of moving bodies, of values of sensors, or of coordinates, one by one.
typedef const char* tpColumnNamer(const void* context, int index);

// The names of the header, without the end of its row.
void tpTrajectory_PutNames(tpTextFile* text, const void* context, tpColumnNamer* nameBody,
                           int movingCount, tpColumnNamer* nameValue, int valueCount);
tpResult tpTrajectory_PutRow(tpTextFile* text, double time, const double* states, int movingCount,
                             const double* values, int valueCount, tpError* error);

void tpJoints_PutNames(tpTextFile* text, const void* context, tpColumnNamer* nameCoordinate,
                       int count);
// `numbers` has tp_coordinateWidth for each coordinate.
tpResult tpJoints_PutRow(tpTextFile* text, double time, const double* numbers, int count,
                         tpError* error);

void tpContacts_PutNames(tpTextFile* text);
// `contact` has its numbers; its bodies go by the names given.
tpResult tpContacts_PutRow(tpTextFile* text, double time, const char* nameA, const char* nameB,
                           const tpRecordedContact* contact, tpError* error);

#endif
