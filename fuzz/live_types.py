"""Fuzz definitions of event types that neighbours send: a type that reads back, or a refusal."""

import sys

import atheris
from limits import limited
from plain_source import instrumented

with instrumented():
    from roamcast.live.schemas import DefinitionError, read_definition, write_definition


@limited
@atheris.instrument_func
def attempt(data: bytes) -> None:
    """Try one input."""
    try:
        type = read_definition(data)
    except DefinitionError:
        return
    assert read_definition(write_definition(type)) is type


atheris.Setup(sys.argv, attempt)
atheris.Fuzz()
