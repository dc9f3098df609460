// See mixing.c for what mixing is. Velocities are made of the mixed impulses anew.

#include "sweeps/light_mixing.h"

#include <string.h>

#include "sweeps/light_kernels.h"

// A step larger than the smallest one by this, squared, starts anew.
static const double lostGrowth = 16.0;

_Static_assert((int)tp_lightMixed < (int)tp_lightFactors,
               "differences and a step are multiplied at once");

bool tpLightMixer_Create(tpLightMixer* mixer, const tpLightSweeper* light, tpArena* arena) {
    memset(mixer, 0, sizeof(*mixer));
    mixer->start = TP_SCRATCH(arena, float, light->impulseCount);
    mixer->step = TP_SCRATCH(arena, float, light->impulseCount);
    mixer->lastStep = TP_SCRATCH(arena, float, light->impulseCount);
    mixer->lastReached = TP_SCRATCH(arena, float, light->impulseCount);
    for (int i = 0; i < tp_lightMixed; ++i) {
        mixer->stepChange[i] = TP_SCRATCH(arena, float, light->impulseCount);
        mixer->reachedChange[i] = TP_SCRATCH(arena, float, light->impulseCount);
    }
    return !arena->failed;
}

void tpLightMixer_Begin(tpLightMixer* mixer, const tpLightSweeper* light) {
    size_t bytes = sizeof(float) * (size_t)light->impulseCount;
    memcpy(mixer->start, light->impulses, bytes);
    memcpy(mixer->lastReached, light->impulses, bytes);
    memset(mixer->lastStep, 0, bytes);
    mixer->kept = mixer->place = 0;
    mixer->hasLast = false;
    mixer->least = INFINITY;
}

// What the sweeps have changed, and the products of that with what they changed before. `gamma`
// receives those of the step.
static void measureStep(tpLightMixer* mixer, const tpLightSweeper* light,
                        double gamma[tp_lightMixed]) {
    int place = mixer->place, count = 0;
    tpLightChange change = { .reached = light->impulses,
                             .start = mixer->start,
                             .lastStep = mixer->lastStep,
                             .step = mixer->step,
                             .stepChange = mixer->stepChange[place],
                             .reachedChange = mixer->reachedChange[place],
                             .lastReached = mixer->lastReached };
    light->kernels->change(&change, light->impulseCount);
    if (mixer->hasLast) {
        mixer->kept = mixer->kept < tp_lightMixed ? mixer->kept + 1 : tp_lightMixed;
        mixer->place = (place + 1) % tp_lightMixed;
    }
    float* others[tp_lightMixed + 1];
    for (; count < mixer->kept; ++count) {
        others[count] = mixer->stepChange[count];
    }
    others[count] = mixer->step;
    double ofChange[tp_lightMixed + 1], ofStep[tp_lightMixed + 1];
    tpLightProducts products = { .weight = light->weight,
                                 .a = mixer->stepChange[place],
                                 .b = mixer->step,
                                 .others = others,
                                 .count = count + 1,
                                 .ofA = ofChange,
                                 .ofB = ofStep };
    light->kernels->products(&products, light->impulseCount);
    mixer->size = ofStep[count];
    for (int k = 0; k < count; ++k) {
        mixer->gram[place][k] = mixer->gram[k][place] = ofChange[k];
        gamma[k] = ofStep[k];
    }
}

static void swap(float** a, float** b) {
    float* kept = *a;
    *a = *b;
    *b = kept;
}

// The factors of the kept differences, from the products of the step. False if they say nothing.
static bool findFactors(const tpLightMixer* mixer, double gamma[tp_lightMixed]) {
    return mixer->kept > 0 && tpSolveMixing(mixer->gram, mixer->kept, gamma);
}

void tpLightMixer_End(tpLightMixer* mixer, tpLightSweeper* light) {
    double gamma[tp_lightMixed] = { 0.0 };
    measureStep(mixer, light, gamma);
    bool isLost = !(mixer->size <= lostGrowth * mixer->least);
    mixer->least = isLost ? mixer->size : fmin(mixer->least, mixer->size);
    if (isLost) {
        mixer->kept = mixer->place = 0;
    }
    if (findFactors(mixer, gamma)) {
        float factors[tp_lightMixed];
        for (int k = 0; k < mixer->kept; ++k) {
            factors[k] = (float)gamma[k];
        }
        light->kernels->mix(light->impulses, factors, mixer->reachedChange, mixer->kept,
                            light->impulseCount);
    }
    tpLight_Refresh(light);
    memcpy(mixer->start, light->impulses, sizeof(float) * (size_t)light->impulseCount);
    swap(&mixer->step, &mixer->lastStep);
    mixer->hasLast = true;
}
