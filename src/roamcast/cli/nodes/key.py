"""The command `roamcast key`: network keys and node identities of live nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.command("new")
def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to create; it must not exist.")],
) -> None:
    """Write a new network key to a file.

    Only the owner of the file can read it. Copy it to every node.
    """
    from roamcast.live.security.keys import write_new_key

    key = write_new_key(file)
    print(f"{file}: key of network {key.network.hex()}")


@app.command("show")
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A network key, or the identity of a node.")],
) -> None:
    """Print the network of a key, or the node id of an identity.

    Secrets are not printed.
    """
    from roamcast.files import read_text
    from roamcast.live.security.identity import Identity
    from roamcast.live.security.keys import read_key

    if read_text(file, 1000).startswith("roamcast-identity-"):
        identity = Identity.load(file)
        print(f"{file}: node {identity.node}, public key {identity.public.hex()}")
    else:
        print(f"{file}: key of network {read_key(file).network.hex()}")
