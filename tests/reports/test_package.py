"""The public names of the package."""

import pkgutil
import subprocess
import sys

import pytest

import saverproof_reports


@pytest.mark.parametrize("name", saverproof_reports.__all__)
def test_each_public_name_is_there_and_no_module_takes_its_place(name: str) -> None:
    modules = {module.name for module in pkgutil.iter_modules(saverproof_reports.__path__)}
    assert name not in modules
    assert callable(getattr(saverproof_reports, name))


def test_another_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = saverproof_reports.nonsense


def test_importing_the_package_loads_no_library() -> None:
    code = (
        "import saverproof_reports, sys; "
        "print({'jinja2', 'jsonschema', 'pygal'} & set(sys.modules))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert loaded.stdout == b"set()\n"
