"""From floats to proved claims: enclosures with error bounds, and exact arithmetic where these do not suffice."""
