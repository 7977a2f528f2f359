// The Python module `roamcast._kernel`: one function for each part, in its own file beside this one.
#include <nanobind/nanobind.h>

void bind_datagrams(nanobind::module_& module);
void bind_event_fields(nanobind::module_& module);
void bind_frames(nanobind::module_& module);
void bind_geo_forwarding(nanobind::module_& module);
void bind_host(nanobind::module_& module);
void bind_leases(nanobind::module_& module);
void bind_match(nanobind::module_& module);
void bind_places(nanobind::module_& module);
void bind_known_routes(nanobind::module_& module);
void bind_seen(nanobind::module_& module);
void bind_world(nanobind::module_& module);

NB_MODULE(_kernel, module) {
    module.doc() = "The compiled parts of Roamcast.";
    // A run interrupted by an exception leaves its world to the end of the process; that is no fault.
    nanobind::set_leak_warnings(false);
    bind_datagrams(module);
    bind_event_fields(module);
    bind_frames(module);
    bind_geo_forwarding(module);
    bind_host(module);
    bind_leases(module);
    bind_match(module);
    bind_places(module);
    bind_known_routes(module);
    bind_seen(module);
    bind_world(module);
}
