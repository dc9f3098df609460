// Numbers as text, the same in every locale: 17 significant digits, so that reading gives the bits
// back.

#ifndef TIPPE_SRC_RECORDING_NUMBER_H
#define TIPPE_SRC_RECORDING_NUMBER_H

#include "tippe/base.h"

enum { tp_numberCapacity = 32 }; // bytes that any number fits into

// Writes what printf's %.17g writes in the C locale ("nan" without a sign), without a closing zero.
// Returns the number of bytes.
int tpFormatNumber(char* buffer, double value);

#endif
