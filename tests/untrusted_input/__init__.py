"""Files of strangers: what they say of themselves is a claim, and nothing in them ends or holds up the process."""
