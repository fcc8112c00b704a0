// The destructor of planted.py's capsules. A ctypes callback runs in the interpreter, which loses
// an exception that is in flight; this one calls the callback without it.
extern "C" {

void PyErr_Fetch(void** type, void** value, void** traceback);
void PyErr_Restore(void* type, void* value, void* traceback);

void (*planted_callback)(void*) = nullptr;

void planted_destroy(void* capsule) {
  void* error[3];
  PyErr_Fetch(&error[0], &error[1], &error[2]);
  planted_callback(capsule);
  PyErr_Restore(error[0], error[1], error[2]);
}
}
