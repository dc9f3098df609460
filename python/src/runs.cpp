// World.run: steps in a row, with what they did kept by columns; and recordings read the same way.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <mutex>
#include <unordered_map>

#include "binding.h"

namespace {

// HDF5 is not made for two threads at once, and reading happens without the interpreter's lock.
std::mutex hdf5Mutex;

// What a run left behind: frames in memory, or a recording in a file. The same columns by the same
// numbers.
struct Trace {
    tpRecorder* recorder = nullptr;
    tpRecording* recording = nullptr;
    tpAudit audit = {};
    double stepSeconds = 0.0; // of this thread's processor time, in steps; from an eighth of them

    std::string stepper, sceneName, sceneText;
    std::shared_ptr<tpScene> scene; // whose text was not needed yet
    double step = 0.0;
    int every = 1;
    bool isPlanar = false, isFinished = true;
    tpVec3 gravity = {};
    std::vector<std::string> bodies, moving, joints;
    std::vector<std::string> coordinates, sensorColumns; // "knee", "hip.swing"; "imu.x"

    Trace() = default;
    Trace(const Trace&) = delete;
    ~Trace() {
        tpCloseRecorder(recorder, nullptr, nullptr);
        if (recording != nullptr) {
            std::lock_guard<std::mutex> lock(hdf5Mutex);
            tpCloseRecording(recording);
        }
    }
};

std::string nameOr(const char* name, const char* otherwise, int index) {
    return name != nullptr && name[0] != '\0' ? name : otherwise + std::to_string(index);
}

void describeWorld(World& world, Trace& trace) {
    const tpWorld* w = world.world;
    trace.stepper = tpStepperName(tpWorld_GetStepper(w));
    trace.sceneName = world.sceneName;
    trace.scene = world.scene;
    trace.isPlanar = tpWorld_IsPlanar(w);
    trace.gravity = tpWorld_GetGravity(w);
    int bodyCount = tpWorld_GetBodyCount(w);
    for (int i = 0; i < bodyCount; ++i) {
        tpBodyId body = tpWorld_GetBody(w, i);
        trace.bodies.push_back(nameOr(tpBody_GetName(w, body), "body", i));
        if (tpBody_GetKind(w, body) != tp_fixedBody) {
            trace.moving.push_back(trace.bodies.back());
        }
    }
    int jointCount = tpWorld_GetJointCount(w);
    for (int i = 0; i < jointCount; ++i) {
        trace.joints.push_back(nameOr(tpJoint_GetName(w, tpWorld_GetJoint(w, i)), "joint", i));
    }
}

// Stepping ------------------------------------------------------------------------------------

// Tells Python from time to time how far it is, and listens for Ctrl-C.
class Watch {
  public:
    explicit Watch(nb::handle progress) : progress(progress) {}

    // False where Python raised something; the error is set.
    bool look(int64_t done) {
        auto now = std::chrono::steady_clock::now();
        if (now - last < std::chrono::milliseconds(50)) {
            return true;
        }
        last = now;
        nb::gil_scoped_acquire acquire;
        return PyErr_CheckSignals() == 0 && tell(done);
    }

    // With the interpreter's lock held.
    bool tell(int64_t done) {
        if (progress.is_none()) {
            return true;
        }
        nb::object number = nb::int_(done);
        PyObject* answer = PyObject_CallFunctionObjArgs(progress.ptr(), number.ptr(), nullptr);
        Py_XDECREF(answer);
        return answer != nullptr;
    }

