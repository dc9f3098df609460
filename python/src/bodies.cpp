// tippe.Body: a handle of a body in a world.

#include "bodies.h"

#include <cmath>
#include <cstring>

namespace {

const char* const kindNames[] = { "dynamic", "fixed", "kinematic" };

tpBodyKind kindOf(nb::handle value) {
    std::string name = textOf(value, "kind");
    for (int i = 0; i < 3; ++i) {
        if (name == kindNames[i]) {
            return static_cast<tpBodyKind>(i);
        }
    }
    raiseValue("kind: expected dynamic, fixed or kinematic, got \"%s\"", name.c_str());
}

// Three numbers (principal), six (xx yy zz xy xz yz) or three rows of three.
tpMat33 inertiaOf(nb::handle value, const char* name) {
    Py_ssize_t size = PySequence_Check(value.ptr()) ? PySequence_Size(value.ptr()) : -1;
    PyErr_Clear();
    double v[6] = { 0 };
    if (size == 6) {
        numbersOf(value, name, 6, v);
    } else {
        nb::object first = size == 3 ? nb::steal(PySequence_GetItem(value.ptr(), 0)) : nb::none();
        PyErr_Clear();
        if (size == 3 && first.is_valid() && PySequence_Check(first.ptr())) {
            Rows rows = rowsOf(value, name, 3);
            const double* m = rows.data();
            double scale = std::fabs(m[0]) + std::fabs(m[4]) + std::fabs(m[8]);
            if (!(std::fabs(m[1] - m[3]) + std::fabs(m[2] - m[6]) + std::fabs(m[5] - m[7]) <=
                  1e-9 * scale)) {
                raiseValue("%s: expected a symmetric matrix", name);
            }
            v[0] = m[0], v[1] = m[4], v[2] = m[8], v[3] = m[1], v[4] = m[2], v[5] = m[5];
        } else {
            if (size != 3) {
                raiseValue("%s: expected 3 or 6 numbers (xx yy zz xy xz yz), or a 3 x 3 matrix",
                           name);
            }
            numbersOf(value, name, 3, v);
        }
    }
    return tpMakeMat33(tpMakeVec3(v[0], v[3], v[4]), tpMakeVec3(v[3], v[1], v[5]),
                       tpMakeVec3(v[4], v[5], v[2]));
}

void checkName(const std::string& name, const char* argument) {
    for (char c : name) {
        bool isFine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-';
        if (!isFine) {
            raiseValue("%s: names are letters, digits, _ and -, got \"%s\"", argument,
                       name.c_str());
        }
    }
    if (name.size() > 63) {
        raiseValue("%s: names have at most 63 characters, got %zu", argument, name.size());
    }
}

const char* const lockNames[] = { "x", "y", "z", "rx", "ry", "rz" };

// Names of directions, as scenes have them.
uint32_t locksOf(nb::handle value) {
    uint32_t locks = 0;
    if (PyUnicode_Check(value.ptr())) {
        raiseValue("locked: expected a list of x, y, z, rx, ry, rz, got a text");
    }
    for (nb::handle item : nb::iter(value)) {
        std::string name = textOf(item, "locked");
        uint32_t bit = 0;
        for (int i = 0; i < 6; ++i) {
            bit = name == lockNames[i] ? 1u << i : bit;
        }
        if (bit == 0) {
            raiseValue("locked: expected any of x, y, z, rx, ry, rz, got \"%s\"", name.c_str());
        }
        locks |= bit;
    }
    return locks;
}

nb::tuple lockList(uint32_t locks) {
    nb::list names;
    for (int i = 0; i < 6; ++i) {
        if ((locks >> i & 1u) != 0) {
            names.append(lockNames[i]);
        }
    }
    return nb::tuple(names);
}

// Keyframes: rows of (time, position, rotation).
std::vector<tpKeyframe> keyframesOf(nb::handle value) {
    std::vector<tpKeyframe> keyframes;
    if (value.is_none()) {
        return keyframes;
    }
    for (nb::handle item : nb::iter(value)) {
        Py_ssize_t size = PySequence_Check(item.ptr()) ? PySequence_Size(item.ptr()) : -1;
        PyErr_Clear();
        if (size != 2 && size != 3) {
            raiseValue(
                "keyframes: expected rows of (time, position) or (time, position, rotation)");
        }
        tpKeyframe keyframe;
        keyframe.time = numberOf(nb::handle(item[0]), "keyframes");
        keyframe.pose.position = vectorOf(nb::handle(item[1]), "keyframes");
        keyframe.pose.rotation =
            size == 3 ? rotationOf(nb::handle(item[2]), "keyframes") : tpIdentityQuat();
        keyframes.push_back(keyframe);
    }
    return keyframes;
}

Body addBody(nb::handle owner, nb::handle name, nb::handle kind, nb::handle position,
             nb::handle rotation, nb::handle velocity, nb::handle angularVelocity, nb::handle mass,
             nb::handle inertia, nb::handle center, nb::handle linearDamping,
             nb::handle angularDamping, nb::handle gravityScale, nb::handle locked,
             nb::handle keyframes) {
    World& world = nb::cast<World&>(owner);
    use(world);
    tpBodyDef def = tpDefaultBodyDef();
    std::string text = name.is_none() ? "" : textOf(name, "name");
    checkName(text, "name");
    tpBodyId same = text.empty() ? tpBodyId{} : tpWorld_FindBody(world.world, text.c_str());
    if (same.slot != 0) {
        raiseValue("name: there is a body \"%s\" already", text.c_str());
    }
    def.name = text.c_str();
    def.kind = kindOf(kind);
    def.position = vectorOf(position, "position");
    def.rotation = rotationOf(rotation, "rotation");
    def.velocity = vectorOf(velocity, "velocity");
    def.angularVelocity = vectorOf(angularVelocity, "angular_velocity");
    def.hasMass = !mass.is_none();
    if (def.hasMass) {
        def.mass.mass = numberOf(mass, "mass", Range::positive);
        if (inertia.is_none()) {
            raiseValue(
                "inertia: needed with mass; leave out both for mass from the shapes' density");
        }
        def.mass.inertia = inertiaOf(inertia, "inertia");
        def.mass.center = vectorOf(center, "center_of_mass");
    } else if (!inertia.is_none()) {
        raiseValue("mass: needed with inertia");
    }
    def.linearDamping = numberOf(linearDamping, "linear_damping", Range::notNegative);
    def.angularDamping = numberOf(angularDamping, "angular_damping", Range::notNegative);
    def.gravityScale = numberOf(gravityScale, "gravity_scale");
    def.locked = locksOf(locked);
    std::vector<tpKeyframe> frames = keyframesOf(keyframes);
    def.keyframes = frames.data();
    def.keyframeCount = static_cast<int>(frames.size());
    tpError error = {};
    tpBodyId id = tpCreateBody(world.world, &def, &error);
    if (id.slot == 0) {
        raiseError(error);
    }
    return makeBody(owner, world, id);
}

Body findBody(nb::handle owner, nb::handle name) {
    World& world = nb::cast<World&>(owner);
    use(world);
    std::string text = textOf(name, "name");
    tpBodyId id = tpWorld_FindBody(world.world, text.c_str());
    if (id.slot == 0) {
        PyErr_SetObject(PyExc_KeyError, name.ptr());
        throw nb::python_error();
    }
    return makeBody(owner, world, id);
}

nb::list allBodies(nb::handle owner) {
    World& world = nb::cast<World&>(owner);
    use(world);
    nb::list bodies;
    int count = tpWorld_GetBodyCount(world.world);
    for (int i = 0; i < count; ++i) {
        bodies.append(makeBody(owner, world, tpWorld_GetBody(world.world, i)));
    }
    return bodies;
}

nb::list allMoving(nb::handle owner) {
    World& world = nb::cast<World&>(owner);
    use(world);
    nb::list bodies;
    for (tpBodyId id : movingBodies(world)) {
        bodies.append(makeBody(owner, world, id));
    }
    return bodies;
}

void destroyBody(Body& body) {
    tpWorld* world = writable(body);
    tpDestroyBody(world, body.id);
    pullRow(*body.world, body.id); // rows of it become NaN
}

// The world takes the pose of the body's frame; positions are those of the centre of mass.
void setPose(Body& body, tpVec3 center, tpQuat rotation) {
    tpWorld* world = writable(body);
    tpVec3 arm = tpRotate(rotation, tpBody_GetMass(world, body.id).center);
    tpBody_SetPose(world, body.id, tpMakePose(tpSub(center, arm), rotation));
    pullRow(*body.world, body.id);
}

void setVelocity(Body& body, tpVec3 velocity, tpVec3 angularVelocity) {
    tpWorld* world = writable(body);
    if (tpBody_GetKind(world, body.id) == tp_fixedBody) {
        raiseValue("velocity: body \"%s\" is fixed", tpBody_GetName(world, body.id));
    }
    tpBody_SetVelocity(world, body.id, velocity, angularVelocity);
    pullRow(*body.world, body.id);
}

void setMass(Body& body, const tpMassProperties* mass) {
    readable(body);
    tpError error = {};
    if (tpBody_SetMass(writable(body), body.id, mass, &error) != tp_success) {
        raiseError(error);
    }
    pullRow(*body.world, body.id);
}

// Forces ----------------------------------------------------------------------------------------

void applyForce(Body& body, nb::handle force, nb::handle at, nb::handle frame) {
    tpVec3 f = vectorOf(force, "force");
    tpFrame axes = frameOf(frame);
    readable(body);
    if (at.is_none()) {
        tpBody_ApplyForce(writable(body), body.id, f, axes);
    } else {
        tpBody_ApplyForceAt(writable(body), body.id, f, vectorOf(at, "at"), axes);
    }
    raiseMistake();
}

void applyTorque(Body& body, nb::handle torque, nb::handle frame) {
    tpBody_ApplyTorque(writable(body), body.id, vectorOf(torque, "torque"), frameOf(frame));
    raiseMistake();
}

void applyImpulse(Body& body, nb::handle impulse, nb::handle at, nb::handle frame) {
    tpVec3 p = vectorOf(impulse, "impulse");
    tpFrame axes = frameOf(frame);
    readable(body);
    if (at.is_none()) {
        tpBody_ApplyImpulse(writable(body), body.id, p, axes);
    } else {
        tpBody_ApplyImpulseAt(writable(body), body.id, p, vectorOf(at, "at"), axes);
    }
    raiseMistake();
    pullRow(*body.world, body.id);
}

void applyAngularImpulse(Body& body, nb::handle impulse, nb::handle frame) {
    readable(body);
    tpBody_ApplyAngularImpulse(writable(body), body.id, vectorOf(impulse, "impulse"),
                               frameOf(frame));
    raiseMistake();
    pullRow(*body.world, body.id);
}

void setTarget(Body& body, nb::handle position, nb::handle rotation) {
    tpPose now = tpBody_GetPose(readable(body), body.id);
    now.position = vectorOf(position, "position");
    now.rotation = rotation.is_none() ? now.rotation : rotationOf(rotation, "rotation");
    tpBody_SetTarget(writable(body), body.id, now);
    raiseMistake();
}

void bindCarriers(nb::class_<Body>& cls) {
    cls.def_prop_ro(
           "carrier",
           [](const Body& b) {
               const char* name = tpBody_GetCarrier(readable(b), b.id);
               return name != nullptr ? nb::object(nb::str(name)) : nb::none();
           },
           nb::sig("def carrier(self) -> str | None"),
           "The method that `auto` chose for it in the last step; None with other steppers.")
        .def_prop_ro(
            "carrier_step", [](const Body& b) { return tpBody_GetCarrierStep(readable(b), b.id); },
            "The step of that method, s; 0 where there is none.")
        .def_prop_ro(
            "error_estimate",
            [](const Body& b) { return tpBody_GetErrorEstimate(readable(b), b.id); },
            "The estimated error of its position since the start, m, as `auto` has it; else 0.")
        .def(
            "set_collide",
            [](Body& b, nb::handle other, nb::handle collide) {
                tpWorld* world = writable(b);
                tpBodyId id = bodyOf(*b.world, other, "other", false);
                tpError error = {};
                if (tpBody_SetCollide(world, b.id, id, flagOf(collide, "collide"), &error) !=
                    tp_success) {
                    raiseError(error);
                }
            },
            "other"_a, "collide"_a,
            nb::sig("def set_collide(self, other: Body | str, collide: bool) -> None"),
            "Whether this body and another may touch, whatever their joints and shapes say.")
        .def(
            "collides_with",
            [](const Body& b, nb::handle other) {
                const tpWorld* world = readable(b);
                return tpBody_GetCollide(world, b.id, bodyOf(*b.world, other, "other", false));
            },
            "other"_a, nb::sig("def collides_with(self, other: Body | str) -> bool"),
            "Whether set_collide and joints let them touch.");
}

void bindForcesOfSteps(nb::class_<Body>& cls) {
    cls.def(
           "apply_force", &applyForce, "force"_a, "at"_a = nb::none(), nb::kw_only(),
           "frame"_a = "world",
           nb::sig("def apply_force(self, force: ArrayLike, at: ArrayLike | None = None, *, frame: "
                   "Literal['world', 'body'] = 'world') -> None"),
           "A force for the next step, N; forces add up and are forgotten after it.\n\n"
           "at     the point it acts on, m, by default the centre of mass\n"
           "frame  of force and point: \"world\" axes and coordinates, or those of the \"body\"'s "
           "frame")
        .def("apply_torque", &applyTorque, "torque"_a, nb::kw_only(), "frame"_a = "world",
             nb::sig(
                 "def apply_torque(self, torque: ArrayLike, *, frame: Literal['world', 'body'] = "
                 "'world') -> None"),
             "A torque for the next step, N m.")
        .def("apply_impulse", &applyImpulse, "impulse"_a, "at"_a = nb::none(), nb::kw_only(),
             "frame"_a = "world",
             nb::sig("def apply_impulse(self, impulse: ArrayLike, at: ArrayLike | None = None, *, "
                     "frame: Literal['world', 'body'] = 'world') -> None"),
             "An impulse, N s: changes the velocity at once. `at` and `frame` as in apply_force.")
        .def("apply_angular_impulse", &applyAngularImpulse, "impulse"_a, nb::kw_only(),
             "frame"_a = "world",
             nb::sig(
                 "def apply_angular_impulse(self, impulse: ArrayLike, *, frame: Literal['world', "
                 "'body'] = 'world') -> None"),
             "An angular impulse, N m s: changes the angular velocity at once.")
        .def("set_target", &setTarget, "position"_a, "rotation"_a = nb::none(),
             nb::sig(
                 "def set_target(self, position: ArrayLike, rotation: ArrayLike | None = None) -> "
                 "None"),
             "Where the frame of a kinematic body is to be at the end of the next step.")
        .def(
            "point_velocity",
            [](const Body& b, nb::handle point) {
                return arrayOf(
                    tpBody_GetPointVelocity(readable(b), b.id, vectorOf(point, "point")));
            },
            "point"_a, nb::sig("def point_velocity(self, point: ArrayLike) -> FloatArray"),
            "Velocity of the point of the body that is at `point`, world coordinates, m/s.");
}

nb::object inertiaRows(const Body& body) {
    return arrayOf(tpBody_GetMass(readable(body), body.id).inertia);
}

std::string showBody(const Body& body) {
    if (body.world->isBusy) {
        return "Body(in a world that is being stepped)";
    }
    if (!tpBody_IsValid(body.world->world, body.id)) {
        return "Body(destroyed)";
    }
    const tpWorld* world = readable(body);
    tpVec3 p = tpBody_GetPosition(world, body.id);
    char text[256];
    std::snprintf(text, sizeof(text), "Body(\"%s\", %s, position=(%.6g, %.6g, %.6g))",
                  tpBody_GetName(world, body.id), kindNames[tpBody_GetKind(world, body.id)], p.x,
                  p.y, p.z);
    return text;
}

void bindBody(nb::class_<Body>& cls) {
    cls.def_prop_ro(
           "name", [](const Body& b) { return tpBody_GetName(readable(b), b.id); },
           "Its name, or \"\".")
        .def_prop_rw(
            "kind", [](const Body& b) { return kindNames[tpBody_GetKind(readable(b), b.id)]; },
            [](Body& b, nb::handle value) {
                tpBodyKind kind = kindOf(value);
                readable(b);
                tpError error = {};
                if (tpBody_SetKind(writable(b), b.id, kind, &error) != tp_success) {
                    raiseError(error);
                }
                pullRow(*b.world, b.id);
            },
            nb::for_getter(nb::sig("def kind(self) -> BodyKind")),
            nb::for_setter(nb::sig("def kind(self, value: BodyKind, /) -> None")),
            "\"dynamic\", \"fixed\" or \"kinematic\"; may be changed.")
        .def_prop_ro(
            "world", [](const Body& b) { return b.owner; }, nb::sig("def world(self) -> World"),
            "The world it is in.")
        .def_prop_ro(
            "is_valid",
            [](const Body& b) { return use(*b.world), tpBody_IsValid(b.world->world, b.id); },
            "Whether it is still there. Everything else of a body that was destroyed raises.")
        .def_prop_ro(
            "is_asleep", [](const Body& b) { return tpBody_IsAsleep(readable(b), b.id); },
            "Whether it is asleep (option `sleep`).")
        .def(
            "wake", [](Body& b) { tpBody_SetAwake(writable(b), b.id, true); }, "Wakes it.")
        .def(
            "sleep",
            [](Body& b) {
                readable(b);
                tpBody_SetAwake(writable(b), b.id, false);
                pullRow(*b.world, b.id);
            },
            "Stops it, and lets it sleep if its stepper knows sleep and all around it is at rest.");
    cls.def_prop_rw(
           "position", [](const Body& b) { return arrayOf(tpBody_GetPosition(readable(b), b.id)); },
           [](Body& b, nb::handle value) {
               tpVec3 p = vectorOf(value, "position");
               setPose(b, p, tpBody_GetRotation(readable(b), b.id));
           },
           nb::for_getter(nb::sig("def position(self) -> FloatArray")),
           nb::for_setter(nb::sig("def position(self, value: ArrayLike, /) -> None")),
           "Position of its centre of mass, m. A copy: assign a whole vector to move the body.")
        .def_prop_rw(
            "rotation",
            [](const Body& b) { return arrayOf(tpBody_GetRotation(readable(b), b.id)); },
            [](Body& b, nb::handle value) {
                tpQuat q = rotationOf(value, "rotation");
                setPose(b, tpBody_GetPosition(readable(b), b.id), q);
            },
            nb::for_getter(nb::sig("def rotation(self) -> FloatArray")),
            nb::for_setter(nb::sig("def rotation(self, value: ArrayLike, /) -> None")),
            "Orientation of its frame, a quaternion w x y z; turns about the centre of mass.")
        .def_prop_rw(
            "velocity",
            [](const Body& b) { return arrayOf(tpBody_GetVelocity(readable(b), b.id)); },
            [](Body& b, nb::handle value) {
                tpVec3 v = vectorOf(value, "velocity");
                setVelocity(b, v, tpBody_GetAngularVelocity(readable(b), b.id));
            },
            nb::for_getter(nb::sig("def velocity(self) -> FloatArray")),
            nb::for_setter(nb::sig("def velocity(self, value: ArrayLike, /) -> None")),
            "Velocity of its centre of mass, m/s.")
        .def_prop_rw(
            "angular_velocity",
            [](const Body& b) { return arrayOf(tpBody_GetAngularVelocity(readable(b), b.id)); },
            [](Body& b, nb::handle value) {
                tpVec3 w = vectorOf(value, "angular_velocity");
                setVelocity(b, tpBody_GetVelocity(readable(b), b.id), w);
            },
            nb::for_getter(nb::sig("def angular_velocity(self) -> FloatArray")),
            nb::for_setter(nb::sig("def angular_velocity(self, value: ArrayLike, /) -> None")),
            "Angular velocity in world axes, rad/s.")
        .def_prop_ro(
            "frame_position",
            [](const Body& b) { return arrayOf(tpBody_GetPose(readable(b), b.id).position); },
            nb::sig("def frame_position(self) -> FloatArray"),
            "Position of its frame's origin, m: what add_body and scenes call position.");
    cls.def_prop_rw(
           "mass", [](const Body& b) { return tpBody_GetMass(readable(b), b.id).mass; },
           [](Body& b, nb::handle value) {
               tpMassProperties mass = tpBody_GetMass(readable(b), b.id);
               double wanted = numberOf(value, "mass", Range::positive);
               if (!(mass.mass > 0.0)) {
                   raiseValue("mass: the body has none yet; set_mass(mass, inertia) gives it one");
               }
               mass.inertia = tpScaleM(wanted / mass.mass, mass.inertia);
               mass.mass = wanted;
               setMass(b, &mass);
           },
           nb::for_setter(nb::sig("def mass(self, value: float, /) -> None")),
           "Its mass, kg; 0 for one that is fixed or kinematic without a mass of its own. A new "
           "mass\n"
           "is spread as the old one was: inertia grows with it.")
        .def(
            "set_mass",
            [](Body& b, nb::handle mass, nb::handle inertia, nb::handle center) {
                tpMassProperties given = {};
                given.mass = numberOf(mass, "mass", Range::positive);
                given.inertia = inertiaOf(inertia, "inertia");
                given.center = center.is_none() ? tpBody_GetMass(readable(b), b.id).center
                                                : vectorOf(center, "center_of_mass");
                setMass(b, &given);
            },
            "mass"_a, "inertia"_a, "center_of_mass"_a = nb::none(),
            nb::sig(
                "def set_mass(self, mass: float, inertia: ArrayLike, center_of_mass: ArrayLike | "
                "None = None) -> None"),
            "Gives it a mass (kg), an inertia (kg m^2, as in add_body) and a centre of mass (m, "
            "by\n"
            "default the one it has). Its frame stays where it is.")
        .def(
            "mass_from_shapes", [](Body& b) { setMass(b, nullptr); },
            "Lets mass and inertia follow from the shapes' density again.")
        .def_prop_ro("inertia", &inertiaRows, nb::sig("def inertia(self) -> FloatArray"),
                     "Inertia about the centre of mass in the axes of its frame, kg m^2, 3 x 3.")
        .def_prop_rw(
            "linear_damping",
            [](const Body& b) { return tpBody_GetDef(readable(b), b.id).linearDamping; },
            [](Body& b, nb::handle value) {
                double angular = tpBody_GetDef(readable(b), b.id).angularDamping;
                tpBody_SetDamping(writable(b), b.id,
                                  numberOf(value, "linear_damping", Range::notNegative), angular);
            },
            nb::for_setter(nb::sig("def linear_damping(self, value: float, /) -> None")),
            "1/s: dv/dt = -linear_damping v.")
        .def_prop_rw(
            "angular_damping",
            [](const Body& b) { return tpBody_GetDef(readable(b), b.id).angularDamping; },
            [](Body& b, nb::handle value) {
                double linear = tpBody_GetDef(readable(b), b.id).linearDamping;
                tpBody_SetDamping(writable(b), b.id, linear,
                                  numberOf(value, "angular_damping", Range::notNegative));
            },
            nb::for_setter(nb::sig("def angular_damping(self, value: float, /) -> None")),
            "1/s: dL/dt = -angular_damping L.")
        .def_prop_rw(
            "gravity_scale",
            [](const Body& b) { return tpBody_GetDef(readable(b), b.id).gravityScale; },
            [](Body& b, nb::handle value) {
                tpBody_SetGravityScale(writable(b), b.id, numberOf(value, "gravity_scale"));
            },
            nb::for_setter(nb::sig("def gravity_scale(self, value: float, /) -> None")),
            "Factor of the world's gravity.")
        .def_prop_rw(
            "locked",
            [](const Body& b) { return lockList(tpBody_GetDef(readable(b), b.id).locked); },
            [](Body& b, nb::handle value) {
                uint32_t locks = locksOf(value);
                readable(b);
                tpBody_SetLocked(writable(b), b.id, locks);
                raiseMistake();
                pullRow(*b.world, b.id);
            },
            nb::for_getter(nb::sig("def locked(self) -> tuple[str, ...]")),
            nb::for_setter(nb::sig("def locked(self, value: Sequence[str], /) -> None")),
            "Directions in which it cannot move: any of x y z rx ry rz, of the world.")
        .def_prop_ro(
            "center_of_mass",
            [](const Body& b) { return arrayOf(tpBody_GetMass(readable(b), b.id).center); },
            nb::sig("def center_of_mass(self) -> FloatArray"), "Centre of mass in its frame, m.");
    bindForcesOfSteps(cls);
    bindCarriers(cls);
    cls.def("destroy", &destroyBody, "Removes the body, with its shapes, joints and forces.");
    cls.def("__repr__", &showBody)
        .def(
            "__eq__",
            [](const Body& a, nb::handle other) {
                Body* b = nullptr;
                return nb::try_cast(other, b) && b != nullptr && a.world == b->world &&
                       a.id.slot == b->id.slot && a.id.generation == b->id.generation;
            },
            nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__hash__", [](const Body& b) {
            size_t bits = (static_cast<size_t>(b.id.generation) << 32) | b.id.slot;
            return static_cast<Py_ssize_t>((reinterpret_cast<size_t>(b.world) ^ bits) >> 1);
        });
}

} // namespace

