import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import "./stubs.mjs";

const vscode = await import("vscode");
const { clients } = await import("vscode-languageclient/node");
const extension = await import("../src/extension.mjs");

const SPEC = "spec: v1\nname: a\n";
let folder;

function program(text) {
  mkdirSync(join(folder, ".venv", "bin"), { recursive: true });
  const path = join(folder, ".venv", "bin", "pypto-spec");
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

function document(text, name = "a.kernel.yaml") {
  return { fileName: join(folder, name), languageId: "yaml", getText: () => text, save: async () => true, uri: { toString: () => `file://${name}` } };
}

const context = () => ({ subscriptions: [], asAbsolutePath: (path) => join(import.meta.dirname, "..", path) });

beforeEach(async () => {
  await extension.deactivate();
  folder = mkdtempSync(join(tmpdir(), "pypto-spec-"));
  clients.length = 0;
  for (const [name, value] of Object.entries({ commands: {}, messages: [], executed: [], contributors: [], external: [], shown: [] })) vscode.log[name] = value;
  Object.assign(vscode.state, { folders: [folder], active: undefined, diagnostics: [], yaml: undefined });
  for (const name of Object.keys(vscode.settings)) delete vscode.settings[name];
  process.env.PATH = "/nowhere";
  delete process.env.VIRTUAL_ENV;
});

test("the server of the workspace's environment is started with the settings", async () => {
  const path = program("exit 0");
  Object.assign(vscode.settings, { defines: { TR: 64 }, delay: 50, inlayHints: false });
  await extension.activate(context());
  const [client] = clients;
  assert.deepEqual(client.server, { command: path, args: ["lsp"] });
  assert.equal(client.running, true);
  assert.deepEqual(client.options.initializationOptions, { defines: { TR: 64 }, delay: 50, inlayHints: false });
  assert.deepEqual(new Set(client.options.documentSelector.map((one) => one.language)), new Set(["yaml", "toml"]));
  await extension.deactivate();
  assert.equal(client.running, false);
});

test("restart ends one server and starts another; so does a change of the path", async () => {
  program("exit 0");
  await extension.activate(context());
  await vscode.log.commands["pyptoSpec.restart"]();
  assert.deepEqual(clients.map((client) => client.running), [false, true]);
  vscode.state.listeners.at(-1)({ affectsConfiguration: (name) => name === "pyptoSpec.path" });
  await new Promise(setImmediate);
  assert.deepEqual(clients.map((client) => client.running), [false, false, true]);
});

test("without a server the user is told, and the YAML extension gets the schema for specs alone", async () => {
  vscode.state.yaml = true;
  await extension.activate(context());
  assert.equal(clients.length, 0);
  assert.match(vscode.log.messages.join("\n"), /pypto-spec is not installed here/);
  const [[, addressOf]] = vscode.log.contributors;
  vscode.workspace.textDocuments.push(document(SPEC, "b.yaml"), document("spec: {a: 1}\n", "c.yaml"));
  assert.equal(addressOf("file://b.yaml"), "pypto-spec://schema");
  assert.equal(addressOf("file://c.yaml"), undefined);
  assert.equal(addressOf("file://unknown.yaml"), undefined);
});

test("with a server the YAML extension gets no schema", async () => {
  program("exit 0");
  vscode.state.yaml = true;
  await extension.activate(context());
  assert.deepEqual(vscode.log.contributors, []);
});

test("a finding that a reader of the schema shows too is shown once, whoever comes first", async () => {
  program("exit 0");
  await extension.activate(context());
  const [{ options, diagnostics }] = clients;
  const at = (line, source) => ({ range: { start: { line, character: 2 } }, source });
  const own = [at(1, "pypto-spec"), at(2, "pypto-spec")];
  const uri = "file:///a.yaml";
  options.middleware.handleDiagnostics(uri, own, diagnostics.set);
  assert.deepEqual(diagnostics.get(uri), own);
  vscode.state.diagnostics = [...own, at(1, "yaml-schema: load")];
  vscode.state.changed({ uris: [uri] });
  assert.deepEqual(diagnostics.get(uri), [own[1]]);
  vscode.state.diagnostics = own;
  vscode.state.changed({ uris: [uri] });
  assert.deepEqual(diagnostics.get(uri), own);
});

test("the kernel is shown with the defines of the settings", async () => {
  program('echo "$@"');
  vscode.settings.defines = { TR: 64 };
  await extension.activate(context());
  vscode.state.active = document(SPEC);
  await vscode.log.commands["pyptoSpec.showKernel"]();
  assert.deepEqual(vscode.log.shown, [{ language: "cpp", content: `build --stdout ${join(folder, "a.kernel.yaml")} -D TR=64\n` }]);
});

test("the memory map is written and opened", async () => {
  program('echo page > "$3"');
  await extension.activate(context());
  vscode.state.active = document(SPEC);
  await vscode.log.commands["pyptoSpec.showMap"]();
  assert.match(vscode.log.external[0].path, /a\.kernel\.yaml\.html$/);
});

test("what fails stands in the output, and other documents are refused", async () => {
  program("echo 'error[PS4001]: too much' >&2; exit 1");
  await extension.activate(context());
  vscode.state.active = document(SPEC);
  await vscode.log.commands["pyptoSpec.showKernel"]();
  assert.match(vscode.log.messages.join("\n"), /PS4001/);
  vscode.state.active = document("a: 1\n", "other.yaml");
  await vscode.log.commands["pyptoSpec.showKernel"]();
  assert.equal(vscode.log.messages.at(-1), "This is no kernel spec.");
});

test("formatting is the editor's own command", async () => {
  program("exit 0");
  await extension.activate(context());
  await vscode.log.commands["pyptoSpec.format"]();
  assert.deepEqual(vscode.log.executed, [["editor.action.formatDocument"]]);
});

test("every command of the manifest is there, and no other", async () => {
  program("exit 0");
  await extension.activate(context());
  const { default: manifest } = await import("../package.json", { with: { type: "json" } });
  const declared = manifest.contributes.commands.map((one) => one.command);
  assert.deepEqual(Object.keys(vscode.log.commands).sort(), declared.sort());
});
