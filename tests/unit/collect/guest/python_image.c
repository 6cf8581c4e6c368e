/* A library with the symbols by which the guest finds a Python interpreter, but without one. Its
 * test fills the memory with images of an interpreter's structures.
 * With OLD: as 3.9 and 3.10, which have no variable with their version. */
#define GT_EXPORT __attribute__((visibility("default")))

GT_EXPORT char _PyRuntime[4096] __attribute__((aligned(64)));
GT_EXPORT char PyCode_Type[512] __attribute__((aligned(64))), PyUnicode_Type[512],
	PyBytes_Type[512];
GT_EXPORT const char *image_version_text = "";
GT_EXPORT void *image_current, *image_of_thread;
#ifndef OLD
GT_EXPORT unsigned long Py_Version;
#endif
const char *Py_GetVersion(void);
void *PyGILState_GetThisThreadState(void), *_PyThreadState_UncheckedGet(void);

GT_EXPORT const char *Py_GetVersion(void) { return image_version_text; }
GT_EXPORT void *PyGILState_GetThisThreadState(void) { return image_of_thread; }
GT_EXPORT void *_PyThreadState_UncheckedGet(void) { return image_current; }
