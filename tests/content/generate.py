"""Generated event types, events and subscriptions, drawn from any `Random`."""

from datetime import date

from roamcast.content.event import Event
from roamcast.content.field_type import Boolean, Date, Decimal, Enumeration, Integer, Presence, String
from roamcast.content.filter import Filter
from roamcast.content.printer import quote
from roamcast.content.record_list import RecordList
from roamcast.content.schema import EventType, Field

WORDS = [
    "",
    "a",
    "b",
    "ab",
    "ba",
    "aab",
    "abab",
    "jazz",
    "ja",
    "z",
    "'",
    '"',
    "'\"",
    "é",
    "a b",
    "\\",
    "1",
    "<&>",
    "JaZz",
    "A",
    "É",
]
KINDS = [
    Integer(),
    Integer(-2, 5),
    Decimal(),
    Decimal(-1.5, 2.25),
    Boolean(),
    Date(),
    Date(date(2005, 1, 1), date(2005, 1, 9)),
    Enumeration(("pop", "Jazz", "jazz", "ja")),
    Enumeration(("one",)),
    String(),
    String(),
]


def event_type(r):
    paths = [
        "@id",
        "@on",
        "a",
        "b",
        "box/a",
        "box/@id",
        "box/bag/c",
        "box/bag/@k",
        "bin/x",
        "bin/y",
        "a/@unit",
    ]
    chosen = [path for path in paths if r.random() < 0.45]
    if "a/@unit" in chosen and "a" not in chosen:
        chosen.remove("a/@unit")
    optional = {path for path in chosen if r.random() < 0.4}
    if "a" in optional:
        optional.add("a/@unit")
    return EventType("T", tuple(Field(path, r.choice(KINDS), path in optional) for path in chosen))


def repeating_type(r, depth=2):
    """A type with repeated elements, some of them values alone, some with repeated elements inside."""
    fields = [field for field in event_type(r).fields if r.random() < 0.7 and field.path != "a/@unit"]
    fields.append(Field("tag", RecordList(EventType("tag", (Field(".", r.choice(KINDS)),)), r.randint(0, 1))))
    if r.random() < 0.5:
        inner = (Field(".", r.choice(KINDS)), Field("@k", r.choice(KINDS), r.random() < 0.5))
        fields.append(Field("box/sum", RecordList(EventType("sum", inner))))
    if depth and r.random() < 0.7:
        inner = repeating_type(r, depth - 1).fields
        fields.append(Field("info", RecordList(EventType("info", inner), r.choice([0, 0, 1]))))
    return EventType("T", tuple(fields))


def any_type(r):
    """A type with repeated elements or without."""
    return repeating_type(r) if r.random() < 0.4 else event_type(r)


def value(r, kind):
    """A stored value near the others, so that constraints are often met."""
    if isinstance(kind, RecordList):
        count = r.choice([kind.least, 1, 1, 2, 3])
        return tuple(event(r, kind.record).values for _ in range(count))
    if isinstance(kind, String):
        return r.choice(WORDS) + r.choice(["", "", "b", "x"])
    low, high = kind.bounds()
    if isinstance(kind, Decimal):
        return min(max(r.randint(-8, 8) / 4, low), high)
    if isinstance(kind, Date):
        return min(max(date(2005, 1, 1).toordinal() + r.randint(-2, 11), low), high)
    return min(max(r.randint(-3, 6), low), high)


def event(r, type):
    values = [None if field.optional and r.random() < 0.3 else value(r, field.kind) for field in type.fields]
    return whole(type, values)


def whole(type, values):
    """The event of some values, without attributes of elements that are not there."""
    for attribute, element in type.owned:
        if values[element] is None:
            values[attribute] = None
    return Event(type, tuple(values))


def near(r, type, wanted):
    """An event that meets one conjunction of a filter if it has any, then is changed a little."""
    found = wanted.example() or event(r, type)
    values = list(found.values)
    for _ in range(r.randint(0, 2)):
        if values:
            place = r.randrange(len(values))
            values[place] = event(r, type).values[place]
    return whole(type, values)


def xpath(r, type, pure=False):
    """A subscription; `pure` ones mean the same in XPath 1.0."""
    return " | ".join(location(r, type, pure) for _ in range(r.choice([1, 1, 1, 2, 3])))


