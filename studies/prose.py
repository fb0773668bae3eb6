"""What the pages say in words: how to read them, and what the paper leaves open."""

from __future__ import annotations

__all__ = ["BENCHMARKS", "CAPTION", "LEFT_OPEN", "NOT_COMPARED", "PAPER", "QUICK"]

PAPER = """\
# The paper's experiments

The experiments of Chikahara, "Moment Matters" (KDD 2026), with both engines and with our own
implementations of the methods that the paper compares with, and the numbers that the paper prints
next to ours. Figures of the paper have no printed numbers: there, only the pictures can be
compared. Everything below is drawn from one table of runs when this documentation is built; in a
checkout of the source:

    python -m studies list
    python -m studies run all --jobs 2           # everything, 20 data sets for each case
    python -m studies run table-sachs --sets 5   # one table, five data sets for each case
    python -m studies run all --quick            # a check that all of it runs, in minutes
    python -m studies page                       # this page, from the runs that are finished

Each finished run is a line of `studies/results/runs.csv`, with its settings and the version of its
method written out; the same command again makes the missing runs. A run counts as long as its
settings and version are current. A change in what a method computes raises its version.

**How to read the tables.** Mean ± standard deviation over data sets (data set i has seed 20260 +
i, the method seed i). SHD counts the edges to add, remove or reverse, its rate is SHD divided by
the number of pairs of variables, F1 is 1 for exactly the true edges and 0 for none of them. For a
posterior they are averages over its draws; a point estimate is a single draw. A method other than
our engines learns one graph, which is used as mean graph and as variance graph, as in the paper. A
dot means not run; a number in brackets is the number of data sets, if others in the row have more.

- *Evidence* is this library's default engine and is not in the paper.
- *Variational* is the paper's approach with this library's default settings.
- *Variational, near the paper* is algorithm 1 with its alternating updates, relaxed draws, one
  start and no prior on orders. It is not the paper's code: networks are moved by Adam, phases have
  a fixed number of steps, edges belong to pairs of variables and not of ranks, the weight of the
  prior is ours, and batch size and hidden units are not searched. Where it is worse than what the
  paper prints, any of this may be why. Algorithm 1 as printed is the method `variational-published`
  (see the page on the variational engine), which these tables do not have yet.
- *Empty graph* has no edges. A method above its SHD adds more wrong edges than right ones.
"""

BENCHMARKS = """\
# Benchmarks

How accurate and how fast the library is, measured with default settings by
`python -m studies run NAME` in a checkout of the source (`benchmarks` stands for all of them, some
hours on one core). Data set i is simulated with seed 20260 + i and fitted with `random_state=i`; no
fit sees the truth. Mean ± standard deviation over data sets; a number in brackets is the number of
data sets, if others in the row have more. Every run is a line of a table in `studies/results`.

To try things out, `--draws 200` and `--options '{"n_starts": 1}'` run with other settings; these
runs are kept apart, in `artefacts/studies`, as are those of `--quick`. `--cases sparse-50` asks for
larger cases, which are not run by default. `python -m studies run look` takes a quick look at speed
and accuracy on your machine.
"""

CAPTION = """\
Bars are means over data sets, whiskers one standard deviation; none where there is one set only, no
bar where a method was not run. The dashed line is the empty graph.
"""

NOT_COMPARED = """\
Left out: *Evidence*, which the paper does not have, and figures, which it gives
without numbers. The paper's numbers on Sachs stand under both networks, though they can belong to
one at most. Run times are of different machines.
"""

QUICK = """\
```{warning}
This is a **quick** run: one or two small data sets, few draws, methods cut short. It shows that
everything runs and says nothing about how good a method is.
```
"""

LEFT_OPEN = """\
## What the paper does not state

- **Scale of the random networks.** The networks that make the data are "randomly initialized".
  With raw weights ±U(0.5, 2), say, standard deviations span e^±15. Here the mean part has standard
  deviation 2 and the log standard deviation 0.8 (`scaling="literal"` of the simulators for raw
  weights). The scale decides how hard the problem is, so sizes of numbers on simulated data cannot
  be compared with the paper's, only the order of methods.
- **Units.** Whether columns are standardised is not said. Here data are given in their own units;
  all methods but VarSort standardise them, and so cannot profit from scales.
- **Settings of SERGIO.** Production, decay, noise and Hill constants, the number of cell types and
  how the simulator was changed to have two graphs are not given. Ours is written from the published
  equations; `md.simulate.Kinetics` lists every constant.
- **Which Sachs graph.** Accepted networks of 17 and of 20 edges are in use; the paper names
  neither. Both are reported. It takes the data from the authors of DDS, whose public loader pairs
  the columns with the nodes of its graph in another order, so that the printed numbers may belong
  to a relabelled graph, which is neither of the two. Nor is it said whether cells were taken as
  measured or in logarithms, how 100 and 200 cells were chosen (here: at random, anew for each run)
  or which orderings were given (here: a share of those that both networks imply).
- **F1 of a posterior.** Averaged over draws here, as SHD is. The paper does not say.
- **Settings found by search.** The paper tunes every method by the value of its objective; what
  was chosen is not given. Here each method has one setting throughout. That of ICDH (a last pass of
  least squares) was chosen after a look at true graphs of the sparse and dense presets, those of
  the engines by evidence, objective or the density of new rows (the noise shapes by evidence, too,
  but prompted by two reversed edges of the Sachs network).
- **Machines.** The paper's times are from a GPU server, ours from cores of shared processors, on
  which fits of one case took up to three times as long on one day as on another; several processes
  at a time disturb each other.
"""
