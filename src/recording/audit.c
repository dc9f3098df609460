// The audit of a run: sums and extremes of its reports, for programs and for people.

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/assert.h"
#include "recording/clock.h"
#include "recording/left_out.h"
#include "recording/number.h"
#include "tippe/recording.h"

void tpAudit_Start(tpAudit* audit, const tpWorld* world) {
    TP_NEED(audit, );
    memset(audit, 0, sizeof(*audit));
    audit->tolerance =
        fmax(tpWorld_GetOption(world, "tolerance"), tpWorld_GetOption(world, "certificate"));
    audit->startTime = audit->endTime = tpWorld_GetTime(world);
    audit->energyStart = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    audit->energyEnd = audit->energyStart;
    audit->leftOut = tpFindLeftOut(world);
    audit->wallStart = tpSecondsNow();
}

// The larger one; NaN if one of them is.
static double worse(double a, double b) {
    return isnan(a) || a > b ? a : b;
}

static void countFallback(tpAudit* audit, const char* name) {
    for (int i = 0; i < audit->fallbackCount; ++i) {
        if (strcmp(audit->fallbacks[i].name, name) == 0) {
            audit->fallbacks[i].count += 1;
            return;
        }
    }
    if (audit->fallbackCount < tp_auditFallbackCapacity) {
        audit->fallbacks[audit->fallbackCount++] = (tpFallbackCount){ name, 1 };
    } else {
        audit->otherFallbackCount += 1;
    }
}

static void countNote(tpAudit* audit, const char* text) {
    for (int i = 0; i < audit->noteCount; ++i) {
        if (strcmp(audit->notes[i].text, text) == 0) {
            audit->notes[i].count += 1;
            return;
        }
    }
    if (audit->noteCount < tp_auditNoteCapacity) {
        audit->notes[audit->noteCount++] = (tpNoteCount){ text, 1 };
    }
}

static void countViolations(tpAudit* audit, uint32_t violations) {
    if (violations == 0) {
        return;
    }
    audit->uncertifiedCount += 1;
    if (audit->firstUncertified == 0) {
        audit->firstUncertified = audit->stepCount;
    }
    for (int law = 0; law < tp_lawCount; ++law) {
        audit->violationCounts[law] += (violations >> law) & 1u;
    }
}

static void addFigures(tpAudit* audit, const tpStepReport* report) {
    for (int i = 0; i < tpFigureCount(); ++i) {
        int64_t* total = &audit->figures[i];
        int64_t now = report->figures[i];
        *total = !tpFigure(i)->isLevel ? *total + now : now > *total ? now : *total;
    }
}

void tpAudit_AddStep(tpAudit* audit, const tpStepReport* report) {
    TP_NEED(audit, );
    audit->stepCount += 1;
    audit->solveCount += report->solveCount;
    audit->iterationCount += report->iterationCount;
    audit->failureCount += report->failureCount;
    audit->substepCount += report->substepCount;
    audit->contactQueryCount += report->contactQueryCount;
    addFigures(audit, report);
    countViolations(audit, report->violations);
    audit->undoneCount += report->undone ? 1 : 0;
    audit->unconvergedCount += report->converged ? 0 : 1;
    if (!(report->residual <= audit->tolerance) && audit->firstAboveTolerance == 0) {
        audit->firstAboveTolerance = audit->stepCount;
    }
    audit->contactTotal += report->contactCount;
    audit->contactMax =
        report->contactCount > audit->contactMax ? report->contactCount : audit->contactMax;
    audit->endTime = report->time;
    audit->penetrationMax = worse(audit->penetrationMax, report->penetration);
    audit->residualMax = worse(audit->residualMax, report->residual);
    audit->dissipationMax = worse(audit->dissipationMax, report->dissipationViolation);
    audit->coneMax = worse(audit->coneMax, report->coneViolation);
    audit->jointDriftMax = worse(audit->jointDriftMax, report->jointDrift);
    double before = report->kineticBefore + report->potentialBefore;
    double after = report->kineticAfter + report->potentialAfter;
    audit->energyEnd = after;
    audit->energyIncreaseMax =
        worse(audit->energyIncreaseMax, after - before - report->externalWork);
    audit->energyExcessMax = worse(audit->energyExcessMax, report->energyExcess);
    audit->externalWork += report->externalWork;
    audit->frictionLoss += report->frictionLoss;
    audit->impactLoss += report->impactLoss;
    audit->numericalLoss += report->numericalLoss;
    audit->errorEstimate = report->errorEstimate;
    audit->gapShiftMax = worse(audit->gapShiftMax, report->gapShift);
    audit->roundingMax = worse(audit->roundingMax, report->rounding);
    audit->rigidResidualMax = worse(audit->rigidResidualMax, report->rigidResidual);
    audit->errorAsked = report->errorAsked;
    audit->work += report->work;
    if (report->fallback != NULL) {
        countFallback(audit, report->fallback);
    }
    for (int i = 0; i < report->noteCount; ++i) {
        countNote(audit, report->notes[i]);
    }
    audit->wallTime = tpSecondsNow() - audit->wallStart;
}

