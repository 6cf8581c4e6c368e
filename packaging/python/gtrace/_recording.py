"""Recordings as tables: runs gtanalyze and reads its JSON."""

import functools
import json
import os
import subprocess
import warnings

try:
    import pandas
except ImportError:
    pandas = None

PROGRAMS = ("gtrace", "gtcollect", "gtanalyze", "gtview", "gtexport")


class Error(Exception):
    """gtanalyze failed, or cannot answer; the text is its message."""

    __module__ = "gtrace"


def program(name):
    """The path of a program of this package: gtrace, gtcollect, gtanalyze, gtview or gtexport."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)


def _messages(stderr):
    lines = stderr.decode("utf-8", "replace").splitlines()
    return "\n".join(line.removeprefix("gtanalyze: ") for line in lines)


def _gtanalyze(*arguments):
    """The tables by name, each with its rows, notes and state."""
    command = [program("gtanalyze"), "--format", "json", *arguments]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        tables = json.loads(done.stdout)
    except ValueError:
        tables = {}
    messages = _messages(done.stderr)
    if done.returncode < 0 or not tables:
        raise Error(messages or f"gtanalyze failed with status {done.returncode}")
    if done.returncode == 1:  # the tables are without what is damaged
        notes = tables.get("header", {}).get("notes", [])
        warnings.warn(messages or "; ".join(notes), stacklevel=5)
    return tables


@functools.lru_cache(maxsize=None)
def reports():
    """The reports: a dict from the name to the question that it answers."""
    rows = _gtanalyze("--list")["reports"]["rows"]
    return {row["report"]: row["answers"] for row in rows}


def _option(name, value):
    """top=10 is --top 10, from_="2s" is --from 2s, a list repeats the option, True is a flag."""
    name = "--" + name.rstrip("_").replace("_", "-")
    if isinstance(value, (list, tuple)):
        return [word for item in value for word in _option(name[2:], item)]
    if value is None or value is False:
        return []
    return [name] if value is True else [f"{name}={value}"]


def _options(options):
    return [word for name, value in options.items() for word in _option(name, value)]


def _table(table):
    if not pandas:
        return table["rows"]
    return pandas.DataFrame(table["rows"], columns=table["columns"])


class Recording:
    """One trace, or several as ranks of one run. Each report of reports() is also a method."""

    def __init__(self, *files, **options):
        self.files = [os.path.join(".", os.fspath(f)) for f in files]
        self.options = options
        self._read("header")

    def _read(self, name, **options):
        options = _options({**self.options, **options})
        return _gtanalyze(*options, "--", name, *self.files)

    def _answers(self, name, options):
        """The tables of a report that were answered; if none was, an Error says why."""
        if name not in reports():
            raise Error(f"there is no report '{name}': gtrace.reports() has their names")
        tables = self._read(name, **options)
        wanted = {key: t for key, t in tables.items() if key != "header" or name == "header"}
        answered = {key: t for key, t in wanted.items() if t.get("state") != "cannot answer"}
        if not answered or (name in wanted and name not in answered):
            why = [note for table in wanted.values() for note in table.get("notes", [])]
            raise Error(f"{name}: " + "; ".join(why))
        return answered

    def tables(self, name, **options):
        """All tables of a report by name. Options are those of gtanalyze, as top=10."""
        return {key: _table(t) for key, t in self._answers(name, options).items()}

    def report(self, name, **options):
        """The table of the report's name, or its first one."""
        tables = self._answers(name, options)
        return _table(tables[name] if name in tables else next(iter(tables.values())))

    def __getattr__(self, name):
        if name.startswith("_") or name not in reports():
            raise AttributeError(f"a recording has no report '{name}'")
        return functools.partial(self.report, name)

    def __dir__(self):
        return [*super().__dir__(), *reports()]

    def __repr__(self):
        return "gtrace.open({})".format(", ".join(map(repr, self.files)))


def open(*files, **options):
    """Opens a trace, or several as ranks of one run. A folder stands for the traces in it.
    Options hold for all reports, as from_="2s", to="3s"."""
    return Recording(*files, **options)
