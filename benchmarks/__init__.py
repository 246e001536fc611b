"""Speed and memory, side by side with the peers: ``python -m benchmarks``. The rules are in README.md."""
