// Flights of bodies. Four bodies at once, with AVX2. This file is compiled for it.

#include "math/lanes_avx2.h"

#include <string.h>

#include "steppers/small_steps/flights.h"

// What is done with that width.
#include "steppers/small_steps/wide_quats.h"

#include "steppers/small_steps/flight_lanes.h"

const tpFlightKernels tp_avx2FlightKernels = TP_FLIGHT_KERNELS(4);
