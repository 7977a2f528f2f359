"""The index of filters on the fields of one type: the kernel's, or a loop where there is no kernel."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roamcast._kernel import MatchIndex as FieldIndex
else:
    try:
        from roamcast._kernel import MatchIndex as FieldIndex
    except ImportError:
        from roamcast.content.match.scan import ScanIndex as FieldIndex

__all__ = ["FieldIndex"]
