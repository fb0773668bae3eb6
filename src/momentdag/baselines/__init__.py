"""Other methods to compare with, each written from its paper.

ICDH, HOST, DDS, MC3, VarSort and SkewScore.

All of them learn one graph, which is used as mean graph and as variance graph. Results have the
same container as our posteriors, so that every metric applies to every method.
"""

from momentdag.baselines.dds_options import DDSOptions
from momentdag.baselines.host import HOSTOptions
from momentdag.baselines.icdh import ICDHOptions
from momentdag.baselines.mc3 import MC3Options
from momentdag.baselines.protocol import BaselineResult
from momentdag.baselines.registry import METHODS, MethodName, fit
from momentdag.baselines.skewscore import SkewScoreOptions
from momentdag.baselines.varsort import VarSortOptions

__all__ = [
    "METHODS",
    "BaselineResult",
    "DDSOptions",
    "HOSTOptions",
    "ICDHOptions",
    "MC3Options",
    "MethodName",
    "SkewScoreOptions",
    "VarSortOptions",
    "fit",
]
