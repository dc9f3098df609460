// tippe.Joint and tippe.Axis: handles of a joint in a world and of its coordinates; coordinates of
// all joints as arrays.

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>

#include "bodies.h"
#include "laws.h"

namespace {

// One coordinate of a joint. Joint is the handle of the whole, and of its first coordinate.
struct Axis {
    nb::object owner;
    World* world;
    tpJointId id;
    int coordinate;
};

struct Joint : Axis {};

// The joint, checked to be there; what was written to arrays of states has reached the world.
tpWorld* there(const Axis& axis) {
    use(*axis.world);
    if (!tpJoint_IsValid(axis.world->world, axis.id)) {
        raiseValue("this joint was destroyed");
    }
    pushViews(*axis.world);
    return axis.world->world;
}

// The same for what only joints with a coordinate have.
tpWorld* moving(const Axis& axis) {
    tpWorld* world = there(axis);
    if (axis.coordinate >= tpJoint_GetCoordinateCount(world, axis.id)) {
        raiseValue("joint \"%s\": a %s joint has no coordinate", tpJoint_GetName(world, axis.id),
                   tpJointTypeName(tpJoint_GetDef(world, axis.id).type));
    }
    return world;
}

tpCoordinateDef lawsOf(const Axis& axis) {
    return tpJoint_GetCoordinate(moving(axis), axis.id, axis.coordinate);
}

// The servo; where there is none, one that does nothing.
tpServo servoOr(const tpCoordinateDef& laws) {
    return laws.hasServo ? laws.servo : tpDefaultCoordinateDef().servo;
}

template <typename Change> void changeLaws(const Axis& axis, Change change) {
    tpCoordinateDef laws = lawsOf(axis);
    change(laws);
    tpError error = {};
    if (tpJoint_SetCoordinate(axis.world->world, axis.id, axis.coordinate, &laws, &error) !=
        tp_success) {
        raiseError(error);
    }
}

// Changes the servo of a coordinate, which has one from then on.
template <typename Change> void changeServo(const Axis& axis, Change change) {
    changeLaws(axis, [&](tpCoordinateDef& laws) {
        laws.servo = servoOr(laws);
        laws.hasServo = true;
        change(laws.servo);
    });
}

// Making and finding ------------------------------------------------------------------------------

tpJointType typeOf(nb::handle value) {
    std::string name = textOf(value, "type"), known;
    for (int i = 0; i < tp_jointTypeCount; ++i) {
        auto type = static_cast<tpJointType>(i);
        if (name == tpJointTypeName(type)) {
            return type;
        }
        known += (known.empty() ? "" : ", ") + std::string(tpJointTypeName(type));
    }
    raiseValue("type: there is no joint \"%s\"; there are %s", name.c_str(), known.c_str());
}

struct AxisList {
    std::vector<tpAxisDef> axes;
    std::vector<std::string> names;
};

AxisList axesOf(nb::handle value) {
    AxisList list;
    if (value.is_none()) {
        return list;
    }
    for (nb::handle item : nb::iter(value)) {
        checkKeys(item, "axes",
                  { "name", "turn", "slide", "zero", "limits", "motor", "servo", "spring",
                    "armature", "damping", "friction" });
        tpAxisDef axis = {};
        axis.coordinate = tpDefaultCoordinateDef();
        nb::object turn = itemOf(item, "turn"), slide = itemOf(item, "slide"),
                   name = itemOf(item, "name");
        if (turn.is_valid() == slide.is_valid()) {
            raiseValue("axes: each needs a \"turn\" or a \"slide\"");
        }
        axis.kind = turn.is_valid() ? tp_turnAxis : tp_slideAxis;
        axis.direction = directionOf(turn.is_valid() ? turn : slide, "axes");
        readLaws(item, axis.coordinate);
        list.axes.push_back(axis);
        list.names.push_back(name.is_valid() && !name.is_none() ? textOf(name, "name") : "");
    }
    if (list.axes.empty() || list.axes.size() > tp_maxCoordinates) {
        raiseValue("axes: expected one to six, got %zu", list.axes.size());
    }
    for (size_t i = 0; i < list.axes.size(); ++i) {
        list.axes[i].name = list.names[i].empty() ? nullptr : list.names[i].c_str();
    }
    return list;
}

Joint makeJoint(nb::handle owner, World& world, tpJointId id) {
    Joint joint;
    joint.owner = nb::borrow(owner);
    joint.world = &world;
    joint.id = id;
    joint.coordinate = 0;
    return joint;
}

// Where a body's frame is; that of another one for the world.
tpVec3 originOf(const World& world, tpBodyId body, tpBodyId otherwise) {
    tpBodyId id = body.slot != 0 ? body : otherwise;
    return id.slot != 0 ? tpBody_GetPose(world.world, id).position : tpMakeVec3(0.0, 0.0, 0.0);
}

Joint addJoint(nb::handle owner, nb::handle type, nb::handle bodyA, nb::handle bodyB,
               nb::handle name, nb::handle anchor, nb::handle anchorB, nb::handle axis,
               nb::handle axis2, nb::handle axes, nb::handle ratio, nb::handle pitch,
               nb::handle collide, const nb::kwargs& laws) {
    World& world = nb::cast<World&>(owner);
    use(world);
    pushViews(world);
    checkKeys(laws, "add_joint",
              { "zero", "limits", "motor", "servo", "spring", "armature", "damping", "friction" });
    tpJointDef def = tpDefaultJointDef();
    def.type = typeOf(type);
    std::string text = name.is_none() ? "" : textOf(name, "name");
    if (!text.empty() && tpWorld_FindJoint(world.world, text.c_str()).slot != 0) {
        raiseValue("name: there is a joint \"%s\" already", text.c_str());
    }
    def.name = text.c_str();
    def.bodyA = bodyOf(world, bodyA, "body_a", true);
    def.bodyB = bodyOf(world, bodyB, "body_b", true);
    bool hasTwo = def.type == tp_distanceJoint || def.type == tp_springJoint;
    tpVec3 endB = originOf(world, def.bodyB, def.bodyA);
    def.anchorA = !anchor.is_none() ? vectorOf(anchor, "anchor")
                  : hasTwo          ? originOf(world, def.bodyA, tpBodyId{})
                                    : endB;
    def.anchorB = !anchorB.is_none() ? vectorOf(anchorB, "anchor_b") : hasTwo ? endB : def.anchorA;
    def.axis = directionOf(axis, "axis");
    def.secondAxis = axis2.is_none() ? tpMakeVec3(0, 0, 0) : directionOf(axis2, "axis2");
    AxisList list = axesOf(axes);
    def.axes = list.axes.data();
    def.axisCount = static_cast<int>(list.axes.size());
    def.ratio = numberOf(ratio, "ratio");
    def.pitch = numberOf(pitch, "pitch");
    def.collide = flagOf(collide, "collide");
    readLaws(laws, def.coordinate);
    tpError error = {};
    tpJointId id = tpCreateJoint(world.world, &def, &error);
    if (id.slot == 0) {
        raiseError(error);
    }
    return makeJoint(owner, world, id);
}

nb::dict allJoints(nb::handle owner) {
    World& world = nb::cast<World&>(owner);
    use(world);
    nb::dict joints;
    int count = tpWorld_GetJointCount(world.world);
    for (int i = 0; i < count; ++i) {
        tpJointId id = tpWorld_GetJoint(world.world, i);
        const char* name = tpJoint_GetName(world.world, id);
        std::string key = name[0] != '\0' ? name : "joint" + std::to_string(i);
        joints[key.c_str()] = makeJoint(owner, world, id);
    }
    return joints;
}

nb::object findJoint(nb::handle owner, const std::string& name) {
    World& world = nb::cast<World&>(owner);
    use(world);
    tpJointId id = tpWorld_FindJoint(world.world, name.c_str());
    return id.slot != 0 ? nb::cast(makeJoint(owner, world, id)) : nb::none();
}

// Coordinates -------------------------------------------------------------------------------------

std::string axisName(const Axis& axis) {
    const char* name = tpJoint_GetAxis(moving(axis), axis.id, axis.coordinate).name;
    return name != nullptr ? name : "";
}

std::string jointName(const Axis& axis) {
    return tpJoint_GetName(there(axis), axis.id);
}

tpCoordinateState stateOf(const Axis& axis) {
    return tpJoint_GetState(moving(axis), axis.id, axis.coordinate);
}

void setValue(const Axis& axis, nb::handle value) {
    double number = numberOf(value, "value");
    tpError error = {};
    if (tpJoint_SetValue(moving(axis), axis.id, axis.coordinate, number, &error) != tp_success) {
        raiseError(error);
    }
    pullViews(*axis.world);
}

void setSpeed(const Axis& axis, nb::handle value) {
    double number = numberOf(value, "speed");
    tpError error = {};
    if (tpJoint_SetSpeed(moving(axis), axis.id, axis.coordinate, number, &error) != tp_success) {
        raiseError(error);
    }
    pullViews(*axis.world);
}

void setTarget(const Axis& axis, nb::handle value, bool isSpeed) {
    double number = numberOf(value, isSpeed ? "target_speed" : "target");
    tpCoordinateDef laws = lawsOf(axis);
    if (laws.hasServo) {
        tpJoint_SetTarget(axis.world->world, axis.id, axis.coordinate,
                          isSpeed ? laws.servo.target : number,
                          isSpeed ? number : laws.servo.speed);
        raiseMistake();
        return;
    }
    changeServo(axis, [&](tpServo& servo) { (isSpeed ? servo.speed : servo.target) = number; });
}

void apply(const Axis& axis, nb::handle effort) {
    double number = numberOf(effort, "effort");
    tpJoint_ApplyEffort(moving(axis), axis.id, axis.coordinate, number);
    raiseMistake();
}

nb::object limitsOf(const Axis& axis) {
    return limitsOf(lawsOf(axis));
}

nb::object motorOf(const Axis& axis) {
    tpCoordinateDef laws = lawsOf(axis);
    if (!laws.hasMotor) {
        return nb::none();
    }
    nb::dict made;
    made["speed"] = laws.motor.speed;
    made["effort"] = laws.motor.effort;
    return made;
}

nb::object springOf(const Axis& axis) {
    return springOf(lawsOf(axis));
}

nb::object servoOf(const Axis& axis) {
    return servoOf(lawsOf(axis));
}

std::string showAxis(const Axis& axis) {
    use(*axis.world);
    if (!tpJoint_IsValid(axis.world->world, axis.id)) {
        return "Axis(destroyed)";
    }
    tpCoordinateState state = stateOf(axis);
    char text[200];
    std::snprintf(text, sizeof(text), "Axis(\"%s.%s\", value=%.9g, speed=%.9g)",
                  jointName(axis).c_str(), axisName(axis).c_str(), state.value, state.speed);
    return text;
}

void bindState(nb::class_<Axis>& cls) {
    cls.def_prop_rw(
           "value", [](const Axis& a) { return stateOf(a).value; }, &setValue,
           nb::for_getter(nb::sig("def value(self) -> float")),
           nb::for_setter(nb::sig("def value(self, value: float, /) -> None")),
           "The coordinate, rad or m; several turns are counted.\n\n"
           "Assigning moves the second body with all that hangs on it. A joint that closes a loop\n"
           "cannot be set: tippe.UnsupportedError.")
        .def_prop_rw(
            "speed", [](const Axis& a) { return stateOf(a).speed; }, &setSpeed,
            nb::for_getter(nb::sig("def speed(self) -> float")),
            nb::for_setter(nb::sig("def speed(self, value: float, /) -> None")),
            "Its rate, rad/s or m/s; may be assigned as `value`.")
        .def_prop_ro(
            "effort", [](const Axis& a) { return stateOf(a).effort; },
            "What motor, servo and apply() exerted together in the last step, N m or N.")
        .def_prop_ro(
            "limit_effort", [](const Axis& a) { return stateOf(a).limitEffort; },
            "What its limits exerted in the last step, N m or N.")
        .def("apply", &apply, "effort"_a, nb::sig("def apply(self, effort: float) -> None"),
             "An effort for the next step, N m or N; efforts add up and are forgotten after it.");
}

void bindServo(nb::class_<Axis>& cls) {
    cls.def_prop_rw(
           "target", [](const Axis& a) { return servoOr(lawsOf(a)).target; },
           [](const Axis& a, nb::handle v) { setTarget(a, v, false); },
           nb::for_getter(nb::sig("def target(self) -> float")),
           nb::for_setter(nb::sig("def target(self, value: float, /) -> None")),
           "The value that the servo holds, rad or m.\n\n"
           "The servo exerts stiffness (target - value) + damping (target_speed - speed), at most\n"
           "effort_limit, and is stable for any gains. Assigning one of the five gives a servo to "
           "a\n"
           "coordinate that has none, with the others zero and no limit.")
        .def_prop_rw(
            "target_speed", [](const Axis& a) { return servoOr(lawsOf(a)).speed; },
            [](const Axis& a, nb::handle v) { setTarget(a, v, true); },
            nb::for_getter(nb::sig("def target_speed(self) -> float")),
            nb::for_setter(nb::sig("def target_speed(self, value: float, /) -> None")),
            "The speed that the servo holds, rad/s or m/s.")
        .def_prop_rw(
            "stiffness", [](const Axis& a) { return servoOr(lawsOf(a)).stiffness; },
            [](const Axis& a, nb::handle v) {
                double number = numberOf(v, "stiffness", Range::notNegative);
                changeServo(a, [&](tpServo& servo) { servo.stiffness = number; });
            },
            nb::for_getter(nb::sig("def stiffness(self) -> float")),
            nb::for_setter(nb::sig("def stiffness(self, value: float, /) -> None")),
            "The servo's stiffness, N m/rad or N/m.")
        .def_prop_rw(
            "damping", [](const Axis& a) { return servoOr(lawsOf(a)).damping; },
            [](const Axis& a, nb::handle v) {
                double number = numberOf(v, "damping", Range::notNegative);
                changeServo(a, [&](tpServo& servo) { servo.damping = number; });
            },
            nb::for_getter(nb::sig("def damping(self) -> float")),
            nb::for_setter(nb::sig("def damping(self, value: float, /) -> None")),
            "The servo's damping, N m s/rad or N s/m. What resists without a servo is "
            "`passive_damping`.")
        .def_prop_rw(
            "effort_limit", [](const Axis& a) { return servoOr(lawsOf(a)).effort; },
            [](const Axis& a, nb::handle v) {
                double number = v.is_none() ? std::numeric_limits<double>::infinity()
                                            : effortOf(v, "effort_limit");
                changeServo(a, [&](tpServo& servo) { servo.effort = number; });
            },
            nb::for_getter(nb::sig("def effort_limit(self) -> float")),
            nb::for_setter("value"_a.none()),
            nb::for_setter(nb::sig("def effort_limit(self, value: float | None, /) -> None")),
            "The most that the servo exerts, N m or N; infinite: as much as it takes.");
}

void bindLaws(nb::class_<Axis>& cls) {
    cls.def_prop_rw(
           "zero", [](const Axis& a) { return lawsOf(a).zero; },
           [](const Axis& a, nb::handle v) {
               double number = numberOf(v, "zero");
               changeLaws(a, [&](tpCoordinateDef& d) { d.zero = number; });
           },
           nb::for_setter(nb::sig("def zero(self, value: float, /) -> None")),
           "The coordinate's value where the joint was made.")
        .def_prop_rw(
            "limits", &limitsOf,
            [](const Axis& a, nb::handle v) {
                changeLaws(a, [&](tpCoordinateDef& d) { readLimits(v, d); });
            },
            nb::for_getter(nb::sig("def limits(self) -> tuple[float, float] | None")),
            nb::for_setter("value"_a.none()),
            nb::for_setter(nb::sig("def limits(self, value: Sequence[float] | None, /) -> None")),
            "Lowest and highest value, or None.")
        .def_prop_rw(
            "armature", [](const Axis& a) { return lawsOf(a).armature; },
            [](const Axis& a, nb::handle v) {
                double number = numberOf(v, "armature", Range::notNegative);
                changeLaws(a, [&](tpCoordinateDef& d) { d.armature = number; });
            },
            nb::for_setter(nb::sig("def armature(self, value: float, /) -> None")),
            "Inertia of a rotor that moves with the coordinate and with nothing else, kg m^2 or "
            "kg.")
        .def_prop_rw(
            "passive_damping", [](const Axis& a) { return lawsOf(a).damping; },
            [](const Axis& a, nb::handle v) {
                double number = numberOf(v, "passive_damping", Range::notNegative);
                changeLaws(a, [&](tpCoordinateDef& d) { d.damping = number; });
            },
            nb::for_setter(nb::sig("def passive_damping(self, value: float, /) -> None")),
            "Resistance by the speed, N m s or N s/m: the scene's key `damping`.")
        .def_prop_rw(
            "friction", [](const Axis& a) { return lawsOf(a).friction; },
            [](const Axis& a, nb::handle v) {
                double number = numberOf(v, "friction", Range::notNegative);
                changeLaws(a, [&](tpCoordinateDef& d) { d.friction = number; });
            },
            nb::for_setter(nb::sig("def friction(self, value: float, /) -> None")),
            "Dry friction, N m or N.")
        .def_prop_rw(
            "servo", &servoOf,
            [](const Axis& a, nb::handle v) {
                changeLaws(a, [&](tpCoordinateDef& d) {
                    d.hasServo = false;
                    if (!v.is_none()) {
                        readServo(v, d);
                    }
                });
            },
            nb::for_getter(nb::sig("def servo(self) -> dict[str, float] | None")),
            nb::for_setter("value"_a.none()),
            nb::for_setter(nb::sig("def servo(self, value: Mapping[str, float] | None, /) -> "
                                   "None")),
            "The servo as scenes have it: target, speed, stiffness, damping, effort; None removes "
            "it.")
        .def_prop_rw(
            "motor", &motorOf,
            [](const Axis& a, nb::handle v) {
                changeLaws(a, [&](tpCoordinateDef& d) {
                    d.hasMotor = false;
                    if (!v.is_none()) {
                        readMotor(v, d);
                    }
                });
            },
            nb::for_getter(nb::sig("def motor(self) -> dict[str, float] | None")),
            nb::for_setter("value"_a.none()),
            nb::for_setter(nb::sig("def motor(self, value: Mapping[str, float] | None, /) -> "
                                   "None")),
            "The motor as scenes have it: speed, effort; None removes it.")
        .def_prop_rw(
            "spring", &springOf,
            [](const Axis& a, nb::handle v) {
                changeLaws(a, [&](tpCoordinateDef& d) {
                    d.hasSpring = false;
                    if (!v.is_none()) {
                        readSpring(v, d);
                    }
                });
            },
            nb::for_getter(nb::sig("def spring(self) -> dict[str, float] | None")),
            nb::for_setter("value"_a.none()),
            nb::for_setter(nb::sig("def spring(self, value: Mapping[str, float] | None, /) -> "
                                   "None")),
            "The spring as scenes have it: stiffness, damping, rest; None removes it.");
}

void bindAxis(nb::class_<Axis>& cls) {
    cls.def_prop_ro("axis_name", &axisName, "Its name; \"\" for the first of a simple joint.")
        .def_prop_ro(
            "axis_kind",
            [](const Axis& a) {
                return tpJoint_GetAxis(moving(a), a.id, a.coordinate).kind == tp_turnAxis ? "turn"
                                                                                          : "slide";
            },
            nb::sig("def axis_kind(self) -> Literal['turn', 'slide']"), "\"turn\" or \"slide\".")
        .def_prop_ro(
            "axis_direction",
            [](const Axis& a) {
                return arrayOf(tpJoint_GetAxis(moving(a), a.id, a.coordinate).direction);
            },
            nb::sig("def axis_direction(self) -> FloatArray"), "Its direction now, world axes.");
    bindState(cls);
    bindServo(cls);
    bindLaws(cls);
    cls.def("__repr__", &showAxis);
}

// Joints ------------------------------------------------------------------------------------------

nb::object bodyAt(const Joint& joint, bool isSecond) {
    tpJointDef def = tpJoint_GetDef(there(joint), joint.id);
    tpBodyId id = isSecond ? def.bodyB : def.bodyA;
    return id.slot != 0 ? nb::cast(makeBody(joint.owner, *joint.world, id)) : nb::none();
}

Axis axisAt(const Joint& joint, int coordinate) {
    return Axis{ joint.owner, joint.world, joint.id, coordinate };
}

nb::list axesOfJoint(const Joint& joint) {
    int count = tpJoint_GetCoordinateCount(there(joint), joint.id);
    nb::list axes;
    for (int i = 0; i < count; ++i) {
        axes.append(axisAt(joint, i));
    }
    return axes;
}

Axis findAxis(const Joint& joint, nb::handle key) {
    tpWorld* world = there(joint);
    int count = tpJoint_GetCoordinateCount(world, joint.id), found = -1;
    if (PyUnicode_Check(key.ptr())) {
        found = tpJoint_FindCoordinate(world, joint.id, nb::cast<std::string>(key).c_str());
    } else if (PyLong_Check(key.ptr())) {
        long number = PyLong_AsLong(key.ptr());
        PyErr_Clear();
        found = number >= -count && number < count
                    ? static_cast<int>(number < 0 ? number + count : number)
                    : -1;
        if (found < 0) {
            PyErr_SetString(PyExc_IndexError, "the joint has no such coordinate");
            throw nb::python_error();
        }
    }
    if (found < 0) {
        PyErr_SetObject(PyExc_KeyError, key.ptr());
        throw nb::python_error();
    }
    return axisAt(joint, found);
}

nb::object reaction(const Joint& joint, bool isTorque) {
    tpVec3 force, torque;
    tpJoint_GetReaction(there(joint), joint.id, &force, &torque);
    return arrayOf(isTorque ? torque : force);
}

std::string showJoint(const Joint& joint) {
    use(*joint.world);
    if (!tpJoint_IsValid(joint.world->world, joint.id)) {
        return "Joint(destroyed)";
    }
    tpWorld* world = there(joint);
    char text[200];
    int length = std::snprintf(text, sizeof(text), "Joint(\"%s\", %s", jointName(joint).c_str(),
                               tpJointTypeName(tpJoint_GetDef(world, joint.id).type));
    if (tpJoint_GetCoordinateCount(world, joint.id) > 0) {
        tpCoordinateState state = stateOf(joint);
        length += std::snprintf(text + length, sizeof(text) - static_cast<size_t>(length),
                                ", value=%.9g, speed=%.9g", state.value, state.speed);
    }
    return std::string(text) + ")";
}

void bindJoint(nb::class_<Joint, Axis>& cls) {
    cls.def_prop_ro(
           "name", [](const Joint& j) { return jointName(j); }, "Its name, or \"\".")
        .def_prop_ro(
            "type",
            [](const Joint& j) { return tpJointTypeName(tpJoint_GetDef(there(j), j.id).type); },
            nb::sig("def type(self) -> str"), "What it leaves free, as scenes spell it.")
        .def_prop_ro(
            "body_a", [](const Joint& j) { return bodyAt(j, false); },
            nb::sig("def body_a(self) -> Body | None"), "Its first body; None is the world.")
        .def_prop_ro(
            "body_b", [](const Joint& j) { return bodyAt(j, true); },
            nb::sig("def body_b(self) -> Body | None"), "Its second body; None is the world.")
        .def_prop_ro(
            "anchor",
            [](const Joint& j) { return arrayOf(tpJoint_GetDef(there(j), j.id).anchorA); },
            nb::sig("def anchor(self) -> FloatArray"),
            "Where it holds the first body, now, world coordinates, m.")
        .def_prop_ro(
            "anchor_b",
            [](const Joint& j) { return arrayOf(tpJoint_GetDef(there(j), j.id).anchorB); },
            nb::sig("def anchor_b(self) -> FloatArray"),
            "Where it holds the second body, now, world coordinates, m.")
        .def_prop_ro(
            "force", [](const Joint& j) { return reaction(j, false); },
            nb::sig("def force(self) -> FloatArray"),
            "The force that the joint exerted on its second body in the last step, at anchor_b, N.")
        .def_prop_ro(
            "torque", [](const Joint& j) { return reaction(j, true); },
            nb::sig("def torque(self) -> FloatArray"),
            "The torque that the joint exerted on its second body in the last step, N m.")
        .def_prop_ro(
            "is_valid",
            [](const Joint& j) { return use(*j.world), tpJoint_IsValid(j.world->world, j.id); },
            "Whether it is still there. Everything else of a joint that was destroyed raises.")
        .def_prop_ro("axes", &axesOfJoint, nb::sig("def axes(self) -> list[Axis]"),
                     "Its coordinates. The joint itself has the properties of the first.")
        .def("__getitem__", &findAxis, "axis"_a,
             nb::sig("def __getitem__(self, axis: str | int, /) -> Axis"),
             "The coordinate of that name or number: ``joint[\"swing\"].target = 0.2``.")
        .def("__len__", [](const Joint& j) { return tpJoint_GetCoordinateCount(there(j), j.id); })
        .def("__bool__", [](const Joint&) { return true; })
        .def(
            "destroy", [](Joint& j) { tpDestroyJoint(there(j), j.id); }, "Removes the joint.")
        .def("__repr__", &showJoint)
        .def(
            "__eq__",
            [](const Joint& a, nb::handle other) {
                Joint* b = nullptr;
                return nb::try_cast(other, b) && b != nullptr && a.world == b->world &&
                       a.id.slot == b->id.slot && a.id.generation == b->id.generation;
            },
            nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__hash__", [](const Joint& j) {
            size_t bits = (static_cast<size_t>(j.id.generation) << 32) | j.id.slot;
            return static_cast<Py_ssize_t>((reinterpret_cast<size_t>(j.world) ^ bits) >> 1);
        });
}

