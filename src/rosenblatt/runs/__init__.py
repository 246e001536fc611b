"""A run on a stream of rows: what it learns pass after pass, and what it keeps on disk meanwhile."""
