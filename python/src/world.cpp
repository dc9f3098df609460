// tippe.World: creation, stepping, questions about the world as a whole; tippe.Report.

#include <cmath>
#include <cstring>

#include "binding.h"

World::~World() {
    tpDestroyWorld(world);
}

void use(const World& world) {
    if (world.isBusy) {
        raiseRuntime("this world is being stepped by another thread");
    }
    if (world.world == nullptr) {
        raiseRuntime("this world was not created: World.__init__ did not run");
    }
}

tpStepperId stepperOf(nb::handle value) {
    std::string name = textOf(value, "stepper");
    tpStepperId stepper;
    if (!tpFindStepper(name.c_str(), &stepper) || !tpStepperIsAvailable(stepper)) {
        std::string known;
        for (int i = 0; i < tp_stepperCount; ++i) {
            if (tpStepperIsAvailable(static_cast<tpStepperId>(i))) {
                known += (known.empty() ? "" : ", ");
                known += tpStepperName(static_cast<tpStepperId>(i));
            }
        }
        raiseValue("stepper: there is no \"%s\"; there are %s", name.c_str(), known.c_str());
    }
    return stepper;
}

namespace {

void createWorld(World* self, nb::handle stepper, nb::handle gravity, nb::handle planar,
                 nb::handle threads, nb::handle step) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepperOf(stepper);
    def.gravity = vectorOf(gravity, "gravity");
    def.planar = flagOf(planar, "planar");
    def.threadCount = integerOf(threads, "threads", 1, 1024);
    double stepSize = numberOf(step, "step", Range::positive);
    new (self) World();
    self->step = stepSize;
    self->world = tpCreateWorld(&def);
    if (self->world == nullptr) {
        throw std::bad_alloc();
    }
}

tpStepReport step(World& world, nb::handle size) {
    use(world);
    double h = size.is_none() ? world.step : numberOf(size, "step", Range::positive);
    pushViews(world, true);
    prepareWatch(world);
    tpStepReport report;
    {
        Away away(world);
        report = tpWorld_Step(world.world, h);
        noteStep(world, report, h);
    }
    pullViews(world);
    return report;
}

// Snapshots -----------------------------------------------------------------------------------

nb::bytes takeSnapshot(World& world) {
    use(world);
    pushViews(world);
    std::unique_ptr<tpSnapshot, void (*)(tpSnapshot*)> snapshot(tpWorld_Snapshot(world.world),
                                                                tpDestroySnapshot);
    if (snapshot == nullptr) {
        throw std::bad_alloc();
    }
    size_t size = 0;
    const void* bytes = tpSnapshot_GetBytes(snapshot.get(), &size);
    return nb::bytes(bytes, size);
}

void restore(World& world, nb::handle data) {
    use(world);
    Py_buffer buffer;
    if (PyObject_GetBuffer(data.ptr(), &buffer, PyBUF_SIMPLE) != 0) {
        PyErr_Clear();
        raiseValue("data: expected the bytes of a snapshot");
    }
    tpError error = {};
    std::unique_ptr<tpSnapshot, void (*)(tpSnapshot*)> snapshot(
        tpCreateSnapshot(buffer.buf, static_cast<size_t>(buffer.len), nullptr, &error),
        tpDestroySnapshot);
    PyBuffer_Release(&buffer);
    if (snapshot == nullptr || tpWorld_Restore(world.world, snapshot.get(), &error) != tp_success) {
        if (error.result == tp_badInput) {
            raiseValue("data: %s", error.message);
        }
        raiseError(error);
    }
    pullViews(world);
}

// Options -------------------------------------------------------------------------------------

int findOption(const std::string& name) {
    for (int i = 0; i < tpOptionCount(); ++i) {
        if (name == tpOption(i)->name) {
            return i;
        }
    }
    raiseValue("options: no stepper has an option \"%s\"", name.c_str());
}

nb::object optionValue(const tpOptionInfo* info, double value) {
    switch (info->kind) {
    case tp_integerOption:
        return nb::int_(static_cast<long>(value));
    case tp_booleanOption:
        return nb::bool_(value != 0.0);
    case tp_choiceOption:
        return nb::str(info->choices[static_cast<int>(value)]);
    default:
        return nb::float_(value);
    }
}

nb::object getOption(World& world, const std::string& name) {
    use(world);
    const tpOptionInfo* info = tpOption(findOption(name));
    return optionValue(info, tpWorld_GetOption(world.world, info->name));
}

