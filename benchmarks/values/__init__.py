"""Values side by side: what benchmarks of values have in common."""
