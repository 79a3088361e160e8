"""The command line: all the input and output, no logic."""
