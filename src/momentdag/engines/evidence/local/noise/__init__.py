"""Densities of the standardised noise: Student tails, skewed shapes, smooth tilts."""
