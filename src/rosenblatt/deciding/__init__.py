"""Questions of separability about rows, and their answers: what to search for, what was proved, what is said of it."""
