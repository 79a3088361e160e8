"""From what the solver leaves to a scheme: what is quantified, and its conditions simplified."""
