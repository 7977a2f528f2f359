"""The pages of these rooms: their Python runs, their commands run, and their grammar is the parser's."""

import re
import shlex
from pathlib import Path
from random import Random
from typing import ClassVar

import pytest

from roamcast.cli.app import invoke
from roamcast.content.errors import ContentError
from roamcast.content.filter import Filter
from roamcast.content.xpath import guess

from .test_figures import CD

ROOT = Path(__file__).parents[2]
PAGES = {"docs/subscriptions.md": 1, "docs/grouping.md": 0}
SUBSCRIPTIONS = (ROOT / "docs/subscriptions.md").read_text()


@pytest.mark.parametrize("page", PAGES)
def test_the_python_on_a_page_runs(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert len(blocks) == PAGES[page]
    for block in blocks:
        exec(block, {})


COMMANDS = sorted(set(re.findall(r"^`?(roamcast filter [^`\n]+)", SUBSCRIPTIONS, re.MULTILINE)))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_on_the_page_run(command, monkeypatch, tmp_path, capsys):
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    assert invoke(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out


def test_the_page_has_commands_for_every_verb():
    assert {command.split()[2] for command in COMMANDS} == {"explain", "match", "groups"}


def test_the_subscriptions_on_the_page_are_subscriptions():
    names = "|".join(field.path for field in CD.fields)
    found = re.findall(rf"`((?:/CD|(?:{names})[!=<>])[^`]*)`", SUBSCRIPTIONS)
    assert len(found) >= 7
    for text in found:
        Filter.parse(text if text.startswith("/") else f"/CD[{text}]", CD)


BEYOND = "nothing below it|nested deeper|the maximum is|must not exceed the northern|10000 km"
"What the words beside the grammar refuse."


class Grammar:
    """The grammar of the page, and sentences of it."""

    TOKEN = re.compile(r'"([^"]+)"|([A-Za-z]+)|([{}\[\]()|])')
    WORDS: ClassVar = {
        "TYPE": ["T"],
        "NAME": ["a", "b-c", "and", "not", "größe", "d.e"],
        "NUMBER": ["5", "0.5", "5.", ".5"],
        "LENGTH": ['"5 km"', "'0.5 m'"],
        "QUOTED": ['"x"', "'x'", '"a*b"', "''", '"5"', "'2005-01-01'"],
    }

    def __init__(self, text):
        self.rules = {}
        plain = re.sub(r" {4,}[a-z].*", "", text)  # without the remarks on the right
        for line in re.sub(r"\n +\|", " |", plain).splitlines():
            name, _, right = line.partition(" = ")
            self.rules[name.strip()] = self.TOKEN.findall(right)

    def sentence(self, r, rule="subscription", depth=0):
        if rule in self.WORDS:
            return [r.choice(self.WORDS[rule])]
        if rule == "operator" or rule == "function":
            return [r.choice([literal for literal, _, _ in self.rules[rule] if literal])]
        words, rest = self.alternatives(r, self.rules[rule], depth)
        assert not rest, rule
        return words

    def alternatives(self, r, tokens, depth):
        """One of the alternatives up to a closing bracket, and what follows it."""
        choices = []
        while True:
            words, tokens = self.parts(r, tokens, depth)
            choices.append(words)
            if not tokens or tokens[0][2] != "|":
                return r.choice(choices)(), tokens
            tokens = tokens[1:]

    def parts(self, r, tokens, depth):
        made = []
        while tokens and tokens[0][2] not in ("|", "}", "]", ")"):
            (literal, rule, bracket), tokens = tokens[0], tokens[1:]
            if literal:
                made.append(lambda literal=literal: [literal])
            elif rule:
                made.append(lambda rule=rule: self.sentence(r, rule, depth + 1))
            else:
                inside, tokens = tokens, self.after(tokens)
                times = {"{": [0, 0, 0, 1, 2], "[": [0, 1], "(": [1]}[bracket]
                made.append(
                    lambda inside=inside, times=times: [
                        word
                        for _ in range(r.choice(times) if depth < 12 else min(times))
                        for word in self.alternatives(r, inside, depth)[0]
                    ]
                )
        return lambda: [word for make in made for word in make()], tokens

    def after(self, tokens):
        depth = 1
        while depth:
            depth += {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}.get(tokens[0][2], 0)
            tokens = tokens[1:]
        return tokens


def test_sentences_of_the_grammar_are_read_and_nothing_else_is_needed():
    [text] = re.findall(r"## Grammar\n\n```\n(.*?)```", SUBSCRIPTIONS, re.DOTALL)
    grammar = Grammar(text)
    r = Random("grammar")
    read = 0
    for _ in range(600):
        try:
            sentence = r.choice([" ", "  ", "\n"]).join(grammar.sentence(r))
        except RecursionError:
            continue
        try:
            guess._Guesser(sentence).whole()  # reads for the words alone, whatever the type
        except ContentError as error:
            assert re.search(BEYOND, str(error)), (sentence, error)
            continue
        read += 1
    assert read > 300
