// The extension tippe._core.

#include "binding.h"

NB_MODULE(_core, m) {
    m.doc() = "The C library behind the package tippe.";
    bindErrors(m);
    bindWorld(m);
    bindBatches(m);
    bindWatching(m);
    bindSolvers(m);
}
