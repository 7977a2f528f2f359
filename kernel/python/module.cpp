// The Python module `roamcast._kernel`: one function per room, each in its own file beside this one.
#include <nanobind/nanobind.h>

NB_MODULE(_kernel, module) {
    module.doc() = "The compiled parts of Roamcast.";
}
