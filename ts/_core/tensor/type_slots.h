/* Type slots of Tensor that remove the frames of `ts` from the tracebacks of errors.

   Python calls `x + y` through a pointer in the type (a slot). `install_slots` replaces the pointers of Tensor by
   functions that call the original one, and call `on_error` if it fails:

       x + y  ->  slot_nb_add(x, y)  ->  Tensor.__add__

   Slots of subclasses come from the special methods in the dictionary of Tensor (`Tensor.__neg__`), which contain the same
   pointers. In contrast, Cython writes `__add__`, `__radd__` and the other binary methods as usual methods. */

#include <Python.h>

static void (*on_error)(void);

#define AS_NUMBER(type) ((type)->tp_as_number)
#define AS_MAPPING(type) ((type)->tp_as_mapping)
#define AS_TYPE(type) (type)

/* F(structure of the type, slot, type of the function, result on failure, parameters, arguments) */
#define UNARY_SLOT(F, slot) F(AS_NUMBER, slot, unaryfunc, PyObject *, NULL, (PyObject *a), (a))
#define BINARY_SLOT(F, slot) F(AS_NUMBER, slot, binaryfunc, PyObject *, NULL, (PyObject *a, PyObject *b), (a, b))
#define POWER_SLOT(F, slot) \
    F(AS_NUMBER, slot, ternaryfunc, PyObject *, NULL, (PyObject *a, PyObject *b, PyObject *c), (a, b, c))

#define SLOTS(F) \
    BINARY_SLOT(F, nb_add) BINARY_SLOT(F, nb_subtract) BINARY_SLOT(F, nb_multiply) BINARY_SLOT(F, nb_remainder) \
    BINARY_SLOT(F, nb_true_divide) BINARY_SLOT(F, nb_floor_divide) BINARY_SLOT(F, nb_matrix_multiply) \
    BINARY_SLOT(F, nb_lshift) BINARY_SLOT(F, nb_rshift) BINARY_SLOT(F, nb_and) BINARY_SLOT(F, nb_xor) \
    BINARY_SLOT(F, nb_or) BINARY_SLOT(F, nb_inplace_add) BINARY_SLOT(F, nb_inplace_subtract) \
    BINARY_SLOT(F, nb_inplace_multiply) BINARY_SLOT(F, nb_inplace_remainder) \
    BINARY_SLOT(F, nb_inplace_true_divide) BINARY_SLOT(F, nb_inplace_floor_divide) \
    BINARY_SLOT(F, nb_inplace_lshift) BINARY_SLOT(F, nb_inplace_rshift) BINARY_SLOT(F, nb_inplace_and) \
    BINARY_SLOT(F, nb_inplace_xor) BINARY_SLOT(F, nb_inplace_or) \
    POWER_SLOT(F, nb_power) POWER_SLOT(F, nb_inplace_power) \
    UNARY_SLOT(F, nb_negative) UNARY_SLOT(F, nb_positive) UNARY_SLOT(F, nb_absolute) UNARY_SLOT(F, nb_invert) \
    F(AS_TYPE, tp_richcompare, richcmpfunc, PyObject *, NULL, (PyObject *a, PyObject *b, int op), (a, b, op)) \
    F(AS_MAPPING, mp_subscript, binaryfunc, PyObject *, NULL, (PyObject *a, PyObject *b), (a, b)) \
    F(AS_MAPPING, mp_ass_subscript, objobjargproc, int, -1, (PyObject *a, PyObject *b, PyObject *c), (a, b, c))

#define DEFINE_SLOT(part, slot, type, result_type, failed, parameters, arguments) \
    static type original_##slot; \
    static result_type slot_##slot parameters { \
        result_type result = original_##slot arguments; \
        if (result == failed) on_error(); \
        return result; \
    }
SLOTS(DEFINE_SLOT)
#undef DEFINE_SLOT

/* Replace the pointer `original` in the special methods in the dictionary of a type. */
static void replace_in_methods(PyTypeObject *type, void *original, void *replacement) {
    PyObject *name, *method;
    Py_ssize_t position = 0;
    while (PyDict_Next(type->tp_dict, &position, &name, &method)) {
        if (Py_IS_TYPE(method, &PyWrapperDescr_Type) && ((PyWrapperDescrObject *)method)->d_wrapped == original)
            ((PyWrapperDescrObject *)method)->d_wrapped = replacement;
    }
}

/* Binary methods that are usual methods: each has a name and a reflected name. */
#define BINARY_METHODS(F) \
    F(add) F(radd) F(sub) F(rsub) F(mul) F(rmul) F(truediv) F(rtruediv) F(floordiv) F(rfloordiv) F(mod) F(rmod) \
    F(and) F(rand) F(or) F(ror) F(xor) F(rxor) F(lshift) F(rlshift) F(rshift) F(rrshift) F(matmul) F(rmatmul)

#define DEFINE_METHOD(name) \
    static PyCFunction original_method_##name; \
    static PyObject *method_##name(PyObject *a, PyObject *b) { \
        PyObject *result = original_method_##name(a, b); \
        if (result == NULL) on_error(); \
        return result; \
    }
BINARY_METHODS(DEFINE_METHOD)
#undef DEFINE_METHOD

/* Replace the function of a method with one argument, and return the previous function. If the type has no such method,
   return NULL. */
static PyCFunction replace_method(PyTypeObject *type, const char *name, PyCFunction replacement) {
    PyObject *method = PyDict_GetItemString(type->tp_dict, name);
    if (method == NULL || !Py_IS_TYPE(method, &PyMethodDescr_Type)) return NULL;
    PyMethodDef *definition = ((PyMethodDescrObject *)method)->d_method;
    if (!(definition->ml_flags & METH_O)) return NULL;
    PyCFunction original = definition->ml_meth;
    definition->ml_meth = replacement;
    return original;
}

/* Define `__rdiv__`, which is PyTorch's name of the method `__rtruediv__`, and make it the only such method. */
static int rename_division(PyTypeObject *type) {
    static PyMethodDef definition;
    PyObject *method = PyDict_GetItemString(type->tp_dict, "__rtruediv__");
    if (method == NULL) return 0;
    definition = *((PyMethodDescrObject *)method)->d_method;
    definition.ml_name = "__rdiv__";
    method = PyDescr_NewMethod(type, &definition);
    if (method == NULL) return -1;
    int failed = PyDict_SetItemString(type->tp_dict, "__rdiv__", method) ||
                 PyDict_SetItemString(type->tp_dict, "__rtruediv__", method);
    Py_DECREF(method);
    return failed ? -1 : 0;
}

static int install_slots(PyTypeObject *type, void (*function)(void)) {
    on_error = function;
#define INSTALL_SLOT(part, slot, ...) \
    original_##slot = part(type)->slot; \
    if (original_##slot) { \
        replace_in_methods(type, (void *)original_##slot, (void *)slot_##slot); \
        part(type)->slot = slot_##slot; \
    }
    SLOTS(INSTALL_SLOT)
#undef INSTALL_SLOT
#define INSTALL_METHOD(name) original_method_##name = replace_method(type, "__" #name "__", method_##name);
    BINARY_METHODS(INSTALL_METHOD)
#undef INSTALL_METHOD
    int status = rename_division(type);
    PyType_Modified(type);
    return status;
}
