"""Candidates for certificates, in floating point: hyperplanes and weights of rows. None of it is a proof."""
