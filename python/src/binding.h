// What the files of the extension share: the object behind tippe.World, arguments that are checked
// by name, and errors of the C library as Python exceptions.
//
// The extension sees the public headers only, but for the page of a live world (watching.cpp).
// Every call into a world starts with use(), which refuses a world that another thread is stepping.

#ifndef TIPPE_PYTHON_BINDING_H
#define TIPPE_PYTHON_BINDING_H

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <vector>

#include "tippe/recording.h"
#include "tippe/scene.h"
#include "tippe/state.h"
#include "tippe/tippe.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

// Errors --------------------------------------------------------------------------------------

[[noreturn]] void raiseValue(const char* format, ...) TP_PRINTF(1, 2);
[[noreturn]] void raiseRuntime(const char* format, ...) TP_PRINTF(1, 2);

// What the C library says, as the exception of its kind: ValueError, MemoryError, OSError,
// tippe.UnsupportedError, RuntimeError.
[[noreturn]] void raiseError(const tpError& error);

// The same for errors of scenes, whose message starts with "file:line:column: ": tippe.SceneError.
[[noreturn]] void raiseScene(const tpError& error);

// Raises what the mistake hook was told since the last call, if anything.
void raiseMistake();

// Arguments -----------------------------------------------------------------------------------
// Each raises a ValueError that names the argument.

enum class Range { any, notNegative, positive, zeroToOne };

double numberOf(nb::handle value, const char* name, Range range = Range::any);
int integerOf(nb::handle value, const char* name, int least, int most);
bool flagOf(nb::handle value, const char* name);
tpVec3 vectorOf(nb::handle value, const char* name);
tpVec3 directionOf(nb::handle value, const char* name); // a vector that is not zero
tpQuat rotationOf(nb::handle value, const char* name);  // w x y z, brought to length one
void numbersOf(nb::handle value, const char* name, int count, double* numbers);
std::string textOf(nb::handle value, const char* name);
tpStepperId stepperOf(nb::handle value); // the argument stepper

// A contiguous copy (or the array itself) of rows of `width` numbers; rows of any number.
using Rows = nb::ndarray<nb::numpy, const double, nb::ndim<2>, nb::c_contig>;
Rows rowsOf(nb::handle value, const char* name, int width);

// Arrays for Python ---------------------------------------------------------------------------

// Read-only copies.
nb::object arrayOf(tpVec3 v);
nb::object arrayOf(tpQuat q);
nb::object arrayOf(const tpMat33& m); // rows

// A new array that owns `data`, of the given shape.
nb::object arrayOf(std::vector<double>&& data, std::vector<size_t> shape);

// Views ---------------------------------------------------------------------------------------

// The states of some bodies as four arrays that numpy looks at: positions, rotations, velocities,
// angular velocities (views.cpp).
struct StateBlock {
    static constexpr int kinds = 4;
    std::vector<tpBodyId> bodies; // a row each
    std::vector<double> numbers[kinds];
    bool isWatched[kinds] = {}; // somebody asked for it: it is kept up to date
};

// The world ------------------------------------------------------------------------------------

// Names of bodies as numpy has texts, for tables of contacts (contacts.cpp).
struct BodyLabels {
    uint64_t structure = 0;        // of the world when they were made
    std::vector<int> placeBySlot;  // among all bodies; -1: none
    size_t width = 1;              // letters of the longest name
    std::vector<char32_t> letters; // `width` for each body
    nb::object type;               // of a row of contacts
};

struct World {
    tpWorld* world = nullptr;
    double step = 0.01;             // s, of step() without an argument
    double until = -1.0;            // s, of the scene; negative: none
    std::shared_ptr<tpScene> scene; // that it was made from, or null
    std::string sceneName;          // of recordings
    std::string sceneText;          // kept in recordings; made when it is asked for
    bool isBusy = false;            // a thread is stepping it without the interpreter's lock
    BodyLabels labels;
    std::shared_ptr<StateBlock> block; // of all moving bodies, in order of creation; may be null
    uint64_t blockStructure = 0;       // of the world when it was made
    std::vector<std::weak_ptr<StateBlock>> older; // of bodies that were the moving ones once
    std::vector<int> rowOfSlot;                   // in `block`, by slot of the body; -1: none
    nb::object views[StateBlock::kinds];          // the arrays of `block` that somebody asked for
    struct WorldWatch* watch = nullptr;           // of a page that looks at it (watching.cpp)

    World() = default;
    World(const World&) = delete;
    ~World();
};

// At the start of every call into a world: refuses one that another thread is stepping.
void use(const World& world);

// Steps without the interpreter's lock; other threads are refused until it ends.
class Away {
  public:
    explicit Away(World& world) : world(world) {
        world.isBusy = true;
        state = PyEval_SaveThread();
    }
    ~Away() {
        PyEval_RestoreThread(state);
        world.isBusy = false;
    }
    Away(const Away&) = delete;

  private:
    World& world;
    PyThreadState* state;
};

// The scene as text, with what was overridden, as the program keeps it in recordings; "" if there
// is none.
const std::string& sceneTextOf(World& world);
std::string formatScene(const tpScene* scene);

// Pages that look at a world (watching.cpp): before steps, with the interpreter's lock; and after
// each step, without it.
void prepareWatch(World& world);
void noteStep(World& world, const tpStepReport& report, double h);

// Views (views.cpp): what Python wrote goes into the world, what the world did goes to the arrays.
// Raises where a row is not finite; the row is reset. Before a step the arrays are left as the user
// wrote them.
void pushViews(World& world, bool isStepNext = false);
void pushRow(World& world, tpBodyId body); // the same for one body
void pullViews(World& world);
void pullRow(World& world, tpBodyId body);
const std::vector<tpBodyId>& movingBodies(World& world);

// The parts of the module.
void bindErrors(nb::module_& m);
void bindWorld(nb::module_& m);
void bindViews(nb::class_<World>& cls);
void bindBodies(nb::module_& m, nb::class_<World>& cls);
void bindMaterials(nb::module_& m, nb::class_<World>& cls);
void bindCouplings(nb::module_& m, nb::class_<World>& cls);
void bindJoints(nb::module_& m, nb::class_<World>& cls);
void bindContacts(nb::module_& m, nb::class_<World>& cls);
void bindScenes(nb::module_& m, nb::class_<World>& cls);
void bindRuns(nb::module_& m, nb::class_<World>& cls);
void bindWatching(nb::module_& m);
void bindSolvers(nb::module_& m);
void bindBatches(nb::module_& m);
void bindForces(nb::module_& m, nb::class_<World>& cls);
void bindQueries(nb::class_<World>& cls);
void bindSensors(nb::module_& m, nb::class_<World>& cls);

#endif
