"""The numbers that tune search and sampling, each with its reason; "nats" are log evidence."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["TUNING", "SearchTuning"]


@dataclass(frozen=True)
class SearchTuning:
    """How graphs are searched for and drawn.

    Parameters
    ----------
    exact_additions : int
        Additions of each kind that are scored in full after the screen, which ranks well.
    hopeless : float
        Screened gains below this are not worth a full score: screens err by a few nats.
    promising : float
        Screened gain from which a newcomer is also tried in the place of each present parent.
    improvement : float
        Least gain that counts, far below what decides anything; it keeps rounding from cycling.
    safe_loss : float
        A parent estimated to be worth more than this is not tried for removal.
    transferable_loss : float
        A parent worth less than this may belong to the other moment.
    cached_fit_bytes : int
        Local fits that a search keeps to screen from.
    all_candidates_up_to : int
        Variables up to which everyone is a candidate parent of everyone.
    candidates_per_screen : int
        Candidates that each screen of a variable adds beyond that.
    rows_at_first : int
        Rows that the first search looks at: it serves to choose kernels and orders to start from.
    n_blocks : int
        Blocks in which candidates of many variables are screened, maybe side by side.
    n_starts, n_starts_of_many : int
        Starts of the order search; more where optima are many.
    rate_turns : int
        Turns of solving the optima under the edge rates of the best one; a dense graph takes three
        or four.
    kick_size : int
        Variables that a kick moves.
    returns, pilot_draws : int, int
        Pilots of the chains, and draws of each of their chains.
    surprise : float
        Nats by which a pilot must climb above its starts to send the search back.
    near_optimum : float
        Nats below the best optimum within which another one starts chains of its own.
    rare_toggle : float
        Floor of an edge's share of the toggles.
    outside_toggle : float
        Factor of that share for edges from outside the candidates.
    both_toggle : float
        Toggles of both moments of an edge, as a share of those of either.
    pool_depth : float
        Nats below a dominating entry at which an entry of a pool is dropped.
    pool_size : int
        Entries of a pool: few would hold the parents of one order and none of the others.
    world_pool_depth : float
        The same for entries that some world may prefer after all: their rows are looked at.
    least_world_searches, most_world_searches, quiet_world_searches : int
        Worlds that are searched in to complete pools: until the last few brought nothing new.
    n_worlds, n_worlds_exact : int
        Worlds, and worlds where every pair is enumerated in each.
    worlds_per_task : int
        Worlds that go to another process at once.
    raw_draws, raw_draws_per_draw : int
        Orders that are drawn in a world, at least and for each draw that is kept: draws are
        resampled by the number of orders of their graph.
    toggle_share, redraw_share : float
        Shares of the moves of a chain; the rest reverses edges.
    cached_proposals : int
        Proposal distributions that a chain keeps.
    burn_in_share, least_burn_in : float, int
        Each of the two parts of a chain's burn-in, as a share of its draws and in draws.
    thinning_per_variable, least_thinning : int, int
        Steps between two draws.
    seconds_between_saves : float
        Scores of a running stage are saved to the checkpoint this often.
    """

    exact_additions: int = 3
    hopeless: float = -4.5
    promising: float = -1.5
    improvement: float = 1e-3
    safe_loss: float = 10.0
    transferable_loss: float = 25.0
    cached_fit_bytes: int = 200 * 2**20
    all_candidates_up_to: int = 14
    candidates_per_screen: int = 8
    rows_at_first: int = 1000
    n_blocks: int = 8
    n_starts: int = 2
    n_starts_of_many: int = 4
    rate_turns: int = 6
    kick_size: int = 3
    returns: int = 3
    pilot_draws: int = 20
    surprise: float = 8.0
    near_optimum: float = 25.0
    rare_toggle: float = 0.02
    outside_toggle: float = 0.005
    both_toggle: float = 0.25
    pool_depth: float = 14.0
    pool_size: int = 3000
    world_pool_depth: float = 40.0
    least_world_searches: int = 2
    most_world_searches: int = 5
    quiet_world_searches: int = 1
    n_worlds: int = 150
    n_worlds_exact: int = 400
    worlds_per_task: int = 5
    raw_draws: int = 24
    raw_draws_per_draw: int = 2
    toggle_share: float = 0.45
    redraw_share: float = 0.4
    cached_proposals: int = 20_000
    burn_in_share: float = 0.1
    least_burn_in: int = 10
    thinning_per_variable: int = 6
    least_thinning: int = 20
    seconds_between_saves: float = 20.0


TUNING = SearchTuning()
"""The values in use."""
