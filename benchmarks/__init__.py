"""Benchmarks: asv's suites are the modules ``bench_*``, pytest-benchmark's is ``test_speed``."""

import os
from contextlib import suppress

# A second thread of BLAS waits in a loop for work, and on a busy machine for its turn. The variable
# is for libraries that are still to be loaded; asv has loaded NumPy's by now.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
with suppress(ImportError):
    from threadpoolctl import threadpool_limits

    threadpool_limits(int(os.environ["OPENBLAS_NUM_THREADS"]))
