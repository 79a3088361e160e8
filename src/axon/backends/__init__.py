"""Backends: one module for each array library, and nothing else imports one."""
