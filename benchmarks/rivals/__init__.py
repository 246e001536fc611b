"""One file for each peer: how it is called, and how its answer is compared with ours."""
