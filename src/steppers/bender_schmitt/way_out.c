// How deep overlaps may stay where a large problem ends its drift (steppers/push_out.h).
//
// To 1e-4 m, the depth to which the paper resolves its contacts. What a step begins with is taken
// back no faster than its options say.

#include "steppers/bender_schmitt/way_out.h"

#include "dynamics/matching.h"
#include "steppers/bender_schmitt/missed.h"
#include "steppers/push_out.h"

// Rounds of moving and looking again.
enum { maxRounds = 32 };

// Overlaps that are left alone: those to which the paper resolves its contacts, m. Without such a
// rest the way out of one contact is the way into the next, and the contacts of a pile never come
// to an end.
static const double restOverlap = 1e-4;

// No more of what a certificate allows than this part: what rests so deep is certified.
static const double certifiedPart = 0.9;

// The same where a small problem has to hurry, in units of length: the next step solves it to the
// last digits again, and every overlap that it begins with makes that harder.
static const double fineRest = 1e-6;

// The overlap that contacts may keep, if no body is small.
static double mostRest(const tpBenderStep* step) {
    double rest = step->isHurried ? fineRest : restOverlap;
    return fmin(rest * step->system->units.length,
                certifiedPart * step->report->limits.penetration);
}

// What of an overlap is not taken back in this step: the speed is limited for those that it began
// with.
static double keptOf(const tpBenderStep* step, int start) {
    if (start < 0) {
        return 0.0;
    }
    const tpBenderSettings* settings = step->settings;
    // The gap of a missed contact is that of its row, which may be anything.
    double before = fmin(-step->start.contacts[start].gap, step->overlap);
    return before - fmin(settings->gamma * before, settings->pushOut * step->time.h);
}

// What touches now, and what of it is kept.
static bool take(tpPushOut* push) {
    tpBenderStep* step = push->context;
    tpArena* arena = &step->system->arena;
    push->found = step->found;
    push->foundCount = step->foundCount;
    push->kept = NULL;
    if (!(step->overlap > push->rest)) {
        return true;
    }
    const int* match = tpMatchContacts(step->start.contacts, step->start.contactCount, step->found,
                                       step->foundCount, arena);
    double* kept = TP_SCRATCH(arena, double, step->foundCount);
    for (int i = 0; match != NULL && kept != NULL && i < step->foundCount; ++i) {
        kept[i] = keptOf(step, match[i]);
    }
    push->kept = kept;
    return match != NULL && kept != NULL;
}

static bool look(tpPushOut* push) {
    return tpMissed_Look(push->context) && take(push);
}

bool tpWayOut_Settle(tpBenderStep* step) {
    tpPushOut push = { .system = step->system,
                       .rest = mostRest(step),
                       .rounds = maxRounds,
                       .look = look,
                       .context = step,
                       .report = step->report };
    return take(&push) && tpPushOut_Settle(&push);
}
