// tippe.Coupling: a sum of coordinates of joints that is held, limited, sprung or driven.

#include "laws.h"

namespace {

struct Coupling {
    nb::object owner;
    World* world;
    tpCouplingId id;
};

tpWorld* there(const Coupling& coupling) {
    use(*coupling.world);
    if (!tpCoupling_IsValid(coupling.world->world, coupling.id)) {
        raiseValue("this coupling was destroyed");
    }
    pushViews(*coupling.world);
    return coupling.world->world;
}

Coupling makeCoupling(nb::handle owner, World& world, tpCouplingId id) {
    return Coupling{ nb::borrow(owner), &world, id };
}

// "knee", or "hip.swing" for a coordinate that has a name.
tpCouplingTerm termOf(const World& world, const std::string& name, double factor) {
    tpCouplingTerm term = { tpWorld_FindJoint(world.world, name.c_str()), 0, factor };
    size_t dot = name.rfind('.');
    if (term.joint.slot == 0 && dot != std::string::npos) {
        term.joint = tpWorld_FindJoint(world.world, name.substr(0, dot).c_str());
        if (term.joint.slot != 0) {
            term.coordinate =
                tpJoint_FindCoordinate(world.world, term.joint, name.substr(dot + 1).c_str());
        }
    }
    if (term.joint.slot == 0 || term.coordinate < 0) {
        raiseValue("of: there is no joint or coordinate \"%s\"", name.c_str());
    }
    return term;
}

std::vector<tpCouplingTerm> termsOf(const World& world, nb::handle of) {
    std::vector<tpCouplingTerm> terms;
    if (!PyMapping_Check(of.ptr()) || PyUnicode_Check(of.ptr()) || PyList_Check(of.ptr()) ||
        PyTuple_Check(of.ptr())) {
        raiseValue("of: expected a dict of factors by the names of joints");
    }
    nb::object items = nb::steal(PyMapping_Items(of.ptr()));
    for (nb::handle item : nb::iter(items)) {
        std::string name = textOf(nb::steal(PySequence_GetItem(item.ptr(), 0)), "of");
        double factor = numberOf(nb::steal(PySequence_GetItem(item.ptr(), 1)), "of");
        terms.push_back(termOf(world, name, factor));
    }
    return terms;
}

// The laws of coordinates that a sum has, too.
tpCoordinateDef lawsOf(const tpCouplingDef& def) {
    tpCoordinateDef laws = tpDefaultCoordinateDef();
    laws.hasLimits = def.hasLimits;
    laws.limits[0] = def.limits[0];
    laws.limits[1] = def.limits[1];
    laws.hasSpring = def.hasSpring;
    laws.spring = def.spring;
    laws.hasServo = def.hasServo;
    laws.servo = def.servo;
    return laws;
}

void takeLaws(const tpCoordinateDef& laws, tpCouplingDef& def) {
    def.hasLimits = laws.hasLimits;
    def.limits[0] = laws.limits[0];
    def.limits[1] = laws.limits[1];
    def.hasSpring = laws.hasSpring;
    def.spring = laws.spring;
    def.hasServo = laws.hasServo;
    def.servo = laws.servo;
}

Coupling addCoupling(nb::handle owner, nb::handle name, nb::handle of, nb::handle value,
                     nb::handle limits, nb::handle spring, nb::handle servo) {
    World& world = nb::cast<World&>(owner);
    use(world);
    pushViews(world);
    tpCouplingDef def = tpDefaultCouplingDef();
    std::string text = name.is_none() ? "" : textOf(name, "name");
    if (!text.empty() && tpWorld_FindCoupling(world.world, text.c_str()).slot != 0) {
        raiseValue("name: there is a coupling \"%s\" already", text.c_str());
    }
    def.name = text.c_str();
    std::vector<tpCouplingTerm> terms = termsOf(world, of);
    def.terms = terms.data();
    def.termCount = static_cast<int>(terms.size());
    def.hasValue = !value.is_none();
    def.value = def.hasValue ? numberOf(value, "value") : 0.0;
    tpCoordinateDef laws = lawsOf(def);
    if (!limits.is_none()) {
        readLimits(limits, laws);
    }
    if (!spring.is_none()) {
        readSpring(spring, laws);
    }
    if (!servo.is_none()) {
        readServo(servo, laws);
    }
    takeLaws(laws, def);
    tpError error = {};
    tpCouplingId id = tpCreateCoupling(world.world, &def, &error);
    if (id.slot == 0) {
        raiseError(error);
    }
    return makeCoupling(owner, world, id);
}

nb::dict allCouplings(nb::handle owner) {
    World& world = nb::cast<World&>(owner);
    use(world);
    nb::dict couplings;
    int count = tpWorld_GetCouplingCount(world.world);
    for (int i = 0; i < count; ++i) {
        tpCouplingId id = tpWorld_GetCoupling(world.world, i);
        const char* name = tpCoupling_GetName(world.world, id);
        std::string key = name[0] != '\0' ? name : "coupling" + std::to_string(i);
        couplings[key.c_str()] = makeCoupling(owner, world, id);
    }
    return couplings;
}

template <typename Change> void change(const Coupling& coupling, Change change) {
    tpWorld* world = there(coupling);
    tpCouplingDef def = tpCoupling_GetDef(world, coupling.id);
    change(def);
    tpError error = {};
    if (tpCoupling_SetLaws(world, coupling.id, &def, &error) != tp_success) {
        raiseError(error);
    }
}

template <typename Read> void changeLaws(const Coupling& coupling, Read read) {
    change(coupling, [&](tpCouplingDef& def) {
        tpCoordinateDef laws = lawsOf(def);
        read(laws);
        takeLaws(laws, def);
    });
}

tpCouplingDef defOf(const Coupling& coupling) {
    return tpCoupling_GetDef(there(coupling), coupling.id);
}

tpCoordinateState stateOf(const Coupling& coupling) {
    return tpCoupling_GetState(there(coupling), coupling.id);
}

// Factors by the names of coordinates.
nb::dict factorsOf(const Coupling& coupling) {
    tpWorld* world = there(coupling);
    int count = tpCoupling_GetDef(world, coupling.id).termCount;
    nb::dict factors;
    for (int i = 0; i < count; ++i) {
        tpCouplingTerm term = tpCoupling_GetTerm(world, coupling.id, i);
        std::string name = tpJoint_GetName(world, term.joint);
        const char* axis = tpJoint_GetAxis(world, term.joint, term.coordinate).name;
        if (axis != nullptr && axis[0] != '\0') {
            name += "." + std::string(axis);
        }
        factors[name.c_str()] = term.factor;
    }
    return factors;
}

void setTarget(const Coupling& coupling, nb::handle value, bool isSpeed) {
    double number = numberOf(value, isSpeed ? "target_speed" : "target");
    changeLaws(coupling, [&](tpCoordinateDef& laws) {
        if (!laws.hasServo) {
            laws.servo = tpDefaultCoordinateDef().servo;
            laws.hasServo = true;
        }
        (isSpeed ? laws.servo.speed : laws.servo.target) = number;
    });
}

std::string show(const Coupling& coupling) {
    use(*coupling.world);
    if (!tpCoupling_IsValid(coupling.world->world, coupling.id)) {
        return "Coupling(destroyed)";
    }
    tpCoordinateState state = stateOf(coupling);
    char text[200];
    std::snprintf(text, sizeof(text), "Coupling(\"%s\", value=%.9g, speed=%.9g)",
                  tpCoupling_GetName(coupling.world->world, coupling.id), state.value, state.speed);
    return text;
}

void bindLawsOf(nb::class_<Coupling>& cls) {
    cls.def_prop_rw(
           "held_at",
           [](const Coupling& c) {
               tpCouplingDef def = defOf(c);
               return def.hasValue ? nb::cast(def.value) : nb::none();
           },
           [](const Coupling& c, nb::handle v) {
               change(c, [&](tpCouplingDef& def) {
                   def.hasValue = !v.is_none();
                   def.value = def.hasValue ? numberOf(v, "held_at") : 0.0;
               });
           },
           nb::for_getter(nb::sig("def held_at(self) -> float | None")),
           nb::for_setter("value"_a.none()),
           nb::for_setter(nb::sig("def held_at(self, value: float | None, /) -> None")),
           "The value that the sum has always, or None: the scene's key `value`.")
        .def_prop_rw(
            "limits", [](const Coupling& c) { return limitsOf(lawsOf(defOf(c))); },
            [](const Coupling& c, nb::handle v) {
                changeLaws(c, [&](tpCoordinateDef& laws) { readLimits(v, laws); });
            },
            nb::for_getter(nb::sig("def limits(self) -> tuple[float, float] | None")),
            nb::for_setter("value"_a.none()),
            nb::for_setter(nb::sig("def limits(self, value: Sequence[float] | None, /) -> None")),
            "Lowest and highest sum, or None.")
        .def_prop_rw(
            "spring", [](const Coupling& c) { return springOf(lawsOf(defOf(c))); },
            [](const Coupling& c, nb::handle v) {
                changeLaws(c, [&](tpCoordinateDef& laws) {
                    laws.hasSpring = false;
                    if (!v.is_none()) {
                        readSpring(v, laws);
                    }
                });
            },
            nb::for_getter(nb::sig("def spring(self) -> dict[str, float] | None")),
            nb::for_setter("value"_a.none()),
            nb::for_setter(
                nb::sig("def spring(self, value: Mapping[str, float] | None, /) -> None")),
            "The spring as scenes have it: stiffness, damping, rest; None removes it.")
        .def_prop_rw(
            "servo", [](const Coupling& c) { return servoOf(lawsOf(defOf(c))); },
            [](const Coupling& c, nb::handle v) {
                changeLaws(c, [&](tpCoordinateDef& laws) {
                    laws.hasServo = false;
                    if (!v.is_none()) {
                        readServo(v, laws);
                    }
                });
            },
            nb::for_getter(nb::sig("def servo(self) -> dict[str, float] | None")),
            nb::for_setter("value"_a.none()),
            nb::for_setter(
                nb::sig("def servo(self, value: Mapping[str, float] | None, /) -> None")),
            "The servo as scenes have it: target, speed, stiffness, damping, effort; None removes "
            "it.")
        .def_prop_rw(
            "target", [](const Coupling& c) { return defOf(c).servo.target; },
            [](const Coupling& c, nb::handle v) { setTarget(c, v, false); },
            nb::for_getter(nb::sig("def target(self) -> float")),
            nb::for_setter(nb::sig("def target(self, value: float, /) -> None")),
            "The sum that the servo holds.")
        .def_prop_rw(
            "target_speed", [](const Coupling& c) { return defOf(c).servo.speed; },
            [](const Coupling& c, nb::handle v) { setTarget(c, v, true); },
            nb::for_getter(nb::sig("def target_speed(self) -> float")),
            nb::for_setter(nb::sig("def target_speed(self, value: float, /) -> None")),
            "The rate of the sum that the servo holds.");
}

// Efforts for given speeds ------------------------------------------------------------------------

nb::object inverseDynamics(World& world, nb::handle speeds, nb::handle step) {
    use(world);
    pushViews(world);
    auto count = static_cast<size_t>(tpWorld_GetCoordinateCount(world.world));
    double h = step.is_none() ? world.step : numberOf(step, "step", Range::positive);
    nb::ndarray<nb::numpy, const double, nb::ndim<1>, nb::c_contig> given;
    nb::object made;
    try {
        made =
            nb::module_::import_("numpy").attr("ascontiguousarray")(speeds, "dtype"_a = "float64");
    } catch (nb::python_error&) {
        made = nb::none();
    }
    if (!nb::try_cast(made, given) || given.shape(0) != count) {
        raiseValue("speeds: expected %zu numbers, one for each coordinate of the joints", count);
    }
    std::vector<double> efforts(count);
    tpError error = {};
    tpResult result;
    {
        Away away(world);
        result =
            tpWorld_InverseDynamics(world.world, h, given.data(), efforts.data(), nullptr, &error);
    }
    if (result != tp_success) {
        raiseError(error);
    }
    return arrayOf(std::move(efforts), { count });
}

} // namespace