def location(r, type, pure):
    text, base = f"/{type.name}", ""
    while True:
        for _ in range(r.choice([0, 1, 1, 2])):
            text += f"[{condition(r, type, base, 2, pure)}]"
        steps = sorted(set(below(type, base)))
        if not steps or r.random() < 0.7:
            return text
        step = r.choice(steps)
        text, base = f"{text}/{step}", f"{base}/{step}" if base else step
        if type.has(base) and isinstance(type.fields[type.index(base)].kind, RecordList):
            type, base = type.record(base), ""
        if step.startswith("@"):
            return text


def below(type, base):
    prefix = f"{base}/" if base else ""
    inside = [f.path[len(prefix) :] for f in type.fields if f.path.startswith(prefix)]
    return [path.split("/")[0] for path in inside if path != "."]


def condition(r, type, base, depth, pure):
    roll = r.random()
    inside = [f for f in type.fields if f.path.startswith(f"{base}/" if base else "") or f.path == base]
    if not inside:
        return r.choice(["true()", "false()", "not(false())"])
    if depth and roll < 0.15:
        return f"not({condition(r, type, base, depth - 1, pure)})"
    if depth and roll < 0.45:
        word = r.choice([" and ", " or ", "\n\tand "])
        parts = [condition(r, type, base, depth - 1, pure) for _ in range(r.choice([2, 2, 3]))]
        return f"({word.join(parts)})" if r.random() < 0.8 else word.join(parts)
    if roll < 0.5:
        return r.choice(["true()", "false()"])
    field = r.choice(inside)
    if field.path == f"{base}/.":
        return "."
    path = relative(r, type, base, field.path, pure)
    if isinstance(field.kind, Presence):
        return path.removesuffix("/.")
    if isinstance(field.kind, RecordList):
        return repeated(r, field.kind.record, path, depth, pure)
    if roll < 0.6:
        return path
    return comparison(r, field, path, pure)


def repeated(r, record, path, depth, pure):
    """A test of some record: in brackets, or of one of its fields by a path that goes on."""
    roll = r.random()
    if roll < 0.1:
        return path
    field = r.choice(record.fields)
    if roll < 0.6 or isinstance(field.kind, RecordList):
        return f"{path}[{condition(r, record, '', max(0, depth - 1), pure)}]"
    inner = (
        path
        if field.path == "."
        else f"{path}/{relative(r, record, '', field.path, pure).removeprefix('./')}"
    )
    return comparison(r, field, inner, pure, several=True)


def relative(r, type, base, path, pure):
    """The path from `base`, now and then with a dot before or a predicate inside."""
    if path in (base, "."):
        return "."
    steps = path[len(base) + 1 if base else 0 :].split("/")
    if len(steps) > 1 and r.random() < 0.3:
        inner = f"{base}/{steps[0]}" if base else steps[0]
        steps[0] += f"[{condition(r, type, inner, 0, pure)}]"
    return ("./" if r.random() < 0.1 else "") + "/".join(steps)


def comparison(r, field, path, pure, several=False):
    kind = field.kind
    operator = r.choice(["=", "!=", "<", "<=", ">", ">="] if kind.ordered else ["=", "!="])
    if isinstance(kind, String | Enumeration) and not several and not pure and r.random() < 0.3:
        return in_lower_case(r, path)
    if isinstance(kind, String | Enumeration) and not several and r.random() < 0.5:
        function = r.choice(["starts-with", "contains"] if pure else ["starts-with", "contains", "ends-with"])
        return f"{function}({path}, {quote(r.choice(WORDS))})"
    if isinstance(kind, Integer | Decimal):
        drawn = value(r, Decimal() if r.random() < 0.2 else kind)
        text = Decimal().write(float(drawn))
        literal = quote(text) if r.random() < 0.3 else text
        if r.random() < 0.2:
            flipped = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
            return f"{literal} {flipped} {path}"
    elif isinstance(kind, String):
        text = r.choice(WORDS)
        if not pure and r.random() < 0.4:
            text = "*".join([text.replace("\\", "\\\\"), r.choice(["", "a", "b", "ab"]), r.choice(["", "b"])])
        literal = quote(text)
    elif isinstance(kind, Date):
        if pure:
            operator = r.choice(["=", "!="])
        literal = quote(Date().write(value(r, Date())))
    else:
        literal = quote(kind.write(value(r, kind)))
    return f"{path}{operator}{literal}"


def in_lower_case(r, path):
    """A test that XPath 2.0 knows, of a text whose case says nothing."""
    text = quote(r.choice(WORDS).lower())
    if r.random() < 0.4:
        return f"lower-case({path}){r.choice(['=', '!='])}{text}"
    return f"{r.choice(['starts-with', 'contains', 'ends-with'])}(lower-case({path}), {text})"


def filter(r, type):
    return Filter.parse(xpath(r, type), type)
