"""Run folders: a fit on disk, whole or resumable, readable without trusting it.

A folder holds

- ``run.json``: status, options, names and fingerprint of the data, checksums of the files below;
- ``posterior.zip``: the draws, see `momentdag.Posterior.load`;
- ``mechanisms.npz``: the fitted functions, as JSON and arrays;
- ``knowledge.json``: what was known beforehand, if anything was;
- ``data.npz``: the table that was fitted;
- ``log.txt``, ``report.html``: for people;
- ``checkpoints/``: what an unfinished fit has finished; gone when it is complete.
"""

from momentdag.runs.fitting import fit
from momentdag.runs.info import DataInfo, RunInfo, read_info
from momentdag.runs.storage import load, load_data, load_posterior, save

__all__ = [
    "DataInfo",
    "RunInfo",
    "fit",
    "load",
    "load_data",
    "load_posterior",
    "read_info",
    "save",
]
