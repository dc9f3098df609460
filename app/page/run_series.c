// Series of a run for the page: the overview, one body's states, one joint's reactions, one body's
// contacts.

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "page/run_data.h"

enum { framesAtOnce = 64, contactsAtOnce = 4096, reactionWidth = 6 };

// Columns of the overview, in their order; viewer/src/source.js has the same list.
typedef struct overviewRow {
    double time, residual, penetration, kinetic, potential, externalWork, frictionLoss, impactLoss,
        contacts, iterations, failures, coneViolation, dissipationViolation, jointDrift, fallback,
        note, converged, undone, substeps;
    double forceMax, forceBody, forceOther, forceFrame; // the contact with the largest force
    double sliding, sticking;                           // how many contacts do
    double slideSpeed, slideBody, slideOther;           // the contact that slides fastest
    double reactionMax, reactionJoint, reactionFrame;   // the joint with the largest force
    double energyIncrease, energyExcess;                // of the certificate, with its limits
    double residualLimit, energyLimit, driftLimit, penetrationLimit;
    double violations; // bits, 1 << tpLaw
} overviewRow;

_Static_assert(sizeof(overviewRow) == overviewWidth * sizeof(double), "the page counts on it");

static double findLabel(tpRunLabels* labels, const char* name) {
    if (name == NULL) {
        return -1.0;
    }
    for (int i = 0; i < labels->count; ++i) {
        if (labels->names[i] == name || strcmp(labels->names[i], name) == 0) {
            return i;
        }
    }
    if (labels->count == mostLabels) {
        return -1.0;
    }
    labels->names[labels->count] = name;
    return labels->count++;
}

static overviewRow rowOfReport(const tpStepReport* report, tpRunLabels* labels) {
    return (overviewRow){ .time = report->time,
                          .residual = report->residual,
                          .penetration = report->penetration,
                          .kinetic = report->kineticAfter,
                          .potential = report->potentialAfter,
                          .externalWork = report->externalWork,
                          .frictionLoss = report->frictionLoss,
                          .impactLoss = report->impactLoss,
                          .contacts = report->contactCount,
                          .iterations = report->iterationCount,
                          .failures = report->failureCount,
                          .coneViolation = report->coneViolation,
                          .dissipationViolation = report->dissipationViolation,
                          .jointDrift = report->jointDrift,
                          .fallback = findLabel(labels, report->fallback),
                          .note =
                              findLabel(labels, report->noteCount > 0 ? report->notes[0] : NULL),
                          .converged = report->converged,
                          .undone = report->undone,
                          .substeps = report->substepCount,
                          .forceBody = -1.0,
                          .forceOther = -1.0,
                          .forceFrame = -1.0,
                          .slideBody = -1.0,
                          .slideOther = -1.0,
                          .reactionJoint = -1.0,
                          .reactionFrame = -1.0,
                          .energyIncrease = report->energyIncrease,
                          .energyExcess = report->energyExcess,
                          .residualLimit = report->limits.residual,
                          .energyLimit = report->limits.energy,
                          .driftLimit = report->limits.jointDrift,
                          .penetrationLimit = report->limits.penetration,
                          .violations = report->violations };
}

// The larger one; NaN if one of them is.
static double worse(double a, double b) {
    return isnan(a) || a > b ? a : b;
}

