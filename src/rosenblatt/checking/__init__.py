"""What a certificate says, and how that is checked against data: knows none of those who find certificates."""
