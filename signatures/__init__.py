"""The prompts of finpath: signatures with their fields, one module a family; they hold no logic."""
