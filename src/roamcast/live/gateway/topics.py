"""Topic templates: MQTT topics some levels of which are fields of an event."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from roamcast.live.errors import LiveError

_FIELD = re.compile(r"\{([^{}/+#]+)\}")
_WILD = set("+#\0")
LONGEST = 65_535


class TopicTemplate:
    """A topic such as `sensors/{station}/level`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._levels = text.split("/")
        self.fields: list[str] = []
        for level in self._levels:
            found = _FIELD.fullmatch(level)
            if found is not None:
                self.fields.append(found[1])
            elif not level or _WILD & set(level) or "{" in level or "}" in level:
                raise LiveError(
                    f"{text!r} is not a topic; its levels are words, or names of fields as {{station}},"
                    " without wildcards"
                )
        if len(set(self.fields)) < len(self.fields):
            raise LiveError(f"{text!r} names a field twice")

    @property
    def wildcard(self) -> str:
        """The topic filter that matches all topics of the template."""
        return "/".join("+" if _FIELD.fullmatch(level) else level for level in self._levels)

    def match(self, topic: str) -> dict[str, str] | None:
        """Return the fields in a topic, None if it is not of this template."""
        levels = topic.split("/")
        if len(levels) != len(self._levels):
            return None
        fields: dict[str, str] = {}
        for own, level in zip(self._levels, levels, strict=True):
            found = _FIELD.fullmatch(own)
            if found is not None:
                fields[found[1]] = level
            elif own != level:
                return None
        return fields

    def render(self, values: Mapping[str, Any]) -> str:
        """Return the topic of an event; a field that is missing or has characters of topics becomes `_`."""
        levels = []
        for own in self._levels:
            found = _FIELD.fullmatch(own)
            levels.append(own if found is None else _level(values.get(found[1])))
        return "/".join(levels)


def _level(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
    return "".join("_" if each in "/+#\0" else each for each in text)[:256] or "_"
