// The most energy that bodies can gain in a step, from how it begins.

#ifndef TIPPE_SRC_DYNAMICS_MOST_GAIN_H
#define TIPPE_SRC_DYNAMICS_MOST_GAIN_H

#include "dynamics/kept_motion.h"

// Kinetic energy, J, that bodies which begin as `start` says can gain within h seconds, as an order
// of magnitude from above: what gravity, forces, springs, servos and motors can give on their way,
// and what bodies that are moved can strike into them. What is stored in contacts is left out. The
// joints of the system count their turns as they did at the start.
double tpSystem_MostGain(const tpSystem* system, const tpKeptMotion* start, double h);

#endif
