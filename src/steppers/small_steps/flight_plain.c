// Flights of bodies. One body at once.

#include "math/lanes_plain.h"

#include <string.h>

#include "steppers/small_steps/flights.h"

// What is done with that width.
#include "steppers/small_steps/wide_quats.h"

#include "steppers/small_steps/flight_lanes.h"

const tpFlightKernels tp_plainFlightKernels = TP_FLIGHT_KERNELS(1);
