// The recorder: takes frames from a world and hands them to the pump, or keeps them in memory.

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "dynamics/report.h"
#include "recording/kept_frames.h"
#include "recording/pair_tally.h"
#include "recording/pump.h"
#include "recording/roster.h"
#include "recording/shapes_text.h"
#include "recording/writer.h"

enum { labelLimit = 64, sceneNameLimit = 256, scenePathLimit = 4096 };

struct tpRecorder {
    tpAllocator allocator;
    int every;
    int64_t stepCount;    // told of so far
    int64_t contactTotal; // recorded so far
    int64_t pairTotal;    // likewise
    tpStepReport merged;  // of the steps since the last frame
    bool hasMerged;
    tpRoster roster;
    void* blocks[tp_blockCount]; // of the frame at hand
    TP_ARRAY(tpRecordedContact) contacts;
    tpPairTally pairs;              // of the steps since the last frame
    const char* labels[labelLimit]; // constant strings of the steppers'
    int labelCount;
    bool isKept, statesOnly;
    tpKeptFrames kept; // of a recorder in memory
    tpWriter writer;   // of one that writes a file
    tpPump pump;
};

tpRecorderDef tpDefaultRecorderDef(void) {
    return (tpRecorderDef){ .every = 1,
                            .compression = 1,
                            .sync = true,
                            .background = true,
                            .allocator = tpDefaultAllocator() };
}

// Reports ----------------------------------------------------------------------------------------

static tpStepReport reportStart(const tpWorld* world) {
    tpStepReport report = { .time = tpWorld_GetTime(world), .converged = true };
    report.kineticBefore = report.kineticAfter = tpWorld_GetKineticEnergy(world);
    report.potentialBefore = report.potentialAfter = tpWorld_GetPotentialEnergy(world);
    return report;
}

// The place of a label in the list of the file, adding it at the end where it is new.
static int findLabel(tpRecorder* recorder, const char* label) {
    if (label == NULL) {
        return -1;
    }
    for (int i = 0; i < recorder->labelCount; ++i) {
        if (recorder->labels[i] == label || strcmp(recorder->labels[i], label) == 0) {
            return i;
        }
    }
    if (recorder->labelCount == labelLimit) {
        return -1;
    }
    recorder->labels[recorder->labelCount] = label;
    return recorder->labelCount++;
}

// Frames -----------------------------------------------------------------------------------------

static bool captureContacts(tpRecorder* recorder, const tpWorld* world) {
    int count = 0;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    if (!TP_RESERVE(&recorder->allocator, recorder->contacts, count)) {
        return false;
    }
    recorder->contacts.count = count;
    for (int i = 0; i < count; ++i) {
        recorder->contacts.data[i] = tpRoster_Contact(&recorder->roster, &contacts[i]);
    }
    return true;
}

static void captureCarriers(tpRecorder* recorder, const tpWorld* world) {
    const tpRoster* roster = &recorder->roster;
    int* methods = recorder->blocks[tp_carrierMethodColumn];
    double* steps = recorder->blocks[tp_carrierStepColumn];
    double* errors = recorder->blocks[tp_carrierErrorColumn];
    for (int i = 0; roster->hasCarriers && i < roster->movingCount; ++i) {
        tpBodyId body = roster->bodies[roster->moving[i]].id;
        bool isThere = tpBody_IsValid(world, body);
        methods[i] = isThere ? findLabel(recorder, tpBody_GetCarrier(world, body)) : -1;
        steps[i] = isThere ? tpBody_GetCarrierStep(world, body) : NAN;
        errors[i] = isThere ? tpBody_GetErrorEstimate(world, body) : NAN;
    }
}

static void captureBlocks(tpRecorder* recorder, const tpWorld* world) {
    const tpRoster* roster = &recorder->roster;
    tpRoster_GetStates(roster, world, recorder->blocks[tp_statesColumn]);
    tpRoster_GetReactions(roster, world, recorder->blocks[tp_reactionsColumn]);
    tpRoster_GetCoordinates(roster, world, recorder->blocks[tp_coordinatesColumn]);
    tpRoster_GetSensors(roster, world, recorder->blocks[tp_sensorsColumn]);
    captureCarriers(recorder, world);
}

