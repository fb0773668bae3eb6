import numpy as np
import pytest

from momentdag.cli.reading import read_data, read_knowledge
from momentdag.errors import DataError, OptionError


def test_columns_are_logged_on_request(csv, table):
    data, logged = read_data(csv, None)
    assert logged == ()
    # CSV keeps 17 digits, so that a number comes back as it was.
    np.testing.assert_array_equal(data.values, table.to_numpy())
    data, logged = read_data(csv, "dose, response")
    assert logged == ("dose", "response")
    np.testing.assert_array_equal(data.values[:, 0], np.log(table["dose"]))
    np.testing.assert_array_equal(data.values[:, 1], table["stress [%]"])
    assert read_data(csv, "all")[1] == tuple(table.columns)


def test_what_cannot_be_logged_is_refused(csv, table, tmp_path):
    with pytest.raises(OptionError, match="got 'nobody'"):
        read_data(csv, "dose,nobody")
    table = table.assign(dose=table["dose"] - 1.5)
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError, match=r"t\.csv: expected positive values.*'dose' has"):
        read_data(tmp_path / "t.csv", "dose")


@pytest.mark.parametrize("log_scale", [None, "all"])
def test_the_file_is_named_in_errors(tmp_path, log_scale):
    with pytest.raises(DataError, match=r"none\.csv: Expected a file"):
        read_data(tmp_path / "none.csv", log_scale)
    (tmp_path / "one.csv").write_text("a\n" + "\n".join(f"{k}.5" for k in range(40)))
    with pytest.raises(DataError, match=r"one\.csv: "):
        read_data(tmp_path / "one.csv", log_scale)


def test_no_knowledge_is_none():
    assert read_knowledge(None) is None
