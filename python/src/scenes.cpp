// Scenes: a document read from a file or a text, and the world it describes.

#include <cstring>

#include "binding.h"

namespace {

struct Scene {
    std::shared_ptr<tpScene> scene;
    explicit Scene(tpScene* scene) : scene(scene, tpDestroyScene) {}
};

Scene* readScene(const std::string& path) {
    tpScene* scene = nullptr;
    tpError error = {};
    tpResult result;
    {
        nb::gil_scoped_release release;
        result = tpReadScene(path.c_str(), nullptr, &scene, &error);
    }
    if (result != tp_success) {
        raiseScene(error);
    }
    return new Scene(scene);
}

Scene* parseScene(const std::string& text, const std::string& name) {
    tpScene* scene = nullptr;
    tpError error = {};
    if (tpParseScene(text.data(), text.size(), name.c_str(), nullptr, &scene, &error) !=
        tp_success) {
        raiseScene(error);
    }
    return new Scene(scene);
}

// What a call says instead of the scene: None is as the scene has it.
void overrideScene(Scene& scene, nb::handle stepper, nb::handle step, nb::handle until,
                   nb::handle options) {
    tpSceneOverrides overrides = {};
    std::string name;
    if (!stepper.is_none()) {
        name = textOf(stepper, "stepper");
        stepperOf(stepper); // raises
        overrides.stepper = name.c_str();
    }
    if (!step.is_none()) {
        overrides.step = numberOf(step, "step", Range::positive);
    }
    if (!until.is_none()) {
        overrides.until = numberOf(until, "until", Range::notNegative);
        overrides.hasUntil = true;
    }
    std::vector<std::string> settings;
    std::vector<const char*> pointers;
    for (nb::handle item : nb::iter(options)) {
        settings.push_back(nb::cast<std::string>(item));
    }
    for (const std::string& setting : settings) {
        pointers.push_back(setting.c_str());
    }
    overrides.options = pointers.data();
    overrides.optionCount = static_cast<int>(pointers.size());
    tpError error = {};
    if (tpScene_Override(scene.scene.get(), &overrides, &error) != tp_success) {
        raiseValue("options: %s", error.message); // all else was checked above
    }
}

void createFromScene(World* self, const Scene& scene, int threads) {
    tpWorld* world = nullptr;
    tpError error = {};
    tpResult result;
    {
        nb::gil_scoped_release release;
        result = tpScene_CreateWorld(scene.scene.get(), nullptr, threads, &world, &error);
    }
    if (result != tp_success) {
        raiseScene(error);
    }
    new (self) World();
    self->world = world;
    self->step = scene.scene->simulation.step;
    self->until = scene.scene->simulation.until;
    const char* slash = std::strrchr(scene.scene->path, '/');
    self->sceneName = scene.scene->name.text != nullptr ? scene.scene->name.text
                      : slash != nullptr                ? slash + 1
                                                        : scene.scene->path;
    self->scene = scene.scene;
}

} // namespace

std::string formatScene(const tpScene* scene) {
    char* text = nullptr;
    size_t length = 0;
    tpError error = {};
    if (tpFormatScene(scene, nullptr, &text, &length, &error) != tp_success) {
        raiseScene(error);
    }
    std::string made(text, length);
    tpReleaseSceneText(nullptr, text, length);
    return made;
}

const std::string& sceneTextOf(World& world) {
    if (world.sceneText.empty() && world.scene != nullptr) {
        world.sceneText = formatScene(world.scene.get());
    }
    return world.sceneText;
}

void bindScenes(nb::module_& m, nb::class_<World>& cls) {
    nb::class_<Scene>(m, "Scene", "A scene that was read and checked.")
        .def("override", &overrideScene, "stepper"_a.none(), "step"_a.none(), "until"_a.none(),
             "options"_a)
        .def("format", [](const Scene& scene) { return formatScene(scene.scene.get()); });
    m.def("_read_scene", &readScene, "path"_a, nb::rv_policy::take_ownership);
    m.def("_parse_scene", &parseScene, "text"_a, "name"_a, nb::rv_policy::take_ownership);
    cls.def("__init__", &createFromScene, "scene"_a, "threads"_a);
    cls.def_prop_ro(
           "scene_text", [](World& w) { return sceneTextOf(w); },
           "The scene that the world was made from, as text; \"\" if there is none.")
        .def_prop_ro(
            "scene_name", [](World& w) { return w.sceneName; }, "The name of that scene, or \"\".")
        .def_prop_ro(
            "until", [](World& w) { return w.until >= 0.0 ? nb::cast(w.until) : nb::none(); },
            nb::sig("def until(self) -> float | None"),
            "Where a run() without an argument ends: the scene's, s; None if there is no scene.");
}
