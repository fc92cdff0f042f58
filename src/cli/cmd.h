/* The commands: one file each, cmd_<name>.c. argv[0] is the command's name. Each returns the exit code. */
#ifndef PW_CLI_CMD_H
#define PW_CLI_CMD_H

int pw_cmd_init(int argc, char **argv);
int pw_cmd_inventory(int argc, char **argv);
int pw_cmd_run(int argc, char **argv);
int pw_cmd_conformance(int argc, char **argv);
int pw_cmd_check(int argc, char **argv);
int pw_cmd_bench(int argc, char **argv);
int pw_cmd_verify(int argc, char **argv);
int pw_cmd_baseline(int argc, char **argv);
int pw_cmd_history(int argc, char **argv);
int pw_cmd_report(int argc, char **argv);
int pw_cmd_env(int argc, char **argv);
int pw_cmd_make_graph(int argc, char **argv);
int pw_cmd_workbench(int argc, char **argv);

#endif
