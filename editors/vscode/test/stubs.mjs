// The editor's module and the client library, as much of them as the extension touches.
import { registerHooks } from "node:module";

const SOURCES = {
  vscode: `
    export const log = { commands: {}, messages: [], executed: [], contributors: [], external: [], shown: [] };
    export const settings = {};
    export const state = { folders: [], active: undefined, diagnostics: [], yaml: undefined, listeners: [] };
    const once = () => ({ dispose() {} });
    export const window = {
      createOutputChannel: () => ({ appendLine: (line) => log.messages.push(line), show() {}, dispose() {} }),
      showWarningMessage: async (text) => void log.messages.push(text),
      showErrorMessage: async (text) => void log.messages.push(text),
      showInformationMessage: async (text) => void log.messages.push(text),
      showTextDocument: async (document) => void log.shown.push(document),
      get activeTextEditor() { return state.active && { document: state.active }; },
    };
    export const commands = {
      registerCommand: (name, action) => ((log.commands[name] = action), once()),
      executeCommand: async (...parts) => void log.executed.push(parts),
    };
    export const workspace = {
      get workspaceFolders() { return state.folders.map((fsPath) => ({ uri: { fsPath } })); },
      textDocuments: [],
      getConfiguration: () => ({ get: (name, otherwise) => settings[name] ?? otherwise }),
      onDidChangeConfiguration: (listener) => (state.listeners.push(listener), once()),
      openTextDocument: async (document) => document,
    };
    export const languages = {
      getDiagnostics: () => state.diagnostics,
      onDidChangeDiagnostics: (listener) => ((state.changed = listener), once()),
    };
    export const extensions = {
      getExtension: () => state.yaml && {
        activate: async () => ({ registerContributor: (...parts) => log.contributors.push(parts) }),
      },
    };
    export const env = { openExternal: async (uri) => void log.external.push(uri) };
    export const Uri = { file: (path) => ({ path }) };
    export const ViewColumn = { Beside: -2 };
  `,
  "vscode-languageclient/node": `
    export const clients = [];
    export class LanguageClient {
      constructor(id, name, server, options) {
        Object.assign(this, { id, name, server, options, running: false });
        const kept = new Map();
        this.diagnostics = { get: (uri) => kept.get(String(uri)), set: (uri, list) => kept.set(String(uri), list) };
        clients.push(this);
      }
      async start() { this.running = true; }
      async stop() { this.running = false; }
    }
  `,
};

registerHooks({
  resolve: (specifier, context, next) =>
    specifier in SOURCES ? { url: `stub:${specifier}`, shortCircuit: true } : next(specifier, context),
  load: (url, context, next) =>
    url.startsWith("stub:")
      ? { format: "module", source: SOURCES[url.slice(5)], shortCircuit: true }
      : next(url, context),
});