int64_t tpPeakMemory(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : 0;
}

// Text that grows in a buffer which may be too small ---------------------------------------------

typedef struct text {
    char* buffer;
    size_t size, length;
} text;

TP_PRINTF(2, 3)
static void put(text* out, const char* format, ...) {
    size_t room = out->length < out->size ? out->size - out->length : 0;
    va_list arguments;
    va_start(arguments, format);
    int wrote = vsnprintf(room > 0 ? out->buffer + out->length : NULL, room, format, arguments);
    va_end(arguments);
    out->length += wrote > 0 ? (size_t)wrote : 0;
}

static void putNumber(text* out, const char* key, double value) {
    char number[tp_numberCapacity] = "null";
    if (isfinite(value)) {
        number[tpFormatNumber(number, value)] = '\0';
    }
    put(out, ", \"%s\": %s", key, number);
}

static void putCount(text* out, const char* key, int64_t value) {
    put(out, ", \"%s\": %lld", key, (long long)value);
}

// The number of a step, or null if there is none.
static void putFirst(text* out, const char* key, int64_t step) {
    if (step > 0) {
        putCount(out, key, step);
    } else {
        put(out, ", \"%s\": null", key);
    }
}

// Names of fallbacks are identifiers of the library's, but a string is a string.
static void putString(text* out, const char* string) {
    put(out, "\"");
    for (const char* c = string; *c != '\0'; ++c) {
        if (*c == '"' || *c == '\\') {
            put(out, "\\%c", *c);
        } else if ((unsigned char)*c < 0x20) {
            put(out, "\\u%04x", (unsigned)*c);
        } else {
            put(out, "%c", *c);
        }
    }
    put(out, "\"");
}

static const char* const lawNames[tp_lawCount] = { [tp_contactLaw] = "contact",
                                                   [tp_energyLaw] = "energy",
                                                   [tp_jointLaw] = "joints",
                                                   [tp_overlapLaw] = "overlap" };

static double meanContacts(const tpAudit* audit) {
    return audit->stepCount > 0 ? (double)audit->contactTotal / (double)audit->stepCount : 0.0;
}

static double realtimeFactor(const tpAudit* audit) {
    return (audit->endTime - audit->startTime) / audit->wallTime;
}

// What the stepper left out, how often it fell back, and its notes.
static void putLists(text* out, const tpAudit* audit) {
    put(out, ", \"left_out\": [");
    for (int i = 0, listed = 0; i < tp_leftOutCount; ++i) {
        if ((audit->leftOut & tpLeftOutNames[i].bit) != 0) {
            put(out, "%s", listed++ > 0 ? ", " : "");
            putString(out, tpLeftOutNames[i].name);
        }
    }
    put(out, "], \"fallbacks\": {");
    for (int i = 0; i < audit->fallbackCount; ++i) {
        put(out, "%s", i > 0 ? ", " : "");
        putString(out, audit->fallbacks[i].name);
        put(out, ": %lld", (long long)audit->fallbacks[i].count);
    }
    put(out, "}, \"notes\": {");
    for (int i = 0; i < audit->noteCount; ++i) {
        put(out, "%s", i > 0 ? ", " : "");
        putString(out, audit->notes[i].text);
        put(out, ": %lld", (long long)audit->notes[i].count);
    }
    put(out, "}");
}

