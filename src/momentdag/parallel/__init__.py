"""Run tasks in this process, in other processes, or on a Dask cluster."""

from momentdag.parallel.local import cluster, common_folder, is_serial, run, shared

__all__ = ["cluster", "common_folder", "is_serial", "run", "shared"]
