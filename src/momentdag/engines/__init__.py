"""The inference engines: each turns a data set and knowledge into a posterior."""
