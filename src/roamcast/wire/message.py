"""Message declarations: number, category, role, and fields with their bounds.

    class Nack(Message, number=37, category=Category.CONTROL, role=Role.REPAIR_REQUEST):
        publisher: Node
        subscriber: Node
        holes: Annotated[tuple[SequenceGap, ...], ListOf(64)]

The encoding, the size and the strict decoding follow from it (`roamcast.wire.codec`), as do its section
in the documentation and the generated messages of the tests.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, IntEnum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform, get_type_hints

import msgspec

from roamcast.wire.byte_reader import ByteReader
from roamcast.wire.errors import DeclarationError, WireError
from roamcast.wire.field import FieldCodec, GenerationContext
from roamcast.wire.fields import field_of
from roamcast.wire.numbers import PublicationRef
from roamcast.wire.publication import PublicationField


class Category(IntEnum):
    """The purpose of a message; message cost is reported by category."""

    EVENT = 0
    SUBSCRIPTION = 1
    ROUTING = 2
    CONTROL = 3


class Role(Enum):
    """The function of a message; the facts of a run record the value."""

    EVENT = "carries"
    ADVERTISEMENT = "offers"
    SUBSCRIPTION = "wishes"
    SUBSCRIPTION_ACK = "grants"
    EVENT_ACK = "acknowledges"
    REPAIR_REQUEST = "asks_again"
    ROUTING = "finds_route"
    BEACON = "beacons"


RESERVED = frozenset(
    {
        "category",
        "dedup_field",
        "envelope",
        "fields",
        "inconsistency",
        "length",
        "minimum_size",
        "number",
        "publication_id",
        "role",
        "size",
    }
)
"Names that no field may have."


@dataclass_transform(field_specifiers=(msgspec.field,), frozen_default=True)
class MessageType(msgspec.StructMeta):
    """The metaclass of messages, which evaluates a declaration when the class is created."""

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        number: int | None = None,
        category: Category | None = None,
        role: Role | None = None,
        dedup_field: str | None = None,
        **config: Any,
    ) -> Any:
        """Create a message class; all but the base declare `number`, `category` and `role`."""
        cls: Any = super().__new__(mcls, name, bases, namespace, **config)
        if number is None:
            if any(isinstance(base, MessageType) for base in bases):
                raise DeclarationError(
                    f"{name}: declare its number, as in class {name}(Message, number=130, ...)"
                )
            return cls
        if not 0 < number < 256:
            raise DeclarationError(f"{name}: a message number must be from 1 to 255, not {number}")
        hints = get_type_hints(cls, include_extras=True)
        for field in cls.__struct_fields__:
            if field in RESERVED:
                raise DeclarationError(f"{name}: a field cannot be called {field!r}; the name is reserved")
        try:
            cls.fields = {field: _field(hints[field]) for field in cls.__struct_fields__}
        except DeclarationError as error:
            raise DeclarationError(f"{name}: {error}") from None
        cls.number = number
        cls.dedup_field = dedup_field
        cls.envelope = next((n for n, field in cls.fields.items() if isinstance(field, Payload)), None)
        for name_of, value in (("category", category), ("role", role)):
            if value is not None:
                setattr(cls, name_of, value)
            elif name_of not in namespace:
                if cls.envelope is None:
                    raise DeclarationError(f"{name}: declare its {name_of}")
                setattr(cls, name_of, property(attrgetter(f"{cls.envelope}.{name_of}")))
        _follow(cls, namespace)
        return cls


class Message(msgspec.Struct, metaclass=MessageType, frozen=True, gc=False, cache_hash=True):
    """Base class of everything that is sent over one hop; immutable, so that hosts may share it."""

    number: ClassVar[int]
    "First byte of the encoding; built-in messages are below 128, plug-ins use 128 and above."
    category: ClassVar[Category]
    role: ClassVar[Role]
    fields: ClassVar[dict[str, FieldCodec]] = {}
    dedup_field: ClassVar[str | None] = None
    "Attribute by which routers detect duplicates (see `Router.handled`); None for no detection."
    envelope: ClassVar[str | None] = None
    """Field that holds another message, if any; category, role and publication are then those of that
    message.
    """

    if TYPE_CHECKING:

        def __init_subclass__(
            cls,
            *,
            number: int = ...,
            category: Category = ...,
            role: Role = ...,
            dedup_field: str | None = ...,
            frozen: bool = ...,
            gc: bool = ...,
        ) -> None: ...

        @property
        def length(self) -> int:
            """Size without padding [B]."""

        @property
        def size(self) -> int:
            """Size above the network header, including padding [B]."""

        @property
        def publication_id(self) -> int:
            """Id of the publication that the message serves, or -1; the facts trace an event by it."""

        @property
        def minimum_size(self) -> int:
            """Minimum size, to which the message is padded [B]."""

    def inconsistency(self) -> str | None:
        """Return how fields contradict each other, or None; such a message is neither written nor read."""
        return None


class Payload(FieldCodec):
    """Another message in an envelope, without its padding; envelopes cannot be nested."""

    def length(self, value: Any) -> int:
        """Return the size of the message [B]."""
        return int(value.length)

    def write(self, out: bytearray, value: Any) -> None:
        """Append the message without padding."""
        if not isinstance(value, Message) or value.envelope is not None:
            raise WireError(f"{value!r} cannot be carried in an envelope")
        write_body(out, value)

    def read(self, octets: ByteReader) -> Message:
        """Decode a message of a known kind."""
        if octets.at < len(octets.data):
            check_inner(octets.kinds.get(octets.data[octets.at]))
        return read_body(octets)

    def generate(self, about: GenerationContext) -> Message:
        """Return a generated message that an envelope may hold."""
        plain = [kind for kind in about.messages if kind.envelope is None]
        return generate(about.random.choice(plain), about)

    def describe(self) -> str:
        """Return the content in words."""
        return "another message, without its padding"


def check_inner(kind: type[Message] | None) -> None:
    """Raise `WireError` if a message in an envelope is an envelope: a chain could exhaust the stack."""
    if kind is not None and kind.envelope is not None:
        raise WireError("an envelope contains another envelope")


def unwrap(message: Message) -> Message:
    """Return the message in an envelope, or the message itself if it is not an envelope."""
    return message if message.envelope is None else getattr(message, message.envelope)


def write_body(out: bytearray, message: Message) -> None:
    """Append a message without padding."""
    problem = message.inconsistency()
    if problem is not None:
        raise WireError(f"{type(message).__name__}: {problem}")
    out.append(message.number)
    for name, field in message.fields.items():
        try:
            field.write(out, getattr(message, name))
        except WireError as error:
            raise WireError(f"{type(message).__name__}.{name}: {error}") from None


def read_body(octets: ByteReader) -> Message:
    """Decode a message without padding."""
    number = octets.integer(1)
    kind = octets.kinds.get(number)
    if kind is None:
        raise WireError(f"unknown message number {number}")
    message: Message = kind(*[field.read(octets) for field in kind.fields.values()])
    problem = message.inconsistency()
    if problem is not None:
        raise WireError(f"{kind.__name__}: {problem}")
    return message


def generate(kind: type[Message], about: GenerationContext) -> Message:
    """Return a generated message of a kind, with any consistent field values."""
    for _ in range(1000):
        message = kind(*[field.generate(about) for field in kind.fields.values()])
        if message.inconsistency() is None:
            return message
    raise DeclarationError(f"no consistent {kind.__name__} was generated in 1000 attempts")


def _field(annotation: Any) -> FieldCodec:
    return Payload() if annotation is Message else field_of(annotation)


def _follow(cls: Any, namespace: dict[str, Any]) -> None:
    """Derive `length`, `minimum_size`, `size` and `publication_id` of a message class from its fields."""
    fixed = 1 + sum(field.fixed for field in cls.fields.values() if field.fixed is not None)
    lengths: dict[str, Callable[[Any], int]] = {}
    terms = [str(fixed)]
    least = "self.minimum_size" if "minimum_size" in namespace else "0"
    about = None
    for name, field in cls.fields.items():
        if isinstance(field, PublicationField | Payload):
            terms.append(f"self.{name}.length")
            if "minimum_size" not in namespace:
                least = f"self.{name}.{'size' if isinstance(field, PublicationField) else 'minimum_size'}"
            about = f"self.{name}.{'id' if isinstance(field, PublicationField) else 'publication_id'}"
        elif isinstance(field, PublicationRef):
            about = f"self.{name}"
        elif field.fixed is not None:
            continue
        elif (formula := field.formula(f"self.{name}")) is not None:
            terms.append(formula)
        else:
            lengths[f"of_{name}"] = field.length
            terms.append(f"of_{name}(self.{name})")
    length = " + ".join(terms)
    if len(terms) == 1 and least == "0":
        cls.length = cls.size = fixed  # constants need no computation at each transmission
    else:
        cls.length = _compute(length, lengths)
        cls.size = (
            cls.length if least == "0" else _compute(f"n if (n := {length}) > (m := {least}) else m", lengths)
        )
    if "minimum_size" not in namespace:
        cls.minimum_size = 0 if least == "0" else _compute(least, {})
    if "publication_id" not in namespace:
        cls.publication_id = -1 if about is None else _compute(about, {})


def _compute(expression: str, names: dict[str, Any]) -> property:
    """Return a property that evaluates an expression in `self`; generated code is faster than a method."""
    return property(eval(f"lambda self: {expression}", dict(names)))