// Adds a later frame to a row of several.
static void mergeRow(overviewRow* row, const overviewRow* next) {
    overviewRow merged = *next;
    merged.residual = worse(row->residual, next->residual);
    merged.penetration = worse(row->penetration, next->penetration);
    merged.coneViolation = worse(row->coneViolation, next->coneViolation);
    merged.dissipationViolation = worse(row->dissipationViolation, next->dissipationViolation);
    merged.jointDrift = worse(row->jointDrift, next->jointDrift);
    merged.externalWork += row->externalWork;
    merged.frictionLoss += row->frictionLoss;
    merged.impactLoss += row->impactLoss;
    merged.iterations += row->iterations;
    merged.failures += row->failures;
    merged.substeps += row->substeps;
    merged.contacts = worse(row->contacts, next->contacts);
    merged.sliding = worse(row->sliding, next->sliding);
    merged.sticking = worse(row->sticking, next->sticking);
    merged.fallback = next->fallback >= 0.0 ? next->fallback : row->fallback;
    merged.note = next->note >= 0.0 ? next->note : row->note;
    merged.converged = fmin(row->converged, next->converged);
    merged.undone = fmax(row->undone, next->undone);
    merged.energyIncrease = worse(row->energyIncrease, next->energyIncrease);
    merged.energyExcess = worse(row->energyExcess, next->energyExcess);
    merged.violations = (double)((uint32_t)row->violations | (uint32_t)next->violations);
    if (row->forceMax > next->forceMax) {
        merged.forceMax = row->forceMax;
        merged.forceBody = row->forceBody;
        merged.forceOther = row->forceOther;
        merged.forceFrame = row->forceFrame;
    }
    if (row->slideSpeed > next->slideSpeed) {
        merged.slideSpeed = row->slideSpeed;
        merged.slideBody = row->slideBody;
        merged.slideOther = row->slideOther;
    }
    if (row->reactionMax > next->reactionMax) {
        merged.reactionMax = row->reactionMax;
        merged.reactionJoint = row->reactionJoint;
        merged.reactionFrame = row->reactionFrame;
    }
    *row = merged;
}

// Scratch of one piece.
typedef struct seriesScratch {
    tpStepReport reports[framesAtOnce];
    overviewRow rows[framesAtOnce];
    int64_t offsets[framesAtOnce + 1];
    double states[framesAtOnce * tp_stateWidth];
    tpRecordedContact contacts[contactsAtOnce];
} seriesScratch;

// The sum of normal and friction impulse, which is what a body feels.
static double impulseOf(const tpRecordedContact* contact) {
    return hypot(contact->normalImpulse, tpLength(contact->frictionImpulse));
}

// Calls `take` for every contact of frames first to first + count - 1.
typedef bool (*contactTaker)(int frame, const tpRecordedContact* contact, void* context);
static tpResult walkContacts(tpRunSource* source, int64_t first, int count, seriesScratch* scratch,
                             contactTaker take, void* context, tpError* error) {
    tpResult result = source->class->readOffsets(source, first, count, scratch->offsets, error);
    int frame = 0;
    int64_t next = scratch->offsets[0];
    while (result == tp_success && next < scratch->offsets[count]) {
        int64_t left = scratch->offsets[count] - next;
        int64_t now = left < contactsAtOnce ? left : contactsAtOnce;
        result = source->class->readContacts(source, next, now, scratch->contacts, error);
        for (int64_t i = 0; result == tp_success && i < now; ++i) {
            while (next + i >= scratch->offsets[frame + 1]) {
                ++frame;
            }
            if (!take(frame, &scratch->contacts[i], context)) {
                result = tpError_OutOfMemory(error);
            }
        }
        next += now;
    }
    return result;
}

static bool takeForOverview(int frame, const tpRecordedContact* contact, void* context) {
    overviewRow* row = (overviewRow*)context + frame;
    row->sliding += contact->state == tp_sliding ? 1.0 : 0.0;
    row->sticking += contact->state == tp_sticking ? 1.0 : 0.0;
    if (contact->state == tp_sliding &&
        (row->slideBody < 0.0 || contact->slidingSpeed > row->slideSpeed)) {
        row->slideSpeed = contact->slidingSpeed;
        row->slideBody = contact->bodyA;
        row->slideOther = contact->bodyB;
    }
    // Impulses until the frame is done; then forces.
    double impulse = impulseOf(contact);
    if (impulse > row->forceMax) {
        row->forceMax = impulse;
        row->forceBody = contact->bodyA;
        row->forceOther = contact->bodyB;
    }
    return true;
}

// The largest force of a joint in each of some frames.
static tpResult addReactions(tpRunSource* source, int64_t first, int count, double* reactions,
                             overviewRow* rows, tpError* error) {
    int jointCount = source->class->getInfo(source).jointCount;
    tpResult result = jointCount == 0
                          ? tp_success
                          : source->class->readReactions(source, first, count, reactions, error);
    for (int k = 0; result == tp_success && k < count; ++k) {
        for (int joint = 0; joint < jointCount; ++joint) {
            const double* f =
                reactions + ((size_t)k * (size_t)jointCount + (size_t)joint) * reactionWidth;
            double force = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
            if (force > rows[k].reactionMax) {
                rows[k].reactionMax = force;
                rows[k].reactionJoint = joint;
                rows[k].reactionFrame = (double)(first + k);
            }
        }
    }
    return result;
}

