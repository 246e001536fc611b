"""The soft margin as a problem, and its solvers: Newton steps for many rows, coordinate descent for many features."""
