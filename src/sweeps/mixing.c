// Anderson mixing over sweeps [Anderson65, WalkerNi11].
//
// A sweep (or a few) maps impulses r to G(r); f = G(r) - r. Of the last few differences df, dG
//
//     gamma = argmin |f - sum gamma_i df_i|,   r = G(r) - sum gamma_i dG_i
//
// which is what GMRES does where the contacts keep their states. Velocities are linear in the
// impulses and get the same treatment. Sizes are measured with the contacts' own responses. What
// the sum puts outside a cone, the next sweep takes back. A step that is much larger than the
// smallest so far came from contacts that changed their states: the differences before it say
// nothing any more, and are forgotten. Velocities take up rounding by the mixing, some 1e-9 of them
// after hundreds of sweeps; a caller makes them of the impulses anew before they count.

#include "sweeps/mixing.h"

#include <string.h>

enum { packImpulses = 3 * tp_packWidth, velocityNumbers = sizeof(tpVelocity) / sizeof(double) };

// A step larger than the smallest one by this, squared, starts anew.
static const double lostGrowth = 16.0;

// Added to the products, relative to their diagonal: differences may be nearly dependent.
static const double regularisation = 1e-9;

static int impulseNumbers(const tpMixer* mixer) {
    return mixer->packNumbers + mixer->jointNumbers;
}

static int allNumbers(const tpMixer* mixer) {
    return impulseNumbers(mixer) + mixer->bodyNumbers;
}

static void findWeights(tpMixer* mixer, const tpSweeper* sweeper) {
    static const int diagonal[3] = { 0, 3, 5 };
    double* weight = mixer->weight;
    for (int p = 0; p < sweeper->packCount; ++p) {
        for (int k = 0; k < 3; ++k, weight += tp_packWidth) {
            memcpy(weight, sweeper->packs[p].response[diagonal[k]], sizeof(double) * tp_packWidth);
        }
    }
    for (int i = 0; i < sweeper->jointCount; ++i, weight += 3) {
        weight[0] = weight[1] = weight[2] = sweeper->joints[i].response;
    }
}

bool tpMixer_Create(tpMixer* mixer, const tpSweeper* sweeper, tpArena* arena) {
    memset(mixer, 0, sizeof(*mixer));
    mixer->packNumbers = sweeper->packCount * packImpulses;
    mixer->jointNumbers = 3 * sweeper->jointCount;
    mixer->bodyNumbers = sweeper->bodyCount * velocityNumbers;
    int count = allNumbers(mixer);
    mixer->weight = TP_SCRATCH(arena, double, impulseNumbers(mixer));
    mixer->start = TP_SCRATCH(arena, double, count);
    mixer->step = TP_SCRATCH(arena, double, count);
    mixer->reached = TP_SCRATCH(arena, double, count);
    mixer->lastStep = TP_SCRATCH(arena, double, count);
    mixer->lastReached = TP_SCRATCH(arena, double, count);
    for (int i = 0; i < tp_mixedSweeps; ++i) {
        mixer->stepChange[i] = TP_SCRATCH(arena, double, count);
        mixer->reachedChange[i] = TP_SCRATCH(arena, double, count);
    }
    if (arena->failed) {
        return false;
    }
    findWeights(mixer, sweeper);
    return true;
}

static void read(const tpMixer* mixer, const tpSweeper* sweeper, double* numbers) {
    for (int p = 0; p < sweeper->packCount; ++p, numbers += packImpulses) {
        memcpy(numbers, sweeper->packs[p].impulse, sizeof(double) * packImpulses);
    }
    for (int i = 0; i < sweeper->jointCount; ++i, numbers += 3) {
        memcpy(numbers, sweeper->joints[i].impulse, sizeof(double) * 3);
    }
    if (mixer->bodyNumbers > 0) {
        memcpy(numbers, sweeper->velocities, sizeof(double) * (size_t)mixer->bodyNumbers);
    }
}

static void write(const tpMixer* mixer, tpSweeper* sweeper, const double* numbers) {
    for (int p = 0; p < sweeper->packCount; ++p, numbers += packImpulses) {
        memcpy(sweeper->packs[p].impulse, numbers, sizeof(double) * packImpulses);
    }
    for (int i = 0; i < sweeper->jointCount; ++i, numbers += 3) {
        memcpy(sweeper->joints[i].impulse, numbers, sizeof(double) * 3);
    }
    if (mixer->bodyNumbers > 0) {
        memcpy(sweeper->velocities, numbers, sizeof(double) * (size_t)mixer->bodyNumbers);
    }
}

