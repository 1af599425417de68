import assert from "node:assert/strict";
import { homedir } from "node:os";
import { test } from "node:test";
import { findServer } from "../src/find.mjs";
import { isSpec } from "../src/specs.mjs";

const look = (there, more = {}) =>
  findServer({
    configured: "",
    folders: ["/w"],
    environment: { PATH: "/usr/bin:/opt/bin" },
    platform: "linux",
    exists: (path) => there.includes(path),
    ...more,
  });

test("the environment of the workspace comes before the active one, and that before PATH", () => {
  const active = { environment: { PATH: "/usr/bin", VIRTUAL_ENV: "/v" } };
  const all = ["/usr/bin/pypto-spec", "/v/bin/pypto-spec", "/w/.venv/bin/pypto-spec"];
  assert.deepEqual(look(all, active), { path: all[2] });
  assert.deepEqual(look(all.slice(0, 2), active), { path: all[1] });
  assert.deepEqual(look(all.slice(0, 1), active), { path: all[0] });
});

test("the setting decides alone", () => {
  const all = ["/w/.venv/bin/pypto-spec", "/w/tools/pypto-spec", `${homedir()}/p`, "/opt/bin/own"];
  assert.deepEqual(look(all, { configured: "${workspaceFolder}/tools/pypto-spec" }), { path: all[1] });
  assert.deepEqual(look(all, { configured: "~/p" }), { path: all[2] });
  assert.deepEqual(look(all, { configured: "own" }), { path: all[3] });
  assert.deepEqual(look(all, { configured: "/none" }), { looked: ["/none"] });
});

test("what was looked at is told", () => {
  const { looked } = look([]);
  assert.deepEqual(looked, ["/w/.venv/bin/pypto-spec", "/w/venv/bin/pypto-spec", "/usr/bin/pypto-spec", "/opt/bin/pypto-spec"]);
});

test("specs are told by name, modeline or version", () => {
  for (const text of ["spec: v1\n", 'name: a\nspec: "v1"\n']) assert.equal(isSpec("a.yaml", "yaml", text), true, text);
  assert.equal(isSpec("a.kernel.yaml", "yaml", ""), true);
  assert.equal(isSpec("a.toml", "toml", 'spec = "v1"\n'), true);
  assert.equal(isSpec("a.yaml", "yaml", "# yaml-language-server: $schema=/x/pypto_spec/spec/schema.json\n"), true);
  for (const text of ["kind: Pod\nspec:\n  v1: 2\n", "spec: {}\n", ""]) assert.equal(isSpec("a.yaml", "yaml", text), false, text);
  assert.equal(isSpec("a.kernel.json", "json", "spec: v1\n"), false);
});
