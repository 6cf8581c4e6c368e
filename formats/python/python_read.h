/* Fields of CPython's structures. */
#ifndef GT_PYTHON_READ_H
#define GT_PYTHON_READ_H
/* At any address, as damaged pointers are: in the own process, or in a copy of another one's
 * memory. */
#define GT_READ(type, address)                                                                     \
	(((const struct { type value; } __attribute__((packed, may_alias)) *)(address))->value)
#endif
