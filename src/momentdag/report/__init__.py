"""One self-contained HTML page that shows a fit: graphs, curves, levers, checks, assumptions."""

from momentdag.report.writer import write_report

__all__ = ["write_report"]
