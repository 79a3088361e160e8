"""Models from elsewhere as Axon programs: one package for each format."""
