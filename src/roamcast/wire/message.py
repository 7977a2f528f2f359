"""A message is declared once: its kind, what it is for, what it does, and its fields with their bounds.

    class Nack(Message, number=37, category=Category.CONTROL, role=Role.ASKS_AGAIN):
        publisher: Node
        subscriber: Node
        holes: Annotated[tuple[SequenceGap, ...], ListOf(64)]

Its bytes, its size on the air and its strict reading follow (`roamcast.wire.codec`), and so do its page
in the documentation and the hostile messages of the tests.
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
    """What a message is for; message cost is reported by it."""

    EVENT = 0
    SUBSCRIPTION = 1
    ROUTING = 2
    CONTROL = 3


class Role(Enum):
    """What a message does; the value is how a person would say it."""

    CARRIES = "carries an event"
    OFFERS = "offers what will be published"
    WISHES = "says what is wanted"
    GRANTS = "says that a wish is known"
    ACKNOWLEDGES = "says that an event has arrived"
    ASKS_AGAIN = "asks for a repair"
    FINDS_ROUTE = "finds a route"
    BEACONS = "says that a node is there"


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
    """The class of message classes: reads a declaration when the class is made."""

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
        """Make a message class; all but the base declare `number`, `category` and `role`."""
        cls: Any = super().__new__(mcls, name, bases, namespace, **config)
        if number is None:
            if any(isinstance(base, MessageType) for base in bases):
                raise DeclarationError(
                    f"{name}: declare its number, as in class {name}(Message, number=130, ...)"
                )
            return cls
        if not 0 < number < 256:
            raise DeclarationError(f"{name}: a message number is from 1 to 255, not {number}")
        hints = get_type_hints(cls, include_extras=True)
        for field in cls.__struct_fields__:
            if field in RESERVED:
                raise DeclarationError(f"{name}: a field cannot be called {field!r}; every message has that")
        try:
            cls.fields = {field: _field(hints[field]) for field in cls.__struct_fields__}
        except DeclarationError as error:
            raise DeclarationError(f"{name}: {error}") from None
        cls.number = number
        cls.dedup_field = dedup_field
        cls.envelope = next((n for n, field in cls.fields.items() if isinstance(field, Payload)), None)
        for said, value in (("category", category), ("role", role)):
            if value is not None:
                setattr(cls, said, value)
            elif said not in namespace:
                if cls.envelope is None:
                    raise DeclarationError(f"{name}: say its {said}")
                setattr(cls, said, property(attrgetter(f"{cls.envelope}.{said}")))
        _follow(cls, namespace)
        return cls


class Message(msgspec.Struct, metaclass=MessageType, frozen=True, gc=False):
    """Base of everything that travels one hop; immutable, so that hosts may share it."""

    number: ClassVar[int]
    "The first byte on the air; ours are below 128, yours above."
    category: ClassVar[Category]
    role: ClassVar[Role]
    fields: ClassVar[dict[str, FieldCodec]] = {}
    dedup_field: ClassVar[str | None] = None
    "The attribute by which routers remember it as handled (see `Router.handled`); None: they do not."
    envelope: ClassVar[str | None] = None
    "The field that holds another message, if there is one: kind, category and publication are then of that."

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
            """Bytes without padding."""

        @property
        def size(self) -> int:
            """Bytes on the air above the network header, padding included."""

        @property
        def publication_id(self) -> int:
            """The id of the publication this message serves, or -1; the facts follow an event by it."""

        @property
        def minimum_size(self) -> int:
            """It is padded to so many bytes, if it has fewer."""

    def inconsistency(self) -> str | None:
        """How its fields contradict each other, if they do; such a message is neither written nor read."""
        return None


class Payload(FieldCodec):
    """Another message in an envelope, without its padding; no envelope holds an envelope."""

    def length(self, value: Any) -> int:
        """The message's own."""
        return int(value.length)

    def write(self, out: bytearray, value: Any) -> None:
        """The message without padding."""
        if not isinstance(value, Message) or value.envelope is not None:
            raise WireError(f"{value!r} is no message for an envelope")
        write_body(out, value)

    def read(self, octets: ByteReader) -> Message:
        """A message of a kind known here."""
        message = read_body(octets)
        if message.envelope is not None:
            raise WireError("an envelope in an envelope")
        return message

    def generate(self, about: GenerationContext) -> Message:
        """Any message that an envelope may hold."""
        plain = [kind for kind in about.messages if kind.envelope is None]
        return generate(about.random.choice(plain), about)

    def describe(self) -> str:
        """A message."""
        return "another message, without its padding"


def unwrap(message: Message) -> Message:
    """What an envelope holds; any other message itself."""
    return message if message.envelope is None else getattr(message, message.envelope)


def write_body(out: bytearray, message: Message) -> None:
    """Append a message without padding."""
    flaw = message.inconsistency()
    if flaw is not None:
        raise WireError(f"{type(message).__name__}: {flaw}")
    out.append(message.number)
    for name, field in message.fields.items():
        try:
            field.write(out, getattr(message, name))
        except WireError as error:
            raise WireError(f"{type(message).__name__}.{name}: {error}") from None


def read_body(octets: ByteReader) -> Message:
    """Read a message without padding."""
    number = octets.integer(1)
    kind = octets.kinds.get(number)
    if kind is None:
        raise WireError(f"messages of kind {number} are not known here")
    message: Message = kind(*[field.read(octets) for field in kind.fields.values()])
    flaw = message.inconsistency()
    if flaw is not None:
        raise WireError(f"{kind.__name__}: {flaw}")
    return message


def generate(kind: type[Message], about: GenerationContext) -> Message:
    """Some message of a kind that can be written, however hostile."""
    for _ in range(1000):
        message = kind(*[field.generate(about) for field in kind.fields.values()])
        if message.inconsistency() is None:
            return message
    raise DeclarationError(f"no {kind.__name__} without a flaw was found in a thousand tries")


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
        elif (formula := field.formula(f"self.{name}")) is not None:
            terms.append(formula)
        elif field.fixed is None:
            lengths[f"of_{name}"] = field.length
            terms.append(f"of_{name}(self.{name})")
    length = " + ".join(terms)
    if len(terms) == 1 and least == "0":
        cls.length = cls.size = fixed  # plain numbers: nothing to compute at each sending
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
    """A property that computes an expression in `self`; made as dataclasses make their methods, for speed."""
    return property(eval(f"lambda self: {expression}", dict(names)))
