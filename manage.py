#!/usr/bin/env python
"""Django's command line for Candor; without DJANGO_SETTINGS_MODULE it runs the development settings."""

import os
import sys
from pathlib import Path

# `platform/` is a source root like `src/`, never a package: an `__init__.py` in it would shadow the standard library's `platform`.
sys.path.insert(1, str(Path(__file__).resolve().parent / "platform"))

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.development")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"Error: {error}")
