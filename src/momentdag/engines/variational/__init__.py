"""The variational engine: the published method, one idea a module."""
