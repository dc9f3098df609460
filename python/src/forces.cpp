// tippe.Force: a force that lasts, on a body of a world.

#include "bodies.h"

namespace {

struct Force {
    nb::object owner; // the tippe.World
    World* world;
    tpForceId id;
};

tpWorld* worldOf(const Force& force) {
    use(*force.world);
    if (!tpForce_IsValid(force.world->world, force.id)) {
        raiseValue("this force was destroyed");
    }
    return force.world->world;
}

tpForceDef defOf(const Force& force) {
    return tpForce_GetDef(worldOf(force), force.id);
}

void change(const Force& force, const tpForceDef& def) {
    tpError error = {};
    if (tpForce_SetDef(worldOf(force), force.id, &def, &error) != tp_success) {
        raiseError(error);
    }
}

double timeOf(nb::handle value, const char* name, double always) {
    return value.is_none() ? always : numberOf(value, name);
}

Force addForce(nb::handle self, nb::handle body, nb::handle force, nb::handle torque,
               nb::handle point, nb::handle frame, nb::handle start, nb::handle end) {
    World& world = *nb::cast<World*>(self);
    use(world);
    pushViews(world);
    tpForceDef def = tpDefaultForceDef();
    def.body = bodyOf(world, body, "body", false);
    def.force = vectorOf(force, "force");
    def.torque = vectorOf(torque, "torque");
    def.hasPoint = !point.is_none();
    if (def.hasPoint) {
        def.point = vectorOf(point, "point");
    }
    def.frame = frameOf(frame);
    def.from = timeOf(start, "start", def.from);
    def.to = timeOf(end, "end", def.to);
    tpError error = {};
    tpForceId id = tpCreateForce(world.world, &def, &error);
    if (id.slot == 0) {
        raiseError(error);
    }
    return Force{ nb::borrow(self), &world, id };
}

nb::object forcesOf(nb::handle self) {
    World& world = *nb::cast<World*>(self);
    use(world);
    nb::list forces;
    int count = tpWorld_GetForceCount(world.world);
    for (int i = 0; i < count; ++i) {
        forces.append(
            nb::cast(Force{ nb::borrow(self), &world, tpWorld_GetForce(world.world, i) }));
    }
    return forces;
}

void bindForce(nb::module_& m) {
    nb::class_<Force>(m, "Force", "A force that lasts. Made by World.add_force or by a scene.")
        .def_prop_ro(
            "body", [](const Force& f) { return makeBody(f.owner, *f.world, defOf(f).body); },
            "The body it acts on.")
        .def_prop_rw(
            "force", [](const Force& f) { return arrayOf(defOf(f).force); },
            [](const Force& f, nb::handle value) {
                tpForceDef def = defOf(f);
                def.force = vectorOf(value, "force");
                change(f, def);
            },
            nb::for_getter(nb::sig("def force(self) -> FloatArray")),
            nb::for_setter(nb::sig("def force(self, value: ArrayLike, /) -> None")), "N.")
        .def_prop_rw(
            "torque", [](const Force& f) { return arrayOf(defOf(f).torque); },
            [](const Force& f, nb::handle value) {
                tpForceDef def = defOf(f);
                def.torque = vectorOf(value, "torque");
                change(f, def);
            },
            nb::for_getter(nb::sig("def torque(self) -> FloatArray")),
            nb::for_setter(nb::sig("def torque(self, value: ArrayLike, /) -> None")), "N m.")
        .def_prop_ro(
            "point",
            [](const Force& f) {
                tpForceDef def = defOf(f);
                return def.hasPoint ? arrayOf(def.point) : nb::none();
            },
            nb::sig("def point(self) -> FloatArray | None"),
            "The point it acts on, in the body's frame, m; None: the centre of mass.")
        .def_prop_ro(
            "frame",
            [](const Force& f) { return defOf(f).frame == tp_bodyFrame ? "body" : "world"; },
            "Whose axes force and torque have: \"world\" or \"body\".")
        .def_prop_rw(
            "start", [](const Force& f) { return defOf(f).from; },
            [](const Force& f, nb::handle value) {
                tpForceDef def = defOf(f);
                def.from = numberOf(value, "start");
                change(f, def);
            },
            nb::for_setter(nb::sig("def start(self, value: float, /) -> None")),
            "It acts from this time on, s.")
        .def_prop_rw(
            "end", [](const Force& f) { return defOf(f).to; },
            [](const Force& f, nb::handle value) {
                tpForceDef def = defOf(f);
                def.to = value.is_none() ? tpDefaultForceDef().to : numberOf(value, "end");
                change(f, def);
            },
            nb::for_setter(nb::sig("def end(self, value: float | None, /) -> None")),
            nb::for_setter(nb::arg().none()), "It acts until this time, s; None: for ever.")
        .def_prop_ro(
            "is_valid",
            [](const Force& f) { return use(*f.world), tpForce_IsValid(f.world->world, f.id); },
            "Whether it is still there.")
        .def(
            "destroy", [](const Force& f) { tpDestroyForce(worldOf(f), f.id); },
            "Removes the force.")
        .def("__repr__", [](const Force& f) -> std::string {
            return f.world->isBusy || !tpForce_IsValid(f.world->world, f.id) ? "Force(destroyed)"
                                                                             : "Force()";
        });
}

} // namespace

void bindForces(nb::module_& m, nb::class_<World>& cls) {
    bindForce(m);
    cls.def("add_force", &addForce, "body"_a, "force"_a = nb::make_tuple(0.0, 0.0, 0.0),
            nb::kw_only(), "torque"_a = nb::make_tuple(0.0, 0.0, 0.0), "point"_a = nb::none(),
            "frame"_a = "world", "start"_a = nb::none(), "end"_a = nb::none(),
            nb::sig("def add_force(self, body: Body | str, force: ArrayLike = (0.0, 0.0, 0.0), *, "
                    "torque: ArrayLike = (0.0, 0.0, 0.0), point: ArrayLike | None = None, frame: "
                    "Literal['world', 'body'] = 'world', start: float | None = None, end: float | "
                    "None = None) -> Force"),
            "A force that lasts, as scenes have them; Body.apply_force is for one step.\n\n"
            "force, torque  N and N m\n"
            "point          that the force acts on, in the body's frame, m; by default the centre "
            "of mass\n"
            "frame          of force and torque: \"world\" axes, or those of the \"body\"\n"
            "start, end     s, it acts while start <= time < end; by default always")
        .def_prop_ro("forces", &forcesOf, nb::sig("def forces(self) -> list[Force]"),
                     "The forces that last, those of the scene among them.");
}
