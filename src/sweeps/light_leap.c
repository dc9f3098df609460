// Where bodies are wedged, or several points bear a pair of faces, loads have to grow or to move by
// many times what a sweep changes until a contact opens or slips. Sweeps creep there: each makes
// the same step s as the one before, for hundreds of sweeps, and the residual stays as it is.
// Mixing is no help: the differences of equal steps are noise. Steps that shrink by a factor
//
//     q = s2 . W s1 / s1 . W s1
//
// come to an end after q / (1 - q) of them, if no contact changes its state before. So impulses go
// on by as many steps as are left, but no farther than to where contacts begin to leave their
// cones:
//
//     overshoot(a)^2 = sum W (min(0, r_n + a s_n)^2 + max(0, |r_T + a s_T| - mu (r_n + a s_n))^2)
//
// stays within four steps. What has left its cone is put back on it.

#include "sweeps/light_leap.h"

#include <string.h>

// Steps are equal if they differ by this part; the longest leap, in steps.
static const double equalPart = 0.3, longest = 4096.0;

// Overshoot of a leap, in steps, and its shortest.
static const double mostOvershoot = 4.0, shortest = 8.0;

bool tpLightLeap_Create(tpLightLeap* leap, const tpLightSweeper* light, tpArena* arena) {
    leap->first = TP_SCRATCH(arena, float, light->impulseCount);
    leap->second = TP_SCRATCH(arena, float, light->impulseCount);
    return !arena->failed;
}

void tpLightLeap_Keep(tpLightLeap* leap, const tpLightSweeper* light) {
    float* kept = leap->first;
    leap->first = leap->second;
    leap->second = kept;
    memcpy(kept, light->impulses, sizeof(float) * (size_t)light->impulseCount);
}

// Steps that are left, as those that were made say; 0: they are not equal. `size` receives that of
// the last one, squared.
static double stepsLeft(const tpLightLeap* leap, const tpLightSweeper* light, double* size) {
    double both = 0.0, before = 0.0;
    *size = 0.0;
    for (int i = 0; i < light->impulseCount; ++i) {
        double step = (double)light->impulses[i] - leap->second[i];
        double last = (double)leap->second[i] - leap->first[i];
        *size += light->weight[i] * step * step;
        both += light->weight[i] * step * last;
        before += light->weight[i] * last * last;
    }
    double difference = *size - 2.0 * both + before;
    if (!(difference < equalPart * equalPart * *size)) {
        return 0.0;
    }
    return both < before ? fmin(longest, both / (before - both)) : longest;
}

// The impulses of a place after `steps` more steps, on its cone if they have left it. Returns by
// how much they had, squared.
static double go(const tpLightLeap* leap, const tpLightSweeper* light, int place, double steps,
                 double r[3]) {
    int pack = place / tp_lightWidth, lane = place % tp_lightWidth;
    ptrdiff_t first = (ptrdiff_t)light->rowCount * tp_lightWidth * pack + lane;
    for (int k = 0; k < light->rowCount; ++k) {
        ptrdiff_t at = first + (ptrdiff_t)k * tp_lightWidth;
        double now = light->impulses[at];
        r[k] = light->loaded[at] + (now + steps * (now - leap->second[at]));
    }
    double below = fmin(0.0, r[0]), sum = light->weight[first] * below * below;
    r[0] = fmax(0.0, r[0]);
    if (light->rowCount == 1) {
        return sum;
    }
    double force = r[1] * r[1] + r[2] * r[2], most = light->packs[pack].muStatic[lane] * r[0];
    if (force > most * most) {
        force = sqrt(force);
        double limit = light->packs[pack].muDynamic[lane] * r[0], beyond = force - limit;
        sum += light->weight[first + tp_lightWidth] * beyond * beyond;
        r[1] *= limit / force;
        r[2] *= limit / force;
    }
    return sum;
}

static double overshoot(const tpLightLeap* leap, const tpLightSweeper* light, double steps) {
    double sum = 0.0, r[3];
    for (int place = 0; place < tp_lightWidth * light->packCount; ++place) {
        sum += light->contacts[place] >= 0 ? go(leap, light, place, steps, r) : 0.0;
    }
    return sum;
}

double tpLightLeap_Take(tpLightLeap* leap, tpLightSweeper* light) {
    double size, most = mostOvershoot * mostOvershoot, steps = 0.0, r[3];
    double left = stepsLeft(leap, light, &size);
    for (double next = shortest; next <= left; next *= 2.0) {
        if (overshoot(leap, light, next) > most * size) {
            break;
        }
        steps = next;
    }
    for (int place = 0; steps > 0.0 && place < tp_lightWidth * light->packCount; ++place) {
        ptrdiff_t first = (ptrdiff_t)light->rowCount * tp_lightWidth * (place / tp_lightWidth) +
                          place % tp_lightWidth;
        if (light->contacts[place] >= 0) {
            go(leap, light, place, steps, r);
            for (int k = 0; k < light->rowCount; ++k) {
                ptrdiff_t at = first + (ptrdiff_t)k * tp_lightWidth;
                light->impulses[at] = (float)(r[k] - light->loaded[at]);
            }
        }
    }
    if (steps > 0.0) {
        tpLight_Refresh(light);
    }
    return steps;
}
