"""What the page says in words: how to read it, and what the paper leaves open."""

from __future__ import annotations

__all__ = ["HEAD", "LEFT_OPEN", "QUICK"]

HEAD = """\
# The paper's experiments

Written by `momentdag reproduce`; every number below was measured by it. It runs the experiments
of Chikahara, "Moment Matters" (KDD 2026), with both engines and with our own implementations of
the methods that the paper compares with, and puts the numbers that the paper prints next to ours.
Figures of the paper have no printed numbers: there, only the pictures can be compared.

    momentdag reproduce all --jobs 2           # everything, 20 data sets for each case
    momentdag reproduce table-sachs --sets 5   # one table, five data sets for each case
    momentdag reproduce all --quick            # a check that all of it runs, in minutes

Each finished run is kept in a file of its own, in `reproduction/results`, under a key of its
settings and of the code that it depends on; the same command again does what is missing. The page
is written next to the results; only `--page docs` renews this one.

**How to read the tables.** Mean ± standard deviation over data sets (data set i has seed
20260 + i, the method seed i). SHD and F1 are averages over the draws of a posterior; a point
estimate is a single draw. A method other than our engines learns one graph, which stands for the
mean graph and the variance graph, as in the paper. *Evidence* is this library's default engine and
is not in the paper. *Variational* is the paper's approach with this library's default settings;
*as printed* is its algorithm 1 taken literally. A dot: not run.
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
  Taken literally, with weights ±U(0.5, 2), standard deviations span e^±15. Here the mean part has
  standard deviation 2 and the log standard deviation 0.8 (`scaling="literal"` of the simulators
  for the other). The scale decides how hard the problem is, so sizes of numbers on simulated data
  cannot be compared with the paper's, only the order of methods.
- **Settings of SERGIO.** Production, decay, noise and Hill constants, the number of cell types and
  how the simulator was changed to have two graphs are not given. Ours is written from the published
  equations; `md.simulate.Kinetics` lists every constant.
- **Which Sachs graph.** Accepted networks of 17 and of 20 edges are in use; the paper names
  neither. Both are reported. A public loader pairs the columns with the nodes of the graph in
  another order, so that published numbers may belong to a relabelled graph. Nor is it said whether
  cells were taken as measured or in logarithms, how 100 and 200 cells were chosen (here: at random,
  anew for each run) or which orderings were told (here: a share of those that both networks imply).
- **F1 of a posterior.** Averaged over draws here, as SHD is. The paper does not say.
- **Settings found by search.** The paper searches batch size and hidden units by objective value;
  the chosen ones are not given. Here every method has one setting throughout.
- **Machines.** The paper's times are from a GPU server, ours from processor cores; several
  processes at a time disturb each other.
"""
