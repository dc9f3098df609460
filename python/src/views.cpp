// Live arrays of the states of all moving bodies.
//
// The core keeps states in the order and the layout that its loops want, fixed bodies among the
// others, and a write behind its back would leave a sleeping body asleep and a quaternion without
// length one. So numpy looks at arrays of the extension's own, a block for each set of moving
// bodies. The arrays that somebody asked for are filled after every step, and compared with the
// world before every use of it: rows that differ were written by the user and go through the
// setters of the world, which check them.
//
// Invariant: between two calls into a world, a row of a block differs from the world only if the
// user wrote it.
//
// A block outlives the world and every change of its bodies, because the arrays own it. After
// bodies came or went, arrays that somebody still holds go on showing the bodies for which they
// were made; rows of bodies that are gone are NaN.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "binding.h"

namespace {

constexpr int kinds = StateBlock::kinds;
constexpr int widths[kinds] = { 3, 4, 3, 3 };
const char* const names[kinds] = { "positions", "rotations", "velocities", "angular_velocities" };

struct State {
    tpVec3 position;
    tpQuat rotation;
    tpVec3 velocity, angularVelocity;

    const double* part(int kind) const {
        const double* const parts[kinds] = { &position.x, &rotation.w, &velocity.x,
                                             &angularVelocity.x };
        return parts[kind];
    }
};

State stateOf(const tpWorld* world, tpBodyId body) {
    return { tpBody_GetPosition(world, body), tpBody_GetRotation(world, body),
             tpBody_GetVelocity(world, body), tpBody_GetAngularVelocity(world, body) };
}

double* rowOf(StateBlock& block, int kind, size_t i) {
    return block.numbers[kind].data() + static_cast<size_t>(widths[kind]) * i;
}

void fillRow(World& world, StateBlock& block, size_t i) {
    bool isThere = tpBody_IsValid(world.world, block.bodies[i]);
    State state = isThere ? stateOf(world.world, block.bodies[i]) : State{};
    for (int kind = 0; kind < kinds; ++kind) {
        if (!block.isWatched[kind]) {
            continue;
        }
        double* row = rowOf(block, kind, i);
        if (isThere) {
            std::memcpy(row, state.part(kind), sizeof(double) * widths[kind]);
        } else {
            std::fill_n(row, widths[kind], NAN);
        }
    }
}

[[noreturn]] void refuseRow(World& world, StateBlock& block, size_t i, const char* what) {
    std::string name = tpBody_GetName(world.world, block.bodies[i]);
    fillRow(world, block, i);
    raiseValue("%s: what was written for body \"%s\" (row %zu) %s; it was not taken", what,
               name.c_str(), i,
               std::strcmp(what, "rotations") == 0 ? "is no rotation" : "is not finite");
}

// What was written to a row goes into the world; all rows of the body then show what the world made
// of it. Of two arrays that were both written for one body, the older one counts.
void pushRowOf(World& world, StateBlock& block, size_t i) {
    tpBodyId body = block.bodies[i];
    if (!tpBody_IsValid(world.world, body)) {
        return;
    }
    State state = stateOf(world.world, body);
    bool isWritten[kinds] = {};
    for (int kind = 0; kind < kinds; ++kind) {
        if (!block.isWatched[kind]) {
            continue;
        }
        const double* row = rowOf(block, kind, i);
        size_t size = sizeof(double) * widths[kind];
        isWritten[kind] = std::memcmp(row, state.part(kind), size) != 0;
        if (isWritten[kind]) {
            double square = 0.0;
            for (int k = 0; k < widths[kind]; ++k) {
                square += row[k] * row[k];
                if (!std::isfinite(row[k])) {
                    refuseRow(world, block, i, names[kind]);
                }
            }
            if (kind == 1 && !(square > 1e-300 && std::isfinite(square))) {
                refuseRow(world, block, i, names[kind]);
            }
            std::memcpy(const_cast<double*>(state.part(kind)), row, size);
        }
    }
    if (isWritten[0] || isWritten[1]) {
        state.rotation = isWritten[1] ? tpNormalizeQuat(state.rotation) : state.rotation;
        // The world takes the pose of the body's frame; arrays have its centre of mass.
        tpVec3 arm = tpRotate(state.rotation, tpBody_GetMass(world.world, body).center);
        tpBody_SetPose(world.world, body, tpMakePose(tpSub(state.position, arm), state.rotation));
    }
    if (isWritten[2] || isWritten[3]) {
        tpBody_SetVelocity(world.world, body, state.velocity, state.angularVelocity);
    }
    if (isWritten[0] || isWritten[1] || isWritten[2] || isWritten[3]) {
        fillRow(world, block, i);
        pullRow(world, body);
    }
}

tpStateArrays watchedArrays(StateBlock& block) {
    auto data = [&](int kind) {
        return block.isWatched[kind] ? block.numbers[kind].data() : nullptr;
    };
    return { data(0), data(1), data(2), data(3) };
}

// The block of all moving bodies in one call each way. A row that the world refuses is looked for
// one by one.
void pushBlock(World& world, StateBlock& block) {
    tpStateArrays arrays = watchedArrays(block);
    tpError error = {};
    if (tpWorld_WriteState(world.world, &arrays, &error) != tp_success) {
        for (size_t i = 0; i < block.bodies.size(); ++i) {
            pushRowOf(world, block, i);
        }
        raiseError(error);
    }
}

void fillBlock(World& world, StateBlock& block) {
    tpStateArrays arrays = watchedArrays(block);
    tpWorld_ReadState(world.world, &arrays);
}

bool hasWatched(const StateBlock& block) {
    return std::any_of(block.isWatched, block.isWatched + kinds, [](bool is) { return is; });
}

bool isCurrent(const World& world) {
    return world.block != nullptr && world.blockStructure == tpWorld_GetStructure(world.world);
}

std::shared_ptr<StateBlock> makeBlock(const World& world) {
    auto block = std::make_shared<StateBlock>();
    int count = tpWorld_GetMovingCount(world.world);
    block->bodies.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
        block->bodies.push_back(tpWorld_GetMoving(world.world, i));
    }
    return block;
}

