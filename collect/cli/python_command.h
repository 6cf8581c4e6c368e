/* Python scripts as COMMAND. */
#ifndef GT_PYTHON_COMMAND_H
#define GT_PYTHON_COMMAND_H

/* A script (*.py) that cannot be executed by its name is run by Python: python3, or the
 * interpreter that the variable GT_PYTHON names. Returns the arguments to execute: argv itself, or
 * a new array, to be freed; NULL: no memory. */
char **gt_python_command(char **argv);
#endif
