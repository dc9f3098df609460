// World.contacts: the contacts of the last step as a structured array.

#include <algorithm>
#include <cstring>

#include "binding.h"

namespace {

// The part of a row that is the same in every world; names of bodies follow, as wide as the
// longest.
struct Row {
    double point[3], normal[3];
    double gap, normalImpulse;
    double frictionImpulse[3];
    double torsionalImpulse, rollingImpulse[3], slidingSpeed;
    uint64_t feature;
    int32_t indexA, indexB;
    char32_t state[9];
};

const char32_t* const stateNames[] = { U"separated", U"sliding", U"sticking" };

struct Field {
    const char* name;
    const char* type;
    size_t offset;
};

const Field fields[] = {
    { "point", "(3,)f8", offsetof(Row, point) },
    { "normal", "(3,)f8", offsetof(Row, normal) },
    { "gap", "f8", offsetof(Row, gap) },
    { "normal_impulse", "f8", offsetof(Row, normalImpulse) },
    { "friction_impulse", "(3,)f8", offsetof(Row, frictionImpulse) },
    { "torsional_impulse", "f8", offsetof(Row, torsionalImpulse) },
    { "rolling_impulse", "(3,)f8", offsetof(Row, rollingImpulse) },
    { "sliding_speed", "f8", offsetof(Row, slidingSpeed) },
    { "state", "U9", offsetof(Row, state) },
    { "index_a", "i4", offsetof(Row, indexA) },
    { "index_b", "i4", offsetof(Row, indexB) },
    { "feature", "u8", offsetof(Row, feature) },
};

// Rows are a whole number of doubles long.
size_t rowSize(size_t nameWidth) {
    return (sizeof(Row) + 8 * nameWidth + 7) / 8 * 8;
}

nb::object makeType(size_t nameWidth) {
    std::string text = "U" + std::to_string(nameWidth);
    nb::list names, types, offsets;
    auto add = [&](const char* name, const char* type, size_t offset) {
        names.append(name);
        types.append(type);
        offsets.append(offset);
    };
    add("body_a", text.c_str(), sizeof(Row));
    add("body_b", text.c_str(), sizeof(Row) + 4 * nameWidth);
    for (const Field& field : fields) {
        add(field.name, field.type, field.offset);
    }
    nb::dict description;
    description["names"] = names;
    description["formats"] = types;
    description["offsets"] = offsets;
    description["itemsize"] = rowSize(nameWidth);
    return nb::module_::import_("numpy").attr("dtype")(description);
}

void updateLabels(World& world) {
    BodyLabels& labels = world.labels;
    if (labels.type.is_valid() && labels.structure == tpWorld_GetStructure(world.world)) {
        return;
    }
    int count = tpWorld_GetBodyCount(world.world);
    std::vector<std::string> names;
    labels.placeBySlot.clear();
    labels.width = 1;
    for (int i = 0; i < count; ++i) {
        tpBodyId body = tpWorld_GetBody(world.world, i);
        const char* name = tpBody_GetName(world.world, body);
        names.push_back(name[0] != '\0' ? name : "body" + std::to_string(i));
        labels.width = std::max(labels.width, names.back().size());
        if (body.slot >= labels.placeBySlot.size()) {
            labels.placeBySlot.resize(body.slot + 1, -1);
        }
        labels.placeBySlot[body.slot] = i;
    }
    labels.letters.assign(labels.width * names.size(), U'\0');
    for (size_t i = 0; i < names.size(); ++i) {
        for (size_t k = 0; k < names[i].size(); ++k) {
            labels.letters[i * labels.width + k] = static_cast<unsigned char>(names[i][k]);
        }
    }
    labels.type = makeType(labels.width);
    labels.structure = tpWorld_GetStructure(world.world);
}

void copy(double* to, tpVec3 v) {
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

void fillRow(const BodyLabels& labels, const tpContactInfo& from, char* bytes) {
    Row row = {};
    copy(row.point, from.point);
    copy(row.normal, from.normal);
    row.gap = from.gap;
    row.normalImpulse = from.normalImpulse;
    copy(row.frictionImpulse, from.frictionImpulse);
    row.torsionalImpulse = from.torsionalImpulse;
    copy(row.rollingImpulse, from.rollingImpulse);
    row.slidingSpeed = from.slidingSpeed;
    row.feature = from.feature;
    const tpBodyId ids[2] = { from.bodyA, from.bodyB };
    int32_t* const places[2] = { &row.indexA, &row.indexB };
    for (int k = 0; k < 2; ++k) {
        int place = ids[k].slot < labels.placeBySlot.size() ? labels.placeBySlot[ids[k].slot] : -1;
        *places[k] = place;
        if (place >= 0) {
            std::memcpy(bytes + sizeof(Row) + k * 4 * labels.width,
                        &labels.letters[static_cast<size_t>(place) * labels.width],
                        4 * labels.width);
        }
    }
    for (int k = 0; k < 9 && stateNames[from.state][k] != U'\0'; ++k) {
        row.state[k] = stateNames[from.state][k];
    }
    std::memcpy(bytes, &row, sizeof(Row));
}

nb::object getContacts(World& world) {
    use(world);
    updateLabels(world);
    int count = 0;
    const tpContactInfo* contacts = tpWorld_GetContacts(world.world, &count);
    nb::object array = nb::module_::import_("numpy").attr("zeros")(count, world.labels.type);
    if (count > 0) {
        using Bytes = nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig>;
        Bytes bytes = nb::cast<Bytes>(array.attr("view")("u1"));
        size_t size = rowSize(world.labels.width);
        for (int i = 0; i < count; ++i) {
            fillRow(world.labels, contacts[i], reinterpret_cast<char*>(bytes.data()) + i * size);
        }
    }
    return array;
}

} // namespace

void bindContacts(nb::module_&, nb::class_<World>& cls) {
    cls.def_prop_ro("contacts", &getContacts, nb::sig("def contacts(self) -> NDArray[Any]"),
                    "The contacts of the last step, a structured array with a row for each:\n\n"
                    "body_a, body_b      names of the two bodies\n"
                    "point               m, world axes\n"
                    "normal              unit vector from body B to body A\n"
                    "gap                 m, at the end of the step; negative where they overlap\n"
                    "normal_impulse      N s over the step, on body A\n"
                    "friction_impulse    N s over the step, on body A, world axes\n"
                    "torsional_impulse   N m s over the step, on body A, about the normal\n"
                    "rolling_impulse     N m s over the step, on body A, across the normal\n"
                    "sliding_speed       m/s\n"
                    "state               \"separated\", \"sliding\" or \"sticking\"\n"
                    "index_a, index_b    places of the two bodies in `bodies`\n"
                    "feature             which features touch; the same while the same ones do");
}