tpFrame frameOf(nb::handle value) {
    std::string name = textOf(value, "frame");
    if (name != "world" && name != "body") {
        raiseValue("frame: expected world or body, got \"%s\"", name.c_str());
    }
    return name == "body" ? tp_bodyFrame : tp_worldFrame;
}

Body makeBody(nb::handle owner, World& world, tpBodyId id) {
    return Body{ nb::borrow(owner), &world, id };
}

const tpWorld* readable(const Body& body) {
    tpWorld* world = writable(body);
    pushRow(*body.world, body.id);
    return world;
}

tpWorld* writable(const Body& body) {
    use(*body.world);
    if (!tpBody_IsValid(body.world->world, body.id)) {
        raiseValue("this body was destroyed");
    }
    return body.world->world;
}

tpBodyId bodyOf(World& world, nb::handle value, const char* name, bool mayBeNone) {
    if (value.is_none() && mayBeNone) {
        return tpBodyId{};
    }
    Body* body = nullptr;
    if (PyUnicode_Check(value.ptr())) {
        std::string text = nb::cast<std::string>(value);
        tpBodyId id = tpWorld_FindBody(world.world, text.c_str());
        if (id.slot == 0) {
            raiseValue("%s: there is no body \"%s\"", name, text.c_str());
        }
        return id;
    }
    if (!nb::try_cast(value, body) || body == nullptr) {
        raiseValue("%s: expected a body or the name of one%s", name,
                   mayBeNone ? ", or None for the world" : "");
    }
    if (body->world != &world) {
        raiseValue("%s: this body is in another world", name);
    }
    if (!tpBody_IsValid(world.world, body->id)) {
        raiseValue("%s: this body was destroyed", name);
    }
    return body->id;
}

