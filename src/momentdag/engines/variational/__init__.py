"""The variational engine: the published method, one idea a module.

It is an extra. Whatever enters this package without it, a fit, a saved run or the tuning of
options, gets one line that says what to install.
"""

from momentdag.errors import require

require("jax", "optax", "optuna", extra="variational", purpose="The variational engine")
