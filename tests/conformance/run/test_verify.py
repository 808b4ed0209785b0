"""The command that tries a saver in seconds."""

from click.testing import CliRunner

from saverproof.run.cli import main


def test_the_bundled_saver_passes_the_four_scenarios() -> None:
    result = CliRunner().invoke(main, ["verify", "sqlite"])
    assert result.exit_code == 0, result.output
    *scenarios, last = result.stdout.splitlines()
    assert [line.split()[0] for line in scenarios] == ["ok"] * 4
    assert last.startswith("not looked at: interface, ordering, upsert, ")
    assert last.endswith("; saverproof judge sqlite looks at all of it")
    assert "10 of 10 checkpoints" in result.output


def test_a_saver_in_memory_is_refused_in_one_line() -> None:
    result = CliRunner().invoke(main, ["verify", "memory"])
    assert result.exit_code == 1
    assert "in memory" in result.output.splitlines()[-1]