void setOption(World& world, const std::string& name, nb::handle value) {
    use(world);
    findOption(name);
    std::string text;
    if (PyBool_Check(value.ptr())) {
        text = value.is(nb::bool_(true)) ? "true" : "false";
    } else if (PyUnicode_Check(value.ptr())) {
        text = nb::cast<std::string>(value);
    } else {
        char digits[40];
        std::snprintf(digits, sizeof(digits), "%.17g", numberOf(value, name.c_str()));
        text = digits;
    }
    tpError error = {};
    if (tpWorld_SetOption(world.world, name.c_str(), text.c_str(), &error) != tp_success) {
        raiseValue("options: %s", error.message);
    }
}

nb::dict describeOption(int i) {
    const tpOptionInfo* info = tpOption(i);
    static const char* const kinds[] = { "number", "integer", "boolean", "choice" };
    nb::dict option;
    nb::list choices, steppers;
    for (int k = 0; info->kind == tp_choiceOption && info->choices[k] != nullptr; ++k) {
        choices.append(info->choices[k]);
    }
    for (int k = 0; k < tp_stepperCount; ++k) {
        if (tpStepperUsesOption(static_cast<tpStepperId>(k), i)) {
            steppers.append(tpStepperName(static_cast<tpStepperId>(k)));
        }
    }
    option["name"] = info->name;
    option["kind"] = kinds[info->kind];
    option["default"] = optionValue(info, info->defaultValue);
    option["choices"] = nb::tuple(choices);
    option["unit"] = info->unit != nullptr ? info->unit : "";
    option["summary"] = info->summary;
    option["steppers"] = nb::tuple(steppers);
    return option;
}

// Reports -------------------------------------------------------------------------------------

nb::object textOrNone(const char* text) {
    return text != nullptr ? nb::object(nb::str(text)) : nb::none();
}

nb::tuple violationsOf(const tpStepReport& report) {
    static const char* const laws[tp_lawCount] = { "contact", "energy", "joints", "overlap" };
    nb::list made;
    for (int i = 0; i < tp_lawCount; ++i) {
        if ((report.violations >> i & 1u) != 0) {
            made.append(laws[i]);
        }
    }
    return nb::tuple(made);
}

nb::dict limitsOf(const tpStepReport& report) {
    nb::dict made;
    made["residual"] = report.limits.residual;
    made["energy"] = report.limits.energy;
    made["joint_drift"] = report.limits.jointDrift;
    made["penetration"] = report.limits.penetration;
    return made;
}

nb::tuple notesOf(const tpStepReport& report) {
    nb::list made;
    for (int i = 0; i < report.noteCount; ++i) {
        made.append(report.notes[i]);
    }
    return nb::tuple(made);
}

nb::dict figuresOf(const tpStepReport& report) {
    nb::dict made;
    for (int i = 0; i < tpFigureCount(); ++i) {
        made[tpFigure(i)->name] = report.figures[i];
    }
    return made;
}

std::string showReport(const tpStepReport& report) {
    char text[256];
    std::snprintf(text, sizeof(text),
                  "Report(time=%.9g, contacts=%d, residual=%.2g, penetration=%.2g, converged=%s%s)",
                  report.time, report.contactCount, report.residual, report.penetration,
                  report.converged ? "True" : "False", report.undone ? ", undone=True" : "");
    return text;
}