// Rows of `count` frames, a row each.
static tpResult fillRows(tpSeriesCursor* cursor, int count, seriesScratch* scratch,
                         double* reactions, tpError* error) {
    tpRunSource* source = cursor->source;
    overviewRow* rows = scratch->rows;
    tpResult result =
        source->class->readReports(source, cursor->next, count, scratch->reports, error);
    for (int k = 0; result == tp_success && k < count; ++k) {
        rows[k] = rowOfReport(&scratch->reports[k], cursor->labels);
    }
    if (result == tp_success) {
        result = walkContacts(source, cursor->next, count, scratch, takeForOverview, rows, error);
    }
    for (int k = 0; result == tp_success && k < count; ++k) {
        rows[k].forceMax /= source->class->getStep(source, cursor->next + k);
        rows[k].forceFrame = rows[k].forceBody >= 0.0 ? (double)(cursor->next + k) : -1.0;
    }
    if (result == tp_success) {
        result = addReactions(source, cursor->next, count, reactions, rows, error);
    }
    return result;
}

static tpResult readOverview(tpSeriesCursor* cursor, seriesScratch* scratch, double* reactions,
                             tpBytes* out, tpError* error) {
    overviewRow row = { 0 };
    int64_t end =
        cursor->end - cursor->next < cursor->stride ? cursor->end : cursor->next + cursor->stride;
    if (cursor->stride == 1) {
        end = cursor->end - cursor->next < framesAtOnce ? cursor->end : cursor->next + framesAtOnce;
    }
    bool isFirst = true;
    while (cursor->next < end) {
        int now = end - cursor->next < framesAtOnce ? (int)(end - cursor->next) : framesAtOnce;
        tpResult result = fillRows(cursor, now, scratch, reactions, error);
        if (result != tp_success) {
            return result;
        }
        for (int k = 0; k < now && cursor->stride > 1; ++k) {
            if (isFirst) {
                row = scratch->rows[k];
            } else {
                mergeRow(&row, &scratch->rows[k]);
            }
            isFirst = false;
        }
        if (cursor->stride == 1 &&
            !appendBytes(out, scratch->rows, (size_t)now * sizeof(overviewRow))) {
            return tpError_OutOfMemory(error);
        }
        cursor->next += now;
    }
    if (cursor->stride > 1 && !appendBytes(out, &row, sizeof(row))) {
        return tpError_OutOfMemory(error);
    }
    return tp_success;
}

// Numbers in a row; 0 if it is not known how many rows there are.
static int rowWidth(tpSeriesKind kind) {
    switch (kind) {
    case tp_overviewSeries:
        return overviewWidth;
    case tp_bodySeries:
        return tp_stateWidth;
    case tp_jointSeries:
        return reactionWidth;
    case tp_coordinateSeries:
        return coordinateWidth;
    case tp_sensorSeries:
    case tp_carrierSeries:
        return 1;
    default:
        return 0;
    }
}

static tpResult readCarriers(tpSeriesCursor* cursor, int64_t count, double* places,
                             tpError* error) {
    const char* names[framesAtOnce];
    tpRunSource* source = cursor->source;
    tpResult result =
        source->class->readCarriers(source, cursor->body, cursor->next, count, names, error);
    for (int64_t k = 0; result == tp_success && k < count; ++k) {
        places[k] = findLabel(cursor->labels, names[k]);
    }
    return result;
}

// Rows of one body, joint or coordinate, `width` numbers each. Reactions come with all joints of a
// frame.
static tpResult readRows(tpSeriesCursor* cursor, int64_t count, seriesScratch* scratch,
                         double* reactions, tpError* error) {
    tpRunSource* source = cursor->source;
    switch (cursor->kind) {
    case tp_bodySeries:
        return source->class->readBodyStates(source, cursor->body, cursor->next, count,
                                             scratch->states, error);
    case tp_carrierSeries:
        return readCarriers(cursor, count, scratch->states, error);
    case tp_sensorSeries:
        return source->class->readSensor(source, cursor->body, cursor->next, count, scratch->states,
                                         error);
    case tp_coordinateSeries:
        return source->class->readCoordinates(source, cursor->body, cursor->next, count,
                                              scratch->states, error);
    default:
        return source->class->readReactions(source, cursor->next, count, reactions, error);
    }
}

