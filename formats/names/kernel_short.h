/* The short form of one kernel's name: what tells kernels apart.
 *
 * The name of a PyTorch kernel has 300 characters, and a table shows 60. The same function template
 * does most of the work of a program, so its name says little: the operation is in the template
 * arguments, between sizes and types of metadata.
 *
 *   void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous
 *   namespace)::TensorListMetadata<1>, at::native::(anonymous
 * namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>, float>(...)
 *
 * is multi_tensor_apply<BinaryOpScalar, multiplies, float>. The rules:
 * - Namespaces, parameters and the return type are left out.
 * - An argument is a literal, a data type, metadata (arrays, tuples, *Metadata, *Params, iterators
 *   ...), or else an operation: a functor, a tag, a function, a lambda.
 * - If there are operations, the form has them and the first data type, and nothing else. An
 *   operation has those of its own arguments in brackets. A lambda is named after the function that
 *   it is in. Words without meaning are left out: "Functor", "_kernel", "_impl" at the end, and
 *   wrappers (ReduceOp, func_wrapper_t, gpu_kernel_impl).
 * - Otherwise the form has all arguments: sgemm_largek_lds64<true, false, 5>.
 * - A form that is too long is cut.
 * The form follows from the demangled name alone. So it is the same in a recording, which has
 * mangled names, and in a file of another tool, which has demangled ones. */
#ifndef GT_KERNEL_SHORT_H
#define GT_KERNEL_SHORT_H
#include "formats/base/buf.h"

enum gt_short_detail {
	GT_SHORT_FUNCTION, /* only the name of the function, as it is */
	GT_SHORT_BASE,     /* the form above */
	/* further forms, for kernels with equal ones: */
	GT_SHORT_LITERALS, /* literals before the operations */
	GT_SHORT_ALL,      /* all arguments as they are, without namespaces */
	GT_SHORT_SCOPE,    /* the base form behind the function's namespaces */
	GT_SHORT_DETAILS
};
/* Appends the form of a demangled name; plain NULL: raw cannot be demangled. It may be longer than
 * GT_SHORT_MAX. */
void gt_short_form(
	struct gt_buf *b, const char *raw, const char *plain, enum gt_short_detail detail);
#endif
