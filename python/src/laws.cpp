#include "laws.h"

#include <cmath>

// Infinity is a limit that there is not.
double boundOf(nb::handle value, const char* name) {
    double number = PyFloat_Check(value.ptr()) ? PyFloat_AsDouble(value.ptr()) : 0.0;
    return std::isinf(number) ? number : numberOf(value, name);
}

double effortOf(nb::handle value, const char* name) {
    double effort = boundOf(value, name);
    if (!(effort >= 0.0)) {
        raiseValue("%s: expected a number, zero or positive, got %g", name, effort);
    }
    return effort;
}

// Laws from arguments -----------------------------------------------------------------------------

nb::object itemOf(nb::handle map, const char* key) {
    PyObject* value = PyMapping_GetItemString(map.ptr(), key);
    if (value == nullptr) {
        PyErr_Clear();
    }
    return nb::steal(value);
}

void checkKeys(nb::handle map, const char* name, std::initializer_list<const char*> known) {
    if (!PyMapping_Check(map.ptr()) || PyUnicode_Check(map.ptr()) || PyList_Check(map.ptr()) ||
        PyTuple_Check(map.ptr())) {
        raiseValue("%s: expected a dict", name);
    }
    nb::object keys = nb::steal(PyMapping_Keys(map.ptr()));
    for (nb::handle key : nb::iter(keys)) {
        std::string text = textOf(key, name), list;
        bool isKnown = false;
        for (const char* item : known) {
            isKnown = isKnown || text == item;
            list += (list.empty() ? "" : ", ") + std::string(item);
        }
        if (!isKnown) {
            raiseValue("%s: there is no key \"%s\"; there are %s", name, text.c_str(),
                       list.c_str());
        }
    }
}

static double itemNumber(nb::handle map, const char* name, const char* key, double otherwise,
                         Range range = Range::any) {
    nb::object value = itemOf(map, key);
    if (!value.is_valid()) {
        return otherwise;
    }
    std::string full = std::string(name) + "." + key;
    return numberOf(value, full.c_str(), range);
}

void readServo(nb::handle map, tpCoordinateDef& laws) {
    checkKeys(map, "servo", { "target", "speed", "stiffness", "damping", "effort" });
    laws.hasServo = true;
    laws.servo.target = itemNumber(map, "servo", "target", 0.0);
    laws.servo.speed = itemNumber(map, "servo", "speed", 0.0);
    laws.servo.stiffness = itemNumber(map, "servo", "stiffness", 0.0, Range::notNegative);
    laws.servo.damping = itemNumber(map, "servo", "damping", 0.0, Range::notNegative);
    nb::object effort = itemOf(map, "effort");
    laws.servo.effort = effort.is_valid() && !effort.is_none() ? effortOf(effort, "servo.effort")
                                                               : static_cast<double>(INFINITY);
}

void readMotor(nb::handle map, tpCoordinateDef& laws) {
    checkKeys(map, "motor", { "speed", "effort" });
    for (const char* key : { "speed", "effort" }) {
        if (!itemOf(map, key).is_valid()) {
            raiseValue("motor: needs \"%s\"", key);
        }
    }
    laws.hasMotor = true;
    laws.motor.speed = itemNumber(map, "motor", "speed", 0.0);
    laws.motor.effort = itemNumber(map, "motor", "effort", 0.0, Range::notNegative);
}

void readSpring(nb::handle map, tpCoordinateDef& laws) {
    checkKeys(map, "spring", { "stiffness", "damping", "rest" });
    laws.hasSpring = true;
    laws.spring.stiffness = itemNumber(map, "spring", "stiffness", 0.0, Range::notNegative);
    laws.spring.damping = itemNumber(map, "spring", "damping", 0.0, Range::notNegative);
    laws.spring.rest = itemNumber(map, "spring", "rest", 0.0);
}

void readLimits(nb::handle value, tpCoordinateDef& laws) {
    laws.hasLimits = !value.is_none();
    if (!laws.hasLimits) {
        return;
    }
    if (!PySequence_Check(value.ptr()) || PySequence_Size(value.ptr()) != 2) {
        PyErr_Clear();
        raiseValue("limits: expected two numbers, the lower first, or None");
    }
    for (int i = 0; i < 2; ++i) {
        nb::object bound = nb::steal(PySequence_GetItem(value.ptr(), i));
        laws.limits[i] = boundOf(bound, "limits");
    }
    if (!(laws.limits[0] <= laws.limits[1])) {
        raiseValue("limits: expected the lower one first, got %g and %g", laws.limits[0],
                   laws.limits[1]);
    }
}

void readLaws(nb::handle map, tpCoordinateDef& laws) {
    auto given = [&](const char* key) {
        nb::object value = itemOf(map, key);
        return value.is_valid() && value.is_none() ? nb::object() : value;
    };
    if (nb::object zero = given("zero")) {
        laws.zero = numberOf(zero, "zero");
    }
    if (nb::object limits = given("limits")) {
        readLimits(limits, laws);
    }
    if (nb::object motor = given("motor")) {
        readMotor(motor, laws);
    }
    if (nb::object servo = given("servo")) {
        readServo(servo, laws);
    }
    if (nb::object spring = given("spring")) {
        readSpring(spring, laws);
    }
    if (nb::object armature = given("armature")) {
        laws.armature = numberOf(armature, "armature", Range::notNegative);
    }
    if (nb::object damping = given("damping")) {
        laws.damping = numberOf(damping, "damping", Range::notNegative);
    }
    if (nb::object friction = given("friction")) {
        laws.friction = numberOf(friction, "friction", Range::notNegative);
    }
}

nb::object limitsOf(const tpCoordinateDef& laws) {
    return laws.hasLimits ? nb::object(nb::make_tuple(laws.limits[0], laws.limits[1])) : nb::none();
}

nb::object springOf(const tpCoordinateDef& laws) {
    if (!laws.hasSpring) {
        return nb::none();
    }
    nb::dict made;
    made["stiffness"] = laws.spring.stiffness;
    made["damping"] = laws.spring.damping;
    made["rest"] = laws.spring.rest;
    return made;
}

nb::object servoOf(const tpCoordinateDef& laws) {
    if (!laws.hasServo) {
        return nb::none();
    }
    nb::dict made;
    made["target"] = laws.servo.target;
    made["speed"] = laws.servo.speed;
    made["stiffness"] = laws.servo.stiffness;
    made["damping"] = laws.servo.damping;
    made["effort"] = laws.servo.effort;
    return made;
}