void bindReport(nb::module_& m) {
    using Report = tpStepReport;
    nb::class_<Report> cls(
        m, "Report",
        "What a step reports, whatever the stepper: the certificate of how exactly "
        "the laws of contact were met, and the account of energy.");
    cls.def_ro("time", &Report::time, "At the end of the step, s.")
        .def_ro("contacts", &Report::contactCount, "Number of contacts.")
        .def_ro("solves", &Report::solveCount, "Problems solved.")
        .def_ro("iterations", &Report::iterationCount, "Iterations of all solves.")
        .def_ro("failures", &Report::failureCount, "Solves that did not reach their tolerance.")
        .def_ro("substeps", &Report::substepCount, "Steps inside this one.")
        .def_ro("sleeping", &Report::sleepingCount, "Bodies asleep at the end of the step.")
        .def_ro("residual", &Report::residual,
                "Of the contact law at the end of the step, relative (docs/conventions.md).")
        .def_ro("cone_violation", &Report::coneViolation,
                "Largest excess of friction over mu times the normal impulse, relative.")
        .def_ro("dissipation_violation", &Report::dissipationViolation,
                "Largest shortfall of friction's power from the maximal one, relative.")
        .def_ro("penetration", &Report::penetration, "Deepest overlap of bodies, m.")
        .def_ro("joint_drift", &Report::jointDrift, "Largest error of a joint, m or rad.")
        .def_ro("kinetic_before", &Report::kineticBefore, "Kinetic energy before the step, J.")
        .def_ro("kinetic_after", &Report::kineticAfter, "Kinetic energy after the step, J.")
        .def_ro("potential_before", &Report::potentialBefore, "Potential energy before, J.")
        .def_ro("potential_after", &Report::potentialAfter, "Potential energy after, J.")
        .def_prop_ro(
            "energy", [](const Report& r) { return r.kineticAfter + r.potentialAfter; },
            "Kinetic and potential energy after the step, J.")
        .def_ro("external_work", &Report::externalWork,
                "Work of forces, motors, dampers and kinematic bodies, J; not gravity.")
        .def_ro("friction_loss", &Report::frictionLoss, "Energy that friction took, J.")
        .def_ro("impact_loss", &Report::impactLoss, "Energy that impacts took, J.")
        .def_ro("numerical_loss", &Report::numericalLoss,
                "Part of impact_loss: what the step itself took, J; negative if it gave.")
        .def_ro("rigid_residual", &Report::rigidResidual,
                "With contacts that give: the residual that the impulses would have between rigid "
                "bodies.")
        .def_ro("error_estimate", &Report::errorEstimate,
                "Of positions since the start, m, as `auto` has added it up; else 0.")
        .def_ro("error_asked", &Report::errorAsked,
                "What `accuracy` of `auto` comes to in this scene, m; else 0.")
        .def_ro("converged", &Report::converged, "Whether every solve reached its tolerance.")
        .def_ro("undone", &Report::undone,
                "Whether the step was taken back because a number would not have been finite.")
        .def_prop_ro(
            "certified", [](const Report& r) { return r.violations == 0; },
            "Whether contact law, energy, joints and overlap are within the limits of the step's\n"
            "certificate (docs/conventions.md).")
        .def_prop_ro(
            "violations", &violationsOf, nb::sig("def violations(self) -> tuple[str, ...]"),
            "The laws that are violated: \"contact\", \"energy\", \"joints\", \"overlap\".")
        .def_prop_ro("limits", &limitsOf, nb::sig("def limits(self) -> dict[str, float]"),
                     "Limits of the certificate: residual, energy, joint_drift, penetration.")
        .def_ro("energy_increase", &Report::energyIncrease,
                "Energy after less energy before less external work, J.")
        .def_ro("energy_excess", &Report::energyExcess,
                "How far energy less the work done is above its lowest value so far, J.")
        .def_ro("contact_queries", &Report::contactQueryCount,
                "How often the contacts of all bodies were looked for.")
        .def_prop_ro("notes", &notesOf, nb::sig("def notes(self) -> tuple[str, ...]"),
                     "What one should know about the step.")
        .def_prop_ro("figures", &figuresOf, nb::sig("def figures(self) -> dict[str, int]"),
                     "Figures that only some steppers report: events, budgets, hand-overs.")
        .def_prop_ro(
            "fallback", [](const Report& r) { return textOrNone(r.fallback); },
            nb::sig("def fallback(self) -> str | None"),
            "The name of what carried the step instead, or None.")
        .def("__repr__", &showReport);
}

} // namespace

