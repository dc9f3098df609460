// Frames, contacts and pairs of an open recording, by ranges.

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "recording/hdf5_read.h"
#include "recording/recording.h"
#include "recording/writer.h"

enum { rowsAtOnce = 512 }; // where columns are put together into structs

static tpResult checkRange(const tpRecording* recording, int64_t first, int64_t count,
                           int64_t length, tpError* error) {
    if (first < 0 || count < 0 || first > length || count > length - first) {
        return tpError_Set(error, tp_badInput, "%s: %lld rows from row %lld on of %lld",
                           recording->path, (long long)count, (long long)first, (long long)length);
    }
    return tp_success;
}

static tpResult damaged(const tpRecording* recording, const char* what, tpError* error) {
    return tpError_Set(error, tp_badInput, "%s: damaged: %s", recording->path, what);
}

// Rows of one column, `from` and `many` as tpReadRows has them.
static tpResult readPart(tpRecording* recording, int column, int64_t first, int64_t count, int from,
                         int many, void* values, tpError* error) {
    if (count == 0 || recording->columns[column] < 0) {
        return tp_success;
    }
    tpQuiet quiet = tpQuiet_Begin();
    bool done = tpReadRows(recording->columns[column], tpColumns[column].kind, (hsize_t)first,
                           (hsize_t)count, (hsize_t)from, (hsize_t)many, values);
    tpQuiet_End(quiet);
    return done ? tp_success : damaged(recording, tpColumns[column].path, error);
}

static tpResult readFrames(tpRecording* recording, int column, int64_t first, int64_t count,
                           void* values, tpError* error) {
    tpResult result = checkRange(recording, first, count, recording->info.frameCount, error);
    return result == tp_success ? readPart(recording, column, first, count, 0, 0, values, error)
                                : result;
}

// Rows of one thing of a block, "moving body" for instance.
static tpResult readThing(tpRecording* recording, int block, int thing, const char* name,
                          int64_t first, int64_t count, void* values, tpError* error) {
    tpResult result = checkRange(recording, first, count, recording->info.frameCount, error);
    int most = tpRecording_CountThings(recording, block);
    if (result == tp_success && (thing < 0 || thing >= most)) {
        return tpError_Set(error, tp_badInput, "%s: %s %d of %d", recording->path, name, thing,
                           most);
    }
    return result == tp_success ? readPart(recording, block, first, count, thing, 1, values, error)
                                : result;
}

tpResult tpRecording_ReadTimes(tpRecording* recording, int64_t first, int64_t count, double* times,
                               tpError* error) {
    TP_NEED(recording, tp_badInput);
    return readFrames(recording, tp_timeColumn, first, count, times, error);
}

tpResult tpRecording_ReadHashes(tpRecording* recording, int64_t first, int64_t count,
                                uint64_t* hashes, tpError* error) {
    TP_NEED(recording, tp_badInput);
    return readFrames(recording, tp_hashColumn, first, count, hashes, error);
}

tpResult tpRecording_ReadStates(tpRecording* recording, int64_t first, int64_t count,
                                double* states, tpError* error) {
    TP_NEED(recording, tp_badInput);
    return readFrames(recording, tp_statesColumn, first, count, states, error);
}

tpResult tpRecording_ReadReactions(tpRecording* recording, int64_t first, int64_t count,
                                   double* reactions, tpError* error) {
    TP_NEED(recording, tp_badInput);
    return readFrames(recording, tp_reactionsColumn, first, count, reactions, error);
}

tpResult tpRecording_ReadBodyStates(tpRecording* recording, int moving, int64_t first,
                                    int64_t count, double* states, tpError* error) {
    TP_NEED(recording, tp_badInput);
    return readThing(recording, tp_statesColumn, moving, "moving body", first, count, states,
                     error);
}

tpResult tpRecording_ReadCoordinates(tpRecording* recording, int64_t first, int64_t count,
                                     double* numbers, tpError* error) {
    TP_NEED(recording, tp_badInput);
    return readFrames(recording, tp_coordinatesColumn, first, count, numbers, error);
}