// Arrays over all coordinates ---------------------------------------------------------------------

enum class Column { values, speeds, efforts };

nb::object readColumn(World& world, Column column) {
    use(world);
    pushViews(world);
    std::vector<double> numbers(static_cast<size_t>(tpWorld_GetCoordinateCount(world.world)));
    double* data = numbers.data();
    tpWorld_ReadCoordinates(world.world, column == Column::values ? data : nullptr,
                            column == Column::speeds ? data : nullptr,
                            column == Column::efforts ? data : nullptr);
    size_t count = numbers.size();
    nb::object array = arrayOf(std::move(numbers), { count });
    array.attr("flags").attr("writeable") = false;
    return array;
}

// One number for each coordinate; NaN only where `mayBeNan`.
std::vector<double> columnOf(World& world, nb::handle value, const char* name, bool mayBeNan) {
    nb::object numpy = nb::module_::import_("numpy");
    nb::ndarray<nb::numpy, const double, nb::ndim<1>, nb::c_contig> array;
    nb::object made;
    try {
        made = numpy.attr("ascontiguousarray")(value, "dtype"_a = "float64");
    } catch (nb::python_error&) {
        made = nb::none();
    }
    auto count = static_cast<size_t>(tpWorld_GetCoordinateCount(world.world));
    if (!nb::try_cast(made, array) || array.shape(0) != count) {
        raiseValue("%s: expected %zu numbers, one for each coordinate of the joints", name, count);
    }
    std::vector<double> numbers(array.data(), array.data() + count);
    for (size_t i = 0; i < count; ++i) {
        if (!std::isfinite(numbers[i]) && !(mayBeNan && std::isnan(numbers[i]))) {
            raiseValue("%s: number %zu is not finite", name, i);
        }
    }
    return numbers;
}