bool hasSameBodies(const StateBlock& a, const StateBlock& b) {
    return a.bodies.size() == b.bodies.size() &&
           std::equal(a.bodies.begin(), a.bodies.end(), b.bodies.begin(),
                      [](tpBodyId x, tpBodyId y) {
                          return x.slot == y.slot && x.generation == y.generation;
                      });
}

// Rows of blocks other than the current one, body by body.
template <typename Act> void forOlder(World& world, Act act) {
    for (size_t k = 0; k < world.older.size(); ++k) {
        if (std::shared_ptr<StateBlock> block = world.older[k].lock()) {
            for (size_t i = 0; i < block->bodies.size(); ++i) {
                act(*block, i);
            }
        }
    }
}

void forgetUnheld(World& world) {
    auto isGone = [](const std::weak_ptr<StateBlock>& block) { return block.expired(); };
    world.older.erase(std::remove_if(world.older.begin(), world.older.end(), isGone),
                      world.older.end());
}

void indexRows(World& world) {
    world.rowOfSlot.clear();
    for (size_t i = 0; i < world.block->bodies.size(); ++i) {
        uint32_t slot = world.block->bodies[i].slot;
        if (slot >= world.rowOfSlot.size()) {
            world.rowOfSlot.resize(slot + 1, -1);
        }
        world.rowOfSlot[slot] = static_cast<int>(i);
    }
}

// Sees to it that `block` is that of the bodies there are now.
StateBlock& currentBlock(World& world) {
    if (isCurrent(world)) {
        return *world.block;
    }
    std::shared_ptr<StateBlock> block = makeBlock(world);
    if (world.block == nullptr || !hasSameBodies(*world.block, *block)) {
        if (world.block != nullptr && hasWatched(*world.block)) {
            // What was written to the old arrays is not lost with them.
            for (size_t i = 0; i < world.block->bodies.size(); ++i) {
                pushRowOf(world, *world.block, i);
            }
            for (nb::object& view : world.views) {
                view.reset();
            }
            if (world.block.use_count() > 1) {
                world.older.emplace_back(world.block);
            }
        }
        world.block = std::move(block);
        indexRows(world);
    }
    world.blockStructure = tpWorld_GetStructure(world.world);
    return *world.block;
}

nb::object makeView(World& world, int kind) {
    std::vector<double>& numbers = world.block->numbers[kind];
    auto* owner = new std::shared_ptr<StateBlock>(world.block);
    nb::capsule capsule(
        owner, [](void* p) noexcept { delete static_cast<std::shared_ptr<StateBlock>*>(p); });
    size_t shape[2] = { world.block->bodies.size(), static_cast<size_t>(widths[kind]) };
    static double nothing[1];
    nb::ndarray<nb::numpy, double, nb::ndim<2>> array(numbers.empty() ? nothing : numbers.data(), 2,
                                                      shape, capsule);
    return nb::cast(array);
}

void watch(World& world, int kind) {
    StateBlock& block = currentBlock(world);
    if (!block.isWatched[kind]) {
        block.numbers[kind].resize(block.bodies.size() * widths[kind]);
        tpStateArrays arrays = {};
        double** const places[kinds] = { &arrays.positions, &arrays.rotations, &arrays.velocities,
                                         &arrays.angularVelocities };
        *places[kind] = block.numbers[kind].data();
        tpWorld_ReadState(world.world, &arrays);
        block.isWatched[kind] = true;
        world.views[kind] = makeView(world, kind);
    }
}

nb::object getView(World& world, int kind) {
    use(world);
    watch(world, kind);
    return world.views[kind];
}

