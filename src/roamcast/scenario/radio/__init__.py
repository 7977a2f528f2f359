"""The radio of a scenario and its optional models."""
