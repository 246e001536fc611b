"""The kernel perceptron without the estimator: kernel functions, support rows, budgets, passes."""
