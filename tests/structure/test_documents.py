"""What the documents show is true: graphs parse, and layers, settings and extras are the code's."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path

import jitwise
from jitwise import config
from jitwise.ir.parser import parse

ROOT = Path(__file__).parents[2]
TOUR = (ROOT / "ARCHITECTURE.md").read_text()
README = (ROOT / "README.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_graphs_in_the_tour_are_graphs():
    blocks = re.findall(r"```\n(graph .*?)\n```", TOUR, re.DOTALL)
    assert blocks
    for block in blocks:
        assert str(parse(block)) == block


def test_kernels_in_the_tour_are_kernels():
    from jitwise.kernel.parser import parse_kernel

    blocks = re.findall(r"```\n(kernel .*?)\n```", TOUR, re.DOTALL)
    assert blocks
    for block in blocks:
        assert str(parse_kernel(block)) == block


def test_layers_in_the_tour_are_those_that_are_checked():
    table = TOUR.partition("## Layers")[2].partition("## ")[0]
    rows = [re.findall(r"`(\w+)`", row.split("|")[1]) for row in table.splitlines() if "| `" in row]
    layers = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    assert rows == [re.findall(r"\w+", layer) for layer in layers]


def test_the_glossary_is_in_order_and_says_each_word_once():
    table = TOUR.partition("## Glossary")[2].partition("## ")[0]
    words = re.findall(r"^\| (\w[\w, ]*) \|", table, re.MULTILINE)[1:]
    assert len(words) > 20
    assert words == sorted(set(words))


def test_settings_in_the_readme_are_those_of_the_table():
    named = set(re.findall(r"^\| `(JITWISE_\w+)` \|", README, re.MULTILINE))
    assert named == {
        f"{config.PREFIX}{setting.name.upper()}" for setting in dataclasses.fields(config.Settings)
    }


def test_extras_in_the_readme_exist():
    named = {name for names in re.findall(r"\.\[([\w,]+)\]", README) for name in names.split(",")}
    assert named
    assert named <= set(PROJECT["project"]["optional-dependencies"])


def test_versions_agree():
    assert jitwise.__version__ == PROJECT["project"]["version"]
    changes = (ROOT / "CHANGELOG.md").read_text()
    assert re.search(r"^## (\S+)", changes, re.MULTILINE)[1] == PROJECT["project"]["version"]