static tpResult recordFrame(tpRecorder* recorder, const tpWorld* world, const tpStepReport* report,
                            bool withContacts, tpError* error) {
    if (withContacts && !recorder->statesOnly && !captureContacts(recorder, world)) {
        return tpError_OutOfMemory(error);
    }
    recorder->contactTotal += recorder->contacts.count;
    recorder->pairTotal += recorder->pairs.pairs.count;
    int knownLabels = recorder->labelCount;
    captureBlocks(recorder, world);
    tpFrameData frame = { .row = { .step = tpWorld_GetStepCount(world),
                                   .hash = recorder->statesOnly ? 0 : tpWorld_HashState(world),
                                   .contactEnd = recorder->contactTotal,
                                   .pairEnd = recorder->pairTotal,
                                   .report = *report,
                                   .fallback = findLabel(recorder, report->fallback) },
                          .contacts = recorder->contacts.data,
                          .contactCount = recorder->contacts.count,
                          .pairs = recorder->pairs.pairs.data,
                          .pairCount = recorder->pairs.pairs.count };
    for (int i = 0; i < tp_noteCapacity; ++i) {
        const char* note = i < report->noteCount ? report->notes[i] : NULL;
        *tpFrameRow_Note(&frame.row, i) = findLabel(recorder, note);
    }
    for (int i = 0; i < tp_blockCount; ++i) {
        frame.blocks[i] = recorder->blocks[i];
    }
    const char* const* labels = recorder->labels + knownLabels;
    int labelCount = recorder->labelCount - knownLabels;
    tpResult result = recorder->isKept
                          ? tpKeptFrames_Add(&recorder->kept, &frame, labels, labelCount, error)
                          : tpPump_Add(&recorder->pump, &frame, labels, labelCount, error);
    tpPairTally_Clear(&recorder->pairs);
    return result;
}

tpResult tpRecorder_Step(tpRecorder* recorder, const tpWorld* world, const tpStepReport* report,
                         tpError* error) {
    TP_NEED(recorder, tp_badInput);
    if (recorder->hasMerged) {
        tpStepReport_Append(&recorder->merged, report);
    } else {
        recorder->merged = *report;
    }
    recorder->hasMerged = true;
    recorder->stepCount += 1;
    if (!recorder->statesOnly && !tpPairTally_AddStep(&recorder->pairs, &recorder->roster, world)) {
        return tpError_OutOfMemory(error);
    }
    if (recorder->stepCount % recorder->every != 0) {
        return tp_success;
    }
    recorder->hasMerged = false;
    return recordFrame(recorder, world, &recorder->merged, true, error);
}

// Creating and closing ---------------------------------------------------------------------------

// Bytes of a block of a frame.
static size_t sizeOfBlock(const tpRecorder* recorder, int block) {
    return (size_t)tpRoster_CountThings(&recorder->roster, block) * (size_t)tpColumns[block].width *
           tpColumnKind_Size(tpColumns[block].kind);
}

static bool allocateFrame(tpRecorder* recorder) {
    for (int i = 0; i < tp_blockCount; ++i) {
        size_t size = sizeOfBlock(recorder, i);
        recorder->blocks[i] = tpAllocate(&recorder->allocator, size);
        if (size > 0 && recorder->blocks[i] == NULL) {
            return false;
        }
    }
    return true;
}

static void freeRecorder(tpRecorder* recorder) {
    tpAllocator allocator = recorder->allocator;
    for (int i = 0; i < tp_blockCount; ++i) {
        tpRelease(&allocator, recorder->blocks[i], sizeOfBlock(recorder, i));
    }
    TP_FREE_ARRAY(&allocator, recorder->contacts);
    if (recorder->isKept) {
        tpKeptFrames_Destroy(&recorder->kept);
    }
    tpPairTally_Destroy(&recorder->pairs);
    tpRoster_Destroy(&recorder->roster);
    tpRelease(&allocator, recorder, sizeof(*recorder));
}

