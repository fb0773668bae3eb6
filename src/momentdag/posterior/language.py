"""Questions in one line of text: ``pkc ~> erk and not "raf 1" -> mek [mean]``.

    question  = part { ("and" | "," | "or") part }        "and" binds tighter than "or"
    part      = [ "not" ] ( "(" question ")" | claim )
    claim     = name arrow name { arrow name } [ "[" moment "]" ]
    arrow     = "->" an edge  |  "~>" a directed path
    moment    = mean | variance | either (the default) | both | mean only | variance only

Names that contain spaces, brackets, commas or arrows, or are words of the language, need quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from momentdag.errors import OptionError
from momentdag.graph import BoolArray, reachability
from momentdag.posterior.container import Posterior
from momentdag.posterior.monte_carlo import standard_error
from momentdag.posterior.queries import EdgeChoice, distinct_pairs, drawn_edges

__all__ = ["Answer", "Question", "ask", "ask_plain", "parse"]

Arrow: TypeAlias = Literal["->", "~>"]

_MAX_LENGTH = 10_000
_MAX_DEPTH = 50
_MAX_SHOWN = 100
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<arrow>->|~>)
      | (?P<moment>\[[^\]]*\])
      | (?P<mark>[(),])
      | "(?P<double>(?:[^"\\]|\\.)*)" | '(?P<single>(?:[^'\\]|\\.)*)'
      | (?P<word>(?:(?!->|~>)[^\s"'\[\](),])+)
    )""",
    re.VERBOSE | re.DOTALL,
)
_WORDS = ("and", "or", "not")


class Answer(NamedTuple):
    """A probability and its Monte Carlo standard error."""

    probability: float
    standard_error: float


@dataclass(frozen=True)
class Claim:
    """One edge, or one path, between two variables."""

    cause: str
    arrow: Arrow
    effect: str
    moment: EdgeChoice

    def holds(self, posterior: Posterior) -> BoolArray:
        """Return in which draws the claim holds, (n_draws,)."""
        start, end = posterior.index(self.cause), posterior.index(self.effect)
        edges = drawn_edges(posterior, self.moment)
        if self.arrow == "->":
            return edges[:, start, end]
        pairs = distinct_pairs(posterior)
        return np.asarray(reachability(edges[pairs.first])[pairs.which, start, end])


@dataclass(frozen=True)
class Combined:
    """Questions joined by "and" or "or", or one negated by "not"."""

    word: Literal["and", "or", "not"]
    parts: tuple[Question, ...]

    def holds(self, posterior: Posterior) -> BoolArray:
        """Return in which draws the combination holds, (n_draws,)."""
        answers = [part.holds(posterior) for part in self.parts]
        if self.word == "not":
            return ~answers[0]
        join = np.logical_and if self.word == "and" else np.logical_or
        return np.asarray(join.reduce(answers))


Question: TypeAlias = Claim | Combined


def ask(posterior: Posterior, text: str) -> Answer:
    """Return the probability that the whole of ``text`` holds in a draw.

    Raises
    ------
    OptionError
        If the text cannot be read; the message shows where.
    GraphError
        If it names an unknown variable.

    Examples
    --------
    >>> from momentdag.graph import MomentGraph
    >>> from momentdag.posterior import Provenance
    >>> chain = MomentGraph.from_edges("abc", mean=[("a", "b")], variance=[("b", "c")])
    >>> nothing = MomentGraph.from_edges("abc")
    >>> graphs = [chain] * 12 + [nothing] * 4
    >>> mean, variance = ([g.adjacency(m) for g in graphs] for m in ("mean", "variance"))
    >>> posterior = Posterior("abc", mean, variance, Provenance("by hand"))
    >>> ask(posterior, "a ~> c").probability
    0.75
    >>> ask(posterior, "a -> b [mean], b -> c [variance only]").probability
    0.75
    >>> ask(posterior, "not a ~> c [mean]").probability
    1.0
    """
    answers = parse(text).holds(posterior)
    return Answer(float(answers.mean()), float(standard_error(answers, posterior.chains)))


def ask_plain(posterior: Posterior, text: str) -> float | None:
    """Return the probability of a single edge given the rows as they are, else None.

    None also if the draws do not come from worlds of reweighted rows: see
    `momentdag.posterior.doubt`.

    Raises
    ------
    OptionError
        If the text cannot be read.
    GraphError
        If it names an unknown variable.

    Examples
    --------
    >>> from momentdag.posterior import ModelDoubt, Provenance
    >>> edge, none = [[0, 1], [0, 0]], [[0, 0], [0, 0]]
    >>> doubt = ModelDoubt([edge, none, edge], [1.0, 3.2])
    >>> posterior = Posterior("ab", [edge, none], [none, none], Provenance("by hand"), doubt=doubt)
    >>> ask_plain(posterior, "a -> b"), ask_plain(posterior, "a ~> b")
    (1.0, None)
    """
    question = parse(text)
    if posterior.doubt is None or not isinstance(question, Claim) or question.arrow != "->":
        return None
    table = posterior.plain_edge_probabilities(question.moment)
    at = posterior.index(question.cause), posterior.index(question.effect)
    return float(table.iloc[at])


