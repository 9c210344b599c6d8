// asyncio_ask: a module for Python, in which asyncio drives our loop. Each call asks a server for a line:
//
//     import asyncio, asyncio_ask
//
//     async def ask(address, question):
//         answer = asyncio.get_running_loop().create_future()
//         asyncio_ask.ask(address, question, lambda line, error: answer.set_result(line or error))
//         return await answer
//     async def main():
//         asyncio.get_running_loop().add_reader(asyncio_ask.descriptor(), asyncio_ask.run_ready)
//         print(await ask("127.0.0.1:4500", b"hello\n"))
//
// All functions belong to the thread that has imported the module. Its loop exists as long as the process.

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000 // so that the module fits every Python from 3.9 on
#include <Python.h>

#include "flow/flow.h"
#include "net/transport.h"

#include <memory>

using namespace flow;
using namespace flow::net;

namespace {

struct Release {
    void operator()(PyObject* object) const { Py_XDECREF(object); }
};
using Object = std::unique_ptr<PyObject, Release>; // the destructor runs on Python's thread, as all steps do

struct Bridge {
    RealLoop loop;
    Scope asking{OnError::Report};
};
Bridge* bridge; // never deleted: at the end of the process Python is gone before static objects

void call(PyObject* callback, Object line, std::string const& error) {
    Object text(PyUnicode_FromString(error.c_str()));
    PyObject* answer = line ? line.get() : Py_None;
    Object result(PyObject_CallFunctionObjArgs(callback, answer, line ? Py_None : text.get(), nullptr));
    if (!result)
        PyErr_WriteUnraisable(callback);
}

Future<Void> ask(std::string address, std::string question, Object callback) {
    std::string error;
    try {
        Address to = *Address::parse(address);
        Reference<Connection> server = co_await transport().connect(to);
        co_await server->write(StringRef(question));
        Bytes line = co_await server->readUntil("\n"_sr, 65536);
        call(callback.get(), Object(PyBytes_FromStringAndSize(line.toString().data(), line.size())), "");
        co_return;
    } catch (Error& failed) {
        error = failed.what();
    }
    call(callback.get(), nullptr, error);
}

PyObject* ask(PyObject*, PyObject* arguments) {
    char const *address, *question;
    Py_ssize_t size;
    PyObject* callback;
    if (!PyArg_ParseTuple(arguments, "sy#O", &address, &question, &size, &callback))
        return nullptr;
    Py_INCREF(callback);
    auto start = [at = std::string(address), line = std::string(question, static_cast<std::size_t>(size)),
                  callback = Object(callback)]() mutable {
        bridge->asking.spawn(ask(std::move(at), std::move(line), std::move(callback)));
    };
    bridge->loop.post(std::move(start)); // as a step of our loop
    Py_RETURN_NONE;
}

PyObject* descriptor(PyObject*, PyObject*) {
    return PyLong_FromLong(bridge->loop.descriptor());
}

PyObject* runReady(PyObject*, PyObject*) {
    bridge->loop.runReady();
    Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"ask", ask, METH_VARARGS, "ask(address, question, callback): later callback(line, None) or callback(None, error)"},
    {"descriptor", descriptor, METH_NOARGS, "the descriptor for add_reader()"},
    {"run_ready", runReady, METH_NOARGS, "the callback for add_reader()"},
    {nullptr, nullptr, 0, nullptr},
};
PyModuleDef module = {PyModuleDef_HEAD_INIT, "asyncio_ask", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};

} // namespace

PyMODINIT_FUNC PyInit_asyncio_ask() {
    bridge = new Bridge;
    return PyModule_Create(&module);
}
