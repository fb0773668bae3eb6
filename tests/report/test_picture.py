from momentdag.effects.inputs import consensus_pair
from momentdag.report.picture import MIN_PROBABILITY, draw_picture


def test_the_picture_contains_every_edge_worth_showing(fit):
    picture = draw_picture(fit)
    table = fit.posterior_.edge_table(min_probability=MIN_PROBABILITY)
    names = fit.posterior_.names
    drawn = {(names[e.cause], names[e.effect], e.moment): e.probability for e in picture.edges}
    assert drawn == {(r.cause, r.effect, r.moment): r.probability for r in table.itertuples()}
    assert [e.probability for e in picture.edges] == sorted(drawn.values())  # most probable on top
    kept = {(names[e.cause], names[e.effect]) for e in picture.edges if e.consensus}
    assert kept == set(fit.union_graph_.edges)


def test_the_pair_shown_is_the_one_the_estimator_shows(fit):
    pair = consensus_pair(fit)
    assert set(pair.edges("mean")) == set(fit.mean_graph_.edges)
    assert set(pair.edges("variance")) == set(fit.variance_graph_.edges)
