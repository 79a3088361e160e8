"""Where programs run: one module for each array library, and nothing else imports one."""
