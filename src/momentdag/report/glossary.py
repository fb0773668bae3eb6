"""The one definition of each number on the page, shown beside its name."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["GLOSSARY"]

_ONLY = (
    "Probability that the cause reaches the spread of the effect, directly or through others, and "
    "reaches its mean in no way."
)

GLOSSARY: Mapping[str, str] = {
    "probability": "Share of the drawn graph pairs that contain the edge.",
    "moves the mean": "Probability of an edge in the mean graph: the share of draws in which the "
    "cause directly moves the mean of the effect.",
    "moves the spread": "Probability of an edge in the variance graph: the share of draws in which "
    "the cause directly moves the spread of the effect.",
    "only the spread": _ONLY,
    "moves only the spread": _ONLY,
    "standard error": "How far the probability may be off because draws are finitely many; the "
    "larger of both moments.",
    "consensus": "The graphs of the pair at the smallest expected distance from all draws that "
    "have this edge.",
    "under the model": "Probability by the model alone, which trusts every row as if its form "
    "were right.",
    "observed mean": "Mean of the column in the data; of few levels the share of one.",
    "modelled mean": "The same in rows drawn from the fitted model without any intervention.",
    "observed sd": "Standard deviation of the column in the data.",
    "modelled sd": "The same in rows drawn from the fitted model without any intervention.",
    "moved by": "What was added to the column's mean or multiplied to its noise, in all answers, "
    "so that the model reproduces it.",
    "worst correlation": "The largest error of a correlation of this column with another one.",
    "mean": "Posterior mean of the outcome's mean; below it a 90 % interval over graphs and "
    "functions.",
    "spread (sd)": "Posterior mean of the outcome's standard deviation; below it a 90 % interval.",
    "outside limits": "Probability that a single value of the outcome lies below the lower or "
    "above the upper limit; below it a 90 % interval.",
    "variance ratio": "Variance of the target in this setting over that of today, with a 90 % "
    "interval: 0.4 is 40 % of today's variance.",
    "ratio by level": "The part of the variance ratio that the choice of the level achieves, apart "
    "from holding the cause fixed at any value.",
    "change of the mean": "Mean of the target in this setting minus that of today, with a 90 % "
    "interval.",
    "mean kept": "Whether the mean stays within its tolerance with enough probability; in brackets "
    "that probability.",
    "Breusch-Pagan": "P-value of a test whether the squared residual changes linearly with other "
    "columns.",
    "White": "P-value of the same with squares and products of the columns.",
    "forest": "P-value of the same with a random forest, for changes of any form.",
    "adjusted p": "The three tests combined, adjusted for the number of variables (Holm).",
    "skewness": "Third moment of the standardised residual: 0 if symmetric.",
    "excess kurtosis": "Fourth moment of the standardised residual minus 3: above 0 for heavy "
    "tails.",
    "Gaussian (p)": "Adjusted p-value of a test that the residuals are normal.",
    "fitted noise (p)": "Adjusted p-value of a test that the residuals follow the fitted noise.",
    "log score": "Mean log density of a row that the fit has not seen; larger is better.",
    "R-hat": "Variation between chains over that within: 1 if they agree, doubtful above 1.05.",
    "worst R-hat": "The largest R-hat of any uncertain edge: 1 if chains agree.",
    "effective draws": "Independent draws that would be worth as much as these.",
    "smallest effective sample size": "Independent draws that would be worth as much as these, for "
    "the edge that mixes worst.",
    "between chains": "The largest difference of the edge's probability between two chains.",
    "largest difference between chains": "Of any edge's probability between two chains.",
    "draws": "Drawn pairs of a mean graph and a variance graph.",
    "chains": "Independent runs of the sampler.",
    "worlds of reweighted rows": "Copies of the table with other weights of its rows; draws come "
    "from all of them.",
    "misfit": "How many times more the rows of a variable differ about its causes than the model "
    "says; 1 is as it says.",
    "in the draws": "Share of the draws that obey the statement; of an edge prior the posterior "
    "probability of the edge.",
    "stated": "What the knowledge said before the data were seen.",
}
"""From the name of a number, as headings of tables have it, to what it is."""