tpResult tpRecording_ReadCoordinate(tpRecording* recording, int coordinate, int64_t first,
                                    int64_t count, double* numbers, tpError* error) {
    TP_NEED(recording, tp_badInput);
    return readThing(recording, tp_coordinatesColumn, coordinate, "coordinate", first, count,
                     numbers, error);
}

tpResult tpRecording_ReadSensors(tpRecording* recording, int64_t first, int64_t count,
                                 double* values, tpError* error) {
    TP_NEED(recording, tp_badInput);
    return readFrames(recording, tp_sensorsColumn, first, count, values, error);
}

tpResult tpRecording_ReadSensorValue(tpRecording* recording, int value, int64_t first,
                                     int64_t count, double* values, tpError* error) {
    TP_NEED(recording, tp_badInput);
    return readThing(recording, tp_sensorsColumn, value, "value of a sensor", first, count, values,
                     error);
}

// Structs from columns ---------------------------------------------------------------------------

// Fills the columns of one kind of rows into structs of `size` bytes.
static tpResult readStructs(tpRecording* recording, tpColumnRows rows, int64_t first, int count,
                            void* structs, size_t size, tpError* error) {
    double values[3 * rowsAtOnce]; // room for any column
    for (int i = tp_pairOffsetColumn + 1; i < tp_columnCount; ++i) {
        const tpColumn* column = &tpColumns[i];
        if (column->rows != rows || recording->columns[i] < 0) {
            continue;
        }
        tpResult result = readPart(recording, i, first, count, 0, 0, values, error);
        if (result != tp_success) {
            return result;
        }
        size_t bytes = (size_t)column->width * tpColumnKind_Size(column->kind);
        for (int k = 0; k < count; ++k) {
            memcpy((char*)structs + (size_t)k * size + column->offset,
                   (const char*)values + (size_t)k * bytes, bytes);
        }
    }
    return tp_success;
}

static const char* findLabel(const tpRecording* recording, int label) {
    return label >= 0 ? recording->labels + (size_t)label * recording->labelStride : NULL;
}

static tpResult readReportRows(tpRecording* recording, int64_t first, int count,
                               tpStepReport* reports, tpFrameRow* rows, tpError* error) {
    memset(rows, 0, (size_t)count * sizeof(tpFrameRow));
    for (int k = 0; k < count; ++k) {
        for (int i = 0; i < tp_noteCapacity; ++i) {
            *tpFrameRow_Note(&rows[k], i) = -1; // recordings of earlier versions have one note
        }
    }
    tpResult result =
        readStructs(recording, tp_frameRows, first, count, rows, sizeof(tpFrameRow), error);
    for (int k = 0; result == tp_success && k < count; ++k) {
        // Bytes that are neither 0 nor 1 must not become a bool.
        unsigned char flags[2];
        memcpy(&flags[0], &rows[k].report.converged, 1);
        memcpy(&flags[1], &rows[k].report.undone, 1);
        if (rows[k].fallback >= recording->labelCount || flags[0] > 1 || flags[1] > 1) {
            return damaged(recording, "/reports", error);
        }
        reports[k] = rows[k].report;
        reports[k].fallback = findLabel(recording, rows[k].fallback);
        for (int i = 0; i < tp_noteCapacity; ++i) {
            int label = *tpFrameRow_Note(&rows[k], i);
            if (label >= recording->labelCount) {
                return damaged(recording, "/reports", error);
            }
            const char* note = findLabel(recording, label);
            if (note != NULL) {
                reports[k].notes[reports[k].noteCount++] = note;
            }
        }
    }
    return result;
}