// The options that this stepper goes by.
static int collectOptions(const tpWorld* world, tpHeadOption* options) {
    int count = 0;
    for (int i = 0; i < tpOptionCount(); ++i) {
        const tpOptionInfo* info = tpOption(i);
        if (tpStepperUsesOption(tpWorld_GetStepper(world), i)) {
            double value = tpWorld_GetOption(world, info->name);
            bool choice = info->kind == tp_choiceOption;
            options[count++] =
                (tpHeadOption){ info->name, value, choice ? info->choices[(int)value] : NULL };
        }
    }
    return count;
}

// Opens the file with its head, or keeps the head with the frames.
static tpResult takeHead(tpRecorder* recorder, const tpRecorderDef* def, const tpWorld* world,
                         tpError* error) {
    size_t optionsSize = (size_t)(tpOptionCount() + 1) * sizeof(tpHeadOption);
    tpHeadOption* options = tpAllocate(&recorder->allocator, optionsSize);
    tpShapesText shapes;
    if (options == NULL ||
        !tpWriteShapesText(&recorder->roster, world, &recorder->allocator, &shapes)) {
        tpRelease(&recorder->allocator, options, optionsSize);
        return tpError_OutOfMemory(error);
    }
    char sceneName[sceneNameLimit] = "", scenePath[scenePathLimit] = "";
    strncat(scenePath, def->scenePath != NULL ? def->scenePath : "", sizeof(scenePath) - 1);
    strncat(sceneName, def->sceneName != NULL ? def->sceneName : "", sizeof(sceneName) - 1);
    tpRecordingHead head = { .roster = &recorder->roster,
                             .sceneText = def->sceneText != NULL ? def->sceneText : "",
                             .sceneName = sceneName,
                             .scenePath = scenePath,
                             .shapesText = shapes.data,
                             .stepper = tpStepperName(tpWorld_GetStepper(world)),
                             .options = options,
                             .optionCount = collectOptions(world, options),
                             .step = def->step,
                             .every = def->every,
                             .compression = def->compression,
                             .sync = def->sync,
                             .planar = tpWorld_IsPlanar(world),
                             .gravity = tpWorld_GetGravity(world) };
    tpResult result = tp_success;
    if (!recorder->isKept) {
        result = tpWriter_Create(&recorder->writer, def->path, &head, &recorder->allocator, error);
    } else if (!tpKeptFrames_SetHead(&recorder->kept, &head)) {
        result = tpError_OutOfMemory(error);
    }
    TP_FREE_ARRAY(&recorder->allocator, shapes);
    tpRelease(&recorder->allocator, options, optionsSize);
    return result;
}

tpRecorder* tpCreateRecorder(const tpRecorderDef* def, const tpWorld* world, tpError* error) {
    TP_NEED(def, NULL);
    if (def->every < 1 || def->compression < 0 || def->compression > 9) {
        tpError_Set(error, tp_badInput,
                    "a recorder needs every >= 1 and a compression from 0 to 9");
        return NULL;
    }
    if (def->statesOnly && def->path != NULL) {
        tpError_Set(error, tp_badInput, "a recorder of states only has no path");
        return NULL;
    }
    tpRecorder* recorder = tpAllocateZeroed(&def->allocator, sizeof(tpRecorder));
    if (recorder == NULL) {
        tpError_OutOfMemory(error);
        return NULL;
    }
    recorder->allocator = def->allocator;
    recorder->every = def->every;
    tpPairTally_Create(&recorder->pairs, &def->allocator);
    if (!tpRoster_Create(&recorder->roster, world, &def->allocator) || !allocateFrame(recorder)) {
        tpError_OutOfMemory(error);
        freeRecorder(recorder);
        return NULL;
    }
    recorder->isKept = def->path == NULL;
    recorder->statesOnly = def->statesOnly;
    if (recorder->isKept) {
        tpKeptFrames_Create(&recorder->kept, &recorder->roster, &def->allocator);
    }
    if (!recorder->statesOnly && takeHead(recorder, def, world, error) != tp_success) {
        freeRecorder(recorder);
        return NULL;
    }
    if (!recorder->isKept) {
        tpPump_Start(&recorder->pump, &recorder->writer, &recorder->roster, def->background,
                     &def->allocator);
    }
    tpStepReport start = reportStart(world);
    if (recordFrame(recorder, world, &start, false, error) != tp_success) {
        tpCloseRecorder(recorder, NULL, NULL);
        return NULL;
    }
    return recorder;
}

