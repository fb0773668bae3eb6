import ast

from momentdag.experiments import code
from momentdag.experiments.code import code_fingerprint


def reached(module):
    return {path.relative_to(code._ROOT).as_posix() for path in code._reached([module])}


def test_what_a_method_imports_counts_and_other_methods_do_not():
    found = reached("momentdag.baselines.mc3")
    assert {"baselines/mc3.py", "engines/evidence/linear.py", "data/dataset.py"} <= found
    assert not {"baselines/host.py", "estimator.py", "__init__.py"} & found
    assert not any(path.startswith(("cli", "report", "experiments")) for path in found)


def test_cases_depend_on_their_simulator():
    assert "simulate/hnm.py" in reached("momentdag.experiments.simulated")
    assert "engines/evidence/exact.py" in reached("momentdag.experiments.linear_gaussian")


def test_comments_and_docstrings_do_not_count_but_code_does(tmp_path, monkeypatch):
    monkeypatch.setattr(code, "_ROOT", tmp_path)

    def fingerprint(text):
        code._read.cache_clear()
        (tmp_path / "part.py").write_text(text, encoding="utf-8")
        return code_fingerprint(["momentdag.part"])

    first = fingerprint('"""One."""\nx = 1\n')
    assert fingerprint('"""Two."""\n# why\nx = 1\n') == first
    assert fingerprint('"""One."""\nx = 2\n') != first
    code._read.cache_clear()


def test_versions_of_python_and_momentdag_do_not_count():
    assert "_version.py" not in reached("momentdag.posterior")
    tree = ast.parse("def f(x=None):\n    return [], {**x}, None\n")
    plain = code._plain(tree)
    function = tree.body[0]
    function.type_params = []  # what Python 3.12 added
    function._fields = (*ast.FunctionDef._fields, "type_params")
    assert code._plain(tree) == plain
    for other in ("f(x): return [], {**x}, None", "f(x=None): return [], {**x}, 0"):
        assert code._plain(ast.parse(f"def {other}\n")) != plain
