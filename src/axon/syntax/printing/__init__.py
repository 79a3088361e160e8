"""From the tree back to text: `axon.syntax.printer` is the way in."""