// The summary of an audit into `buffer`, or NULL.
static const char* writeSummary(const tpAudit* audit, char* buffer, size_t size) {
    return audit != NULL && tpAudit_FormatJson(audit, buffer, size) < size ? buffer : NULL;
}

enum { summaryLimit = 8192 };

tpResult tpCloseRecorder(tpRecorder* recorder, const tpAudit* audit, tpError* error) {
    if (recorder == NULL) {
        return tp_success;
    }
    tpResult pumped = tp_success, closed = tp_success;
    if (!recorder->isKept) {
        char buffer[summaryLimit];
        const char* summary = writeSummary(audit, buffer, sizeof(buffer));
        pumped = tpPump_Stop(&recorder->pump, error);
        closed = tpWriter_Close(&recorder->writer, summary, pumped == tp_success ? error : NULL);
    }
    freeRecorder(recorder);
    return pumped != tp_success ? pumped : closed;
}

// In memory --------------------------------------------------------------------------------------

tpResult tpRecorder_Save(const tpRecorder* recorder, const char* path, const tpAudit* audit,
                         tpError* error) {
    TP_NEED(recorder, tp_badInput);
    if (!recorder->isKept) {
        return tpError_Set(error, tp_badInput, "%s: the recorder writes another file", path);
    }
    char buffer[summaryLimit];
    return tpKeptFrames_Save(&recorder->kept, path, writeSummary(audit, buffer, sizeof(buffer)),
                             error);
}

tpRecordedColumn tpRecorder_GetColumn(const tpRecorder* recorder, int column) {
    TP_NEED(recorder, (tpRecordedColumn){ 0 });
    tpRecordedColumn made = tpColumn_Describe(column);
    if (recorder->isKept && made.path != NULL) {
        made.width = tpKeptFrames_GetWidth(&recorder->kept, column);
        made.rowCount = made.width > 0 ? recorder->kept.rowCounts[tpColumns[column].rows] : 0;
    }
    return made;
}

void tpRecorder_CopyColumn(const tpRecorder* recorder, int column, void* rows) {
    TP_NEED(recorder, );
    if (recorder->isKept && column >= 0 && column < tp_columnCount) {
        tpKeptFrames_CopyColumn(&recorder->kept, column, rows);
    }
}

const char* tpRecorder_GetCoordinateName(const tpRecorder* recorder, int coordinate) {
    TP_NEED(recorder, NULL);
    bool isThere = coordinate >= 0 && coordinate < recorder->roster.coordinateCount;
    return isThere ? recorder->roster.coordinates[coordinate].name : NULL;
}

const char* tpRecorder_GetSensorColumn(const tpRecorder* recorder, int value) {
    TP_NEED(recorder, NULL);
    bool isThere = value >= 0 && value < recorder->roster.valueCount;
    return isThere ? recorder->roster.values[value].name : NULL;
}

const char* tpRecorder_GetLabel(const tpRecorder* recorder, int label) {
    TP_NEED(recorder, NULL);
    return label >= 0 && label < recorder->labelCount ? recorder->labels[label] : NULL;
}
