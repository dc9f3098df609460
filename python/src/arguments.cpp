// Arguments by name, and errors of the C library as Python exceptions.

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "binding.h"

// Errors --------------------------------------------------------------------------------------

namespace {

// Classes of the package, made in Python (tippe/errors.py); they live as long as the interpreter.
PyObject* sceneErrorClass = nullptr;
PyObject* unsupportedErrorClass = nullptr;

thread_local std::string mistake; // what the hook was told, not raised yet

// The C library names arguments like angularVelocity.
std::string inPython(const char* name) {
    std::string made;
    for (const char* c = name; *c != '\0'; ++c) {
        if (*c >= 'A' && *c <= 'Z') {
            made += '_';
        }
        made += static_cast<char>(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    }
    return made;
}

void noteMistake(const char*, const char* argument, const char* message) {
    if (mistake.empty()) {
        mistake = inPython(argument) + ": " + message;
    }
}

std::string format(const char* words, va_list arguments) {
    char text[2048];
    std::vsnprintf(text, sizeof(text), words, arguments);
    return text;
}

[[noreturn]] void raise(PyObject* type, const std::string& message) {
    PyErr_SetString(type, message.c_str());
    throw nb::python_error();
}

} // namespace

void raiseValue(const char* words, ...) {
    va_list arguments;
    va_start(arguments, words);
    std::string message = format(words, arguments);
    va_end(arguments);
    raise(PyExc_ValueError, message);
}

void raiseRuntime(const char* words, ...) {
    va_list arguments;
    va_start(arguments, words);
    std::string message = format(words, arguments);
    va_end(arguments);
    raise(PyExc_RuntimeError, message);
}

void raiseError(const tpError& error) {
    switch (error.result) {
    case tp_badInput:
        raise(PyExc_ValueError, error.message);
    case tp_outOfMemory:
        raise(PyExc_MemoryError, error.message[0] != '\0' ? error.message : "out of memory");
    case tp_ioError:
        raise(PyExc_OSError, error.message);
    case tp_unsupported:
        raise(unsupportedErrorClass != nullptr ? unsupportedErrorClass : PyExc_RuntimeError,
              error.message);
    default:
        raise(PyExc_RuntimeError, error.message);
    }
}

void raiseScene(const tpError& error) {
    if (error.result == tp_outOfMemory || sceneErrorClass == nullptr) {
        raiseError(error);
    }
    nb::object made = nb::borrow(sceneErrorClass)(error.message);
    PyErr_SetObject(sceneErrorClass, made.ptr());
    throw nb::python_error();
}

void raiseMistake() {
    if (!mistake.empty()) {
        std::string message = std::move(mistake);
        mistake.clear();
        raise(PyExc_ValueError, message);
    }
}

// Arguments -----------------------------------------------------------------------------------

namespace {

std::string shown(nb::handle value) {
    PyObject* repr = PyObject_Repr(value.ptr());
    if (repr == nullptr) {
        PyErr_Clear();
        return "something";
    }
    std::string text = nb::cast<std::string>(nb::steal<nb::str>(repr));
    return text.size() > 80 ? text.substr(0, 77) + "..." : text;
}

// A number as float() understands it; texts and booleans are none.
bool readNumber(nb::handle value, double* number) {
    if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr()) || PyBool_Check(value.ptr()) ||
        value.is_none()) {
        return false;
    }
    *number = PyFloat_AsDouble(value.ptr());
    if (*number == -1.0 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        return false;
    }
    return true;
}

bool readNumbers(nb::handle value, int count, double* numbers) {
    if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr()) ||
        PySequence_Check(value.ptr()) == 0) {
        return false;
    }
    Py_ssize_t size = PySequence_Size(value.ptr());
    if (size != count) {
        PyErr_Clear();
        return false;
    }
    for (int i = 0; i < count; ++i) {
        PyObject* item = PySequence_GetItem(value.ptr(), i);
        if (item == nullptr) {
            PyErr_Clear();
            return false;
        }
        nb::object held = nb::steal(item);
        if (!readNumber(held, &numbers[i]) || !std::isfinite(numbers[i])) {
            return false;
        }
    }
    return true;
}

} // namespace

double numberOf(nb::handle value, const char* name, Range range) {
    double number = 0.0;
    bool isNumber = readNumber(value, &number) && std::isfinite(number);
    switch (range) {
    case Range::any:
        if (!isNumber) {
            raiseValue("%s: expected a finite number, got %s", name, shown(value).c_str());
        }
        break;
    case Range::notNegative:
        if (!isNumber || number < 0.0) {
            raiseValue("%s: expected a number, zero or positive, got %s", name,
                       shown(value).c_str());
        }
        break;
    case Range::positive:
        if (!isNumber || number <= 0.0) {
            raiseValue("%s: expected a positive number, got %s", name, shown(value).c_str());
        }
        break;
    case Range::zeroToOne:
        if (!isNumber || number < 0.0 || number > 1.0) {
            raiseValue("%s: expected a number from 0 to 1, got %s", name, shown(value).c_str());
        }
        break;
    }
    return number;
}

