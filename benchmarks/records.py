"""One file for each finished run, so that an interrupted benchmark goes on where it stopped.

Runs are kept under a key made of the settings and of the library's code (comments and docstrings
aside): a changed engine never inherits the figures of an older one.
"""

from __future__ import annotations

import ast
import hashlib
import json
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
from tqdm.auto import tqdm

import momentdag
from benchmarks.tables import write_json

__all__ = ["Records", "code_fingerprint"]

_WITHOUT_INFLUENCE = {"cli", "progress.py", "_version.py", "datasets"}
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_fingerprint() -> str:
    """Return a hash of the code that figures depend on, whatever its comments say."""
    root = Path(momentdag.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] in _WITHOUT_INFLUENCE:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node) is not None:
                node.body = node.body[1:]
        digest.update(f"{path.relative_to(root).as_posix()}\n{ast.dump(tree)}".encode())
    return digest.hexdigest()[:12]


@dataclass(frozen=True)
class Records:
    """The finished runs of one benchmark with one choice of settings.

    Parameters
    ----------
    folder : Path
        Where all runs of all benchmarks are kept.
    benchmark : str
    settings : dict
        Plain JSON values that a run's figures depend on.
    code : str
        Fingerprint of the code, taken when the benchmark starts: an edit while it runs must not
        part it from its own runs.
    """

    folder: Path
    benchmark: str
    settings: dict[str, Any]
    code: str = field(default_factory=code_fingerprint)

    @property
    def place(self) -> Path:
        """The folder of these runs."""
        said = json.dumps({"code": self.code, **self.settings}, sort_keys=True)
        return self.folder / self.benchmark / hashlib.sha256(said.encode()).hexdigest()[:12]

    def _kept(self) -> list[dict[str, Any]]:
        return [_read(path) for path in sorted(self.place.glob("*.json"))]

    def cases(self) -> list[str]:
        """Return the cases of which anything is kept."""
        return sorted({run["case"] for run in self._kept()})

    def finished(self, case: str) -> list[dict[str, Any]]:
        """Return the runs of one case that did not fail, by number."""
        runs = [run for run in self._kept() if run["case"] == case and "failure" not in run]
        return sorted(runs, key=lambda run: run["set"])

    def failures(self) -> list[dict[str, Any]]:
        """Return the runs that failed, of any case."""
        return [run for run in self._kept() if "failure" in run]

    def complete(
        self,
        run: Callable[[str, int], dict[str, Any]],
        wanted: Sequence[tuple[str, int]],
        jobs: int,
    ) -> None:
        """Do every wanted (case, set) that is not finished yet; failures are tried again."""
        place = self.place
        place.mkdir(parents=True, exist_ok=True)
        missing = [task for task in wanted if not _is_finished(_path(place, *task))]
        results = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(
            joblib.delayed(_run_and_keep)(run, place, *task) for task in missing
        )
        for _ in tqdm(results, desc=self.benchmark, total=len(missing), unit="set"):
            pass


def _run_and_keep(
    run: Callable[[str, int], dict[str, Any]], place: Path, case: str, number: int
) -> None:
    try:
        record = run(case, number)
    except Exception:
        # Kept as what it is: one broken run must neither vanish nor take the others with it.
        record = {"failure": traceback.format_exc(limit=-3)}
    write_json(_path(place, case, number), {"case": case, "set": number, **record})


def _path(place: Path, case: str, number: int) -> Path:
    # A colon is no part of a file name everywhere.
    return place / f"{case.replace(':', '+')}_{number:03d}.json"


def _read(path: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def _is_finished(path: Path) -> bool:
    return path.exists() and "failure" not in _read(path)