void writeColumn(World& world, nb::handle value, Column column) {
    use(world);
    pushViews(world);
    const char* name = column == Column::values ? "joint_values" : "joint_speeds";
    std::vector<double> numbers = columnOf(world, value, name, false);
    tpError error = {};
    if (tpWorld_WriteCoordinates(world.world, column == Column::values ? numbers.data() : nullptr,
                                 column == Column::speeds ? numbers.data() : nullptr,
                                 &error) != tp_success) {
        raiseError(error);
    }
    pullViews(world);
}

void writeTargets(World& world, nb::handle targets, nb::handle speeds) {
    use(world);
    std::vector<double> values, rates;
    if (!targets.is_none()) {
        values = columnOf(world, targets, "targets", true);
    }
    if (!speeds.is_none()) {
        rates = columnOf(world, speeds, "speeds", true);
    }
    tpError error = {};
    if (tpWorld_WriteTargets(world.world, targets.is_none() ? nullptr : values.data(),
                             speeds.is_none() ? nullptr : rates.data(), &error) != tp_success) {
        raiseError(error);
    }
}

void applyEfforts(World& world, nb::handle efforts) {
    use(world);
    std::vector<double> numbers = columnOf(world, efforts, "efforts", false);
    tpError error = {};
    if (tpWorld_ApplyEfforts(world.world, numbers.data(), &error) != tp_success) {
        raiseError(error);
    }
}

