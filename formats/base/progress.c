#include "formats/base/progress.h"

const struct gt_progress_sink *gt_progress_sink;
