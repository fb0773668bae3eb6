"""The command line: parse, call, print; no mathematics.

One module for each command. Parts of the library are reached through ``momentdag``, which loads
them when a command first uses them: `momentdag --help` loads none.
"""

from momentdag.cli.main import main

__all__ = ["main"]
