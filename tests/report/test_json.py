import json
from dataclasses import dataclass

import numpy as np
import pytest

from momentdag.report.json import dump_for_script, to_plain_values


@dataclass(frozen=True)
class Part:
    name: str
    values: object


def test_values_become_json_and_numbers_short():
    part = Part("a", (np.float64(1 / 3), np.array([[1.0, np.inf]]), np.bool_(True), None))
    assert to_plain_values(part) == {"name": "a", "values": [0.33333, [[1, None]], True, None]}


def test_what_json_cannot_represent_is_refused():
    with pytest.raises(TypeError, match="set"):
        to_plain_values({1, 2})


@pytest.mark.parametrize("text", ["</script>", "<!--", "\u2028\u2029", "&amp;", '"\\', "ümlaut"])
def test_embedded_json_cannot_leave_its_element_and_comes_back(text):
    embedded = dump_for_script({text: text})
    assert not set("<>&\u2028\u2029") & set(embedded)
    assert embedded.isascii()
    assert json.loads(embedded) == {text: text}
