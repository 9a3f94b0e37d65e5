/* Nodes that operators leave behind, made and gone by the million: some that die are kept empty, and are the next.

   In: the class and who empties its objects: references become None, and what they point to in memory is freed.  A node that
   is kept is as its class's `tp_new` makes one; what Cython wrote to free an object is called from here for the others. */

#ifndef TS_KEPT_NODES_H
#define TS_KEPT_NODES_H

#include <Python.h>

#define MAX_KEPT_NODES 256

static PyObject *kept_nodes[MAX_KEPT_NODES];
static int kept_node_count;
static destructor dealloc_rest;
static void (*empty_node)(PyObject *);

static void dealloc_kept_node(PyObject *node) {
    PyObject_GC_UnTrack(node);
    Py_TRASHCAN_BEGIN(node, dealloc_kept_node) /* chains of nodes may be of any length */
    if (*(PyObject **)((char *)node + Py_TYPE(node)->tp_weaklistoffset))
        PyObject_ClearWeakRefs(node);
    Py_SET_REFCNT(node, 1); /* for who empties it */
    empty_node(node);
    Py_SET_REFCNT(node, 0);
    if (kept_node_count < MAX_KEPT_NODES)
        kept_nodes[kept_node_count++] = node;
    else
        dealloc_rest(node);
    Py_TRASHCAN_END
}

/* Before the class has objects; no class is made of it. */
static void keep_nodes(PyObject *cls, void (*empty)(PyObject *)) {
    PyTypeObject *type = (PyTypeObject *)cls;
    empty_node = empty;
    dealloc_rest = type->tp_dealloc, type->tp_dealloc = dealloc_kept_node;
    PyType_Modified(type);
}

/* One that was kept, as a new reference; NULL, without an error, where there is none. */
static inline PyObject *kept_node(void) {
    PyObject *node;
    if (!kept_node_count)
        return NULL;
    node = kept_nodes[--kept_node_count];
    _Py_NewReference(node);
    PyObject_GC_Track(node);
    return node;
}

#endif
