"""`python -m axon`."""

from axon.cli import main

raise SystemExit(main())