void bindBodies(nb::module_& m, nb::class_<World>& cls) {
    nb::class_<Body> body(m, "Body",
                          "A body in a world. Made by World.add_body, found by World[\"name\"].");
    bindBody(body);
    bindShapes(m, body);
    cls.def(
        "add_body", &addBody, "name"_a = nb::none(), nb::kw_only(), "kind"_a = "dynamic",
        "position"_a = nb::make_tuple(0.0, 0.0, 0.0),
        "rotation"_a = nb::make_tuple(1.0, 0.0, 0.0, 0.0),
        "velocity"_a = nb::make_tuple(0.0, 0.0, 0.0),
        "angular_velocity"_a = nb::make_tuple(0.0, 0.0, 0.0), "mass"_a = nb::none(),
        "inertia"_a = nb::none(), "center_of_mass"_a = nb::make_tuple(0.0, 0.0, 0.0),
        "linear_damping"_a = 0.0, "angular_damping"_a = 0.0, "gravity_scale"_a = 1.0,
        "locked"_a = nb::make_tuple(), "keyframes"_a = nb::none(),
        nb::sig(
            "def add_body(self, name: str | None = None, *, kind: BodyKind = 'dynamic', "
            "position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike = (1.0, 0.0, 0.0, "
            "0.0), velocity: ArrayLike = (0.0, 0.0, 0.0), angular_velocity: ArrayLike = "
            "(0.0, 0.0, 0.0), mass: float | None = None, inertia: ArrayLike | None = None, "
            "center_of_mass: ArrayLike = (0.0, 0.0, 0.0), linear_damping: float = 0.0, "
            "angular_damping: float = 0.0, gravity_scale: float = 1.0, locked: Sequence[str] = (), "
            "keyframes: Sequence[Sequence[Any]] | None = "
            "None) -> Body"),
        "Adds a body and returns it; give it shapes next.\n\n"
        "kind              \"dynamic\" (moved by forces), \"fixed\", or \"kinematic\" (moves as "
        "told)\n"
        "position          of the body's frame, m\n"
        "rotation          of its frame, quaternion w x y z (tippe.rotation makes one)\n"
        "velocity          of its centre of mass, m/s\n"
        "angular_velocity  in world axes, rad/s\n"
        "mass, inertia     kg and kg m^2 about the centre of mass in body axes (3 numbers, 6 as\n"
        "                  xx yy zz xy xz yz, or 3 x 3); by default they follow from the shapes\n"
        "center_of_mass    in the body's frame, m; with mass\n"
        "linear_damping, angular_damping   1/s\n"
        "gravity_scale     factor of the world's gravity\n"
        "locked            directions in which it cannot move: any of x y z (of its centre of "
        "mass) and\n"
        "                  rx ry rz (axes about which it cannot turn), of the world\n"
        "keyframes         of a kinematic body: rows of (time, position[, rotation])");
    cls.def("__getitem__", &findBody, "name"_a,
            nb::sig("def __getitem__(self, name: str, /) -> Body"),
            "The body of that name; KeyError where there is none.")
        .def(
            "__contains__",
            [](World& w, nb::handle name) {
                use(w);
                return PyUnicode_Check(name.ptr()) &&
                       tpWorld_FindBody(w.world, nb::cast<std::string>(name).c_str()).slot != 0;
            },
            nb::sig("def __contains__(self, name: object, /) -> bool"))
        .def_prop_ro("bodies", &allBodies, nb::sig("def bodies(self) -> list[Body]"),
                     "All bodies in order of creation, fixed ones among them.")
        .def_prop_ro(
            "moving", &allMoving, nb::sig("def moving(self) -> list[Body]"),
            "The bodies that can move (dynamic and kinematic), in the order of the rows of\n"
            "`positions` and of a Run.");
}
