// What limits and drives coordinates, from the arguments of Python: dicts with the keys of scenes.

#ifndef TIPPE_PYTHON_LAWS_H
#define TIPPE_PYTHON_LAWS_H

#include <initializer_list>

#include "binding.h"

// A number that may be infinite; and one that is zero or positive besides.
double boundOf(nb::handle value, const char* name);
double effortOf(nb::handle value, const char* name);

// The value of a key of a dict, or null. Keys that are not among those known are refused once, by
// checkKeys.
nb::object itemOf(nb::handle map, const char* key);
void checkKeys(nb::handle map, const char* name, std::initializer_list<const char*> known);

// Each sets one law.
void readServo(nb::handle map, tpCoordinateDef& laws);
void readMotor(nb::handle map, tpCoordinateDef& laws);
void readSpring(nb::handle map, tpCoordinateDef& laws);
void readLimits(nb::handle value, tpCoordinateDef& laws);

// Laws of a coordinate by the keys of scenes. A key that is not given, or None, is left as it is.
void readLaws(nb::handle map, tpCoordinateDef& laws);

// As scenes have them, or None.
nb::object limitsOf(const tpCoordinateDef& laws);
nb::object springOf(const tpCoordinateDef& laws);
nb::object servoOf(const tpCoordinateDef& laws);

#endif
