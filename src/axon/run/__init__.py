"""Programs that run: arrays in, sizes bound and checked, arrays out."""