void tpMixer_Begin(tpMixer* mixer, const tpSweeper* sweeper) {
    read(mixer, sweeper, mixer->start);
    mixer->kept = mixer->place = 0;
    mixer->hasLast = false;
    mixer->least = INFINITY;
}

// Weighted product of two arrays of impulses. Eight sums: the order of additions is the same on
// every machine.
static double product(const tpMixer* mixer, const double* a, const double* b) {
    int count = impulseNumbers(mixer), whole = count - count % 8;
    double sums[8] = { 0.0 }, sum = 0.0;
    for (int i = 0; i < whole; i += 8) {
        for (int k = 0; k < 8; ++k) {
            sums[k] += mixer->weight[i + k] * a[i + k] * b[i + k];
        }
    }
    for (int i = whole; i < count; ++i) {
        sum += mixer->weight[i] * a[i] * b[i];
    }
    for (int k = 0; k < 8; ++k) {
        sum += sums[k];
    }
    return sum;
}

// Keeps the differences to the time before.
static void keepChange(tpMixer* mixer) {
    int count = allNumbers(mixer), place = mixer->place;
    double *step = mixer->stepChange[place], *reached = mixer->reachedChange[place];
    for (int i = 0; i < count; ++i) {
        step[i] = mixer->step[i] - mixer->lastStep[i];
        reached[i] = mixer->reached[i] - mixer->lastReached[i];
    }
    mixer->kept = mixer->kept < tp_mixedSweeps ? mixer->kept + 1 : tp_mixedSweeps;
    mixer->place = (place + 1) % tp_mixedSweeps;
    for (int k = 0; k < mixer->kept; ++k) {
        mixer->gram[place][k] = mixer->gram[k][place] = product(mixer, step, mixer->stepChange[k]);
    }
}

bool tpSolveMixing(const double gram[tp_mixedSweeps][tp_mixedSweeps], int count, double* gamma) {
    double L[tp_mixedSweeps][tp_mixedSweeps];
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = gram[i][j] * (i == j ? 1.0 + regularisation : 1.0);
            for (int k = 0; k < j; ++k) {
                sum -= L[i][k] * L[j][k];
            }
            if (i == j && !(sum > 0.0)) {
                return false;
            }
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
    }
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < i; ++k) {
            gamma[i] -= L[i][k] * gamma[k];
        }
        gamma[i] /= L[i][i];
    }
    for (int i = count - 1; i >= 0; --i) {
        for (int k = i + 1; k < count; ++k) {
            gamma[i] -= L[k][i] * gamma[k];
        }
        gamma[i] /= L[i][i];
    }
    return true;
}

// The factors of the kept differences. False if they say nothing.
static bool findFactors(const tpMixer* mixer, double gamma[tp_mixedSweeps]) {
    for (int i = 0; i < mixer->kept; ++i) {
        gamma[i] = product(mixer, mixer->step, mixer->stepChange[i]);
    }
    return tpSolveMixing(mixer->gram, mixer->kept, gamma);
}

static void swap(double** a, double** b) {
    double* kept = *a;
    *a = *b;
    *b = kept;
}

void tpMixer_End(tpMixer* mixer, tpSweeper* sweeper) {
    int count = allNumbers(mixer);
    read(mixer, sweeper, mixer->reached);
    for (int i = 0; i < count; ++i) {
        mixer->step[i] = mixer->reached[i] - mixer->start[i];
    }
    double size = product(mixer, mixer->step, mixer->step), gamma[tp_mixedSweeps];
    bool isLost = !(size <= lostGrowth * mixer->least);
    mixer->least = isLost ? size : fmin(mixer->least, size);
    if (isLost) {
        mixer->kept = mixer->place = 0;
        mixer->hasLast = false;
    }
    if (mixer->hasLast) {
        keepChange(mixer);
    }
    memcpy(mixer->start, mixer->reached, sizeof(double) * (size_t)count);
    if (mixer->kept > 0 && findFactors(mixer, gamma)) {
        for (int k = 0; k < mixer->kept; ++k) {
            const double* change = mixer->reachedChange[k];
            for (int i = 0; i < count; ++i) {
                mixer->start[i] -= gamma[k] * change[i];
            }
        }
        write(mixer, sweeper, mixer->start);
    }
    swap(&mixer->step, &mixer->lastStep);
    swap(&mixer->reached, &mixer->lastReached);
    mixer->hasLast = true;
}
