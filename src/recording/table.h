// The rows of the program's CSV tables, for a run and for the export of a recording alike.

#ifndef TIPPE_SRC_RECORDING_TABLE_H
#define TIPPE_SRC_RECORDING_TABLE_H

#include "recording/text_file.h"
#include "tippe/recording.h"

// Names as the header needs them: of the moving bodies, one by one.
tpResult tpTrajectory_PutHeader(tpTextFile* text, const char* (*getName)(const void*, int),
                                const void* context, int movingCount, tpError* error);
tpResult tpTrajectory_PutRow(tpTextFile* text, double time, const double* states, int movingCount,
                             tpError* error);

tpResult tpContacts_PutHeader(tpTextFile* text, tpError* error);
// `contact` has its numbers; its bodies go by the names given.
tpResult tpContacts_PutRow(tpTextFile* text, double time, const char* nameA, const char* nameB,
                           const tpRecordedContact* contact, tpError* error);

#endif