// One state for every `stride` frames, the first of them; of a joint, one reaction.
static tpResult readStates(tpSeriesCursor* cursor, seriesScratch* scratch, double* reactions,
                           tpBytes* out, tpError* error) {
    tpRunSource* source = cursor->source;
    int64_t left = cursor->end - cursor->next;
    int64_t atOnce = cursor->stride == 1 ? framesAtOnce : 1;
    int64_t now = left < atOnce ? left : atOnce;
    bool isJoint = cursor->kind == tp_jointSeries;
    size_t width = (size_t)rowWidth(cursor->kind);
    size_t jointCount = (size_t)source->class->getInfo(source).jointCount;
    tpResult result = readRows(cursor, now, scratch, reactions, error);
    for (size_t k = 0; result == tp_success && k < (size_t)now; ++k) {
        const double* row = isJoint ? reactions + (k * jointCount + (size_t)cursor->body) * width
                                    : scratch->states + k * width;
        if (!appendBytes(out, row, width * sizeof(double))) {
            result = tpError_OutOfMemory(error);
        }
    }
    int64_t passed = cursor->stride == 1 ? now : cursor->stride;
    cursor->next = left <= passed ? cursor->end : cursor->next + passed;
    return result;
}

typedef struct contactContext {
    tpBytes* out;
    int64_t first;
    int body;
} contactContext;

static bool takeForBody(int frame, const tpRecordedContact* contact, void* context) {
    const contactContext* wanted = context;
    if (contact->bodyA != wanted->body && contact->bodyB != wanted->body) {
        return true;
    }
    double row[contactWidth] = { (double)(wanted->first + frame), contact->bodyA, contact->bodyB,
                                 (double)(uint32_t)contact->feature,
                                 (double)(uint32_t)(contact->feature >> 32) };
    listContactNumbers(contact, row + 5);
    row[5 + contactNumbers] = (double)contact->state;
    return appendBytes(wanted->out, row, sizeof(row));
}

static tpResult readBodyContacts(tpSeriesCursor* cursor, seriesScratch* scratch, tpBytes* out,
                                 tpError* error) {
    int64_t left = cursor->end - cursor->next;
    int now = left < framesAtOnce ? (int)left : framesAtOnce;
    contactContext context = { out, cursor->next, cursor->body };
    tpResult result =
        walkContacts(cursor->source, cursor->next, now, scratch, takeForBody, &context, error);
    cursor->next += now;
    return result;
}

int64_t sizeOfSeries(const tpSeriesCursor* cursor) {
    int64_t rows = (cursor->end - cursor->next + cursor->stride - 1) / cursor->stride;
    int width = rowWidth(cursor->kind);
    return width > 0 ? rows * (int64_t)((size_t)width * sizeof(double)) : -1;
}

tpResult readSeries(tpSeriesCursor* cursor, tpBytes* out, tpError* error) {
    if (cursor->next >= cursor->end) {
        return tp_success;
    }
    tpAllocator allocator = tpDefaultAllocator();
    seriesScratch* scratch = tpAllocate(&allocator, sizeof(seriesScratch));
    size_t joints = (size_t)cursor->source->class->getInfo(cursor->source).jointCount;
    size_t reactionBytes = (joints * framesAtOnce * reactionWidth + 1) * sizeof(double);
    double* reactions = tpAllocate(&allocator, reactionBytes);
    tpResult result = tp_outOfMemory;
    if (scratch == NULL || reactions == NULL) {
        tpError_OutOfMemory(error);
    } else if (cursor->kind == tp_overviewSeries) {
        result = readOverview(cursor, scratch, reactions, out, error);
    } else if (cursor->kind == tp_contactSeries) {
        result = readBodyContacts(cursor, scratch, out, error);
    } else {
        result = readStates(cursor, scratch, reactions, out, error);
    }
    tpRelease(&allocator, reactions, reactionBytes);
    tpRelease(&allocator, scratch, sizeof(seriesScratch));
    return result;
}
