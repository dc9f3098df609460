// tippe.Geometry, the functions that make one, and Body.add_...: shapes of bodies.

#include <cstring>

#include "bodies.h"

namespace {

// What the C library refuses without a name is the fault of the argument `name`.
Geometry checked(tpResult result, const tpGeometry& geometry, const tpError& error,
                 const char* name = nullptr) {
    if (result == tp_badInput && name != nullptr) {
        raiseValue("%s: %s", name, error.message);
    }
    if (result != tp_success) {
        raiseError(error);
    }
    return Geometry(geometry);
}

// Makers: the numbers of a shape, then its pose in the body's frame -------------------------------

Geometry makeSphere(nb::handle radius, nb::handle position, nb::handle rotation) {
    tpGeometry made;
    tpError error = {};
    tpSphere sphere = { numberOf(radius, "radius", Range::positive) };
    return checked(tpMakeSphere(&sphere, poseOf(position, rotation), &made, &error), made, error);
}

Geometry makeBox(nb::handle size, nb::handle position, nb::handle rotation) {
    tpGeometry made;
    tpError error = {};
    tpBox box = { vectorOf(size, "size") };
    return checked(tpMakeBox(&box, poseOf(position, rotation), &made, &error), made, error);
}

Geometry makeRoundedBox(nb::handle size, nb::handle radius, nb::handle position,
                        nb::handle rotation) {
    tpGeometry made;
    tpError error = {};
    tpRoundedBox box = { vectorOf(size, "size"), numberOf(radius, "radius", Range::positive) };
    return checked(tpMakeRoundedBox(&box, poseOf(position, rotation), &made, &error), made, error);
}

// Capsule, cylinder and cone have the same numbers.
template <typename Solid, tpResult (*make)(const Solid*, tpPose, tpGeometry*, tpError*)>
Geometry makeAxial(nb::handle radius, nb::handle length, nb::handle axis, nb::handle position,
                   nb::handle rotation) {
    tpGeometry made;
    tpError error = {};
    Solid solid;
    std::memset(&solid, 0, sizeof(solid));
    solid.radius = numberOf(radius, "radius", Range::positive);
    solid.length = numberOf(length, "length", Range::notNegative);
    solid.axis = directionOf(axis, "axis");
    return checked(make(&solid, poseOf(position, rotation), &made, &error), made, error);
}

Geometry makeEllipsoid(nb::handle radii, nb::handle position, nb::handle rotation) {
    tpGeometry made;
    tpError error = {};
    tpEllipsoid ellipsoid = { vectorOf(radii, "radii") };
    return checked(tpMakeEllipsoid(&ellipsoid, poseOf(position, rotation), &made, &error), made,
                   error);
}

Geometry makeSuperellipsoid(nb::handle radii, nb::handle exponents, nb::handle position,
                            nb::handle rotation) {
    tpGeometry made;
    tpError error = {};
    tpSuperellipsoid solid;
    solid.radii = vectorOf(radii, "radii");
    numbersOf(exponents, "exponents", 2, solid.exponents);
    return checked(tpMakeSuperellipsoid(&solid, poseOf(position, rotation), &made, &error), made,
                   error);
}

Geometry makePlane(nb::handle normal, nb::handle offset, nb::handle position, nb::handle rotation) {
    tpGeometry made;
    tpError error = {};
    tpPlane plane = { directionOf(normal, "normal"), numberOf(offset, "offset") };
    return checked(tpMakePlane(&plane, poseOf(position, rotation), &made, &error), made, error);
}

Geometry makePrism(nb::handle points, nb::handle length, nb::handle position, nb::handle rotation) {
    tpGeometry made;
    tpError error = {};
    tpAllocator allocator = tpDefaultAllocator();
    Rows rows = rowsOf(points, "points", 2);
    auto corners = reinterpret_cast<const double(*)[2]>(rows.data());
    return checked(tpMakePrism(&allocator, corners, static_cast<int>(rows.shape(0)),
                               numberOf(length, "length", Range::positive),
                               poseOf(position, rotation), &made, &error),
                   made, error, "points");
}

Geometry makeHull(nb::handle points, nb::handle position, nb::handle rotation) {
    tpGeometry made;
    tpError error = {};
    tpAllocator allocator = tpDefaultAllocator();
    Rows rows = rowsOf(points, "points", 3);
    auto corners = reinterpret_cast<const tpVec3*>(rows.data());
    return checked(tpMakeHull(&allocator, corners, static_cast<int>(rows.shape(0)),
                              poseOf(position, rotation), &made, &error),
                   made, error, "points");
}

Geometry makeMeshFromFile(const std::string& path, tpPose pose) {
    tpGeometry made;
    tpError error = {};
    tpAllocator allocator = tpDefaultAllocator();
    tpSurface surface;
    if (tpReadSurface(&allocator, path.c_str(), &surface, &error) != tp_success) {
        raiseError(error);
    }
    tpResult result = tpMakeMesh(&allocator, surface.vertices, surface.vertexCount,
                                 surface.triangles, surface.triangleCount, pose, &made, &error);
    tpReleaseSurface(&surface);
    return checked(result, made, error);
}

Geometry makeMesh(nb::handle vertices, nb::handle triangles, nb::handle position,
                  nb::handle rotation) {
    tpPose pose = poseOf(position, rotation);
    if (triangles.is_none()) {
        nb::object path = nb::module_::import_("os").attr("fspath")(vertices);
        return makeMeshFromFile(textOf(path, "vertices"), pose);
    }
    Rows rows = rowsOf(vertices, "vertices", 3);
    Rows corners = rowsOf(triangles, "triangles", 3);
    std::vector<int32_t> indices(3 * corners.shape(0));
    for (size_t i = 0; i < indices.size(); ++i) {
        double index = corners.data()[i];
        if (!(index >= 0.0 && index < static_cast<double>(rows.shape(0))) ||
            index != static_cast<double>(static_cast<int32_t>(index))) {
            raiseValue("triangles: %g is not a row of vertices", index);
        }
        indices[i] = static_cast<int32_t>(index);
    }
    tpGeometry made;
    tpError error = {};
    tpAllocator allocator = tpDefaultAllocator();
    return checked(tpMakeMesh(&allocator, reinterpret_cast<const tpVec3*>(rows.data()),
                              static_cast<int>(rows.shape(0)),
                              reinterpret_cast<const int32_t(*)[3]>(indices.data()),
                              static_cast<int>(corners.shape(0)), pose, &made, &error),
                   made, error);
}

Geometry makeHeightField(nb::handle heights, nb::handle spacing, nb::handle position,
                         nb::handle rotation) {
    double apart[2];
    double both = 0.0;
    if (PySequence_Check(spacing.ptr())) {
        numbersOf(spacing, "spacing", 2, apart);
    } else {
        both = numberOf(spacing, "spacing", Range::positive);
        apart[0] = apart[1] = both;
    }
    nb::object shape = nb::module_::import_("numpy").attr("shape")(heights);
    if (nb::len(shape) != 2) {
        raiseValue("heights: expected a grid, rows along y and columns along x");
    }
    Rows grid = rowsOf(heights, "heights", nb::cast<int>(shape[1]));
    tpGeometry made;
    tpError error = {};
    tpAllocator allocator = tpDefaultAllocator();
    return checked(tpMakeHeightField(&allocator, static_cast<int>(grid.shape(1)),
                                     static_cast<int>(grid.shape(0)), apart[0], apart[1],
                                     grid.data(), poseOf(position, rotation), &made, &error),
                   made, error, "heights");
}

Geometry makeIntersection(nb::handle of, nb::handle position, nb::handle rotation) {
    std::vector<tpGeometry> parts;
    for (nb::handle item : nb::iter(of)) {
        Geometry* part = nullptr;
        if (!nb::try_cast(item, part) || part == nullptr) {
            raiseValue("of: expected a list of geometries (tippe.shapes makes them)");
        }
        parts.push_back(part->geometry);
    }
    tpGeometry made;
    tpError error = {};
    tpAllocator allocator = tpDefaultAllocator();
    return checked(tpMakeIntersection(&allocator, parts.data(), static_cast<int>(parts.size()),
                                      poseOf(position, rotation), &made, &error),
                   made, error, "of");
}

// Adding ---------------------------------------------------------------------------------------

Shape addShape(Body& body, const Geometry& geometry, nb::handle density, nb::handle material,
               nb::handle group, nb::handle mask) {
    readable(body);
    tpWorld* world = writable(body);
    tpShapeDef def = tpDefaultShapeDef();
    def.density = numberOf(density, "density", Range::notNegative);
    def.material = materialOf(body.owner, *body.world, material);
    def.group = bitsOf(group, "group");
    def.mask = bitsOf(mask, "mask");
    tpError error = {};
    tpShapeId id = tpCreateShape(world, body.id, &def, &geometry.geometry, &error);
    if (id.slot == 0) {
        raiseError(error);
    }
    pullRow(*body.world, body.id); // the centre of mass may have moved
    return Shape{ body.owner, body.world, id };
}

tpWorld* worldOf(const Shape& shape) {
    use(*shape.world);
    if (!tpShape_IsValid(shape.world->world, shape.id)) {
        raiseValue("this shape was destroyed");
    }
    return shape.world->world;
}

nb::list shapesOf(const Body& body) {
    const tpWorld* world = readable(body);
    nb::list shapes;
    int count = tpBody_GetShapeCount(world, body.id);
    for (int i = 0; i < count; ++i) {
        shapes.append(
            nb::cast(Shape{ body.owner, body.world, tpBody_GetShape(world, body.id, i) }));
    }
    return shapes;
}

// Each shape is bound twice: as a function that makes a geometry, and as a method that adds one.
// What they share is said once.
#define POSE_ARGUMENTS                                                                             \
    "position"_a = nb::make_tuple(0.0, 0.0, 0.0), "rotation"_a = nb::make_tuple(1.0, 0.0, 0.0, 0.0)
#define SURFACE_ARGUMENTS                                                                          \
    "density"_a = 1000.0, "material"_a = nb::none(), "group"_a = 1u, "mask"_a = 0xffffffffu
#define POSE_TYPES                                                                                 \
    "position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike = (1.0, 0.0, 0.0, 0.0)"
#define SURFACE_TYPES                                                                              \
    "density: float = 1000.0, material: Material | WorldMaterial | str | None = None, group: int " \
    "= 1, mask: int = "                                                                            \
    "0xffffffff"
#define COMMON_HELP                                                                                \
    "\n\nposition, rotation  of the shape in the body's frame, m and quaternion w x y z\n"         \
    "density             kg/m^3, unless the body's mass is given\n"                                \
    "material            a tippe.Material, or the name of one of the world's; None: smooth\n"      \
    "group, mask         two shapes collide if each has its group in the other's mask"

template <typename... Numbers> struct Adder {
    template <Geometry (*make)(Numbers..., nb::handle, nb::handle)>
    static Shape add(Body& body, Numbers... numbers, nb::handle position, nb::handle rotation,
                     nb::handle density, nb::handle material, nb::handle group, nb::handle mask) {
        return addShape(body, make(numbers..., position, rotation), density, material, group, mask);
    }
};

using One = Adder<nb::handle>;
using Two = Adder<nb::handle, nb::handle>;
using Three = Adder<nb::handle, nb::handle, nb::handle>;

#define BIND_SHAPE(name, make, adder, types, help, ...)                                            \
    m.def(name, &make, __VA_ARGS__, nb::kw_only(), POSE_ARGUMENTS,                                 \
          nb::sig("def " name "(" types ", *, " POSE_TYPES ") -> Geometry"), "Makes " help);       \
    body.def("add_" name, &adder::add<make>, __VA_ARGS__, nb::kw_only(), POSE_ARGUMENTS,           \
             SURFACE_ARGUMENTS,                                                                    \
             nb::sig("def add_" name "(self, " types ", *, " POSE_TYPES ", " SURFACE_TYPES         \
                     ") -> Shape"),                                                                \
             "Adds " help COMMON_HELP)

void bindMakers(nb::module_& m, nb::class_<Body>& body) {
    const nb::tuple z = nb::make_tuple(0.0, 0.0, 1.0);
    BIND_SHAPE("sphere", makeSphere, One, "radius: float", "a ball; in planar worlds a disc.",
               "radius"_a);
    BIND_SHAPE("box", makeBox, One, "size: ArrayLike", "a box of these full edge lengths, m.",
               "size"_a);
    BIND_SHAPE(
        "rounded_box", makeRoundedBox, Two, "size: ArrayLike, radius: float",
        "a box with round edges and corners: edge lengths of the whole body, and the radius.",
        "size"_a, "radius"_a);
    BIND_SHAPE("capsule", (makeAxial<tpCapsule, tpMakeCapsule>), Three,
               "radius: float, length: float, axis: ArrayLike = (0.0, 0.0, 1.0)",
               "a cylinder with round caps; `length` is between the centres of the caps.",
               "radius"_a, "length"_a, "axis"_a = z);
    BIND_SHAPE("cylinder", (makeAxial<tpCylinder, tpMakeCylinder>), Three,
               "radius: float, length: float, axis: ArrayLike = (0.0, 0.0, 1.0)",
               "a right circular cylinder; `length` is its full height.", "radius"_a, "length"_a,
               "axis"_a = z);
    BIND_SHAPE("cone", (makeAxial<tpCone, tpMakeCone>), Three,
               "radius: float, length: float, axis: ArrayLike = (0.0, 0.0, 1.0)",
               "a right circular cone, its tip at +length/2 along the axis.", "radius"_a,
               "length"_a, "axis"_a = z);
    BIND_SHAPE("prism", makePrism, Two, "points: ArrayLike, length: float",
               "a convex polygon in x-y, drawn out by length / 2 to both sides along z.",
               "points"_a, "length"_a);
    BIND_SHAPE("ellipsoid", makeEllipsoid, One, "radii: ArrayLike", "an ellipsoid.", "radii"_a);
    BIND_SHAPE("superellipsoid", makeSuperellipsoid, Two, "radii: ArrayLike, exponents: ArrayLike",
               "a convex superellipsoid: exponents e1 (towards z) and e2 (around z), 0.01 to 2.",
               "radii"_a, "exponents"_a);
    BIND_SHAPE("hull", makeHull, One, "points: ArrayLike", "the convex hull of points, (n, 3).",
               "points"_a);
    BIND_SHAPE("mesh", makeMesh, Two,
               "vertices: ArrayLike | str | PathLike[str], triangles: ArrayLike | None = None",
               "a closed surface: vertices (n, 3) and triangles (m, 3), counter-clockwise from\n"
               "outside; or the path of an OBJ or STL file.",
               "vertices"_a, "triangles"_a = nb::none());
    BIND_SHAPE(
        "heightfield", makeHeightField, Two, "heights: ArrayLike, spacing: float | ArrayLike",
        "heights over a grid centred on the origin, up along z, solid below: heights[row,\n"
        "column] with rows along y and columns along x, `spacing` apart (one number, or x and y).",
        "heights"_a, "spacing"_a);
    BIND_SHAPE("plane", makePlane, Two, "normal: ArrayLike = (0.0, 0.0, 1.0), offset: float = 0.0",
               "a half space, solid where normal . x <= offset.", "normal"_a = z, "offset"_a = 0.0);
    BIND_SHAPE("intersection", makeIntersection, One, "of: Sequence[Geometry]",
               "what several convex geometries have in common.", "of"_a);
}

} // namespace

