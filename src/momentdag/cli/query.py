"""`momentdag query`: how probable edges and paths are."""

from __future__ import annotations

from typing import Annotated

import typer

import momentdag as md
from momentdag.cli.console import print_json, print_line, print_records
from momentdag.cli.options import JsonOption, RunArgument
from momentdag.cli.summary import draws_check

__all__ = ["query"]


def query(
    run: RunArgument,
    questions: Annotated[
        list[str],
        typer.Argument(metavar="QUESTION", help='Such as "mek -> erk [variance]", in quotes.'),
    ],
    json: JsonOption = False,
) -> None:
    """Ask how probable edges and paths are.

    "a -> b" is an edge, "a ~> b" a directed path. In brackets stands the moment: mean, variance,
    either (the default), both, mean only, variance only. Combine with "and" (or a comma), "or",
    "not" and parentheses. Put names with spaces in quotes. Of a single edge the last column has the
    probability that the model alone gives, with the rows as they are: see `momentdag fit`.

    Example: momentdag query run "pkc ~> erk [mean] and not raf -> mek"
    """
    from momentdag.posterior.doubt import UNSURE, is_unsure
    from momentdag.posterior.language import ask, ask_plain

    posterior = md.runs.load_posterior(run)
    answers = [
        {
            "question": question,
            **ask(posterior, question)._asdict(),
            "under_the_model": ask_plain(posterior, question),
        }
        for question in questions
    ]
    diagnostics = posterior.diagnostics()
    if json:
        print_json({"n_draws": posterior.n_draws, "draws": diagnostics.grade, "answers": answers})
        return
    print_records(answers)
    for answer in answers:
        if is_unsure(answer["probability"], answer["under_the_model"]):
            print_line(f"{answer['question']}: {UNSURE}.", style="yellow")
    if diagnostics.grade != "fine":
        print_line(draws_check(posterior), style="yellow")
