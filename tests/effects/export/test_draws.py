import json
import warnings

import numpy as np
import pytest

from momentdag.effects.export import to_arviz
from momentdag.errors import OptionError

with warnings.catch_warnings():
    # ArviZ announces on import that it is being split up.
    warnings.simplefilter("ignore", FutureWarning)
    az = pytest.importorskip("arviz")


def test_draws_chains_and_names_arrive(posterior):
    data = to_arviz(posterior)
    assert dict(data.posterior.sizes) == {"chain": 2, "draw": 3, "cause": 5, "effect": 5}
    edge = data.posterior["variance_graph"].sel(cause="dose (mg)", effect="y")
    expected = posterior.variance_graphs[:, 0, 2]
    np.testing.assert_array_equal(edge.values, [expected[[0, 2, 4]], expected[[1, 3, 5]]])
    np.testing.assert_array_equal(data.sample_stats["lp"].values, [[0, 2, 4], [1, 3, 5]])


def test_provenance_is_kept(posterior):
    attributes = to_arviz(posterior).posterior.attrs
    assert attributes["engine"] == "by hand"
    assert json.loads(attributes["options"]) == {"depth": 3}
    assert attributes["n_left_out"] == 2  # the longer chain has two draws more


def test_arviz_works_on_it(posterior):
    data = to_arviz(posterior)
    means = data.posterior["mean_graph"].mean(("chain", "draw"))
    assert float(means.sel(cause="dose (mg)", effect="y")) == 1.0
    table = az.summary(data, var_names=["mean_graph"], kind="stats")
    assert len(table) == 25


def test_it_survives_a_file(posterior, tmp_path):
    pytest.importorskip("h5netcdf")
    path = str(tmp_path / "draws.nc")
    to_arviz(posterior).to_netcdf(path)
    assert az.from_netcdf(path).posterior.sizes["draw"] == 3


def test_a_graph_has_no_draws(graph):
    with pytest.raises(OptionError, match="Expected a Posterior"):
        to_arviz(graph)
