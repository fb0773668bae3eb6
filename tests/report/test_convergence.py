import numpy as np

from momentdag.posterior import Posterior, Provenance
from momentdag.report.convergence import check_convergence


def test_chains_that_disagree_are_shown_apart():
    mean = np.zeros((1000, 2, 2), dtype=bool)
    mean[:500, 0, 1] = True
    posterior = Posterior(
        ["a", "b"],
        mean,
        mean,
        Provenance("by hand"),
        log_posterior=np.arange(1000.0),
        chains=np.repeat([3, 7], 500),
    )
    found = check_convergence(posterior)
    assert found.is_poor
    assert found.chain_disagreement == 1
    assert found.labels == ["a → b (mean)", "a → b (variance)"]
    assert [trace.chain for trace in found.traces] == [3, 7]
    assert [trace.edges.tolist() for trace in found.traces] == [[1, 1], [0, 0]]
    first = found.traces[0]
    assert len(first.steps) <= 300
    assert np.array_equal(first.log_posterior, first.steps)  # the trace was 0, 1, 2, ...


def test_without_a_trace():
    none = np.zeros((200, 2, 2), dtype=bool)
    found = check_convergence(Posterior("ab", none, none, Provenance("by hand")))
    assert not found.is_poor
    assert found.traces[0].steps == []