static tpResult readCarrierRows(tpRecording* recording, int moving, int64_t first, int count,
                                tpRecordedCarrier* carriers, tpError* error) {
    int methods[rowsAtOnce];
    double steps[rowsAtOnce], errors[rowsAtOnce];
    tpResult result = readThing(recording, tp_carrierMethodColumn, moving, "moving body", first,
                                count, methods, error);
    if (result == tp_success) {
        result = readPart(recording, tp_carrierStepColumn, first, count, moving, 1, steps, error);
    }
    if (result == tp_success) {
        result = readPart(recording, tp_carrierErrorColumn, first, count, moving, 1, errors, error);
    }
    for (int k = 0; result == tp_success && k < count; ++k) {
        if (methods[k] >= recording->labelCount) {
            return damaged(recording, "/carriers", error);
        }
        carriers[k] = (tpRecordedCarrier){ findLabel(recording, methods[k]), steps[k], errors[k] };
    }
    return result;
}

tpResult tpRecording_ReadCarriers(tpRecording* recording, int moving, int64_t first, int64_t count,
                                  tpRecordedCarrier* carriers, tpError* error) {
    TP_NEED(recording, tp_badInput);
    tpResult result = checkRange(recording, first, count, recording->info.frameCount, error);
    if (result == tp_success && !recording->info.hasCarriers) {
        memset(carriers, 0, (size_t)count * sizeof(*carriers));
        return tp_success;
    }
    while (result == tp_success && count > 0) {
        int now = count < rowsAtOnce ? (int)count : rowsAtOnce;
        result = readCarrierRows(recording, moving, first, now, carriers, error);
        first += now;
        carriers += now;
        count -= now;
    }
    return result;
}

bool tpRecording_HasReport(const tpRecording* recording, const char* name) {
    TP_NEED(recording, false);
    static const char folder[] = "/reports/";
    for (int i = 0; i < tp_columnCount; ++i) {
        const char* path = tpColumns[i].path;
        if (strncmp(path, folder, strlen(folder)) == 0 &&
            strcmp(path + strlen(folder), name) == 0) {
            return recording->columns[i] >= 0;
        }
    }
    return false;
}

tpResult tpRecording_ReadReports(tpRecording* recording, int64_t first, int64_t count,
                                 tpStepReport* reports, tpError* error) {
    TP_NEED(recording, tp_badInput);
    tpResult result = checkRange(recording, first, count, recording->info.frameCount, error);
    size_t scratchSize = rowsAtOnce * sizeof(tpFrameRow);
    tpFrameRow* rows = result == tp_success ? tpAllocate(&recording->allocator, scratchSize) : NULL;
    if (result == tp_success && rows == NULL) {
        result = tpError_OutOfMemory(error);
    }
    while (result == tp_success && count > 0) {
        int now = count < rowsAtOnce ? (int)count : rowsAtOnce;
        result = readReportRows(recording, first, now, reports, rows, error);
        first += now;
        reports += now;
        count -= now;
    }
    tpRelease(&recording->allocator, rows, scratchSize);
    return result;
}

static tpResult readOffsets(tpRecording* recording, int column, int64_t most, int64_t first,
                            int64_t count, int64_t* offsets, tpError* error) {
    tpResult result = checkRange(recording, first, count, recording->info.frameCount, error);
    if (result == tp_success) {
        result = readPart(recording, column, first, count + 1, 0, 0, offsets, error);
    }
    int64_t before = 0;
    for (int64_t k = 0; result == tp_success && k <= count; ++k) {
        if (offsets[k] < before || offsets[k] > most) {
            return damaged(recording, tpColumns[column].path, error);
        }
        before = offsets[k];
    }
    return result;
}

tpResult tpRecording_ReadContactOffsets(tpRecording* recording, int64_t first, int64_t count,
                                        int64_t* offsets, tpError* error) {
    TP_NEED(recording, tp_badInput);
    return readOffsets(recording, tp_offsetColumn, recording->info.contactCount, first, count,
                       offsets, error);
}

tpResult tpRecording_ReadPairOffsets(tpRecording* recording, int64_t first, int64_t count,
                                     int64_t* offsets, tpError* error) {
    TP_NEED(recording, tp_badInput);
    return readOffsets(recording, tp_pairOffsetColumn, recording->info.pairCount, first, count,
                       offsets, error);
}