size_t tpAudit_FormatJson(const tpAudit* audit, char* buffer, size_t size) {
    TP_NEED(audit, 0);
    text out = { buffer, size, 0 };
    put(&out, "{\"steps\": %lld", (long long)audit->stepCount);
    putNumber(&out, "simulated_time", audit->endTime - audit->startTime);
    putNumber(&out, "wall_time", audit->wallTime);
    putNumber(&out, "realtime_factor", realtimeFactor(audit));
    putNumber(&out, "contacts_mean", meanContacts(audit));
    putCount(&out, "contacts_max", audit->contactMax);
    putNumber(&out, "penetration_max", audit->penetrationMax);
    putNumber(&out, "residual_max", audit->residualMax);
    putNumber(&out, "residual_tolerance", audit->tolerance);
    putFirst(&out, "first_step_above_tolerance", audit->firstAboveTolerance);
    putNumber(&out, "dissipation_max", audit->dissipationMax);
    putNumber(&out, "cone_max", audit->coneMax);
    putNumber(&out, "joint_drift_max", audit->jointDriftMax);
    putNumber(&out, "energy_start", audit->energyStart);
    putNumber(&out, "energy_end", audit->energyEnd);
    putNumber(&out, "energy_increase_max", audit->energyIncreaseMax);
    putNumber(&out, "energy_excess_max", audit->energyExcessMax);
    putNumber(&out, "external_work", audit->externalWork);
    putNumber(&out, "friction_loss", audit->frictionLoss);
    putNumber(&out, "impact_loss", audit->impactLoss);
    putNumber(&out, "numerical_loss", audit->numericalLoss);
    putNumber(&out, "error_estimate", audit->errorEstimate);
    putNumber(&out, "rigid_residual_max", audit->rigidResidualMax);
    putNumber(&out, "gap_shift_max", audit->gapShiftMax);
    putNumber(&out, "rounding_max", audit->roundingMax);
    putNumber(&out, "error_asked", audit->errorAsked);
    putNumber(&out, "work", audit->work);
    putCount(&out, "solves", audit->solveCount);
    putCount(&out, "iterations", audit->iterationCount);
    putCount(&out, "substeps", audit->substepCount);
    putCount(&out, "failures", audit->failureCount);
    putCount(&out, "contact_queries", audit->contactQueryCount);
    for (int i = 0; i < tpFigureCount(); ++i) {
        char key[64];
        snprintf(key, sizeof(key), "%s%s", tpFigure(i)->name, tpFigure(i)->isLevel ? "_max" : "");
        putCount(&out, key, audit->figures[i]);
    }
    putCount(&out, "uncertified_steps", audit->uncertifiedCount);
    for (int law = 0; law < tp_lawCount; ++law) {
        char key[64];
        snprintf(key, sizeof(key), "uncertified_%s", lawNames[law]);
        putCount(&out, key, audit->violationCounts[law]);
    }
    putFirst(&out, "first_uncertified_step", audit->firstUncertified);
    putCount(&out, "unconverged_steps", audit->unconvergedCount);
    putCount(&out, "undone_steps", audit->undoneCount);
    putLists(&out, audit);
    putCount(&out, "peak_memory_bytes", tpPeakMemory());
    put(&out, "}\n");
    return out.length;
}

static void putRow(text* out, const char* label, const char* format, ...) TP_PRINTF(3, 4);

static void putRow(text* out, const char* label, const char* format, ...) {
    char value[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof(value), format, arguments);
    va_end(arguments);
    put(out, "  %-22s %s\n", label, value);
}

// What only some steppers count.
static void putFigures(text* out, const tpAudit* audit) {
    for (int i = 0; i < tpFigureCount(); ++i) {
        const tpFigureInfo* figure = tpFigure(i);
        if (audit->figures[i] > 0) {
            char label[64];
            snprintf(label, sizeof(label), "%s", figure->name);
            for (char* c = label; *c != '\0'; ++c) {
                *c = *c == '_' ? ' ' : *c;
            }
            putRow(out, label, "%lld%s: %s", (long long)audit->figures[i],
                   figure->isLevel ? " at most" : "", figure->summary);
        }
    }
}

static const char* stepsOf(int64_t count) {
    return count == 1 ? "step" : "steps";
}

