"""The command line: parse, call, print; no mathematics."""

from momentdag.cli.app import main

__all__ = ["main"]