// "knee", or "hip.swing" for a coordinate that has a name.
nb::list coordinateNames(World& world) {
    use(world);
    nb::list names;
    int count = tpWorld_GetCoordinateCount(world.world);
    for (int i = 0; i < count; ++i) {
        tpJointId joint;
        int coordinate;
        tpWorld_GetCoordinateAt(world.world, i, &joint, &coordinate);
        std::string name = tpJoint_GetName(world.world, joint);
        const char* axis = tpJoint_GetAxis(world.world, joint, coordinate).name;
        if (axis != nullptr && axis[0] != '\0') {
            name += "." + std::string(axis);
        }
        names.append(name.c_str());
    }
    return names;
}

void bindArrays(nb::class_<World>& cls) {
    cls.def_prop_ro("joint_names", &coordinateNames, nb::sig("def joint_names(self) -> list[str]"),
                    "Names of all coordinates of joints, in the order of joint_values: \"knee\", "
                    "or \"hip.swing\"\nwhere a joint has several.")
        .def_prop_rw(
            "joint_values", [](World& w) { return readColumn(w, Column::values); },
            [](World& w, nb::handle v) { writeColumn(w, v, Column::values); },
            nb::for_getter(nb::sig("def joint_values(self) -> FloatArray")),
            nb::for_setter(nb::sig("def joint_values(self, value: ArrayLike, /) -> None")),
            "All coordinates of joints now, rad or m. A copy: assign a whole array to set them.")
        .def_prop_rw(
            "joint_speeds", [](World& w) { return readColumn(w, Column::speeds); },
            [](World& w, nb::handle v) { writeColumn(w, v, Column::speeds); },
            nb::for_getter(nb::sig("def joint_speeds(self) -> FloatArray")),
            nb::for_setter(nb::sig("def joint_speeds(self, value: ArrayLike, /) -> None")),
            "Rates of all coordinates now, rad/s or m/s. A copy: assign a whole array to set them.")
        .def_prop_ro(
            "joint_efforts", [](World& w) { return readColumn(w, Column::efforts); },
            nb::sig("def joint_efforts(self) -> FloatArray"),
            "Efforts of motors, servos and apply_efforts in the last step, N m or N. A copy.")
        .def("set_targets", &writeTargets, "targets"_a = nb::none(), "speeds"_a = nb::none(),
             nb::sig("def set_targets(self, targets: ArrayLike | None = None, speeds: ArrayLike | "
                     "None = None) -> None"),
             "Targets of all servos at once, one number for each coordinate; NaN leaves one as it "
             "is\nand stands where there is no servo.")
        .def("apply_efforts", &applyEfforts, "efforts"_a,
             nb::sig("def apply_efforts(self, efforts: ArrayLike) -> None"),
             "Efforts on all coordinates for the next step, N m or N.");
}

} // namespace

