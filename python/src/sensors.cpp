// tippe.Sensor: a handle of a sensor in a world; events of the last step.

#include "tippe/sensors.h"

#include "bodies.h"

namespace {

struct Sensor {
    nb::object owner;
    World* world;
    tpSensorId id;
};

tpWorld* there(const Sensor& sensor) {
    use(*sensor.world);
    if (!tpSensor_IsValid(sensor.world->world, sensor.id)) {
        raiseValue("this sensor was destroyed");
    }
    pushViews(*sensor.world);
    return sensor.world->world;
}

tpSensorType typeOf(nb::handle value) {
    std::string name = textOf(value, "type"), known;
    for (int i = 0; i < tp_sensorTypeCount; ++i) {
        auto type = static_cast<tpSensorType>(i);
        if (name == tpSensorTypeName(type)) {
            return type;
        }
        known += (known.empty() ? "" : ", ") + std::string(tpSensorTypeName(type));
    }
    raiseValue("type: there is no sensor \"%s\"; there are %s", name.c_str(), known.c_str());
}

// "knee", or "hip.swing" for one axis of a joint that has several.
void findCoordinate(const World& world, const std::string& name, tpSensorDef* def) {
    def->joint = tpWorld_FindJoint(world.world, name.c_str());
    def->coordinate = 0;
    size_t dot = name.rfind('.');
    if (def->joint.slot == 0 && dot != std::string::npos) {
        def->joint = tpWorld_FindJoint(world.world, name.substr(0, dot).c_str());
        def->coordinate =
            def->joint.slot == 0
                ? 0
                : tpJoint_FindCoordinate(world.world, def->joint, name.substr(dot + 1).c_str());
    }
    if (def->joint.slot == 0 || def->coordinate < 0) {
        raiseValue("joint: there is no joint \"%s\"", name.c_str());
    }
}

Sensor addSensor(nb::handle owner, nb::handle type, nb::handle name, nb::handle body,
                 nb::handle joint, nb::handle shape, nb::handle position, nb::handle rotation) {
    World& world = nb::cast<World&>(owner);
    use(world);
    pushViews(world);
    tpSensorDef def = tpDefaultSensorDef();
    def.type = typeOf(type);
    std::string text = name.is_none() ? "" : textOf(name, "name");
    if (!text.empty() && tpWorld_FindSensor(world.world, text.c_str()).slot != 0) {
        raiseValue("name: there is a sensor \"%s\" already", text.c_str());
    }
    def.name = text.c_str();
    if (!body.is_none()) {
        def.body = bodyOf(world, body, "body", false);
    }
    if (!joint.is_none()) {
        findCoordinate(world,
                       textOf(PyUnicode_Check(joint.ptr()) ? nb::borrow(joint)
                                                           : nb::object(joint.attr("name")),
                              "joint"),
                       &def);
    }
    if (!shape.is_none()) {
        Shape* given = nullptr;
        if (!nb::try_cast(shape, given) || given == nullptr || given->world != &world) {
            raiseValue("shape: expected a shape of a body in this world");
        }
        def.shape = given->id;
    }
    def.pose = tpMakePose(vectorOf(position, "position"), rotationOf(rotation, "rotation"));
    tpError error = {};
    tpSensorId id = tpCreateSensor(world.world, &def, &error);
    if (id.slot == 0) {
        raiseError(error);
    }
    return Sensor{ nb::borrow(owner), &world, id };
}

nb::dict allSensors(nb::handle owner) {
    World& world = nb::cast<World&>(owner);
    use(world);
    nb::dict sensors;
    int count = tpWorld_GetSensorCount(world.world);
    for (int i = 0; i < count; ++i) {
        tpSensorId id = tpWorld_GetSensor(world.world, i);
        const char* name = tpSensor_GetName(world.world, id);
        std::string key = name[0] != '\0' ? name : "sensor" + std::to_string(i);
        sensors[key.c_str()] = Sensor{ nb::borrow(owner), &world, id };
    }
    return sensors;
}

nb::object valueOf(const Sensor& sensor) {
    double values[tp_mostSensorValues];
    int count = tpSensor_GetValues(there(sensor), sensor.id, values);
    nb::object array =
        arrayOf(std::vector<double>(values, values + count), { static_cast<size_t>(count) });
    array.attr("flags").attr("writeable") = false;
    return array;
}

nb::tuple columnsOf(tpSensorType type) {
    const char* names[tp_mostSensorValues];
    int count = tpSensorTypeColumns(type, names);
    nb::list made;
    for (int i = 0; i < count; ++i) {
        made.append(names[i]);
    }
    return nb::tuple(made);
}

std::string showSensor(const Sensor& sensor) {
    use(*sensor.world);
    if (!tpSensor_IsValid(sensor.world->world, sensor.id)) {
        return "Sensor(destroyed)";
    }
    tpWorld* world = there(sensor);
    return std::string("Sensor(\"") + tpSensor_GetName(world, sensor.id) + "\", " +
           tpSensorTypeName(tpSensor_GetDef(world, sensor.id).type) + ")";
}

nb::object readAll(World& world) {
    use(world);
    pushViews(world);
    auto count = static_cast<size_t>(tpWorld_GetSensorValueCount(world.world));
    std::vector<double> values(count);
    tpWorld_ReadSensors(world.world, values.data());
    nb::object array = arrayOf(std::move(values), { count });
    array.attr("flags").attr("writeable") = false;
    return array;
}

nb::list namesOfAll(World& world) {
    use(world);
    nb::list names;
    int count = tpWorld_GetSensorCount(world.world);
    for (int i = 0; i < count; ++i) {
        tpSensorId id = tpWorld_GetSensor(world.world, i);
        const char* columns[tp_mostSensorValues];
        int columnCount = tpSensorTypeColumns(tpSensor_GetDef(world.world, id).type, columns);
        for (int k = 0; k < columnCount; ++k) {
            std::string name = std::string(tpSensor_GetName(world.world, id)) + "." + columns[k];
            names.append(name.c_str());
        }
    }
    return names;
}

nb::object nameOr(const char* name) {
    return name != nullptr && name[0] != '\0' ? nb::object(nb::str(name)) : nb::none();
}

// Rows of tippe.Event.
nb::list eventsOf(World& world) {
    use(world);
    int count = 0;
    const tpEvent* events = tpWorld_GetEvents(world.world, &count);
    tpWorld* w = world.world;
    nb::list made;
    for (int i = 0; i < count; ++i) {
        const tpEvent& e = events[i];
        auto body = [&](tpBodyId id) {
            return tpBody_IsValid(w, id) ? nameOr(tpBody_GetName(w, id)) : nb::none();
        };
        bool hasJoint = tpJoint_IsValid(w, e.joint), hasSensor = tpSensor_IsValid(w, e.sensor);
        made.append(nb::make_tuple(tpEventKindName(e.kind), body(e.bodyA), body(e.bodyB),
                                   hasJoint ? nameOr(tpJoint_GetName(w, e.joint)) : nb::none(),
                                   hasJoint ? nameOr(tpJoint_GetAxis(w, e.joint, e.coordinate).name)
                                            : nb::none(),
                                   hasSensor ? nameOr(tpSensor_GetName(w, e.sensor)) : nb::none(),
                                   arrayOf(e.point), arrayOf(e.normal), e.speed, e.impulse));
    }
    return made;
}

} // namespace

