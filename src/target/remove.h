/* Removing a folder that hostile code may have filled: never follows links, never leaves the folder,
 * bounded depth. Thread-safe. */
#ifndef PW_TARGET_REMOVE_H
#define PW_TARGET_REMOVE_H

/* As rm -rf; what cannot be removed stays. */
void pw_remove_tree(const char *path);

#endif
