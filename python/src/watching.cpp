// World.view: frames of a world kept for a page in the browser while Python steps it. The questions
// and answers are those of the program's live page; a server in Python carries them (viewing.py).

#include <chrono>
#include <cmath>
#include <thread>

#include "binding.h"
#include "page/watched_page.h"

// The page's side of a world, which it keeps.
struct WorldWatch {
    nb::object owner; // of `world`
    World* world = nullptr;
    tpWatchedPage* page = nullptr;
    double pace = 0.0; // simulated seconds for one of the clock, at most; 0: as fast as it goes
    double timeStart = 0.0;
    std::chrono::steady_clock::time_point clockStart;

    WorldWatch() = default;
    WorldWatch(const WorldWatch&) = delete;
    ~WorldWatch() { close(); }

    void close() {
        if (world != nullptr) {
            use(*world); // a thread that steps it still writes frames
            world->watch = nullptr;
        }
        destroyWatchedPage(page);
        page = nullptr;
        world = nullptr;
        owner = nb::object();
    }
};

namespace {

void openWatch(WorldWatch* self, nb::object owner, const std::string& title, double megabytes,
               double pace) {
    World& world = nb::cast<World&>(owner);
    use(world);
    if (world.watch != nullptr) {
        raiseRuntime("this world has a view already: close it first");
    }
    pushViews(world);
    tpError error = {};
    tpWatchedPage* page = createWatchedPage(world.world, world.step, title.c_str(),
                                            static_cast<size_t>(megabytes * 1e6), &error);
    if (page == nullptr) {
        raiseError(error);
    }
    new (self) WorldWatch();
    self->page = page;
    self->owner = owner;
    self->world = &world;
    self->pace = pace;
    world.watch = self;
}

// Status, type and content; None: there is nothing new, ask again.
nb::object tupleOf(const tpPageAnswer& answer) {
    if (answer.status == 0) {
        return nb::none();
    }
    return nb::make_tuple(answer.status, answer.type, nb::bytes(answer.content, answer.size));
}

nb::object closed() {
    const char* words = "the view is closed";
    return nb::make_tuple(410, "text/plain", nb::bytes(words, 18));
}

nb::object ask(WorldWatch& watch, const std::string& path, const std::string& query, bool isLate) {
    return watch.page == nullptr
               ? closed()
               : tupleOf(askWatchedPage(watch.page, path.c_str(), query.c_str(), isLate));
}

nb::object order(WorldWatch& watch, nb::bytes body) {
    return watch.page == nullptr ? closed()
                                 : tupleOf(orderWatchedPage(watch.page, body.c_str(), body.size()));
}

} // namespace

void prepareWatch(World& world) {
    if (world.watch != nullptr) {
        noteWatchedChange(world.watch->page);
    }
}

// Waits until the clock has come to the world's time. A world that was not stepped for a while, or
// set back, begins anew.
static void keepPace(WorldWatch& watch, double time, double h) {
    auto now = std::chrono::steady_clock::now();
    double ahead = (time - watch.timeStart) / watch.pace -
                   std::chrono::duration<double>(now - watch.clockStart).count();
    if (!(std::fabs(ahead) < 0.2 + 2.0 * h / watch.pace)) {
        watch.timeStart = time;
        watch.clockStart = now;
    } else if (ahead > 0.0) {
        std::this_thread::sleep_for(std::chrono::duration<double>(ahead));
    }
}

void noteStep(World& world, const tpStepReport& report, double h) {
    if (world.watch != nullptr) {
        noteWatchedStep(world.watch->page, &report, h);
        if (world.watch->pace > 0.0) {
            keepPace(*world.watch, report.time, h);
        }
    }
}

void bindWatching(nb::module_& m) {
    nb::class_<WorldWatch>(m, "_WorldWatch", "What World.view keeps of a world for its page.")
        .def("__init__", &openWatch, "world"_a, "title"_a, "megabytes"_a, "pace"_a,
             nb::sig("def __init__(self, world: World, title: str, megabytes: float, pace: float) "
                     "-> None"))
        .def("ask", &ask, "path"_a, "query"_a, "late"_a,
             nb::sig("def ask(self, path: str, query: str, late: bool) -> tuple[int, str, bytes] | "
                     "None"),
             "What the page asks for: status, type, content; None if there is nothing new.")
        .def("order", &order, "body"_a,
             nb::sig("def order(self, body: bytes) -> tuple[int, str, bytes]"),
             "What the page orders: a world that Python steps refuses.")
        .def("close", &WorldWatch::close, "Ends it; the world goes on.");
}
