"""The parser fuzzer: a short run with a fixed seed, and that it would notice a fault. The long run is tools/fuzz."""

from __future__ import annotations

import pytest

from fuzzlib import parser_fuzz
from fuzzlib.mutation import Corpus
from fuzzlib.parser_fuzz import fault, minimised, run, text_of


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus()


def test_nothing_is_found(corpus: Corpus) -> None:
    campaign = run(corpus, 20, range(3000))
    assert campaign.faults == {}
    assert campaign.executions == 3000
    assert campaign.accepted > 500  # else the back ends are not tried


def test_a_seed_makes_the_same_texts(corpus: Corpus) -> None:
    assert text_of(corpus, 1, 7) == text_of(Corpus(), 1, 7)
    assert len({text_of(corpus, 1, number) for number in range(50)}) > 45


def test_an_exception_is_found_counted_and_made_small(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = parser_fuzz.analyse

    def faulty(source, diagnostics):
        if "when" in source.text:
            raise KeyError(source.text)
        return whole(source, diagnostics)

    monkeypatch.setattr(parser_fuzz, "analyse", faulty)
    campaign = run(corpus, 1, range(300))
    [(found, (_, text, times))] = campaign.faults.items()
    assert found.startswith("KeyError in ")
    assert times > 1
    assert minimised(text, found) == "when"


def test_a_hang_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_fuzz, "LONGEST", 0.05)

    def endless(source, diagnostics):
        while True:
            pass

    monkeypatch.setattr(parser_fuzz, "analyse", endless)
    assert (fault("x") or "").startswith("no answer within 0.05 s")


def test_a_place_outside_the_file_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = parser_fuzz.analyse

    def shifted(source, diagnostics):
        try:
            return whole(source, diagnostics)
        finally:
            source.text = ""

    monkeypatch.setattr(parser_fuzz, "analyse", shifted)
    assert "a place outside the file" in (fault("ACTOR int f() {}") or "")
