"""Finds checks: the built-in folder, folders named by the user, and entry points.

All three go the same way: files are walked, each is run as a module, and the `Check` values in it
are picked up. Nothing is registered anywhere.
"""

import fnmatch
import importlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

import msgspec

from kauditor.model.check import BadCheck, Check
from kauditor.model.dimension import Dimension

GROUP = "kauditor.checks"
PACKAGE = Path(__file__).resolve().parent


class BadPack(ValueError):
    """A pack that can't be loaded; the message names the file and what to do."""


def built_in_folder() -> Path:
    """The built-in checks: beside the package in a checkout, inside it in a wheel.

    Never a ``checks`` folder of the working directory.
    """
    bundled = PACKAGE / "_bundled" / "checks"
    return bundled if bundled.is_dir() else PACKAGE.parent / "checks"


def load(folders: Iterable[Path] = (), *, installed: bool = True) -> list[Check]:
    """All checks, by id.

    ``folders`` are those of ``--checks``; ``installed`` adds the entry points of group
    ``kauditor.checks``.

    Raises:
        BadPack: a folder is missing, a file fails to load, a check breaks the form, or an id is
            taken twice.
    """
    found = list(load_folder(built_in_folder(), "built-in"))
    for folder in folders:
        if not folder.is_dir():
            raise BadPack(f"--checks {folder}: there is no such folder")
        found.extend(load_folder(folder, folder.name))
    if installed:
        found.extend(_installed())
    by_id: dict[str, Check] = {}
    for check in found:
        twin = by_id.setdefault(check.id, check)
        if twin is not check:
            raise BadPack(f"{check.file}:{check.line}: id {check.id} is taken by {twin.file}")
    return [by_id[id] for id in sorted(by_id)]


def load_folder(folder: Path, pack: str) -> Iterator[Check]:
    """The checks of one folder, its own modules importable while it loads.

    Folders without ``__init__.py`` are walked too; names that begin with "_" or "." and folders
    named ``tests`` are not.
    """
    folder = folder.resolve()
    sys.path.insert(0, str(folder))
    try:
        for file in sorted(folder.rglob("*.py")):
            parts = file.relative_to(folder).parts
            if any(part.startswith(("_", ".")) or part == "tests" for part in parts):
                continue
            yield from _checks_of(_module(file, folder, pack), file, pack)
    finally:
        sys.path.remove(str(folder))
        _forget_plain_names(folder)


def _forget_plain_names(folder: Path) -> None:
    # Modules that the pack imported from itself hold plain names; the next pack may have a module
    # of the same name, and must not get this one's.
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and not name.startswith("_kauditor_pack_") and Path(file).is_relative_to(folder):
            del sys.modules[name]


def _module(file: Path, folder: Path, pack: str) -> ModuleType:
    # A plain import would find a neighbour's module of the same name; this name is nobody else's.
    path = "_".join(file.relative_to(folder).with_suffix("").parts)
    name = f"_kauditor_pack_{pack.replace('-', '_')}_{path}"
    plain = sys.modules.get(file.stem)
    if plain is not None and getattr(plain, "__file__", None) == str(file):
        # Already imported by its neighbours as a module of facts: a second copy would be a
        # second set of fact types.
        return plain
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BadCheck as error:
        raise BadPack(str(error)) from error
    except Exception as error:
        raise BadPack(f"{file}: {type(error).__name__}: {error}") from error
    return module


def _checks_of(module: ModuleType, file: Path, pack: str) -> Iterator[Check]:
    values = list(vars(module).values())
    dimensions = tuple(value for value in values if isinstance(value, Dimension))
    for value in values:
        # An imported check belongs to the file that defines it.
        if isinstance(value, Check) and Path(value.file) == file:
            yield msgspec.structs.replace(value, dimensions=dimensions, pack=pack)


def _installed() -> Iterator[Check]:
    for entry in entry_points(group=GROUP):
        try:
            module = entry.load()
        except Exception as error:
            raise BadPack(
                f"pack {entry.name!r} ({entry.value}): {type(error).__name__}: {error}"
            ) from error
        if not isinstance(module, ModuleType) or module.__file__ is None:
            raise BadPack(f"pack {entry.name!r}: its entry point must name a module")
        file = Path(module.__file__)
        if file.name == "__init__.py":
            yield from load_folder(file.parent, entry.name)
        else:
            yield from _checks_of(module, file, entry.name)


def choose(
    checks: Iterable[Check], only: Iterable[str] = (), skip: Iterable[str] = ()
) -> list[Check]:
    """The checks that ``only`` names, without those that ``skip`` names.

    A word is an id, a name or an area, with ``*`` and ``?`` as wildcards, in any case.

    Raises:
        BadPack: a word that names no check; the message offers the nearest.
    """
    every = list(checks)
    chosen = every
    if words := list(only):
        named = {check.id for word in words for check in _named(every, word, "--only")}
        chosen = [check for check in every if check.id in named]
    dropped = {check.id for word in skip for check in _named(every, word, "--skip")}
    return [check for check in chosen if check.id not in dropped]


def _named(checks: list[Check], word: str, flag: str) -> list[Check]:
    pattern = word.lower()
    found = [
        check
        for check in checks
        if any(
            fnmatch.fnmatchcase(name, pattern)
            for name in (check.id.lower(), check.name, check.area.value)
        )
    ]
    if not found:
        import difflib

        names = [name for check in checks for name in (check.id, check.name, check.area.value)]
        near = difflib.get_close_matches(word, names, n=1) or difflib.get_close_matches(
            word.upper(), names, n=1
        )
        hint = f"; did you mean {near[0]}?" if near else ""
        raise BadPack(f"{flag} {word}: no check has this id, name or area{hint}")
    return found
