import numpy as np
import pytest

from momentdag.errors import KnowledgeError
from momentdag.knowledge import Knowledge
from momentdag.posterior import Posterior, Provenance
from momentdag.report.audit import audit_knowledge

MEAN = np.zeros((4, 3, 3), dtype=bool)
MEAN[:3, 0, 1] = True  # a -> b in three draws of four
MEAN[3, 1, 0] = True
VARIANCE = np.zeros((4, 3, 3), dtype=bool)
VARIANCE[:1, 0, 2] = True
POSTERIOR = Posterior("abc", MEAN, VARIANCE, Provenance("by hand"))


@pytest.mark.parametrize(
    ("knowledge", "share"),
    [
        (Knowledge(order=[("a", "b")]), 0.75),
        (Knowledge(required=[("a", "b", "mean")]), 0.75),
        (Knowledge(forbidden=[("a", "c", "variance")]), 0.75),
        (Knowledge(forbidden=[("a", "c", "mean")]), 1.0),
        (Knowledge(roots=["b"]), 0.25),
        (Knowledge(tiers=[["a"], ["b"]]), 0.75),
        (Knowledge(required=[("a", "b")], strength="soft"), 0.75),
        (Knowledge(edge_priors={("a", "b", "mean"): 0.1}), 0.75),
    ],
)
def test_the_share_of_draws_that_obey_a_statement(knowledge, share):
    audit = audit_knowledge(POSTERIOR, knowledge, used=False)
    assert {one.share for one in audit.statements} == {share}


def test_verdicts_and_priors():
    knowledge = Knowledge(edge_priors={("a", "b"): 0.5}, required=[("c", "b")])
    by_text = {one.text: one for one in audit_knowledge(POSTERIOR, knowledge, True).statements}
    mean, variance, required = (
        next(one for text, one in by_text.items() if part in text)
        for part in ("mean of 'b' with prior", "variance of 'b' with prior", "'c' causes")
    )
    assert (mean.prior, mean.share, mean.verdict) == (0.5, 0.75, "the data made it likelier")
    assert (variance.share, variance.verdict) == (0.0, "the data made it less likely")
    assert (required.share, required.verdict) == (0.0, "conflicts with the data")


def test_unknown_columns_are_named():
    with pytest.raises(KnowledgeError, match="'d'"):
        audit_knowledge(POSTERIOR, Knowledge(order=[("a", "d")]), used=False)
