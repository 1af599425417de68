"""Which files are specs, and where they come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_spec.driver.inputs import UsageError, gather, is_spec, search
from tests.cli.specs import GOOD, TOML


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.yaml", GOOD, True),
        ("a.yml", "# first\n---\nspec: v1\n", True),
        ("a.yaml", "\ufeffspec: v1\n", True),
        ("a.yaml", '"spec": v1\n', True),
        ("a.yaml", "{spec: v1, name: k}\n", True),
        ("a.yaml", "name: k\r\nspec: v1\r\n", True),
        ("a.yaml", "kind: Pod\nmetadata:\n  spec: v1\n", False),
        ("a.yaml", "specs: v1\n", False),
        ("a.toml", TOML, True),
        ("a.toml", "spec: v1\n", False),
        ("a.toml", "[tool]\nname = 'x'\n", False),
    ],
)
def test_a_spec_has_its_key_at_the_top(tmp_path: Path, name: str, text: str, expected: bool) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode())
    assert is_spec(path) is expected


def test_search_is_sorted_and_skips_what_is_hidden_or_built(tmp_path: Path) -> None:
    for name in ("b/z.yaml", "b/a.yaml", "a.toml", ".git/x.yaml", "out/k.yaml", "node_modules/n.yaml", "b/.s.yaml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TOML if name.endswith("toml") else GOOD)
    (tmp_path / "out" / ".pypto-spec").touch()
    assert [Path(p).relative_to(tmp_path).as_posix() for p in search(str(tmp_path))] == [
        "a.toml",
        "b/a.yaml",
        "b/z.yaml",
    ]


def test_every_file_is_taken_once(tmp_path: Path) -> None:
    (tmp_path / "k.yaml").write_text(GOOD)
    (tmp_path / "link.yaml").symlink_to("k.yaml")
    found = gather([str(tmp_path / "k.yaml"), str(tmp_path), str(tmp_path / "k.yaml")])
    assert len(found.specs) == 1
    assert found.folders


def test_hash_is_of_the_bytes(tmp_path: Path) -> None:
    from hashlib import sha256

    data = b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode()
    (tmp_path / "k.yaml").write_bytes(data)
    (spec,) = gather([str(tmp_path / "k.yaml")]).specs
    assert spec.sha256 == sha256(data).hexdigest()


def test_all_unreadable_files_are_named_together() -> None:
    with pytest.raises(UsageError) as caught:
        gather(["one.yaml", "two.yaml"])
    assert str(caught.value).splitlines() == [
        "cannot read one.yaml: there is no such file",
        "cannot read two.yaml: there is no such file",
    ]
