"""What belongs to a thread: its context of switches, its deadline, and the memory that it may take."""
