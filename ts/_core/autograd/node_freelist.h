/* Free list of backward nodes: operators create and release millions of nodes, and a released node is reused
   for the next one.

   In: the class, and a function that empties its objects: it sets references to None and frees C memory. A
   reused node is in the state in which `tp_new` of the class creates it. If the list is full, the
   deallocation function that Cython generated is called. */

#ifndef TS_NODE_FREELIST_H
#define TS_NODE_FREELIST_H

#include <Python.h>

#define MAX_FREE_NODES 256

static PyObject *free_nodes[MAX_FREE_NODES];
static int free_node_count;
static destructor dealloc_rest;
static void (*empty_node)(PyObject *);

static void dealloc_or_keep_node(PyObject *node) {
    PyObject_GC_UnTrack(node);
    Py_TRASHCAN_BEGIN(node, dealloc_or_keep_node) /* limits the recursion, because chains of nodes may have any length */
    if (*(PyObject **)((char *)node + Py_TYPE(node)->tp_weaklistoffset))
        PyObject_ClearWeakRefs(node);
    Py_SET_REFCNT(node, 1); /* `empty_node` needs an object with a reference */
    empty_node(node);
    Py_SET_REFCNT(node, 0);
    if (free_node_count < MAX_FREE_NODES)
        free_nodes[free_node_count++] = node;
    else
        dealloc_rest(node);
    Py_TRASHCAN_END
}

/* Install the free list before the class has objects. The class must have no subclasses. */
static void use_free_list(PyObject *cls, void (*empty)(PyObject *)) {
    PyTypeObject *type = (PyTypeObject *)cls;
    empty_node = empty;
    dealloc_rest = type->tp_dealloc, type->tp_dealloc = dealloc_or_keep_node;
    PyType_Modified(type);
}

/* Return a node from the free list as a new reference, or NULL without an exception if the list is empty. */
static inline PyObject *pop_free_node(void) {
    PyObject *node;
    if (!free_node_count)
        return NULL;
    node = free_nodes[--free_node_count];
    _Py_NewReference(node);
    PyObject_GC_Track(node);
    return node;
}

#endif
