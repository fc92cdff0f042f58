/*
 * Properties that an operator has whatever the right numbers are: a softmax sums to 1, a product is linear, a
 * normalization forgets a scale. They are tested on the target alone (several runs on related inputs), so they hold
 * where golden and kernel could share a mistake. The table is in property_table.c.
 */
#ifndef PW_VERIFY_PROPERTY_H
#define PW_VERIFY_PROPERTY_H

#include "verify/verify_internal.h"

/* Names of the properties that hold for the call; returns how many, fills up to cap. */
size_t pw_property_list(const struct pw_call *call, const char **names, size_t cap);

/* Runs the one that the run's spec names and settles the verdict. The inputs are drawn already and may be changed.
 * PW_ERR_USAGE for a name that the call does not have. */
pw_status pw_property_judge(struct pw_case_run *run, struct pw_error *err);

#endif
