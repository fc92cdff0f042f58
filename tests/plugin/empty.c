/* A plugin of the right version without its required slots. */
#include "target/target.h"

const struct pw_target *pw_target_entry(void);

const struct pw_target *pw_target_entry(void)
{
    static const struct pw_target target = {.abi = PW_TARGET_ABI};
    return &target;
}
