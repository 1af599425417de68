// The extension: starts `pypto-spec lsp` and leaves the rest to it.
// @ts-check

import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import { findServer } from "./find.mjs";
import { argumentsFor, run } from "./run.mjs";
import { isSpec } from "./specs.mjs";
import { shownOnce } from "./twice.mjs";

const SECTION = "pyptoSpec";
const SCHEMA = "pypto-spec://schema";
const LANGUAGES = ["yaml", "toml"];

/** @type {LanguageClient | undefined} */
let client;
/** @type {vscode.LogOutputChannel} */
let output;
/** What the server found last in each document. @type {Map<string, vscode.Diagnostic[]>} */
const latest = new Map();

/** @param {vscode.ExtensionContext} context */
export async function activate(context) {
  output = vscode.window.createOutputChannel("pypto-spec", { log: true });
  /** @type {Record<string, () => unknown>} */
  const commands = {
    restart,
    showOutput: () => output.show(),
    format: () => vscode.commands.executeCommand("editor.action.formatDocument"),
    showKernel: () => withSpec(showKernel),
    showMap: () => withSpec(showMap),
  };
  context.subscriptions.push(
    output,
    ...Object.entries(commands).map(([name, action]) => vscode.commands.registerCommand(`${SECTION}.${name}`, action)),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration(`${SECTION}.path`)) void restart();
    }),
  );
  context.subscriptions.push(vscode.languages.onDidChangeDiagnostics(({ uris }) => uris.forEach(showOnce)));
  await start();
  if (client === undefined) await offerSchema(context);
}

export async function deactivate() {
  await client?.stop();
  client = undefined;
  latest.clear();
}

async function restart() {
  await deactivate();
  await start();
}

async function start() {
  const path = serverPath();
  if (path === undefined) return;
  const settings = vscode.workspace.getConfiguration(SECTION);
  client = new LanguageClient(
    SECTION,
    "pypto-spec",
    { command: path, args: ["lsp"] },
    {
      documentSelector: LANGUAGES.flatMap((language) => ["file", "untitled"].map((scheme) => ({ language, scheme }))),
      initializationOptions: options(settings),
      synchronize: { configurationSection: SECTION },
      outputChannel: output,
      middleware: {
        handleDiagnostics: (uri, findings, next) => {
          latest.set(uri.toString(), findings);
          next(uri, shownOnce(findings, vscode.languages.getDiagnostics(uri)));
        },
      },
    },
  );
  try {
    await client.start();
  } catch (error) {
    output.appendLine(String(error));
    client = undefined;
    void vscode.window.showErrorMessage(`${path} lsp does not start; the output says why.`);
  }
}

/**
 * Another extension has read the document later, or again.
 * @param {vscode.Uri} uri
 */
function showOnce(uri) {
  const found = latest.get(uri.toString());
  const shown = client?.diagnostics?.get(uri);
  if (found === undefined || shown === undefined) return;
  const wanted = shownOnce(found, vscode.languages.getDiagnostics(uri));
  if (wanted.length !== shown.length) client?.diagnostics?.set(uri, wanted);
}

/** @param {vscode.WorkspaceConfiguration} settings */
function options(settings) {
  return Object.fromEntries(["defines", "delay", "inlayHints"].map((name) => [name, settings.get(name)]));
}

/** The program, or undefined once the user knows that it is missing. */
function serverPath() {
  const found = findServer({
    configured: vscode.workspace.getConfiguration(SECTION).get("path", ""),
    folders: (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath),
    environment: process.env,
    platform: process.platform,
    exists: existsSync,
  });
  if ("path" in found) return found.path;
  output.appendLine(`pypto-spec was looked for at\n${found.looked.map((path) => `  ${path}`).join("\n")}`);
  void vscode.window
    .showWarningMessage("pypto-spec is not installed here: specs are checked against their schema only.", "Set the path")
    .then((answer) => {
      if (answer) void vscode.commands.executeCommand("workbench.action.openSettings", `${SECTION}.path`);
    });
  return undefined;
}

/**
 * Without a server, the YAML extension knows the language by its schema. With one, that would show each finding twice.
 * @param {vscode.ExtensionContext} context
 */
async function offerSchema(context) {
  const yaml = await vscode.extensions.getExtension("redhat.vscode-yaml")?.activate();
  yaml?.registerContributor(
    SECTION,
    (/** @type {string} */ address) => {
      const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === address);
      if (client !== undefined || document === undefined) return undefined;
      return isSpec(address, document.languageId, document.getText()) ? SCHEMA : undefined;
    },
    () => readFileSync(context.asAbsolutePath("dist/schema.json"), "utf8"),
  );
}

/** @param {(path: string, document: vscode.TextDocument) => Promise<unknown>} action */
async function withSpec(action) {
  const document = vscode.window.activeTextEditor?.document;
  const path = serverPath();
  if (path === undefined) return;
  if (document === undefined || !isSpec(document.fileName, document.languageId, document.getText())) {
    void vscode.window.showInformationMessage("This is no kernel spec.");
    return;
  }
  await document.save();
  try {
    await action(path, document);
  } catch (error) {
    output.appendLine(error instanceof Error ? error.message : String(error));
    output.show(true);
  }
}

/**
 * @param {string} path
 * @param {readonly string[]} command
 * @param {vscode.TextDocument} document
 */
function runOn(path, command, document) {
  const defines = vscode.workspace.getConfiguration(SECTION, document.uri).get("defines", {});
  return run(path, argumentsFor(command, document.fileName, defines), dirname(document.fileName));
}

/**
 * @param {string} path
 * @param {vscode.TextDocument} document
 */
async function showKernel(path, document) {
  const content = await runOn(path, ["build", "--stdout"], document);
  const shown = await vscode.workspace.openTextDocument({ language: "cpp", content });
  await vscode.window.showTextDocument(shown, vscode.ViewColumn.Beside);
}

/**
 * @param {string} path
 * @param {vscode.TextDocument} document
 */
async function showMap(path, document) {
  const page = join(tmpdir(), `pypto-spec-${process.pid}-${basename(document.fileName)}.html`);
  await runOn(path, ["map", "-o", page], document);
  await vscode.env.openExternal(vscode.Uri.file(page));
}
