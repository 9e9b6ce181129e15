"""A server with moods, and prompts to ask it."""

import pytest

from descant.llm import build, find_template
from tests.support.llm_client import server
from tests.support.llm_data import benchmark


@pytest.fixture(scope="module")
def moody(tmp_path_factory):
    with server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def prompts(tmp_path):
    data = benchmark(tmp_path / "data")
    return [build(find_template("terse"), data.train[:2], each.pair) for each in data.asked]