void bindSensors(nb::module_& m, nb::class_<World>& cls) {
    nb::class_<Sensor>(m, "Sensor",
                       "What a machine feels, without noise. Made by World.add_sensor, found by "
                       "World.sensors[\"name\"].")
        .def_prop_ro("value", &valueOf, nb::sig("def value(self) -> FloatArray"),
                     "Its values now, in the order of `columns`. What is measured over a step is "
                     "zero before the first.")
        .def_prop_ro(
            "columns",
            [](const Sensor& s) { return columnsOf(tpSensor_GetDef(there(s), s.id).type); },
            nb::sig("def columns(self) -> tuple[str, ...]"), "Names of its values.")
        .def_prop_ro(
            "name", [](const Sensor& s) { return tpSensor_GetName(there(s), s.id); },
            "Its name, or \"\".")
        .def_prop_ro(
            "type",
            [](const Sensor& s) { return tpSensorTypeName(tpSensor_GetDef(there(s), s.id).type); },
            nb::sig("def type(self) -> str"), "What it measures, as scenes spell it.")
        .def_prop_ro(
            "is_valid",
            [](const Sensor& s) { return use(*s.world), tpSensor_IsValid(s.world->world, s.id); },
            "Whether it is still there.")
        .def(
            "destroy", [](Sensor& s) { tpDestroySensor(there(s), s.id); }, "Removes the sensor.")
        .def("__repr__", &showSensor);
    cls.def("_all_sensors", &allSensors, nb::sig("def _all_sensors(self) -> dict[str, Sensor]"));
    cls.def("_events", &eventsOf, nb::sig("def _events(self) -> list[tuple[Any, ...]]"));
    cls.def_prop_ro("sensor_values", &readAll, nb::sig("def sensor_values(self) -> FloatArray"),
                    "Values of all sensors, one after the other. A copy.")
        .def_prop_ro("sensor_names", &namesOfAll, nb::sig("def sensor_names(self) -> list[str]"),
                     "Names of the numbers of sensor_values: \"imu.x\".")
        .def_prop_rw(
            "hit_speed", [](World& w) { return use(w), tpWorld_GetHitSpeed(w.world); },
            [](World& w, nb::handle value) {
                use(w);
                tpWorld_SetHitSpeed(w.world, numberOf(value, "hit_speed", Range::notNegative));
            },
            nb::for_setter(nb::sig("def hit_speed(self, value: float, /) -> None")),
            "Speed of approach from which a touch is an event \"hit\", m/s.");
    cls.def("add_sensor", &addSensor, "type"_a, nb::kw_only(), "name"_a = nb::none(),
            "body"_a = nb::none(), "joint"_a = nb::none(), "shape"_a = nb::none(),
            "position"_a = nb::make_tuple(0.0, 0.0, 0.0),
            "rotation"_a = nb::make_tuple(1.0, 0.0, 0.0, 0.0),
            nb::sig("def add_sensor(self, type: SensorType, *, name: str | None = None, body: Body "
                    "| str | None = None, joint: Joint | str | None = None, shape: Shape | None = "
                    "None, position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike = (1.0, 0.0, "
                    "0.0, 0.0)) -> Sensor"),
            "Adds a sensor and returns it.\n\n"
            "type      \"accelerometer\", \"gyroscope\" (of a body), \"force_torque\", "
            "\"joint_state\" (of a joint),\n"
            "          \"contact_force\", \"overlap\" (of a body, or of one shape)\n"
            "position, rotation   where it sits in the body's frame");
}
