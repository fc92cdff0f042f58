/* The program's entry: finds the command, sets up the process, maps errors to exit codes. */
#include <stdio.h>

int main(void)
{
    puts("portwright");
    return 0;
}