// Whether all steps are certified, and if not, which limits they exceed.
static void putVerdict(text* out, const tpAudit* audit) {
    static const char* const limitNames[tp_lawCount] = { [tp_contactLaw] = "the contact law",
                                                         [tp_energyLaw] = "energy",
                                                         [tp_jointLaw] = "joints",
                                                         [tp_overlapLaw] = "overlap" };
    if (audit->uncertifiedCount == 0) {
        putRow(out, "certified", "all steps");
        return;
    }
    putRow(out, "not certified", "%lld %s, first in step %lld", (long long)audit->uncertifiedCount,
           stepsOf(audit->uncertifiedCount), (long long)audit->firstUncertified);
    for (int law = 0; law < tp_lawCount; ++law) {
        if (audit->violationCounts[law] > 0) {
            putRow(out, "", "%lld beyond the limit of %s", (long long)audit->violationCounts[law],
                   limitNames[law]);
        }
    }
}

size_t tpAudit_FormatTable(const tpAudit* audit, char* buffer, size_t size) {
    TP_NEED(audit, 0);
    text out = { buffer, size, 0 };
    double simulated = audit->endTime - audit->startTime;
    double rate = (double)audit->stepCount / audit->wallTime;
    putRow(&out, "steps", "%lld", (long long)audit->stepCount);
    putRow(&out, "simulated time", "%.6g s", simulated);
    if (audit->stepCount > 0) {
        putRow(&out, "wall time", "%.3g s  (%.3g steps/s, %.3g x real time)", audit->wallTime, rate,
               realtimeFactor(audit));
    }
    putRow(&out, "contacts", "%.4g on average, %d at most", meanContacts(audit), audit->contactMax);
    putRow(&out, "deepest penetration", "%.3g m", audit->penetrationMax);
    if (audit->firstAboveTolerance > 0) {
        putRow(&out, "largest residual", "%.3g  (above %.3g first in step %lld)",
               audit->residualMax, audit->tolerance, (long long)audit->firstAboveTolerance);
    } else {
        putRow(&out, "largest residual", "%.3g", audit->residualMax);
    }
    if (audit->gapShiftMax > 0.0) {
        putRow(&out, "adjusted gaps", "by at most %.3g m, since contacts contradicted each other",
               audit->gapShiftMax);
    }
    if (audit->roundingMax > 0.0) {
        putRow(&out, "solved to rounding", "no residual below %.3g is possible",
               audit->roundingMax);
    }
    putRow(&out, "maximal dissipation", "violated by at most %.3g, relative",
           audit->dissipationMax);
    if (audit->jointDriftMax != 0.0) {
        putRow(&out, "joint drift", "at most %.3g m or rad", audit->jointDriftMax);
    }
    putRow(&out, "energy", "%.6g J at the start, %.6g J at the end", audit->energyStart,
           audit->energyEnd);
    putRow(&out, "energy increase", "at most %.3g J in a step", audit->energyIncreaseMax);
    putRow(&out, "work and losses",
           "%.4g J external work; %.4g J lost in friction, %.4g J in impacts (%.3g J numerical)",
           audit->externalWork, audit->frictionLoss, audit->impactLoss, audit->numericalLoss);
    putRow(&out, "solves", "%lld, %lld iterations, %lld failed", (long long)audit->solveCount,
           (long long)audit->iterationCount, (long long)audit->failureCount);
    if (audit->work > 0.0) {
        putRow(&out, "error estimate", "%.3g m at the end, %.3g m requested", audit->errorEstimate,
               audit->errorAsked);
    }
    putFigures(&out, audit);
    putVerdict(&out, audit);
    for (int i = 0; i < tp_leftOutCount; ++i) {
        if ((audit->leftOut & tpLeftOutNames[i].bit) != 0) {
            putRow(&out, "ignored", "%s: this stepper does not support it", tpLeftOutNames[i].name);
        }
    }
    for (int i = 0; i < audit->fallbackCount; ++i) {
        putRow(&out, i == 0 ? "fallbacks" : "", "%s in %lld %s", audit->fallbacks[i].name,
               (long long)audit->fallbacks[i].count, stepsOf(audit->fallbacks[i].count));
    }
    for (int i = 0; i < audit->noteCount; ++i) {
        putRow(&out, i == 0 ? "notes" : "", "%s (%lld %s)", audit->notes[i].text,
               (long long)audit->notes[i].count, stepsOf(audit->notes[i].count));
    }
    if (audit->undoneCount > 0) {
        putRow(&out, "steps undone", "%lld", (long long)audit->undoneCount);
    }
    putRow(&out, "peak memory", "%.1f MiB", (double)tpPeakMemory() / (1024.0 * 1024.0));
    return out.length;
}
