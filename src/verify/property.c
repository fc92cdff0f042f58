#include "verify/property.h"

size_t pw_property_list(const struct pw_call *call, const char **names, size_t cap)
{
    (void)call;
    (void)names;
    (void)cap;
    return 0;
}

pw_status pw_property_judge(struct pw_case_run *run, struct pw_error *err)
{
    return pw_error_set(err, PW_ERR_USAGE, "%s has no property '%s'", run->signature->op_label, run->spec->property);
}
