/* Instance dictionary that is created when the first attribute is set.

   In: the class, and the offset in its objects of the pointer to the dictionary, NULL at first.  A `cdef dict
   __dict__` would be created and freed with each object, which takes as long as all other work for a small
   tensor.  The functions that Cython generated for the class are called from here. */

#ifndef TS_ATTRIBUTES_H
#define TS_ATTRIBUTES_H

#include <Python.h>

static Py_ssize_t attributes_offset;
static destructor dealloc_rest;
static traverseproc traverse_rest;
static inquiry clear_rest;

static inline PyObject **attributes_of(PyObject *object) {
    return (PyObject **)((char *)object + attributes_offset);
}

static void dealloc_with_attributes(PyObject *object) {
    if (*attributes_of(object)) {
        PyObject_GC_UnTrack(object);
        PyObject_ClearWeakRefs(object); /* code that runs when the attributes are released must not find the object */
        Py_CLEAR(*attributes_of(object));
    }
    dealloc_rest(object);
}

static int traverse_with_attributes(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(*attributes_of(object));
    return traverse_rest(object, visit, arg);
}

static int clear_with_attributes(PyObject *object) {
    Py_CLEAR(*attributes_of(object));
    return clear_rest(object);
}

/* Install the dictionary before the class has objects or subclasses. */
static int hang_attributes(PyObject *cls, Py_ssize_t offset) {
    static PyGetSetDef dictionary = {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL};
    PyTypeObject *type = (PyTypeObject *)cls;
    PyObject *descriptor = PyDescr_NewGetSet(type, &dictionary);
    if (!descriptor || PyDict_SetItemString(type->tp_dict, "__dict__", descriptor) < 0) {
        Py_XDECREF(descriptor);
        return -1;
    }
    Py_DECREF(descriptor);
    attributes_offset = type->tp_dictoffset = offset;
    dealloc_rest = type->tp_dealloc, type->tp_dealloc = dealloc_with_attributes;
    traverse_rest = type->tp_traverse, type->tp_traverse = traverse_with_attributes;
    clear_rest = type->tp_clear, type->tp_clear = clear_with_attributes;
    PyType_Modified(type);
    return 0;
}

#endif
