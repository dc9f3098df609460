// The rows of the program's CSV tables, for a run and for the export of a recording alike.

#ifndef TIPPE_SRC_RECORDING_TABLE_H
#define TIPPE_SRC_RECORDING_TABLE_H

#include "recording/text_file.h"
#include "tippe/recording.h"

// The names of the header, without the end of its row; `getName` tells those of the moving bodies,
// one by one.
void tpTrajectory_PutNames(tpTextFile* text, const char* (*getName)(const void*, int),
                           const void* context, int movingCount);
tpResult tpTrajectory_PutRow(tpTextFile* text, double time, const double* states, int movingCount,
                             tpError* error);

void tpContacts_PutNames(tpTextFile* text);
// `contact` has its numbers; its bodies go by the names given.
tpResult tpContacts_PutRow(tpTextFile* text, double time, const char* nameA, const char* nameB,
                           const tpRecordedContact* contact, tpError* error);

#endif
