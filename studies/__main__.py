"""``python -m studies``."""

import os

# Before NumPy is loaded, here and in worker processes: times are those of one thread.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from studies.cli import main  # noqa: E402

if __name__ == "__main__":
    main()
