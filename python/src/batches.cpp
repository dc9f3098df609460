// tippe.Batch: many worlds of one scene, stepped by threads, with their states as arrays.
//
// As for one world (views.cpp), numpy looks at arrays of the extension's own: filled after every
// step, compared with the worlds before it. Each of them has a twin that remembers what it showed:
// rows that differ from it were written by the user, whereas worlds may be changed by other ways
// too (batch[7]["ball"].position = ...). Worlds know nothing of each other, so results do not
// depend on the number of threads.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "binding.h"

namespace {

constexpr int kinds = StateBlock::kinds;
constexpr int widths[kinds] = { 3, 4, 3, 3 };
const char* const names[kinds] = { "positions", "rotations", "velocities", "angular_velocities" };

// What steps reported, a row per world.
struct ReportRow {
    double time, residual, penetration, energy, jointDrift;
    int32_t contacts;
    uint8_t converged, certified, undone, reserve;
};

struct Batch {
    nb::list owners; // the worlds as Python has them
    std::vector<World*> worlds;
    tpBatch* batch = nullptr;                         // of all of them: their threads and starts
    size_t bodyCount = 0, coordinateCount = 0;        // of each world
    std::vector<uint64_t> structures;                 // of each world when it was last looked at
    std::vector<double> numbers[kinds], shown[kinds]; // for users; what they showed last
    bool isWatched[kinds] = {};