int integerOf(nb::handle value, const char* name, int least, int most) {
    long number = -1;
    bool isInteger = PyIndex_Check(value.ptr()) != 0 && !PyBool_Check(value.ptr());
    if (isInteger) {
        nb::object index = nb::steal(PyNumber_Index(value.ptr()));
        number = PyLong_AsLong(index.ptr());
        if (PyErr_Occurred() != nullptr) {
            PyErr_Clear();
            isInteger = false;
        }
    }
    if (!isInteger || number < least || number > most) {
        raiseValue("%s: expected a whole number from %d to %d, got %s", name, least, most,
                   shown(value).c_str());
    }
    return static_cast<int>(number);
}

bool flagOf(nb::handle value, const char* name) {
    int truth = PyObject_IsTrue(value.ptr());
    if (truth < 0) {
        PyErr_Clear();
        raiseValue("%s: expected True or False, got %s", name, shown(value).c_str());
    }
    return truth != 0;
}

void numbersOf(nb::handle value, const char* name, int count, double* numbers) {
    if (!readNumbers(value, count, numbers)) {
        raiseValue("%s: expected %d finite numbers, got %s", name, count, shown(value).c_str());
    }
}

tpVec3 vectorOf(nb::handle value, const char* name) {
    double v[3];
    numbersOf(value, name, 3, v);
    return tpMakeVec3(v[0], v[1], v[2]);
}

tpVec3 directionOf(nb::handle value, const char* name) {
    tpVec3 v = vectorOf(value, name);
    if (tpLength(tpNormalize(v)) == 0.0) {
        raiseValue("%s: expected a direction, got a vector of length zero", name);
    }
    return v;
}

tpQuat rotationOf(nb::handle value, const char* name) {
    double q[4];
    if (!readNumbers(value, 4, q)) {
        raiseValue("%s: expected a quaternion w, x, y, z (tippe.rotation makes one), got %s", name,
                   shown(value).c_str());
    }
    double largest = std::fmax(std::fmax(std::fabs(q[0]), std::fabs(q[1])),
                               std::fmax(std::fabs(q[2]), std::fabs(q[3])));
    if (!(largest > 0.0)) {
        raiseValue("%s: expected a quaternion w, x, y, z, got zeros", name);
    }
    // One that has length one already keeps its bits.
    double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    tpQuat rotation = tpMakeQuat(q[0], q[1], q[2], q[3]);
    return std::fabs(square - 1.0) < 1e-15
               ? rotation
               : tpNormalizeQuat(
                     tpMakeQuat(q[0] / largest, q[1] / largest, q[2] / largest, q[3] / largest));
}

std::string textOf(nb::handle value, const char* name) {
    if (!PyUnicode_Check(value.ptr())) {
        raiseValue("%s: expected a text, got %s", name, shown(value).c_str());
    }
    return nb::cast<std::string>(value);
}

Rows rowsOf(nb::handle value, const char* name, int width) {
    nb::object numpy = nb::module_::import_("numpy");
    nb::object array;
    try {
        array = numpy.attr("ascontiguousarray")(value, "dtype"_a = "float64");
    } catch (nb::python_error&) {
        raiseValue("%s: expected rows of %d numbers, got %s", name, width, shown(value).c_str());
    }
    Rows rows;
    if (!nb::try_cast(array, rows) || static_cast<int>(rows.shape(1)) != width) {
        std::string shape = nb::cast<std::string>(nb::str(nb::handle(array.attr("shape"))));
        raiseValue("%s: expected rows of %d numbers, got an array of shape %s", name, width,
                   shape.c_str());
    }
    return rows;
}

// Arrays --------------------------------------------------------------------------------------

nb::object arrayOf(std::vector<double>&& data, std::vector<size_t> shape) {
    auto* owner = new std::vector<double>(std::move(data));
    nb::capsule capsule(owner,
                        [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    static double nothing[1];
    nb::ndarray<nb::numpy, double> array(owner->empty() ? nothing : owner->data(), shape.size(),
                                         shape.data(), capsule);
    return nb::cast(array);
}

namespace {

// A copy that cannot be written to: nobody believes to move a body by changing it.
nb::object readOnlyCopy(const double* numbers, std::initializer_list<size_t> shape) {
    size_t count = 1;
    for (size_t size : shape) {
        count *= size;
    }
    double* owned = new double[count];
    std::memcpy(owned, numbers, count * sizeof(double));
    nb::capsule capsule(owned, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, const double>(owned, shape, capsule));
}

} // namespace

nb::object arrayOf(tpVec3 v) {
    const double numbers[3] = { v.x, v.y, v.z };
    return readOnlyCopy(numbers, { 3 });
}

nb::object arrayOf(tpQuat q) {
    const double numbers[4] = { q.w, q.x, q.y, q.z };
    return readOnlyCopy(numbers, { 4 });
}

nb::object arrayOf(const tpMat33& m) {
    const double numbers[9] = { m.cx.x, m.cy.x, m.cz.x, m.cx.y, m.cy.y,
                                m.cz.y, m.cx.z, m.cy.z, m.cz.z };
    return readOnlyCopy(numbers, { 3, 3 });
}

void bindErrors(nb::module_& m) {
    tpSetMisuseHook(noteMistake);
    m.def(
        "_set_errors",
        [](nb::handle scene, nb::handle unsupported) {
            Py_XINCREF(scene.ptr());
            Py_XINCREF(unsupported.ptr());
            sceneErrorClass = scene.ptr();
            unsupportedErrorClass = unsupported.ptr();
        },
        "scene"_a, "unsupported"_a);
}