tpPose poseOf(nb::handle position, nb::handle rotation) {
    return tpMakePose(vectorOf(position, "position"), rotationOf(rotation, "rotation"));
}

uint32_t bitsOf(nb::handle value, const char* name) {
    unsigned long bits = PyLong_Check(value.ptr()) ? PyLong_AsUnsignedLong(value.ptr()) : ~0ul;
    if (PyErr_Occurred() != nullptr || bits > 0xfffffffful) {
        PyErr_Clear();
        raiseValue("%s: expected 32 bits, a whole number from 0 to 0xffffffff", name);
    }
    return static_cast<uint32_t>(bits);
}

void bindShapes(nb::module_& m, nb::class_<Body>& body) {
    nb::class_<Shape>(m, "Shape", "A shape of a body in a world.")
        .def_prop_ro(
            "type",
            [](const Shape& s) {
                return tpShapeTypeName(tpShape_GetGeometry(worldOf(s), s.id)->type);
            },
            "Its type as scenes spell it: \"sphere\".")
        .def_prop_ro(
            "body",
            [](const Shape& s) {
                return makeBody(s.owner, *s.world, tpShape_GetBody(worldOf(s), s.id));
            },
            "The body it belongs to.")
        .def_prop_ro(
            "is_valid",
            [](const Shape& s) { return use(*s.world), tpShape_IsValid(s.world->world, s.id); },
            "Whether it is still there.")
        .def_prop_rw(
            "density", [](const Shape& s) { return tpShape_GetDef(worldOf(s), s.id).density; },
            [](const Shape& s, nb::handle value) {
                tpWorld* world = worldOf(s);
                pushViews(*s.world);
                tpError error = {};
                if (tpShape_SetDensity(world, s.id, numberOf(value, "density", Range::notNegative),
                                       &error) != tp_success) {
                    raiseError(error);
                }
                pullRow(*s.world, tpShape_GetBody(world, s.id));
            },
            nb::for_setter(nb::sig("def density(self, value: float, /) -> None")),
            "kg/m^3; the mass of its body follows, unless that was given.")
        .def_prop_rw(
            "material",
            [](const Shape& s) {
                return s.owner.attr("_material_at")(tpShape_GetMaterial(worldOf(s), s.id));
            },
            [](const Shape& s, nb::handle value) {
                tpWorld* world = worldOf(s);
                tpShape_SetMaterial(world, s.id, materialOf(s.owner, *s.world, value));
                raiseMistake();
            },
            nb::for_getter(nb::sig("def material(self) -> WorldMaterial")),
            nb::for_setter(nb::sig(
                "def material(self, value: Material | WorldMaterial | str | None, /) -> None")),
            "What its surface is made of.")
        .def_prop_ro(
            "group", [](const Shape& s) { return tpShape_GetDef(worldOf(s), s.id).group; },
            "Two shapes collide if each has its group in the other's mask.")
        .def_prop_ro(
            "mask", [](const Shape& s) { return tpShape_GetDef(worldOf(s), s.id).mask; },
            "Groups that it collides with.")
        .def(
            "set_filter",
            [](const Shape& s, nb::handle group, nb::handle mask) {
                tpWorld* world = worldOf(s);
                tpShape_SetFilter(world, s.id, bitsOf(group, "group"), bitsOf(mask, "mask"));
                raiseMistake();
            },
            "group"_a, "mask"_a = 0xffffffffu,
            nb::sig("def set_filter(self, group: int, mask: int = 0xffffffff) -> None"),
            "Changes group and mask.")
        .def(
            "destroy",
            [](const Shape& s) {
                tpWorld* world = worldOf(s);
                pushViews(*s.world);
                tpBodyId owner = tpShape_GetBody(world, s.id);
                tpDestroyShape(world, s.id);
                pullRow(*s.world, owner);
            },
            "Removes the shape from its body.")
        .def("__repr__", [](const Shape& s) -> std::string {
            if (s.world->isBusy || !tpShape_IsValid(s.world->world, s.id)) {
                return "Shape(destroyed)";
            }
            return std::string("Shape(") +
                   tpShapeTypeName(tpShape_GetGeometry(s.world->world, s.id)->type) + ")";
        });

    nb::class_<Geometry>(
        m, "Geometry",
        "A shape by itself, in the frame of a body that it may be added to. Made by "
        "the functions of tippe.shapes; never changes.")
        .def_prop_ro(
            "type", [](const Geometry& g) { return tpShapeTypeName(g.geometry.type); },
            "Its type as scenes spell it.")
        .def_prop_ro(
            "is_convex", [](const Geometry& g) { return tpGeometry_IsConvex(&g.geometry); },
            "Whether it is convex.")
        .def(
            "mass",
            [](const Geometry& g, nb::handle density) {
                tpMassProperties mass;
                tpError error = {};
                double rho = numberOf(density, "density", Range::positive);
                if (tpGeometry_Mass(&g.geometry, rho, &mass, &error) != tp_success) {
                    raiseError(error);
                }
                return nb::make_tuple(mass.mass, arrayOf(mass.center), arrayOf(mass.inertia));
            },
            "density"_a = 1000.0,
            nb::sig(
                "def mass(self, density: float = 1000.0) -> tuple[float, FloatArray, FloatArray]"),
            "Mass (kg), centre of mass (m) and inertia about it (kg m^2, 3 x 3) at a density.")
        .def("__repr__", [](const Geometry& g) {
            return std::string("Geometry(") + tpShapeTypeName(g.geometry.type) + ")";
        });

    bindMakers(m, body);
    body.def("add", &addShape, "geometry"_a, nb::kw_only(), SURFACE_ARGUMENTS,
             nb::sig("def add(self, geometry: Geometry, *, " SURFACE_TYPES ") -> Shape"),
             "Adds a geometry made by tippe.shapes." COMMON_HELP)
        .def_prop_ro("shapes", &shapesOf, nb::sig("def shapes(self) -> list[Shape]"),
                     "Its shapes, in order of creation.");
}
