"""How accurate and how fast momentdag is; ``python -m benchmarks`` measures and prints it."""
