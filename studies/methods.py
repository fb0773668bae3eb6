"""The methods that are compared: both engines, every baseline, and reference methods."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from momentdag.baselines.registry import METHODS as BASELINE_METHODS
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.variational.options import VariationalOptions
from momentdag.errors import OptionError
from studies.fits import Baseline, Bootstrap, Engine, Fit, Twice, draw_exactly, fit_nothing
from studies.program import Program

__all__ = ["BASELINES", "EMPTY", "ENGINES", "METHODS", "Method", "find_method"]

METHOD_VERSION = 1
"""Version of the methods that are defined here: the empty graph and exact draws."""

ENGINES = ("evidence", "variational", "variational-alternating")
BASELINES = ("mc3", "dds", "icdh", "host", "varsort")
EMPTY = "empty"
"""The graph without edges, which every other method should beat."""


@dataclass(frozen=True)
class Method:
    """A method, its settings, and what it is in the paper."""

    title: str
    fit: Fit
    module: str = __name__  # has the METHOD_VERSION that a person raises when results change
    paper: str | None = None  # the row of the paper's tables that it stands for
    options: Mapping[str, Any] = field(default_factory=dict)  # what is not named is the default
    quick: Mapping[str, Any] = field(default_factory=dict)  # on top, for a quick run
    knowledge: Literal["hard", "soft"] = "hard"  # how it is given orderings

    @property
    def version(self) -> int:
        """The version of the code: results of another one do not count."""
        version: int = importlib.import_module(self.module).METHOD_VERSION
        return version

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that the method does not have, with an `OptionError`."""
        match self.fit:
            case Engine("evidence") | Program() | Bootstrap():
                EvidenceOptions.from_mapping(options)
            case Engine() | Twice():
                VariationalOptions.from_mapping(options)
            case Baseline(name):
                BASELINE_METHODS[name].options.read(options)
            case _ if options:
                raise OptionError(f"{self.title} has no options; got {sorted(options)}.")


_ALTERNATING: dict[str, Any] = {
    "gradient": "relaxed",
    "n_graphs": 1,
    "n_restarts": 1,
    "order_margin": 1.5,
    "order_prior": "none",
    "resampling": False,
    "shifting": False,
    "updates": "published",
    "warm_up_steps": 0,
}


def _published() -> dict[str, Any]:
    """Return the published settings, as far as they are not the default."""
    usual = VariationalOptions().to_dict()
    published = VariationalOptions.published().to_dict()
    return {name: value for name, value in published.items() if value != usual[name]}


_EVIDENCE = Engine("evidence"), "momentdag.engines.evidence.engine"
_VARIATIONAL = Engine("variational"), "momentdag.engines.variational.engine"
_QUICK_EVIDENCE = {"n_starts": 1, "n_kicks": 0, "n_chains": 2, "thinning": 10}
_QUICK_STEPS = {"max_steps": 3000}
_QUICK_VARIATIONAL = {**_QUICK_STEPS, "n_restarts": 1, "warm_up_steps": 500}

METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "evidence": Method("Evidence", *_EVIDENCE, quick=_QUICK_EVIDENCE),
        "evidence-gaussian": Method(
            "Evidence, Gaussian noise",
            *_EVIDENCE,
            options={"noise": "gaussian"},
            quick=_QUICK_EVIDENCE,
        ),
        "evidence-plain": Method(
            "Evidence, plain posterior",
            *_EVIDENCE,
            options={"posterior": "plain"},
            quick=_QUICK_EVIDENCE,
        ),
        "evidence-bootstrap": Method(
            "Evidence, bootstrap",
            Bootstrap(n_refits=10),
            _EVIDENCE[1],
            options={"posterior": "plain"},
            quick=_QUICK_EVIDENCE,
        ),
        "evidence-linear": Method("Evidence, linear", *_EVIDENCE, options={"family": "linear"}),
        "evidence-linear-chain": Method(
            "Evidence, linear, Markov chains",
            *_EVIDENCE,
            options={"family": "linear", "method": "chain"},
        ),
        "exact-draws": Method("Independent draws", draw_exactly),
        "variational": Method(
            "Variational", *_VARIATIONAL, paper="Proposed", quick=_QUICK_VARIATIONAL
        ),
        "variational-relaxed": Method(
            "Variational, relaxed gradients",
            *_VARIATIONAL,
            options={"gradient": "relaxed"},
            quick=_QUICK_VARIATIONAL,
        ),
        "variational-alternating": Method(
            "Variational, near the paper",
            *_VARIATIONAL,
            paper="Proposed",
            options=_ALTERNATING,
            quick=_QUICK_STEPS,
            knowledge="soft",
        ),
        "variational-published": Method(
            "Variational, as published",
            _VARIATIONAL[0],
            "momentdag.engines.variational.inner_loop",
            paper="Proposed",
            options=_published(),
            quick={**_QUICK_STEPS, "tuning": "none"},
            knowledge="soft",
        ),
        "variational-twice": Method(
            "Variational, fitted twice",
            Twice(_VARIATIONAL[0]),
            _VARIATIONAL[1],
            options={"n_restarts": 1},
            quick=_QUICK_STEPS,
            knowledge="soft",
        ),
        "program": Method(
            "momentdag fit, 1 process", Program(1), _EVIDENCE[1], quick=_QUICK_EVIDENCE
        ),
        "program-2": Method(
            "momentdag fit, 2 processes", Program(2), _EVIDENCE[1], quick=_QUICK_EVIDENCE
        ),
        "mc3": Method("MC3", Baseline("mc3"), "momentdag.baselines.mc3", paper="MC3"),
        "dds": Method(
            "DDS", Baseline("dds"), "momentdag.baselines.dds", paper="DDS", quick=_QUICK_STEPS
        ),
        "icdh": Method(
            "ICDH",
            Baseline("icdh"),
            "momentdag.baselines.icdh",
            paper="ICDH",
            quick={"n_rounds": 1, "max_steps": 50},
        ),
        "host": Method("HOST", Baseline("host"), "momentdag.baselines.host", paper="HOST"),
        "varsort": Method(
            "VarSort", Baseline("varsort"), "momentdag.baselines.varsort", paper="VarSort"
        ),
        "skewscore": Method("SkewScore", Baseline("skewscore"), "momentdag.baselines.skewscore"),
        EMPTY: Method("Empty graph", fit_nothing),
    }
)


def find_method(name: str) -> Method:
    """Return a method by its name."""
    if name not in METHODS:
        raise OptionError(f"Expected methods among {', '.join(METHODS)}; got {name!r}.")
    return METHODS[name]