void bindCouplings(nb::module_& m, nb::class_<World>& cls) {
    nb::class_<Coupling> coupling(
        m, "Coupling",
        "A sum of coordinates of joints, each with a factor, that is held at a value, limited, "
        "sprung or\ndriven: gears, mimic joints, tendons. Made by World.add_coupling, found by "
        "World.couplings[\"name\"].");
    coupling
        .def_prop_ro(
            "name",
            [](const Coupling& c) { return std::string(tpCoupling_GetName(there(c), c.id)); },
            "Its name, or \"\".")
        .def_prop_ro("of", &factorsOf, nb::sig("def of(self) -> dict[str, float]"),
                     "Factors by the names of coordinates: \"knee\", or \"hip.swing\".")
        .def_prop_ro(
            "value", [](const Coupling& c) { return stateOf(c).value; }, "The sum now.")
        .def_prop_ro(
            "speed", [](const Coupling& c) { return stateOf(c).speed; }, "Its rate now.")
        .def_prop_ro(
            "effort", [](const Coupling& c) { return stateOf(c).effort; },
            "What holds or drives it exerted in the last step.")
        .def_prop_ro(
            "is_valid",
            [](const Coupling& c) {
                return use(*c.world), tpCoupling_IsValid(c.world->world, c.id);
            },
            "Whether it is still there. Everything else of a coupling that was destroyed raises.")
        .def(
            "destroy", [](Coupling& c) { tpDestroyCoupling(there(c), c.id); },
            "Removes the coupling.")
        .def("__repr__", &show);
    bindLawsOf(coupling);
    cls.def("_all_couplings", &allCouplings,
            nb::sig("def _all_couplings(self) -> dict[str, Coupling]"));
    cls.def("add_coupling", &addCoupling, "name"_a.none(), "of"_a, nb::kw_only(),
            "value"_a = nb::none(), "limits"_a = nb::none(), "spring"_a = nb::none(),
            "servo"_a = nb::none(),
            nb::sig("def add_coupling(self, name: str | None, of: Mapping[str, float], *, value: "
                    "float | None = None, limits: Sequence[float] | None = None, spring: "
                    "Mapping[str, float] | None = None, servo: Mapping[str, float] | None = None) "
                    "-> Coupling"),
            "Couples coordinates of joints: the sum of factor times coordinate is held at `value`, "
            "limited, sprung\nor driven.\n\n"
            "    world.add_coupling(\"gear\", {\"input\": 1, \"output\": -3}, value=0)\n\n"
            "of      factors by the names of joints, or \"JOINT.AXIS\" where a joint has "
            "several coordinates\n"
            "value   that the sum has always; limits, spring, servo: as of a joint");
    cls.def("inverse_dynamics", &inverseDynamics, "speeds"_a, "step"_a = nb::none(),
            nb::sig("def inverse_dynamics(self, speeds: ArrayLike, step: float | None = None) -> "
                    "FloatArray"),
            "Efforts with which the next step ends at the given speeds of joints, N m or N: "
            "apply_efforts takes them.\n\n"
            "speeds  one for each coordinate, in the order of joint_names, rad/s or m/s; NaN: it "
            "is not driven, its\n        effort is 0\n"
            "step    length of that step, s; by default step_size\n\n"
            "Gravity, contacts, friction, springs and what was applied already count. The world "
            "stays as it is. Where\nno efforts meet the speeds to 1e-9, a RuntimeError says so.");
}
