"""CPU seconds of every test and folder (`--costs 10`), so that it is seen what grows: hooks, imported by conftest.

Seconds of the CPU, not of the clock: they are much the same on a busy machine. A fixture of a session counts for the
test that asked for it first; a process that a test started counts where it ended.
"""

import os
from collections import Counter

import pytest

SPENT = pytest.StashKey[float]()


def _spent() -> float:
    """CPU seconds of this process, all threads, and of its processes that have ended."""
    return sum(os.times()[:4])


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--costs", type=int, metavar="N", help="tell the CPU seconds of folders and the N dearest tests")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[SPENT] = _spent()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> None:
    if call.when == "teardown" and SPENT in item.stash:
        item.user_properties.append(("cpu_seconds", _spent() - item.stash[SPENT]))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker tells what it spent in all; imports and collection are no test's."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["cpu_seconds"] = _spent()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node) -> None:
    spent = getattr(node, "workeroutput", {}).get("cpu_seconds", 0.0)
    node.config.stash[SPENT] = node.config.stash.get(SPENT, 0.0) + spent


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    shown = config.getoption("--costs")
    if shown is None:
        return
    tests, folders = Counter(), Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            seconds = dict(getattr(report, "user_properties", ())).get("cpu_seconds", 0.0)
            if seconds and report.when == "teardown":
                tests[report.nodeid] = seconds
    for nodeid, seconds in tests.items():
        folders[nodeid.split("::")[0].rpartition("/")[0]] += seconds
    total = config.stash.get(SPENT, 0.0) or _spent()
    terminalreporter.section("CPU seconds")
    for nodeid, seconds in tests.most_common(shown):
        terminalreporter.write_line(f"{seconds:8.1f} {nodeid}")
    terminalreporter.write_line("")
    for folder, seconds in [*folders.most_common(), ("imports and collection", total - sum(tests.values()))]:
        terminalreporter.write_line(f"{seconds:8.1f} {folder}")
    terminalreporter.write_line(f"{total:8.1f} in all")