tpResult tpRecording_ReadPairs(tpRecording* recording, int64_t firstPair, int64_t count,
                               tpRecordedPair* pairs, tpError* error) {
    TP_NEED(recording, tp_badInput);
    tpResult result = checkRange(recording, firstPair, count, recording->info.pairCount, error);
    int bodyCount = recording->info.bodyCount;
    while (result == tp_success && count > 0) {
        int now = count < rowsAtOnce ? (int)count : rowsAtOnce;
        result = readStructs(recording, tp_pairRows, firstPair, now, pairs, sizeof(tpRecordedPair),
                             error);
        for (int k = 0; result == tp_success && k < now; ++k) {
            const tpRecordedPair* pair = &pairs[k];
            if (pair->bodyA >= bodyCount || pair->bodyB >= bodyCount || pair->bodyA < -1 ||
                pair->bodyB < -1 || pair->collisionCount < 0 || pair->microcollisionCount < 0) {
                result = damaged(recording, "/pairs", error);
            }
        }
        firstPair += now;
        pairs += now;
        count -= now;
    }
    return result;
}

tpResult tpRecording_ReadContacts(tpRecording* recording, int64_t firstContact, int64_t count,
                                  tpRecordedContact* contacts, tpError* error) {
    TP_NEED(recording, tp_badInput);
    tpResult result =
        checkRange(recording, firstContact, count, recording->info.contactCount, error);
    int bodyCount = recording->info.bodyCount;
    while (result == tp_success && count > 0) {
        int now = count < rowsAtOnce ? (int)count : rowsAtOnce;
        result = readStructs(recording, tp_contactRows, firstContact, now, contacts,
                             sizeof(tpRecordedContact), error);
        for (int k = 0; result == tp_success && k < now; ++k) {
            const tpRecordedContact* contact = &contacts[k];
            int state = 0;
            memcpy(&state, &contact->state, sizeof(int));
            if (contact->bodyA >= bodyCount || contact->bodyB >= bodyCount || contact->bodyA < -1 ||
                contact->bodyB < -1 || state < 0 || state > tp_sticking) {
                result = damaged(recording, "/contacts", error);
            }
        }
        firstContact += now;
        contacts += now;
        count -= now;
    }
    return result;
}

// Columns as they stand ---------------------------------------------------------------------------

static int64_t countRows(const tpRecording* recording, int column) {
    switch (tpColumns[column].rows) {
    case tp_contactRows:
        return recording->info.contactCount;
    case tp_pairRows:
        return recording->info.pairCount;
    default:
        return recording->info.frameCount +
               (column == tp_offsetColumn || column == tp_pairOffsetColumn ? 1 : 0);
    }
}

tpRecordedColumn tpRecording_GetColumn(const tpRecording* recording, int column) {
    TP_NEED(recording, (tpRecordedColumn){ 0 });
    tpRecordedColumn made = tpColumn_Describe(column);
    if (made.path == NULL) {
        return made;
    }
    int things = column < tp_blockCount ? tpRecording_CountThings(recording, column) : 1;
    made.width = things * tpColumns[column].width;
    made.rowCount = recording->columns[column] >= 0 ? countRows(recording, column) : 0;
    return made;
}

tpResult tpRecording_ReadColumn(tpRecording* recording, int column, int64_t first, int64_t count,
                                void* rows, tpError* error) {
    TP_NEED(recording, tp_badInput);
    tpRecordedColumn info = tpRecording_GetColumn(recording, column);
    if (info.path == NULL) {
        return tpError_Set(error, tp_badInput, "%s: there is no column %d", recording->path,
                           column);
    }
    tpResult result = checkRange(recording, first, count, info.rowCount, error);
    return result == tp_success ? readPart(recording, column, first, count, 0, 0, rows, error)
                                : result;
}

const char* tpRecording_GetLabel(const tpRecording* recording, int label) {
    TP_NEED(recording, NULL);
    return label < recording->labelCount ? findLabel(recording, label) : NULL;
}