void bindWorld(nb::module_& m) {
    bindReport(m);
    nb::class_<World> cls(m, "World", nb::dynamic_attr(), nb::is_weak_referenceable());
    cls.def(
        "__init__", &createWorld, "stepper"_a = "anitescu", nb::kw_only(),
        "gravity"_a = nb::make_tuple(0.0, 0.0, -9.81), "planar"_a = false, "threads"_a = 1,
        "step"_a = 0.01,
        nb::sig("def __init__(self, stepper: str = 'anitescu', *, gravity: ArrayLike = (0.0, 0.0, "
                "-9.81), planar: bool = False, threads: int = 1, step: float = 0.01) -> None"));
    cls.def("step", &step, "step"_a = nb::none(),
            nb::sig("def step(self, step: float | None = None) -> Report"),
            "One step; returns its Report.\n\n"
            "`step` is its length in seconds, by default `step_size`. A hard problem is no error: "
            "what\n"
            "went wrong is in the report, and the state stays valid. The interpreter's lock is\n"
            "released while the world steps.");
    cls.def_prop_rw(
           "step_size", [](World& w) { return w.step; },
           [](World& w, nb::handle value) {
               w.step = numberOf(value, "step_size", Range::positive);
           },
           nb::for_setter(nb::sig("def step_size(self, value: float, /) -> None")),
           "The length of a step() without an argument, s: the scene's.")
        .def_prop_ro(
            "time", [](World& w) { return use(w), tpWorld_GetTime(w.world); }, "Simulated time, s.")
        .def_prop_ro(
            "step_count", [](World& w) { return use(w), tpWorld_GetStepCount(w.world); },
            "Steps done so far.")
        .def_prop_ro(
            "planar", [](World& w) { return use(w), tpWorld_IsPlanar(w.world); },
            "Whether all motion is in the x-y plane.")
        .def_prop_rw(
            "gravity", [](World& w) { return use(w), arrayOf(tpWorld_GetGravity(w.world)); },
            [](World& w, nb::handle value) {
                use(w);
                tpWorld_SetGravity(w.world, vectorOf(value, "gravity"));
            },
            nb::for_getter(nb::sig("def gravity(self) -> FloatArray")),
            nb::for_setter(nb::sig("def gravity(self, value: ArrayLike, /) -> None")),
            "The acceleration of free fall, m/s^2.")
        .def_prop_rw(
            "stepper", [](World& w) { return use(w), tpStepperName(tpWorld_GetStepper(w.world)); },
            [](World& w, nb::handle value) {
                use(w);
                if (tpWorld_SetStepper(w.world, stepperOf(value)) != tp_success) {
                    throw std::bad_alloc();
                }
            },
            nb::for_setter(nb::sig("def stepper(self, value: str, /) -> None")),
            "The name of the method that steps the world; may be changed between steps.");
    cls.def_prop_ro(
           "kinetic_energy",
           [](World& w) { return use(w), pushViews(w), tpWorld_GetKineticEnergy(w.world); },
           "Kinetic energy of all bodies, J.")
        .def_prop_ro(
            "potential_energy",
            [](World& w) { return use(w), pushViews(w), tpWorld_GetPotentialEnergy(w.world); },
            "Potential energy of gravity and springs, J.")
        .def_prop_ro(
            "energy",
            [](World& w) {
                use(w);
                pushViews(w);
                return tpWorld_GetKineticEnergy(w.world) + tpWorld_GetPotentialEnergy(w.world);
            },
            "Kinetic and potential energy, J.")
        .def_prop_ro(
            "momentum",
            [](World& w) {
                return use(w), pushViews(w), arrayOf(tpWorld_GetLinearMomentum(w.world));
            },
            nb::sig("def momentum(self) -> FloatArray"), "Linear momentum of all bodies, kg m/s.")
        .def(
            "angular_momentum",
            [](World& w, nb::handle about) {
                use(w);
                pushViews(w);
                return arrayOf(tpWorld_GetAngularMomentum(w.world, vectorOf(about, "about")));
            },
            "about"_a = nb::make_tuple(0.0, 0.0, 0.0),
            nb::sig("def angular_momentum(self, about: ArrayLike = (0.0, 0.0, 0.0)) -> FloatArray"),
            "Angular momentum of all bodies about a point, kg m^2/s.")
        .def_prop_ro(
            "state_hash", [](World& w) { return use(w), pushViews(w), tpWorld_HashState(w.world); },
            "A hash of positions and velocities, bit for bit: equal states give equal hashes.");
    cls.def("snapshot", &takeSnapshot, nb::sig("def snapshot(self) -> bytes"),
            "The whole state as bytes: motion, time, what the stepper keeps, and every number that "
            "can be\n"
            "set while it runs. restore() goes on from it bit for bit, in this world or in another "
            "one,\n"
            "of this or another process, that was built in the same way.")
        .def("restore", &restore, "data"_a, nb::sig("def restore(self, data: bytes) -> None"),
             "Goes back to a snapshot. Raises ValueError, and changes nothing, where bodies, "
             "shapes, joints,\n"
             "forces or the stepper are other ones, or the bytes were damaged.");
    cls.def("_get_option", &getOption, "name"_a)
        .def("_set_option", &setOption, "name"_a, "value"_a);
    m.attr("__version__") = tpVersion();
    m.def("_steppers", [] {
        nb::dict steppers;
        for (int i = 0; i < tp_stepperCount; ++i) {
            auto id = static_cast<tpStepperId>(i);
            if (tpStepperIsAvailable(id)) {
                steppers[tpStepperName(id)] = tpStepperSummary(id);
            }
        }
        return steppers;
    });
    m.def("_options", [] {
        nb::dict options;
        for (int i = 0; i < tpOptionCount(); ++i) {
            options[tpOption(i)->name] = describeOption(i);
        }
        return options;
    });
    bindViews(cls);
    bindBodies(m, cls);
    bindMaterials(m, cls);
    bindJoints(m, cls);
    bindCouplings(m, cls);
    bindSensors(m, cls);
    bindForces(m, cls);
    bindQueries(cls);
    bindContacts(m, cls);
    bindScenes(m, cls);
    bindRuns(m, cls);
}