def parse(text: str) -> Question:
    """Parse a question.

    Raises
    ------
    OptionError
        If the text cannot be read.

    Examples
    --------
    >>> parse("mek -> erk [variance]")
    Claim(cause='mek', arrow='->', effect='erk', moment='variance')
    >>> parse("mek erk")
    Traceback (most recent call last):
    ...
    momentdag.errors.OptionError: Expected '->' or '~>' at character 5 of the question 'mek erk';
    got 'erk'. Put names with spaces in quotes.
    """
    return _Parser(text).question()


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


class _Parser:
    """Recursive descent over the tokens of one question."""

    def __init__(self, text: str) -> None:
        if len(text) > _MAX_LENGTH:
            raise OptionError(
                f"Expected a question of at most {_MAX_LENGTH} characters; got {len(text)}."
            )
        self._text = text
        self._tokens = list(self._split())
        self._depth = 0

    def _split(self) -> list[_Token]:
        tokens, at = [], 0
        end = len(self._text.rstrip())
        while at < end:
            match = _TOKEN.match(self._text, at)
            if match is None:
                at += len(self._text[at:]) - len(self._text[at:].lstrip())
                raise self._wrong("a name, an arrow or a word", _Token("", self._text[at], at))
            kind = str(match.lastgroup)
            text, start = match[kind], match.start(kind)
            if kind in ("double", "single"):
                kind, text = "name", re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
            elif kind == "word" and text.lower() in _WORDS:
                kind, text = "joint", text.lower()
            elif kind == "word":
                kind = "name"
            elif text == ",":
                kind, text = "joint", "and"
            tokens.append(_Token(kind, text, start))
            at = match.end()
        return [*tokens, _Token("end", "its end", end)]

    def question(self) -> Question:
        whole = self._joined("or", lambda: self._joined("and", self._part))
        if self._tokens[0].kind != "end":
            raise self._wrong("'and', 'or' or the end", self._tokens[0])
        return whole

    def _joined(self, word: Literal["and", "or"], part: Callable[[], Question]) -> Question:
        parts = [part()]
        while self._take("joint", word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Combined(word, tuple(parts))

    def _part(self) -> Question:
        negated = self._take("joint", "not") is not None
        start = self._take("mark", "(")
        if start is None:
            part = self._claim()
        else:
            self._depth += 1
            if self._depth > _MAX_DEPTH:
                raise OptionError(f"Expected at most {_MAX_DEPTH} nested parentheses; got more.")
            part = self._joined("or", lambda: self._joined("and", self._part))
            if self._take("mark", ")") is None:
                raise self._wrong("')'", self._tokens[0])
            self._depth -= 1
        return Combined("not", (part,)) if negated else part

    def _claim(self) -> Question:
        names, arrows = [self._name()], []
        while arrow := self._take("arrow"):
            arrows.append(arrow.text)
            names.append(self._name())
        if not arrows:
            raise self._wrong("'->' or '~>'", self._tokens[0], " Put names with spaces in quotes.")
        moment = self._moment()
        claims = tuple(
            Claim(cause, "->" if arrow == "->" else "~>", effect, moment)
            for cause, arrow, effect in zip(names, arrows, names[1:], strict=False)
        )
        return claims[0] if len(claims) == 1 else Combined("and", claims)

    def _name(self) -> str:
        token = self._take("name")
        if token is None:
            raise self._wrong("the name of a variable", self._tokens[0])
        return token.text

    def _moment(self) -> EdgeChoice:
        token = self._take("moment")
        if token is None:
            return "either"
        wanted = "_".join(token.text[1:-1].lower().replace("_", " ").split())
        for choice in get_args(EdgeChoice):
            if choice == wanted:
                return choice  # type: ignore[no-any-return]
        raise self._wrong(f"a moment among {list(get_args(EdgeChoice))}", token)

    def _take(self, kind: str, text: str | None = None) -> _Token | None:
        """Return the next token and advance, if it is of this kind."""
        token = self._tokens[0]
        if token.kind != kind or (text is not None and token.text != text):
            return None
        return self._tokens.pop(0)

    def _wrong(self, expected: str, token: _Token, advice: str = "") -> OptionError:
        got = token.text if token.kind == "end" else _short(token.text)
        return OptionError(
            f"Expected {expected} at character {token.at + 1} of the question "
            f"{_short(self._text)}; got {got}.{advice}"
        )


def _short(text: str) -> str:
    return repr(text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}...")
