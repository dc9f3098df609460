#include "steppers/penalty/spring.h"
#include "math/elementary.h"

#include <math.h>

tpSpringForce tpContactSpring_At(const tpContactSpring* spring, double overlap) {
    tpSpringForce at = { 0.0, 0.0 };
    double factor = 1.0 + spring->damping * (overlap - spring->start) / spring->h;
    if (!(overlap > 0.0) || !(factor > 0.0)) {
        return at; // apart, or pulled apart faster than the damper lets it push
    }
    double elastic = spring->stiffness * tpPow(overlap, spring->exponent);
    at.force = elastic * factor;
    at.slope = elastic * (spring->exponent * factor / overlap + spring->damping / spring->h);
    return at;
}

double tpContactSpring_OverlapOf(const tpContactSpring* spring, double force) {
    return force > 0.0 ? tpPow(force / spring->stiffness, 1.0 / spring->exponent) : 0.0;
}
