// Series of a run for the page: the overview, one body's states, one body's contacts.

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "run_data.h"

enum { framesAtOnce = 64, contactsAtOnce = 4096 };

// Columns of the overview, in their order; viewer/src/source.js has the same list.
typedef struct overviewRow {
    double time, residual, penetration, kinetic, potential, externalWork, frictionLoss, impactLoss,
        contacts, iterations, failures, coneViolation, dissipationViolation, jointDrift, fallback,
        note, converged, undone, substeps, forceMax, forceBody, forceOther, sliding, sticking;
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
                          .note = findLabel(labels, report->note),
                          .converged = report->converged,
                          .undone = report->undone,
                          .substeps = report->substepCount,
                          .forceBody = -1.0,
                          .forceOther = -1.0 };
}

// The larger one; NaN where one of them is.
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
    if (row->forceMax > next->forceMax) {
        merged.forceMax = row->forceMax;
        merged.forceBody = row->forceBody;
        merged.forceOther = row->forceOther;
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

typedef struct overviewContext {
    overviewRow* rows;
} overviewContext;

static bool takeForOverview(int frame, const tpRecordedContact* contact, void* context) {
    const overviewContext* overview = context;
    overviewRow* row = &overview->rows[frame];
    row->sliding += contact->state == tp_sliding ? 1.0 : 0.0;
    row->sticking += contact->state == tp_sticking ? 1.0 : 0.0;
    // Impulses until the frame is done; then forces.
    double impulse = impulseOf(contact);
    if (impulse > row->forceMax) {
        row->forceMax = impulse;
        row->forceBody = contact->bodyA;
        row->forceOther = contact->bodyB;
    }
    return true;
}

static tpResult readOverview(tpSeriesCursor* cursor, seriesScratch* scratch, tpBytes* out,
                             tpError* error) {
    tpRunSource* source = cursor->source;
    overviewContext context = { scratch->rows };
    overviewRow row = { 0 };
    int64_t end =
        cursor->end - cursor->next < cursor->stride ? cursor->end : cursor->next + cursor->stride;
    if (cursor->stride == 1) {
        end = cursor->end - cursor->next < framesAtOnce ? cursor->end : cursor->next + framesAtOnce;
    }
    bool isFirst = true;
    while (cursor->next < end) {
        int now = end - cursor->next < framesAtOnce ? (int)(end - cursor->next) : framesAtOnce;
        tpResult result =
            source->class->readReports(source, cursor->next, now, scratch->reports, error);
        for (int k = 0; result == tp_success && k < now; ++k) {
            scratch->rows[k] = rowOfReport(&scratch->reports[k], cursor->labels);
        }
        if (result == tp_success) {
            result =
                walkContacts(source, cursor->next, now, scratch, takeForOverview, &context, error);
        }
        if (result != tp_success) {
            return result;
        }
        for (int k = 0; k < now; ++k) {
            scratch->rows[k].forceMax /= source->class->getStep(source, cursor->next + k);
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

// One state for every `stride` frames, the first of them.
static tpResult readBody(tpSeriesCursor* cursor, seriesScratch* scratch, tpBytes* out,
                         tpError* error) {
    int64_t atOnce = cursor->stride == 1 ? framesAtOnce : 1;
    int64_t left = cursor->end - cursor->next;
    int64_t now = left < atOnce ? left : atOnce;
    tpResult result = cursor->source->class->readBodyStates(
        cursor->source, cursor->body, cursor->next, now, scratch->states, error);
    if (result == tp_success &&
        !appendBytes(out, scratch->states, (size_t)now * tp_stateWidth * sizeof(double))) {
        result = tpError_OutOfMemory(error);
    }
    cursor->next = left <= cursor->stride && cursor->stride > 1 ? cursor->end
                   : cursor->stride > 1                         ? cursor->next + cursor->stride
                                                                : cursor->next + now;
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
    const double row[contactWidth] = { (double)(wanted->first + frame),
                                       contact->bodyA,
                                       contact->bodyB,
                                       (double)(uint32_t)contact->feature,
                                       (double)(uint32_t)(contact->feature >> 32),
                                       contact->point.x,
                                       contact->point.y,
                                       contact->point.z,
                                       contact->normal.x,
                                       contact->normal.y,
                                       contact->normal.z,
                                       contact->gap,
                                       contact->normalImpulse,
                                       contact->frictionImpulse.x,
                                       contact->frictionImpulse.y,
                                       contact->frictionImpulse.z,
                                       contact->torsionalImpulse,
                                       contact->slidingSpeed,
                                       (double)contact->state };
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
    switch (cursor->kind) {
    case tp_overviewSeries:
        return rows * (int64_t)sizeof(overviewRow);
    case tp_bodySeries:
        return rows * (int64_t)(tp_stateWidth * sizeof(double));
    default:
        return -1;
    }
}

tpResult readSeries(tpSeriesCursor* cursor, tpBytes* out, tpError* error) {
    if (cursor->next >= cursor->end) {
        return tp_success;
    }
    tpAllocator allocator = tpDefaultAllocator();
    seriesScratch* scratch = tpAllocate(&allocator, sizeof(seriesScratch));
    if (scratch == NULL) {
        return tpError_OutOfMemory(error);
    }
    tpResult result = cursor->kind == tp_overviewSeries ? readOverview(cursor, scratch, out, error)
                      : cursor->kind == tp_bodySeries
                          ? readBody(cursor, scratch, out, error)
                          : readBodyContacts(cursor, scratch, out, error);
    tpRelease(&allocator, scratch, sizeof(seriesScratch));
    return result;
}
