"""``python -m momentdag`` is the command line, also where its script is not on the path."""

from momentdag.cli import main

if __name__ == "__main__":  # worker processes import this module too
    main()
