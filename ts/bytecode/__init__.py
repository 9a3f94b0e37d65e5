"""Graph to register bytecode."""
