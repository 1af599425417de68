"""Writing the output folder: whole or not at all, and never over something that no build wrote.

The files go into a new folder beside the output folder, which then takes its place in one step. A marker in the folder
lists what was written: a folder without marker, or with other files in it, is left alone. The builder holds a lock on
its marker, so that a folder left behind by a killed build is recognised and removed by the next one.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import shutil
import stat
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

from pypto_spec.diagnostics.model import CompileError, diagnose
from pypto_spec.diagnostics.rules.target import OUTPUT_NOT_OURS, OUTPUT_NOT_WRITTEN
from pypto_spec.diagnostics.span import Source, Span

MARKER = ".pypto-spec"
"""The file that says a folder was written by a build, and which files."""

_HEADER = "written by pypto-spec build; the whole folder is replaced by the next build"
_HARMLESS = frozenset({"__pycache__", ".DS_Store"})
_AT_CWD, _EXCHANGE = -100, 2
_ATTEMPTS = 50


def write_tree(files: Mapping[str, str | bytes], out_dir: str | os.PathLike[str], *, span: Span | None = None) -> None:
    """Make `out_dir` hold exactly these files (text or bytes by relative path).

    Raises CompileError where that cannot be done. `span` is where the diagnostics point, by default the folder itself.
    """
    shown = os.fspath(out_dir)
    where = span if span is not None else Span(Source(shown, ""), 1, 1, 1, 1)
    target = Path(os.path.realpath(shown))
    try:
        _check_place(target, shown, where)
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(target)
        with _building(target) as made:
            _fill(made, files)
            _install(made, target, shown, where)
    except OSError as error:
        raise _failed(shown, where, error) from error


def _failed(shown: str, where: Span, error: OSError) -> CompileError:
    reason = error.strerror or str(error)
    helps = {
        errno.ENOSPC: "free some space, or write to another disk with `-o DIR`",
        errno.EDQUOT: "free some space, or write to another disk with `-o DIR`",
        errno.EACCES: "choose a folder you may write to with `-o DIR`",
        errno.EPERM: "choose a folder you may write to with `-o DIR`",
        errno.EROFS: "the file system is read-only: choose another folder with `-o DIR`",
        errno.ENOTDIR: "a file stands where a folder is needed: choose another folder with `-o DIR`",
        errno.EEXIST: "a file stands where a folder is needed: choose another folder with `-o DIR`",
    }
    message = f"cannot write the output folder {shown}: {reason}"
    notes = ["what was there before is unchanged"]
    way_out = helps.get(error.errno or 0, "choose another folder with `-o DIR`")
    return CompileError([diagnose(OUTPUT_NOT_WRITTEN, where, message, notes=notes, helps=[way_out])])


def _refused(shown: str, where: Span, why: str, *, helps: tuple[str, ...] = ()) -> CompileError:
    message = f"{shown} is left alone: {why}"
    way_out = helps or ("choose another folder with `-o DIR`, or move what is in this one elsewhere",)
    return CompileError([diagnose(OUTPUT_NOT_OURS, where, message, helps=way_out)])


# --- what is there --------------------------------------------------------------------------------------------------


def _check_place(target: Path, shown: str, where: Span) -> None:
    """Refuse what a build must not replace."""
    here = Path(os.path.realpath(os.curdir))
    if target == here or target in here.parents:
        raise _refused(shown, where, "it is the current folder or holds it", helps=("name a folder inside it",))
    if not target.exists():
        return
    if not target.is_dir():
        raise _refused(shown, where, "it is a file, not a folder")
    _check_ours(target, shown, where)


def _check_ours(folder: Path, shown: str, where: Span) -> None:
    """Refuse a folder that holds anything no build wrote. Other builds may replace it meanwhile: then look again."""
    for _ in range(_ATTEMPTS):
        with contextlib.suppress(FileNotFoundError):
            opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                why = _why_not_ours(opened)
                if why is None:
                    return
                if os.path.samestat(os.fstat(opened), os.stat(folder)):
                    raise _refused(shown, where, why)
            finally:
                os.close(opened)
            continue
        return


def _why_not_ours(opened: int) -> str | None:
    """What speaks against replacing an open folder; None where a build wrote all of it."""
    if not os.listdir(opened):
        return None
    listed = _listed(opened)
    if listed is None:
        return "it was not written by a build"
    foreign = sorted(_foreign(opened, listed))
    if not foreign:
        return None
    several = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
    return f"{foreign[0]}{several} in it was not written by a build and would be lost"


def _listed(opened: int) -> frozenset[str] | None:
    """What the marker of an open folder lists; None where it has none of ours."""
    try:
        marker = os.open(MARKER, os.O_RDONLY | os.O_CLOEXEC, dir_fd=opened)
        with open(marker, encoding="utf-8") as file:
            first, *rest = file.read().split("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return frozenset(rest) if first == _HEADER else None


def _foreign(opened: int, listed: frozenset[str]) -> Iterator[str]:
    for path, folders, names, inner in os.fwalk(".", dir_fd=opened):
        folders[:] = [f for f in folders if f not in _HARMLESS]
        links = [f for f in folders if stat.S_ISLNK(os.stat(f, dir_fd=inner, follow_symlinks=False).st_mode)]
        for name in [*names, *links]:
            inside = os.path.normpath(os.path.join(path, name))
            if inside not in listed and inside != MARKER and name not in _HARMLESS:
                yield inside


# --- the new folder -------------------------------------------------------------------------------------------------


def _prefix(target: Path) -> str:
    return f".{target.name[:100]}.building-"


@contextlib.contextmanager
def _building(target: Path) -> Iterator[Path]:
    """A new locked folder beside the target; what is at its place afterwards is removed."""
    made, lock = _fresh(target)
    try:
        yield made
    finally:
        _remove(made)
        os.close(lock)


def _fresh(target: Path) -> tuple[Path, int]:
    """A new folder with a marker that this process holds a lock on."""
    for _ in range(_ATTEMPTS):
        made = target.parent / f"{_prefix(target)}{uuid.uuid4().hex[:12]}"
        made.mkdir()
        try:
            lock = os.open(made / MARKER, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666)
        except FileNotFoundError:
            continue
        except OSError:
            _remove(made)
            raise
        # Another build may have taken the folder for a leftover just before it was locked.
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(lock), os.stat(made / MARKER)):
                return made, lock
        os.close(lock)
        _remove(made)
    raise OSError(errno.EAGAIN, "other builds keep removing its folder")


def _fill(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, text in files.items():
        assert not name.startswith(("/", ".")) and ".." not in name.split("/"), name
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # Names of files in a text may hold bytes that are no UTF-8.
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace"))
    (folder / MARKER).write_bytes("\n".join([_HEADER, *sorted(files)]).encode())


def _install(made: Path, target: Path, shown: str, where: Span) -> None:
    """Put the finished folder in its place; afterwards the old one, if any, stands at the place of the new one."""
    for attempt in range(_ATTEMPTS):
        last = attempt + 1 == _ATTEMPTS
        try:
            if not target.exists() or not any(target.iterdir()):
                os.rename(made, target)
                return
            _check_place(target, shown, where)
            _exchange(made, target)
        except FileNotFoundError:
            if last:
                raise
            continue
        except OSError as error:
            if last or error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            continue
        try:
            _check_ours(made, shown, where)
        except CompileError:  # somebody put something there after the first look
            _exchange(made, target)
            raise
        return


def _exchange(a: Path, b: Path) -> None:
    """Let two folders change places: in one step where the system can, else in three."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is not None:
        if rename(_AT_CWD, os.fsencode(a), _AT_CWD, os.fsencode(b), _EXCHANGE) == 0:
            return
        number = ctypes.get_errno()
        if number not in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
            raise OSError(number, os.strerror(number), os.fspath(b))
    aside = a.with_name(f"{a.name}-old")
    os.rename(b, aside)
    try:
        os.rename(a, b)
    except OSError:
        os.rename(aside, b)
        raise
    with contextlib.suppress(FileNotFoundError):  # another build may have removed it already
        os.rename(aside, a)


# --- leftovers ------------------------------------------------------------------------------------------------------


def _remove_leftovers(target: Path) -> None:
    """Remove the folders of builds that were killed: those whose marker nobody holds a lock on."""
    for folder in target.parent.glob(f"{_glob_safe(_prefix(target))}*"):
        with contextlib.suppress(OSError):
            folder.rmdir()  # killed before it had a marker
            continue
        with contextlib.suppress(OSError):
            lock = os.open(folder / MARKER, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(folder)
            finally:
                os.close(lock)


def _glob_safe(text: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in text)


def _remove(folder: Path) -> None:
    """Remove a folder of ours; the marker goes last, so that a removal cut short is taken up by the next build."""
    with contextlib.suppress(OSError):
        for entry in folder.iterdir():
            if entry.name != MARKER:
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry, ignore_errors=True)
                else:
                    entry.unlink(missing_ok=True)
        if [entry.name for entry in folder.iterdir()] in ([], [MARKER]):
            (folder / MARKER).unlink(missing_ok=True)
            folder.rmdir()
