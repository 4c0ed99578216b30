"""On CI a test that fails is repeated once; every test that needed it is named at the end of the run.

Many tests start servers, browsers and workers on a machine that is busy with other things. One time-out among
thousands of tests should not hide what all the others say. A test that fails twice has failed, and a run in which
more than `ALLOWED` tests needed a second try has failed, too.
"""

import os

import pytest

ALLOWED = 8


def mark(items: list[pytest.Item]) -> None:
    # At a desk a failure is shown at once, and a race that is looked for is not repeated away
    # (docs/decisions/tools.md#0055).
    if not os.environ.get("CI"):
        return
    for item in items:
        if item.get_closest_marker("flaky") is None:
            item.add_marker(pytest.mark.flaky(reruns=1, reruns_delay=1))


def _repeated(config: pytest.Config) -> list[str]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return sorted({report.nodeid for report in reporter.stats.get("rerun", [])}) if reporter else []


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if exitstatus == pytest.ExitCode.OK and len(_repeated(session.config)) > ALLOWED:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    repeated = _repeated(config)
    if not repeated:
        return
    terminalreporter.section("second tries")
    for name in repeated:
        terminalreporter.write_line(name)
    if len(repeated) > ALLOWED:
        terminalreporter.write_line(f"{len(repeated)} tests needed a second try; at most {ALLOWED} may.", red=True)
