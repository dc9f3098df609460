// Materials: tippe.Material is a value in Python (tippe/materials.py); a world gives each a place.

#include "bodies.h"

namespace {

double attribute(nb::handle object, const char* name, const char* shown, Range range) {
    return numberOf(nb::object(object.attr(name)), shown, range);
}

// A number, or a tippe.Friction.
tpFriction frictionOf(nb::handle value) {
    tpFriction friction = tpDefaultMaterialDef().friction;
    if (!nb::hasattr(value, "torsional")) {
        friction.staticCoefficient = friction.dynamicCoefficient =
            numberOf(value, "friction", Range::notNegative);
        return friction;
    }
    friction.staticCoefficient = attribute(value, "static", "static", Range::notNegative);
    friction.dynamicCoefficient = attribute(value, "dynamic", "dynamic", Range::notNegative);
    friction.torsionalArm = attribute(value, "torsional", "torsional", Range::notNegative);
    friction.rollingArm = attribute(value, "rolling", "rolling", Range::notNegative);
    nb::object impact = value.attr("impact");
    if (!impact.is_none()) {
        double coefficient = numberOf(impact, "impact", Range::notNegative);
        if (!(friction.dynamicCoefficient > 0.0)) {
            raiseValue("impact: needs friction that is not zero otherwise");
        }
        friction.impactReduction = 1.0 - coefficient / friction.dynamicCoefficient;
    }
    numbersOf(nb::object(value.attr("ellipse")), "ellipse", 2, friction.ellipse);
    friction.direction = vectorOf(nb::object(value.attr("direction")), "direction");
    return friction;
}

// The dictionary of a world's materials, from value to place; kept on the Python object.
nb::dict placesOf(nb::handle owner) {
    return nb::borrow<nb::dict>(nb::object(owner.attr("_materials")));
}

// Numbers of a tippe.Material, into `def`; its name is the caller's to keep.
void readMaterial(nb::handle material, tpMaterialDef* def) {
    def->friction = frictionOf(nb::object(material.attr("friction")));
    def->restitution = attribute(material, "restitution", "restitution", Range::zeroToOne);
    def->contact.compliance = attribute(material, "compliance", "compliance", Range::notNegative);
    def->contact.damping = attribute(material, "damping", "damping", Range::notNegative);
}

tpMaterialId addMaterial(World& world, nb::handle material) {
    tpMaterialDef def = tpDefaultMaterialDef();
    std::string name;
    nb::object given = material.attr("name");
    if (!given.is_none()) {
        name = textOf(given, "name");
        if (tpWorld_FindMaterial(world.world, name.c_str()) >= 0) {
            raiseValue("material: the world has another material \"%s\"; change that one through "
                       "world.materials[\"%s\"]",
                       name.c_str(), name.c_str());
        }
    }
    def.name = name.c_str();
    readMaterial(material, &def);
    tpError error = {};
    tpMaterialId id = tpCreateMaterial(world.world, &def, &error);
    if (id < 0) {
        raiseError(error);
    }
    return id;
}

void setPair(nb::handle owner, nb::handle first, nb::handle second, nb::handle friction,
             nb::handle restitution) {
    World& world = nb::cast<World&>(owner);
    use(world);
    tpPairDef def = {};
    def.materials[0] = materialOf(owner, world, first);
    def.materials[1] = materialOf(owner, world, second);
    def.hasFriction = !friction.is_none();
    def.hasRestitution = !restitution.is_none();
    if (def.hasFriction) {
        def.friction = frictionOf(friction);
    }
    if (def.hasRestitution) {
        def.restitution = numberOf(restitution, "restitution", Range::zeroToOne);
    }
    tpError error = {};
    if (tpSetMaterialPair(world.world, &def, &error) != tp_success) {
        raiseError(error);
    }
}

} // namespace

tpMaterialId materialOf(nb::handle owner, World& world, nb::handle value) {
    if (value.is_none()) {
        return 0;
    }
    if (PyUnicode_Check(value.ptr())) {
        std::string name = nb::cast<std::string>(value);
        tpMaterialId found = tpWorld_FindMaterial(world.world, name.c_str());
        if (found < 0) {
            raiseValue("material: the world has no material \"%s\"", name.c_str());
        }
        return found;
    }
    if (nb::hasattr(value, "_place")) { // a tippe.WorldMaterial
        if (!nb::object(value.attr("_world")).is(owner)) {
            raiseValue("material: it is one of another world");
        }
        return nb::cast<int>(nb::object(value.attr("_place")));
    }
    if (!nb::hasattr(value, "friction") || !nb::hasattr(value, "restitution")) {
        raiseValue("material: expected a tippe.Material or the name of one of the world's");
    }
    nb::dict places = placesOf(owner);
    if (places.contains(value)) {
        return nb::cast<int>(places[value]);
    }
    tpMaterialId id = addMaterial(world, value);
    places[value] = id;
    return id;
}

void bindMaterials(nb::module_&, nb::class_<World>& cls) {
    cls.def("_add_material",
            [](nb::handle self, nb::handle material) {
                World& world = nb::cast<World&>(self);
                use(world);
                return materialOf(self, world, material);
            })
        .def("_get_material",
             [](World& w, int place) {
                 use(w);
                 tpMaterialDef def = tpMaterial_GetDef(w.world, place);
                 const tpFriction& f = def.friction;
                 return nb::make_tuple(f.staticCoefficient, f.dynamicCoefficient, f.torsionalArm,
                                       nb::make_tuple(f.ellipse[0], f.ellipse[1]),
                                       nb::make_tuple(f.direction.x, f.direction.y, f.direction.z),
                                       def.restitution, def.name != nullptr ? def.name : "",
                                       (1.0 - f.impactReduction) * f.dynamicCoefficient,
                                       f.rollingArm, def.contact.compliance, def.contact.damping);
             })
        .def("_set_material",
             [](World& w, int place, nb::handle material) {
                 use(w);
                 tpMaterialDef def = tpMaterial_GetDef(w.world, place);
                 readMaterial(material, &def);
                 tpError error = {};
                 if (tpMaterial_SetDef(w.world, place, &def, &error) != tp_success) {
                     raiseError(error);
                 }
             })
        .def("_material_names", [](World& w) {
            use(w);
            nb::dict names;
            for (int i = 0; i < tpWorld_GetMaterialCount(w.world); ++i) {
                const char* name = tpMaterial_GetDef(w.world, i).name;
                if (name != nullptr && name[0] != '\0') {
                    names[name] = i;
                }
            }
            return names;
        });
    cls.def(
        "set_pair", &setPair, "first"_a, "second"_a, nb::kw_only(), "friction"_a = nb::none(),
        "restitution"_a = nb::none(),
        nb::sig("def set_pair(self, first: Material | WorldMaterial | str, second: Material | "
                "WorldMaterial | str, *, friction: "
                "float | Friction | None = None, restitution: float | None = None) -> None"),
        "What holds between two materials instead of the rule (geometric mean of each friction\n"
        "number, the larger restitution). What is None follows the rule.");
}
