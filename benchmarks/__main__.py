"""``python -m benchmarks``: the same as ``python benchmarks/run.py``."""

from benchmarks.run import app

app(prog_name="python -m benchmarks")