  private:
    nb::handle progress;
    std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

// Of this thread.
double processorSeconds() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// An eighth of all steps is timed, others in every run.
bool isTimedStep() {
    thread_local uint64_t place = 0;
    place += UINT64_C(0x9e3779b97f4a7c15);
    return place >> 61 == 0;
}

// Steps until the end, or until Python raises or the recorder fails. True if all steps were done.
bool stepAll(World& world, Trace& trace, int64_t steps, double h, Watch& watch, tpError* error) {
    bool isDone = true;
    for (int64_t k = 0; k < steps && isDone; ++k) {
        tpStepReport report;
        if (isTimedStep()) {
            double before = processorSeconds();
            report = tpWorld_Step(world.world, h);
            trace.stepSeconds += 8.0 * (processorSeconds() - before);
        } else {
            report = tpWorld_Step(world.world, h);
        }
        tpAudit_AddStep(&trace.audit, &report);
        noteStep(world, report, h);
        isDone = tpRecorder_Step(trace.recorder, world.world, &report, error) == tp_success &&
                 watch.look(k + 1);
    }
    return isDone;
}

Trace* run(World& world, int64_t steps, int every, double h, bool statesOnly, nb::handle path,
           nb::handle progress) {
    use(world);
    pushViews(world);
    auto trace = std::make_unique<Trace>();
    trace->step = h;
    trace->every = every;
    describeWorld(world, *trace);
    if (!statesOnly) {
        trace->sceneText = sceneTextOf(world);
    }
    tpRecorderDef def = tpDefaultRecorderDef();
    std::string file = path.is_none() ? "" : textOf(path, "path");
    def.path = path.is_none() ? nullptr : file.c_str();
    def.sceneText = trace->sceneText.c_str();
    def.sceneName = trace->sceneName.c_str();
    def.step = h;
    def.every = every;
    def.statesOnly = statesOnly;
    def.background = false; // another thread of Python may be reading a recording
    tpError error = {};
    trace->recorder = tpCreateRecorder(&def, world.world, &error);
    if (trace->recorder == nullptr) {
        raiseError(error);
    }
    const char* name;
    for (int i = 0; (name = tpRecorder_GetCoordinateName(trace->recorder, i)) != nullptr; ++i) {
        trace->coordinates.push_back(name);
    }
    for (int i = 0; (name = tpRecorder_GetSensorColumn(trace->recorder, i)) != nullptr; ++i) {
        trace->sensorColumns.push_back(name);
    }
    tpAudit_Start(&trace->audit, world.world);
    Watch watch(progress);
    prepareWatch(world);
    bool isDone;
    {
        Away away(world);
        isDone = stepAll(world, *trace, steps, h, watch, &error);
    }
    pullViews(world);
    if (!path.is_none()) {
        tpError closing = {};
        tpRecorder* recorder = trace->recorder;
        trace->recorder = nullptr;
        if (tpCloseRecorder(recorder, &trace->audit, &closing) != tp_success && isDone) {
            raiseError(closing);
        }
    }
    if (!isDone && PyErr_Occurred() != nullptr) {
        throw nb::python_error();
    }
    if (!isDone) {
        raiseError(error);
    }
    if (!watch.tell(steps)) {
        throw nb::python_error();
    }
    return trace.release();
}

// Recordings ----------------------------------------------------------------------------------

Trace* openRecording(const std::string& path) {
    auto trace = std::make_unique<Trace>();
    tpError error = {};
    {
        nb::gil_scoped_release release;
        std::lock_guard<std::mutex> lock(hdf5Mutex);
        trace->recording = tpOpenRecording(path.c_str(), nullptr, &error);
    }
    if (trace->recording == nullptr) {
        raiseError(error);
    }
    const tpRecordingInfo* info = tpRecording_GetInfo(trace->recording);
    trace->stepper = info->stepper;
    trace->sceneName = info->sceneName;
    trace->sceneText = info->sceneText;
    trace->step = info->step;
    trace->every = info->every;
    trace->isPlanar = info->planar;
    trace->isFinished = info->finished;
    trace->gravity = info->gravity;
    trace->moving.resize(static_cast<size_t>(info->movingCount));
    for (int i = 0; i < info->bodyCount; ++i) {
        tpRecordedBody body = tpRecording_GetBody(trace->recording, i);
        trace->bodies.push_back(body.name);
        if (body.moving >= 0) {
            trace->moving[static_cast<size_t>(body.moving)] = body.name;
        }
    }
    for (int i = 0; i < info->jointCount; ++i) {
        trace->joints.push_back(tpRecording_GetJointName(trace->recording, i));
    }
    for (int i = 0; i < info->coordinateCount; ++i) {
        trace->coordinates.push_back(tpRecording_GetCoordinateName(trace->recording, i));
    }
    for (int i = 0; i < info->sensorValueCount; ++i) {
        trace->sensorColumns.push_back(tpRecording_GetSensorColumn(trace->recording, i));
    }
    return trace.release();
}

// Columns -------------------------------------------------------------------------------------

tpRecordedColumn describe(const Trace& trace, int column) {
    return trace.recording != nullptr ? tpRecording_GetColumn(trace.recording, column)
                                      : tpRecorder_GetColumn(trace.recorder, column);
}

nb::dlpack::dtype typeOf(char letter) {
    switch (letter) {
    case 'd':
        return nb::dtype<double>();
    case 'i':
        return nb::dtype<int32_t>();
    case 'q':
        return nb::dtype<int64_t>();
    case 'Q':
        return nb::dtype<uint64_t>();
    default:
        return nb::dtype<uint8_t>();
    }
}

void fillColumn(Trace& trace, int column, int64_t rows, void* bytes) {
    if (trace.recording == nullptr) {
        tpRecorder_CopyColumn(trace.recorder, column, bytes);
        return;
    }
    tpError error = {};
    tpResult result;
    {
        nb::gil_scoped_release release;
        std::lock_guard<std::mutex> lock(hdf5Mutex);
        result = tpRecording_ReadColumn(trace.recording, column, 0, rows, bytes, &error);
    }
    if (result != tp_success) {
        raiseError(error);
    }
}

// The number of a column by its path; -1: there is none.
int findColumn(const Trace& trace, const std::string& path) {
    static const std::unordered_map<std::string, int> numbers = [&] {
        std::unordered_map<std::string, int> made;
        for (int i = 0; i < tpRecordedColumnCount(); ++i) {
            made[describe(trace, i).path] = i;
        }
        return made;
    }();
    auto found = numbers.find(path);
    return found != numbers.end() ? found->second : -1;
}

// The rows of a column, or None where there is no such column.
nb::object readColumn(Trace& trace, const std::string& path) {
    if (trace.recorder == nullptr && trace.recording == nullptr) {
        raiseRuntime("this run was written to a file; open that");
    }
    int column = findColumn(trace, path);
    if (column < 0) {
        return nb::none();
    }
    tpRecordedColumn info = describe(trace, column);
    nb::dlpack::dtype type = typeOf(info.type);
    size_t width = static_cast<size_t>(info.width), rows = static_cast<size_t>(info.rowCount);
    char* bytes = new char[rows * width * type.bits / 8 + 1];
    nb::capsule owner(bytes, [](void* p) noexcept { delete[] static_cast<char*>(p); });
    if (rows > 0 && width > 0) {
        fillColumn(trace, column, info.rowCount, bytes);
    }
    size_t shape[2] = { rows, width };
    size_t rank = info.width == 1 ? 1 : 2;
    return nb::cast(nb::ndarray<nb::numpy>(bytes, rank, shape, owner, nullptr, type));
}

nb::dict allColumns(const Trace& trace) {
    nb::dict made;
    for (int i = 0; i < tpRecordedColumnCount(); ++i) {
        tpRecordedColumn info = describe(trace, i);
        made[info.path] = nb::make_tuple(info.unit, info.about, info.rowCount);
    }
    return made;
}

nb::list labels(const Trace& trace) {
    nb::list made;
    for (int i = 0;; ++i) {
        const char* label = trace.recording != nullptr ? tpRecording_GetLabel(trace.recording, i)
                                                       : tpRecorder_GetLabel(trace.recorder, i);
        if (label == nullptr) {
            return made;
        }
        made.append(label);
    }
}

std::string summaryOf(const Trace& trace) {
    if (trace.recording != nullptr) {
        return tpRecording_GetSummary(trace.recording);
    }
    std::string text(tpAudit_FormatJson(&trace.audit, nullptr, 0) + 1, '\0');
    tpAudit_FormatJson(&trace.audit, &text[0], text.size());
    text.pop_back();
    return text;
}

void save(Trace& trace, const std::string& path) {
    if (trace.recorder == nullptr) {
        raiseRuntime("this run is in a file already");
    }
    tpError error = {};
    tpResult result;
    {
        nb::gil_scoped_release release;
        std::lock_guard<std::mutex> lock(hdf5Mutex);
        result = tpRecorder_Save(trace.recorder, path.c_str(), &trace.audit, &error);
    }
    if (result != tp_success) {
        raiseError(error);
    }
}

nb::list listOf(const std::vector<std::string>& names) {
    nb::list made;
    for (const std::string& name : names) {
        made.append(name);
    }
    return made;
}

// For bench/python: processor seconds of so many steps in C.
double timeSteps(World& world, int count) {
    use(world);
    pushViews(world);
    double spent;
    {
        Away away(world);
        double before = processorSeconds();
        for (int i = 0; i < count; ++i) {
            tpWorld_Step(world.world, world.step);
        }
        spent = processorSeconds() - before;
    }
    pullViews(world);
    return spent;
}

} // namespace

void bindRuns(nb::module_& m, nb::class_<World>& cls) {
    nb::class_<Trace>(m, "Trace", "What a run left behind, by columns; tippe.Run shows it.")
        .def("column", &readColumn, "path"_a)
        .def("columns", &allColumns)
        .def("labels", &labels)
        .def("summary", &summaryOf)
        .def("save", &save, "path"_a)
        .def_ro("stepper", &Trace::stepper)
        .def_ro("scene_name", &Trace::sceneName)
        .def_prop_ro("scene_text",
                     [](Trace& t) {
                         if (t.sceneText.empty() && t.scene != nullptr) {
                             t.sceneText = formatScene(t.scene.get());
                         }
                         return t.sceneText;
                     })
        .def_ro("step", &Trace::step)
        .def_ro("step_seconds", &Trace::stepSeconds)
        .def_ro("every", &Trace::every)
        .def_ro("planar", &Trace::isPlanar)
        .def_ro("finished", &Trace::isFinished)
        .def_prop_ro("gravity", [](const Trace& t) { return arrayOf(t.gravity); })
        .def_prop_ro("bodies", [](const Trace& t) { return listOf(t.bodies); })
        .def_prop_ro("moving", [](const Trace& t) { return listOf(t.moving); })
        .def_prop_ro("joints", [](const Trace& t) { return listOf(t.joints); })
        .def_prop_ro("coordinates", [](const Trace& t) { return listOf(t.coordinates); })
        .def_prop_ro("sensor_columns", [](const Trace& t) { return listOf(t.sensorColumns); });
    m.def("_open_recording", &openRecording, "path"_a, nb::rv_policy::take_ownership);
    cls.def("_time_steps", &timeSteps, "count"_a);
    cls.def("_run", &run, "steps"_a, "every"_a, "step"_a, "states_only"_a, "path"_a.none(),
            "progress"_a.none(), nb::rv_policy::take_ownership);
}
