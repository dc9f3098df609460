// See mixing.c for what mixing is. Velocities are made of the mixed impulses anew.

#include "sweeps/light_mixing.h"

#include <string.h>

#include "sweeps/light_kernels.h"

// A step larger than the smallest one by this, squared, starts anew.
static const double lostGrowth = 16.0;

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
    memcpy(mixer->start, light->impulses, sizeof(float) * (size_t)light->impulseCount);
    mixer->kept = mixer->place = 0;
    mixer->hasLast = false;
    mixer->least = INFINITY;
}

// Keeps the differences to the time before.
static void keepChange(tpLightMixer* mixer, const tpLightSweeper* light) {
    const tpLightKernels* kernels = light->kernels;
    int place = mixer->place;
    float* change = mixer->stepChange[place];
    kernels->subtract(change, mixer->step, mixer->lastStep, light->impulseCount);
    kernels->subtract(mixer->reachedChange[place], light->impulses, mixer->lastReached,
                      light->impulseCount);
    mixer->kept = mixer->kept < tp_lightMixed ? mixer->kept + 1 : tp_lightMixed;
    mixer->place = (place + 1) % tp_lightMixed;
    for (int k = 0; k < mixer->kept; ++k) {
        mixer->gram[place][k] = mixer->gram[k][place] =
            kernels->product(light->weight, change, mixer->stepChange[k], light->impulseCount);
    }
}

// The factors of the kept differences. False if they say nothing.
static bool findFactors(const tpLightMixer* mixer, const tpLightSweeper* light,
                        double gamma[tp_lightMixed]) {
    for (int i = 0; i < mixer->kept; ++i) {
        gamma[i] = light->kernels->product(light->weight, mixer->step, mixer->stepChange[i],
                                           light->impulseCount);
    }
    return tpSolveMixing(mixer->gram, mixer->kept, gamma);
}

static void swap(float** a, float** b) {
    float* kept = *a;
    *a = *b;
    *b = kept;
}

void tpLightMixer_End(tpLightMixer* mixer, tpLightSweeper* light) {
    const tpLightKernels* kernels = light->kernels;
    size_t bytes = sizeof(float) * (size_t)light->impulseCount;
    kernels->subtract(mixer->step, light->impulses, mixer->start, light->impulseCount);
    double gamma[tp_lightMixed];
    mixer->size = kernels->product(light->weight, mixer->step, mixer->step, light->impulseCount);
    bool isLost = !(mixer->size <= lostGrowth * mixer->least);
    mixer->least = isLost ? mixer->size : fmin(mixer->least, mixer->size);
    if (isLost) {
        mixer->kept = mixer->place = 0;
        mixer->hasLast = false;
    }
    if (mixer->hasLast) {
        keepChange(mixer, light);
    }
    memcpy(mixer->lastReached, light->impulses, bytes);
    if (mixer->kept > 0 && findFactors(mixer, light, gamma)) {
        for (int k = 0; k < mixer->kept; ++k) {
            kernels->add(light->impulses, (float)-gamma[k], mixer->reachedChange[k],
                         light->impulseCount);
        }
    }
    tpLight_Refresh(light);
    memcpy(mixer->start, light->impulses, bytes);
    swap(&mixer->step, &mixer->lastStep);
    mixer->hasLast = true;
}
