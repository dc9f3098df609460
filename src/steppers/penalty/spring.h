// The force of one contact as a function of its overlap [Anitescu03, (2.2)].

#ifndef TIPPE_SRC_STEPPERS_PENALTY_SPRING_H
#define TIPPE_SRC_STEPPERS_PENALTY_SPRING_H

// Force stiffness overlap^exponent (1 + damping overlap rate), never negative. Over a step of h
// seconds the overlap grows from `start` (negative: a gap) at the rate (overlap - start) / h.
typedef struct tpContactSpring {
    double stiffness, exponent; // N/m^exponent, > 0; >= 1
    double damping;             // s/m, >= 0
    double start, h;            // m, s
} tpContactSpring;

typedef struct tpSpringForce {
    double force, slope; // N, N/m
} tpSpringForce;

// At an overlap >= 0 at the end of the step. The force is convex and does not fall as the overlap
// grows.
tpSpringForce tpContactSpring_At(const tpContactSpring* spring, double overlap);

// The overlap at which the force has the given value; used as a first guess, so without damping.
double tpContactSpring_OverlapOf(const tpContactSpring* spring, double force);

#endif