void setView(World& world, int kind, nb::handle value) {
    use(world);
    watch(world, kind);
    if (value.is(world.views[kind])) {
        return; // world.positions += 1 ends here
    }
    Rows rows = rowsOf(value, names[kind], widths[kind]);
    StateBlock& block = *world.block;
    if (rows.shape(0) != block.bodies.size()) {
        raiseValue("%s: expected %zu rows, one for each moving body, got %zu", names[kind],
                   block.bodies.size(), rows.shape(0));
    }
    std::copy_n(rows.data(), block.numbers[kind].size(), block.numbers[kind].data());
    pushViews(world);
}

} // namespace

const std::vector<tpBodyId>& movingBodies(World& world) {
    return currentBlock(world).bodies;
}

void pushViews(World& world, bool isStepNext) {
    if (!world.older.empty()) {
        forgetUnheld(world);
        forOlder(world, [&](StateBlock& block, size_t i) { pushRowOf(world, block, i); });
    }
    if (world.block == nullptr || !hasWatched(*world.block)) {
        return;
    }
    if (!isCurrent(world)) {
        currentBlock(world);
    } else if (!world.older.empty()) {
        for (size_t i = 0; i < world.block->bodies.size(); ++i) {
            pushRowOf(world, *world.block, i);
        }
    } else {
        pushBlock(world, *world.block);
        if (!isStepNext) {
            fillBlock(world,
                      *world.block); // as the world took it: unit quaternions, nothing locked
        }
    }
}

void pullViews(World& world) {
    forOlder(world, [&](StateBlock& block, size_t i) { fillRow(world, block, i); });
    if (world.block != nullptr && hasWatched(*world.block)) {
        if (isCurrent(world)) {
            fillBlock(world, *world.block);
        } else {
            for (size_t i = 0; i < world.block->bodies.size(); ++i) {
                fillRow(world, *world.block, i);
            }
        }
    }
}

namespace {

// Rows of one body, in all blocks that somebody can see.
template <typename Act> void forRowsOf(World& world, tpBodyId body, Act act) {
    auto isIt = [&](tpBodyId other) {
        return other.slot == body.slot && other.generation == body.generation;
    };
    if (!world.older.empty()) {
        forOlder(world, [&](StateBlock& block, size_t i) {
            if (isIt(block.bodies[i])) {
                act(block, i);
            }
        });
    }
    if (world.block != nullptr && hasWatched(*world.block) && body.slot < world.rowOfSlot.size() &&
        world.rowOfSlot[body.slot] >= 0) {
        auto row = static_cast<size_t>(world.rowOfSlot[body.slot]);
        if (isIt(world.block->bodies[row])) {
            act(*world.block, row);
        }
    }
}

} // namespace

void pushRow(World& world, tpBodyId body) {
    forRowsOf(world, body, [&](StateBlock& block, size_t i) { pushRowOf(world, block, i); });
}

void pullRow(World& world, tpBodyId body) {
    forRowsOf(world, body, [&](StateBlock& block, size_t i) { fillRow(world, block, i); });
}

void bindViews(nb::class_<World>& cls) {
    auto add = [&](auto kind, nb::sig getter, nb::sig setter, const char* help) {
        constexpr int k = decltype(kind)::value;
        cls.def_prop_rw(
            names[k], [](World& world) { return getView(world, k); },
            [](World& world, nb::handle value) { setView(world, k, value); },
            nb::for_getter(getter), nb::for_setter(setter), help);
    };
    add(std::integral_constant<int, 0>(), nb::sig("def positions(self) -> FloatArray"),
        nb::sig("def positions(self, value: ArrayLike, /) -> None"),
        "Positions of the centres of mass of the moving bodies, m: a live array of shape (n, "
        "3).\n\n"
        "The array shows the bodies where they are, after every step, and what is written to it\n"
        "moves them. Rows are in the order of `moving`. After bodies were added or destroyed ask "
        "for\n"
        "a new array; one that is still held goes on showing its own bodies, with NaN for those\n"
        "that are gone. It is never a pointer to nothing. Copy it to keep the numbers of a "
        "moment.");
    add(std::integral_constant<int, 1>(), nb::sig("def rotations(self) -> FloatArray"),
        nb::sig("def rotations(self, value: ArrayLike, /) -> None"),
        "Orientations of the moving bodies' frames, quaternions w x y z: a live array of shape (n, "
        "4).\n\n"
        "As `positions`. What is written is brought to length one.");
    add(std::integral_constant<int, 2>(), nb::sig("def velocities(self) -> FloatArray"),
        nb::sig("def velocities(self, value: ArrayLike, /) -> None"),
        "Velocities of the centres of mass of the moving bodies, m/s: a live array of shape (n, "
        "3).\n\n"
        "As `positions`.");
    add(std::integral_constant<int, 3>(), nb::sig("def angular_velocities(self) -> FloatArray"),
        nb::sig("def angular_velocities(self, value: ArrayLike, /) -> None"),
        "Angular velocities of the moving bodies in world axes, rad/s: a live array of shape (n, "
        "3).\n\n"
        "As `positions`.");
}
