// tippe.Joint: a handle of a joint in a world.

#include "bodies.h"

void bindJoints(nb::module_&, nb::class_<World>&) {}