void bindJoints(nb::module_& m, nb::class_<World>& cls) {
    nb::class_<Axis> axis(
        m, "Axis",
        "A coordinate that a joint leaves free: a turn (rad) or a slide (m) of its second body\n"
        "relative to the first, with what limits and drives it.");
    bindAxis(axis);
    nb::class_<Joint, Axis> joint(
        m, "Joint",
        "A joint in a world. Made by World.add_joint, found by World.joints[\"name\"].\n\n"
        "It is the handle of its first coordinate too: ``joint.value``, ``joint.target = 0.5``.");
    bindJoint(joint);
    bindArrays(cls);
    cls.def("_all_joints", &allJoints, nb::sig("def _all_joints(self) -> dict[str, Joint]"));
    cls.def("_find_joint", &findJoint, "name"_a,
            nb::sig("def _find_joint(self, name: str) -> Joint | None"));
    cls.def(
        "add_joint", &addJoint, "type"_a, "body_a"_a.none(), "body_b"_a.none(), nb::kw_only(),
        "name"_a = nb::none(), "anchor"_a = nb::none(), "anchor_b"_a = nb::none(),
        "axis"_a = nb::make_tuple(0.0, 0.0, 1.0), "axis2"_a = nb::none(), "axes"_a = nb::none(),
        "ratio"_a = 1.0, "pitch"_a = 0.0, "collide"_a = false, "laws"_a,
        nb::sig(
            "def add_joint(self, type: JointType, body_a: Body | str | None, body_b: Body | str | "
            "None, *, name: str | None = None, anchor: ArrayLike | None = None, anchor_b: "
            "ArrayLike | None = None, axis: ArrayLike = (0.0, 0.0, 1.0), axis2: ArrayLike | None = "
            "None, axes: Sequence[Mapping[str, Any]] | None = None, ratio: float = 1.0, pitch: "
            "float = 0.0, collide: bool = False, zero: float = 0.0, limits: Sequence[float] | "
            "None = None, motor: Mapping[str, float] | None = None, servo: Mapping[str, float] | "
            "None = None, spring: Mapping[str, float] | None = None, armature: float = 0.0, "
            "damping: float = 0.0, friction: float = 0.0) -> Joint"),
        "Adds a joint between two bodies (or their names; None is the world) and returns it.\n\n"
        "type      \"ball\", \"revolute\", \"prismatic\", \"cylindrical\", \"universal\", "
        "\"fixed\", \"distance\",\n"
        "          \"planar\", \"gear\", \"screw\", \"spring\", \"compound\"\n"
        "anchor    where the bodies are joined, world coordinates, m; by default the second "
        "body's origin;\n"
        "          of \"distance\" and \"spring\": the end on the first body, by default its "
        "origin\n"
        "anchor_b  of \"distance\" and \"spring\": the end on the second body\n"
        "axis      of the turn or the slide, world axes; axis2: the second one of \"universal\" "
        "and \"gear\"\n"
        "axes      of \"compound\": dicts with turn or slide, name, and the keys below\n"
        "ratio     of \"gear\", pitch of \"screw\"\n"
        "collide   whether the two bodies collide with each other\n"
        "zero, limits, motor, servo, spring, armature, damping, friction\n"
        "          what acts on its (first) coordinate, as scenes have it:\n"
        "          servo={\"target\": 0.5, \"stiffness\": 100, \"damping\": 10}");
}