    Batch() = default;
    Batch(const Batch&) = delete;
    ~Batch() { tpDestroyBatch(batch); }
};

double* partOf(Batch& batch, int kind, size_t world) {
    return batch.isWatched[kind]
               ? batch.numbers[kind].data() + world * batch.bodyCount * widths[kind]
               : nullptr;
}

tpStateArrays arraysOf(Batch& batch, size_t world) {
    return { partOf(batch, 0, world), partOf(batch, 1, world), partOf(batch, 2, world),
             partOf(batch, 3, world) };
}

bool hasWatched(const Batch& batch) {
    return batch.isWatched[0] || batch.isWatched[1] || batch.isWatched[2] || batch.isWatched[3];
}

// All worlds can be used by this thread, and have the bodies and joints of the first still.
void useAll(Batch& batch) {
    for (size_t i = 0; i < batch.worlds.size(); ++i) {
        World& world = *batch.worlds[i];
        use(world);
        uint64_t structure = tpWorld_GetStructure(world.world);
        if (structure == batch.structures[i]) {
            continue;
        }
        if (static_cast<size_t>(tpWorld_GetMovingCount(world.world)) != batch.bodyCount ||
            static_cast<size_t>(tpWorld_GetCoordinateCount(world.world)) != batch.coordinateCount) {
            raiseValue("world %zu of the batch has other bodies or joints than it had at first", i);
        }
        batch.structures[i] = structure;
    }
}

void pull(Batch& batch, size_t world) {
    if (!hasWatched(batch)) {
        return;
    }
    tpStateArrays arrays = arraysOf(batch, world);
    tpWorld_ReadState(batch.worlds[world]->world, &arrays);
    for (int kind = 0; kind < kinds; ++kind) {
        if (batch.isWatched[kind]) {
            size_t size = batch.bodyCount * widths[kind];
            std::memcpy(batch.shown[kind].data() + world * size, partOf(batch, kind, world),
                        size * sizeof(double));
        }
    }
}

// Rows that the user did not write take what the world has now. False if all are such rows.
bool takeWritten(Batch& batch, size_t world) {
    bool isWritten[kinds] = {};
    for (int kind = 0; kind < kinds; ++kind) {
        size_t size = batch.bodyCount * widths[kind];
        isWritten[kind] = batch.isWatched[kind] &&
                          std::memcmp(batch.shown[kind].data() + world * size,
                                      partOf(batch, kind, world), size * sizeof(double)) != 0;
    }
    if (std::none_of(isWritten, isWritten + kinds, [](bool is) { return is; })) {
        return false;
    }
    std::vector<double> now[kinds];
    tpStateArrays arrays = {};
    double** const places[kinds] = { &arrays.positions, &arrays.rotations, &arrays.velocities,
                                     &arrays.angularVelocities };
    for (int kind = 0; kind < kinds; ++kind) {
        now[kind].resize(batch.bodyCount * widths[kind]);
        *places[kind] = now[kind].data();
    }
    tpWorld_ReadState(batch.worlds[world]->world, &arrays);
    for (int kind = 0; kind < kinds; ++kind) {
        for (size_t i = 0; batch.isWatched[kind] && i < batch.bodyCount; ++i) {
            size_t row = i * widths[kind], size = sizeof(double) * widths[kind];
            double* mine = partOf(batch, kind, world) + row;
            const double* last =
                batch.shown[kind].data() + world * batch.bodyCount * widths[kind] + row;
            if (std::memcmp(mine, last, size) == 0) {
                std::memcpy(mine, now[kind].data() + row, size);
            }
        }
    }
    return true;
}

// What was written to the arrays goes into the worlds. A world whose rows are refused shows its
// state again.
void push(Batch& batch) {
    for (World* world : batch.worlds) {
        pushViews(*world);
    }
    for (size_t i = 0; hasWatched(batch) && i < batch.worlds.size(); ++i) {
        if (!takeWritten(batch, i)) {
            continue;
        }
        tpStateArrays arrays = arraysOf(batch, i);
        tpError error = {};
        tpResult result = tpWorld_WriteState(batch.worlds[i]->world, &arrays, &error);
        pull(batch, i);
        if (result != tp_success) {
            raiseValue("world %zu of the batch: %s", i, error.message);
        }
        pullViews(*batch.worlds[i]);
    }
}

// Calls act(i) for every world, on the threads of the batch, without the interpreter's lock.
template <typename Act> void forAll(Batch& batch, Act act) {
    for (World* world : batch.worlds) {
        world->isBusy = true;
    }
    {
        nb::gil_scoped_release release;
        tpBatchFunction call = [](void* context, tpWorld*, int i) {
            (*static_cast<Act*>(context))(static_cast<size_t>(i));
        };
        tpBatch_ForEach(batch.batch, call, &act);
    }
    for (World* world : batch.worlds) {
        world->isBusy = false;
    }
}

void createBatch(Batch* self, nb::list worlds, int threads) {
    new (self) Batch();
    self->owners = worlds;
    std::vector<tpWorld*> members;
    for (nb::handle item : worlds) {
        self->worlds.push_back(nb::cast<World*>(item));
        members.push_back(self->worlds.back()->world);
    }
    const tpWorld* first = self->worlds[0]->world;
    self->bodyCount = static_cast<size_t>(tpWorld_GetMovingCount(first));
    self->coordinateCount = static_cast<size_t>(tpWorld_GetCoordinateCount(first));
    for (World* world : self->worlds) {
        self->structures.push_back(tpWorld_GetStructure(world->world));
    }
    tpBatchDef def = tpDefaultBatchDef();
    def.worlds = members.data();
    def.worldCount = static_cast<int>(members.size());
    def.threadCount = threads;
    tpError error = {};
    self->batch = tpCreateBatch(&def, &error);
    if (self->batch == nullptr) {
        self->~Batch();
        raiseError(error);
    }
}

ReportRow rowOf(const tpStepReport& report) {
    ReportRow row = {};
    row.time = report.time;
    row.residual = report.residual;
    row.penetration = report.penetration;
    row.energy = report.kineticAfter + report.potentialAfter;
    row.jointDrift = report.jointDrift;
    row.contacts = report.contactCount;
    row.converged = report.converged;
    row.certified = report.violations == 0;
    row.undone = report.undone;
    return row;
}

nb::object reportArray(std::vector<ReportRow>&& rows) {
    size_t count = rows.size();
    nb::object numpy = nb::module_::import_("numpy");
    nb::list fields;
    for (const char* name : { "time", "residual", "penetration", "energy", "joint_drift" }) {
        fields.append(nb::make_tuple(name, "f8"));
    }
    fields.append(nb::make_tuple("contacts", "i4"));
    for (const char* name : { "converged", "certified", "undone", "_" }) {
        fields.append(nb::make_tuple(name, "?"));
    }
    nb::object bytes = nb::steal(
        PyByteArray_FromStringAndSize(reinterpret_cast<const char*>(rows.data()),
                                      static_cast<Py_ssize_t>(count * sizeof(ReportRow))));
    return numpy.attr("frombuffer")(bytes, "dtype"_a = fields);
}

nb::object step(Batch& batch, nb::handle size, int steps) {
    useAll(batch);
    if (steps < 1) {
        raiseValue("steps: expected one or more, got %d", steps);
    }
    double h = size.is_none() ? batch.worlds[0]->step : numberOf(size, "step", Range::positive);
    push(batch);
    std::vector<ReportRow> rows(batch.worlds.size());
    forAll(batch, [&](size_t i) {
        tpStepReport report = {};
        for (int k = 0; k < steps; ++k) {
            report = tpWorld_Step(batch.worlds[i]->world, h);
        }
        rows[i] = rowOf(report);
        pull(batch, i);
    });
    for (World* world : batch.worlds) {
        pullViews(*world);
    }
    return reportArray(std::move(rows));
}

// None: all; a mask of True and False; or numbers of worlds.
std::vector<size_t> chosenOf(const Batch& batch, nb::handle value) {
    std::vector<size_t> chosen;
    size_t count = batch.worlds.size();
    if (value.is_none()) {
        for (size_t i = 0; i < count; ++i) {
            chosen.push_back(i);
        }
        return chosen;
    }
    nb::object numpy = nb::module_::import_("numpy");
    nb::object array = numpy.attr("asarray")(value);
    std::string kind = nb::cast<std::string>(nb::object(array.attr("dtype").attr("kind")));
    if (kind == "b") {
        if (nb::cast<size_t>(nb::object(array.attr("size"))) != count) {
            raiseValue("worlds: expected %zu of True and False", count);
        }
        array = numpy.attr("flatnonzero")(array);
    } else if (kind != "i" && kind != "u" && nb::cast<size_t>(nb::object(array.attr("size"))) > 0) {
        raiseValue("worlds: expected None, a mask of True and False, or numbers of worlds");
    }
    for (nb::handle item : nb::iter(nb::object(array.attr("ravel")()))) {
        auto i = nb::cast<long>(nb::object(item.attr("__int__")()));
        if (i < 0 || static_cast<size_t>(i) >= count) {
            raiseValue("worlds: there is no world %ld; there are %zu", i, count);
        }
        chosen.push_back(static_cast<size_t>(i));
    }
    return chosen;
}

void reset(Batch& batch, nb::handle worlds) {
    useAll(batch);
    std::vector<size_t> chosen = chosenOf(batch, worlds);
    push(batch);
    std::unique_ptr<bool[]> which(new bool[batch.worlds.size()]());
    for (size_t i : chosen) {
        which[i] = true;
    }
    tpError error = {};
    if (tpBatch_Reset(batch.batch, which.get(), &error) != tp_success) {
        raiseError(error);
    }
    for (size_t i : chosen) {
        pull(batch, i);
        pullViews(*batch.worlds[i]);
    }
}

// Views -------------------------------------------------------------------------------------------

nb::object getView(nb::handle self, int kind) {
    Batch& batch = nb::cast<Batch&>(self);
    useAll(batch);
    push(batch);
    if (!batch.isWatched[kind]) {
        size_t size = batch.worlds.size() * batch.bodyCount * widths[kind] + 1;
        batch.numbers[kind].resize(size);
        batch.shown[kind].resize(size);
        batch.isWatched[kind] = true;
    }
    for (size_t i = 0; i < batch.worlds.size(); ++i) {
        pull(batch, i);
    }
    size_t shape[3] = { batch.worlds.size(), batch.bodyCount, static_cast<size_t>(widths[kind]) };
    // The array keeps the batch alive.
    return nb::cast(
        nb::ndarray<nb::numpy, double, nb::ndim<3>>(batch.numbers[kind].data(), 3, shape, self));
}

// An array of the given last two sizes, from anything numpy can spread to it.
nb::ndarray<nb::numpy, const double, nb::c_contig> spread(nb::handle value, const char* name,
                                                          nb::tuple shape) {
    nb::object numpy = nb::module_::import_("numpy");
    nb::object made;
    try {
        made = numpy.attr("ascontiguousarray")(
            numpy.attr("broadcast_to")(numpy.attr("asarray")(value, "dtype"_a = "float64"), shape));
    } catch (nb::python_error&) {
        std::string wanted = nb::cast<std::string>(nb::str(shape));
        raiseValue("%s: expected an array of shape %s", name, wanted.c_str());
    }
    return nb::cast<nb::ndarray<nb::numpy, const double, nb::c_contig>>(made);
}

void setView(nb::handle self, int kind, nb::handle value) {
    Batch& batch = nb::cast<Batch&>(self);
    getView(self, kind);
    auto array = spread(value, names[kind],
                        nb::make_tuple(batch.worlds.size(), batch.bodyCount, widths[kind]));
    std::copy_n(array.data(), array.size(), batch.numbers[kind].data());
    push(batch);
    for (size_t i = 0; i < batch.worlds.size(); ++i) {
        pull(batch, i); // as the worlds took it
        pullViews(*batch.worlds[i]);
    }
}

// Joints ------------------------------------------------------------------------------------------

enum class Column { values, speeds, efforts };

nb::object readColumn(Batch& batch, Column column) {
    useAll(batch);
    push(batch);
    size_t count = batch.worlds.size(), width = batch.coordinateCount;
    std::vector<double> numbers(count * width);
    for (size_t i = 0; i < count; ++i) {
        double* row = numbers.data() + i * width;
        tpWorld_ReadCoordinates(batch.worlds[i]->world, column == Column::values ? row : nullptr,
                                column == Column::speeds ? row : nullptr,
                                column == Column::efforts ? row : nullptr);
    }
    nb::object array = arrayOf(std::move(numbers), { count, width });
    array.attr("flags").attr("writeable") = false;
    return array;
}

nb::ndarray<nb::numpy, const double, nb::c_contig> columnOf(Batch& batch, nb::handle value,
                                                            const char* name) {
    return spread(value, name, nb::make_tuple(batch.worlds.size(), batch.coordinateCount));
}

// Calls act(world, row, error) for every world; what one refuses is told with its number.
template <typename Act>
void writeColumn(Batch& batch, nb::handle value, const char* name, Act act) {
    auto array = columnOf(batch, value, name);
    for (size_t i = 0; i < batch.worlds.size(); ++i) {
        tpError error = {};
        const double* row = array.data() + i * batch.coordinateCount;
        if (act(batch.worlds[i]->world, row, &error) != tp_success) {
            raiseValue("%s: world %zu: %s", name, i, error.message);
        }
    }
}

void setColumn(Batch& batch, nb::handle value, Column column) {
    useAll(batch);
    push(batch);
    writeColumn(batch, value, column == Column::values ? "joint_values" : "joint_speeds",
                [&](tpWorld* world, const double* row, tpError* error) {
                    return tpWorld_WriteCoordinates(world, column == Column::values ? row : nullptr,
                                                    column == Column::speeds ? row : nullptr,
                                                    error);
                });
    for (size_t i = 0; i < batch.worlds.size(); ++i) {
        pull(batch, i);
        pullViews(*batch.worlds[i]);
    }
}

void setTargets(Batch& batch, nb::handle targets, nb::handle speeds) {
    useAll(batch);
    if (!targets.is_none()) {
        writeColumn(batch, targets, "targets",
                    [](tpWorld* world, const double* row, tpError* error) {
                        return tpWorld_WriteTargets(world, row, nullptr, error);
                    });
    }
    if (!speeds.is_none()) {
        writeColumn(batch, speeds, "speeds", [](tpWorld* world, const double* row, tpError* error) {
            return tpWorld_WriteTargets(world, nullptr, row, error);
        });
    }
}

void applyEfforts(Batch& batch, nb::handle efforts) {
    useAll(batch);
    writeColumn(batch, efforts, "efforts", [](tpWorld* world, const double* row, tpError* error) {
        return tpWorld_ApplyEfforts(world, row, error);
    });
}

// Fields of tpBatch: numbers of worlds that may differ -------------------------------------------

nb::object readField(Batch& batch, tpBatchField field) {
    useAll(batch);
    push(batch);
    size_t count = batch.worlds.size();
    size_t width = static_cast<size_t>(tpBatch_GetWidth(batch.batch, field));
    std::vector<double> numbers(count * width);
    tpError error = {};
    if (tpBatch_Read(batch.batch, field, numbers.data(), &error) != tp_success) {
        raiseError(error);
    }
    nb::object array = arrayOf(std::move(numbers), { count, width });
    array.attr("flags").attr("writeable") = false;
    return array;
}

void writeField(Batch& batch, tpBatchField field, nb::handle value) {
    useAll(batch);
    push(batch);
    const char* name = tpBatchFieldName(field);
    auto array = spread(value, name,
                        nb::make_tuple(batch.worlds.size(), tpBatch_GetWidth(batch.batch, field)));
    tpError error = {};
    if (tpBatch_Write(batch.batch, field, array.data(), &error) != tp_success) {
        raiseValue("%s: %s", name, error.message);
    }
}

void bindFields(nb::class_<Batch>& cls) {
    auto add = [&](auto which, nb::sig getter, nb::sig setter, const char* help) {
        constexpr tpBatchField field = decltype(which)::value;
        cls.def_prop_rw(
            tpBatchFieldName(field), [](Batch& b) { return readField(b, field); },
            [](Batch& b, nb::handle value) { writeField(b, field, value); }, nb::for_getter(getter),
            nb::for_setter(setter), help);
    };
    add(std::integral_constant<tpBatchField, tp_batchGravity>(),
        nb::sig("def gravity(self) -> FloatArray"),
        nb::sig("def gravity(self, value: ArrayLike, /) -> None"),
        "Gravity of each world, m/s^2, of shape (worlds, 3). A copy: assign to set it.");
    add(std::integral_constant<tpBatchField, tp_batchMasses>(),
        nb::sig("def masses(self) -> FloatArray"),
        nb::sig("def masses(self, value: ArrayLike, /) -> None"),
        "Masses of what moves, kg, of shape (worlds, n); moments of inertia follow in proportion.\n"
        "A copy: assign to set them. 0 for kinematic bodies.");
    add(std::integral_constant<tpBatchField, tp_batchStaticFriction>(),
        nb::sig("def static_friction(self) -> FloatArray"),
        nb::sig("def static_friction(self, value: ArrayLike, /) -> None"),
        "Coefficients of static friction of the materials, of shape (worlds, materials). A copy:\n"
        "assign to set them.");
    add(std::integral_constant<tpBatchField, tp_batchDynamicFriction>(),
        nb::sig("def dynamic_friction(self) -> FloatArray"),
        nb::sig("def dynamic_friction(self, value: ArrayLike, /) -> None"),
        "Coefficients of dynamic friction of the materials, as static_friction.");
    add(std::integral_constant<tpBatchField, tp_batchRestitution>(),
        nb::sig("def restitution(self) -> FloatArray"),
        nb::sig("def restitution(self, value: ArrayLike, /) -> None"),
        "Coefficients of restitution of the materials, as static_friction.");
    cls.def_prop_ro(
        "sensor_values", [](Batch& b) { return readField(b, tp_batchSensors); },
        nb::sig("def sensor_values(self) -> FloatArray"),
        "What all sensors read in the last step, of shape (worlds, values), in the order of\n"
        "World.sensor_names. A copy.");
}

void bindViews(nb::class_<Batch>& cls) {
    auto add = [&](auto kind, nb::sig getter, nb::sig setter, const char* help) {
        constexpr int k = decltype(kind)::value;
        cls.def_prop_rw(
            names[k], [](nb::handle self) { return getView(self, k); },
            [](nb::handle self, nb::handle value) { setView(self, k, value); },
            nb::for_getter(getter), nb::for_setter(setter), help);
    };
    add(std::integral_constant<int, 0>(), nb::sig("def positions(self) -> FloatArray"),
        nb::sig("def positions(self, value: ArrayLike, /) -> None"),
        "Positions of the centres of mass, m: a live array of shape (worlds, n, 3).\n\n"
        "It shows the bodies after every step; what is written to it moves them at the next call.");
    add(std::integral_constant<int, 1>(), nb::sig("def rotations(self) -> FloatArray"),
        nb::sig("def rotations(self, value: ArrayLike, /) -> None"),
        "Orientations, quaternions w x y z: a live array of shape (worlds, n, 4).");
    add(std::integral_constant<int, 2>(), nb::sig("def velocities(self) -> FloatArray"),
        nb::sig("def velocities(self, value: ArrayLike, /) -> None"),
        "Velocities of the centres of mass, m/s: a live array of shape (worlds, n, 3).");
    add(std::integral_constant<int, 3>(), nb::sig("def angular_velocities(self) -> FloatArray"),
        nb::sig("def angular_velocities(self, value: ArrayLike, /) -> None"),
        "Angular velocities, world axes, rad/s: a live array of shape (worlds, n, 3).");
}

void bindColumns(nb::class_<Batch>& cls) {
    cls.def_prop_rw(
           "joint_values", [](Batch& b) { return readColumn(b, Column::values); },
           [](Batch& b, nb::handle v) { setColumn(b, v, Column::values); },
           nb::for_getter(nb::sig("def joint_values(self) -> FloatArray")),
           nb::for_setter(nb::sig("def joint_values(self, value: ArrayLike, /) -> None")),
           "All coordinates of joints, rad or m, of shape (worlds, coordinates). A copy: assign to "
           "set them.")
        .def_prop_rw(
            "joint_speeds", [](Batch& b) { return readColumn(b, Column::speeds); },
            [](Batch& b, nb::handle v) { setColumn(b, v, Column::speeds); },
            nb::for_getter(nb::sig("def joint_speeds(self) -> FloatArray")),
            nb::for_setter(nb::sig("def joint_speeds(self, value: ArrayLike, /) -> None")),
            "Rates of all coordinates, rad/s or m/s. A copy: assign to set them.")
        .def_prop_ro(
            "joint_efforts", [](Batch& b) { return readColumn(b, Column::efforts); },
            nb::sig("def joint_efforts(self) -> FloatArray"),
            "Efforts of motors, servos and apply_efforts in the last step. A copy.")
        .def("set_targets", &setTargets, "targets"_a = nb::none(), "speeds"_a = nb::none(),
             nb::sig("def set_targets(self, targets: ArrayLike | None = None, speeds: ArrayLike | "
                     "None = None) -> None"),
             "Targets of all servos, of shape (worlds, coordinates) or what numpy spreads to it; "
             "NaN leaves\none as it is and stands where there is no servo.")
        .def("apply_efforts", &applyEfforts, "efforts"_a,
             nb::sig("def apply_efforts(self, efforts: ArrayLike) -> None"),
             "Efforts on all coordinates for the next step, of shape (worlds, coordinates).");
}

} // namespace

void bindBatches(nb::module_& m) {
    nb::class_<Batch> cls(m, "Batch", nb::is_weak_referenceable());
    cls.def("__init__", &createBatch, "worlds"_a, "threads"_a);
    cls.def("step", &step, "step"_a = nb::none(), "steps"_a = 1,
            nb::sig("def step(self, step: float | None = None, steps: int = 1) -> NDArray[Any]"),
            "A step of every world, or several; returns what the last one reported as a structured "
            "array,\na row per world: time, residual, penetration, energy, joint_drift, contacts, "
            "converged, certified,\nundone. The interpreter's lock is released meanwhile.");
    cls.def("reset", &reset, "worlds"_a = nb::none(),
            nb::sig("def reset(self, worlds: ArrayLike | None = None) -> None"),
            "Takes all worlds, or those of a mask or of numbers, back to their start.");
    cls.def_prop_ro(
        "worlds", [](const Batch& b) { return nb::list(b.owners); },
        nb::sig("def worlds(self) -> list[World]"),
        "The worlds, to look at one or to give each numbers of its own.");
    bindViews(cls);
    bindColumns(cls);
    bindFields(cls);
}
